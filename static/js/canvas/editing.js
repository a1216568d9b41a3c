/**
 * What can be done to the document at the canvas and in the outline. Each function is one step that can be undone, says what it
 * did to screen readers, and says why where it refuses.
 */
import {
  addBox,
  addNode,
  connect,
  disconnect,
  duplicate,
  moveNodes,
  removeBoxes,
  removeNodes,
  setAnswer,
  setDocument,
  toggleEnabled,
  updateBox,
} from '../core/commands.js';
import {portOf} from '../core/doc.js';
import {align, downstream, layout, order, upstream, wouldCycle} from '../core/graph.js';
import {outline} from '../core/bodies.js';
import {crossesBorder, levels, parents, withBodies} from '../core/holders.js';
import {ERROR_PORT, ownPorts} from '../core/ports.js';
import {announce, notify} from '../state/notices.js';
import {store} from '../state/store.js';
import {activeTab, docOf, edit, NOTHING, select, undo} from '../state/tabs.js';
import {t} from '../words.js';
import {around, freePlace, GRID, holderAt, isInside, NODE_GAP, NODE_WIDTH, nodeRects, placeOf, snapped} from './geometry.js';
import {headHeight, middleOf, movedWithBodies, withHolders, withParents} from './holding.js';
import {flowId, wireName} from './projection.js';
import {shown, stage, viewCentre} from './stage.js';
import {titleOf} from './summary.js';

/** @typedef {import('../core/doc.js').Pipeline} Pipeline */
/** @typedef {import('../core/doc.js').PipelineEdge} PipelineEdge */
/** @typedef {import('../state/types.js').State} State */
/** @typedef {import('../state/types.js').Selection} Selection */
/** @typedef {import('./geometry.js').Point} Point */

export const FRAME_COLORS = Object.freeze(['blue', 'green', 'amber', 'red', 'violet', 'grey']);
const FRAME_MARGIN = 30;
const FRAME_HEAD = 36;
/** How much of the canvas an arranged drawing takes. */
const FITTED = 0.8;
const NOTE_SIZE = {width: 220, height: 120};

/** Whether the document in front may be changed at all: in the outline too, and where the canvas is locked. @param {State} [state] */
export function canEdit(state = store.get()) {
  const tab = activeTab(state);
  return tab !== null && !tab.readOnly && tab.brokenText === null;
}

/** Whether the document in front may be changed at the canvas. @param {State} [state] */
export function canChange(state = store.get()) {
  return canEdit(state) && !state.view.locked;
}

/** @param {State} [state] @returns {Selection} */
export function selectionOf(state = store.get()) {
  return activeTab(state)?.selection ?? NOTHING;
}

/** The document in front. @returns {Pipeline | null} */
export function frontDoc() {
  const tab = activeTab();
  return tab && docOf(tab);
}

/** @param {string} id */
export function nameOf(id) {
  const node = frontDoc()?.nodes.find((one) => one.id === id);
  return node ? titleOf(node, store.get().nodeTypes) : id;
}

/** The ports that a node's wires may leave by, the one for failures last. @param {string} id @returns {string[]} */
export function portsOfNode(id) {
  const node = frontDoc()?.nodes.find((one) => one.id === id);
  const type = node && store.get().nodeTypes[node.type];
  return [...ownPorts(type, node), ...(type?.error_port ? [ERROR_PORT] : [])];
}

/** The port that a wire leaves by where nobody says which. @param {string} id */
export function firstPort(id) {
  return portsOfNode(id)[0];
}

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
 * @param {Map<string, import('./geometry.js').Rect>} rects
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
 * Wire two nodes: `to` then runs after `from`.
 * @param {PipelineEdge} edge
 * @returns {boolean} false where that was refused; a notice says why
 */
export function connectNodes(edge) {
  const doc = frontDoc();
  if (!doc || !canChange()) return false;
  const names = {from: nameOf(edge.from), to: nameOf(edge.to)};
  if (doc.edges.some((one) => one.from === edge.from && one.to === edge.to && portOf(one) === portOf(edge))) {
    announce(t('canvas.said.alreadyConnected', names));
    return false;
  }
  if (crossesBorder(doc, edge)) {
    notify('warning', 'canvas.borderRefused', {...names, holder: nameOf(outerOf(doc, edge))});
    return false;
  }
  const cycle = wouldCycle(doc, edge);
  if (cycle) {
    notify('warning', 'canvas.cycleRefused', {path: cycle.map((id) => `${nameOf(id)} (${id})`).join(' → ')});
    return false;
  }
  edit('canvas.did.connect', (before) => connect(before, edge));
  announce(t('canvas.said.connected', names));
  return true;
}

