/** Everything that can be done at the canvas, by name: for keys, menus, the tools and the command palette. */
import {ERROR_PORT} from '../core/ports.js';
import {activeTab, select} from '../state/tabs.js';
import {store} from '../state/store.js';
import {setView} from '../state/view.js';
import {addNoteAt, frameSelection} from './editing/boxes.js';
import {deleteSelection, duplicateSelection, selectAll, toggleAnswer, toggleSelection} from './editing/nodes.js';
import {canChange, canEdit, firstPort, portsOfNode, selectionOf, sizeOf} from './editing/front.js';
import {walk} from './editing/ordering.js';
import {alignSelection, layOut, nudge, resizeSelection} from './editing/places.js';
import {calledBySelected, goBack, openCalled, wayHere} from './calls.js';
import {isHeld, holdersFor, putInto} from './containers.js';
import {GRID} from './geometry.js';
import {copySelection, cutSelection, isAtCanvas, paste} from './pasteboard.js';
import {flowId} from './projection.js';
import {besideNode, enterInspector, focusCanvas, openChooser, shown, stage} from './stage.js';
import {fitAll, fitSelection, showNode, zoomIn, zoomOut} from './view.js';

/** @typedef {import('../state/types.js').State} State */
/** @typedef {import('../actions.js').Action} Action */

const STEP = 5;
const PAN = 60;

/** @param {State} state */
const hasDoc = (state) => activeTab(state) !== null;
/** @param {State} state */
const hasNodes = (state) => canChange(state) && selectionOf(state).nodes.length > 0;
/** @param {State} state */
const hasOneNode = (state) => canChange(state) && selectionOf(state).nodes.length === 1;
/** @param {number} n */
const hasManyNodes = (n) => (/** @type {State} */ state) => canChange(state) && selectionOf(state).nodes.length >= n;
/** @param {State} state */
const hasAny = (state) => canChange(state) && sizeOf(selectionOf(state)) > 0;
/** @param {State} state */
const hasBoxes = (state) => canChange(state) && selectionOf(state).frames.length + selectionOf(state).notes.length > 0;

/** The node that is meant where one is: the last one selected. */
function lastSelected() {
  return selectionOf().nodes.at(-1) ?? null;
}

/** Search for a node to add, behind the selected one. */
function add() {
  const node = lastSelected();
  openChooser({kind: 'add', at: besideNode(node), from: node ? {node, port: firstPort(node), end: 'source'} : undefined});
}

/** @param {'connect' | 'disconnect'} kind */
function chooseWire(kind) {
  const node = lastSelected();
  if (node) openChooser({kind, at: besideNode(node), from: {node, port: 'done', end: 'source'}});
}

/** What shall follow when the node fails. */
function chooseFailure() {
  const node = lastSelected();
  if (node) openChooser({kind: 'failure', at: besideNode(node), from: {node, port: ERROR_PORT, end: 'source'}});
}

/** @param {State} state */
function mayFail(state) {
  const [id, ...more] = selectionOf(state).nodes;
  return canChange(state) && id !== undefined && !more.length && portsOfNode(id).includes(ERROR_PORT);
}

/** Whose body the selected nodes come into. */
function chooseHolder() {
  const node = lastSelected();
  if (node) openChooser({kind: 'holder', at: besideNode(node), from: {node, port: 'done', end: 'source'}});
}

/** @param {1 | -1} direction */
function walkOn(direction) {
  const id = walk(direction);
  if (!id) return;
  showNode(id);
  // The selected node is the stop for Tab once it is drawn.
  requestAnimationFrame(() => shown.element && focusCanvas(id));
}

/**
 * Arrow keys move what is selected; with nothing selected they move the view.
 * @param {number} x
 * @param {number} y
 * @param {number} times
 */
function arrow(x, y, times) {
  if (hasAny(store.get())) {
    const step = (store.get().view.snap ? GRID : STEP) * times;
    nudge(x * step, y * step);
    return;
  }
  const now = shown.flow?.getViewport();
  if (now) void shown.flow?.setViewport({...now, x: now.x - x * PAN * times, y: now.y - y * PAN * times});
}

/** Type the title of the selected frame or the text of the selected note. */
function rename() {
  const {frames, notes} = selectionOf();
  if (frames.length) stage.set({renaming: flowId('frame', frames[0])});
  else if (notes.length) stage.set({renaming: flowId('note', notes[0])});
}

