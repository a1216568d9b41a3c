/** A wire: `to` runs after `from`. Its two buttons appear where it is pointed at or selected. */
import {classes, Flow, h, memo, tags, useState} from '../h.js';
import {portOf} from '../core/doc.js';
import {ERROR_PORT} from '../core/ports.js';
import {useStore} from '../state/store.js';
import {t} from '../words.js';
import {canChange} from './editing/front.js';
import {cutWire} from './editing/wires.js';
import {HANDLE} from './geometry.js';
import {nodeRun} from './nodestate.js';
import {openChooser} from './stage.js';

/** @typedef {import('../core/doc.js').NodeRun} NodeRun */

const {circle, g, path, title} = tags;
/** The dot of a handle is smaller than its box; the wire ends at the dot. */
const INSET = HANDLE / 2 - 4;
const BUTTON_GAP = 14;

/** @param {import('../h.js').Flow.EdgeProps & {data?: any}} props */
function PipeEdgeView({sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition, selected, source, target, data}) {
  const [pointed, setPointed] = useState(false);
  const way = useStore((state) => wayOf(nodeRun(state, source), nodeRun(state, target), portOf(data.edge)));
  const from = {sourceX: sourceX - INSET, sourceY, sourcePosition};
  const to = {targetX: targetX + INSET, targetY, targetPosition};
  const [line, x, y] = Flow.getBezierPath({...from, ...to, curvature: 0.3});
  return g(
    {
      className: classes('canvas-wire', data.isStray && 'canvas-wire-stray', portOf(data.edge) === ERROR_PORT && 'canvas-wire-error', selected && 'canvas-wire-selected', way && `canvas-wire-${way}`),
      onMouseEnter: () => setPointed(true),
      onMouseLeave: () => setPointed(false),
    },
    h(Flow.BaseEdge, {path: line, interactionWidth: 24}),
    path({className: 'canvas-wire-tip', d: `M${to.targetX - 7} ${targetY - 4.5}L${to.targetX - 0.5} ${targetY}L${to.targetX - 7} ${targetY + 4.5}`}),
    (pointed || selected) && canChange() ? h(EdgeButtons, {x, y, edge: data.edge}) : null,
  );
}

export const PipeEdge = memo(PipeEdgeView);

/**
 * What became of a wire in a run.
 * @param {NodeRun | null} from
 * @param {NodeRun | null} to
 * @param {string} port
 */
function wayOf(from, to, port) {
  if (!from || !to || !isLeftBy(from, port)) return null;
  return to.state === 'running' ? 'busy' : to.state === 'skipped' ? null : 'taken';
}

/** Whether a node was left by this port. @param {NodeRun} run @param {string} port */
function isLeftBy(run, port) {
  const hasLeft = run.state === 'finished' || run.state === 'pinned' || (run.state === 'failed' && run.continued);
  return hasLeft && (run.port === null ? port !== ERROR_PORT : port === run.port);
}

/**
 * For the pointer only: by keyboard the same is in the menus of the nodes and in the outline.
 * @param {{x: number, y: number, edge: import('../core/doc.js').PipelineEdge}} props
 */
function EdgeButtons({x, y, edge}) {
  return g(
    {className: 'canvas-wire-buttons nodrag nopan', 'aria-hidden': true},
    h(EdgeButton, {
      x: x - BUTTON_GAP,
      y,
      name: 'insert',
      label: t('canvas.edge.insert'),
      d: 'M-4 0H4M0 -4V4',
      onClick: (event) =>
        openChooser({kind: 'add', at: {x: event.clientX, y: event.clientY}, position: {x, y}, edge}),
    }),
    h(EdgeButton, {x: x + BUTTON_GAP, y, name: 'cut', label: t('canvas.edge.delete'), d: 'M-3.500 -3.500L3.500 3.500M3.500 -3.500L-3.500 3.500', onClick: () => cutWire(edge)}),
  );
}

/** @param {{x: number, y: number, name: string, label: string, d: string, onClick: (event: import('react').MouseEvent) => void}} props */
function EdgeButton({x, y, name, label, d, onClick}) {
  return g(
    {
      className: `canvas-wire-button canvas-wire-${name}`,
      transform: `translate(${x} ${y})`,
      'data-t': `edge-${name}`,
      onClick: (event) => {
        event.stopPropagation();
        onClick(event);
      },
    },
    title(null, label),
    circle({r: 12}),
    path({d}),
  );
}
