/** What mends a problem with one click, by the code that the server's check gave it. */
import {h} from '../h.js';
import {leadAround} from '../core/bodies.js';
import {addNode, connect, disconnect, setConfig} from '../core/commands.js';
import {isObject, isPosition, nodeById} from '../core/doc.js';
import {answersOf, DEFAULT_SIZE} from '../core/graph.js';
import {ownPorts, strayEdges} from '../core/ports.js';
import {store} from '../state/store.js';
import {edit} from '../state/tabs.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {withConversation} from './blocks.js';

/** @typedef {import('../state/types.js').Problem} Problem */

/** @typedef {import('../core/doc.js').Pipeline} Pipeline */
/** @typedef {import('../core/doc.js').PipelineNode} PipelineNode */

/** @type {Record<string, {label: string, icon: string, mend: (doc: Pipeline, node: PipelineNode) => Pipeline}>} */
const MENDS = {
  'blocks.no_conversation': {
    label: 'inspector.mend.conversation',
    icon: 'add',
    mend: (doc, {id, config}) => {
      if (!isObject(config)) return doc;
      return setConfig(doc, id, {blocks: withConversation(Array.isArray(config.blocks) ? /** @type {any} */ (config.blocks) : [])});
    },
  },
  'edge.unknown_port': {
    label: 'inspector.mend.wires',
    icon: 'trash',
    mend: (doc, node) => disconnect(doc, strayEdges(doc, node, store.get().nodeTypes[node.type])),
  },
  'loop.border': {label: 'inspector.mend.border', icon: 'link', mend: (doc) => leadAround(doc)},
  // Naming one of them would leave the runs that end at another without an answer.
  'answer.ambiguous': {label: 'inspector.mend.join', icon: 'merge', mend: (doc) => joinEnds(doc)},
};

/** How far behind the last node the joining one is put. */
const BEHIND = 90;

/** Let a Merge follow all nodes that nothing follows. @param {Pipeline} doc @returns {Pipeline} */
function joinEnds(doc) {
  const {nodeTypes} = store.get();
  const ends = answersOf(doc).flatMap((id) => nodeById(doc, id) ?? []).filter((node) => !nodeTypes[node.type]?.ends_run);
  const places = ends.map((node) => node.position).filter(isPosition);
  const x = Math.max(0, ...places.map((place) => place.x)) + DEFAULT_SIZE.width + BEHIND;
  const y = places.reduce((sum, place) => sum + place.y, 0) / Math.max(1, places.length);
  const {doc: more, id} = addNode(doc, 'Merge', {x, y});
  const wires = ends.flatMap((node) => ownPorts(nodeTypes[node.type], node).map((port) => ({from: node.id, to: id, from_port: port})));
  return wires.reduce(connect, more);
}

/** The button that mends a problem; nothing where a person has to decide. @param {{problem: Problem}} props */
export function MendButton({problem}) {
  const known = Object.hasOwn(MENDS, problem.code) ? MENDS[problem.code] : null;
  if (!known || problem.node === null) return null;
  const run = () =>
    void edit(known.label, (doc) => {
      const node = nodeById(doc, problem.node ?? '');
      return node ? known.mend(doc, node) : doc;
    });
  return h(Button, {label: t(known.label), icon: known.icon, className: 'inspector-mini mend', onClick: run});
}
