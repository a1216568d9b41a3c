// How many calls to models a run will make, so that nobody pays unawares.

import {edgesOf, isEnabled, nodesOf} from './doc.js';
import {references} from './graph.js';

/** @typedef {import('./doc.js').Pipeline} Pipeline */
/** @typedef {import('./doc.js').NodeType} NodeType */

/**
 * The nodes that will call a model: those that are on, are not pinned, and do not only feed pinned ones (docs/api.md, "Trying").
 * @param {Pipeline} document
 * @param {{[type: string]: NodeType}} types
 * @param {{[node: string]: unknown}} pins
 * @returns {string[]} ids
 */
export function modelCalls(document, types, pins) {
  /** @type {Map<string, Set<string>>} */
  const feeds = new Map(nodesOf(document).map((node) => [node.id, new Set()]));
  for (const edge of edgesOf(document)) feeds.get(edge.from)?.add(edge.to);
  const last = new Set([...feeds].filter(([, next]) => next.size === 0).map(([id]) => id));
  for (const reference of references(document)) feeds.get(reference.from)?.add(reference.to);
  /** @type {Set<string>} */
  const needed = new Set();
  /** @param {string} id */
  const need = (id) => {
    if (needed.has(id) || Object.hasOwn(pins, id)) return;
    needed.add(id);
    for (const [from, next] of feeds) if (next.has(id)) need(from);
  };
  for (const id of last) need(id);
  return nodesOf(document)
    .filter((node) => needed.has(node.id) && isEnabled(node) && types[node.type]?.calls_upstream)
    .map((node) => node.id);
}