const ARROWS = /** @type {const} */ ([
  ['Left', -1, 0],
  ['Right', 1, 0],
  ['Up', 0, -1],
  ['Down', 0, 1],
]);

/** @type {Action[]} */
const moves = ARROWS.flatMap(([name, x, y]) => [
  {id: `canvas.move${name}`, title: `canvas.action.move${name}`, keys: [`Arrow${name}`], when: hasDoc, run: () => arrow(x, y, 1)},
  {id: `canvas.move${name}Far`, title: `canvas.action.move${name}Far`, keys: [`Shift+Arrow${name}`], when: hasDoc, run: () => arrow(x, y, 10)},
]);

/** @type {Action[]} */
const sizes = [
  {id: 'canvas.wider', title: 'canvas.action.wider', keys: ['Ctrl+Alt+ArrowRight'], when: hasBoxes, run: () => resizeSelection(GRID, 0)},
  {id: 'canvas.narrower', title: 'canvas.action.narrower', keys: ['Ctrl+Alt+ArrowLeft'], when: hasBoxes, run: () => resizeSelection(-GRID, 0)},
  {id: 'canvas.taller', title: 'canvas.action.taller', keys: ['Ctrl+Alt+ArrowDown'], when: hasBoxes, run: () => resizeSelection(0, GRID)},
  {id: 'canvas.lower', title: 'canvas.action.lower', keys: ['Ctrl+Alt+ArrowUp'], when: hasBoxes, run: () => resizeSelection(0, -GRID)},
];

const ALIGNMENTS = /** @type {const} */ (['left', 'center', 'right', 'top', 'middle', 'bottom', 'distribute-x', 'distribute-y']);

/** @type {Action[]} */
const alignments = ALIGNMENTS.map((kind) => ({
  id: `canvas.align-${kind}`,
  title: `canvas.action.align-${kind}`,
  icon: 'align',
  when: hasManyNodes(kind.startsWith('distribute') ? 3 : 2),
  run: () => alignSelection(kind),
}));

