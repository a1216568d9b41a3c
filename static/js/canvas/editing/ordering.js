/** The order of nodes: going along the wires, and moving a node among those that no wire ties to it. */
import {outline} from '../../core/bodies.js';
import {setDocument} from '../../core/commands.js';
import {order} from '../../core/graph.js';
import {levels, parents} from '../../core/holders.js';
import {announce} from '../../state/notices.js';
import {edit, select} from '../../state/tabs.js';
import {t} from '../../words.js';
import {frontDoc, nameOf, selectionOf} from './front.js';

/** @typedef {import('../../core/doc.js').Pipeline} Pipeline */

/**
 * Go along the wires: the first node after the selected one, or before it; round the siblings when asked again.
 * @param {1 | -1} direction
 * @returns {string | null} where we are now
 */
export function walk(direction) {
  const doc = frontDoc();
  if (!doc?.nodes.length) return null;
  const [here] = selectionOf().nodes.slice(-1);
  const next = here ? neighbour(doc, here, direction) : order(doc)[direction === 1 ? 0 : doc.nodes.length - 1];
  if (!next) {
    announce(t(direction === 1 ? 'canvas.said.lastNode' : 'canvas.said.firstNode'));
    return here;
  }
  select({nodes: [next]});
  announce(t('canvas.said.at', {title: nameOf(next), id: next}));
  return next;
}

/** @param {Pipeline} doc @param {string} here @param {1 | -1} direction */
function neighbour(doc, here, direction) {
  const edge = doc.edges.find((one) => (direction === 1 ? one.from : one.to) === here);
  return edge && (direction === 1 ? edge.to : edge.from);
}

/**
 * Move a node one place in the order in which nodes run that are not tied by wires.
 * @param {string} id
 * @param {1 | -1} direction
 * @returns {boolean} false where a wire or the end of the list forbids it
 */
export function moveInOrder(id, direction) {
  const doc = frontDoc();
  if (!doc || !canMoveInOrder(doc, id, direction)) return false;
  edit('canvas.did.order', (before) => {
    const other = neighbourInOrder(before, id, direction);
    const ids = outline(before).map((line) => line.id);
    const [at, to] = [ids.indexOf(id), ids.indexOf(other ?? id)];
    [ids[at], ids[to]] = [ids[to], ids[at]];
    const byId = new Map(before.nodes.map((node) => [node.id, node]));
    return setDocument(before, {nodes: ids.flatMap((one) => byId.get(one) ?? [])});
  });
  announce(t(direction === 1 ? 'canvas.said.movedDown' : 'canvas.said.movedUp', {title: nameOf(id)}));
  return true;
}

/** @param {Pipeline} doc @param {string} id @param {1 | -1} direction */
export function canMoveInOrder(doc, id, direction) {
  const other = neighbourInOrder(doc, id, direction);
  if (other === undefined || new Set(doc.nodes.map((node) => node.id)).size !== doc.nodes.length) return false;
  return !doc.edges.some((edge) => (edge.from === id && edge.to === other) || (edge.from === other && edge.to === id));
}

/** The node beside which one runs that stands in the same body. @param {Pipeline} doc @param {string} id @param {1 | -1} direction */
function neighbourInOrder(doc, id, direction) {
  const level = levels(doc).get(parents(doc).get(id) ?? null);
  const ids = level ? order(level) : [];
  return ids.includes(id) ? ids[ids.indexOf(id) + direction] : undefined;
}
