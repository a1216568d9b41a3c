/** A node on the canvas: what it is, what it will do, and what the viewed run made of it. */
import {classes, Flow, h, memo, React, tags} from '../h.js';
import {portTitle, skipReason} from '../state/portwords.js';
import {useStore} from '../state/store.js';
import {activeTab, docOf} from '../state/tabs.js';
import {Button} from '../ui/buttons.js';
import {Icon} from '../ui/icons.js';
import {t} from '../words.js';
import {nodeHeight, portY} from './geometry.js';
import {calledBy, openCalled} from './calls.js';
import {nameOf} from './editing/front.js';
import {hasAnswered, mayAnswer, nodeRun, problemsOf, stateOf, timesRun} from './nodestate.js';
import {summaryOf, titleOf} from './summary.js';

/** @typedef {import('../core/doc.js').PipelineNode} PipelineNode */
/** @typedef {import('../core/doc.js').NodeType} NodeType */
/** @typedef {import('./geometry.js').Port} Port */
/**
 * @typedef {{node: PipelineNode, type: NodeType | undefined, ports: Port[], holds: boolean, head: number}} PipeData
 * `holds`: it has a body; `head`: how high the part above the body is
 */

const {div, span} = tags;

/** A node's border: handles are placed within it. */
const BORDER = 1;
/** How far above the end of a head its badges begin. */
const HEAD_BADGES = 24;

/** True while the canvas is so far away that letters cannot be read: nodes are plain boxes then. */
export const Far = React.createContext(false);

/** @param {{id: string, data: PipeData, selected: boolean, isConnectable: boolean}} props */
function PipeNodeView({id, data: {node, type, ports, holds, head}, selected, isConnectable}) {
  const far = React.useContext(Far);
  const run = useStore((state) => nodeRun(state, id));
  const problems = useStore((state) => problemsOf(state, id));
  const tone = run ? stateOf(run, 'en').tone : null;
  const worst = problems[0]?.severity;
  return div(
    {
      className: classes(
        'canvas-node',
        holds && 'canvas-node-holder',
        selected && 'canvas-node-selected',
        node.enabled === false && 'canvas-node-off',
        tone && `canvas-node-${tone}`,
        worst && `canvas-node-${worst}`,
      ),
      'data-category': type?.category ?? 'unknown',
    },
    far ? null : h(Ports, {id, ports, isConnectable}),
    far && !holds ? null : h(Face, {node, type, head: holds ? head : undefined}),
    holds ? h(Body, {id}) : null,
    far ? null : h(Badges, {id, node, problems, run, head: holds ? head : undefined}),
  );
}

/** Drawn anew only when what it shows changes; where it stands is React Flow's matter. */
export const PipeNode = memo(
  PipeNodeView,
  (a, b) => a.data === b.data && a.selected === b.selected && a.isConnectable === b.isConnectable,
);

/** What stands below the head of a node with a body, while nothing stands in it. @param {{id: string}} props */
function Body({id}) {
  const isEmpty = useStore((state) => {
    const tab = activeTab(state);
    return tab !== null && !docOf(tab).nodes.some((node) => node.parent === id);
  });
  return isEmpty ? div({className: 'canvas-node-body'}, t('canvas.body.empty')) : null;
}

/** @param {{node: PipelineNode, type: NodeType | undefined, head?: number}} props `head`: how high it is, where a body follows */
function Face({node, type, head}) {
  // Read for their own sake: the words and the other types' titles change with the language.
  const types = useStore((state) => state.nodeTypes);
  useStore((state) => state.view.words);
  const title = titleOf(node, types);
  const called = calledBy(type, node);
  const summary = type ? summaryOf(type, node.config ?? {}) : t('canvas.node.unknownType', {type: node.type});
  return div(
    {className: 'canvas-node-face', style: head === undefined ? undefined : {height: head}},
    span({className: 'canvas-node-icon'}, h(Icon, {name: type?.icon ?? 'help', size: 20})),
    div(
      {className: 'canvas-node-words'},
      div({className: 'canvas-node-title', title}, title),
      div({className: 'canvas-node-line', title: summary || undefined}, span({className: 'canvas-node-id'}, node.id), summary ? ` ${summary}` : ''),
    ),
    called === null ? null : h(Button, {label: t('canvas.node.openCalled', {pipeline: called}), icon: 'folder', iconOnly: true, tone: 'quiet', className: 'canvas-node-open nodrag nopan', onClick: () => void openCalled(node.id)}),
  );
}

