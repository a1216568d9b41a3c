/** A small drawing of a document: boxes, wires and frames, without words. */
import {h, memo, tags} from '../h.js';
import {useStore} from '../state/store.js';
import {around, nodeRects} from './geometry.js';

const {g, path, rect, svg} = tags;
const MARGIN = 24;

/**
 * Fills the width of its place. Decoration: who shows it says beside it what it is.
 * @param {{document: import('../core/doc.js').Pipeline, className?: string, ratio?: number}} props `ratio`: width by height, 2 unless told
 */
function ThumbnailView({document, className, ratio = 2}) {
  const types = useStore((state) => state.nodeTypes);
  const rects = nodeRects(document, types);
  const frames = document.view?.frames ?? [];
  const notes = document.view?.notes ?? [];
  const box = around([...rects.values(), ...frames, ...notes]) ?? {x: 0, y: 0, width: 240, height: 120};
  return svg(
    {
      className: className ? `canvas-thumbnail ${className}` : 'canvas-thumbnail',
      viewBox: viewBox(box, ratio),
      'aria-hidden': true,
      focusable: false,
      preserveAspectRatio: 'xMidYMid meet',
    },
    frames.map((frame) => rect({key: `f ${frame.id}`, className: 'canvas-thumbnail-frame', 'data-color': frame.color ?? 'grey', ...shape(frame), rx: 12})),
    notes.map((note) => rect({key: `t ${note.id}`, className: 'canvas-thumbnail-note', 'data-color': note.color ?? 'amber', ...shape(note), rx: 6})),
    document.edges.map((edge, index) => h(Wire, {key: index, from: rects.get(edge.from), to: rects.get(edge.to)})),
    document.nodes.map((node, index) => {
      const place = rects.get(node.id);
      if (!place) return null;
      return g(
        {key: index, className: 'canvas-thumbnail-node', 'data-category': types[node.type]?.category ?? 'unknown', 'data-off': node.enabled === false || undefined},
        rect({...shape(place), rx: 12}),
        rect({className: 'canvas-thumbnail-icon', x: place.x + 12, y: place.y + place.height / 2 - 18, width: 36, height: 36, rx: 8}),
        path({className: 'canvas-thumbnail-line', d: `M${place.x + 62} ${place.y + place.height / 2 - 9}h110m-110 20h70`}),
      );
    }),
  );
}

export const Thumbnail = memo(ThumbnailView);

/** @param {import('./geometry.js').Rect} box */
function shape({x, y, width, height}) {
  return {x, y, width, height};
}

/**
 * The box with a margin, made as wide or as high as the ratio asks for, so that all drawings of a gallery are of one size.
 * @param {import('./geometry.js').Rect} box
 * @param {number} ratio
 */
function viewBox(box, ratio) {
  const width = Math.max(box.width + 2 * MARGIN, (box.height + 2 * MARGIN) * ratio, 480);
  const height = width / ratio;
  return [box.x + box.width / 2 - width / 2, box.y + box.height / 2 - height / 2, width, height].map(Math.round).join(' ');
}

/** @param {{from: import('./geometry.js').Rect | undefined, to: import('./geometry.js').Rect | undefined}} props */
function Wire({from, to}) {
  if (!from || !to) return null;
  const x1 = from.x + from.width;
  const y1 = from.y + from.height / 2;
  const y2 = to.y + to.height / 2;
  const bend = Math.max(40, Math.abs(to.x - x1) / 2);
  return path({className: 'canvas-thumbnail-wire', d: `M${x1} ${y1}C${x1 + bend} ${y1} ${to.x - bend} ${y2} ${to.x} ${y2}`});
}
