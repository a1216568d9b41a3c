// The order that edges give: what comes before what, who answers, where the nodes stand.
//
// Every function is linear in nodes and edges unless it says otherwise. Edges that lead nowhere are passed over.

import {edgesOf, isEnabled, isPosition, nodesOf, portOf} from './doc.js';
import {levels, parents} from './holders.js';
import {referencesIn} from './macros.js';
import {textsOf} from './texts.js';

/** @typedef {import('./doc.js').Pipeline} Pipeline */
/** @typedef {import('./doc.js').Position} Position */
/** @typedef {import('./doc.js').Size} Size */
/** @typedef {import('./doc.js').Rectangle} Rectangle */

/**
 * A node reads the OUT of another: `to` reads `from`, in `field`.
 * @typedef {{from: string, to: string, field: string}} Reference
 */

/**
 * Neighbours by id.
 * @typedef {Map<string, string[]>} Neighbours
 */

/** What a node takes on the canvas where nobody has measured it. */
export const DEFAULT_SIZE = {width: 220, height: 96};

/** What stands in a body keeps so far from its border, in pixels of the canvas. */
export const BODY_MARGIN = 30;

const GAP_X = 90;
const GAP_Y = 40;
const SWEEPS = 4;

/**
 * Who follows whom, or with `backwards` who comes before whom. Parallel edges count once.
 * @param {Pipeline} document
 * @param {{backwards?: boolean}} [options]
 * @returns {Neighbours}
 */
function neighbours(document, {backwards = false} = {}) {
  /** @type {Map<string, Set<string>>} */
  const sets = new Map(nodesOf(document).map((node) => [node.id, new Set()]));
  for (const edge of edgesOf(document)) {
    if (!sets.has(edge.from) || !sets.has(edge.to)) continue;
    if (backwards) sets.get(edge.to)?.add(edge.from);
    else sets.get(edge.from)?.add(edge.to);
  }
  return new Map([...sets].map(([id, others]) => [id, [...others]]));
}

/**
 * Everything that is reached from a node, without the node itself unless it lies in a cycle.
 * @param {Neighbours} next
 * @param {string} id
 * @returns {Set<string>}
 */
function reach(next, id) {
  /** @type {Set<string>} */
  const reached = new Set();
  const waiting = [...(next.get(id) ?? [])];
  for (let here = waiting.pop(); here !== undefined; here = waiting.pop()) {
    if (reached.has(here)) continue;
    reached.add(here);
    waiting.push(...(next.get(here) ?? []));
  }
  return reached;
}

/**
 * The nodes that run before a node, near or far: those whose OUT it may read. In a body these are also those that run before
 * the node that holds it.
 * @param {Pipeline} document
 * @param {string} id
 * @returns {Set<string>}
 */
export function upstream(document, id) {
  const before = neighbours(document, {backwards: true});
  const found = reach(before, id);
  const holders = parents(document);
  for (let at = holders.get(id); at !== undefined; at = holders.get(at)) for (const one of reach(before, at)) found.add(one);
  return found;
}

/**
 * The nodes that wait for a node, near or far.
 * @param {Pipeline} document
 * @param {string} id
 * @returns {Set<string>}
 */
export function downstream(document, id) {
  return reach(neighbours(document), id);
}

/**
 * The cycle that an edge would close, as the ids along it: the edge's own beginning first and last (`['n2', 'n3', 'n2']` for
 * n2 -> n3 where n3 -> n2 is there). Null where it closes none.
 * @param {Pipeline} document
 * @param {{from: string, to: string}} edge
 * @returns {string[] | null}
 */
export function wouldCycle(document, edge) {
  if (edge.from === edge.to) return [edge.from, edge.to];
  const next = neighbours(document);
  /** @type {Map<string, string | null>} */
  const cameFrom = new Map([[edge.to, null]]);
  const waiting = [edge.to];
  for (let at = 0; at < waiting.length; at += 1) {
    const here = waiting[at];
    for (const other of next.get(here) ?? []) {
      if (cameFrom.has(other)) continue;
      cameFrom.set(other, here);
      if (other === edge.from) return cyclePath(cameFrom, edge.from);
      waiting.push(other);
    }
  }
  return null;
}