/** @type {Action[]} */
const actions = [
  {id: 'canvas.add', title: 'canvas.action.add', icon: 'add', keys: ['A', 'Insert'], when: canChange, run: add},
  {id: 'canvas.connect', title: 'canvas.action.connect', icon: 'link', keys: ['C'], when: hasOneNode, run: () => chooseWire('connect')},
  {id: 'canvas.disconnect', title: 'canvas.action.disconnect', icon: 'link', keys: ['Shift+C'], when: hasOneNode, run: () => chooseWire('disconnect')},
  {id: 'canvas.failure', title: 'canvas.action.failure', icon: 'warning', keys: ['E'], when: mayFail, run: chooseFailure},
  {id: 'canvas.openCalled', title: 'canvas.action.openCalled', icon: 'folder', keys: ['O'], when: (state) => calledBySelected(state) !== null, run: () => void openCalled(lastSelected() ?? '')},
  {id: 'canvas.back', title: 'canvas.action.back', icon: 'arrowLeft', keys: ['Shift+O'], when: (state) => wayHere(state).length > 0, run: () => goBack()},
  {id: 'canvas.putInto', title: 'canvas.action.putInto', icon: 'frame', keys: ['P'], when: (state) => hasNodes(state) && holdersFor().length > 0, run: chooseHolder},
  {id: 'canvas.takeOut', title: 'canvas.action.takeOut', keys: ['Shift+P'], when: (state) => hasNodes(state) && isHeld(), run: () => putInto(null)},
  {id: 'canvas.delete', title: 'canvas.action.delete', icon: 'trash', keys: ['Delete', 'Backspace'], when: hasAny, run: () => deleteSelection()},
  {
    id: 'canvas.deleteReconnect',
    title: 'canvas.action.deleteReconnect',
    keys: ['Ctrl+Delete', 'Ctrl+Backspace'],
    when: hasNodes,
    run: () => deleteSelection({reconnect: true}),
  },
  {id: 'canvas.duplicate', title: 'canvas.action.duplicate', icon: 'copy', keys: ['Ctrl+D'], when: hasNodes, run: duplicateSelection},
  {id: 'canvas.copy', title: 'canvas.action.copy', icon: 'copy', keys: ['Ctrl+C'], native: true, when: (state) => selectionOf(state).nodes.length > 0, run: copySelection},
  {id: 'canvas.cut', title: 'canvas.action.cut', keys: ['Ctrl+X'], native: true, when: hasNodes, run: cutSelection},
  {id: 'canvas.paste', title: 'canvas.action.paste', keys: ['Ctrl+V'], native: true, when: canChange, run: paste},
  {id: 'canvas.selectAll', title: 'canvas.action.selectAll', keys: ['Ctrl+A'], when: hasDoc, run: selectAll},
  {id: 'canvas.selectNone', title: 'canvas.action.selectNone', keys: ['Escape'], when: (state) => sizeOf(selectionOf(state)) > 0, run: () => select({})},
  {id: 'canvas.disable', title: 'canvas.action.disable', icon: 'power', keys: ['D'], when: hasNodes, run: toggleSelection},
  {id: 'canvas.answer', title: 'canvas.action.answer', icon: 'answer', when: hasOneNode, run: () => toggleAnswer(lastSelected() ?? '')},
  {id: 'canvas.frame', title: 'canvas.action.frame', icon: 'frame', keys: ['Ctrl+G'], when: canChange, run: frameSelection},
  {id: 'canvas.note', title: 'canvas.action.note', icon: 'note', keys: ['N'], when: canChange, run: () => addNoteAt()},
  {id: 'canvas.rename', title: 'canvas.action.rename', icon: 'edit', keys: ['F2'], when: hasBoxes, run: rename},
  {id: 'canvas.find', title: 'canvas.action.find', icon: 'search', keys: ['F', 'Ctrl+F'], when: hasDoc, run: () => openChooser({kind: 'find', at: besideNode(null)})},
  {id: 'canvas.next', title: 'canvas.action.next', icon: 'arrowRight', keys: [']'], when: hasDoc, run: () => walkOn(1)},
  {id: 'canvas.previous', title: 'canvas.action.previous', icon: 'arrowLeft', keys: ['['], when: hasDoc, run: () => walkOn(-1)},
  {id: 'canvas.settings', title: 'canvas.action.settings', icon: 'settings', keys: ['Enter'], when: (state) => selectionOf(state).nodes.length > 0, run: enterInspector},
  {id: 'canvas.focus', title: 'canvas.action.focus', icon: 'node', when: hasDoc, run: () => focusCanvas(lastSelected() ?? undefined)},
  {id: 'canvas.fitSelection', title: 'canvas.action.fitSelection', icon: 'fit', keys: ['.'], when: hasDoc, run: fitSelection},
  {id: 'canvas.fit', title: 'canvas.action.fit', icon: 'fit', keys: ['0'], when: hasDoc, run: fitAll},
  {id: 'canvas.zoomIn', title: 'canvas.action.zoomIn', icon: 'add', keys: ['+', '='], when: hasDoc, run: zoomIn},
  {id: 'canvas.zoomOut', title: 'canvas.action.zoomOut', icon: 'minus', keys: ['-'], when: hasDoc, run: zoomOut},
  {id: 'canvas.layout', title: 'canvas.action.layout', icon: 'layout', keys: ['Shift+L'], when: canChange, run: layOut},
  {id: 'canvas.snap', title: 'canvas.action.snap', icon: 'grid', when: hasDoc, run: () => setView({snap: !store.get().view.snap})},
  {id: 'canvas.references', title: 'canvas.action.references', icon: 'branch', keys: ['R'], when: hasDoc, run: () => setView({allReferences: !store.get().view.allReferences})},
  {id: 'canvas.minimap', title: 'canvas.action.minimap', icon: 'graph', keys: ['M'], when: hasDoc, run: () => setView({minimap: !store.get().view.minimap})},
  {id: 'canvas.lock', title: 'canvas.action.lock', icon: 'lock', keys: ['L'], when: (state) => canEdit(state), run: () => setView({locked: !store.get().view.locked})},
  ...alignments,
  ...moves,
  ...sizes,
];

/** Their keys work where the focus is at the canvas, in the outline, or nowhere. @type {Action[]} */
export const canvasActions = actions.map((action) => ({...action, atFocus: isAtCanvas}));
