/** Rows that are put into another order: with a pointer at the handle, with arrow keys on it, and with two buttons. */
import {classes, h, tags, useRef, useState} from '../h.js';
import {t} from '../words.js';
import {Button} from './buttons.js';
import {Icon} from './icons.js';

const {button, span} = tags;

/**
 * @typedef {object} Sorting
 * @property {{current: any}} list goes to the element whose children with `data-row` are the rows
 * @property {number | null} dragged
 * @property {number | null} over where the dragged row would land
 * @property {(index: number, name: string) => import('../h.js').ReactElement} handle
 * @property {(index: number, name: string) => import('../h.js').ReactElement} arrows
 */

/**
 * @param {{count: number, onMove: (from: number, to: number) => void, announce: (text: string) => void, disabled?: boolean}} options `announce`: says it to
 *   screen readers
 * @returns {Sorting}
 */
export function useSorting({count, onMove, announce, disabled = false}) {
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const [drag, setDrag] = useState(/** @type {{from: number, to: number} | null} */ (null));

  /** @param {number} from @param {number} to @param {string} name @param {string} [focus] which control of the row gets the focus */
  const move = (from, to, name, focus) => {
    if (to < 0 || to >= count || from === to) return;
    onMove(from, to);
    announce(t('app.movedTo', {name, position: to + 1, count}));
    if (focus) requestAnimationFrame(() => /** @type {HTMLElement | null} */ (rowsOf(list.current)[to]?.querySelector(focus))?.focus());
  };

  /** @param {number} index @param {string} name */
  const handle = (index, name) =>
    button(
      {
        type: 'button',
        className: classes('sort-handle', drag?.from === index && 'sort-held'),
        disabled: disabled || count < 2,
        title: t('app.dragHint'),
        'aria-label': t('app.moveRow', {name, position: index + 1, count}),
        onKeyDown: (event) => {
          const to = {ArrowUp: index - 1, ArrowDown: index + 1, Home: 0, End: count - 1}[event.key];
          if (to === undefined) return;
          event.preventDefault();
          event.stopPropagation();
          move(index, to, name, '.sort-handle');
        },
        onPointerDown: (event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          setDrag({from: index, to: index});
        },
        onPointerMove: (event) => {
          if (drag) setDrag({from: drag.from, to: rowAt(list.current, event.clientY, drag.from)});
        },
        onPointerUp: (event) => {
          // The last move may not be drawn yet, so the place is read anew.
          if (drag) move(drag.from, rowAt(list.current, event.clientY, drag.from), name);
          setDrag(null);
        },
        onPointerCancel: () => setDrag(null),
      },
      h(Icon, {name: 'drag'}),
    );

  /** @param {number} index @param {string} name */
  const arrows = (index, name) =>
    span(
      {className: 'sort-arrows'},
      h(Button, {
        label: t('app.moveUp', {name}),
        icon: 'arrowUp',
        iconOnly: true,
        tone: 'quiet',
        className: 'inspector-mini sort-up',
        disabled: disabled || index === 0,
        onClick: () => move(index, index - 1, name, index === 1 ? '.sort-down' : '.sort-up'),
      }),
      h(Button, {
        label: t('app.moveDown', {name}),
        icon: 'arrowDown',
        iconOnly: true,
        tone: 'quiet',
        className: 'inspector-mini sort-down',
        disabled: disabled || index === count - 1,
        onClick: () => move(index, index + 1, name, index === count - 2 ? '.sort-up' : '.sort-down'),
      }),
    );

  const isMoving = drag !== null && drag.to !== drag.from;
  return {list, dragged: drag?.from ?? null, over: isMoving ? drag.to : null, handle, arrows};
}

/**
 * The classes of a row that is held, or beside which the held one would land.
 * @param {Sorting} sorting
 * @param {number} index
 */
export function sortClasses({dragged, over}, index) {
  if (dragged === null) return '';
  return classes(dragged === index && 'sort-row-held', over === index && (over > dragged ? 'sort-row-after' : 'sort-row-before'));
}

/** @param {HTMLElement | null} list */
function rowsOf(list) {
  return /** @type {HTMLElement[]} */ ([...(list?.children ?? [])].filter((child) => child instanceof HTMLElement && 'row' in child.dataset));
}

/**
 * The row that a pointer is over; the first or the last beyond the ends.
 * @param {HTMLElement | null} list
 * @param {number} y
 * @param {number} fallback
 */
function rowAt(list, y, fallback) {
  const rows = rowsOf(list);
  if (rows.length === 0) return fallback;
  const below = rows.findIndex((row) => y < row.getBoundingClientRect().bottom);
  return below < 0 ? rows.length - 1 : below;
}

/**
 * A list with one item in another place.
 * @template T
 * @param {readonly T[]} list
 * @param {number} from
 * @param {number} to its place in the new list
 * @returns {T[]}
 */
export function moved(list, from, to) {
  const rest = list.filter((_, index) => index !== from);
  return [...rest.slice(0, to), list[from], ...rest.slice(to)];
}
