/** Frames and notes: made, and changed. Each function is one step that can be undone. */
import {addBox, updateBox} from '../../core/commands.js';
import {store} from '../../state/store.js';
import {edit, select} from '../../state/tabs.js';
import {frontDoc, selectionOf} from './front.js';
import {around, freePlace, nodeRects, snapped} from '../geometry.js';
import {flowId} from '../projection.js';
import {stage, viewCentre} from '../stage.js';

/** @typedef {import('../geometry.js').Point} Point */

export const FRAME_COLORS = Object.freeze(['blue', 'green', 'amber', 'red', 'violet', 'grey']);
const FRAME_MARGIN = 30;
const FRAME_HEAD = 36;
const NOTE_SIZE = {width: 220, height: 120};

/** Draw a frame around the selected nodes and begin to type its title. */
export function frameSelection() {
  const chosen = selectionOf();
  const doc = frontDoc();
  if (!doc) return;
  const rects = nodeRects(doc, store.get().nodeTypes);
  const box = around([
    ...chosen.nodes.flatMap((id) => rects.get(id) ?? []),
    ...(doc.view?.notes ?? []).filter((note) => chosen.notes.includes(note.id)),
  ]);
  const centre = viewCentre();
  const inner = box ?? {x: centre.x - 160, y: centre.y - 80, width: 320, height: 160};
  addAndRename('frame', {
    title: '',
    x: inner.x - FRAME_MARGIN,
    y: inner.y - FRAME_MARGIN - FRAME_HEAD,
    width: inner.width + 2 * FRAME_MARGIN,
    height: inner.height + 2 * FRAME_MARGIN + FRAME_HEAD,
    color: FRAME_COLORS[(doc.view?.frames?.length ?? 0) % FRAME_COLORS.length],
  });
}

/** Put a note on the canvas where nothing stands and begin to type. @param {Point} [position] its upper left corner */
export function addNoteAt(position) {
  const doc = frontDoc();
  if (!doc) return;
  const centre = viewCentre();
  const wanted = position ?? {x: centre.x - NOTE_SIZE.width / 2, y: centre.y - NOTE_SIZE.height / 2};
  const taken = [...nodeRects(doc, store.get().nodeTypes).values(), ...(doc.view?.notes ?? [])];
  const place = freePlace(snapped(wanted), taken, NOTE_SIZE);
  addAndRename('note', {text: '', ...place, ...NOTE_SIZE});
}

/**
 * @param {'frame' | 'note'} kind
 * @param {Parameters<typeof addBox>[2]} box
 */
function addAndRename(kind, box) {
  let made = '';
  const done = edit(`canvas.did.${kind}`, (doc) => {
    const added = addBox(doc, `${kind}s`, box);
    made = added.id;
    return added.doc;
  });
  if (!done) return;
  select({[`${kind}s`]: [made]});
  stage.set({renaming: flowId(kind, made)});
}

/**
 * Change a frame or a note.
 * @param {'frame' | 'note'} kind
 * @param {string} id
 * @param {{title?: string, text?: string, color?: string}} patch
 */
export function changeBox(kind, id, patch) {
  edit(`canvas.did.${kind}Change`, (doc) => updateBox(doc, `${kind}s`, id, patch));
}
