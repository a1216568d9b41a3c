/** Very many things in the hand at once: the browser shifts what is drawn, and nothing is drawn anew until the hand lets go. */
import {edgeKey} from '../geometry.js';
import {shown} from '../stage.js';

/** @typedef {import('../geometry.js').Point} Point */

/** From so many things on; drawing fewer anew for each picture costs less than a picture's time. */
export const MANY = 60;

/** The elements that are shifted, while some are. @type {(HTMLElement | SVGElement)[] | null} */
let carried = null;

/**
 * Shift what is drawn of these things, and the wires among them; wires to others wait faintly where they were.
 * @param {ReadonlyMap<string, Point>} moving places by the canvas's ids
 * @param {import('../../core/doc.js').Pipeline} doc
 * @param {Point} by in canvas pixels, from where the document has them
 */
export function carry(moving, doc, by) {
  carried ??= lift(moving, doc);
  for (const element of carried) element.style.translate = `${by.x}px ${by.y}px`;
}

/** Let go: what is drawn stands where the document says. */
export function letGo() {
  for (const element of carried ?? []) element.style.translate = '';
  for (const edge of shown.element?.querySelectorAll('.canvas-edge-left') ?? []) edge.classList.remove('canvas-edge-left');
  carried = null;
}

/** @param {ReadonlyMap<string, Point>} moving @param {import('../../core/doc.js').Pipeline} doc */
function lift(moving, doc) {
  const nodes = /** @type {HTMLElement[]} */ ([...(shown.element?.querySelectorAll('.react-flow__node') ?? [])]);
  const found = nodes.filter((node) => moving.has(node.dataset.id ?? ''));
  // Where everything moves, two layers are shifted instead of thousands of elements.
  if (found.length === nodes.length && doc.nodes.every((node) => moving.has(node.id)))
    return /** @type {HTMLElement[]} */ ([...(shown.element?.querySelectorAll('.react-flow__nodes, .react-flow__edges') ?? [])]);
  const edges = new Map(doc.edges.map((edge) => [edgeKey(edge), edge]));
  /** @type {(HTMLElement | SVGElement)[]} */
  const wires = [];
  for (const element of /** @type {SVGElement[]} */ ([...(shown.element?.querySelectorAll('.react-flow__edge') ?? [])])) {
    const edge = edges.get(element.dataset.id ?? '');
    const ends = edge ? [edge.from, edge.to].filter((id) => moving.has(id)).length : 0;
    if (ends === 2) wires.push(element);
    else if (ends === 1) element.classList.add('canvas-edge-left');
  }
  return [...found, ...wires];
}
