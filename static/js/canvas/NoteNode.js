/** A note: a text on the canvas that only people read. */
import {classes, Flow, h, memo, tags} from '../h.js';
import {t} from '../words.js';
import {changeBox} from './editing/boxes.js';
import {canChange} from './editing/front.js';
import {stage, useStage} from './stage.js';
import {TextInPlace} from './TextInPlace.js';

const {div, p} = tags;

/** @param {{id: string, data: {note: import('../core/doc.js').Note}, selected: boolean}} props */
function NoteNodeView({id, data: {note}, selected}) {
  const editing = useStage((state) => state.renaming === id);
  return div(
    {
      className: classes('canvas-note', selected && 'canvas-note-selected'),
      'data-color': note.color ?? 'amber',
      onDoubleClick: (event) => {
        event.stopPropagation();
        if (canChange()) stage.set({renaming: id});
      },
    },
    h(Flow.NodeResizer, {isVisible: selected && canChange(), minWidth: 100, minHeight: 50, handleClassName: 'canvas-resize', lineClassName: 'canvas-resize-line'}),
    editing
      ? h(TextInPlace, {
          label: t('canvas.note.text'),
          value: note.text,
          lines: true,
          onDone: (text) => {
            stage.set({renaming: null});
            if (text !== null && text !== note.text) changeBox('note', note.id, {text});
          },
        })
      : p({className: classes('canvas-note-text', !note.text && 'canvas-note-empty')}, note.text || t('canvas.note.empty')),
  );
}

export const NoteNode = memo(NoteNodeView, (a, b) => a.data.note === b.data.note && a.selected === b.selected);
