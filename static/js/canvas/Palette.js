/** The panel "Nodes": every node type the server knows, by category; to click, to press Enter at, or to drag onto the canvas. */
import {h, tags, useMemo, useState} from '../h.js';
import {findByWords} from '../core/search.js';
import {useStore} from '../state/store.js';
import {Icon} from '../ui/icons.js';
import {t, typeTitle} from '../words.js';
import {addNoteAt, frameSelection} from './editing/boxes.js';
import {addAt} from './editing/nodes.js';
import {canChange, firstPort, selectionOf} from './editing/front.js';
import {typeWords} from './finding.js';
import {categoryRank} from './QuickAdd.js';
import {focusCanvas, NODE_DRAG} from './stage.js';
import {categoryTitle, typeHelp} from './summary.js';
import {showNode} from './view.js';

/** @typedef {import('../core/doc.js').NodeType} NodeType */

const {button, div, h3, input, li, p, span, ul} = tags;

export function Palette() {
  const types = useStore((state) => state.nodeTypes);
  const enabled = useStore(canChange);
  const [query, setQuery] = useState('');
  const groups = useMemo(() => grouped(Object.values(types), query), [types, query]);
  return div(
    {className: 'canvas-palette'},
    div(
      {className: 'canvas-palette-search'},
      h(Icon, {name: 'search', size: 14}),
      input({
        type: 'search',
        className: 'input',
        'aria-label': t('canvas.palette.search'),
        placeholder: t('canvas.palette.search'),
        value: query,
        onChange: (event) => setQuery(event.target.value),
        onKeyDown: (event) => {
          const [first] = groups.flatMap((group) => group.types);
          if (event.key === 'Enter' && first && enabled && !event.nativeEvent.isComposing) add(first.type);
          else if (event.key === 'Escape' && query) setQuery('');
          else return;
          event.preventDefault();
          event.stopPropagation();
        },
      }),
    ),
    groups.map((group) =>
      h(
        Group,
        {key: group.category, title: categoryTitle(group.category)},
        group.types.map((type) =>
          h(PaletteItem, {
            key: type.type,
            icon: type.icon,
            category: type.category,
            title: typeTitle(type, type.type),
            detail: typeHelp(type),
            drag: type.type,
            enabled,
            onAdd: () => add(type.type),
          }),
        ),
      ),
    ),
    groups.length ? null : p({className: 'canvas-palette-empty', role: 'status'}, t('canvas.add.nothing')),
    query
      ? null
      : h(
          Group,
          {title: t('canvas.palette.drawing')},
          h(PaletteItem, {icon: 'note', category: 'drawing', title: t('canvas.note.kind'), detail: t('canvas.note.help'), enabled, onAdd: () => addNoteAt()}),
          h(PaletteItem, {icon: 'frame', category: 'drawing', title: t('canvas.frame.kind'), detail: t('canvas.frame.help'), enabled, onAdd: frameSelection}),
        ),
    p({className: 'canvas-palette-hint'}, t('canvas.palette.hint')),
  );
}

/**
 * Add a node: behind the selected one and wired to it, else in the middle of what is seen.
 * @param {string} type
 */
function add(type) {
  const {nodes} = selectionOf();
  const last = nodes.length === 1 ? nodes[0] : null;
  const made = addAt(type, last ? {from: {node: last, port: firstPort(last), end: 'source'}} : {});
  requestAnimationFrame(() => {
    if (!made) return;
    showNode(made);
    focusCanvas(made);
  });
}

/**
 * @param {NodeType[]} types
 * @param {string} query
 * @returns {{category: string, types: NodeType[]}[]}
 */
function grouped(types, query) {
  const found = query.trim()
    ? findByWords(query, types, typeWords, (type) => `${typeHelp(type)} ${type.help}`)
    : types;
  /** @type {Map<string, NodeType[]>} */
  const byCategory = new Map();
  for (const type of found) byCategory.set(type.category, [...(byCategory.get(type.category) ?? []), type]);
  return [...byCategory]
    .map(([category, list]) => ({category, types: list}))
    .sort((a, b) => categoryRank(a.category) - categoryRank(b.category));
}

/** @param {{title: string, children?: any}} props */
function Group({title, children}) {
  return div({className: 'canvas-palette-group'}, h3({className: 'canvas-palette-heading'}, title), ul(null, children));
}

/** @param {{icon: string, category: string, title: string, detail: string, drag?: string, enabled: boolean, onAdd: () => void}} props */
function PaletteItem({icon, category, title, detail, drag, enabled, onAdd}) {
  return li(
    null,
    button(
      {
        type: 'button',
        className: 'canvas-palette-item',
        'data-category': category,
        disabled: !enabled,
        draggable: Boolean(drag) && enabled,
        onDragStart: (event) => {
          if (!drag) return;
          event.dataTransfer.setData(NODE_DRAG, drag);
          event.dataTransfer.effectAllowed = 'copy';
        },
        onClick: onAdd,
      },
      span({className: 'canvas-node-icon'}, h(Icon, {name: icon, size: 16})),
      span(
        {className: 'canvas-palette-words'},
        span({className: 'canvas-palette-title'}, title),
        span({className: 'canvas-palette-detail'}, detail),
      ),
    ),
  );
}
