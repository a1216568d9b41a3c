/** Nodes go into the bodies of others and out again, by menu and by key. */
import {setParent} from '../core/bodies.js';
import {moveNodes} from '../core/commands.js';
import {BODY_MARGIN} from '../core/graph.js';
import {levels, parents, withBodies} from '../core/holders.js';
import {announce} from '../state/notices.js';
import {store} from '../state/store.js';
import {edit} from '../state/tabs.js';
import {t} from '../words.js';
import {frontDoc, nameOf, selectionOf} from './editing/front.js';
import {around, GRID, isHolder, nodeRects, snapped} from './geometry.js';
import {headHeight, movedWithBodies, withHolders} from './holding.js';

/** @typedef {import('../core/doc.js').Pipeline} Pipeline */
/** @typedef {import('../core/doc.js').PipelineNode} PipelineNode */
/** @typedef {import('./geometry.js').Point} Point */
/** @typedef {import('./geometry.js').Rect} Rect */

/**
 * The nodes with bodies that the selected nodes can be put into.
 * @returns {PipelineNode[]}
 */
export function holdersFor() {
  const doc = frontDoc();
  if (!doc) return [];
  const types = store.get().nodeTypes;
  const chosen = withBodies(doc, selectionOf().nodes);
  const now = new Set(selectionOf().nodes.map((id) => parents(doc).get(id)));
  return doc.nodes.filter((node) => isHolder(types[node.type]) && !chosen.has(node.id) && !(now.size === 1 && now.has(node.id)));
}

/** Put the selected nodes into a body, below what is there, or take them out beside it. @param {string | null} holder */
export function putInto(holder) {
  const {nodes} = selectionOf();
  const types = store.get().nodeTypes;
  const done = edit(holder === null ? 'canvas.did.takeOut' : 'canvas.did.putInto', (doc) => {
    const rects = nodeRects(doc, types);
    const chosen = withBodies(doc, nodes);
    // Of what stands in a body that is taken along, only the holder changes its place.
    const roots = nodes.filter((id) => ![...withHolders(doc, parents(doc).get(id) ?? null)].some((one) => chosen.has(one)));
    const box = around(roots.flatMap((id) => rects.get(id) ?? []));
    if (!box) return doc;
    const place = holder === null ? beside(doc, rects, roots, box) : within(doc, rects, holder, chosen);
    if (!place) return doc;
    const corners = roots.flatMap((id) => {
      const rect = rects.get(id);
      return rect ? [[id, {x: rect.x + place.x - box.x, y: rect.y + place.y - box.y}]] : [];
    });
    return setParent(moveNodes(doc, movedWithBodies(doc, types, Object.fromEntries(corners))), roots, holder);
  });
  if (!done) return;
  announce(holder === null ? t('canvas.said.takenOut', {n: nodes.length}) : t('canvas.said.putInto', {n: nodes.length, holder: nameOf(holder)}));
}

/**
 * Where things go that come into a body: below what stands in it.
 * @param {Pipeline} doc
 * @param {Map<string, Rect>} rects
 * @param {string} holder
 * @param {ReadonlySet<string>} coming
 * @returns {Point | null}
 */
function within(doc, rects, holder, coming) {
  const node = doc.nodes.find((one) => one.id === holder);
  const rect = rects.get(holder);
  if (!node || !rect) return null;
  const inside = around((levels(doc).get(holder)?.nodes ?? []).flatMap(({id}) => (coming.has(id) ? [] : (rects.get(id) ?? []))));
  const head = headHeight(doc, store.get().nodeTypes, node);
  return inside ? {x: inside.x, y: inside.y + inside.height + 2 * GRID} : snapped({x: rect.x + BODY_MARGIN, y: rect.y + head + BODY_MARGIN});
}

/**
 * Where things go that leave a body: below the outermost of what they stand in.
 * @param {Pipeline} doc
 * @param {Map<string, Rect>} rects
 * @param {string[]} nodes
 * @param {Rect} box around them
 * @returns {Point | null}
 */
function beside(doc, rects, nodes, box) {
  const outer = [...withHolders(doc, parents(doc).get(nodes[0]) ?? null)].at(-1);
  const rect = outer === undefined ? undefined : rects.get(outer);
  return rect ? {x: box.x, y: rect.y + rect.height + 2 * GRID} : null;
}

/** Whether one of the selected nodes stands in a body. */
export function isHeld() {
  const doc = frontDoc();
  return doc !== null && selectionOf().nodes.some((id) => parents(doc).has(id));
}
