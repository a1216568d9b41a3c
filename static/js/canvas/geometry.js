/** Sizes and places of the drawing, in canvas pixels: every node's size follows from its ports, so nothing has to be measured. */

import {portOf} from '../core/doc.js';

/** @typedef {import('../core/doc.js').Pipeline} Pipeline */
/** @typedef {import('../core/doc.js').PipelineNode} PipelineNode */
/** @typedef {import('../core/doc.js').PipelineEdge} PipelineEdge */
/** @typedef {import('../core/doc.js').NodeType} NodeType */
/** @typedef {{x: number, y: number, width: number, height: number}} Rect */
/** @typedef {{x: number, y: number}} Point */

export const GRID = 20;
export const NODE_WIDTH = 240;
export const NODE_HEIGHT = 64;
export const NODE_GAP = 80;
/** A handle's box. WCAG 2.2 asks for targets of 24 pixels; the dot that is seen is smaller. */
export const HANDLE = 24;
const PORT_GAP = 28;

/** @param {number} ports how many outgoing ports */
export function nodeHeight(ports) {
  return Math.max(NODE_HEIGHT, (ports + 0.5) * PORT_GAP);
}

/**
 * Where a port leaves the node, from its top.
 * @param {number} index
 * @param {number} ports
 */
export function portY(index, ports) {
  return nodeHeight(ports) / 2 + (index - (ports - 1) / 2) * PORT_GAP;
}

/**
 * The ports of a node: those of its type, and those that wires of the document use although the type has none of that name.
 * @param {NodeType | undefined} type
 * @param {readonly string[]} used
 * @returns {string[]}
 */
export function portsOf(type, used) {
  const own = type?.ports?.length ? type.ports : ['done'];
  const strange = used.filter((port) => !own.includes(port));
  return strange.length ? [...own, ...new Set(strange)] : [...own];
}

/** @type {WeakMap<readonly PipelineEdge[], Map<string, string[]>>} */
const usedByEdges = new WeakMap();

/**
 * The ports that wires leave by, for each node that has any. Asked at every movement of the pointer, so kept.
 * @param {Pipeline} doc
 * @returns {Map<string, string[]>}
 */
export function usedPorts(doc) {
  const known = usedByEdges.get(doc.edges);
  if (known) return known;
  /** @type {Map<string, string[]>} */
  const used = new Map();
  usedByEdges.set(doc.edges, used);
  for (const edge of doc.edges) {
    const ports = used.get(edge.from);
    if (ports) ports.push(portOf(edge));
    else used.set(edge.from, [portOf(edge)]);
  }
  return used;
}

/** One text for one wire: ids hold no colon and no `>`. @param {PipelineEdge} edge */
export function edgeKey(edge) {
  return `${edge.from}:${portOf(edge)}>${edge.to}`;
}

/** Where a node stands; files written by hand may not say. @param {PipelineNode} node @returns {Point} */
export function placeOf(node) {
  return node.position ?? {x: 0, y: 0};
}

/**
 * The rectangle of every node by id.
 * @param {Pipeline} doc
 * @param {Record<string, NodeType>} types
 * @returns {Map<string, Rect>}
 */
export function nodeRects(doc, types) {
  const used = usedPorts(doc);
  return new Map(
    doc.nodes.map((node) => {
      const ports = portsOf(types[node.type], used.get(node.id) ?? []);
      return [node.id, {...placeOf(node), width: NODE_WIDTH, height: nodeHeight(ports.length)}];
    }),
  );
}

/**
 * The smallest rectangle around others; null around none.
 * @param {Iterable<Rect>} rects
 * @returns {Rect | null}
 */
export function around(rects) {
  let left = Infinity;
  let top = Infinity;
  let right = -Infinity;
  let bottom = -Infinity;
  for (const rect of rects) {
    left = Math.min(left, rect.x);
    top = Math.min(top, rect.y);
    right = Math.max(right, rect.x + rect.width);
    bottom = Math.max(bottom, rect.y + rect.height);
  }
  return left === Infinity ? null : {x: left, y: top, width: right - left, height: bottom - top};
}

/**
 * Whether the middle of a rectangle lies in another: what a frame takes along when it moves.
 * @param {Rect} inner
 * @param {Rect} outer
 */
export function isInside(inner, outer) {
  const x = inner.x + inner.width / 2;
  const y = inner.y + inner.height / 2;
  return x >= outer.x && x <= outer.x + outer.width && y >= outer.y && y <= outer.y + outer.height;
}

/** @param {Point} point @returns {Point} */
export function snapped(point) {
  return {x: Math.round(point.x / GRID) * GRID, y: Math.round(point.y / GRID) * GRID};
}

/**
 * The nearest place below where a box of this size covers no other.
 * @param {Point} wanted
 * @param {Rect[]} taken
 * @param {{width: number, height: number}} [size] a node's unless told
 * @returns {Point}
 */
export function freePlace(wanted, taken, size = {width: NODE_WIDTH, height: NODE_HEIGHT}) {
  const place = {...wanted};
  const covers = (/** @type {Rect} */ other) =>
    other.x < place.x + size.width + GRID &&
    place.x < other.x + other.width + GRID &&
    other.y < place.y + size.height + GRID &&
    place.y < other.y + other.height + GRID;
  for (let other = taken.find(covers); other; other = taken.find(covers)) place.y = other.y + other.height + 2 * GRID;
  return place;
}
