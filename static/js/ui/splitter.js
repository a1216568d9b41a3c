/** A bar between two parts that is dragged or moved with the arrow keys. */
import {tags, useRef} from '../h.js';

const {div} = tags;
const STEP = 16;

/**
 * @param {object} props
 * @param {'vertical' | 'horizontal'} props.direction vertical bars change a width
 * @param {number} props.value pixels of the part that it sizes
 * @param {number} props.least
 * @param {number} props.most
 * @param {boolean} [props.fromEnd] the sized part lies behind the bar
 * @param {string} props.label
 * @param {(value: number) => void} props.onChange
 */
export function Splitter({direction, value, least, most, fromEnd, label, onChange}) {
  const start = useRef(/** @type {{at: number, value: number} | null} */ (null));
  const isVertical = direction === 'vertical';
  /** @param {number} next */
  const change = (next) => onChange(Math.round(Math.max(least, Math.min(most, next))));
  return div({
    className: `splitter splitter-${direction}`,
    role: 'separator',
    tabIndex: 0,
    'aria-orientation': direction,
    'aria-label': label,
    'aria-valuenow': value,
    'aria-valuemin': least,
    'aria-valuemax': most,
    onPointerDown: (event) => {
      event.currentTarget.setPointerCapture(event.pointerId);
      start.current = {at: isVertical ? event.clientX : event.clientY, value};
    },
    onPointerMove: (event) => {
      if (!start.current) return;
      const moved = (isVertical ? event.clientX : event.clientY) - start.current.at;
      change(start.current.value + (fromEnd ? -moved : moved));
    },
    onPointerUp: () => (start.current = null),
    onPointerCancel: () => (start.current = null),
    onKeyDown: (event) => {
      const grows = isVertical ? 'ArrowRight' : 'ArrowDown';
      const shrinks = isVertical ? 'ArrowLeft' : 'ArrowUp';
      if (event.key !== grows && event.key !== shrinks) return;
      event.preventDefault();
      const step = event.key === grows ? STEP : -STEP;
      change(value + (fromEnd ? -step : step));
    },
  });
}
