/**
 * The outline: the nodes as a list in the order in which they run. Everything the canvas can do can be done here, by keyboard and with
 * a screen reader; on narrow screens it is the editor.
 */
import {runAction, shownKeys} from '../actions.js';
import {classes, h, memo, tags, useEffect, useMemo, useRef} from '../h.js';
import {outline} from '../core/bodies.js';
import {portOf} from '../core/doc.js';
import {ERROR_PORT} from '../core/ports.js';
import {portTitle, skipReason} from '../state/portwords.js';
import {useStore} from '../state/store.js';
import {activeTab, docOf, goTo, NOTHING, select} from '../state/tabs.js';
import {setView} from '../state/view.js';
import {Button} from '../ui/buttons.js';
import {Icon} from '../ui/icons.js';
import {MenuButton} from '../ui/menu.js';
import {t, typeTitle} from '../words.js';
import {frameSelection} from './editing/boxes.js';
import {deleteSelection, duplicateSelection, selectAll, toggleAnswer, toggleSelection} from './editing/nodes.js';
import {canEdit, nameOf, portsOfNode, selectionOf} from './editing/front.js';
import {canMoveInOrder, moveInOrder} from './editing/ordering.js';
import {layOut} from './editing/places.js';
import {cutWire} from './editing/wires.js';
import {calledBy, openCalled} from './calls.js';
import {holdersFor, isHeld, putInto} from './containers.js';
import {edgeKey} from './geometry.js';
import {hasAnswered, mayAnswer, nodeRun, problemsOf, stateOf, timesRun} from './nodestate.js';
import {copySelection, cutSelection, paste, useClipboard} from './pasteboard.js';
import {Badge} from './PipeNode.js';
import {OpenChooser} from './QuickAdd.js';
import {openChooser, useStage} from './stage.js';
import {summaryOf, titleOf} from './summary.js';
import {showNode} from './view.js';
import {Way} from './Way.js';

/** @typedef {import('../core/doc.js').Pipeline} Pipeline */
/** @typedef {import('../core/doc.js').PipelineNode} PipelineNode */

const {button, div, li, ol, p, span, ul} = tags;

export function NodeList() {
  const doc = useStore((state) => {
    const tab = activeTab(state);
    return tab && docOf(tab);
  });
  const selection = useStore((state) => activeTab(state)?.selection ?? NOTHING);
  const editable = useStore(canEdit);
  const narrow = matchMedia('(max-width: 899px)').matches;
  const lines = useMemo(() => (doc ? outline(doc) : []), [doc]);
  const list = useRef(/** @type {HTMLDivElement | null} */ (null));
  useClipboard();
  if (!doc) return null;
  const byId = new Map(doc.nodes.map((node) => [node.id, node]));
  const chosen = new Set(selection.nodes);
  const stop = selection.nodes.at(-1) ?? lines[0]?.id;
  return div(
    {className: 'canvas-outline', 'data-canvas': true, ref: list},
    narrow ? h(Way) : null,
    h(OutlineTools, {editable, count: chosen.size}),
    lines.length
      ? ol(
          {className: 'canvas-outline-list', 'aria-label': t('canvas.outline.label'), onKeyDown: (event) => onListKey(event, list.current)},
          lines.map(({id, depth}, index) => {
            const node = byId.get(id);
            return node ? h(Item, {key: id, doc, node, index, depth, isSelected: chosen.has(id), isStop: id === stop, editable}) : null;
          }),
        )
      : p({className: 'canvas-outline-empty'}, t('canvas.outline.empty')),
    h(Drawn, {doc}),
    narrow ? h(ListChooser) : null,
  );
}

/** The canvas shows the open search; without one on the screen the outline does. */
function ListChooser() {
  const open = useStage((state) => state.chooser !== null);
  return open ? h(OpenChooser) : null;
}

