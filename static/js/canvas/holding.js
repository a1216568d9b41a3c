/** What nodes with bodies take along, and which body a node stands in by its place. */
import {setParent} from '../core/bodies.js';
import {parents, withBodies} from '../core/holders.js';
import {holderAt, isHolder, NODE_HEIGHT, NODE_WIDTH, nodeHeight, nodeRects, placeOf, portsOf, usedPorts} from './geometry.js';

/** @typedef {import('../core/doc.js').Pipeline} Pipeline */
/** @typedef {import('../core/doc.js').PipelineNode} PipelineNode */
/** @typedef {import('../core/doc.js').NodeType} NodeType */
/** @typedef {import('./geometry.js').Point} Point */

/** The middle of a node that stands here. @param {Point} place @returns {Point} */
export function middleOf({x, y}) {
  return {x: x + NODE_WIDTH / 2, y: y + NODE_HEIGHT / 2};
}

/** A node with a body, and those in whose bodies it stands. @param {Pipeline} doc @param {string | null} id */
export function withHolders(doc, id) {
  const holders = parents(doc);
  /** @type {Set<string>} */
  const found = new Set();
  for (let at = id ?? undefined; at !== undefined; at = holders.get(at)) found.add(at);
  return found;
}

/** How high the part of a node above its body is. @param {Pipeline} doc @param {Record<string, NodeType>} types @param {PipelineNode} node */
export function headHeight(doc, types, node) {
  return nodeHeight(portsOf(types[node.type], node, usedPorts(doc).get(node.id) ?? []).length);
}

/**
 * Places for nodes whose rectangles shall begin somewhere, and for all that stands in their bodies.
 * @param {Pipeline} doc
 * @param {Record<string, NodeType>} types
 * @param {{[id: string]: Point}} corners by the ids of nodes of which none holds another
 * @returns {{[id: string]: Point}}
 */
export function movedWithBodies(doc, types, corners) {
  const rects = nodeRects(doc, types);
  /** @type {Map<string, Point>} */
  const by = new Map();
  for (const [id, corner] of Object.entries(corners)) {
    const rect = rects.get(id) ?? corner;
    for (const one of withBodies(doc, [id])) by.set(one, {x: corner.x - rect.x, y: corner.y - rect.y});
  }
  return Object.fromEntries(
    doc.nodes.flatMap((node) => {
      const step = by.get(node.id);
      return step ? [[node.id, {x: placeOf(node).x + step.x, y: placeOf(node).y + step.y}]] : [];
    }),
  );
}

/**
 * The document after a movement, with every node in the body that its middle stands in. What holds them counts as it stood when the
 * hand took them: otherwise it would grow along with them, and nothing could leave.
 * @param {Pipeline} before
 * @param {Pipeline} after
 * @param {import('./projection.js').Moving} moving
 * @param {Record<string, NodeType>} types
 * @returns {Pipeline}
 */
export function withParents(before, after, moving, types) {
  if (!before.nodes.some((node) => isHolder(types[node.type]))) return after;
  const holders = parents(before);
  const own = nodeRects(before, types);
  const carried = withBodies(before, moving.keys());
  let result = after;
  for (const node of before.nodes) {
    const place = moving.get(node.id);
    const parent = holders.get(node.id);
    // What a moving holder takes along stays in it.
    if (!place || (parent !== undefined && moving.has(parent))) continue;
    const rect = own.get(node.id);
    const from = placeOf(node);
    const middle = rect ? {x: rect.x + place.x - from.x + rect.width / 2, y: rect.y + place.y - from.y + rect.height / 2} : middleOf(place);
    const holder = holderAt(before, types, middle, carried);
    if (holder !== (parent ?? null)) result = setParent(result, [node.id], holder);
  }
  return result;
}
