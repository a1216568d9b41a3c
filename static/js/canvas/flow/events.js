/** What React Flow reports of nodes, wires and the selection, taken into the document and the state. */
import {wouldCycle} from '../../core/graph.js';
import {crossesBorder} from '../../core/holders.js';
import {announce} from '../../state/notices.js';
import {select} from '../../state/tabs.js';
import {setView} from '../../state/view.js';
import {t} from '../../words.js';
import {firstPort, frontDoc, nameOf, selectionOf, sizeOf} from '../editing/front.js';
import {connectNodes} from '../editing/wires.js';
import {edgeKey, NODE_HEIGHT, NODE_WIDTH, placeOf} from '../geometry.js';
import {thingOf} from '../projection.js';
import {openChooser, shown, stage} from '../stage.js';
import {MANY} from './carrying.js';
import {moveNode, takeAlong} from './moves.js';

/** @typedef {import('./moves.js').Hand} Hand */

/**
 * What React Flow reports, for good: the functions read the state when they are called.
 * @param {Hand} hand
 */
export function flowHandlers(hand) {
  /** @type {{nodeId: string, handleId: string | null, handleType: 'source' | 'target'} | null} */
  let tapped = null;
  return {
    onNodesChange: (/** @type {import('../../h.js').Flow.NodeChange[]} */ changes) => onNodesChange(changes, hand),
    onEdgesChange: (/** @type {import('../../h.js').Flow.EdgeChange[]} */ changes) => onEdgesChange(changes),
    onNodeDragStop: hand.commit,
    onSelectionDragStop: hand.commit,
    onNodeClick: selectAlone,
    onNodeMouseEnter: (/** @type {unknown} */ _event, /** @type {{id: string}} */ node) => stage.set({hovered: node.id}),
    onNodeMouseLeave: () => stage.set({hovered: null}),
    onNodeDoubleClick: (/** @type {unknown} */ _event, /** @type {{id: string}} */ node) => {
      if (thingOf(node.id).kind === 'node') setView({inspectorOpen: true, narrowPage: 'inspector'});
    },
    onConnect: (/** @type {import('../../h.js').Flow.Connection} */ connection) => connectNodes(edgeOf(connection)),
    onConnectEnd,
    isValidConnection: (/** @type {any} */ connection) => {
      const doc = frontDoc();
      return doc !== null && !crossesBorder(doc, edgeOf(connection)) && wouldCycle(doc, edgeOf(connection)) === null;
    },
    onClickConnectStart: (/** @type {unknown} */ _event, /** @type {any} */ handle) => {
      tapped = handle;
      announce(t('canvas.said.connecting', {title: nameOf(handle.nodeId)}));
    },
    onClickConnectEnd: (/** @type {any} */ event) => {
      const end = event.target?.closest?.('.react-flow__handle');
      if (tapped && end) announceRefusal(tapped, end.dataset.nodeid ?? '', end.dataset.handleid ?? null);
      tapped = null;
    },
    onError: (/** @type {string} */ code, /** @type {string} */ message) => {
      // 008: a wire to a handle that is not drawn yet; it is drawn with the next frame.
      if (code !== '008') console.error(`React Flow ${code}: ${message}`);
    },
  };
}

/**
 * A click on one of several things that are selected means this one alone.
 * @param {import('react').MouseEvent} event
 * @param {{id: string}} node
 */
function selectAlone(event, node) {
  const {kind, id} = thingOf(node.id);
  if (event.shiftKey || event.ctrlKey || event.metaKey || sizeOf(selectionOf()) < 2) return;
  select({[`${kind}s`]: [id]});
}

/** A connection as a wire of the document. @param {any} connection */
function edgeOf(connection) {
  return {from: connection.source, to: connection.target, from_port: connection.sourceHandle ?? 'done'};
}

/**
 * @param {{nodeId: string, handleId: string | null, handleType: 'source' | 'target'}} start
 * @param {string} nodeId
 * @param {string | null} handleId
 */
function announceRefusal(start, nodeId, handleId) {
  const doc = frontDoc();
  const [from, to, port] = start.handleType === 'source' ? [start.nodeId, nodeId, start.handleId] : [nodeId, start.nodeId, handleId];
  const edge = {from, to, from_port: port ?? 'done'};
  if (doc && (crossesBorder(doc, edge) || wouldCycle(doc, edge))) connectNodes(edge);
}

/**
 * A wire was let go: over a node it leads there, in space it asks what to add.
 * @param {MouseEvent | TouchEvent} event
 * @param {any} connection
 */
