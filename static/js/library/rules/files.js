/** Skill rules: what the server tells of them, and a rule's file as the fields that people edit. */
import {api} from '../../api/client.js';

/**
 * @typedef {object} RuleLine a line of the list
 * @property {string} group
 * @property {string} name
 * @property {string} desc
 * @property {string} when
 * @property {boolean} always_load
 * @property {boolean} shipped whether it comes with the server, and is only read
 * @property {string | null} problem why the file is no rule
 *
 * @typedef {{desc: string, when: string, always: boolean, prompt: string}} RuleParts
 */

const FRONT = /^---[ \t]*\n(?:([\s\S]*?)\n)??---[ \t]*(?:\n|$)/;
const FIELDS = ['desc', 'when', 'alwaysload'];
const YES = ['true', 'yes', 'on', '1'];

/** @type {Readonly<RuleParts>} */
export const NEW_RULE = Object.freeze({desc: '', when: '', always: false, prompt: ''});

/** @param {string} group @param {string} name */
const pathOf = (group, name) => `/api/rules/${encodeURIComponent(group)}/${encodeURIComponent(name)}`;

/** All rules, one group after the other. @returns {Promise<RuleLine[]>} */
export async function readRules() {
  return (await api.get('/api/rules')).body;
}

/** A rule's file. @param {string} group @param {string} name @returns {Promise<{text: string, etag: string | null}>} */
export async function readRule(group, name) {
  const {body, etag} = await api.get(pathOf(group, name));
  return {text: body.text, etag};
}

/**
 * Write a rule's file. Throws an ApiFailure with status 412 where it is no longer the one that was read.
 * @param {string} group
 * @param {string} name
 * @param {string} text
 * @param {string | null} etag of what was read; null for a new one
 * @returns {Promise<string | null>} the ETag of what is there now
 */
export async function writeRule(group, name, text, etag) {
  return (await api.send('PUT', pathOf(group, name), {text}, etag === null ? {} : {ifMatch: etag})).etag;
}

/** @param {string} group @param {string} name */
export function deleteRule(group, name) {
  return api.send('DELETE', pathOf(group, name));
}

/** A rule's file as its fields; null where the lines before its text are YAML of another form. @param {string} text @returns {RuleParts | null} */
export function partsOf(text) {
  const plain = text.replaceAll('\r\n', '\n');
  const front = FRONT.exec(plain);
  /** @type {Record<string, string>} */
  const fields = {};
  for (const line of (front?.[1] ?? '').split('\n')) {
    if (line.trim() === '') continue;
    const [, name = '', written = ''] = /^(\w+):(?:\s+(.*))?$/.exec(line.trimEnd()) ?? [];
    const value = valueOf(written.trim());
    if (!FIELDS.includes(name.toLowerCase()) || value === null) return null;
    fields[name.toLowerCase()] = value;
  }
  const {desc = '', when = '', alwaysload = ''} = fields;
  return {desc, when, always: YES.includes(alwaysload.toLowerCase()), prompt: front ? plain.slice(front[0].length) : plain};
}

/** A YAML value in one line as its text; null for one of another form. @param {string} written */
function valueOf(written) {
  if (written.startsWith('"')) {
    try {
      return String(JSON.parse(written));
    } catch {
      return null;
    }
  }
  if (/^'(?:[^']|'')*'$/.test(written)) return written.slice(1, -1).replaceAll("''", "'");
  return /^[|>[\]{}&*!#%@`',?-]|\s#/.test(written) ? null : written;
}

/** Fields as a rule's file. @param {RuleParts} parts */
export function textOfParts({desc, when, always, prompt}) {
  return `---\ndesc: ${scalar(desc.trim())}\nwhen: ${scalar(when.trim())}\nalwaysLoad: ${always}\n---\n${prompt}`;
}

/** A text as a YAML value in one line: in quotes, unless it is itself without them. @param {string} text */
function scalar(text) {
  return text === '' || /^[\p{L}\p{N}](?:[\p{L}\p{N} ,.;()!?/+=-]*[\p{L}\p{N}.,;)!?])?$/u.test(text) ? text : JSON.stringify(text).replace(/[\u007f-\u009f]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`);
}