/**
 * @param {Map<string, string | null>} cameFrom
 * @param {string} last
 * @returns {string[]}
 */
function cyclePath(cameFrom, last) {
  const path = [last];
  for (let here = cameFrom.get(last); here != null; here = cameFrom.get(here)) path.push(here);
  return [last, ...path.reverse()];
}

/**
 * A cycle of the document as the ids along it, each once; null where it has none.
 * @param {Pipeline} document
 * @returns {string[] | null}
 */
export function findCycle(document) {
  const before = neighbours(document, {backwards: true});
  const inCycles = new Set(nodesOf(document).map((node) => node.id));
  for (const id of sorted(document)) inCycles.delete(id);
  const [first] = inCycles;
  if (first === undefined) return null;
  // Whoever could not be sorted waits for somebody who could not: walking back must come round.
  /** @type {string[]} */
  const path = [];
  const seen = new Map();
  for (let here = first; !seen.has(here);) {
    seen.set(here, path.length);
    path.push(here);
    const waitsFor = (before.get(here) ?? []).find((id) => inCycles.has(id));
    if (waitsFor === undefined) return null;
    here = waitsFor;
    if (seen.has(here)) return path.slice(seen.get(here)).reverse();
  }
  return null;
}

/**
 * The ids in an order in which they could run: of those that are ready the one that stands first in the document, as the
 * server does. Nodes in cycles come last, in the document's order.
 * @param {Pipeline} document
 * @returns {string[]}
 */
export function order(document) {
  const ready = sorted(document);
  const placed = new Set(ready);
  const rest = nodesOf(document)
    .map((node) => node.id)
    .filter((id) => !placed.has(id));
  return [...ready, ...new Set(rest)];
}

/**
 * A topological order without the nodes that cannot be sorted. n log n for the waiting list.
 * @param {Pipeline} document
 * @returns {string[]}
 */
function sorted(document) {
  const next = neighbours(document);
  const ids = [...next.keys()];
  const rank = new Map(ids.map((id, index) => [id, index]));
  const waits = new Map(ids.map((id) => [id, 0]));
  for (const others of next.values()) {
    for (const id of others) waits.set(id, (waits.get(id) ?? 0) + 1);
  }
  const ready = new RankHeap();
  for (const id of ids) if (waits.get(id) === 0) ready.push(/** @type {number} */ (rank.get(id)));
  /** @type {string[]} */
  const result = [];
  for (let at = ready.pop(); at !== undefined; at = ready.pop()) {
    const id = ids[at];
    result.push(id);
    for (const other of next.get(id) ?? []) {
      const left = (waits.get(other) ?? 0) - 1;
      waits.set(other, left);
      if (left === 0) ready.push(/** @type {number} */ (rank.get(other)));
    }
  }
  return result;
}

/** A binary heap of numbers, the smallest first. */
class RankHeap {
  /** @type {number[]} */
  #items = [];

  /** @param {number} item */
  push(item) {
    const items = this.#items;
    let at = items.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (items[parent] <= item) break;
      items[at] = items[parent];
      at = parent;
    }
    items[at] = item;
  }

  /** @returns {number | undefined} */
  pop() {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return first;
    let at = 0;
    for (let child = 1; child < items.length; child = 2 * at + 1) {
      if (child + 1 < items.length && items[child + 1] < items[child]) child += 1;
      if (items[child] >= last) break;
      items[at] = items[child];
      at = child;
    }
    items[at] = last;
    return first;
  }
}

/**
 * What templates read: one entry for each node and field that reads another node's OUT, also of nodes that are not there.
 * `[[OUT1]]` is a reference to node `n1`, or to node `1` where there is no `n1`.
 * @param {Pipeline} document
 * @returns {Reference[]}
 */
export function references(document) {
  const ids = new Set(nodesOf(document).map((node) => node.id));
  /** @type {Reference[]} */
  const found = [];
  for (const node of nodesOf(document)) {
    for (const {text, field, language} of textsOf(node)) {
      for (const id of referencesIn(text, language, ids)) found.push({from: id, to: node.id, field});
    }
  }
  return found;
}

