/** Values of any size as short texts, as text to edit, and in an order. Nothing here reads more of a value than it shows. */
import {parseExact, rawDigits} from './memory.js';
import {t} from '../words.js';

const SHOWN = 120;
const SEARCHED = 2000;
const DIRECTION = Object.freeze({asc: 1, desc: -1});
const COLLATOR = new Intl.Collator('en', {numeric: true});
const KINDS = ['null', 'boolean', 'number', 'string', 'array', 'object'];

/** @typedef {'json' | 'text'} Form how a value is written by hand */

/** @param {any} value @returns {string} one of KINDS */
export function kindOf(value) {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  return rawDigits(value) !== null ? 'number' : typeof value;
}

/** The kind of a value in words, with the size of lists and objects. @param {any} value */
export function kindInWords(value) {
  const kind = kindOf(value);
  if (kind === 'array') return t('variables.kind.array', {n: value.length});
  if (kind === 'object') return t('variables.kind.object', {n: Object.keys(value).length});
  return t(`variables.kind.${kind}`);
}

/**
 * The beginning of a value as JSON on one line; a text stands without its quotes.
 * @param {any} value
 * @param {number} [most] characters
 */
export function preview(value, most = SHOWN) {
  if (typeof value === 'string') return value.length > most ? `${value.slice(0, most)}…` : value;
  /** @type {string[]} */
  const parts = [];
  const isWhole = write(value, parts, {left: most});
  return isWhole ? parts.join('') : `${parts.join('').slice(0, most)}…`;
}

/** What a filter looks at, in small letters: the first two thousand characters. @param {any} value */
export function searchText(value) {
  return preview(value, SEARCHED).toLowerCase();
}

/**
 * Write JSON until there is no room left; false when it ended early.
 * @param {any} value
 * @param {string[]} parts
 * @param {{left: number}} room
 * @returns {boolean}
 */
function write(value, parts, room) {
  /** @param {string} text */
  const put = (text) => {
    parts.push(text);
    room.left -= text.length;
    return room.left >= 0;
  };
  const digits = rawDigits(value);
  if (digits !== null) return put(digits);
  if (typeof value === 'string') return put(JSON.stringify(value.slice(0, room.left + 1)));
  if (Array.isArray(value)) {
    if (!put('[')) return false;
    for (let at = 0; at < value.length; at += 1) if ((at > 0 && !put(', ')) || !write(value[at], parts, room)) return false;
    return put(']');
  }
  if (typeof value === 'object' && value !== null) {
    if (!put('{')) return false;
    let isFirst = true;
    for (const key in value) {
      if ((!isFirst && !put(', ')) || !put(`${JSON.stringify(key.slice(0, SHOWN))}: `) || !write(value[key], parts, room)) return false;
      isFirst = false;
    }
    return put('}');
  }
  return put(JSON.stringify(value) ?? 'null');
}

/** How a value is best written by hand. A text area would lose the carriage returns of a text. @param {any} value @returns {Form} */
export function formOf(value) {
  return typeof value === 'string' && !value.includes('\r') ? 'text' : 'json';
}

/** A value as the text that is edited. @param {any} value @param {Form} form */
export function writtenAs(value, form) {
  if (form === 'text') return typeof value === 'string' ? value : JSON.stringify(value);
  const short = JSON.stringify(value);
  return short.length <= 60 ? short : JSON.stringify(value, null, 2);
}

/**
 * What a text means.
 * @param {string} text
 * @param {Form} form
 * @returns {{value: any} | {message: string}}
 */
export function understood(text, form) {
  if (form === 'text') return {value: text};
  if (text.trim() === '') return {message: t('variables.valueMissing')};
  try {
    return {value: parseExact(text)};
  } catch (error) {
    return {message: t('variables.notJson', {message: error instanceof Error ? error.message : String(error)})};
  }
}

/**
 * The order of two values, where each may be missing: what is there first, then by kind, then by value.
 * @param {any} a
 * @param {any} b
 * @param {'asc' | 'desc'} direction
 */
export function compareValues(a, b, direction) {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1;
  const [kind, other] = [kindOf(a), kindOf(b)];
  const order =
    kind !== other
      ? KINDS.indexOf(kind) - KINDS.indexOf(other)
      : kind === 'number'
        ? numberOf(a) - numberOf(b)
        : COLLATOR.compare(preview(a), preview(b));
  return order * DIRECTION[direction];
}

/** @param {any} value */
function numberOf(value) {
  return Number(rawDigits(value) ?? value);
}

/** How many bytes a value takes as JSON. @param {any} value */
export function bytesOf(value) {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}
