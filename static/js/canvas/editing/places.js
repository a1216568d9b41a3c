/** Where things stand on the canvas: moved by keys and by hand, resized, lined up, and laid out by the wires. Each is one step for undo. */
import {moveNodes, updateBox} from '../../core/commands.js';
import {align, layout} from '../../core/graph.js';
import {parents, withBodies} from '../../core/holders.js';
import {announce, notify} from '../../state/notices.js';
import {store} from '../../state/store.js';
import {edit, undo} from '../../state/tabs.js';
import {t} from '../../words.js';
import {frontDoc, selectionOf} from './front.js';
import {around, isInside, nodeRects, placeOf} from '../geometry.js';
import {headHeight, movedWithBodies, withHolders, withParents} from '../holding.js';
import {flowId} from '../projection.js';
import {shown} from '../stage.js';

/** @typedef {import('../../core/doc.js').Pipeline} Pipeline */
/** @typedef {import('../../state/types.js').Selection} Selection */
/** @typedef {import('../geometry.js').Point} Point */

/** How much of the canvas an arranged drawing takes. */
const FITTED = 0.8;

/**
 * Move what is selected; steps in a row are one step for undo.
 * @param {number} dx in canvas pixels
 * @param {number} dy
 */
export function nudge(dx, dy) {
  const chosen = selectionOf();
  edit('canvas.did.move', (doc) => moved(doc, chosen, dx, dy), {coalesce: `nudge ${JSON.stringify([chosen.nodes, chosen.frames, chosen.notes])}`});
}

/**
 * @param {Pipeline} doc
 * @param {Selection} chosen
 * @param {number} dx
 * @param {number} dy
 */
function moved(doc, chosen, dx, dy) {
  const all = withMembers(doc, chosen);
  const places = doc.nodes.filter((node) => all.nodes.has(node.id)).map((node) => [node.id, {x: placeOf(node).x + dx, y: placeOf(node).y + dy}]);
  const next = places.length ? moveNodes(doc, Object.fromEntries(places)) : doc;
  return withBoxes(next, (box, kind) => (all[kind].has(box.id) ? {x: box.x + dx, y: box.y + dy} : null));
}

/**
 * Change frames and notes.
 * @param {Pipeline} doc
 * @param {(box: import('../../core/doc.js').Frame | import('../../core/doc.js').Note, kind: 'frames' | 'notes') => Record<string, number> | null} patchOf
 */
function withBoxes(doc, patchOf) {
  let next = doc;
  for (const kind of /** @type {const} */ (['frames', 'notes'])) {
    for (const box of doc.view?.[kind] ?? []) {
      const patch = patchOf(box, kind);
      if (patch) next = updateBox(next, kind, box.id, patch);
    }
  }
  return next;
}

/**
 * Make the selected frames and notes larger or smaller.
 * @param {number} dx
 * @param {number} dy
 */
export function resizeSelection(dx, dy) {
  const chosen = selectionOf();
  /** @param {{width: number, height: number}} box */
  const resized = (box) => ({width: Math.max(120, box.width + dx), height: Math.max(60, box.height + dy)});
  edit(
    'canvas.did.resize',
    (doc) => withBoxes(doc, (box, kind) => (chosen[kind].includes(box.id) ? resized(box) : null)),
    {coalesce: `resize ${chosen.frames} ${chosen.notes}`},
  );
}

/**
 * What a frame takes along: nodes, notes, and smaller frames.
 * @param {Pipeline} doc
 * @param {string} frameId
 */
export function membersOf(doc, frameId) {
  const frame = doc.view?.frames?.find((one) => one.id === frameId);
  if (!frame) return {nodes: [], notes: [], frames: []};
  const size = frame.width * frame.height;
  const inner = (/** @type {import('../../core/doc.js').Frame} */ one) => one.width * one.height < size && isInside(one, frame);
  return {
    nodes: [...nodeRects(doc, store.get().nodeTypes)].filter(([, rect]) => isInside(rect, frame)).map(([id]) => id),
    notes: (doc.view?.notes ?? []).filter((note) => isInside(note, frame)).map((note) => note.id),
    frames: (doc.view?.frames ?? []).filter(inner).map((one) => one.id),
  };
}

/**
 * A selection with all that its frames take along, and what stands in bodies.
 * @param {Pipeline} doc
 * @param {{nodes: string[], frames: string[], notes: string[]}} chosen
 */
