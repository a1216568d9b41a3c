/** What the page's own events do at the canvas: pointer, keys, and things dropped from the palette. */
import {select} from '../../state/tabs.js';
import {addAt} from '../editing/nodes.js';
import {canChange, firstPort, frontDoc, selectionOf} from '../editing/front.js';
import {edgeKey, NODE_HEIGHT, NODE_WIDTH} from '../geometry.js';
import {menuAt} from '../menus.js';
import {thingOf} from '../projection.js';
import {besideNode, enterInspector, NODE_DRAG, openChooser, shown, stage} from '../stage.js';
import {showNode} from '../view.js';

/** @typedef {import('../geometry.js').Point} Point */

const LONG_PRESS_MS = 500;
const LONG_PRESS_SLACK = 10;

/** What the page's own events do at the canvas. */
export function rootListeners() {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let press;
  /** @type {Point} */
  let pressedAt = {x: 0, y: 0};
  /** What the pointer gave the focus to. @type {Element | null} */
  let pointed = null;
  const letGo = () => clearTimeout(press);
  return {
    onPointerDown: (/** @type {import('react').PointerEvent<HTMLDivElement>} */ event) => {
      const target = /** @type {Element} */ (event.target);
      if (target.closest('.react-flow__pane, .react-flow__edge') && !target.closest('input, textarea, button')) event.currentTarget.focus({preventScroll: true});
      pointed = target.closest('.react-flow__node') ?? event.currentTarget;
      // What is marked elsewhere on the page must not be what a copy takes, nor grow with Shift.
      if (!target.closest('input, textarea')) getSelection()?.removeAllRanges();
      letGo();
      if (event.pointerType !== 'touch' || !event.isPrimary) return;
      pressedAt = {x: event.clientX, y: event.clientY};
      press = setTimeout(() => openMenu(target, pressedAt), LONG_PRESS_MS);
    },
    onPointerMove: (/** @type {import('react').PointerEvent} */ event) => {
      shown.pointer = {x: event.clientX, y: event.clientY};
      if (Math.hypot(event.clientX - pressedAt.x, event.clientY - pressedAt.y) > LONG_PRESS_SLACK) letGo();
    },
    onPointerLeave: () => void (shown.pointer = null),
    onPointerUp: letGo,
    onPointerCancel: letGo,
    onContextMenu: (/** @type {import('react').MouseEvent} */ event) => {
      const target = /** @type {Element} */ (event.target);
      if (target.closest('input, textarea, .canvas-tools')) return;
      event.preventDefault();
      letGo();
      const byKey = event.button !== 2 && event.detail === 0;
      openMenu(target, byKey ? null : {x: event.clientX, y: event.clientY});
    },
    onDoubleClick: (/** @type {import('react').MouseEvent} */ event) => {
      if (!(/** @type {Element} */ (event.target).classList.contains('react-flow__pane')) || !canChange() || !shown.flow) return;
      const at = {x: event.clientX, y: event.clientY};
      const place = shown.flow.screenToFlowPosition(at);
      openChooser({kind: 'add', at, position: {x: place.x - NODE_WIDTH / 2, y: place.y - NODE_HEIGHT / 2}});
    },
    onDragOver: (/** @type {import('react').DragEvent} */ event) => {
      if (!event.dataTransfer.types.includes(NODE_DRAG) || !canChange()) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = 'copy';
    },
    onDrop: (/** @type {import('react').DragEvent} */ event) => {
      const type = event.dataTransfer.getData(NODE_DRAG);
      if (!type || !canChange() || !shown.flow) return;
      event.preventDefault();
      const place = shown.flow.screenToFlowPosition({x: event.clientX, y: event.clientY});
      const wire = /** @type {Element} */ (event.target).closest('.react-flow__edge')?.getAttribute('data-id');
      const edge = frontDoc()?.edges.find((one) => edgeKey(one) === wire);
      addAt(type, {position: {x: place.x - NODE_WIDTH / 2, y: place.y - NODE_HEIGHT / 2}, edge});
      shown.element?.focus({preventScroll: true});
    },
    onFocus: (/** @type {import('react').FocusEvent} */ event) => {
      const node = /** @type {Element} */ (event.target);
      const id = node.getAttribute('data-id');
      if (node !== pointed) pointed = null;
      if (id && node.matches('.react-flow__node-pipe:focus-visible')) showNode(id);
    },
    onKeyDown: (/** @type {import('react').KeyboardEvent} */ event) => onNodeKey(event, pointed),
  };
}

/**
 * Enter and the space bar at a node or frame that has the focus. Tab asks what to add where the pointer has brought the focus;
 * who came by keyboard goes on with it, as everywhere.
 * @param {import('react').KeyboardEvent} event
 * @param {Element | null} pointed what the pointer gave the focus to
 */
function onNodeKey(event, pointed) {
  const target = /** @type {Element} */ (event.target);
  const id = target.classList.contains('react-flow__node') ? target.getAttribute('data-id') : null;
  const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
  // An empty canvas says that Tab adds; nothing but a script or the pointer brings the focus to it.
  const isAsking = target === pointed || (target === event.currentTarget && frontDoc()?.nodes.length === 0);
  if (event.key === 'Tab' && !event.shiftKey && isPlain && isAsking && canChange()) {
    const [node] = selectionOf().nodes.slice(-1);
    openChooser({kind: 'add', at: besideNode(node ?? null), from: node ? {node, port: firstPort(node), end: 'source'} : undefined});
  } else if (id && (event.key === 'Enter' || event.key === ' ') && isPlain) {
    pressNode(id, event.key === 'Enter');
  } else return;
  event.preventDefault();
}

/** @param {string} flow @param {boolean} isEnter */
function pressNode(flow, isEnter) {
  const {kind, id} = thingOf(flow);
  const old = selectionOf();
  const list = /** @type {'nodes' | 'frames' | 'notes'} */ (`${kind}s`);
  const isSelected = old[list].includes(id);
  if (!isEnter) select({...old, [list]: isSelected ? old[list].filter((one) => one !== id) : [...old[list], id]});
  else if (kind !== 'node') {
    select({[list]: [id]});
    if (canChange()) stage.set({renaming: flow});
  } else {
    select({nodes: [id]});
    enterInspector();
  }
}

/**
 * @param {Element} target what was pressed
 * @param {Point | null} at null: beside the thing, for the menu key
 */
function openMenu(target, at) {
  const flow = target.closest('.react-flow__node')?.getAttribute('data-id') ?? null;
  const wire = target.closest('.react-flow__edge')?.getAttribute('data-id') ?? null;
  const [selected] = selectionOf().nodes;
  const thing = flow ?? (at === null && !wire ? (selected ?? null) : null);
  stage.set({menu: {...menuAt(thing, wire, at), at: at ?? besideNode(thing)}, chooser: null});
}