function onConnectEnd(event, connection) {
  if (!connection.fromHandle || connection.isValid) return;
  const point = 'changedTouches' in event ? event.changedTouches[0] : event;
  const start = {nodeId: connection.fromNode.id, handleId: connection.fromHandle.id ?? null, handleType: connection.fromHandle.type};
  const under = document.elementFromPoint(point.clientX, point.clientY);
  const over = connection.toNode?.id ?? under?.closest('.react-flow__node-pipe')?.getAttribute('data-id');
  if (over && over !== start.nodeId) {
    const source = start.handleType === 'source';
    connectNodes(source ? {from: start.nodeId, to: over, from_port: start.handleId ?? 'done'} : {from: over, to: start.nodeId, from_port: connection.toHandle?.id ?? firstPort(over)});
    return;
  }
  if (over || !under?.closest('.react-flow__pane') || !shown.flow) return;
  const place = shown.flow.screenToFlowPosition({x: point.clientX, y: point.clientY});
  const shift = start.handleType === 'source' ? 0 : -NODE_WIDTH;
  openChooser({
    kind: 'add',
    at: {x: point.clientX, y: point.clientY},
    position: {x: place.x + shift, y: place.y - NODE_HEIGHT / 2},
    from: {node: start.nodeId, port: start.handleId ?? 'done', end: start.handleType},
  });
}

/**
 * Take in what React Flow did to nodes: moved, resized, selected.
 * @param {import('../../h.js').Flow.NodeChange[]} changes
 * @param {Hand} hand
 */
function onNodesChange(changes, hand) {
  const doc = frontDoc();
  if (!doc) return;
  const next = new Map(hand.get());
  let resized = false;
  /** @type {Map<string, boolean>} */
  const chosen = new Map();
  for (const change of changes) {
    if (change.type === 'select') chosen.set(change.id, change.selected);
    else if (change.type === 'position' && change.position) {
      if (change.dragging !== undefined && thingOf(change.id).kind === 'node') moveNode(doc, change.id, change.position, next, changes);
      else next.set(change.id, {...next.get(change.id), ...change.position});
      if (change.dragging !== undefined && thingOf(change.id).kind === 'frame') takeAlong(doc, change.id, change.position, next, changes);
    } else if (change.type === 'dimensions' && change.resizing !== undefined) {
      const {kind, id} = thingOf(change.id);
      const box = (kind === 'frame' ? doc.view?.frames : doc.view?.notes)?.find((one) => one.id === id);
      if (box && change.dimensions) next.set(change.id, {x: box.x, y: box.y, ...next.get(change.id), ...change.dimensions});
      resized ||= change.resizing === false;
    }
  }
  if (chosen.size) changeSelection(chosen);
  const first = doc.nodes.find((node) => next.has(node.id));
  const place = first && next.get(first.id);
  if (place && next.size > MANY && changes.some((change) => change.type === 'position' && change.dragging)) {
    hand.carry(next, doc, {x: place.x - placeOf(first).x, y: place.y - placeOf(first).y});
    return;
  }
  if (next.size && changes.some((change) => change.type === 'position' || change.type === 'dimensions')) hand.set(next);
  if (resized) hand.commit();
}

/** @param {Map<string, boolean>} chosen by the canvas's ids */
function changeSelection(chosen) {
  const old = selectionOf();
  /** @param {'node' | 'frame' | 'note'} kind @param {string[]} ids */
  const changed = (kind, ids) => {
    const set = new Set(ids);
    for (const [flow, selected] of chosen) {
      const thing = thingOf(flow);
      if (thing.kind !== kind) continue;
      if (selected) set.add(thing.id);
      else set.delete(thing.id);
    }
    return [...set];
  };
  select({...old, nodes: changed('node', old.nodes), frames: changed('frame', old.frames), notes: changed('note', old.notes)});
}

/** @param {import('../../h.js').Flow.EdgeChange[]} changes */
function onEdgesChange(changes) {
  const old = selectionOf();
  const kept = new Map(old.edges.map((edge) => [edgeKey(edge), edge]));
  const known = new Map((frontDoc()?.edges ?? []).map((edge) => [edgeKey(edge), edge]));
  let differs = false;
  for (const change of changes) {
    if (change.type !== 'select') continue;
    const edge = known.get(change.id);
    if (change.selected && edge) kept.set(change.id, edge);
    else kept.delete(change.id);
    differs = true;
  }
  if (differs) select({...old, edges: [...kept.values()]});
}
