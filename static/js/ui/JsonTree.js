/** JSON as a tree: coloured by kind, folded step by step, long texts and lists shown in part. */
import {h, tags, useState} from '../h.js';
import {t} from '../words.js';
import {Button} from './buttons.js';
import {Icon} from './icons.js';

const {button, div, span} = tags;

/** @typedef {import('../h.js').ReactNode} ReactNode */

/** How many members are drawn at once, and how many characters of a text. */
const MOST_MEMBERS = 100;
const MOST_TEXT = 3000;

/**
 * `drawText` draws the text of a value that is no list and no object; `aside` is what stands at the end of a line. Both get the
 * keys that lead to the value. What lies deeper than `depth` is folded until somebody asks for it.
 * @typedef {{depth?: number, drawText?: (text: string, path: string[]) => ReactNode, aside?: (path: string[]) => ReactNode}} Drawing
 */

/** @param {{label: string, value: any} & Drawing} props */
export function JsonTree({label, value, ...drawing}) {
  return div({className: 'json-tree', role: 'group', 'aria-label': label, tabIndex: 0}, h(Member, {value, path: [], ...drawing}));
}

/**
 * @param {{value: any, path: string[]} & Drawing} props
 * @returns {import('../h.js').ReactElement}
 */
function Member({value, path, ...drawing}) {
  const [isOpen, setOpen] = useState(path.length < (drawing.depth ?? 3));
  const [shown, setShown] = useState(MOST_MEMBERS);
  const last = path.at(-1);
  const name = last === undefined ? null : span({className: 'json-name'}, last, ': ');
  const end = drawing.aside?.(path);
  if (value === null || typeof value !== 'object') return div({className: 'json-line'}, name, h(Leaf, {value, path, ...drawing}), end);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const entries = Object.entries(value);
  if (entries.length === 0) return div({className: 'json-line'}, name, span({className: 'json-mark'}, open, close), end);
  return div(
    null,
    div(
      {className: 'json-head'},
      button(
        {type: 'button', className: 'json-fold', 'aria-expanded': isOpen, 'aria-label': last === undefined && isOpen ? t('app.json') : undefined, onClick: () => setOpen(!isOpen)},
        h(Icon, {name: isOpen ? 'chevronDown' : 'chevronRight', size: 10}),
        name,
        span({className: 'json-mark'}, open, isOpen ? '' : ` ${entries.length} ${close}`),
      ),
      end,
    ),
    isOpen
      ? div(
          {className: 'json-members'},
          entries.slice(0, shown).map(([key, item]) => h(Member, {key, value: item, path: [...path, key], ...drawing})),
          entries.length > shown
            ? h(Button, {label: t('app.showMore', {n: entries.length - shown}), tone: 'quiet', onClick: () => setShown(shown + MOST_MEMBERS)})
            : null,
        )
      : null,
  );
}

/** @param {{value: any, path: string[]} & Drawing} props */
function Leaf({value, path, drawText = (text) => text}) {
  const [isWhole, setWhole] = useState(false);
  if (typeof value !== 'string') return span({className: `json-${value === null ? 'null' : typeof value}`}, drawText(JSON.stringify(value) ?? '', path));
  const isLong = value.length > MOST_TEXT;
  const isCut = isLong && !isWhole;
  return span(
    {className: 'json-string'},
    '"',
    drawText(isCut ? value.slice(0, MOST_TEXT) : value, path),
    isCut ? '…' : '"',
    isLong ? h(Button, {label: isWhole ? t('app.showLess') : t('app.showAll', {n: value.length}), tone: 'quiet', onClick: () => setWhole(!isWhole)}) : null,
  );
}