/** @param {{id: string, node: PipelineNode, problems: readonly import('../core/doc.js').Problem[], run: import('../core/doc.js').NodeRun | null, head?: number}} props `head`: as of a face */
function Badges({id, node, problems, run, head}) {
  const locale = useStore((state) => state.view.locale);
  const answers = useStore((state) => mayAnswer(state, id));
  const answered = useStore((state) => hasAnswered(state, id));
  const times = useStore((state) => timesRun(state, id));
  const pinned = useStore((state) => {
    const tab = activeTab(state);
    return Boolean(tab && Object.hasOwn(tab.pins, id));
  });
  const isOff = node.enabled === false;
  // That a disabled node was skipped need not be said twice.
  const state = run && !(isOff && run.state === 'skipped') ? stateOf(run, locale) : null;
  return div(
    {className: 'canvas-badges', style: head === undefined ? undefined : {top: head - HEAD_BADGES, bottom: 'auto'}},
    state ? h(Badge, {...state, title: run ? skipReason(run, nameOf) || undefined : undefined}) : null,
    times > 1 ? h(Badge, {tone: 'times', text: `×${times}`, spoken: t('canvas.node.times', {n: times})}) : null,
    pinned && run?.state !== 'pinned' ? h(Badge, {tone: 'pinned', icon: 'pin', text: t('canvas.node.pinned')}) : null,
    isOff ? h(Badge, {tone: 'off', icon: 'power', text: t('canvas.node.disabled')}) : null,
    span({className: 'canvas-badges-gap'}),
    answers || answered ? h(Badge, {tone: answered ? 'answered' : 'answer', icon: 'answer', text: t(answered ? 'canvas.node.answered' : 'canvas.node.answers'), isShort: state !== null}) : null,
    problems.length ? h(ProblemBadge, {problems}) : null,
  );
}

/** @param {{problems: readonly import('../core/doc.js').Problem[]}} props */
function ProblemBadge({problems}) {
  const errors = problems.filter((problem) => problem.severity === 'error').length;
  return h(Badge, {
    tone: errors ? 'error' : 'warning',
    icon: 'warning',
    text: String(problems.length),
    title: problems.map((problem) => problem.message).join('\n'),
    spoken: t(errors ? 'canvas.node.errors' : 'canvas.node.warnings'),
  });
}

/**
 * A small mark with a picture and a text.
 * @param {{tone: string, icon?: string, text: string, title?: string, spoken?: string, isShort?: boolean}} props `spoken`: said before the text;
 *   `isShort`: only the picture is seen, for want of room
 */
export function Badge({tone, icon, text, title, spoken, isShort = false}) {
  return span(
    {className: `canvas-badge canvas-badge-${tone}`, title: title ?? (isShort ? text : undefined)},
    icon ? h(Icon, {name: icon, size: 12}) : null,
    spoken ? span({className: 'visually-hidden'}, `${spoken} `) : null,
    span({className: isShort ? 'visually-hidden' : 'canvas-badge-text'}, text),
  );
}

/** @param {{id: string, ports: Port[], isConnectable: boolean}} props */
function Ports({id, ports, isConnectable}) {
  const named = ports.length > 1 || ports[0].name !== 'done';
  return [
    h(Flow.Handle, {
      key: 'in',
      type: 'target',
      position: Flow.Position.Left,
      style: {top: nodeHeight(ports.length) / 2 - BORDER},
      isConnectable,
      className: 'canvas-handle',
      role: 'button',
      'aria-label': t('canvas.handle.in', {id}),
    }),
    ...ports.map(({name, kind}, index) =>
      h(
        Flow.Handle,
        {
          key: `out ${name}`,
          type: 'source',
          id: name,
          position: Flow.Position.Right,
          // A port that is not there loses its wires and gets no new ones.
          isConnectable: isConnectable && kind !== 'stray',
          // Beside each other they must not reach into one another.
          className: classes('canvas-handle', `canvas-handle-${kind}`, ports.length > 1 && 'canvas-handle-many'),
          style: {top: portY(index, ports.length) - BORDER},
          role: 'button',
          'aria-label': t(kind === 'stray' ? 'canvas.handle.stray' : 'canvas.handle.out', {id, port: name === 'done' ? name : portTitle(name)}),
        },
        named ? span({className: 'canvas-port-name', title: kind === 'stray' ? t('canvas.port.stray') : undefined, 'aria-hidden': true}, portTitle(name)) : null,
      ),
    ),
  ];
}