/**
 * The node that answers: the one named, else the only enabled one that nothing follows; null where that is nobody or several.
 * @param {Pipeline} document
 * @returns {string | null}
 */
export function answerOf(document) {
  const all = answersOf(document);
  return all.length === 1 ? all[0] : null;
}

/**
 * The nodes that may answer: the one named, else the enabled ones that nothing follows unless they fail, and that stand in no
 * body. Whether several of them exclude each other is for the server to say.
 * @param {Pipeline} document
 * @returns {string[]}
 */
export function answersOf(document) {
  if (document.answer != null) return nodesOf(document).flatMap(({id}) => (id === document.answer ? [id] : []));
  const ids = new Set(nodesOf(document).map((node) => node.id));
  const goOn = new Set(edgesOf(document).flatMap((edge) => (portOf(edge) !== 'error' && ids.has(edge.to) ? [edge.from] : [])));
  const holders = parents(document);
  return nodesOf(document).flatMap((node) => (isEnabled(node) && !holders.has(node.id) && !goOn.has(node.id) ? [node.id] : []));
}

/**
 * Places for all nodes, from left to right: each in the column behind the longest way to it, in a column so that few edges
 * cross (barycentres, some sweeps in both directions). No two nodes overlap. The upper left corner of what is there now stays.
 * Bodies are arranged first, and their nodes stand below the head of what holds them.
 * @param {Pipeline} document
 * @param {{[id: string]: Size | undefined}} [sizes] as measured; others count as DEFAULT_SIZE
 * @param {{[id: string]: number | undefined}} [heads] how high the heads of those are that hold bodies
 * @returns {{[id: string]: Position}}
 */
export function layout(document, sizes = {}, heads = {}) {
  const all = levels(document);
  if (all.size === 1) return arranged(document, sizes);
  /** @type {Map<string, Position>} */
  const places = new Map();
  const held = parents(document);
  /**
   * Arrange a level with all below it; its corner stays where it was.
   * @param {string | null} holder
   * @returns {Rectangle | null} around it
   */
  const settle = (holder) => {
    const level = all.get(holder);
    if (!level) return null;
    /** @type {Map<string, Rectangle>} */
    const inner = new Map();
    const measured = {...sizes};
    for (const {id} of level.nodes) {
      const body = settle(id);
      if (!body) continue;
      inner.set(id, body);
      const head = heads[id] ?? DEFAULT_SIZE.height;
      measured[id] = {
        width: Math.max(sizeOf({}, id).width, body.width + 2 * BODY_MARGIN),
        height: head + body.height + 2 * BODY_MARGIN,
      };
    }
    const own = new Map(Object.entries(arranged(level, measured)));
    for (const [id, body] of inner) {
      const corner = own.get(id) ?? {x: 0, y: 0};
      const by = {x: corner.x + BODY_MARGIN - body.x, y: corner.y + (heads[id] ?? DEFAULT_SIZE.height) + BODY_MARGIN - body.y};
      for (const [child, at] of places) if (isHeldBy(held, child, id)) places.set(child, {x: at.x + by.x, y: at.y + by.y});
    }
    for (const [id, at] of own) places.set(id, at);
    const boxes = [...own].map(([id, at]) => ({...at, ...sizeOf(measured, id)}));
    const x = Math.min(...boxes.map((box) => box.x));
    const y = Math.min(...boxes.map((box) => box.y));
    return {
      x,
      y,
      width: Math.max(...boxes.map((box) => box.x + box.width)) - x,
      height: Math.max(...boxes.map((box) => box.y + box.height)) - y,
    };
  };
  settle(null);
  return Object.fromEntries(places);
}

/**
 * Whether a node stands in the body of another, near or far.
 * @param {ReadonlyMap<string, string>} holders
 * @param {string} id
 * @param {string} holder
 * @returns {boolean}
 */
function isHeldBy(holders, id, holder) {
  for (let at = holders.get(id); at !== undefined; at = holders.get(at)) if (at === holder) return true;
  return false;
}