/** The node whose border a wire would cross: the innermost holder of the end that stands deeper. @param {Pipeline} doc @param {PipelineEdge} edge */
function outerOf(doc, {from, to}) {
  const holders = parents(doc);
  const [a, b] = [withHolders(doc, holders.get(from) ?? null), withHolders(doc, holders.get(to) ?? null)];
  return [...a].find((id) => !b.has(id)) ?? [...b].find((id) => !a.has(id)) ?? '';
}

/** Let a wire leave its node by another port. @param {PipelineEdge} edge @param {string} port */
export function changePort(edge, port) {
  edit('canvas.did.port', (doc) => {
    const rest = disconnect(doc, [edge]);
    const {from_port: _, ...bare} = edge;
    const wire = {...bare, from_port: port};
    return rest.edges.some((one) => one.from === wire.from && one.to === wire.to && portOf(one) === port) ? rest : {...rest, edges: [...rest.edges, wire]};
  });
  announce(t('canvas.said.port', {name: wireName({...edge, from_port: port}, nameOf(edge.from), nameOf(edge.to))}));
}

/** @param {PipelineEdge} edge */
export function cutWire(edge) {
  if (edit('canvas.did.disconnect', (doc) => disconnect(doc, [edge]))) {
    announce(t('canvas.said.disconnected', {from: nameOf(edge.from), to: nameOf(edge.to)}));
  }
}

/**
 * The nodes that a wire from this port of a node may lead to, those that are wired to it already left out.
 * @param {string} id
 * @param {string} port
 */
