/** Sizes and places of the drawing, in canvas pixels: every node's size follows from its ports, so nothing has to be measured. */

import {portOf} from '../core/doc.js';
import {BODY_MARGIN} from '../core/graph.js';
import {levels, parents} from '../core/holders.js';
import {ERROR_PORT, hasPort, ownPorts} from '../core/ports.js';

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
 * A port as it is drawn. `kind`: `stray` where wires use it although the node has none of that name.
 * @typedef {{name: string, kind: 'own' | 'error' | 'stray'}} Port
 */

/**
 * The ports of a node: its own, then the one for failures where a wire uses it, then those that wires use although there are none.
 * @param {NodeType | undefined} type
 * @param {PipelineNode | undefined} node
 * @param {readonly string[]} used
 * @returns {Port[]}
 */
export function portsOf(type, node, used) {
  const own = ownPorts(type, node);
  const more = [...new Set(used)].filter((port) => !own.includes(port));
  const isError = (/** @type {string} */ port) => port === ERROR_PORT && hasPort(type, node, port);
  return [
    ...own.map((name) => /** @type {Port} */ ({name, kind: 'own'})),
    ...more.filter(isError).map((name) => /** @type {Port} */ ({name, kind: 'error'})),
    ...more.filter((port) => !isError(port)).map((name) => /** @type {Port} */ ({name, kind: type ? 'stray' : 'own'})),
  ];
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

/** What a body takes at least, below the head of the node that holds it. */
const EMPTY_BODY = {width: 2 * NODE_WIDTH, height: 2 * NODE_HEIGHT};
/** @type {WeakMap<readonly PipelineNode[], {edges: readonly PipelineEdge[], types: Record<string, NodeType>, rects: Map<string, Rect>}>} */
const measured = new WeakMap();

/**
 * The rectangle of every node by id; that of a node that holds others reaches around them.
 * @param {Pipeline} doc
 * @param {Record<string, NodeType>} types
 * @returns {Map<string, Rect>}
 */
export function nodeRects(doc, types) {
  const known = measured.get(doc.nodes);
  if (known && known.edges === doc.edges && known.types === types) return known.rects;
  const used = usedPorts(doc);
  /** @type {Map<string, Rect>} */
  const rects = new Map(
    doc.nodes.map((node) => [node.id, {...placeOf(node), width: NODE_WIDTH, height: nodeHeight(portsOf(types[node.type], node, used.get(node.id) ?? []).length)}]),
  );
  const all = levels(doc);
  /** @param {string | null} holder */
  const grow = (holder) => {
    for (const node of all.get(holder)?.nodes ?? []) {
      const rect = rects.get(node.id);
      if (!rect || !(isHolder(types[node.type]) || all.has(node.id))) continue;
      grow(node.id);
      const body = (all.get(node.id)?.nodes ?? []).flatMap(({id}) => rects.get(id) ?? []);
      rects.set(node.id, aroundBody(rect, body));
    }
  };
  grow(null);
  measured.set(doc.nodes, {edges: doc.edges, types, rects});
  return rects;
}

/** Whether nodes may stand in nodes of a type. @param {NodeType | undefined} type */
export function isHolder(type) {
  return type?.holds_body === true;
}

/**
 * What a node with a body takes: its head above, and below it room for all that stands in it.
 * @param {Rect} head
 * @param {Rect[]} body
 * @returns {Rect}
 */
function aroundBody(head, body) {
  const inner = around(body) ?? {x: head.x + BODY_MARGIN, y: head.y + head.height + BODY_MARGIN, ...EMPTY_BODY};
  const x = Math.min(head.x, inner.x - BODY_MARGIN);
  const y = Math.min(head.y, inner.y - BODY_MARGIN - head.height);
  return {
    x,
    y,
    width: Math.max(head.x + NODE_WIDTH, inner.x + inner.width + BODY_MARGIN) - x,
    height: Math.max(y + head.height, inner.y + inner.height + BODY_MARGIN) - y,
  };
}

/**
 * The innermost node with a body that a point lies in.
 * @param {Pipeline} doc
 * @param {Record<string, NodeType>} types
 * @param {Point} point
 * @param {ReadonlySet<string>} [without] nodes that do not count
 * @returns {string | null}
 */
export function holderAt(doc, types, point, without) {
  const holders = parents(doc);
  const rects = nodeRects(doc, types);
  /** @type {{id: string, depth: number} | null} */
  let found = null;
  for (const node of doc.nodes) {
    if (!isHolder(types[node.type]) || without?.has(node.id)) continue;
    const rect = rects.get(node.id);
    if (!rect || !isInside({...point, width: 0, height: 0}, rect)) continue;
    const depth = depthOf(holders, node.id);
    if (found === null || depth > found.depth) found = {id: node.id, depth};
  }
  return found?.id ?? null;
}

/** In how many bodies a node stands. @param {ReadonlyMap<string, string>} holders @param {string} id */
export function depthOf(holders, id) {
  let depth = 0;
  for (let at = holders.get(id); at !== undefined; at = holders.get(at)) depth += 1;
  return depth;
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
