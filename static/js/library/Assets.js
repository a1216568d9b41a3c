/** The assets of a kind as cards with their pictures, or as lines; only those in sight are drawn. */
import {runAction} from '../actions.js';
import {classes, h, tags, useEffect, useRef, useState} from '../h.js';
import {timeInWords} from '../state/times.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Icon} from '../ui/icons.js';
import {Menu, MenuButton} from '../ui/menu.js';
import {beginChat, deleteAsset, exportAsset, isInChat, openAsset, renameAsset, tagAsset, toggleInChat} from './commands.js';
import {ICONS} from './kinds.js';
import {assetAt, need, useListing} from './lists.js';
import {Picture} from './Picture.js';
import {useWindow} from './window.js';

const {button, div, li, span, ul} = tags;

/** Sizes in pixels, as in library.css. */
const CARD = {rowHeight: 190, columnWidth: 104};
const LINE = {rowHeight: 52};
const FORMATS = ['png', 'v3', 'v2', 'charx'];

/** @typedef {import('./kinds.js').Kind} Kind */
/** @typedef {import('./lists.js').Asset} Asset */

export function Assets() {
  const state = useListing((all) => all);
  const {kind, total} = state;
  const hasPictures = kind === 'character';
  const seen = useWindow({count: total ?? 0, ...(hasPictures ? CARD : LINE)});
  const [focused, setFocused] = useState(0);
  const [menu, setMenu] = useState(/** @type {{asset: Asset, x: number, y: number} | null} */ (null));
  const list = useRef(/** @type {HTMLUListElement | null} */ (null));
  /** The place that gets the focus as soon as it is read and drawn. */
  const wanted = useRef(/** @type {number | null} */ (null));
  useEffect(() => {
    const found = wanted.current === null ? null : list.current?.querySelector(`[data-place="${wanted.current}"] .library-open`);
    if (!(found instanceof HTMLElement)) return;
    wanted.current = null;
    found.focus();
  });
  useEffect(() => need(seen.from, seen.to), [seen.from, seen.to, state.parts, total]);
  const stop = Math.min(focused, Math.max(0, (total ?? 1) - 1));

  /** @param {number} place */
  const focus = (place) => {
    if (place < 0 || place >= (total ?? 0)) return;
    wanted.current = place;
    setFocused(place);
    seen.reveal(place);
  };
  /** @param {import('react').KeyboardEvent} event @param {number} place @param {Asset} asset */
  const onKey = (event, place, asset) => {
    /** @type {Record<string, number>} */
    const places = {ArrowDown: place + seen.columns, ArrowUp: place - seen.columns, ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: (total ?? 1) - 1};
    const to = places[event.key];
    if (to !== undefined) focus(to);
    else if (event.key === 'F2') void renameAsset(kind, asset);
    else if (event.key === 'Delete') void deleteAsset(kind, asset);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const drawn = Array.from({length: Math.max(0, seen.to - seen.from)}, (_, index) => seen.from + index);
  return div(
    {className: 'library-scroll', ref: seen.scroller},
    ul(
      {ref: list, className: 'library-list', style: {height: seen.height}, 'aria-label': t(`library.kind.${kind}`)},
      drawn.map((place) => {
        const asset = assetAt(state, place);
        const {top, column} = seen.placeOf(place);
        return li(
          {
            key: place,
            'data-place': place,
            'aria-setsize': total ?? undefined,
            'aria-posinset': place + 1,
            className: classes('library-item', hasPictures ? 'library-card' : 'library-line'),
            style: {top, left: `${(100 / seen.columns) * column}%`, width: `${100 / seen.columns}%`},
          },
          asset === undefined
            ? null
            : h(Item, {
                kind,
                asset,
                isStop: place === stop,
                onFocus: () => {
                  wanted.current = null;
                  setFocused(place);
                },
                onKey: (event) => onKey(event, place, asset),
                onMenu: (event) => {
                  event.preventDefault();
                  setMenu({asset, x: event.clientX, y: event.clientY});
                },
              }),
        );
      }),
    ),
    menu ? h(Menu, {items: menuOf(kind, menu.asset), x: menu.x, y: menu.y, label: t('library.more', {name: menu.asset.name}), onClose: () => setMenu(null)}) : null,
  );
}

/**
 * @param {{kind: Kind, asset: Asset, isStop: boolean, onFocus: () => void, onKey: (event: import('react').KeyboardEvent) => void,
 *   onMenu: (event: import('react').MouseEvent) => void}} props
 */
function Item({kind, asset, isStop, onFocus, onKey, onMenu}) {
  const isCharacter = kind === 'character';
  return div(
    {className: 'library-box', onFocus, onContextMenu: onMenu},
    button(
      {type: 'button', className: 'library-open', tabIndex: isStop ? 0 : -1, onClick: () => openAsset(kind, asset.id), onKeyDown: onKey},
      isCharacter ? h(Picture, {id: asset.id, name: asset.name, image: asset.image}) : h(Icon, {name: ICONS[kind], size: 18}),
      span(
        {className: 'library-words'},
        span({className: 'library-name', title: asset.name}, asset.name),
        span({className: 'library-facts'}, [...asset.tags, timeInWords(asset.updated_at)].join(' · ')),
      ),
    ),
    div(
      {className: 'library-tools'},
      isCharacter
        ? h(Button, {label: t('library.chatWith', {name: asset.name}), icon: 'chat', iconOnly: true, tone: 'quiet', onClick: () => void chatWith(asset), rest: {tabIndex: isStop ? 0 : -1}})
        : null,
      h(MenuButton, {label: t('library.more', {name: asset.name}), icon: 'more', iconOnly: true, items: () => menuOf(kind, asset)}),
    ),
  );
}

/** Begin a chat, and bring it to the front. @param {Asset} asset */
async function chatWith(asset) {
  if (await beginChat(asset)) runAction('chat.open');
}

/** @param {Kind} kind @param {Asset} asset @returns {import('../ui/menu.js').MenuItem[]} */
function menuOf(kind, asset) {
  return [
    ...chatsOf(kind, asset),
    {label: t('library.edit'), icon: 'edit', run: () => openAsset(kind, asset.id)},
    {label: t('library.rename'), keys: 'F2', run: () => void renameAsset(kind, asset)},
    {label: t('library.tags'), run: () => void tagAsset(kind, asset)},
    {},
    ...exportsOf(kind, asset),
    {},
    {label: t('library.delete'), icon: 'trash', tone: 'danger', keys: 'Del', run: () => void deleteAsset(kind, asset)},
  ];
}

/**
 * The line of a menu that begins a chat with a character, or has the chat that is open use anything else.
 * @param {Kind} kind @param {Asset} asset @returns {import('../ui/menu.js').MenuItem[]}
 */
function chatsOf(kind, asset) {
  if (kind === 'character') return [{label: t('library.chat'), icon: 'chat', run: () => void chatWith(asset)}];
  const isUsed = isInChat(kind, asset.id);
  return isUsed === null ? [] : [{label: t('library.useInChat'), checked: isUsed, run: () => void toggleInChat(kind, asset)}];
}

/**
 * The lines of a menu that save an asset as a file. Users have no file of their own.
 * @param {Kind} kind @param {Pick<Asset, 'id' | 'name'>} asset @returns {import('../ui/menu.js').MenuItem[]}
 */
export function exportsOf(kind, asset) {
  if (kind === 'user') return [];
  if (kind !== 'character') return [{label: t('library.export'), icon: 'export', run: () => void exportAsset(kind, asset)}];
  return FORMATS.map((format) => ({label: t(`library.export.${format}`), icon: 'export', run: () => void exportAsset(kind, asset, format)}));
}
