// Everything that can be done to a document, each as a function from a document to a new one.
//
// What a command is told about things that are not there changes nothing: it then gives back the very document it got. No
// command throws, whatever the document lacks. Commands that make an edge never close a cycle.

import {
  edgesOf,
  framesOf,
  ID_PATTERN,
  isEnabled,
  isObject,
  isPosition,
  newNodeId,
  nodeById,
  nodesOf,
  notesOf,
  portOf,
} from './doc.js';
import {findCycle, wouldCycle} from './graph.js';
import {crossesBorder, withBodies} from './holders.js';
import {rewriteReferences} from './macros.js';
import {mapTexts} from './texts.js';

/** @typedef {import('./doc.js').Pipeline} Pipeline */
/** @typedef {import('./doc.js').PipelineNode} PipelineNode */
/** @typedef {import('./doc.js').PipelineEdge} PipelineEdge */
/** @typedef {import('./doc.js').Position} Position */
/** @typedef {import('./doc.js').Frame} Frame */
/** @typedef {import('./doc.js').Note} Note */
/** @typedef {import('./doc.js').JsonObject} JsonObject */

/**
 * A piece of a pipeline on its way to another place (clipboard.js).
 * @typedef {object} Fragment
 * @property {PipelineNode[]} nodes
 * @property {PipelineEdge[]} edges
 * @property {Frame[]} [frames]
 * @property {Note[]} [notes]
 */

/**
 * Add a node. An id that is taken or impossible is replaced by a new one.
 * @param {Pipeline} document
 * @param {string} type
 * @param {Position} position
 * @param {{config?: JsonObject, title?: string, id?: string, parent?: string | null}} [options] `parent`: in whose body it stands
 * @returns {{doc: Pipeline, id: string}}
 */
export function addNode(document, type, position, {config = {}, title, id, parent = null} = {}) {
  const isFree = id !== undefined && ID_PATTERN.test(id) && !nodeById(document, id);
  const chosen = isFree ? id : newNodeId(document);
  /** @type {PipelineNode} */
  const node = {
    id: chosen,
    type,
    ...(title ? {title} : {}),
    config,
    position: isPosition(position) ? position : {x: 0, y: 0},
    ...(parent === null ? {} : {parent}),
  };
  return {doc: {...document, nodes: [...nodesOf(document), node]}, id: chosen};
}

/**
 * Remove nodes with their edges and what stands in their bodies; an `answer` that names one is removed too. With `reconnect` whoever came before a removed
 * node is followed by whoever came after it.
 * @param {Pipeline} document
 * @param {string[]} ids
 * @param {{reconnect?: boolean}} [options]
 * @returns {Pipeline}
 */
export function removeNodes(document, ids, {reconnect = false} = {}) {
  const gone = withBodies(document, ids);
  const nodes = nodesOf(document).filter((node) => !gone.has(node.id));
  if (nodes.length === nodesOf(document).length) return document;
  const kept = edgesOf(document).filter((edge) => !gone.has(edge.from) && !gone.has(edge.to));
  const edges = reconnect ? [...kept, ...bridges(document, gone, kept)] : kept;
  const {answer, ...rest} = document;
  return {...rest, nodes, edges, ...(answer === undefined || (answer !== null && gone.has(answer)) ? {} : {answer})};
}

/**
 * The edges that lead around nodes: from each that came before to each that comes after, by the port that led in.
 * @param {Pipeline} document
 * @param {Set<string>} gone
 * @param {PipelineEdge[]} kept
 * @returns {PipelineEdge[]}
 */
function bridges(document, gone, kept) {
  const known = new Set(nodesOf(document).map((node) => node.id));
  /** @type {Map<string, string[]>} */
  const next = new Map();
  for (const edge of edgesOf(document)) {
    if (gone.has(edge.from)) next.set(edge.from, [...(next.get(edge.from) ?? []), edge.to]);
  }
  const there = new Set(kept.map(edgeKey));
  /** @type {PipelineEdge[]} */
  const made = [];
  for (const edge of edgesOf(document)) {
    if (gone.has(edge.from) || !gone.has(edge.to)) continue;
    for (const target of behind(edge.to, next, gone)) {
      const bridge = {...edge, to: target};
      if (target === edge.from || !known.has(target) || !known.has(edge.from) || there.has(edgeKey(bridge))) continue;
      there.add(edgeKey(bridge));
      made.push(bridge);
    }
  }
  return made;
}