export function targetsOf(id, port) {
  const doc = frontDoc();
  if (!doc) return [];
  const before = upstream(doc, id);
  const wired = new Set(doc.edges.filter((edge) => edge.from === id && portOf(edge) === port).map((edge) => edge.to));
  return doc.nodes.filter((node) => node.id !== id && !before.has(node.id) && !wired.has(node.id) && !crossesBorder(doc, {from: id, to: node.id}));
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

/** @param {Selection} chosen */
export function sizeOf(chosen) {
  return chosen.nodes.length + chosen.edges.length + chosen.frames.length + chosen.notes.length;
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
 * @param {(box: import('../core/doc.js').Frame | import('../core/doc.js').Note, kind: 'frames' | 'notes') => Record<string, number> | null} patchOf
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
  const inner = (/** @type {import('../core/doc.js').Frame} */ one) => one.width * one.height < size && isInside(one, frame);
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
 * @param {import('./projection.js').Moving} moving by the canvas's ids
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

/** Draw a frame around the selected nodes and begin to type its title. */
export function frameSelection() {
  const chosen = selectionOf();
  const doc = frontDoc();
  if (!doc) return;
  const rects = nodeRects(doc, store.get().nodeTypes);
  const box = around([
    ...chosen.nodes.flatMap((id) => rects.get(id) ?? []),
    ...(doc.view?.notes ?? []).filter((note) => chosen.notes.includes(note.id)),
  ]);
  const centre = viewCentre();
  const inner = box ?? {x: centre.x - 160, y: centre.y - 80, width: 320, height: 160};
  addAndRename('frame', {
    title: '',
    x: inner.x - FRAME_MARGIN,
    y: inner.y - FRAME_MARGIN - FRAME_HEAD,
    width: inner.width + 2 * FRAME_MARGIN,
    height: inner.height + 2 * FRAME_MARGIN + FRAME_HEAD,
    color: FRAME_COLORS[(doc.view?.frames?.length ?? 0) % FRAME_COLORS.length],
  });
}

/** Put a note on the canvas where nothing stands and begin to type. @param {Point} [position] its upper left corner */
export function addNoteAt(position) {
  const doc = frontDoc();
  if (!doc) return;
  const centre = viewCentre();
  const wanted = position ?? {x: centre.x - NOTE_SIZE.width / 2, y: centre.y - NOTE_SIZE.height / 2};
  const taken = [...nodeRects(doc, store.get().nodeTypes).values(), ...(doc.view?.notes ?? [])];
  const place = freePlace(snapped(wanted), taken, NOTE_SIZE);
  addAndRename('note', {text: '', ...place, ...NOTE_SIZE});
}

/**
 * @param {'frame' | 'note'} kind
 * @param {Parameters<typeof addBox>[2]} box
 */
function addAndRename(kind, box) {
  let made = '';
  const done = edit(`canvas.did.${kind}`, (doc) => {
    const added = addBox(doc, `${kind}s`, box);
    made = added.id;
    return added.doc;
  });
  if (!done) return;
  select({[`${kind}s`]: [made]});
  stage.set({renaming: flowId(kind, made)});
}

/**
 * Change a frame or a note.
 * @param {'frame' | 'note'} kind
 * @param {string} id
 * @param {{title?: string, text?: string, color?: string}} patch
 */
export function changeBox(kind, id, patch) {
  edit(`canvas.did.${kind}Change`, (doc) => updateBox(doc, `${kind}s`, id, patch));
}

/** Line the selected nodes up. @param {import('../core/graph.js').Alignment} alignment */
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

/** A rectangle with the same middle, at least as large: what is small is not enlarged. @param {import('./geometry.js').Rect} rect @param {number} width @param {number} height */
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

/**
 * Go along the wires: the first node after the selected one, or before it; round the siblings when asked again.
 * @param {1 | -1} direction
 * @returns {string | null} where we are now
 */
export function walk(direction) {
  const doc = frontDoc();
  if (!doc?.nodes.length) return null;
  const [here] = selectionOf().nodes.slice(-1);
  const next = here ? neighbour(doc, here, direction) : order(doc)[direction === 1 ? 0 : doc.nodes.length - 1];
  if (!next) {
    announce(t(direction === 1 ? 'canvas.said.lastNode' : 'canvas.said.firstNode'));
    return here;
  }
  select({nodes: [next]});
  announce(t('canvas.said.at', {title: nameOf(next), id: next}));
  return next;
}

/** @param {Pipeline} doc @param {string} here @param {1 | -1} direction */
function neighbour(doc, here, direction) {
  const edge = doc.edges.find((one) => (direction === 1 ? one.from : one.to) === here);
  return edge && (direction === 1 ? edge.to : edge.from);
}

/**
 * Move a node one place in the order in which nodes run that are not tied by wires.
 * @param {string} id
 * @param {1 | -1} direction
 * @returns {boolean} false where a wire or the end of the list forbids it
 */
export function moveInOrder(id, direction) {
  const doc = frontDoc();
  if (!doc || !canMoveInOrder(doc, id, direction)) return false;
  edit('canvas.did.order', (before) => {
    const other = neighbourInOrder(before, id, direction);
    const ids = outline(before).map((line) => line.id);
    const [at, to] = [ids.indexOf(id), ids.indexOf(other ?? id)];
    [ids[at], ids[to]] = [ids[to], ids[at]];
    const byId = new Map(before.nodes.map((node) => [node.id, node]));
    return setDocument(before, {nodes: ids.flatMap((one) => byId.get(one) ?? [])});
  });
  announce(t(direction === 1 ? 'canvas.said.movedDown' : 'canvas.said.movedUp', {title: nameOf(id)}));
  return true;
}

/** @param {Pipeline} doc @param {string} id @param {1 | -1} direction */
export function canMoveInOrder(doc, id, direction) {
  const other = neighbourInOrder(doc, id, direction);
  if (other === undefined || new Set(doc.nodes.map((node) => node.id)).size !== doc.nodes.length) return false;
  return !doc.edges.some((edge) => (edge.from === id && edge.to === other) || (edge.from === other && edge.to === id));
}

/** The node beside which one runs that stands in the same body. @param {Pipeline} doc @param {string} id @param {1 | -1} direction */
function neighbourInOrder(doc, id, direction) {
  const level = levels(doc).get(parents(doc).get(id) ?? null);
  const ids = level ? order(level) : [];
  return ids.includes(id) ? ids[ids.indexOf(id) + direction] : undefined;
}
