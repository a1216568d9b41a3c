/** The forms of memories in files: agentui's own, and lorebooks as SillyTavern and cards have them. Everything here is linear. */
import {textOf} from './items.js';

/** The most of a file that is read, in bytes, and of its items. */
export const LONGEST = 16 * 1024 * 1024;
const MOST = 20_000;
/** What the server takes (docs/memories.md). */
const LONGEST_TEXT = 65_536;
const MOST_WORDS = 64;
const LONGEST_WORD = 200;
const FORMAT = 'agentui-memories';
const TYPES = new Set(['fact', 'summary', 'open_loop']);

/** A file that holds no memories; `reason` is the end of the words for it. */
export class WrongFile extends Error {
  /** @param {'json' | 'form' | 'many' | 'long' | 'empty'} reason */
  constructor(reason) {
    super(reason);
    this.reason = reason;
  }
}

/**
 * @typedef {{type: string, content: string, [name: string]: any}} Given an item as it is written anew, without its place
 * @typedef {{items: Given[], ids: (string | null)[], edges: {from: string, to: string, relation: string}[]}} Found
 */

/** @param {import('./items.js').Item[]} items @param {any[]} edges */
export function exportOf(items, edges) {
  return {
    format: FORMAT,
    version: 1,
    items: items.map((item) => ({
      id: item.id,
      type: item.type,
      content: textOf(item),
      summary_tier: item.summary_tier,
      importance: item.importance,
      confidence: item.confidence,
      fact_key: item.fact_key,
      status: item.status,
      pinned: item.pinned,
      keys: item.keys,
      entities: item.entities,
      sources: item.sources.map(({page_id, quote}) => ({page_id, quote})),
    })),
    edges: edges.map(({from_id, to_id, relation}) => ({from: from_id, to: to_id, relation})),
  };
}

/** As a lorebook of SillyTavern: a memory that is pinned is an entry that always joins. @param {import('./items.js').Item[]} items */
export function bookOf(items) {
  return {
    entries: Object.fromEntries(
      items.map((item, uid) => [
        uid,
        {
          uid,
          key: [...new Set([...item.keys, ...item.entities])],
          keysecondary: [],
          comment: item.fact_key ?? item.entities[0] ?? textOf(item).slice(0, 60),
          content: textOf(item),
          constant: item.pinned,
          selective: false,
          order: 100,
          position: 0,
          disable: false,
          probability: 100,
          useProbability: true,
        },
      ]),
    ),
  };
}

/** @param {any} value @returns {value is Record<string, any>} */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
/** @param {any} value @returns {string[]} */
const wordsOf = (value) =>
  Array.isArray(value) ? [...new Set(value.filter((one) => typeof one === 'string').map((one) => one.trim()).filter((one) => one !== '' && one.length <= LONGEST_WORD))].slice(0, MOST_WORDS) : [];
/** @param {any} value @param {number} otherwise */
const share = (value, otherwise) => (typeof value === 'number' && value >= 0 && value <= 1 ? value : otherwise);

/**
 * The memories of a file of either form. Nothing of it says where they go: that is the chat which somebody looks at.
 * @param {string} text
 * @returns {Found}
 * @throws {WrongFile}
 */
export function itemsOf(text) {
  let document;
  try {
    document = JSON.parse(text);
  } catch {
    throw new WrongFile('json');
  }
  if (!isObject(document)) throw new WrongFile('form');
  const isOwn = document.format === FORMAT && Array.isArray(document.items);
  const book = isObject(document.data) && isObject(document.data.character_book) ? document.data.character_book : document;
  const given = isOwn ? document.items : isObject(book.entries) ? Object.values(book.entries) : Array.isArray(book.entries) ? book.entries : null;
  if (given === null) throw new WrongFile('form');
  if (given.length > MOST) throw new WrongFile('many');
  /** @type {Found} */
  const found = {items: [], ids: [], edges: []};
  for (const one of given) {
    const item = !isObject(one) ? null : isOwn ? ownItem(one) : entryItem(one);
    if (item === null) continue;
    found.items.push(item);
    found.ids.push(isOwn && typeof one.id === 'string' ? one.id : null);
  }
  if (found.items.length === 0) throw new WrongFile('empty');
  const edges = isOwn && Array.isArray(document.edges) ? document.edges : [];
  if (edges.length > MOST) throw new WrongFile('many');
  found.edges = edges.filter((/** @type {any} */ edge) => isObject(edge) && [edge.from, edge.to, edge.relation].every((each) => typeof each === 'string'));
  return found;
}

/** @param {any} content */
const isText = (content) => typeof content === 'string' && content.trim() !== '' && content.length <= LONGEST_TEXT;

/** @param {Record<string, any>} one @returns {Given | null} */
function ownItem(one) {
  if (!isText(one.content) || !TYPES.has(one.type)) return null;
  return {
    type: one.type,
    content: one.content,
    summary_tier: one.summary_tier === 'micro' || one.summary_tier === 'macro' ? one.summary_tier : null,
    importance: share(one.importance, 0.5),
    confidence: share(one.confidence, 1),
    fact_key: typeof one.fact_key === 'string' && one.fact_key !== '' ? one.fact_key.slice(0, LONGEST_WORD) : null,
    status: one.status === 'deprecated' ? 'deprecated' : 'active',
    pinned: one.pinned === true,
    keys: wordsOf(one.keys),
    entities: wordsOf(one.entities),
    sources: Array.isArray(one.sources) ? one.sources.slice(0, MOST_WORDS).filter((source) => isObject(source) && typeof source.page_id === 'string').map(({page_id, quote}) => ({page_id, quote: typeof quote === 'string' && quote !== '' ? quote.slice(0, 1000) : null})) : [],
  };
}

/** @param {Record<string, any>} one an entry of a lorebook of either kind @returns {Given | null} */
function entryItem(one) {
  if (!isText(one.content) || one.disable === true || one.enabled === false) return null;
  return {type: 'fact', content: one.content, pinned: one.constant === true, keys: wordsOf(one.key ?? one.keys), entities: []};
}
