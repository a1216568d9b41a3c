// What is done with bodies: nodes go into them and out again, and stand in a list behind what holds them.

import {edgesOf, nodesOf, portOf} from './doc.js';
import {order, wouldCycle} from './graph.js';
import {crossesBorder, levels, parents, withBodies} from './holders.js';

/** @typedef {import('./doc.js').Pipeline} Pipeline */
/** @typedef {import('./doc.js').PipelineNode} PipelineNode */
/** @typedef {import('./doc.js').PipelineEdge} PipelineEdge */

/**
 * The nodes in the order in which they run, bodies right behind their holders.
 * @param {Pipeline} document
 * @returns {{id: string, depth: number}[]} `depth`: in how many bodies it stands
 */
export function outline(document) {
  const all = levels(document);
  /** @type {{id: string, depth: number}[]} */
  const lines = [];
  /** @param {string | null} holder @param {number} depth */
  const add = (holder, depth) => {
    const level = all.get(holder);
    if (!level) return;
    for (const id of order(level)) {
      lines.push({id, depth});
      add(id, depth + 1);
    }
  };
  add(null, 0);
  return lines;
}

/**
 * Put nodes into a body, or take them out of any. Wires that would cross the border lead to and from the node that holds the
 * body, so that the order stays; those that would then run in a circle go away.
 * @param {Pipeline} document
 * @param {string[]} ids
 * @param {string | null} parent
 * @returns {Pipeline} the same one where nothing changes, or a node would stand in itself
 */
export function setParent(document, ids, parent) {
  const chosen = new Set(ids);
  if (parent !== null && (withBodies(document, chosen).has(parent) || !nodesOf(document).some((node) => node.id === parent))) return document;
  let isChanged = false;
  const nodes = nodesOf(document).map((node) => {
    if (!chosen.has(node.id) || (node.parent ?? null) === parent) return node;
    isChanged = true;
    const {parent: _, ...rest} = node;
    return /** @type {PipelineNode} */ (parent === null ? rest : {...rest, parent});
  });
  return isChanged ? leadAround({...document, nodes}) : document;
}

/**
 * The document without wires over borders: each leads to what holds its ends side by side.
 * @param {Pipeline} document
 * @returns {Pipeline}
 */
export function leadAround(document) {
  const crossing = edgesOf(document).filter((edge) => crossesBorder(document, edge));
  if (crossing.length === 0) return document;
  const holders = parents(document);
  let result = {...document, edges: edgesOf(document).filter((edge) => !crossing.includes(edge))};
  for (const edge of crossing) {
    const [from, to] = sideBySide(holders, edge);
    const lifted = {...edge, from, to, from_port: from === edge.from ? portOf(edge) : 'done'};
    const isThere = result.edges.some((each) => each.from === from && each.to === to && portOf(each) === lifted.from_port);
    if (from !== to && !isThere && !wouldCycle(result, lifted)) result = {...result, edges: [...result.edges, lifted]};
  }
  return result;
}

/**
 * The two nodes that hold the ends of a wire, or are them, and stand in the same body.
 * @param {ReadonlyMap<string, string>} holders
 * @param {PipelineEdge} edge
 * @returns {[string, string]}
 */
function sideBySide(holders, {from, to}) {
  /** From the node outwards. @param {string} id */
  const chain = (id) => {
    const ids = [id];
    for (let at = holders.get(id); at !== undefined; at = holders.get(at)) ids.push(at);
    return ids;
  };
  const [outOf, into] = [chain(from), chain(to)];
  // What holds both is at the end of both.
  while (outOf.length > 1 && into.length > 1 && outOf.at(-1) === into.at(-1)) {
    outOf.pop();
    into.pop();
  }
  return [/** @type {string} */ (outOf.at(-1)), /** @type {string} */ (into.at(-1))];
}