/**
 * The nodes that stay and are reached through removed ones only.
 * @param {string} id
 * @param {Map<string, string[]>} next
 * @param {Set<string>} gone
 * @returns {Set<string>}
 */
function behind(id, next, gone) {
  const seen = new Set([id]);
  /** @type {Set<string>} */
  const found = new Set();
  const waiting = [id];
  for (let here = waiting.pop(); here !== undefined; here = waiting.pop()) {
    for (const target of next.get(here) ?? []) {
      if (!gone.has(target)) found.add(target);
      else if (!seen.has(target)) {
        seen.add(target);
        waiting.push(target);
      }
    }
  }
  return found;
}

/**
 * Put nodes at new places; places that are no numbers are passed over.
 * @param {Pipeline} document
 * @param {{[id: string]: Position}} positions
 * @returns {Pipeline}
 */
export function moveNodes(document, positions) {
  return mapNodes(document, (node) => {
    const position = Object.hasOwn(positions, node.id) ? positions[node.id] : null;
    if (!isPosition(position) || (position.x === node.position?.x && position.y === node.position?.y)) return node;
    return {...node, position: {x: position.x, y: position.y}};
  });
}

/**
 * Let `to` run after `from`. An edge that is there, leads nowhere, into a body or out of one, or would close a cycle is not made.
 * @param {Pipeline} document
 * @param {{from: string, to: string, from_port?: string}} edge
 * @returns {Pipeline}
 */
export function connect(document, {from, to, from_port = 'done'}) {
  const edge = {from, to, from_port};
  if (!nodeById(document, from) || !nodeById(document, to)) return document;
  if (edgesOf(document).some((each) => edgeKey(each) === edgeKey(edge)) || crossesBorder(document, edge) || wouldCycle(document, edge)) return document;
  return {...document, edges: [...edgesOf(document), edge]};
}

/**
 * Remove edges; a missing port means "done".
 * @param {Pipeline} document
 * @param {{from: string, to: string, from_port?: string}[]} edges
 * @returns {Pipeline}
 */
export function disconnect(document, edges) {
  const gone = new Set(edges.map(edgeKey));
  const kept = edgesOf(document).filter((edge) => !gone.has(edgeKey(edge)));
  return kept.length === edgesOf(document).length ? document : {...document, edges: kept};
}

/**
 * What makes an edge the same as another.
 * @param {PipelineEdge} edge
 * @returns {string}
 */
function edgeKey(edge) {
  return JSON.stringify([edge.from, edge.to, portOf(edge)]);
}

/**
 * Change fields of a node; `undefined` removes one. The id is changed by `renameNode` only.
 * @param {Pipeline} document
 * @param {string} id
 * @param {{[field: string]: unknown}} patch
 * @returns {Pipeline}
 */
export function setNode(document, id, patch) {
  const {id: _, ...rest} = patch;
  return mapNodes(document, (node) => (node.id === id ? patched(node, rest) : node));
}

/**
 * Change fields of a node's configuration; `undefined` removes one.
 * @param {Pipeline} document
 * @param {string} id
 * @param {{[field: string]: unknown}} patch
 * @returns {Pipeline}
 */
export function setConfig(document, id, patch) {
  return mapNodes(document, (node) => {
    if (node.id !== id) return node;
    const before = isObject(node.config) ? node.config : {};
    const config = patched(before, patch);
    return config === before ? node : {...node, config};
  });
}

/**
 * Change fields of the document itself (name, description ...); `undefined` removes one.
 * @param {Pipeline} document
 * @param {{[field: string]: unknown}} patch
 * @returns {Pipeline}
 */
export function setDocument(document, patch) {
  return patched(document, patch);
}

/**
 * @template {object} T
 * @param {T} value
 * @param {{[field: string]: unknown}} patch
 * @returns {T} the same one where nothing changes
 */
function patched(value, patch) {
  const now = /** @type {{[field: string]: unknown}} */ (value);
  const changes = Object.entries(patch).filter(([key, item]) =>
    item === undefined ? Object.hasOwn(now, key) : now[key] !== item,
  );
  if (changes.length === 0) return value;
  const result = {...now};
  for (const [key, item] of changes) {
    if (item === undefined) delete result[key];
    // Not by assignment: a key called __proto__ would change the object's own kind.
    else Object.defineProperty(result, key, {value: item, writable: true, enumerable: true, configurable: true});
  }
  return /** @type {T} */ (result);
}

