/** A frame: a titled, coloured rectangle behind the nodes, which takes along what stands in it. */
import {classes, Flow, h, memo, tags} from '../h.js';
import {t} from '../words.js';
import {changeBox} from './editing/boxes.js';
import {canChange} from './editing/front.js';
import {stage, useStage} from './stage.js';
import {TextInPlace} from './TextInPlace.js';

const {div, span} = tags;

/** @param {{id: string, data: {frame: import('../core/doc.js').Frame}, selected: boolean}} props */
function FrameNodeView({id, data: {frame}, selected}) {
  const renaming = useStage((state) => state.renaming === id);
  return div(
    {className: classes('canvas-frame', selected && 'canvas-frame-selected'), 'data-color': frame.color ?? 'grey'},
    h(Flow.NodeResizer, {isVisible: selected && canChange(), minWidth: 120, minHeight: 80, handleClassName: 'canvas-resize', lineClassName: 'canvas-resize-line'}),
    div(
      {className: 'canvas-frame-head', onDoubleClick: () => canChange() && stage.set({renaming: id})},
      renaming
        ? h(TextInPlace, {
            label: t('canvas.frame.title'),
            value: frame.title,
            onDone: (title) => {
              stage.set({renaming: null});
              if (title !== null && title !== frame.title) changeBox('frame', frame.id, {title});
            },
          })
        : span({className: 'canvas-frame-title'}, frame.title || t('canvas.frame.untitled')),
    ),
  );
}

export const FrameNode = memo(FrameNodeView, (a, b) => a.data.frame === b.data.frame && a.selected === b.selected);
