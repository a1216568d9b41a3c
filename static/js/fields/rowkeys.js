/** Names for the rows of a list that have none, so that a row keeps its fields and its cursor while rows come, go and move. */
import {useRef} from '../h.js';

let count = 0;

/**
 * One key for each item: an item that is the same value keeps its key wherever it moves, and one that was edited keeps the key
 * of its place.
 * @param {readonly unknown[]} items
 * @returns {string[]}
 */
export function useRowKeys(items) {
  const last = useRef(/** @type {{items: readonly unknown[], keys: string[]}} */ ({items: [], keys: []}));
  if (last.current.items !== items) last.current = {items, keys: keysOf(items, last.current)};
  return last.current.keys;
}

/**
 * @param {readonly unknown[]} items
 * @param {{items: readonly unknown[], keys: string[]}} before
 */
function keysOf(items, before) {
  /** @type {Set<number>} */
  const taken = new Set();
  /** @type {(string | null)[]} */
  const keys = items.map((item, index) => {
    const old = Object.is(before.items[index], item) ? index : before.items.findIndex((one, at) => !taken.has(at) && isSameObject(one, item));
    if (old < 0 || taken.has(old)) return null;
    taken.add(old);
    return before.keys[old];
  });
  return keys.map((key, index) => {
    if (key !== null) return key;
    if (index < before.keys.length && !taken.has(index)) {
      taken.add(index);
      return before.keys[index];
    }
    return `row-${++count}`;
  });
}

/** @param {unknown} a @param {unknown} b */
function isSameObject(a, b) {
  return typeof a === 'object' && a !== null && a === b;
}
