/** The document in front: whether it may be changed, what is selected in it, and what its nodes and ports are called. */
import {ERROR_PORT, ownPorts} from '../../core/ports.js';
import {lockOf} from '../../state/rights.js';
import {store} from '../../state/store.js';
import {activeTab, docOf, NOTHING} from '../../state/tabs.js';
import {titleOf} from '../summary.js';

/** @typedef {import('../../core/doc.js').Pipeline} Pipeline */
/** @typedef {import('../../state/types.js').State} State */
/** @typedef {import('../../state/types.js').Selection} Selection */

/** Whether the document in front may be changed at all: in the outline too, and where the canvas is locked. @param {State} [state] */
export function canEdit(state = store.get()) {
  const tab = activeTab(state);
  return tab !== null && lockOf(tab, state) === null && tab.brokenText === null;
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

/** @param {Selection} chosen */
export function sizeOf(chosen) {
  return chosen.nodes.length + chosen.edges.length + chosen.frames.length + chosen.notes.length;
}
