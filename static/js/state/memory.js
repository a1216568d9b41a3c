/**
 * The memory's JSON over the client, with every digit kept: a number that JavaScript would write differently becomes a
 * `JSON.rawJSON` object, which `JSON.stringify` writes back as it came. Browsers without it round such numbers, as ever.
 */
import {api, failureOf} from '../api/client.js';

/** JSON with the source of its numbers (ECMAScript 2026). @type {any} */
const EXACT = JSON;
const MANY_DIGITS = /\d{16}/;

/**
 * @typedef {object} Listing
 * @property {any[]} data
 * @property {{total: number, has_more: boolean}} meta
 */

/**
 * A text as JSON, no digit lost. Throws SyntaxError.
 * @param {string} text
 * @returns {any}
 */
export function parseExact(text) {
  if (!MANY_DIGITS.test(text) || typeof EXACT.rawJSON !== 'function') return JSON.parse(text);
  return EXACT.parse(text, (/** @type {string} */ _key, /** @type {any} */ value, /** @type {{source?: string}} */ context) =>
    typeof value === 'number' && context?.source !== undefined && MANY_DIGITS.test(context.source) && String(value) !== context.source
      ? EXACT.rawJSON(context.source)
      : value);
}

/** The digits of a number that JavaScript cannot hold; null for every other value. @param {any} value @returns {string | null} */
export function rawDigits(value) {
  return typeof EXACT.isRawJSON === 'function' && EXACT.isRawJSON(value) ? value.rawJSON : null;
}

/**
 * Read from the memory.
 * @param {string} path with its query
 * @returns {Promise<any>} the answer's JSON, `{data, meta?}`
 * @throws {import('../api/client.js').ApiFailure}
 */
export async function readMemory(path) {
  const response = await api.raw(path, {headers: {accept: 'application/json'}});
  const text = await response.text();
  if (!response.ok) throw failureOf(response.status, text);
  return parseExact(text);
}

/**
 * Read a list to its end, as many items at once as the server gives.
 * @param {string} path with its query
 * @param {number} [limit] the most that the list gives at once
 * @returns {Promise<any[]>}
 */
export async function readAll(path, limit = 100) {
  const items = [];
  for (;;) {
    /** @type {Listing} */
    const {data, meta} = await readMemory(`${path}${path.includes('?') ? '&' : '?'}limit=${limit}&offset=${items.length}`);
    items.push(...data);
    if (!meta.has_more || data.length === 0) return items;
  }
}

/**
 * Change the memory.
 * @param {'POST' | 'PUT' | 'PATCH' | 'DELETE'} method
 * @param {string} path
 * @param {any} [body]
 * @returns {Promise<any>} the answer's JSON
 * @throws {import('../api/client.js').ApiFailure}
 */
export async function writeMemory(method, path, body) {
  return (await api.send(method, path, body)).body;
}

/**
 * A path with a query; what is null is left out.
 * @param {string} path
 * @param {Record<string, string | number | boolean | null | undefined>} query
 */
export function withQuery(path, query) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== '');
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}