/**
 * Places for nodes that stand beside each other.
 * @param {Pipeline} document
 * @param {{[id: string]: Size | undefined}} sizes
 * @returns {{[id: string]: Position}}
 */
function arranged(document, sizes) {
  const next = neighbours(document);
  const before = neighbours(document, {backwards: true});
  const columns = columnsOf(order(document), before);
  reduceCrossings(columns, before, next);
  return place(columns, before, sizes, cornerOf(document));
}

/**
 * The nodes by column.
 * @param {string[]} ids in their order
 * @param {Neighbours} before
 * @returns {string[][]}
 */
function columnsOf(ids, before) {
  /** @type {Map<string, number>} */
  const depth = new Map();
  for (const id of ids) {
    let deepest = -1;
    // In a cycle somebody comes first; those that are not placed yet do not count.
    for (const other of before.get(id) ?? []) deepest = Math.max(deepest, depth.get(other) ?? -1);
    depth.set(id, deepest + 1);
  }
  /** @type {string[][]} */
  const columns = [];
  for (const [id, column] of depth) (columns[column] ??= []).push(id);
  return columns;
}

/**
 * Sort every column by the mean place of the neighbours in the columns beside it; in place.
 * @param {string[][]} columns
 * @param {Neighbours} before
 * @param {Neighbours} next
 */
function reduceCrossings(columns, before, next) {
  /** @type {Map<string, number>} */
  const rank = new Map();
  /** @param {string[]} column */
  const note = (column) => column.forEach((id, index) => rank.set(id, index / Math.max(1, column.length - 1)));
  columns.forEach(note);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const isForward = sweep % 2 === 0;
    const beside = isForward ? before : next;
    for (const column of isForward ? columns : [...columns].reverse()) {
      const wish = new Map(
        column.map((id) => [id, mean((beside.get(id) ?? []).map((other) => rank.get(other) ?? 0)) ?? rank.get(id) ?? 0]),
      );
      column.sort((a, b) => (wish.get(a) ?? 0) - (wish.get(b) ?? 0));
      note(column);
    }
  }
}

/**
 * @param {number[]} numbers
 * @returns {number | null}
 */
function mean(numbers) {
  return numbers.length === 0 ? null : numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}

/**
 * @param {string[][]} columns
 * @param {Neighbours} before
 * @param {{[id: string]: Size | undefined}} sizes
 * @param {Position} corner
 * @returns {{[id: string]: Position}}
 */
function place(columns, before, sizes, corner) {
  /** @type {Map<string, Position>} */
  const places = new Map();
  let x = corner.x;
  for (const column of columns) {
    const heights = column.map((id) => sizeOf(sizes, id).height);
    const wishes = column.map((id) => wishedTop(id, before, places, sizes));
    const tops = spread(wishes, heights, corner.y);
    column.forEach((id, index) => places.set(id, {x, y: Math.round(tops[index])}));
    x += Math.max(...column.map((id) => sizeOf(sizes, id).width)) + GAP_X;
  }
  const top = Math.min(corner.y, ...[...places.values()].map((each) => each.y));
  return Object.fromEntries([...places].map(([id, each]) => [id, {x: each.x, y: each.y + corner.y - top}]));
}

/**
 * Where a node would like to begin: its middle at the mean middle of those before it.
 * @param {string} id
 * @param {Neighbours} before
 * @param {Map<string, Position>} places
 * @param {{[id: string]: Size | undefined}} sizes
 * @returns {number | null}
 */
function wishedTop(id, before, places, sizes) {
  /** @type {number[]} */
  const middles = [];
  for (const other of before.get(id) ?? []) {
    const position = places.get(other);
    if (position) middles.push(position.y + sizeOf(sizes, other).height / 2);
  }
  const middle = mean(middles);
  return middle === null ? null : middle - sizeOf(sizes, id).height / 2;
}

/**
 * The tops of a column's nodes: in order, without overlaps, the column as a whole as near to what was wished as it can be.
 * @param {(number | null)[]} wishes
 * @param {number[]} heights
 * @param {number} top where a column begins that wishes nothing
 * @returns {number[]}
 */