/**
 * Give a node another id. What refers to it follows: its edges, `answer`, `parent`, fields that name a node, and every template
 * and condition that reads its OUT. An id that is taken or impossible changes nothing.
 * @param {Pipeline} document
 * @param {string} id
 * @param {string} newId
 * @returns {Pipeline}
 */
export function renameNode(document, id, newId) {
  if (id === newId || !ID_PATTERN.test(newId) || !nodeById(document, id) || nodeById(document, newId)) return document;
  const renamed = new Map([[id, newId]]);
  const before = new Set(nodesOf(document).map((node) => node.id));
  /** @param {string} each */
  const follow = (each) => renamed.get(each) ?? each;
  const nodes = nodesOf(document).map((node) => {
    const followed = node.parent === id ? {...node, parent: newId} : node;
    const rewritten = withReferences(followed, renamed, before);
    return node.id === id ? {...rewritten, id: newId} : rewritten;
  });
  const edges = edgesOf(document).map((edge) =>
    edge.from === id || edge.to === id ? {...edge, from: follow(edge.from), to: follow(edge.to)} : edge,
  );
  return {...document, nodes, edges, ...(document.answer === id ? {answer: newId} : {})};
}

/**
 * @param {PipelineNode} node
 * @param {Map<string, string>} renamed
 * @param {Set<string>} before the ids before, to know what `OUT1` means
 * @param {Set<string>} [later] the ids afterwards
 * @returns {PipelineNode}
 */
function withReferences(node, renamed, before, later) {
  return mapTexts(node, ({text, language}) => {
    if (language === 'node') return renamed.get(text) ?? text;
    return language === 'formula' ? text : rewriteReferences(text, renamed, before, later, language);
  });
}

/**
 * Copies of nodes with the edges between them and what stands in their bodies. References among the copies lead to the copies; what they read and waited for
 * outside they read still, and wait for as the originals do.
 * @param {Pipeline} document
 * @param {string[]} ids
 * @param {Position} offset
 * @returns {{doc: Pipeline, ids: string[]}} the ids of the copies
 */
export function duplicate(document, ids, offset) {
  const chosen = withBodies(document, ids);
  const nodes = nodesOf(document).filter((node) => chosen.has(node.id));
  if (nodes.length === 0) return {doc: document, ids: []};
  const renamed = newIds(document, nodes, () => true);
  const edges = edgesOf(document)
    .filter((edge) => chosen.has(edge.to))
    .map((edge) => ({...edge, from: renamed.get(edge.from) ?? edge.from, to: renamed.get(edge.to) ?? edge.to}));
  const copies = copied(document, nodes, renamed).map((node) => ({...node, position: shifted(node.position, offset)}));
  const doc = {...document, nodes: [...nodesOf(document), ...copies], edges: [...edgesOf(document), ...edges]};
  return {doc, ids: copies.map((node) => node.id)};
}

/**
 * Ids for nodes that come into a document: a new one where theirs is taken or `isRenamed` says so.
 * @param {Pipeline} document
 * @param {PipelineNode[]} nodes
 * @param {(id: string) => boolean} isRenamed
 * @returns {Map<string, string>} new ids by old ones, of those that get one
 */
function newIds(document, nodes, isRenamed) {
  /** @type {Map<string, string>} */
  const renamed = new Map();
  let next = Number(
    newNodeId(
      document,
      nodes.map((node) => node.id),
    ).slice(1),
  );
  for (const {id} of nodes) {
    if (!isRenamed(id) || renamed.has(id)) continue;
    renamed.set(id, `n${next}`);
    next += 1;
  }
  return renamed;
}

/**
 * Nodes with their new ids, and references to those that have new ones.
 * @param {Pipeline} document where they come into
 * @param {PipelineNode[]} nodes
 * @param {Map<string, string>} renamed
 * @returns {PipelineNode[]}
 */
function copied(document, nodes, renamed) {
  const own = nodes.map((node) => node.id);
  const there = nodesOf(document).map((node) => node.id);
  const before = new Set([...own, ...there]);
  const later = new Set([...there, ...own.map((id) => renamed.get(id) ?? id)]);
  return nodes.map((node) => ({
    ...withReferences(node, renamed, before, later),
    id: renamed.get(node.id) ?? node.id,
    ...(typeof node.parent === 'string' ? {parent: renamed.get(node.parent) ?? node.parent} : {}),
  }));
}

