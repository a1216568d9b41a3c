/** The document as React Flow wants it. What did not change keeps its identity, so that React renders only what did. */
import {Flow} from '../h.js';
import {portOf} from '../core/doc.js';
import {parents} from '../core/holders.js';
import {hasPort} from '../core/ports.js';
import {portTitle} from '../state/portwords.js';
import {t, typeTitle} from '../words.js';
import {depthOf, edgeKey, HANDLE, isHolder, NODE_WIDTH, nodeHeight, nodeRects, placeOf, portsOf, portY, usedPorts} from './geometry.js';
import {titleOf} from './summary.js';

/** @typedef {import('../core/doc.js').Pipeline} Pipeline */
/** @typedef {import('../core/doc.js').PipelineNode} PipelineNode */
/** @typedef {import('../core/doc.js').PipelineEdge} PipelineEdge */
/** @typedef {import('../core/doc.js').NodeType} NodeType */
/** @typedef {import('../state/types.js').Selection} Selection */
/** @typedef {import('./geometry.js').Point} Point */
/** @typedef {import('./geometry.js').Port} Port */
/** @typedef {import('./geometry.js').Rect} Rect */
/**
 * Where things are while a hand moves or resizes them, by the canvas's ids.
 * @typedef {ReadonlyMap<string, {x: number, y: number, width?: number, height?: number}>} Moving
 */

/** How far behind the wires frames stand, and before them what holds nodes; bodies nest less deep than the difference. */
const FRAMES = -100;
const HOLDERS = -90;

/** The canvas's id of a frame or a note: a node's own id holds no colon. @param {'frame' | 'note'} kind @param {string} id */
export function flowId(kind, id) {
  return `${kind}:${id}`;
}

/**
 * What the canvas's id stands for.
 * @param {string} id
 * @returns {{kind: 'node' | 'frame' | 'note', id: string}}
 */
export function thingOf(id) {
  const [, kind, own] = /^(frame|note):(.*)$/s.exec(id) ?? [];
  return kind ? {kind: /** @type {'frame' | 'note'} */ (kind), id: own} : {kind: 'node', id};
}

/**
 * Make a function from documents to React Flow's nodes, which remembers what it made last.
 * @returns {(doc: Pipeline, types: Record<string, NodeType>, selection: Selection, moving: Moving) => import('../h.js').Flow.Node[]}
 */
export function nodeProjection() {
  /** @type {Map<string, {inputs: unknown[], made: any}>} */
  let memory = new Map();
  return (doc, types, selection, moving) => {
    /** @type {typeof memory} */
    const next = new Map();
    /** @param {string} id @param {unknown[]} inputs @param {() => any} make */
    const kept = (id, inputs, make) => {
      const old = memory.get(id);
      const entry = old && old.inputs.every((value, i) => Object.is(value, inputs[i])) ? old : {inputs, made: make()};
      next.set(id, entry);
      return entry.made;
    };
    const used = usedPorts(doc);
    const holders = parents(doc);
    const held = new Set(holders.values());
    const rects = nodeRects(doc, types);
    const chosen = {nodes: new Set(selection.nodes), frames: new Set(selection.frames), notes: new Set(selection.notes)};
    const frames = (doc.view?.frames ?? []).map((frame) => {
      const id = flowId('frame', frame.id);
      const selected = chosen.frames.has(frame.id);
      return kept(id, [frame, moving.get(id), selected], () => frameNode(id, frame, moving.get(id), selected));
    });
    const notes = (doc.view?.notes ?? []).map((note) => {
      const id = flowId('note', note.id);
      const selected = chosen.notes.has(note.id);
      return kept(id, [note, moving.get(id), selected], () => noteNode(id, note, moving.get(id), selected));
    });
    // One node is the stop for Tab; from there the keys of the canvas go on.
    const stop = selection.nodes.at(-1) ?? doc.nodes[0]?.id;
    /** @type {Set<string>} */
    const seen = new Set();
    const nodes = [];
    for (const node of doc.nodes) {
      // A file written by hand may use an id twice; React Flow draws the first, the problems list tells of the other.
      if (seen.has(node.id)) continue;
      seen.add(node.id);
      const type = types[node.type];
      const ports = JSON.stringify(portsOf(type, node, used.get(node.id) ?? []));
      const selected = chosen.nodes.has(node.id);
      const place = moving.get(node.id);
      const isStop = node.id === stop;
      const rect = isHolder(type) || held.has(node.id) ? rects.get(node.id) : undefined;
      const box = rect && `${rect.x} ${rect.y} ${rect.width} ${rect.height} ${depthOf(holders, node.id)}`;
      const make = () => pipeNode(node, types, ports, {selected, isStop, place, rect, depth: depthOf(holders, node.id)}, memory.get(node.id)?.made);
      nodes.push(kept(node.id, [node, type, ports, selected, isStop, place, box], make));
    }
    memory = next;
    // What holds others is drawn before them.
    return [...frames, ...notes, ...nodes.filter((one) => one.data.holds), ...nodes.filter((one) => !one.data.holds)];
  };
}

/**
 * @param {PipelineNode} node
 * @param {Record<string, NodeType>} types
 * @param {string} portText the ports as JSON
 * @param {{selected: boolean, isStop: boolean, place: Point | undefined, rect: Rect | undefined, depth: number}} now `rect`: of a node with a body
 * @param {any} old what was made of this node before
 */