export function withMembers(doc, chosen) {
  const members = chosen.frames.map((id) => membersOf(doc, id));
  return {
    nodes: withBodies(doc, [...chosen.nodes, ...members.flatMap((one) => one.nodes)]),
    frames: new Set([...chosen.frames, ...members.flatMap((one) => one.frames)]),
    notes: new Set([...chosen.notes, ...members.flatMap((one) => one.notes)]),
  };
}

/**
 * Write down where a hand has put things. A node that comes to stand within a body is put into it, one that comes to stand outside
 * is taken out.
 * @param {import('../projection.js').Moving} moving by the canvas's ids
 */
export function commitMove(moving) {
  const types = store.get().nodeTypes;
  let wires = 0;
  edit('canvas.did.move', (doc) => {
    const places = doc.nodes.flatMap((node) => {
      const place = moving.get(node.id);
      return place ? [[node.id, {x: Math.round(place.x), y: Math.round(place.y)}]] : [];
    });
    const placed = places.length ? moveNodes(doc, Object.fromEntries(places)) : doc;
    const next = withParents(doc, placed, moving, types);
    wires = next.edges === placed.edges ? 0 : doc.edges.filter((edge) => !next.edges.includes(edge)).length;
    return withBoxes(next, ({id}, kind) => {
      const box = moving.get(flowId(kind === 'frames' ? 'frame' : 'note', id));
      return box ? rounded(box) : null;
    });
  });
  if (wires) notify('info', 'canvas.wiresLedAround', {n: wires}, {action: {label: t('app.action.undo'), run: undo}});
}

/** @param {{x: number, y: number, width?: number, height?: number}} box */
function rounded(box) {
  return Object.fromEntries(Object.entries(box).filter(([, value]) => value !== undefined).map(([name, value]) => [name, Math.round(/** @type {number} */ (value))]));
}

/** Line the selected nodes up. @param {import('../../core/graph.js').Alignment} alignment */
export function alignSelection(alignment) {
  const {nodes} = selectionOf();
  const types = store.get().nodeTypes;
  settle('canvas.did.align', (doc) => {
    // What holds others is aligned by its border, and takes along what stands in it.
    const rects = nodeRects(doc, types);
    const roots = nodes.filter((id) => ![...withHolders(doc, parents(doc).get(id) ?? null)].some((one) => nodes.includes(one)));
    const boxes = {...doc, nodes: doc.nodes.map((node) => ({...node, position: rects.get(node.id) ?? placeOf(node)}))};
    return movedWithBodies(doc, types, align(boxes, roots, alignment, Object.fromEntries(rects)));
  });
}

/** Give every node a place by the order of the wires. */
export function layOut() {
  const types = store.get().nodeTypes;
  settle('canvas.did.layout', (doc) =>
    layout(doc, Object.fromEntries(nodeRects(doc, types)), Object.fromEntries(doc.nodes.map((node) => [node.id, headHeight(doc, types, node)]))),
  );
  announce(t('canvas.said.laidOut'));
  // The places of the document count: the drawing may still glide towards them.
  const doc = frontDoc();
  const all = doc && around([...nodeRects(doc, store.get().nodeTypes).values(), ...(doc.view?.frames ?? []), ...(doc.view?.notes ?? [])]);
  if (all && shown.element) void shown.flow?.fitBounds(atLeast(all, shown.element.clientWidth * FITTED, shown.element.clientHeight * FITTED), {padding: (1 - FITTED) / 2});
}

/** A rectangle with the same middle, at least as large: what is small is not enlarged. @param {import('../geometry.js').Rect} rect @param {number} width @param {number} height */
function atLeast(rect, width, height) {
  const [more, higher] = [Math.max(0, width - rect.width), Math.max(0, height - rect.height)];
  return {x: rect.x - more / 2, y: rect.y - higher / 2, width: rect.width + more, height: rect.height + higher};
}

/**
 * Move nodes to computed places, gliding where motion is welcome.
 * @param {string} label
 * @param {(doc: Pipeline) => {[id: string]: Point}} compute
 */
function settle(label, compute) {
  const before = frontDoc();
  if (!before) return;
  const from = new Map(before.nodes.map((node) => [node.id, placeOf(node)]));
  if (edit(label, (doc) => moveNodes(doc, compute(doc)))) shown.glide?.(from);
}
