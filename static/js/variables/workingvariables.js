/** The working variables of a branch, as the server tells of them: in a list without values, and one in parts. */
import {readMemory, withQuery, writeMemory} from '../state/memory.js';

/**
 * @typedef {{session: string, branch: string}} Place
 *
 * @typedef {object} Facts
 * @property {string} name
 * @property {'RULE' | 'ToolCallResult' | 'ToolCallArgs' | 'MessageCache' | 'LLMAdd' | 'USER_ADD'} type
 * @property {number} length in characters, as Unicode counts them
 * @property {string} desc
 * @property {string[]} tags
 * @property {boolean} keep
 * @property {number} updated_at
 */

export const TYPES = ['USER_ADD', 'LLMAdd', 'ToolCallResult', 'ToolCallArgs', 'MessageCache', 'RULE'];

/** How many are read at once, and how many characters of a value. */
const STEP = 100;
const PART = 100_000;

/** @param {Place} place @param {string} [name] */
function pathOf({session, branch}, name) {
  const base = `/sessions/${encodeURIComponent(session)}/working-variables`;
  return (/** @type {Record<string, any>} */ query) => withQuery(name === undefined ? base : `${base}/${encodeURIComponent(name)}`, {branch_id: branch, ...query});
}

/**
 * The next part of the list.
 * @param {Place} place
 * @param {{search: string, type: string}} sought an empty text seeks nothing
 * @param {number} offset
 * @returns {Promise<{items: Facts[], total: number}>}
 */
export async function listVariables(place, sought, offset) {
  const {data, meta} = await readMemory(pathOf(place)({...sought, offset, limit: STEP}));
  return {items: data, total: meta.total};
}

/** The next part of a value, with all that is known of it. @param {Place} place @param {string} name @param {number} start @returns {Promise<Facts & {value: string}>} */
export async function readPart(place, name, start) {
  return (await readMemory(pathOf(place, name)({start, length: PART}))).data;
}

/** @param {Place} place @param {string} name @param {{value?: string, desc: string, tags: string[], keep: boolean}} said without a value the old one stays */
export function putVariable(place, name, said) {
  return writeMemory('PUT', pathOf(place, name)({}), said);
}

/** @param {Place} place @param {string} name */
export function removeVariable(place, name) {
  return writeMemory('DELETE', pathOf(place, name)({}));
}