/**
 * @param {unknown} position
 * @param {Position} offset
 * @returns {Position}
 */
function shifted(position, offset) {
  const {x, y} = isPosition(position) ? position : {x: 0, y: 0};
  return isPosition(offset) ? {x: x + offset.x, y: y + offset.y} : {x, y};
}

/**
 * Say which node answers; null leaves it to the last one.
 * @param {Pipeline} document
 * @param {string | null} id
 * @returns {Pipeline}
 */
export function setAnswer(document, id) {
  if (id === null) return patched(document, {answer: undefined});
  return nodeById(document, id) ? patched(document, {answer: id}) : document;
}

/**
 * Disable nodes; where all of them are disabled already, enable them.
 * @param {Pipeline} document
 * @param {string[]} ids
 * @returns {Pipeline}
 */
export function toggleEnabled(document, ids) {
  const chosen = new Set(ids);
  const nodes = nodesOf(document).filter((node) => chosen.has(node.id));
  const enabled = nodes.every((node) => !isEnabled(node)) ? undefined : false;
  return mapNodes(document, (node) => (chosen.has(node.id) ? patched(node, {enabled}) : node));
}

/**
 * Put a fragment into the document so that its upper left corner comes to `position`. Ids that are taken are replaced, and
 * references within the fragment follow. Edges to nodes that are not in it, and edges that close a cycle, are left out; a node
 * whose holder is not in it stands in no body.
 * @param {Pipeline} document
 * @param {Fragment} fragment
 * @param {Position} position
 * @returns {{doc: Pipeline, ids: string[]}} the ids of the new nodes
 */
export function insertFragment(document, fragment, position) {
  const nodes = uniqueNodes(fragment?.nodes);
  const frames = listOf(fragment?.frames);
  const notes = listOf(fragment?.notes);
  if (nodes.length + frames.length + notes.length === 0) return {doc: document, ids: []};
  const offset = offsetTo(position, [...nodes.map((node) => node.position), ...frames, ...notes]);
  const there = new Set(nodesOf(document).map((node) => node.id));
  const renamed = newIds(document, nodes, (id) => !ID_PATTERN.test(id) || there.has(id));
  const own = new Set(nodes.map((node) => node.id));
  const freed = nodes.map((node) => {
    if (node.parent === undefined || own.has(node.parent)) return node;
    const {parent: _, ...rest} = node;
    return /** @type {PipelineNode} */ (rest);
  });
  const copies = copied(document, freed, renamed).map((node) => ({
    ...node,
    config: isObject(node.config) ? node.config : {},
    position: shifted(node.position, offset),
  }));
  let doc = /** @type {Pipeline} */ ({...document, nodes: [...nodesOf(document), ...copies]});
  doc = withEdges(
    doc,
    listOf(fragment.edges)
      .filter((edge) => own.has(edge?.from) && own.has(edge?.to))
      .map((edge) => ({...edge, from: renamed.get(edge.from) ?? edge.from, to: renamed.get(edge.to) ?? edge.to})),
  );
  doc = withBoxes(
    doc,
    'frames',
    frames.map((frame) => ({...frame, ...shifted(frame, offset)})),
  );
  doc = withBoxes(
    doc,
    'notes',
    notes.map((note) => ({...note, ...shifted(note, offset)})),
  );
  return {doc, ids: copies.map((node) => node.id)};
}

/**
 * The nodes of a fragment that have an id and a type, each id once.
 * @param {unknown} nodes
 * @returns {PipelineNode[]}
 */
function uniqueNodes(nodes) {
  /** @type {Map<string, PipelineNode>} */
  const byId = new Map();
  for (const node of listOf(/** @type {PipelineNode[]} */ (nodes))) {
    if (typeof node.id === 'string' && typeof node.type === 'string' && !byId.has(node.id)) byId.set(node.id, node);
  }
  return [...byId.values()];
}

/**
 * @template T
 * @param {T[] | undefined} value
 * @returns {T[]} the items that are objects
 */
