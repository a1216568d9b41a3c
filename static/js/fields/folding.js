/** Rows of long lists that are folded to one line each, so that their editors are made when somebody opens them. */
import {h, tags, useState} from '../h.js';
import {useStore} from '../state/store.js';
import {activeTab} from '../state/tabs.js';
import {t} from '../words.js';
import {Icon} from '../ui/icons.js';

const {button, span} = tags;

/** @type {ReadonlySet<string>} */
const NONE = new Set();

/**
 * @typedef {object} Folding
 * @property {(key: string) => boolean} isFolded
 * @property {(key: string) => void} toggle
 * @property {(isFolded: boolean) => void} all folds or opens every row
 */

/**
 * Which rows of a list are folded. Where more rows than `most` come at once, these are; a row that somebody adds is open, and so is one
 * whose field somebody is led to.
 * @param {{keys: string[], most: number, node: string | null, field: string}} list `keys`: of its rows (`useRowKeys`); `field`: the
 *   list's dotted path
 * @returns {Folding}
 */
export function useFolding({keys, most, node, field}) {
  const focus = useStore((state) => activeTab(state)?.focus ?? null);
  const [seen, setSeen] = useState(() => ({keys, folded: new Set(keys.length > most ? keys : NONE), focus: /** @type {typeof focus} */ (null)}));
  let {folded} = seen;
  if (seen.keys !== keys) {
    const known = new Set(seen.keys);
    const fresh = keys.filter((key) => !known.has(key));
    if (fresh.length > most) folded = new Set([...folded, ...fresh]);
  }
  const wanted = seen.focus === focus ? null : wantedRow(focus, node, field);
  if (wanted !== null) folded = without(folded, keys[wanted]);
  if (seen.keys !== keys || seen.focus !== focus) setSeen({keys, folded, focus});
  return {
    isFolded: (key) => folded.has(key),
    toggle: (key) => setSeen((now) => ({...now, folded: now.folded.has(key) ? without(now.folded, key) : new Set([...now.folded, key])})),
    all: (isFolded) => setSeen((now) => ({...now, folded: new Set(isFolded ? now.keys : NONE)})),
  };
}

/** @param {Set<string>} folded @param {string} key */
function without(folded, key) {
  return new Set([...folded].filter((one) => one !== key));
}

/** The row that a field leads to. @param {import('../state/types.js').Place | null} focus @param {string | null} node @param {string} field */
function wantedRow(focus, node, field) {
  if (!focus || focus.node !== node || !focus.field?.startsWith(`${field}.`)) return null;
  const row = Number.parseInt(focus.field.slice(field.length + 1), 10);
  return Number.isNaN(row) ? null : row;
}

/**
 * The name of a row, which folds and opens it.
 * @param {{name: string, excerpt: string, isFolded: boolean, onFold: () => void}} props `excerpt`: what a folded row holds
 */
export function FoldButton({name, excerpt, isFolded, onFold}) {
  return button(
    {
      type: 'button',
      className: 'fold-row',
      title: excerpt || name,
      'aria-label': t(isFolded ? 'inspector.unfold' : 'inspector.fold', {name}),
      'aria-expanded': !isFolded,
      onClick: onFold,
    },
    h(Icon, {name: isFolded ? 'chevronRight' : 'chevronDown', size: 12}),
    span({className: 'fold-row-name'}, name),
    excerpt ? span({className: 'fold-row-excerpt'}, excerpt) : null,
  );
}
