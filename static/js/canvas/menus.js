/** The menus of the canvas: at a node, several nodes, a wire, a frame, a note, and empty space. */
import {canRun, menuItem as item} from '../actions.js';
import {portOf} from '../core/doc.js';
import {portTitle} from '../state/portwords.js';
import {store} from '../state/store.js';
import {select} from '../state/tabs.js';
import {t} from '../words.js';
import {addNoteAt, changeBox, FRAME_COLORS} from './editing/boxes.js';
import {canChange, frontDoc, nameOf, portsOfNode, selectionOf, sizeOf} from './editing/front.js';
import {withMembers} from './editing/places.js';
import {changePort, cutWire} from './editing/wires.js';
import {edgeKey, NODE_HEIGHT, NODE_WIDTH} from './geometry.js';
import {thingOf, wireName} from './projection.js';
import {besideNode, openChooser, shown} from './stage.js';

/** @typedef {import('../ui/menu.js').MenuItem} MenuItem */
/** @typedef {import('./geometry.js').Point} Point */

/** @type {MenuItem} */
const LINE = {};

/**
 * The menu for what was pressed; what is not selected yet gets selected, so that the menu is about what is seen.
 * @param {string | null} thing the canvas's id of a node, frame or note
 * @param {string | null} wire the key of a wire
 * @param {Point | null} at in pixels of the window; null from the keyboard
 * @returns {{label: string, items: MenuItem[]}}
 */
export function menuAt(thing, wire, at) {
  if (wire) return wireMenu(wire, at);
  if (!thing) return paneMenu(at);
  const {kind, id} = thingOf(thing);
  const chosen = selectionOf();
  const list = /** @type {'nodes' | 'frames' | 'notes'} */ (`${kind}s`);
  if (!chosen[list].includes(id)) select({[list]: [id]});
  else if (sizeOf(chosen) - chosen.edges.length > 1) return selectionMenu();
  if (kind === 'node') return nodeMenu(id);
  return boxMenu(kind, id);
}

/** @param {string} id */
function nodeMenu(id) {
  const node = frontDoc()?.nodes.find((one) => one.id === id);
  return {
    label: t('canvas.menu.node', {title: nameOf(id)}),
    items: [
      item('canvas.settings'),
      ...(canRun('canvas.openCalled') ? [item('canvas.openCalled')] : []),
      LINE,
      item('canvas.add', {label: t('canvas.menu.addAfter')}),
      item('canvas.connect'),
      ...(canRun('canvas.failure') ? [item('canvas.failure')] : []),
      item('canvas.disconnect'),
      LINE,
      item('canvas.answer', {checked: frontDoc()?.answer === id}),
      item('canvas.disable', {checked: node?.enabled === false}),
      LINE,
      item('canvas.duplicate'),
      item('canvas.copy'),
      item('canvas.cut'),
      item('canvas.frame', {label: t('canvas.menu.frameAround')}),
      ...bodyItems(),
      LINE,
      item('canvas.deleteReconnect'),
      item('canvas.delete', {tone: 'danger'}),
    ],
  };
}

/** What can be done with bodies, where there is one. */
function bodyItems() {
  return ['canvas.putInto', 'canvas.takeOut'].filter((id) => canRun(id)).map((id) => item(id));
}

function selectionMenu() {
  const chosen = selectionOf();
  return {
    label: t('canvas.menu.selection', {n: sizeOf(chosen)}),
    items: [
      item('canvas.align-left'),
      item('canvas.align-center'),
      item('canvas.align-right'),
      item('canvas.align-top'),
      item('canvas.align-middle'),
      item('canvas.align-bottom'),
      item('canvas.align-distribute-x'),
      item('canvas.align-distribute-y'),
      LINE,
      item('canvas.frame', {label: t('canvas.menu.frameAround')}),
      ...bodyItems(),
      item('canvas.disable'),
      item('canvas.duplicate'),
      item('canvas.copy'),
      item('canvas.cut'),
      LINE,
      item('canvas.fitSelection'),
      item('canvas.deleteReconnect'),
      item('canvas.delete', {tone: 'danger'}),
    ],
  };
}

/**
 * @param {string} key
 * @param {Point | null} at
 * @returns {{label: string, items: MenuItem[]}}
 */
function wireMenu(key, at) {
  const edge = frontDoc()?.edges.find((one) => edgeKey(one) === key);
  if (!edge) return paneMenu(at);
  const point = at ?? besideNode(edge.from);
  return {
    label: wireName(edge, nameOf(edge.from), nameOf(edge.to)),
    items: [
      ...portItems(edge),
      {label: t('canvas.edge.insert'), icon: 'add', disabled: !canChange(), run: () => openChooser({kind: 'add', at: point, edge})},
      {label: t('canvas.edge.delete'), icon: 'trash', tone: 'danger', disabled: !canChange(), run: () => cutWire(edge)},
    ],
  };
}

/** The ports that a wire may leave its node by, where it has a choice. @param {import('../core/doc.js').PipelineEdge} edge @returns {MenuItem[]} */
function portItems(edge) {
  const ports = portsOfNode(edge.from);
  if (ports.length === 1 && ports[0] === portOf(edge)) return [];
  const items = ports.map((port) => ({
    label: t('canvas.edge.byPort', {port: portTitle(port)}),
    checked: port === portOf(edge),
    disabled: !canChange(),
    run: () => changePort(edge, port),
  }));
  return [...items, LINE];
}

/** @param {Point | null} at */
function paneMenu(at) {
  const {view} = store.get();
  const place = at && shown.flow?.screenToFlowPosition(at);
  const position = place ? {x: place.x - NODE_WIDTH / 2, y: place.y - NODE_HEIGHT / 2} : undefined;
  return {
    label: t('canvas.menu.pane'),
    items: [
      {...item('canvas.add'), run: () => openChooser({kind: 'add', at: at ?? besideNode(null), position})},
      {...item('canvas.note'), run: () => addNoteAt(place ?? undefined)},
      item('canvas.frame'),
      item('canvas.paste'),
      LINE,
      item('canvas.selectAll'),
      item('canvas.find'),
      item('canvas.layout'),
      item('canvas.fit'),
      LINE,
      item('canvas.snap', {checked: view.snap}),
      item('canvas.references', {checked: view.allReferences}),
      item('canvas.minimap', {checked: view.minimap}),
      item('canvas.lock', {checked: view.locked}),
    ],
  };
}

/** @param {'frame' | 'note'} kind @param {string} id */
function boxMenu(kind, id) {
  const doc = frontDoc();
  const now = (kind === 'frame' ? doc?.view?.frames : doc?.view?.notes)?.find((one) => one.id === id)?.color;
  const colors = FRAME_COLORS.map((color) => ({
    label: t(`canvas.color.${color}`),
    checked: color === now,
    disabled: !canChange(),
    run: () => changeBox(kind, id, {color}),
  }));
  const members = {
    label: t('canvas.menu.selectMembers'),
    run: () => {
      if (!doc) return;
      const all = withMembers(doc, {nodes: [], frames: [id], notes: []});
      select({nodes: [...all.nodes], frames: [...all.frames], notes: [...all.notes]});
    },
  };
  return {
    label: t(`canvas.menu.${kind}`),
    items: [item('canvas.rename'), ...(kind === 'frame' ? [members] : []), LINE, ...colors, LINE, item('canvas.delete', {tone: 'danger'})],
  };
}
