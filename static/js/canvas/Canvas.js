/**
 * The canvas: the document in front, drawn by React Flow. React Flow owns nothing here: nodes, wires and selection come from the
 * document and go back to it; only while a hand moves something is its place kept beside the document.
 */
import {classes, Flow, h, tags, useEffect, useLayoutEffect, useMemo, useRef, useState} from '../h.js';
import {store, useStore} from '../state/store.js';
import {activeTab, docOf, NOTHING} from '../state/tabs.js';
import {Menu} from '../ui/menu.js';
import {t} from '../words.js';
import {CanvasTools, EmptyCanvas} from './CanvasTools.js';
import {canChange, canEdit, frontDoc} from './editing/front.js';
import {flowHandlers} from './flow/events.js';
import {useHand} from './flow/moves.js';
import {rootListeners} from './flow/page.js';
import {FrameNode} from './FrameNode.js';
import {GRID} from './geometry.js';
import {NoteNode} from './NoteNode.js';
import {isAtCanvas, useClipboard} from './pasteboard.js';
import {PipeEdge} from './PipeEdge.js';
import {Far, PipeNode} from './PipeNode.js';
import {edgeProjection, nodeProjection} from './projection.js';
import {OpenChooser} from './QuickAdd.js';
import {References} from './References.js';
import {shown, stage, useStage} from './stage.js';
import {FARTHEST_ZOOM, fitAll, fitted, showNode} from './view.js';
import {Way} from './Way.js';

/** @typedef {import('./flow/moves.js').Hand} Hand */

const {div} = tags;

const VISIBLE_ONLY_ABOVE = 150;
const FAR_ZOOM = 0.3;

const NODE_TYPES = {pipe: PipeNode, frame: FrameNode, note: NoteNode};
const EDGE_TYPES = {order: PipeEdge};
const SNAP = /** @type {[number, number]} */ ([GRID, GRID]);
const MULTI_KEYS = ['Control', 'Meta', 'Shift'];
/** @type {Map<string, import('../h.js').Flow.Viewport>} where each tab's canvas looked last */
const viewports = new Map();

/** The canvas of the tab in front. */
export function Canvas() {
  return h(Flow.ReactFlowProvider, null, h(CanvasView));
}

function CanvasView() {
  const tab = useStore((state) => activeTab(state));
  const types = useStore((state) => state.nodeTypes);
  const snap = useStore((state) => state.view.snap);
  const free = useStore(canChange);
  const editable = useStore(canEdit);
  const isNarrow = useMedia('(max-width: 899px)');
  const {moving, hand} = useHand();
  const flow = Flow.useReactFlow();
  const root = useShown(flow, hand);
  const far = Flow.useStore((/** @type {any} */ state) => state.transform[2] < FAR_ZOOM);
  const reach = Flow.useStore((/** @type {any} */ state) => reachAt(state.transform[2]));
  const makeNodes = useRef(nodeProjection()).current;
  const makeEdges = useRef(edgeProjection()).current;
  const doc = tab && docOf(tab);
  const selection = tab?.selection ?? NOTHING;
  const nodes = useMemo(() => (doc ? makeNodes(doc, types, selection, moving) : []), [doc, types, selection, moving]);
  const edges = useMemo(() => (doc ? makeEdges(doc, selection, types) : []), [doc, types, selection.edges]);
  const handlers = useMemo(() => flowHandlers(hand), []);
  const listeners = useMemo(() => rootListeners(), []);
  const labels = useMemo(ariaLabels, []);
  useClipboard();
  useGoTo(tab?.focus ?? null);
  useKeptMiddle(flow, root);
  const beginning = useBeginning(root, tab?.key ?? '');
  if (!tab || !doc) return null;
  return div(
    {
      ref: root,
      className: classes('canvas', far && 'canvas-far', !free && 'canvas-locked'),
      'data-canvas': true,
      'data-reach': reach,
      tabIndex: -1,
      ...listeners,
    },
    beginning === null ? null : h(
      Far.Provider,
      {value: far},
      h(
        Flow.ReactFlow,
        {
          nodes,
          edges,
          nodeTypes: NODE_TYPES,
          edgeTypes: EDGE_TYPES,
          ...handlers,
          'aria-label': t('canvas.label', {name: doc.name || t('canvas.unnamed')}),
          ariaLabelConfig: labels,
          nodesDraggable: free && !isNarrow,
          nodesConnectable: isNarrow ? editable : free,
          edgesFocusable: false,
          disableKeyboardA11y: true,
          elevateNodesOnSelect: false,
          deleteKeyCode: null,
          multiSelectionKeyCode: MULTI_KEYS,
          selectionMode: Flow.SelectionMode.Partial,
          connectionRadius: 28,
          connectOnClick: true,
          zoomOnDoubleClick: false,
          minZoom: FARTHEST_ZOOM,
          maxZoom: 2.5,
          snapToGrid: snap,
          snapGrid: SNAP,
          onlyRenderVisibleElements: doc.nodes.length > VISIBLE_ONLY_ABOVE,
          nodeDragThreshold: 3,
          defaultViewport: beginning,
          onMoveEnd: (_event, now) => viewports.set(tab.key, now),
        },
        h(Flow.Background, {variant: Flow.BackgroundVariant.Dots, gap: GRID, size: 1.4}),
        h(References, {doc, selected: selection.nodes}),
        h(CanvasTools, {isNarrow}),
        h(OpenMenu),
      ),
    ),
    h(Way),
    doc.nodes.length ? null : h(EmptyCanvas, {isNarrow}),
    h(OpenChooser),
  );
}

