/**
 * The wires of the document in front: drawn, led from another port, and cut. Each function is one step that can be undone, says what it
 * did to screen readers, and says why where it refuses.
 */
import {connect, disconnect} from '../../core/commands.js';
import {portOf} from '../../core/doc.js';
import {upstream, wouldCycle} from '../../core/graph.js';
import {crossesBorder, parents} from '../../core/holders.js';
import {announce, notify} from '../../state/notices.js';
import {edit} from '../../state/tabs.js';
import {t} from '../../words.js';
import {canChange, frontDoc, nameOf} from './front.js';
import {withHolders} from '../holding.js';
import {wireName} from '../projection.js';

/** @typedef {import('../../core/doc.js').Pipeline} Pipeline */
/** @typedef {import('../../core/doc.js').PipelineEdge} PipelineEdge */

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
