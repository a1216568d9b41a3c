/** What is going on at the canvas and belongs to no document: the open menu, the open search, what is pointed at. */
import {flushSync, useRef, useSyncExternalStore} from '../h.js';
import {createStore} from '../state/store.js';
import {setView} from '../state/view.js';

/** @typedef {import('./geometry.js').Point} Point */
/** @typedef {import('../core/doc.js').PipelineEdge} PipelineEdge */

/**
 * What the search at the canvas is for.
 *   add: a node type to put at `position` (behind `from`, or into `edge`);  connect: a node that `from` leads to;
 *   disconnect: a wire of node `from`;  find: a node or a text to go to;  failure: what follows when `from` fails;
 *   holder: the node whose body the selected nodes come into
 * @typedef {object} Chooser
 * @property {'add' | 'connect' | 'disconnect' | 'find' | 'failure' | 'holder'} kind
 * @property {Point} at where it opens, in pixels of the window
 * @property {Point} [position] in canvas pixels
 * @property {{node: string, port: string, end: 'source' | 'target'}} [from]
 * @property {PipelineEdge} [edge]
 */

/**
 * @typedef {object} Stage
 * @property {{label: string, at: Point, items: import('../ui/menu.js').MenuItem[]} | null} menu
 * @property {Chooser | null} chooser
 * @property {string | null} hovered the node under the pointer
 * @property {string | null} renaming the frame or note whose text is being typed, as the canvas names it
 */

/** The kind of data that is dragged from the palette: the name of a node type. */
export const NODE_DRAG = 'application/x-agentui-node';

/** @type {Stage} */
const nothing = {menu: null, chooser: null, hovered: null, renaming: null};

export const stage = createStore(nothing);

/**
 * A part of the stage; the component renders anew only when that part changes.
 * @template T
 * @param {(stage: Stage) => T} pick
 */
export function useStage(pick) {
  const last = useRef(pick);
  last.current = pick;
  return useSyncExternalStore(stage.subscribe, () => last.current(stage.get()));
}

/**
 * The canvas that is on the screen, for commands that need its view. All null while none is shown.
 * @type {{flow: import('../h.js').Flow.ReactFlowInstance<any, any> | null, element: HTMLElement | null, pointer: Point | null,
 *   glide: ((from: Map<string, Point>) => void) | null}}
 *   `pointer`: where the pointer last was over it, in pixels of the window
 */
export const shown = {flow: null, element: null, pointer: null, glide: null};

/** The middle of what is seen, in canvas pixels. @returns {Point} */
export function viewCentre() {
  const box = shown.element?.getBoundingClientRect();
  if (!shown.flow || !box) return {x: 0, y: 0};
  return shown.flow.screenToFlowPosition({x: box.left + box.width / 2, y: box.top + box.height / 2});
}

/** Where the pointer is on the canvas, else the middle of what is seen, in canvas pixels. @returns {Point} */
export function pointerPlace() {
  return shown.flow && shown.pointer ? shown.flow.screenToFlowPosition(shown.pointer) : viewCentre();
}

/**
 * Where something about this node opens, in pixels of the window.
 * @param {string | null} id
 * @returns {Point}
 */
export function besideNode(id) {
  const box = (id && nodeElement(id)?.getBoundingClientRect()) || shown.element?.getBoundingClientRect();
  if (!box) return {x: innerWidth / 2 - 160, y: innerHeight / 4};
  return id ? {x: box.right + 8, y: box.top} : {x: box.left + box.width / 2 - 160, y: box.top + Math.min(96, box.height / 6)};
}

/** @param {string} id @returns {HTMLElement | null} */
export function nodeElement(id) {
  return shown.element?.querySelector(`.react-flow__node[data-id="${CSS.escape(id)}"]`) ?? null;
}

/** Give the focus back to the canvas: to this node where it is drawn. @param {string} [id] */
export function focusCanvas(id) {
  ((id && nodeElement(id)) || shown.element)?.focus({preventScroll: true});
}

/** Show the settings of what is selected, and take the keyboard there; Escape brings it back. */
export function enterInspector() {
  flushSync(() => setView({inspectorOpen: true, inspectorTab: 'settings', narrowPage: 'inspector'}));
  /** @type {HTMLElement | null} */ (document.querySelector('.inspector input, .inspector button'))?.focus();
}

/** Whether motion is welcome. */
export function isCalm() {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}

/** @param {Chooser} chooser */
export function openChooser(chooser) {
  stage.set({chooser, menu: null});
}
