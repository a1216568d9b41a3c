// Finding: the best items for a few typed letters, and every place of a text in a document.

import {fuzzyMatch} from '../../vendor/fuzzy.js';
import {framesOf, nodesOf, notesOf, isObject} from './doc.js';

/** @typedef {import('./doc.js').Pipeline} Pipeline */

/**
 * The items that a query means, the best first; items of the same rank stay in their order. Every word of the query must be
 * found: as a part of the text, or as its letters in their order. An empty query means all items.
 * @template T
 * @param {string} query
 * @param {T[]} items
 * @param {(item: T) => string} textOf
 * @returns {T[]}
 */
export function fuzzy(query, items, textOf) {
  const words = query.split(/\s+/).filter((word) => word !== '');
  /** @param {string} text @returns {number} what is lower is better; Infinity where a word is missing */
  const distance = (text) => words.reduce((sum, word) => sum + (fuzzyMatch(text, word)?.score ?? Infinity), 0);
  return items
    .map((item) => ({item, distance: distance(textOf(item))}))
    .filter((found) => found.distance < Infinity)
    .sort((a, b) => a.distance - b.distance)
    .map(({item}) => item);
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