function spread(wishes, heights, top) {
  /** @type {number[]} */
  const tops = [];
  let free = -Infinity;
  wishes.forEach((wish, index) => {
    tops[index] = Math.max(free, wish ?? (index === 0 ? top : free));
    free = tops[index] + heights[index] + GAP_Y;
  });
  const shift = mean(wishes.flatMap((wish, index) => (wish === null ? [] : [wish - tops[index]]))) ?? 0;
  return tops.map((each) => each + shift);
}

/**
 * @param {{[id: string]: Size | undefined}} sizes
 * @param {string} id
 * @returns {Size}
 */
function sizeOf(sizes, id) {
  return (Object.hasOwn(sizes, id) ? sizes[id] : undefined) ?? DEFAULT_SIZE;
}

/**
 * The upper left corner of all nodes.
 * @param {Pipeline} document
 * @returns {Position}
 */
function cornerOf(document) {
  const positions = nodesOf(document)
    .map((node) => node.position)
    .filter(isPosition);
  if (positions.length === 0) return {x: 0, y: 0};
  return {x: Math.min(...positions.map((each) => each.x)), y: Math.min(...positions.map((each) => each.y))};
}

/**
 * @typedef {'left' | 'right' | 'top' | 'bottom' | 'center' | 'middle' | 'distribute-x' | 'distribute-y'} Alignment
 * `center` puts the middles under each other, `middle` beside each other; the last two make the gaps equal.
 */

/**
 * Places that put nodes into a line. Those that are not there are passed over; nothing comes back for fewer than two, for a
 * distribution fewer than three.
 * @param {Pipeline} document
 * @param {string[]} ids
 * @param {Alignment} alignment
 * @param {{[id: string]: Size | undefined}} [sizes]
 * @returns {{[id: string]: Position}}
 */
export function align(document, ids, alignment, sizes = {}) {
  const chosen = new Set(ids);
  const boxes = nodesOf(document)
    .filter((node) => chosen.has(node.id) && isPosition(node.position))
    .map((node) => ({id: node.id, ...node.position, ...sizeOf(sizes, node.id)}));
  if (alignment === 'distribute-x' || alignment === 'distribute-y')
    return distribute(boxes, alignment === 'distribute-x' ? 'x' : 'y');
  if (boxes.length < 2) return {};
  const left = Math.min(...boxes.map((box) => box.x));
  const top = Math.min(...boxes.map((box) => box.y));
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const bottom = Math.max(...boxes.map((box) => box.y + box.height));
  return Object.fromEntries(
    boxes.map((box) => {
      switch (alignment) {
        case 'left':
          return [box.id, {x: left, y: box.y}];
        case 'right':
          return [box.id, {x: right - box.width, y: box.y}];
        case 'center':
          return [box.id, {x: (left + right - box.width) / 2, y: box.y}];
        case 'top':
          return [box.id, {x: box.x, y: top}];
        case 'bottom':
          return [box.id, {x: box.x, y: bottom - box.height}];
        default:
          return [box.id, {x: box.x, y: (top + bottom - box.height) / 2}];
      }
    }),
  );
}

/**
 * Equal gaps between the first and the last; both stay.
 * @param {({id: string} & Position & Size)[]} boxes
 * @param {'x' | 'y'} axis
 * @returns {{[id: string]: Position}}
 */
function distribute(boxes, axis) {
  if (boxes.length < 3) return {};
  const side = axis === 'x' ? 'width' : 'height';
  const line = [...boxes].sort((a, b) => a[axis] - b[axis]);
  const last = line[line.length - 1];
  const taken = line.slice(0, -1).reduce((sum, box) => sum + box[side], 0);
  const gap = (last[axis] - line[0][axis] - taken) / (line.length - 1);
  let at = line[0][axis];
  return Object.fromEntries(
    line.map((box) => {
      const position = {x: box.x, y: box.y, [axis]: at};
      at += box[side] + gap;
      return [box.id, position];
    }),
  );
}
