/** Things that are being moved: their places beside the document, until the hand lets go. */
import {withBodies} from '../../core/holders.js';
import {useMemo, useRef, useState} from '../../h.js';
import {store} from '../../state/store.js';
import {frontDoc} from '../editing/front.js';
import {commitMove, membersOf} from '../editing/places.js';
import {nodeRects, placeOf} from '../geometry.js';
import {flowId, thingOf} from '../projection.js';
import {isCalm} from '../stage.js';
import {carry, letGo} from './carrying.js';

/** @typedef {import('../geometry.js').Point} Point */
/** @typedef {import('../projection.js').Moving} Moving */

const GLIDE_MS = 260;
const GLIDE_AT_MOST = 300;

/** @type {Moving} */
const STILL = new Map();

/**
 * What a hand is doing: places beside the document.
 * @typedef {object} Hand
 * @property {() => Moving} get
 * @property {(moving: Moving) => void} set
 * @property {(moving: Moving, doc: import('../../core/doc.js').Pipeline, by: Point) => void} carry as `set`, for very many things: only what is drawn is shifted
 * @property {() => void} commit write the places into the document
 * @property {(from: Map<string, Point>) => void} glide from old places to those of the document
 */

/** What is being moved, and what moves it. @returns {{moving: Moving, hand: Hand}} */
export function useHand() {
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
      carry(/** @type {Moving} */ next, /** @type {import('../../core/doc.js').Pipeline} */ doc, /** @type {Point} */ by) {
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
 * Move a node, and what stands in its body by as much; what is drawn of a node with a body begins where its body does.
 * @param {import('../../core/doc.js').Pipeline} doc
 * @param {string} id
 * @param {Point} corner
 * @param {Map<string, Point>} next
 * @param {import('../../h.js').Flow.NodeChange[]} changes things that are dragged themselves are left alone
 */
export function moveNode(doc, id, corner, next, changes) {
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
 * @param {import('../../core/doc.js').Pipeline} doc
 * @param {string} frameFlowId
 * @param {Point} place
 * @param {Map<string, Point>} next
 * @param {import('../../h.js').Flow.NodeChange[]} changes things that are dragged themselves are left alone
 */
export function takeAlong(doc, frameFlowId, place, next, changes) {
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
