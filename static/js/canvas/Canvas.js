/**
 * The canvas: the document in front, drawn by React Flow. React Flow owns nothing here: nodes, wires and selection come from the
 * document and go back to it; only while a hand moves something is its place kept beside the document.
 */
import {classes, Flow, h, tags, useEffect, useMemo, useRef, useState} from '../h.js';
import {wouldCycle} from '../core/graph.js';
import {crossesBorder, withBodies} from '../core/holders.js';
import {announce} from '../state/notices.js';
import {store, useStore} from '../state/store.js';
import {activeTab, docOf, NOTHING, select} from '../state/tabs.js';
import {setView} from '../state/view.js';
import {Menu} from '../ui/menu.js';
import {t} from '../words.js';
import {CanvasTools, EmptyCanvas} from './CanvasTools.js';
import {carry, letGo, MANY} from './carrying.js';
import {addAt, canChange, canEdit, commitMove, connectNodes, firstPort, frontDoc, membersOf, nameOf, selectionOf, sizeOf} from './editing.js';
import {FrameNode} from './FrameNode.js';
import {edgeKey, GRID, NODE_HEIGHT, NODE_WIDTH, nodeRects, placeOf} from './geometry.js';
import {menuAt} from './menus.js';
import {NoteNode} from './NoteNode.js';
import {isAtCanvas, useClipboard} from './pasteboard.js';
import {PipeEdge} from './PipeEdge.js';
import {Far, PipeNode} from './PipeNode.js';
import {edgeProjection, flowId, nodeProjection, thingOf} from './projection.js';
import {OpenChooser} from './QuickAdd.js';
import {References} from './References.js';
import {besideNode, enterInspector, isCalm, NODE_DRAG, openChooser, shown, stage, useStage} from './stage.js';
import {showNode} from './view.js';
import {Way} from './Way.js';

/** @typedef {import('./geometry.js').Point} Point */
/** @typedef {import('./projection.js').Moving} Moving */
/** @typedef {import('../state/types.js').Selection} Selection */

const {div} = tags;

const VISIBLE_ONLY_ABOVE = 150;
const FAR_ZOOM = 0.3;
const GLIDE_MS = 260;
const GLIDE_AT_MOST = 300;
const LONG_PRESS_MS = 500;
const LONG_PRESS_SLACK = 10;

