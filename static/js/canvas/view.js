/** Where the canvas looks: fit, centre, zoom. Nothing here changes the document. */
import {store} from '../state/store.js';
import {around, nodeRects} from './geometry.js';
import {frontDoc, selectionOf} from './editing/front.js';
import {flowId} from './projection.js';
import {isCalm, shown} from './stage.js';

const GLIDE_MS = 200;
const PADDING = 0.15;
/** Farther away than this nobody reads a node. */
const LEAST_ZOOM = 0.6;
/** Beside a node that is brought into the view, in pixels of the window. */
const MARGIN = 48;

/** How long a change of the view takes. */
function pace() {
  return {duration: isCalm() ? 0 : GLIDE_MS};
}

/** Show everything. */
export function fitAll() {
  void shown.flow?.fitView({padding: PADDING, maxZoom: 1, ...pace()});
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
  return doc && around([...nodeRects(doc, store.get().nodeTypes).values(), ...(doc.view?.frames ?? []), ...(doc.view?.notes ?? [])]);
}
