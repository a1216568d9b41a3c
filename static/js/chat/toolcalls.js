/** The calls of tools that turns of a chat made, by floor: those of the newest turns are read by themselves, others when somebody asks. */
import {useSyncExternalStore} from '../h.js';
import {readAll, readMemory, withQuery} from '../state/memory.js';
import {createStore} from '../state/store.js';

/**
 * @typedef {object} Call a call as `/tool-executions` tells of it
 * @property {string} id
 * @property {string} floor_id
 * @property {string} tool_name
 * @property {string} status
 * @property {string} commit_outcome
 * @property {any} args
 * @property {any} result
 * @property {string | null} error_message
 * @property {number | null} duration_ms
 *
 * @typedef {{id: string, tool: string, status: string, ms: number | null, error: string | null}} Heard a call of a turn that is on its way
 */

/** How many calls of a session are read by themselves: they come with arguments and results. */
const NEWEST = 50;
/** @type {readonly Call[]} */
const NONE = Object.freeze([]);

const calls = createStore(/** @type {{byFloor: Record<string, Call[]>}} */ ({byFloor: {}}));
/** The newest reading; older answers are not taken. */
let readings = 0;

/** @param {string} floor @returns {readonly Call[]} */
export function useCalls(floor) {
  return useSyncExternalStore(calls.subscribe, () => calls.get().byFloor[floor] ?? NONE);
}

/** Read the newest calls of a session. @param {string} session */
export async function readNewest(session) {
  readings += 1;
  const mine = readings;
  const path = withQuery('/tool-executions', {session_id: session, sort_by: 'created_at', sort_order: 'desc', limit: NEWEST});
  try {
    const {data, meta} = await readMemory(path);
    if (mine !== readings) return;
    /** @type {Record<string, Call[]>} */
    const byFloor = {};
    for (const call of data) byFloor[call.floor_id] = [call, ...(byFloor[call.floor_id] ?? [])];
    calls.set({byFloor});
    // Of the oldest floor some calls may be missing.
    if (meta.has_more) await readOf(data.at(-1).floor_id);
  } catch {
    // The talk itself says when the server does not answer; without them a floor still has its words.
  }
}

/** Read all calls of a floor. @param {string} floor @returns {Promise<number>} how many there are */
export async function readOf(floor) {
  /** @type {Call[]} */
  const found = await readAll(withQuery('/tool-executions', {floor_id: floor, sort_by: 'created_at', sort_order: 'asc'}));
  calls.set(({byFloor}) => ({byFloor: {...byFloor, [floor]: found}}));
  return found.length;
}

/** The calls of a turn after an event told of one of them. @param {Heard[]} before @param {any} event @returns {Heard[]} */
export function withEvent(before, {execution_id: id, tool_name: tool, phase, message: error, duration_ms: ms}) {
  const call = {id, tool, status: phase === 'start' ? 'running' : phase, ms, error};
  return before.some((one) => one.id === id) ? before.map((one) => (one.id === id ? call : one)) : [...before, call];
}