/**
 * Where a canvas looks at first: where its tab last looked, else at all of the drawing or its start. Known when the canvas has its
 * size, and before anything is painted; null until then.
 * @param {{current: HTMLDivElement | null}} root
 * @param {string} key the tab's
 */
function useBeginning(root, key) {
  const [beginning, setBeginning] = useState(/** @type {Flow.Viewport | null} */ (null));
  useLayoutEffect(() => {
    const element = root.current;
    const doc = frontDoc();
    if (element && doc) setBeginning(viewports.get(key) ?? fitted(doc, store.get().nodeTypes, {width: element.clientWidth, height: element.clientHeight}));
  }, [key]);
  return beginning;
}

/** How far the handles reach beyond themselves, so that they stay 24 pixels wide on the screen. @param {number} zoom */
function reachAt(zoom) {
  return zoom >= 1 ? 'none' : zoom >= 0.6 ? 'near' : zoom >= 0.4 ? 'middle' : 'wide';
}

/** @param {string} query */
function useMedia(query) {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const change = () => setMatches(media.matches);
    media.addEventListener('change', change);
    return () => media.removeEventListener('change', change);
  }, [query]);
  return matches;
}

function OpenMenu() {
  const open = useStage((state) => state.menu);
  if (!open) return null;
  return h(Menu, {key: `${open.at.x} ${open.at.y}`, items: open.items, x: open.at.x, y: open.at.y, label: open.label, onClose: () => stage.set({menu: null})});
}

/**
 * Tell the commands which canvas is on the screen.
 * @param {import('../h.js').Flow.ReactFlowInstance<any, any>} flow
 * @param {Hand} hand
 */
function useShown(flow, hand) {
  const root = useRef(/** @type {HTMLDivElement | null} */ (null));
  useEffect(() => {
    Object.assign(shown, {flow, element: root.current, pointer: null, glide: hand.glide});
    // Whoever opened an empty canvas with a button goes on there: it says that Tab adds.
    const isFree = isAtCanvas() || document.activeElement?.closest('.tabbar, .welcome');
    if (isFree && frontDoc()?.nodes.length === 0) root.current?.focus({preventScroll: true});
    return () => {
      Object.assign(shown, {flow: null, element: null, pointer: null, glide: null});
      stage.set({menu: null, chooser: null, hovered: null, renaming: null});
    };
  }, [flow, hand]);
  return root;
}

/**
 * Keep what stands in the middle there when the dock or the inspector takes room from the canvas.
 * @param {import('../h.js').Flow.ReactFlowInstance<any, any>} flow
 * @param {{current: HTMLDivElement | null}} root
 */
function useKeptMiddle(flow, root) {
  useEffect(() => {
    const element = root.current;
    if (!element) return;
    let size = {width: element.clientWidth, height: element.clientHeight};
    // Opened where there was no room for it, as behind a dock that has all of it.
    let isUnseen = !size.width || !size.height;
    const watcher = new ResizeObserver(() => {
      const next = {width: element.clientWidth, height: element.clientHeight};
      const {x, y, zoom} = flow.getViewport();
      // A hidden canvas has no middle.
      if (size.width && size.height && next.width && next.height) {
        void flow.setViewport({x: x + (next.width - size.width) / 2, y: y + (next.height - size.height) / 2, zoom});
      }
      if (isUnseen && next.width && next.height) {
        isUnseen = false;
        fitAll();
      }
      size = next;
    });
    watcher.observe(element);
    return () => watcher.disconnect();
  }, [flow, root]);
}

/** Bring the node into the view that somebody went to. @param {import('../state/types.js').Place | null} focus */
function useGoTo(focus) {
  useEffect(() => {
    if (focus?.node) showNode(focus.node);
  }, [focus]);
}

/** React Flow's own words. */
function ariaLabels() {
  return {
    'node.a11yDescription.default': t('canvas.flow.node'),
    'node.a11yDescription.keyboardDisabled': t('canvas.flow.node'),
    'node.a11yDescription.ariaLiveMessage': (/** @type {{direction: string, x: number, y: number}} */ {x, y}) => t('canvas.flow.moved', {x, y}),
    'edge.a11yDescription.default': t('canvas.flow.edge'),
    'controls.ariaLabel': t('canvas.tools.label'),
    'controls.zoomIn.ariaLabel': t('canvas.action.zoomIn'),
    'controls.zoomOut.ariaLabel': t('canvas.action.zoomOut'),
    'controls.fitView.ariaLabel': t('canvas.action.fit'),
    'controls.interactive.ariaLabel': t('canvas.action.lock'),
    'minimap.ariaLabel': t('canvas.minimap'),
    'handle.ariaLabel': t('canvas.flow.handle'),
  };
}
