/** Where the canvas looks: fit, centre, zoom. Nothing here changes the document. */
import {store} from '../state/store.js';
import {around, nodeRects} from './geometry.js';
import {frontDoc, selectionOf} from './editing/front.js';
import {flowId} from './projection.js';
import {isCalm, shown} from './stage.js';

const GLIDE_MS = 200;
/** Farther away than this the words of a drawing are hard to read. */
const READABLE_ZOOM = 0.7;
/** How far away the canvas can be looked at from. */
export const FARTHEST_ZOOM = 0.04;
/** Farther away than this nobody reads a node. */
const LEAST_ZOOM = 0.6;
/** Beside a node that is brought into the view, in pixels of the window. */
const MARGIN = 48;

/** @typedef {{width: number, height: number}} Size */
/** @typedef {import('../h.js').Flow.Viewport} Viewport */

/** How long a change of the view takes. */
function pace() {
  return {duration: isCalm() ? 0 : GLIDE_MS};
}

/**
 * Show everything where that can be read, else the start at a size that can; who asks again from there sees everything, however
 * small.
 */
export function fitAll() {
  const {flow, element} = shown;
  const doc = frontDoc();
  if (!flow || !element || !doc) return;
  const size = {width: element.clientWidth, height: element.clientHeight};
  const readable = fitted(doc, store.get().nodeTypes, size);
  void flow.setViewport(isSame(flow.getViewport(), readable) ? whole(drawing(), size) : readable, pace());
}

/**
 * A view of a document that can be read: all of it, or as much as fits about its start.
 * @param {import('../core/doc.js').Pipeline} doc
 * @param {Record<string, import('../core/doc.js').NodeType>} types
 * @param {Size} size of the canvas, in pixels
 * @returns {Viewport}
 */
export function fitted(doc, types, size) {
  const rects = nodeRects(doc, types);
  const all = around(drawn(doc, types));
  const everything = whole(all, size);
  if (all === null || everything.zoom >= READABLE_ZOOM) return everything;
  const led = new Set(doc.edges.map((edge) => edge.to));
  const starts = doc.nodes.filter((node) => !node.parent && !led.has(node.id));
  // Of a drawing in which everything leads to something the first node is as good a start as any.
  const start = rects.get((starts[0] ?? doc.nodes[0])?.id ?? '') ?? all;
  const zoom = READABLE_ZOOM;
  return {
    x: size.width / 2 - zoom * middle(start.x + start.width / 2, all.x, all.x + all.width, size.width / zoom),
    y: size.height / 2 - zoom * middle(start.y + start.height / 2, all.y, all.y + all.height, size.height / zoom),
    zoom,
  };
}

/** Where to look so that nothing but the margin is seen beyond the drawing. @param {number} wanted @param {number} low @param {number} high @param {number} room */
function middle(wanted, low, high, room) {
  const margin = MARGIN / READABLE_ZOOM;
  if (high - low + 2 * margin <= room) return (low + high) / 2;
  return Math.min(Math.max(wanted, low - margin + room / 2), high + margin - room / 2);
}

/** A view of all of a drawing. @param {import('./geometry.js').Rect | null} all @param {Size} size @returns {Viewport} */
function whole(all, size) {
  const width = size.width - 2 * MARGIN;
  const height = size.height - 2 * MARGIN;
  if (all === null || width <= 0 || height <= 0) return {x: 0, y: 0, zoom: 1};
  const zoom = Math.max(FARTHEST_ZOOM, Math.min(1, width / all.width, height / all.height));
  return {x: size.width / 2 - zoom * (all.x + all.width / 2), y: size.height / 2 - zoom * (all.y + all.height / 2), zoom};
}

/** Whether two views show the same, but for what is rounded. @param {Viewport} a @param {Viewport} b */
function isSame(a, b) {
  return Math.abs(a.x - b.x) < 1 && Math.abs(a.y - b.y) < 1 && Math.abs(a.zoom - b.zoom) < 0.001;
}

/** Show what is selected; everything where nothing is. */
export function fitSelection() {
  const chosen = selectionOf();
  const ids = [
    ...chosen.nodes,
    ...chosen.frames.map((id) => flowId('frame', id)),
    ...chosen.notes.map((id) => flowId('note', id)),
  ];
  if (ids.length) void shown.flow?.fitView({nodes: ids.map((id) => ({id})), padding: 0.3, maxZoom: 1.2, ...pace()});
  else fitAll();
}

/**
 * Bring a node into the view, with as much of what was seen as stays beside it; a node that is seen whole stays where it is.
 * @param {string} id
 */
export function showNode(id) {
  const {flow, element} = shown;
  const doc = frontDoc();
  const rect = doc && nodeRects(doc, store.get().nodeTypes).get(id);
  if (!flow || !element || !rect) return;
  const box = element.getBoundingClientRect();
  const a = flow.flowToScreenPosition({x: rect.x, y: rect.y});
  const b = flow.flowToScreenPosition({x: rect.x + rect.width, y: rect.y + rect.height});
  if (a.x >= box.left && a.y >= box.top && b.x <= box.right && b.y <= box.bottom) return;
  const {x, y, zoom} = flow.getViewport();
  const by = {x: shift(a.x, b.x, box.left, box.right), y: shift(a.y, b.y, box.top, box.bottom)};
  const isNear = zoom >= LEAST_ZOOM && Math.abs(by.x) < box.width / 2 && Math.abs(by.y) < box.height / 2;
  if (isNear) void flow.setViewport({x: x + by.x, y: y + by.y, zoom}, pace());
  else void flow.setCenter(rect.x + rect.width / 2, rect.y + rect.height / 2, {zoom: Math.max(LEAST_ZOOM, zoom), ...pace()});
}

/** How far something has to move to stand between two borders, with room beside it. @param {number} low @param {number} high @param {number} from @param {number} to */
function shift(low, high, from, to) {
  if (low < from) return from + MARGIN - low;
  return high > to ? to - MARGIN - high : 0;
}

export function zoomIn() {
  void shown.flow?.zoomIn(pace());
}

export function zoomOut() {
  void shown.flow?.zoomOut(pace());
}

/** Show the drawing in its own size, its middle in the middle. */
export function zoomWhole() {
  void shown.flow?.zoomTo(1, pace());
}

/** The rectangle of all that is drawn. */
export function drawing() {
  const doc = frontDoc();
  return doc && around(drawn(doc, store.get().nodeTypes));
}

/** @param {import('../core/doc.js').Pipeline} doc @param {Record<string, import('../core/doc.js').NodeType>} types */
function drawn(doc, types) {
  return [...nodeRects(doc, types).values(), ...(doc.view?.frames ?? []), ...(doc.view?.notes ?? [])];
}