/** @type {Moving} */
const STILL = new Map();
const NODE_TYPES = {pipe: PipeNode, frame: FrameNode, note: NoteNode};
const EDGE_TYPES = {order: PipeEdge};
const FIT = {padding: 0.12, maxZoom: 1};
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
  if (!tab || !doc) return null;
  const viewport = viewports.get(tab.key);
  return div(
    {
      ref: root,
      className: classes('canvas', far && 'canvas-far', !free && 'canvas-locked'),
      'data-canvas': true,
      'data-reach': reach,
      tabIndex: -1,
      ...listeners,
    },
    h(
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
          minZoom: 0.04,
          maxZoom: 2.5,
          snapToGrid: snap,
          snapGrid: SNAP,
          onlyRenderVisibleElements: doc.nodes.length > VISIBLE_ONLY_ABOVE,
          nodeDragThreshold: 3,
          fitView: !viewport && doc.nodes.length > 0,
          fitViewOptions: FIT,
          defaultViewport: viewport,
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
    const watcher = new ResizeObserver(() => {
      const next = {width: element.clientWidth, height: element.clientHeight};
      const {x, y, zoom} = flow.getViewport();
      // A hidden canvas has no middle.
      if (size.width && size.height && next.width && next.height) {
        void flow.setViewport({x: x + (next.width - size.width) / 2, y: y + (next.height - size.height) / 2, zoom});
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

/**
 * What a hand is doing: places beside the document.
 * @typedef {object} Hand
 * @property {() => Moving} get
 * @property {(moving: Moving) => void} set
 * @property {(moving: Moving, doc: import('../core/doc.js').Pipeline, by: Point) => void} carry as `set`, for very many things: only what is drawn is shifted
 * @property {() => void} commit write the places into the document
 * @property {(from: Map<string, Point>) => void} glide from old places to those of the document
 */

/** @returns {{moving: Moving, hand: Hand}} */
function useHand() {
  const [moving, setMoving] = useState(STILL);
  const now = useRef(STILL);
  const hand = useMemo(() => {
    /** @param {Moving} next */
    const set = (next) => {
      now.current = next;
      setMoving(next);
    };
    return {
      get: () => now.current,
      set,
      carry(/** @type {Moving} */ next, /** @type {import('../core/doc.js').Pipeline} */ doc, /** @type {Point} */ by) {
        now.current = next;
        carry(next, doc, by);
      },
      commit() {
        letGo();
        if (!now.current.size) return;
        commitMove(now.current);
        set(STILL);
      },
      /** @param {Map<string, Point>} from */
      glide(from) {
        const doc = frontDoc();
        if (doc && !isCalm() && doc.nodes.length <= GLIDE_AT_MOST) glideTo(from, new Map(doc.nodes.map((node) => [node.id, placeOf(node)])), set);
      },
    };
  }, []);
  return {moving, hand};
}

/**
 * @param {Map<string, Point>} from
 * @param {Map<string, Point>} to
 * @param {(moving: Moving) => void} set
 */
function glideTo(from, to, set) {
  const began = performance.now();
  const step = () => {
    const share = Math.min(1, (performance.now() - began) / GLIDE_MS);
    if (share === 1) {
      set(STILL);
      return;
    }
    const eased = 1 - (1 - share) ** 3;
    const places = [...to].flatMap(([id, end]) => {
      const start = from.get(id);
      if (!start || (start.x === end.x && start.y === end.y)) return [];
      return [/** @type {[string, Point]} */ ([id, {x: start.x + (end.x - start.x) * eased, y: start.y + (end.y - start.y) * eased}])];
    });
    set(new Map(places));
    requestAnimationFrame(step);
  };
  step();
}

/**
 * What React Flow reports, for good: the functions read the state when they are called.
 * @param {Hand} hand
 */
function flowHandlers(hand) {
  /** @type {{nodeId: string, handleId: string | null, handleType: 'source' | 'target'} | null} */
  let tapped = null;
  return {
    onNodesChange: (/** @type {import('../h.js').Flow.NodeChange[]} */ changes) => onNodesChange(changes, hand),
    onEdgesChange: (/** @type {import('../h.js').Flow.EdgeChange[]} */ changes) => onEdgesChange(changes),
    onNodeDragStop: hand.commit,
    onSelectionDragStop: hand.commit,
    onNodeClick: selectAlone,
    onNodeMouseEnter: (/** @type {unknown} */ _event, /** @type {{id: string}} */ node) => stage.set({hovered: node.id}),
    onNodeMouseLeave: () => stage.set({hovered: null}),
    onNodeDoubleClick: (/** @type {unknown} */ _event, /** @type {{id: string}} */ node) => {
      if (thingOf(node.id).kind === 'node') setView({inspectorOpen: true, narrowPage: 'inspector'});
    },
    onConnect: (/** @type {import('../h.js').Flow.Connection} */ connection) => connectNodes(edgeOf(connection)),
    onConnectEnd,
    isValidConnection: (/** @type {any} */ connection) => {
      const doc = frontDoc();
      return doc !== null && !crossesBorder(doc, edgeOf(connection)) && wouldCycle(doc, edgeOf(connection)) === null;
    },
    onClickConnectStart: (/** @type {unknown} */ _event, /** @type {any} */ handle) => {
      tapped = handle;
      announce(t('canvas.said.connecting', {title: nameOf(handle.nodeId)}));
    },
    onClickConnectEnd: (/** @type {any} */ event) => {
      const end = event.target?.closest?.('.react-flow__handle');
      if (tapped && end) announceRefusal(tapped, end.dataset.nodeid ?? '', end.dataset.handleid ?? null);
      tapped = null;
    },
    onError: (/** @type {string} */ code, /** @type {string} */ message) => {
      // 008: a wire to a handle that is not drawn yet; it is drawn with the next frame.
      if (code !== '008') console.error(`React Flow ${code}: ${message}`);
    },
  };
}

/**
 * A click on one of several things that are selected means this one alone.
 * @param {import('react').MouseEvent} event
 * @param {{id: string}} node
 */
function selectAlone(event, node) {
  const {kind, id} = thingOf(node.id);
  if (event.shiftKey || event.ctrlKey || event.metaKey || sizeOf(selectionOf()) < 2) return;
  select({[`${kind}s`]: [id]});
}

/** A connection as a wire of the document. @param {any} connection */
function edgeOf(connection) {
  return {from: connection.source, to: connection.target, from_port: connection.sourceHandle ?? 'done'};
}

/**
 * @param {{nodeId: string, handleId: string | null, handleType: 'source' | 'target'}} start
 * @param {string} nodeId
 * @param {string | null} handleId
 */
function announceRefusal(start, nodeId, handleId) {
  const doc = frontDoc();
  const [from, to, port] = start.handleType === 'source' ? [start.nodeId, nodeId, start.handleId] : [nodeId, start.nodeId, handleId];
  const edge = {from, to, from_port: port ?? 'done'};
  if (doc && (crossesBorder(doc, edge) || wouldCycle(doc, edge))) connectNodes(edge);
}

/**
 * A wire was let go: over a node it leads there, in space it asks what to add.
 * @param {MouseEvent | TouchEvent} event
 * @param {any} connection
 */
function onConnectEnd(event, connection) {
  if (!connection.fromHandle || connection.isValid) return;
  const point = 'changedTouches' in event ? event.changedTouches[0] : event;
  const start = {nodeId: connection.fromNode.id, handleId: connection.fromHandle.id ?? null, handleType: connection.fromHandle.type};
  const under = document.elementFromPoint(point.clientX, point.clientY);
  const over = connection.toNode?.id ?? under?.closest('.react-flow__node-pipe')?.getAttribute('data-id');
  if (over && over !== start.nodeId) {
    const source = start.handleType === 'source';
    connectNodes(source ? {from: start.nodeId, to: over, from_port: start.handleId ?? 'done'} : {from: over, to: start.nodeId, from_port: connection.toHandle?.id ?? firstPort(over)});
    return;
  }
  if (over || !under?.closest('.react-flow__pane') || !shown.flow) return;
  const place = shown.flow.screenToFlowPosition({x: point.clientX, y: point.clientY});
  const shift = start.handleType === 'source' ? 0 : -NODE_WIDTH;
  openChooser({
    kind: 'add',
    at: {x: point.clientX, y: point.clientY},
    position: {x: place.x + shift, y: place.y - NODE_HEIGHT / 2},
    from: {node: start.nodeId, port: start.handleId ?? 'done', end: start.handleType},
  });
}

/**
 * Take in what React Flow did to nodes: moved, resized, selected.
 * @param {import('../h.js').Flow.NodeChange[]} changes
 * @param {Hand} hand
 */
function onNodesChange(changes, hand) {
  const doc = frontDoc();
  if (!doc) return;
  const next = new Map(hand.get());
  let resized = false;
  /** @type {Map<string, boolean>} */
  const chosen = new Map();
  for (const change of changes) {
    if (change.type === 'select') chosen.set(change.id, change.selected);
    else if (change.type === 'position' && change.position) {
      if (change.dragging !== undefined && thingOf(change.id).kind === 'node') moveNode(doc, change.id, change.position, next, changes);
      else next.set(change.id, {...next.get(change.id), ...change.position});
      if (change.dragging !== undefined && thingOf(change.id).kind === 'frame') takeAlong(doc, change.id, change.position, next, changes);
    } else if (change.type === 'dimensions' && change.resizing !== undefined) {
      const {kind, id} = thingOf(change.id);
      const box = (kind === 'frame' ? doc.view?.frames : doc.view?.notes)?.find((one) => one.id === id);
      if (box && change.dimensions) next.set(change.id, {x: box.x, y: box.y, ...next.get(change.id), ...change.dimensions});
      resized ||= change.resizing === false;
    }
  }
  if (chosen.size) changeSelection(chosen);
  const first = doc.nodes.find((node) => next.has(node.id));
  const place = first && next.get(first.id);
  if (place && next.size > MANY && changes.some((change) => change.type === 'position' && change.dragging)) {
    hand.carry(next, doc, {x: place.x - placeOf(first).x, y: place.y - placeOf(first).y});
    return;
  }
  if (next.size && changes.some((change) => change.type === 'position' || change.type === 'dimensions')) hand.set(next);
  if (resized) hand.commit();
}

/**
 * Move a node, and what stands in its body by as much; what is drawn of a node with a body begins where its body does.
 * @param {import('../core/doc.js').Pipeline} doc
 * @param {string} id
 * @param {Point} corner
 * @param {Map<string, Point>} next
 * @param {import('../h.js').Flow.NodeChange[]} changes things that are dragged themselves are left alone
 */
function moveNode(doc, id, corner, next, changes) {
  const all = withBodies(doc, [id]);
  // Of a holder without a body, too, the corner is its place.
  if (all.size === 1) {
    next.set(id, {...next.get(id), ...corner});
    return;
  }
  const rect = nodeRects(doc, store.get().nodeTypes).get(id);
  const by = rect && {x: corner.x - rect.x, y: corner.y - rect.y};
  const dragged = new Set(changes.flatMap((change) => (change.type === 'position' && change.id !== id ? [change.id] : [])));
  for (const node of by ? doc.nodes : []) {
    if (!by || !all.has(node.id) || dragged.has(node.id)) continue;
    next.set(node.id, {...next.get(node.id), x: placeOf(node).x + by.x, y: placeOf(node).y + by.y});
  }
}

/**
 * Move what stands in a frame by as much as the frame has moved.
 * @param {import('../core/doc.js').Pipeline} doc
 * @param {string} frameFlowId
 * @param {Point} place
 * @param {Map<string, Point>} next
 * @param {import('../h.js').Flow.NodeChange[]} changes things that are dragged themselves are left alone
 */
function takeAlong(doc, frameFlowId, place, next, changes) {
  const frame = doc.view?.frames?.find((one) => one.id === thingOf(frameFlowId).id);
  if (!frame) return;
  const dragged = new Set(changes.flatMap((change) => (change.type === 'position' ? [change.id] : [])));
  const members = membersOf(doc, frame.id);
  /** @param {string} id @param {Point} from */
  const move = (id, from) => {
    if (!dragged.has(id)) next.set(id, {...next.get(id), x: from.x + place.x - frame.x, y: from.y + place.y - frame.y});
  };
  const nodes = new Set(members.nodes);
  for (const node of doc.nodes) if (nodes.has(node.id)) move(node.id, placeOf(node));
  for (const one of doc.view?.frames ?? []) if (members.frames.includes(one.id)) move(flowId('frame', one.id), one);
  for (const note of doc.view?.notes ?? []) if (members.notes.includes(note.id)) move(flowId('note', note.id), note);
}

/** @param {Map<string, boolean>} chosen by the canvas's ids */
function changeSelection(chosen) {
  const old = selectionOf();
  /** @param {'node' | 'frame' | 'note'} kind @param {string[]} ids */
  const changed = (kind, ids) => {
    const set = new Set(ids);
    for (const [flow, selected] of chosen) {
      const thing = thingOf(flow);
      if (thing.kind !== kind) continue;
      if (selected) set.add(thing.id);
      else set.delete(thing.id);
    }
    return [...set];
  };
  select({...old, nodes: changed('node', old.nodes), frames: changed('frame', old.frames), notes: changed('note', old.notes)});
}

/** @param {import('../h.js').Flow.EdgeChange[]} changes */
function onEdgesChange(changes) {
  const old = selectionOf();
  const kept = new Map(old.edges.map((edge) => [edgeKey(edge), edge]));
  const known = new Map((frontDoc()?.edges ?? []).map((edge) => [edgeKey(edge), edge]));
  let differs = false;
  for (const change of changes) {
    if (change.type !== 'select') continue;
    const edge = known.get(change.id);
    if (change.selected && edge) kept.set(change.id, edge);
    else kept.delete(change.id);
    differs = true;
  }
  if (differs) select({...old, edges: [...kept.values()]});
}

/** What the page's own events do at the canvas. */
function rootListeners() {
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