function pipeNode(node, types, portText, {selected, isStop, place, rect, depth}, old) {
  const ports = /** @type {Port[]} */ (JSON.parse(portText));
  const head = nodeHeight(ports.length);
  const {width, height} = rect ?? {width: NODE_WIDTH, height: head};
  const type = types[node.type];
  const holds = rect !== undefined;
  const same = old && old.data.node === node && old.data.type === type && old.data.portText === portText && old.data.holds === holds;
  const own = placeOf(node);
  const corner = rect ?? own;
  return {
    id: node.id,
    type: 'pipe',
    position: place ? {x: place.x + corner.x - own.x, y: place.y + corner.y - own.y} : {x: corner.x, y: corner.y},
    data: same ? old.data : {node, type, ports, portText, holds, head},
    selected,
    // Wires are at 0: what holds nodes stands behind the wires between them.
    zIndex: holds ? HOLDERS + depth : selected ? 2 : 1,
    width,
    height,
    measured: {width, height},
    handles: handles(ports, head, width),
    ...(holds ? {dragHandle: '.canvas-node-face', style: {pointerEvents: 'none'}} : {}),
    ariaLabel: t('canvas.node.name', {title: titleOf(node, types), type: typeTitle(type, node.type), id: node.id}),
    domAttributes: {'aria-roledescription': t('canvas.node.role'), tabIndex: isStop ? 0 : -1},
  };
}

/** @param {Port[]} ports @param {number} head @param {number} width */
function handles(ports, head, width) {
  const box = {width: HANDLE, height: HANDLE};
  return [
    {...box, id: null, type: 'target', position: Flow.Position.Left, x: -HANDLE / 2, y: head / 2 - HANDLE / 2},
    ...ports.map(({name}, index) => ({
      ...box,
      id: name,
      type: 'source',
      position: Flow.Position.Right,
      x: width - HANDLE / 2,
      y: portY(index, ports.length) - HANDLE / 2,
    })),
  ];
}

/** @param {string} id @param {any} frame @param {any} place @param {boolean} selected */
function frameNode(id, frame, place, selected) {
  return {
    ...boxed(id, frame, place, selected),
    type: 'frame',
    data: {frame},
    zIndex: FRAMES,
    dragHandle: '.canvas-frame-head',
    // The inside lets the pointer through: a box selection may begin in a frame.
    style: {pointerEvents: 'none'},
    ariaLabel: t('canvas.frame.name', {title: frame.title || t('canvas.frame.untitled')}),
    domAttributes: {'aria-roledescription': t('canvas.frame.role')},
  };
}

/** @param {string} id @param {any} note @param {any} place @param {boolean} selected */
function noteNode(id, note, place, selected) {
  return {
    ...boxed(id, note, place, selected),
    type: 'note',
    data: {note},
    zIndex: 0,
    ariaLabel: t('canvas.note.name', {text: note.text.slice(0, 80) || t('canvas.note.empty')}),
    domAttributes: {'aria-roledescription': t('canvas.note.role')},
  };
}

/** @param {string} id @param {any} box @param {any} place @param {boolean} selected */
function boxed(id, box, place, selected) {
  const width = place?.width ?? box.width;
  const height = place?.height ?? box.height;
  return {
    id,
    position: {x: place?.x ?? box.x, y: place?.y ?? box.y},
    width,
    height,
    measured: {width, height},
    selected,
    connectable: false,
    handles: [],
  };
}

/**
 * Make a function from documents to React Flow's edges, which remembers what it made last.
 * @returns {(doc: Pipeline, selection: Selection, types: Record<string, NodeType>) => import('../h.js').Flow.Edge[]}
 */
export function edgeProjection() {
  /** @type {Map<string, {inputs: unknown[], made: any}>} */
  let memory = new Map();
  return (doc, selection, types) => {
    const ids = new Map(doc.nodes.map((node) => [node.id, node]));
    const chosen = new Set(selection.edges.map(edgeKey));
    /** @type {typeof memory} */
    const next = new Map();
    const edges = [];
    for (const edge of doc.edges) {
      const key = edgeKey(edge);
      const from = ids.get(edge.from);
      const to = ids.get(edge.to);
      // A wire that leads nowhere cannot be drawn; the problems list names it.
      if (!from || !to || next.has(key)) continue;
      const selected = chosen.has(key);
      const old = memory.get(key);
      const isStray = !hasPort(types[from.type], from, portOf(edge));
      const inputs = [edge, selected, from.title, to.title, types, isStray];
      const made = () => wire(key, edge, selected, {from, to, isStray}, types);
      const entry = old && old.inputs.every((value, i) => Object.is(value, inputs[i])) ? old : {inputs, made: made()};
      next.set(key, entry);
      edges.push(entry.made);
    }
    memory = next;
    return edges;
  };
}

/**
 * @param {string} key
 * @param {PipelineEdge} edge
 * @param {boolean} selected
 * @param {{from: PipelineNode, to: PipelineNode, isStray: boolean}} ends `isStray`: it leaves by a port that is not there
 * @param {Record<string, NodeType>} types
 */
function wire(key, edge, selected, {from, to, isStray}, types) {
  return {
    id: key,
    type: 'order',
    source: edge.from,
    target: edge.to,
    sourceHandle: portOf(edge),
    data: {edge, isStray},
    selected,
    zIndex: selected ? 1 : 0,
    ariaRole: 'group',
    ariaLabel: wireName(edge, titleOf(from, types), titleOf(to, types)),
    domAttributes: {'aria-roledescription': t('canvas.edge.role')},
  };
}

/**
 * What a wire is called: from where to where, and by which port where that is no matter of course.
 * @param {PipelineEdge} edge
 * @param {string} from the title of the node that it leaves
 * @param {string} to
 */
export function wireName(edge, from, to) {
  const port = portOf(edge);
  return port === 'done' ? t('canvas.edge.name', {from, to}) : t('canvas.edge.nameByPort', {from, to, port: portTitle(port)});
}
