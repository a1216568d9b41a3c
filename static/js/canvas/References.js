/**
 * Who reads whose OUT: thin dotted lines beside the wires. They give no order and cannot be selected; a node's are shown while it
 * is selected or pointed at, or all of them at the user's wish.
 */
import {Flow, h, memo, tags, useMemo} from '../h.js';
import {references} from '../core/graph.js';
import {useStore} from '../state/store.js';
import {NODE_WIDTH, NODE_HEIGHT} from './geometry.js';
import {useStage} from './stage.js';

const {path, svg} = tags;

/** @param {{doc: import('../core/doc.js').Pipeline, selected: readonly string[]}} props */
export function References({doc, selected}) {
  const all = useStore((state) => state.view.allReferences);
  const hovered = useStage((stage) => stage.hovered);
  const known = useMemo(() => pairs(doc), [doc]);
  const near = new Set(hovered ? [...selected, hovered] : selected);
  const drawn = all ? known : known.filter(({from, to}) => near.has(from) || near.has(to));
  if (!drawn.length) return null;
  return h(
    Flow.ViewportPortal,
    null,
    svg(
      {className: 'canvas-references', 'aria-hidden': true, width: 1, height: 1},
      drawn.map(({from, to}) => h(Reference, {key: `${from}>${to}`, from, to})),
    ),
  );
}

/** Each pair of nodes once. @param {import('../core/doc.js').Pipeline} doc */
function pairs(doc) {
  const ids = new Set(doc.nodes.map((node) => node.id));
  const seen = new Map();
  for (const {from, to} of references(doc)) if (ids.has(from) && ids.has(to) && from !== to) seen.set(`${from}>${to}`, {from, to});
  return /** @type {{from: string, to: string}[]} */ ([...seen.values()]);
}

/** Follows its two nodes while they move. */
const Reference = memo((/** @type {{from: string, to: string}} */ {from, to}) => {
  const source = Flow.useInternalNode(from);
  const target = Flow.useInternalNode(to);
  if (!source || !target) return null;
  const a = foot(source, 0.75);
  const b = foot(target, 0.25);
  const sag = Math.min(90, 34 + Math.abs(b.x - a.x) / 8);
  const d = `M${a.x} ${a.y}C${a.x} ${a.y + sag} ${b.x} ${b.y + sag} ${b.x} ${b.y}`;
  return path({className: 'canvas-reference', d, 'data-t': `reference-${from}-${to}`});
});

/** @param {import('../h.js').Flow.InternalNode} node @param {number} share of its width */
function foot(node, share) {
  const {x, y} = node.internals.positionAbsolute;
  return {x: x + (node.measured.width ?? NODE_WIDTH) * share, y: y + (node.measured.height ?? NODE_HEIGHT)};
}
