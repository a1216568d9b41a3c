/** A JSON value as a tree that opens step by step; every value can be copied as the macro that reads it. */
import {classes, h, tags, useState} from '../h.js';
import {writePath} from '../core/names.js';
import {copyText} from '../state/copying.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Icon} from '../ui/icons.js';

const {button, div, li, span, ul} = tags;

const SHOWN_MEMBERS = 100;
const SHOWN_TEXT = 400;

/**
 * @param {{label: string, value: any, root: string[]}} props `root` is the path of the value in templates (`OUT`, `n1`)
 */
export function JsonTree({label, value, root}) {
  return div({className: 'json-tree', role: 'group', 'aria-label': label}, h(Member, {name: null, value, path: root, depth: 0}));
}

/**
 * @param {{name: string | null, value: any, path: string[], depth: number}} props
 * @returns {import('../h.js').ReactElement}
 */
function Member({name, value, path, depth}) {
  const isBranch = value !== null && typeof value === 'object';
  const [isOpen, setOpen] = useState(depth < 2);
  const [shown, setShown] = useState(SHOWN_MEMBERS);
  const entries = isBranch ? Object.entries(value) : [];
  const label = name ?? path.join('.');
  return div(
    {className: 'json-member'},
    div(
      {className: 'json-line'},
      isBranch
        ? button(
            {type: 'button', className: 'json-toggle', 'aria-expanded': isOpen, onClick: () => setOpen(!isOpen)},
            h(Icon, {name: isOpen ? 'chevronDown' : 'chevronRight', size: 12}),
            span({className: 'json-name'}, label),
            span({className: 'json-count'}, Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`),
          )
        : span({className: 'json-leaf'}, span({className: 'json-name'}, label), h(Leaf, {value})),
      h(Button, {
        label: t('inspector.copyMacro', {path: writePath(path)}),
        icon: 'copy',
        iconOnly: true,
        tone: 'quiet',
        className: 'inspector-mini json-copy',
        onClick: () => void copyText(macroOf(path)),
      }),
    ),
    isBranch && isOpen
      ? ul(
          {className: 'json-members'},
          entries.slice(0, shown).map(([key, each]) => li({key}, h(Member, {name: key, value: each, path: [...path, key], depth: depth + 1}))),
          entries.length > shown
            ? li(null, h(Button, {label: t('inspector.showMore', {n: entries.length - shown}), tone: 'quiet', className: 'inspector-mini', onClick: () => setShown(shown + SHOWN_MEMBERS)}))
            : null,
        )
      : null,
  );
}

/** @param {{value: any}} props */
function Leaf({value}) {
  const [isWhole, setWhole] = useState(false);
  if (typeof value !== 'string') return span({className: 'json-value json-plain'}, JSON.stringify(value) ?? '');
  const isLong = value.length > SHOWN_TEXT;
  return span(
    {className: classes('json-value', 'json-text')},
    isLong && !isWhole ? `${value.slice(0, SHOWN_TEXT)}…` : value,
    value === '' ? span({className: 'json-count'}, t('inspector.emptyText')) : null,
    isLong ? h(Button, {label: t(isWhole ? 'inspector.showLess' : 'inspector.showAll'), tone: 'quiet', className: 'inspector-mini', onClick: () => setWhole(!isWhole)}) : null,
  );
}

/** The macro that reads a path: `[[OUT:n1.text]]`. @param {string[]} path */
export function macroOf(path) {
  return path[0] === 'OUT' ? `[[OUT:${writePath(path.slice(1))}]]` : `{{ ${writePath(path)} }}`;
}
