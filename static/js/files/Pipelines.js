/** The pipelines of the server: found, opened, renamed, duplicated, activated, deleted. */
import {runAction} from '../actions.js';
import {fuzzy} from '../core/search.js';
import {h, tags, useRef, useState} from '../h.js';
import {recentIds} from '../state/recent.js';
import {mayChange, mayEdit} from '../state/rights.js';
import {useStore} from '../state/store.js';
import {openPipeline} from '../state/tabs.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Dialog} from '../ui/dialog.js';
import {SelectField, TextField} from '../ui/fields.js';
import {Icon} from '../ui/icons.js';
import {Menu, MenuButton} from '../ui/menu.js';
import {deletePipeline, pipelineMenu} from './pipelinefiles.js';
import {openDialog} from '../state/dialogs.js';

const {button, code, div, li, p, span, time, ul} = tags;

/** @typedef {import('../state/types.js').Summary} Summary */
/** @typedef {'recent' | 'name' | 'changed'} Order */

/** @param {{close: () => void}} props */
export function Pipelines({close}) {
  const pipelines = useStore((state) => state.library.pipelines);
  const [query, setQuery] = useState('');
  const [order, setOrder] = useState(/** @type {Order} */ ('recent'));
  const [menu, setMenu] = useState(/** @type {{id: string, x: number, y: number} | null} */ (null));
  const list = useRef(/** @type {HTMLUListElement | null} */ (null));
  const found = fuzzy(query, sorted(pipelines, order), (one) => `${one.name} ${one.id} ${one.description ?? ''}`);
  /** @param {string | undefined} id */
  const open = (id) => {
    if (id === undefined) return;
    close();
    void openPipeline(id);
  };
  /** @param {Summary} one */
  const itemsOf = (one) => pipelineMenu(one, () => open(one.id));
  /** @param {import('react').KeyboardEvent} event */
  const onKey = (event) => {
    const rows = /** @type {HTMLButtonElement[]} */ ([...(list.current?.querySelectorAll('.file-open') ?? [])]);
    const now = rows.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
    const one = found[now];
    if (event.key === 'ArrowDown') rows[Math.min(now + 1, rows.length - 1)]?.focus();
    else if (event.key === 'ArrowUp' && now >= 0) /** @type {HTMLElement | null} */ (now === 0 ? document.querySelector('.file-search input') : rows[now - 1])?.focus();
    else if (one && mayChange(one.id) && event.key === 'F2') openDialog('rename', {id: one.id});
    else if (one && mayChange(one.id) && event.key === 'Delete' && !one.active) void deletePipeline(one.id);
    else return;
    event.preventDefault();
  };
  const shownMenu = menu && pipelines.find((one) => one.id === menu.id);
  return h(
    Dialog,
    {
      title: t('files.openTitle'),
      size: 'large',
      onClose: close,
      actions: mayEdit() && [
        h(Button, {key: 'templates', label: t('files.action.templates'), icon: 'templates', onClick: () => (close(), void runAction('files.templates'))}),
        h(Button, {key: 'new', label: t('app.action.new'), icon: 'add', tone: 'primary', onClick: () => (close(), void runAction('app.new'))}),
      ],
    },
    div(
      {className: 'pipelines', onKeyDown: onKey},
      mayEdit() ? null : p({className: 'text-soft'}, t('app.mayNotEdit')),
      div(
        {className: 'file-search'},
        h(TextField, {label: t('files.search'), value: query, onChange: setQuery, autoFocus: true, onEnter: () => open(found[0]?.id)}),
        h(SelectField, {
          label: t('files.order'),
          value: order,
          onChange: (value) => setOrder(/** @type {Order} */ (value)),
          options: ['recent', 'name', 'changed'].map((value) => ({value, label: t(`files.order.${value}`)})),
        }),
      ),
      found.length === 0 ? p({className: 'panel-empty'}, t('files.nothingFound')) : null,
      ul(
        {className: 'file-list', 'aria-label': t('files.openTitle'), ref: list},
        found.map((one) =>
          li(
            {key: one.id, onContextMenu: (event) => (event.preventDefault(), setMenu({id: one.id, x: event.clientX, y: event.clientY}))},
            h(Row, {one, onOpen: () => open(one.id)}),
            h(MenuButton, {label: t('files.moreOf', {name: one.name || one.id}), icon: 'more', iconOnly: true, items: () => itemsOf(one)}),
          ),
        ),
      ),
      menu && shownMenu ? h(Menu, {items: itemsOf(shownMenu), x: menu.x, y: menu.y, label: shownMenu.name || shownMenu.id, onClose: () => setMenu(null)}) : null,
    ),
  );
}

/** @param {{one: Summary, onOpen: () => void}} props */
function Row({one, onOpen}) {
  const locale = useStore((state) => state.view.locale);
  return button(
    {type: 'button', className: 'file-open', onClick: onOpen},
    h(Icon, {name: one.valid ? 'graph' : 'warning', className: one.valid ? '' : 'text-bad'}),
    span({className: 'file-name'}, one.name || one.id, code(null, one.id)),
    one.owner === 'account' ? span({className: 'chip'}, t('files.own')) : null,
    one.active ? span({className: 'chip chip-good'}, t('app.active')) : null,
    one.problem_count ? span({className: 'chip chip-bad'}, t('app.problemCount', {n: one.problem_count})) : null,
    time({dateTime: new Date(one.modified).toISOString(), className: 'text-soft'}, new Date(one.modified).toLocaleString(locale)),
  );
}

/** @param {Summary[]} pipelines @param {Order} order */
function sorted(pipelines, order) {
  const byName = [...pipelines].sort((a, b) => (a.name || a.id).localeCompare(b.name || b.id));
  if (order === 'name') return byName;
  if (order === 'changed') return byName.sort((a, b) => b.modified - a.modified);
  const place = new Map(recentIds().map((id, position) => [id, position]));
  return byName.sort((a, b) => (place.get(a.id) ?? Infinity) - (place.get(b.id) ?? Infinity) || 0);
}