function listOf(value) {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/**
 * How far to move things so that the upper left corner of all of them comes to `position`.
 * @param {Position} position
 * @param {unknown[]} places
 * @returns {Position}
 */
function offsetTo(position, places) {
  const known = places.filter(isPosition);
  if (!isPosition(position) || known.length === 0) return isPosition(position) ? position : {x: 0, y: 0};
  return {x: position.x - Math.min(...known.map((each) => each.x)), y: position.y - Math.min(...known.map((each) => each.y))};
}

/**
 * The document with more edges, without those that are there or close a cycle.
 * @param {Pipeline} document
 * @param {PipelineEdge[]} edges
 * @returns {Pipeline}
 */
function withEdges(document, edges) {
  const whole = {
    ...document,
    edges: [...new Map([...edgesOf(document), ...edges].map((edge) => [edgeKey(edge), edge])).values()],
  };
  if (findCycle(whole) === null) return whole;
  let result = document;
  for (const edge of edges) {
    const there = edgesOf(result);
    if (there.some((each) => edgeKey(each) === edgeKey(edge)) || wouldCycle(result, edge)) continue;
    result = {...result, edges: [...there, edge]};
  }
  return result;
}

/**
 * The document with more frames or notes; ids that are taken are replaced.
 * @param {Pipeline} document
 * @param {BoxKind} kind
 * @param {(Frame | Note)[]} more
 * @returns {Pipeline}
 */
function withBoxes(document, kind, more) {
  let result = document;
  for (const each of more) result = addBox(result, kind, each).doc;
  return result;
}

/**
 * What is drawn behind and beside the nodes.
 * @typedef {'frames' | 'notes'} BoxKind
 */

/**
 * Add a frame or a note. Without an id, or where it is taken, it gets a new one.
 * @param {Pipeline} document
 * @param {BoxKind} kind
 * @param {(Omit<Frame, 'id'> | Omit<Note, 'id'>) & {id?: string}} item
 * @returns {{doc: Pipeline, id: string}}
 */
export function addBox(document, kind, item) {
  const there = boxesOf(document, kind);
  const taken = new Set(there.map((each) => each.id));
  const id = item.id && !taken.has(item.id) ? item.id : freeId(kind === 'frames' ? 'f' : 't', taken);
  return {doc: setBoxes(document, kind, [...there, /** @type {Frame | Note} */ ({...item, id})]), id};
}

/**
 * @param {string} letter
 * @param {Set<string>} taken
 * @returns {string}
 */
function freeId(letter, taken) {
  let number = taken.size + 1;
  while (taken.has(`${letter}${number}`)) number += 1;
  return `${letter}${number}`;
}

/**
 * Change fields of a frame or a note; `undefined` removes one.
 * @param {Pipeline} document
 * @param {BoxKind} kind
 * @param {string} id
 * @param {{[field: string]: unknown}} patch
 * @returns {Pipeline}
 */
export function updateBox(document, kind, id, patch) {
  const {id: _, ...rest} = patch;
  const there = boxesOf(document, kind);
  const items = there.map((each) => (each.id === id ? patched(each, rest) : each));
  return items.every((each, index) => each === there[index]) ? document : setBoxes(document, kind, items);
}

/**
 * @param {Pipeline} document
 * @param {BoxKind} kind
 * @param {string[]} ids
 * @returns {Pipeline}
 */
export function removeBoxes(document, kind, ids) {
  const gone = new Set(ids);
  const there = boxesOf(document, kind);
  const kept = there.filter((each) => !gone.has(each.id));
  return kept.length === there.length ? document : setBoxes(document, kind, kept);
}

/**
 * @param {Pipeline} document
 * @param {BoxKind} kind
 * @returns {(Frame | Note)[]}
 */
function boxesOf(document, kind) {
  return kind === 'frames' ? framesOf(document) : notesOf(document);
}

/**
 * @param {Pipeline} document
 * @param {BoxKind} kind
 * @param {(Frame | Note)[]} items
 * @returns {Pipeline}
 */
function setBoxes(document, kind, items) {
  return {...document, view: {...(isObject(document.view) ? document.view : {}), [kind]: items}};
}

/**
 * @param {Pipeline} document
 * @param {(node: PipelineNode) => PipelineNode} change
 * @returns {Pipeline} the same one where no node changes
 */
function mapNodes(document, change) {
  const before = nodesOf(document);
  const nodes = before.map(change);
  return nodes.every((node, index) => node === before[index]) ? document : {...document, nodes};
}
