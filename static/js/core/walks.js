// Walks within a run: events of a node in the body of a loop, or in a pipeline that another calls, carry a path before its id:
// `loop1#3/n5` is node n5 in iteration 3 of loop1, `sub1/n5` is node n5 of the pipeline that sub1 calls.

/** @typedef {import('./doc.js').RunView} RunView */
/** @typedef {import('./doc.js').NodeRun} NodeRun */

/**
 * The path and the node's own id.
 * @param {string} full
 * @returns {{path: string, id: string}} `path` ends with `/`, or is empty
 */
export function splitId(full) {
  const cut = full.lastIndexOf('/') + 1;
  return {path: full.slice(0, cut), id: full.slice(cut)};
}

/**
 * One step of a path: the node whose walk it is, and which iteration of a loop; null where it is no loop.
 * @param {string} segment `loop1#3`
 * @returns {{holder: string, iteration: number | null}}
 */
function stepOf(segment) {
  const cut = segment.indexOf('#');
  return cut < 0 ? {holder: segment, iteration: null} : {holder: segment.slice(0, cut), iteration: Number(segment.slice(cut + 1))};
}

/**
 * The path of the document that a node stands in: iterations run nodes of the same document, calls those of another.
 * @param {string} path
 * @returns {string}
 */
export function scopeOf(path) {
  const segments = path.split('/').slice(0, -1);
  while (segments.length > 0 && stepOf(segments[segments.length - 1]).iteration !== null) segments.pop();
  return segments.map((segment) => `${segment}/`).join('');
}

/**
 * What tells a node of a document from those of other documents in a run, whatever iteration it ran in.
 * @param {string} scope the path of its document
 * @param {string} id
 */
export function placeOf(scope, id) {
  return scope.replace(/#\d+(?=\/)/g, '') + id;
}

/**
 * What a node of a document did in a run: itself, or in a loop the iteration that was chosen, else the last one.
 * @param {RunView} run
 * @param {string} scope the path of the document
 * @param {string} id
 * @param {{[holder: string]: number | undefined}} [chosen] iterations by the full id of their loop
 * @returns {NodeRun | null}
 */
export function nodeIn(run, scope, id, chosen = {}) {
  const own = scope + id;
  if (Object.hasOwn(run.nodes, own)) return run.nodes[own];
  const last = Object.hasOwn(run.latest, own) ? run.latest[own].id : null;
  if (last === null) return null;
  let path = scope;
  for (const segment of splitId(last).path.slice(scope.length).split('/').slice(0, -1)) {
    const {holder, iteration} = stepOf(segment);
    path += iteration === null ? `${segment}/` : `${holder}#${chosen[path + holder] ?? iteration}/`;
  }
  return Object.hasOwn(run.nodes, path + id) ? run.nodes[path + id] : null;
}

/**
 * How often a node of a document ran in a run.
 * @param {RunView} run
 * @param {string} scope
 * @param {string} id
 * @returns {number}
 */
export function timesIn(run, scope, id) {
  return Object.hasOwn(run.latest, scope + id) ? run.latest[scope + id].count : Object.hasOwn(run.nodes, scope + id) ? 1 : 0;
}

/**
 * The walks that a node had within itself.
 * @typedef {object} Walk
 * @property {number[]} iterations of a loop, as far as anything was heard of them, in order; empty of a call
 * @property {Map<number | null, string[]>} nodes the full ids of its nodes by iteration; null: those of a call
 */

/**
 * All walks within a run, by the full id of the node that had them. Linear in what was heard of.
 * @param {RunView} run
 * @returns {Map<string, Walk>}
 */
export function walksOf(run) {
  /** @type {Map<string, Walk>} */
  const walks = new Map();
  for (const full of run.order) {
    const {path} = splitId(full);
    if (path === '') continue;
    const before = path.lastIndexOf('/', path.length - 2) + 1;
    const {holder, iteration} = stepOf(path.slice(before, -1));
    const key = path.slice(0, before) + holder;
    const walk = walks.get(key) ?? /** @type {Walk} */ ({iterations: [], nodes: new Map()});
    walks.set(key, walk);
    const there = walk.nodes.get(iteration);
    if (there) there.push(full);
    else {
      walk.nodes.set(iteration, [full]);
      if (iteration !== null) walk.iterations.push(iteration);
    }
  }
  for (const walk of walks.values()) walk.iterations.sort((a, b) => a - b);
  return walks;
}
