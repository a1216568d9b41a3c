// Which node stands in the body of which: `parent` of a node is the id of the one that holds it (a Loop).
//
// A body is a small pipeline of its own: wires do not cross its border. Bodies may hold bodies.

import {edgesOf, nodesOf} from './doc.js';

/** @typedef {import('./doc.js').Pipeline} Pipeline */
/** @typedef {import('./doc.js').PipelineNode} PipelineNode */

/** @type {WeakMap<readonly PipelineNode[], Map<string, string>>} */
const known = new WeakMap();

/**
 * The holder of every node that has one. A parent that is not there, and one that would be its own, counts as none.
 * @param {Pipeline} document
 * @returns {ReadonlyMap<string, string>}
 */
export function parents(document) {
  const nodes = nodesOf(document);
  const old = known.get(nodes);
  if (old) return old;
  const ids = new Set(nodes.map((node) => node.id));
  /** @type {Map<string, string>} */
  const found = new Map();
  for (const {id, parent} of nodes) {
    if (typeof parent === 'string' && parent !== id && ids.has(parent) && !found.has(id)) found.set(id, parent);
  }
  for (const id of [...found.keys()]) {
    const seen = new Set([id]);
    for (let at = found.get(id); at !== undefined; at = found.get(at)) {
      if (seen.has(at)) {
        found.delete(id);
        break;
      }
      seen.add(at);
    }
  }
  known.set(nodes, found);
  return found;
}

/**
 * The nodes with all that stands in their bodies, near or far.
 * @param {Pipeline} document
 * @param {Iterable<string>} ids
 * @returns {Set<string>}
 */
export function withBodies(document, ids) {
  const all = new Set(ids);
  const holders = parents(document);
  if (holders.size === 0) return all;
  const held = childrenBy(holders);
  const waiting = [...all];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    for (const child of held.get(id) ?? []) {
      if (all.has(child)) continue;
      all.add(child);
      waiting.push(child);
    }
  }
  return all;
}

/**
 * @param {ReadonlyMap<string, string>} holders
 * @returns {Map<string, string[]>} ids by their holder
 */
function childrenBy(holders) {
  /** @type {Map<string, string[]>} */
  const held = new Map();
  for (const [id, parent] of holders) {
    const list = held.get(parent);
    if (list) list.push(id);
    else held.set(parent, [id]);
  }
  return held;
}

/**
 * A document for each body that there is, and for what stands in none (`null`): its nodes, and the wires between them.
 * @param {Pipeline} document
 * @returns {Map<string | null, Pipeline>}
 */
export function levels(document) {
  const holders = parents(document);
  /** @type {Map<string | null, Pipeline>} */
  const found = new Map();
  if (holders.size === 0) return found.set(null, document);
  /** @param {string | null} holder */
  const level = (holder) => {
    const there = found.get(holder) ?? {...document, nodes: [], edges: []};
    found.set(holder, there);
    return there;
  };
  level(null);
  for (const node of nodesOf(document)) level(holders.get(node.id) ?? null).nodes.push(node);
  for (const edge of edgesOf(document)) {
    const holder = holders.get(edge.from);
    if (holder === holders.get(edge.to)) level(holder ?? null).edges.push(edge);
  }
  return found;
}

/**
 * Whether a wire would lead into a body or out of one.
 * @param {Pipeline} document
 * @param {{from: string, to: string}} edge
 * @returns {boolean}
 */
export function crossesBorder(document, {from, to}) {
  const holders = parents(document);
  return holders.size > 0 && holders.get(from) !== holders.get(to);
}