/** @param {{editable: boolean, count: number}} props */
function OutlineTools({editable, count}) {
  return div(
    {className: 'canvas-outline-tools', role: 'toolbar', 'aria-label': t('canvas.outline.tools')},
    h(Button, {label: t('canvas.action.add'), icon: 'add', keys: shownKeys('canvas.add'), disabled: !editable, onClick: () => void runAction('canvas.add')}),
    h(Button, {label: t('canvas.action.find'), icon: 'search', iconOnly: true, tone: 'quiet', onClick: () => void runAction('canvas.find')}),
    h(MenuButton, {
      label: t('canvas.outline.more'),
      icon: 'more',
      iconOnly: true,
      items: () => [
        {label: t('canvas.action.selectAll'), run: selectAll},
        {label: t('canvas.action.copy'), icon: 'copy', disabled: !count, run: copySelection},
        {label: t('canvas.action.cut'), disabled: !count || !editable, run: cutSelection},
        {label: t('canvas.action.paste'), disabled: !editable, run: paste},
        {},
        {label: t('canvas.menu.frameAround'), icon: 'frame', disabled: !count || !editable, run: frameSelection},
        {label: t('canvas.action.deleteReconnect'), disabled: !count || !editable, run: () => deleteSelection({reconnect: true})},
        {label: t('canvas.action.layout'), icon: 'layout', disabled: !editable, run: layOut},
      ],
    }),
  );
}

/**
 * Up and down go through the list, Home and End to its ends.
 * @param {import('react').KeyboardEvent} event
 * @param {HTMLElement | null} root
 */
