/** Which cell a key leads to, in a grid whose cells are elements with `data-cell` (their column). */

/**
 * @param {HTMLElement} grid
 * @param {HTMLElement} from
 * @param {string} key
 * @param {boolean} isFar Ctrl: to the first or the last row
 * @returns {HTMLElement | null} null where the key moves nothing
 */
export function nearCell(grid, from, key, isFar) {
  const row = from.closest('tr');
  if (!row) return null;
  const cells = /** @type {HTMLElement[]} */ ([...row.querySelectorAll('[data-cell]')]);
  const now = cells.indexOf(from);
  if (key === 'ArrowRight') return cells[now + 1] ?? null;
  if (key === 'ArrowLeft') return cells[now - 1] ?? null;
  const rows = [...grid.querySelectorAll('tbody > tr')];
  const at = rows.indexOf(row);
  if (key === 'Home') return isFar ? nearest(rows[0], from) : (cells[0] ?? null);
  if (key === 'End') return isFar ? nearest(rows.at(-1), from) : (cells.at(-1) ?? null);
  const step = {ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15}[key];
  if (step === undefined) return null;
  return nearest(rows[Math.max(0, Math.min(rows.length - 1, at + step))], from);
}

/** The cell of a row in the same column, or the last one before it. @param {Element | undefined} row @param {HTMLElement} from */
function nearest(row, from) {
  const column = Number(from.dataset.cell);
  const cells = /** @type {HTMLElement[]} */ ([...(row?.querySelectorAll('[data-cell]') ?? [])]);
  return cells.findLast((cell) => Number(cell.dataset.cell) <= column) ?? null;
}
