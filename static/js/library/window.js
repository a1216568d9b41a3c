/** Long lists of which only the rows in sight are drawn; every row is as high as the others. */
import {useLayoutEffect, useRef, useState} from '../h.js';

/** How many rows are drawn beyond both edges, so that the next one is there before it is seen. */
const BEYOND = 3;

/**
 * @typedef {object} Window
 * @property {{current: any}} scroller goes to the element that scrolls
 * @property {number} columns how many fit beside each other
 * @property {number} from the first place that is drawn
 * @property {number} to the place behind the last
 * @property {number} height of all rows, in pixels
 * @property {(place: number) => {top: number, row: number, column: number}} placeOf
 * @property {(place: number) => void} reveal scroll until that place is in sight
 */

/**
 * @param {{count: number, rowHeight: number, columnWidth?: number}} options without a width there is one column
 * @returns {Window}
 */
export function useWindow({count, rowHeight, columnWidth}) {
  const scroller = useRef(/** @type {HTMLElement | null} */ (null));
  const [seen, setSeen] = useState({top: 0, height: 600, width: 240});
  useLayoutEffect(() => {
    const node = scroller.current;
    if (!node) return undefined;
    const measure = () => setSeen((old) => {
      const now = {top: node.scrollTop, height: node.clientHeight, width: node.clientWidth};
      return old.top === now.top && old.height === now.height && old.width === now.width ? old : now;
    });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(node);
    node.addEventListener('scroll', measure, {passive: true});
    return () => {
      observer.disconnect();
      node.removeEventListener('scroll', measure);
    };
  }, []);
  const columns = columnWidth === undefined ? 1 : Math.max(1, Math.floor(seen.width / columnWidth));
  const first = Math.max(0, Math.floor(seen.top / rowHeight) - BEYOND);
  const behind = Math.ceil((seen.top + seen.height) / rowHeight) + BEYOND;
  return {
    scroller,
    columns,
    from: Math.min(first * columns, Math.max(0, count - 1)),
    to: Math.min(behind * columns, count),
    height: Math.ceil(count / columns) * rowHeight,
    placeOf: (place) => {
      const row = Math.floor(place / columns);
      return {top: row * rowHeight, row, column: place % columns};
    },
    reveal: (place) => {
      const node = scroller.current;
      if (!node) return;
      const top = Math.floor(place / columns) * rowHeight;
      if (top < node.scrollTop) node.scrollTop = top;
      else if (top + rowHeight > node.scrollTop + node.clientHeight) node.scrollTop = top + rowHeight - node.clientHeight;
    },
  };
}
