// A piece of a pipeline as text, so that it can be copied from one editor and pasted into another, or into a chat.

import {completeDocument, edgesOf, framesOf, isObject, isPosition, nodesOf, notesOf} from './doc.js';
import {withBodies} from './holders.js';

/** @typedef {import('./doc.js').Pipeline} Pipeline */
/** @typedef {import('./doc.js').PipelineNode} PipelineNode */
/** @typedef {import('./doc.js').Rectangle} Rectangle */
/** @typedef {import('./commands.js').Fragment} Fragment */

/**
 * Why a text is no fragment: `empty`, `not-json`, `not-object` (JSON of another kind), `not-ours` (an object without our mark),
 * `newer-format`, `nothing` (a fragment or pipeline without anything in it), `too-large`.
 * @typedef {'empty' | 'not-json' | 'not-object' | 'not-ours' | 'newer-format' | 'nothing' | 'too-large'} Refusal
 */

const FORMAT = 1;
const MAX_CHARACTERS = 8 * 1024 * 1024;

/**
 * The nodes with what stands in their bodies and the edges between them, and the frames and notes that are named. A frame is also taken when all nodes
 * within it are.
 * @param {Pipeline} document
 * @param {string[]} ids of nodes, frames and notes
 * @returns {string} JSON text with the mark `"agentui": "fragment"`
 */
export function toFragment(document, ids) {
  const chosen = withBodies(document, ids);
  const nodes = nodesOf(document).filter((node) => chosen.has(node.id));
  const edges = edgesOf(document).filter((edge) => chosen.has(edge.from) && chosen.has(edge.to));
  const frames = framesOf(document).filter((frame) => chosen.has(frame.id) || isFilled(frame, nodesOf(document), chosen));
  const notes = notesOf(document).filter((note) => chosen.has(note.id));
  return JSON.stringify({agentui: 'fragment', format: FORMAT, nodes, edges, frames, notes}, null, 2) + '\n';
}

/**
 * @param {Rectangle} frame
 * @param {PipelineNode[]} nodes
 * @param {Set<string>} chosen
 * @returns {boolean} whether it holds nodes, and all of them are chosen
 */
function isFilled(frame, nodes, chosen) {
  const inside = nodes.filter(
    ({position}) =>
      isPosition(position) &&
      position.x >= frame.x &&
      position.x < frame.x + frame.width &&
      position.y >= frame.y &&
      position.y < frame.y + frame.height,
  );
  return inside.length > 0 && inside.every((node) => chosen.has(node.id));
}

/**
 * Read a fragment, or a whole pipeline as one.
 * @param {string} text
 * @returns {{fragment: Fragment, reason: null} | {fragment: null, reason: Refusal}}
 */
export function fromFragment(text) {
  if (text.trim() === '') return refused('empty');
  if (text.length > MAX_CHARACTERS) return refused('too-large');
  /** @type {unknown} */
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return refused('not-json');
  }
  if (!isObject(value)) return refused('not-object');
  const isFragment = value.agentui === 'fragment';
  const isPipeline =
    value.agentui === undefined && typeof value.name === 'string' && Array.isArray(value.nodes) && value.format !== undefined;
  if (!isFragment && !isPipeline) return refused('not-ours');
  if (value.format !== FORMAT)
    return refused(typeof value.format === 'number' && value.format > FORMAT ? 'newer-format' : 'not-ours');
  const fragment = isFragment ? partsOf(value, value) : partsOf(value, isObject(value.view) ? value.view : {});
  const count = fragment.nodes.length + (fragment.frames?.length ?? 0) + (fragment.notes?.length ?? 0);
  return count === 0 ? refused('nothing') : {fragment, reason: null};
}

/**
 * @param {Refusal} reason
 * @returns {{fragment: null, reason: Refusal}}
 */
function refused(reason) {
  return {fragment: null, reason};
}

/**
 * @param {{[key: string]: unknown}} value with nodes and edges
 * @param {{[key: string]: unknown}} drawn with frames and notes
 * @returns {Fragment}
 */
function partsOf(value, drawn) {
  const whole = completeDocument({
    format: 1,
    name: '',
    nodes: value.nodes,
    edges: value.edges,
    view: {frames: drawn.frames ?? [], notes: drawn.notes ?? []},
  });
  const nodes = nodesOf(whole).filter((node) => typeof node.id === 'string' && typeof node.type === 'string');
  return {nodes, edges: edgesOf(whole), frames: framesOf(whole).filter(isDrawn), notes: notesOf(whole).filter(isDrawn)};
}

/**
 * @param {Rectangle} item
 * @returns {boolean}
 */
function isDrawn(item) {
  return isPosition(item) && Number.isFinite(item.width) && Number.isFinite(item.height);
}
