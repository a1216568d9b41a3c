// Finding: the best items for a few typed letters, and every place of a text in a document.

import {framesOf, nodesOf, notesOf, isObject} from './doc.js';

/** @typedef {import('./doc.js').Pipeline} Pipeline */

/**
 * A found item. `ranges` are the letters of its text that the query matched: offsets, without overlaps, in order.
 * @template T
 * @typedef {{item: T, score: number, ranges: [number, number][]}} Match
 */

const WHOLE = 100;
const WORD_START = 12;
const NEXT_LETTER = 8;
const LETTER = 1;
const GAP = 0.2;

/**
 * The items that a query means, the best first; items of the same rank stay in their order. Every word of the query must be
 * found: letter for letter as a part of the text, or as its letters in their order. An empty query means all items.
 * @template T
 * @param {string} query
 * @param {T[]} items
 * @param {(item: T) => string} textOf
 * @returns {Match<T>[]}
 */
export function fuzzy(query, items, textOf) {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return items
    .map((item) => ({item, ...matchWords(words, textOf(item))}))
    .filter((match) => match.score >= 0)
    .sort((a, b) => b.score - a.score);
}

/**
 * @param {string[]} words
 * @param {string} text
 * @returns {{score: number, ranges: [number, number][]}} a score below 0 where a word is missing
 */
function matchWords(words, text) {
  const lower = lowered(text);
  let score = 0;
  /** @type {[number, number][]} */
  const ranges = [];
  for (const word of words) {
    const found = exact(word, lower) ?? scattered(word, lower);
    if (!found) return {score: -1, ranges: []};
    score += found.score - text.length / 1000;
    ranges.push(...found.ranges);
  }
  return {score: Math.max(0, score), ranges: merged(ranges)};
}

/**
 * The text in small letters, each letter at its own place: some grow when they change.
 * @param {string} text
 * @returns {string}
 */
function lowered(text) {
  const lower = text.toLowerCase();
  return lower.length === text.length
    ? lower
    : Array.from(text, (letter) => (letter.toLowerCase().length === letter.length ? letter.toLowerCase() : letter)).join('');
}

/**
 * @param {string} text
 * @param {number} at
 * @returns {boolean}
 */
function isWordStart(text, at) {
  return at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1]);
}

/**
 * The word as it is, at the start of a word if it can be.
 * @param {string} word
 * @param {string} text
 * @returns {{score: number, ranges: [number, number][]} | null}
 */
function exact(word, text) {
  const first = text.indexOf(word);
  if (first < 0) return null;
  let best = first;
  for (let at = first; at >= 0; at = text.indexOf(word, at + 1)) {
    if (!isWordStart(text, at)) continue;
    best = at;
    break;
  }
  const score = WHOLE + word.length * NEXT_LETTER + (isWordStart(text, best) ? WORD_START * 2 : 0) - best * GAP;
  return {score, ranges: [[best, best + word.length]]};
}

/**
 * The word's letters in their order, starts of words preferred.
 * @param {string} word
 * @param {string} text
 * @returns {{score: number, ranges: [number, number][]} | null}
 */
function scattered(word, text) {
  let score = 0;
  let last = -1;
  /** @type {[number, number][]} */
  const ranges = [];
  for (const letter of word) {
    const next = text.indexOf(letter, last + 1);
    if (next < 0) return null;
    const at = next === last + 1 ? next : bestLetter(letter, text, next, word.slice(word.indexOf(letter)).length);
    score +=
      LETTER +
      (at === last + 1 && last >= 0 ? NEXT_LETTER : 0) +
      (isWordStart(text, at) ? WORD_START : 0) -
      (at - last - 1) * GAP;
    ranges.push([at, at + letter.length]);
    last = at + letter.length - 1;
  }
  // Letters spread over a whole text mean nothing.
  return score > 0 ? {score, ranges} : null;
}

/**
 * The next place of a letter at the start of a word, where enough text is left behind it; else the next place.
 * @param {string} letter
 * @param {string} text
 * @param {number} first
 * @param {number} needed
 * @returns {number}
 */
function bestLetter(letter, text, first, needed) {
  for (let at = first; at >= 0 && text.length - at >= needed; at = text.indexOf(letter, at + 1)) {
    if (isWordStart(text, at)) return at;
  }
  return first;
}

/**
 * @param {[number, number][]} ranges
 * @returns {[number, number][]}
 */
function merged(ranges) {
  /** @type {[number, number][]} */
  const result = [];
  for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const last = result.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else result.push([from, to]);
  }
  return result;
}

/**
 * A place in a document. `field` is `id`, `type` or `title` of a node, or a dotted path in its config as problems name it;
 * with `node` null it is `name` or `description`, `frames.<id>.title` or `notes.<id>.text`. `from` and `to` are offsets in the
 * field's text, `excerptFrom` is where the match begins in the excerpt.
 * @typedef {{node: string | null, field: string, from: number, to: number, excerpt: string, excerptFrom: number}} Place
 */

const AROUND = 30;
const MOST = 1000;

/**
 * Every place where the text stands, whatever its capitals; the first 1000.
 * @param {Pipeline} document
 * @param {string} query
 * @returns {Place[]}
 */
export function findInDocument(document, query) {
  if (query === '') return [];
  const wanted = new RegExp(query.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'), 'giu');
  /** @type {Place[]} */
  const found = [];
  for (const [node, field, text] of allTexts(document)) {
    for (const match of text.matchAll(wanted)) {
      if (found.length >= MOST) return found;
      const from = match.index;
      const to = from + match[0].length;
      const begin = Math.max(0, from - AROUND);
      const excerpt = text.slice(begin, to + AROUND).replace(/\s/g, ' ');
      found.push({node, field, from, to, excerpt, excerptFrom: from - begin});
    }
  }
  return found;
}

/**
 * Every text of a document with its place.
 * @param {Pipeline} document
 * @returns {Generator<[string | null, string, string]>}
 */
function* allTexts(document) {
  for (const field of ['name', 'description']) {
    const text = document[field];
    if (typeof text === 'string') yield [null, field, text];
  }
  for (const node of nodesOf(document)) {
    for (const field of ['id', 'type', 'title']) {
      const text = node[field];
      if (typeof text === 'string') yield [node.id, field, text];
    }
    for (const [field, text] of textsBelow(node.config, '')) yield [node.id, field, text];
  }
  for (const frame of framesOf(document))
    if (typeof frame.title === 'string') yield [null, `frames.${frame.id}.title`, frame.title];
  for (const note of notesOf(document)) if (typeof note.text === 'string') yield [null, `notes.${note.id}.text`, note.text];
}

/**
 * @param {unknown} value
 * @param {string} field
 * @returns {Generator<[string, string]>}
 */
function* textsBelow(value, field) {
  if (typeof value === 'string') yield [field, value];
  else if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* textsBelow(item, below(field, index));
  else if (isObject(value)) for (const [key, item] of Object.entries(value)) yield* textsBelow(item, below(field, key));
}

/**
 * @param {string} field
 * @param {string | number} step
 * @returns {string}
 */
function below(field, step) {
  return field === '' ? String(step) : `${field}.${step}`;
}
