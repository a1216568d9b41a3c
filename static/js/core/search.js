// Finding: the best items for a few typed letters, and every place of a text in a document.

import {framesOf, nodesOf, notesOf, isObject} from './doc.js';

/** @typedef {import('./doc.js').Pipeline} Pipeline */

/** What a found word is worth: as it stands; at the start of a word; for each further letter in a row; less for what lies before. */
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
 * @returns {T[]}
 */
export function fuzzy(query, items, textOf) {
  const words = query.toLowerCase().split(/\s+/).filter((word) => word !== '');
  /** @param {string} text @returns {number} below 0 where a word is missing */
  const score = (text) => {
    let sum = 0;
    for (const word of words) {
      const found = exactScore(word, text) ?? scatteredScore(word, text);
      if (found === null) return -1;
      sum += found - text.length / 1000;
    }
    return Math.max(0, sum);
  };
  return items
    .map((item) => ({item, score: score(textOf(item).toLowerCase())}))
    .filter((found) => found.score >= 0)
    .sort((a, b) => b.score - a.score)
    .map(({item}) => item);
}

/** @param {string} text @param {number} at */
function isWordStart(text, at) {
  return at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1]);
}

/** The worth of a word that stands in the text, at the start of a word if it can be; null where it does not. @param {string} word @param {string} text */
function exactScore(word, text) {
  const first = text.indexOf(word);
  if (first < 0) return null;
  let best = first;
  for (let at = first; at >= 0 && !isWordStart(text, best); at = text.indexOf(word, at + 1)) if (isWordStart(text, at)) best = at;
  return WHOLE + word.length * NEXT_LETTER + (isWordStart(text, best) ? WORD_START * 2 : 0) - best * GAP;
}

/**
 * The worth of a word whose letters stand in the text in their order, starts of words preferred; null where one is missing,
 * or where they are spread so far that they mean nothing.
 * @param {string} word
 * @param {string} text
 * @returns {number | null}
 */
function scatteredScore(word, text) {
  let score = 0;
  let last = -1;
  for (const letter of word) {
    const next = text.indexOf(letter, last + 1);
    if (next < 0) return null;
    const at = next === last + 1 ? next : bestLetter(letter, text, next, word.slice(word.indexOf(letter)).length);
    score += LETTER + (at === last + 1 && last >= 0 ? NEXT_LETTER : 0) + (isWordStart(text, at) ? WORD_START : 0) - (at - last - 1) * GAP;
    last = at + letter.length - 1;
  }
  return score > 0 ? score : null;
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

/**
 * The items that a query means: first those whose words have its letters, then those whose text has it as it stands, because
 * a few letters are found in their order in every long text.
 * @template T
 * @param {string} query
 * @param {T[]} items
 * @param {(item: T) => string} words
 * @param {(item: T) => string} text
 * @returns {T[]}
 */
export function findByWords(query, items, words, text) {
  const wanted = query.trim();
  const found = fuzzy(wanted, items, words);
  const seen = new Set(found);
  const lower = wanted.toLowerCase();
  return [...found, ...items.filter((item) => !seen.has(item) && text(item).toLowerCase().includes(lower))];
}
