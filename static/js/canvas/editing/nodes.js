/**
 * What can be done to nodes at the canvas and in the outline: added, removed, duplicated, switched off. Each function is one step that
 * can be undone, and says what it did to screen readers.
 */
import {addNode, connect, disconnect, duplicate, moveNodes, removeBoxes, removeNodes, setAnswer, toggleEnabled} from '../../core/commands.js';
import {portOf} from '../../core/doc.js';
import {downstream} from '../../core/graph.js';
import {parents, withBodies} from '../../core/holders.js';
import {ownPorts} from '../../core/ports.js';
import {announce} from '../../state/notices.js';
import {store} from '../../state/store.js';
import {edit, select} from '../../state/tabs.js';
import {t} from '../../words.js';
import {frontDoc, nameOf, selectionOf, sizeOf} from './front.js';
import {around, freePlace, GRID, holderAt, NODE_GAP, NODE_WIDTH, nodeRects, placeOf, snapped} from '../geometry.js';
import {middleOf, withHolders} from '../holding.js';
import {viewCentre} from '../stage.js';

/** @typedef {import('../../core/doc.js').Pipeline} Pipeline */
/** @typedef {import('../../core/doc.js').PipelineEdge} PipelineEdge */
/** @typedef {import('../geometry.js').Point} Point */

/**
 * Put a new node into the document and select it.
 * @param {string} type
 * @param {{position?: Point, from?: {node: string, port: string, end: 'source' | 'target'}, edge?: PipelineEdge}} [where]
 *   `from`: wire it to that node;  `edge`: put it into that wire;  without a position: behind `from`, else in the middle of the view
 * @returns {string | null} its id
 */
export function addAt(type, where = {}) {
  const doc = frontDoc();
  if (!doc) return null;
  const types = store.get().nodeTypes;
  const rects = nodeRects(doc, types);
  const wanted = snapped(wantedPlace(where, rects));
  const other = where.from?.node ?? where.edge?.from;
  // Beside a node it stands in the same body; else in the one that is there.
  const parent = other === undefined ? holderAt(doc, types, middleOf(wanted)) : (parents(doc).get(other) ?? null);
  const around = withHolders(doc, parent);
  const position = freePlace(wanted, [...rects].filter(([id]) => !around.has(id)).map(([, rect]) => rect));
  const port = ownPorts(types[type], undefined)[0];
  /** @type {string | null} */
  let made = null;
  edit('canvas.did.add', (before) => {
    const added = addNode(before, type, position, {parent});
    made = added.id;
    if (where.edge) return insertInto(added.doc, added.id, port, where.edge, position);
    if (!where.from) return added.doc;
    const {node, port: fromPort, end} = where.from;
    return connect(added.doc, end === 'source' ? {from: node, to: added.id, from_port: fromPort} : {from: added.id, to: node, from_port: port});
  });
  if (made !== null) {
    select({nodes: [made]});
    announce(t('canvas.said.added', {title: nameOf(made), id: made}));
  }
  return made;
}

/**
 * @param {Parameters<typeof addAt>[1] & {}} where
 * @param {Map<string, import('../geometry.js').Rect>} rects
 * @returns {Point}
 */
function wantedPlace({position, from, edge}, rects) {
  const beside = rects.get(from?.node ?? edge?.from ?? '');
  const next = edge && rects.get(edge.to);
  if (edge && beside && next) {
    // In a wire: behind its beginning, at the height between both ends.
    return {x: beside.x + beside.width + NODE_GAP, y: (beside.y + next.y) / 2};
  }
  if (position) return position;
  if (beside) return {x: beside.x + (from?.end === 'target' ? -NODE_WIDTH - NODE_GAP : beside.width + NODE_GAP), y: beside.y};
  const centre = viewCentre();
  return {x: centre.x - NODE_WIDTH / 2, y: centre.y - 32};
}

/**
 * Replace a wire by two with the node between them; what follows moves away where there is no room.
 * @param {Pipeline} doc
 * @param {string} id
 * @param {string} port
 * @param {PipelineEdge} edge
 * @param {Point} position
 */
function insertInto(doc, id, port, edge, position) {
  const wired = connect(connect(disconnect(doc, [edge]), {from: edge.from, to: id, from_port: portOf(edge)}), {from: id, to: edge.to, from_port: port});
  const next = doc.nodes.find((node) => node.id === edge.to);
  const missing = next ? position.x + NODE_WIDTH + NODE_GAP - placeOf(next).x : 0;
  if (missing <= 0) return wired;
  const after = withBodies(doc, [edge.to, ...downstream(doc, edge.to)]);
  const moved = wired.nodes.filter((node) => after.has(node.id)).map((node) => [node.id, {x: placeOf(node).x + missing, y: placeOf(node).y}]);
  return moveNodes(wired, Object.fromEntries(moved));
}

/**
 * Delete what is selected.
 * @param {{reconnect?: boolean}} [options] `reconnect`: wire what came before the nodes to what came after
 */
export function deleteSelection({reconnect = false} = {}) {
  const chosen = selectionOf();
  const n = sizeOf(chosen);
  if (!n) return;
  const changed = edit(reconnect ? 'canvas.did.deleteReconnect' : 'canvas.did.delete', (doc) => {
    const cut = chosen.edges.length ? disconnect(doc, chosen.edges) : doc;
    const bare = chosen.nodes.length ? removeNodes(cut, chosen.nodes, {reconnect}) : cut;
    return removeBoxes(removeBoxes(bare, 'frames', chosen.frames), 'notes', chosen.notes);
  });
  if (!changed) return;
  select({});
  announce(t('canvas.said.deleted', {n}));
}

/** Copy the selected nodes beside themselves. */
export function duplicateSelection() {
  const {nodes} = selectionOf();
  /** @type {string[]} */
  let made = [];
  edit('canvas.did.duplicate', (doc) => {
    const copied = duplicate(doc, nodes, {x: 2 * GRID, y: 2 * GRID});
    made = copied.ids;
    return copied.doc;
  });
  if (!made.length) return;
  select({nodes: made});
  announce(t('canvas.said.duplicated', {n: made.length}));
}

/** Select every node, frame and note. */
export function selectAll() {
  const doc = frontDoc();
  if (!doc) return;
  select({
    nodes: doc.nodes.map((node) => node.id),
    frames: (doc.view?.frames ?? []).map((frame) => frame.id),
    notes: (doc.view?.notes ?? []).map((note) => note.id),
  });
  announce(t('canvas.said.selected', {n: sizeOf(selectionOf())}));
}

/** Switch the selected nodes off, or on again. */
export function toggleSelection() {
  const {nodes} = selectionOf();
  if (!edit('canvas.did.toggle', (doc) => toggleEnabled(doc, nodes))) return;
  const off = frontDoc()?.nodes.filter((node) => nodes.includes(node.id) && node.enabled === false).length ?? 0;
  announce(off ? t('canvas.said.disabled', {n: off}) : t('canvas.said.enabled', {n: nodes.length}));
}

/** Let this node answer the pipeline; the one that is named already is unnamed. @param {string} id */
export function toggleAnswer(id) {
  const named = frontDoc()?.answer === id;
  edit('canvas.did.answer', (doc) => setAnswer(doc, named ? null : id));
  announce(named ? t('canvas.said.answerAuto') : t('canvas.said.answer', {title: nameOf(id)}));
}
