// Which pieces of a rendered request came from which macro.
//
// The server tells of every field what its pieces were (POST /api/preview, `trace`). Where the field's text ended up in the request
// is found by looking for it there: a block may be joined with another, an address with a path.

import {isObject} from './doc.js';

/**
 * `from`..`to` in the text of one place; the macro stands in the node's `field`.
 * @typedef {{from: number, to: number, macro: string, node: string, field: string}} Mark
 * @typedef {{text: string, macro: string | null}} Segment
 * @typedef {{field: string, pointer: string | null, segments: Segment[]}} FieldTrace
 */

/** Shorter texts are only looked for as a whole value: "hi" stands in many words. */
const SHORTEST_PART = 12;

/**
 * The marks of every text of the request, by where it stands: `url`, `headers/<name>`, and `body` with a JSON pointer behind it.
 * @param {{url?: unknown, headers?: unknown, body?: unknown}} preview
 * @param {FieldTrace[]} trace
 * @param {string} node whose preview it is
 * @returns {Map<string, Mark[]>}
 */
export function provenance(preview, trace, node) {
  /** @type {[string, string][]} */
  const places = [];
  if (typeof preview.url === 'string') places.push(['url', preview.url]);
  if (isObject(preview.headers)) for (const [name, value] of Object.entries(preview.headers)) places.push([`headers/${name}`, String(value)]);
  collect(preview.body, 'body', places);
  /** @type {Map<string, Mark[]>} */
  const marks = new Map();
  for (const one of trace) {
    if (!one.segments.some((segment) => segment.macro !== null && segment.text !== '')) continue;
    const text = one.segments.map((segment) => segment.text).join('');
    const found = find(text, one.pointer === null ? null : `body${one.pointer}`, places);
    if (found) marks.set(found.place, [...(marks.get(found.place) ?? []), ...marksOf(one, found.at, node)]);
  }
  return marks;
}

/**
 * @param {unknown} value
 * @param {string} pointer
 * @param {[string, string][]} places
 */
function collect(value, pointer, places) {
  if (Array.isArray(value)) value.forEach((item, index) => collect(item, `${pointer}/${index}`, places));
  else if (isObject(value)) for (const [name, item] of Object.entries(value)) collect(item, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, places);
  else places.push([pointer, typeof value === 'string' ? value : String(value)]);
}

/**
 * @param {string} text
 * @param {string | null} expected where it should stand
 * @param {[string, string][]} places
 * @returns {{place: string, at: number} | null}
 */
function find(text, expected, places) {
  const there = places.find(([place, value]) => place === expected && value.includes(text));
  if (there) return {place: there[0], at: there[1].indexOf(text)};
  const whole = places.find(([, value]) => value === text);
  if (whole) return {place: whole[0], at: 0};
  if (text.trim().length < SHORTEST_PART) return null;
  for (const tried of [text, text.trim()]) {
    const part = places.find(([, value]) => value.includes(tried));
    if (part) return {place: part[0], at: part[1].indexOf(tried) - text.indexOf(tried)};
  }
  return null;
}

/**
 * @param {FieldTrace} trace
 * @param {number} at
 * @param {string} node
 * @returns {Mark[]}
 */
function marksOf({field, segments}, at, node) {
  /** @type {Mark[]} */
  const marks = [];
  let from = at;
  for (const {text, macro} of segments) {
    if (macro !== null && text !== '') marks.push({from: Math.max(0, from), to: from + text.length, macro, node, field});
    from += text.length;
  }
  return marks;
}

/** The functions whose result differs from run to run (docs/templates.md). */
const RANDOM = /\b(?:rand|randint|choice)\s*\(/;

/**
 * Whether what a node renders may differ each time: a random function stands in a formula of its own, or of a node before it.
 * @param {unknown[]} configs of the node and of those before it
 */
export function varies(configs) {
  return configs.some((config) => isObject(config) && Array.isArray(config.variables) && config.variables.some(isRandom));
}

/** Whether a row of a SetVars gives another value each time. @param {unknown} row */
export function isRandom(row) {
  return isObject(row) && row.mode === 'expr' && typeof row.value === 'string' && RANDOM.test(row.value);
}
