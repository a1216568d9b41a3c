/** Search in short words, letter by letter, and in long texts, word by word. */
import {fuzzy} from '../core/search.js';
import {categoryTitle} from './summary.js';
import {typeTitle} from '../words.js';

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

/** What a node type is found by: its names and its category, ours and the server's. @param {import('../core/doc.js').NodeType} type */
export function typeWords(type) {
  return [typeTitle(type, type.type), type.type, type.title, categoryTitle(type.category), type.category].join(' ');
}