function onListKey(event, root) {
  if (event.ctrlKey || event.metaKey || event.altKey || !root) return;
  const all = /** @type {HTMLElement[]} */ ([...root.querySelectorAll('.canvas-outline-main')]);
  const now = all.indexOf(/** @type {HTMLElement} */ (event.target));
  if (now === -1) return;
  /** @type {Record<string, number>} */
  const steps = {ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: all.length - 1};
  const next = steps[event.key];
  if (next === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  const target = all[Math.max(0, Math.min(all.length - 1, next))];
  target.focus();
  select({nodes: [target.dataset.node ?? '']});
}

/**
 * @typedef {object} ItemProps
 * @property {Pipeline} doc
 * @property {PipelineNode} node
 * @property {number} index
 * @property {number} depth in how many bodies it stands
 * @property {boolean} isSelected
 * @property {boolean} isStop
 * @property {boolean} editable
 */

const Item = memo((/** @type {ItemProps} */ {doc, node, index, depth, isSelected, isStop, editable}) => {
  const types = useStore((state) => state.nodeTypes);
  const type = types[node.type];
  const answers = useStore((state) => mayAnswer(state, node.id));
  const element = useRef(/** @type {HTMLLIElement | null} */ (null));
  useEffect(() => {
    if (isSelected) element.current?.scrollIntoView({block: 'nearest'});
  }, [isSelected]);
  const title = titleOf(node, types);
  return li(
    {ref: element, className: classes('canvas-outline-item', isSelected && 'canvas-outline-selected', node.enabled === false && 'canvas-outline-off'), 'data-category': type?.category ?? 'unknown', 'data-depth': depth || undefined},
    button(
      {
        type: 'button',
        className: 'canvas-outline-main',
        'data-node': node.id,
        'aria-current': isSelected || undefined,
        tabIndex: isStop ? 0 : -1,
        onFocus: () => showNode(node.id),
        onClick: (event) => pick(node.id, event),
        onDoubleClick: () => open(node.id),
      },
      span({className: 'canvas-node-icon'}, h(Icon, {name: type?.icon ?? 'help', size: 16})),
      span(
        {className: 'canvas-outline-words'},
        span({className: 'canvas-outline-title'}, span({className: 'canvas-outline-number'}, `${index + 1}.`), ' ', title),
        span({className: 'canvas-outline-line'}, `${node.id} · ${typeTitle(type, node.type)}`, ...summaryPart(node, type)),
        depth && node.parent ? span({className: 'visually-hidden'}, t('canvas.outline.within', {holder: nameOf(node.parent)})) : null,
      ),
    ),
    h(Marks, {node, answers}),
    h(Problems, {id: node.id}),
    isSelected ? h(Details, {doc, node, editable}) : null,
  );
});

/** @param {PipelineNode} node @param {import('../core/doc.js').NodeType | undefined} type */
function summaryPart(node, type) {
  const summary = summaryOf(type, node.config ?? {});
  return summary ? [` · ${summary}`] : [];
}

/**
 * A plain click selects the node, with Ctrl or Shift one more.
 * @param {string} id
 * @param {import('react').MouseEvent} event
 */
function pick(id, event) {
  const {nodes} = selectionOf();
  if (!event.ctrlKey && !event.metaKey && !event.shiftKey) select({nodes: [id]});
  else select({nodes: nodes.includes(id) ? nodes.filter((one) => one !== id) : [...nodes, id]});
}

/** @param {string} id */
function open(id) {
  select({nodes: [id]});
  setView({inspectorOpen: true, narrowPage: 'inspector'});
}

/** @param {{node: PipelineNode, answers: boolean}} props */
function Marks({node, answers}) {
  const run = useStore((state) => nodeRun(state, node.id));
  const locale = useStore((state) => state.view.locale);
  const pinned = useStore((state) => Object.hasOwn(activeTab(state)?.pins ?? {}, node.id));
  const answered = useStore((all) => hasAnswered(all, node.id));
  const times = useStore((all) => timesRun(all, node.id));
  const state = run && stateOf(run, locale);
  const why = run ? skipReason(run, nameOf) : '';
  const marks = [
    state ? h(Badge, {key: 'run', ...state}) : null,
    times > 1 ? h(Badge, {key: 'times', tone: 'times', text: `×${times}`, spoken: t('canvas.node.times', {n: times})}) : null,
    answers || answered ? h(Badge, {key: 'answer', tone: answered ? 'answered' : 'answer', icon: 'answer', text: t(answered ? 'canvas.node.answered' : 'canvas.node.answers')}) : null,
    node.enabled === false ? h(Badge, {key: 'off', tone: 'off', icon: 'power', text: t('canvas.node.disabled')}) : null,
    pinned ? h(Badge, {key: 'pin', tone: 'pinned', icon: 'pin', text: t('canvas.node.pinned')}) : null,
  ].filter(Boolean);
  return marks.length || why ? div({className: 'canvas-outline-marks'}, marks, why ? span({className: 'canvas-outline-why'}, why) : null) : null;
}

/** @param {{id: string}} props */
function Problems({id}) {
  const problems = useStore((state) => problemsOf(state, id));
  if (!problems.length) return null;
  return ul(
    {className: 'canvas-outline-problems', 'aria-label': t('canvas.outline.problems', {id})},
    problems.map((problem, index) =>
      li(
        {key: index},
        button(
          {
            type: 'button',
            className: `canvas-outline-problem canvas-outline-${problem.severity}`,
            onClick: () => goTo({node: id, field: problem.field, line: problem.line, column: problem.column}),
          },
          h(Icon, {name: 'warning', size: 14}),
          span({className: 'visually-hidden'}, t(problem.severity === 'error' ? 'canvas.node.error' : 'canvas.node.warning'), ': '),
          span(null, problem.message),
        ),
      ),
    ),
  );
}

/** What can be done with the selected node. @param {{doc: Pipeline, node: PipelineNode, editable: boolean}} props */
function Details({doc, node, editable}) {
  const types = useStore((state) => state.nodeTypes);
  const title = titleOf(node, types);
  /** @param {string} id @param {import('../core/doc.js').PipelineNode[]} nodes */
  const name = (id, nodes = doc.nodes) => {
    const other = nodes.find((one) => one.id === id);
    return other ? `${titleOf(other, types)} (${id})` : id;
  };
  /** @param {'connect' | 'disconnect' | 'add' | 'failure' | 'holder'} kind @param {import('react').MouseEvent} event */
  const choose = (kind, event) => {
    const box = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
    openChooser({kind, at: {x: box.left, y: box.bottom + 4}, from: {node: node.id, port: kind === 'failure' ? ERROR_PORT : portsOfNode(node.id)[0], end: 'source'}});
  };
  return div(
    {className: 'canvas-outline-details'},
    h(Wires, {title: t('canvas.outline.before'), edges: doc.edges.filter((edge) => edge.to === node.id), label: (edge) => (portOf(edge) === 'done' ? name(edge.from) : `${name(edge.from)} · ${portTitle(portOf(edge))}`), editable}),
    h(Wires, {
      title: t('canvas.outline.after'),
      edges: doc.edges.filter((edge) => edge.from === node.id),
      label: (edge) => (portOf(edge) === 'done' ? name(edge.to) : `${portTitle(portOf(edge))} → ${name(edge.to)}`),
      editable,
    }),
    div(
      {className: 'canvas-outline-actions', role: 'group', 'aria-label': t('canvas.outline.actions', {title})},
      h(Small, {icon: 'settings', label: t('canvas.action.settings'), onClick: () => open(node.id)}),
      calledBy(types[node.type], node) ? h(Small, {icon: 'folder', label: t('canvas.action.openCalled'), onClick: () => void openCalled(node.id)}) : null,
      editable ? h(Small, {icon: 'arrowUp', label: t('canvas.outline.up'), disabled: !canMoveInOrder(doc, node.id, -1), onClick: () => moveInOrder(node.id, -1)}) : null,
      editable ? h(Small, {icon: 'arrowDown', label: t('canvas.outline.down'), disabled: !canMoveInOrder(doc, node.id, 1), onClick: () => moveInOrder(node.id, 1)}) : null,
      editable ? h(Small, {icon: 'add', label: t('canvas.menu.addAfter'), onClick: (event) => choose('add', event)}) : null,
      editable ? h(Small, {icon: 'link', label: t('canvas.action.connect'), onClick: (event) => choose('connect', event)}) : null,
      editable && portsOfNode(node.id).includes(ERROR_PORT) ? h(Small, {icon: 'warning', label: t('canvas.action.failure'), onClick: (event) => choose('failure', event)}) : null,
      editable && holdersFor().length ? h(Small, {icon: 'frame', label: t('canvas.action.putInto'), onClick: (event) => choose('holder', event)}) : null,
      editable && isHeld() ? h(Small, {icon: 'arrowLeft', label: t('canvas.action.takeOut'), onClick: () => putInto(null)}) : null,
      editable ? h(Small, {icon: 'answer', label: t('canvas.action.answer'), pressed: doc.answer === node.id, onClick: () => toggleAnswer(node.id)}) : null,
      editable ? h(Small, {icon: 'power', label: t('canvas.action.disable'), pressed: node.enabled === false, onClick: toggleSelection}) : null,
      editable ? h(Small, {icon: 'copy', label: t('canvas.action.duplicate'), onClick: duplicateSelection}) : null,
      editable ? h(Small, {icon: 'trash', label: t('canvas.action.delete'), onClick: () => deleteSelection()}) : null,
    ),
  );
}

/** @param {{icon: string, label: string, onClick: (event: any) => void, disabled?: boolean, pressed?: boolean}} props */
function Small({icon, label, onClick, disabled, pressed}) {
  return button(
    {type: 'button', className: 'button button-quiet button-icon', 'aria-label': label, title: label, 'aria-pressed': pressed, disabled, onClick},
    h(Icon, {name: icon}),
  );
}

/** @param {{title: string, edges: import('../core/doc.js').PipelineEdge[], label: (edge: import('../core/doc.js').PipelineEdge) => string, editable: boolean}} props */
function Wires({title, edges, label, editable}) {
  if (!edges.length) return null;
  return div(
    {className: 'canvas-outline-wires'},
    span({className: 'canvas-outline-wires-title'}, title),
    ul(
      {'aria-label': title},
      edges.map((edge) =>
        li(
          {key: edgeKey(edge)},
          span(null, label(edge)),
          editable ? h(Small, {icon: 'close', label: t('canvas.outline.cut', {name: label(edge)}), onClick: () => cutWire(edge)}) : null,
        ),
      ),
    ),
  );
}

/** Frames and notes, which have no place in the order. @param {{doc: Pipeline}} props */
function Drawn({doc}) {
  const frames = doc.view?.frames ?? [];
  const notes = doc.view?.notes ?? [];
  const selection = useStore((state) => activeTab(state)?.selection ?? NOTHING);
  if (!frames.length && !notes.length) return null;
  /** @param {'frames' | 'notes'} list @param {string} id @param {string} text @param {string} icon */
  const line = (list, id, text, icon) =>
    li(
      {key: `${list} ${id}`, className: classes('canvas-outline-item', selection[list].includes(id) && 'canvas-outline-selected')},
      button(
        {type: 'button', className: 'canvas-outline-main', 'aria-current': selection[list].includes(id) || undefined, onClick: () => select({[list]: [id]})},
        span({className: 'canvas-node-icon'}, h(Icon, {name: icon, size: 16})),
        span({className: 'canvas-outline-title'}, text),
      ),
    );
  return ul(
    {className: 'canvas-outline-list', 'aria-label': t('canvas.palette.drawing')},
    frames.map((frame) => line('frames', frame.id, frame.title || t('canvas.frame.untitled'), 'frame')),
    notes.map((note) => line('notes', note.id, note.text || t('canvas.note.empty'), 'note')),
  );
}
