/** The open documents. */
import {menuItem, runAction} from '../actions.js';
import {classes, h, tags, useState} from '../h.js';
import {mayEdit} from '../state/rights.js';
import {store, useStore} from '../state/store.js';
import {activateTab, closeTab, docOf, isDirty, newPipeline} from '../state/tabs.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Icon} from '../ui/icons.js';
import {Menu} from '../ui/menu.js';

const {button, div, nav, span} = tags;

export function TabBar() {
  const tabs = useStore((state) => state.tabs);
  const active = useStore((state) => state.activeTab);
  const activeId = useStore((state) => state.server.activePipeline);
  const isFree = useStore(mayEdit);
  if (tabs.length === 0) return null;
  /** @param {import('react').KeyboardEvent} event */
  const onKey = (event) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : undefined;
    const now = tabs.findIndex((tab) => tab.key === active);
    if (event.key === 'Delete' && active) void closeTab(active);
    else if (step !== undefined) activateTab(tabs[(now + step + tabs.length) % tabs.length].key);
    else return;
    event.preventDefault();
    const list = event.currentTarget;
    requestAnimationFrame(() => /** @type {HTMLElement | null} */ (list.querySelector('[aria-selected="true"]'))?.focus());
  };
  return nav(
    {className: 'tabbar', 'aria-label': t('app.documents')},
    div(
      {className: 'tabbar-list', role: 'tablist', 'aria-label': t('app.documents'), onKeyDown: onKey},
      tabs.map((tab) => h(DocumentTab, {key: tab.key, tab, isFront: tab.key === active, isActive: tab.id !== null && tab.id === activeId})),
    ),
    isFree ? h(Button, {label: t('app.action.new'), icon: 'add', iconOnly: true, tone: 'quiet', onClick: () => newPipeline()}) : null,
    isFree ? h(Button, {label: t('files.action.templates'), icon: 'grid', iconOnly: true, tone: 'quiet', onClick: () => void runAction('files.templates')}) : null,
  );
}

/** @param {{tab: import('../state/types.js').Tab, isFront: boolean, isActive: boolean}} props */
function DocumentTab({tab, isFront, isActive}) {
  const name = docOf(tab).name || t('app.untitled');
  const [menu, setMenu] = useState(/** @type {{x: number, y: number} | null} */ (null));
  const marks = [isDirty(tab) && !tab.readOnly && t('app.unsaved'), isActive && t('app.active'), tab.valid === false && t('app.invalid')].filter(Boolean);
  // The right button, a long press, or the menu key, which knows no point.
  /** @param {import('react').MouseEvent} event */
  const onMenu = (event) => {
    event.preventDefault();
    activateTab(tab.key);
    const box = event.currentTarget.getBoundingClientRect();
    setMenu(event.clientX ? {x: event.clientX, y: event.clientY} : {x: box.left, y: box.bottom});
  };
  return div(
    {className: classes('doc-tab', isFront && 'doc-tab-front'), role: 'presentation', onContextMenu: onMenu},
    button(
      {
        type: 'button',
        role: 'tab',
        'aria-selected': isFront,
        'aria-controls': 'stage',
        tabIndex: isFront ? 0 : -1,
        className: 'doc-tab-name',
        title: [tab.id ?? t('app.notSavedYet'), ...marks, t('app.deleteCloses')].join(' · '),
        onClick: () => activateTab(tab.key),
        onAuxClick: (event) => {
          if (event.button === 1) void closeTab(tab.key);
        },
      },
      tab.readOnly ? h(Icon, {name: 'lock', size: 12}) : isActive ? h(Icon, {name: 'power', size: 12, className: 'text-good'}) : null,
      span({className: 'doc-tab-text'}, name),
      tab.valid === false ? h(Icon, {name: 'warning', size: 12, className: 'text-bad'}) : null,
      isDirty(tab) && !tab.readOnly ? span({className: 'dirty', 'aria-hidden': true}, '●') : null,
      marks.length ? span({className: 'visually-hidden'}, marks.join(', ')) : null,
    ),
    h(Button, {
      label: t('app.closeNamed', {name}),
      icon: 'close',
      iconOnly: true,
      tone: 'quiet',
      className: 'doc-tab-close',
      onClick: () => void closeTab(tab.key),
      // Within a list of tabs only tabs may be reached; the keyboard closes one with Delete.
      rest: {tabIndex: -1, 'aria-hidden': true},
    }),
    menu ? h(Menu, {items: tabMenu(tab.key), ...menu, label: t('app.tabMenu', {name}), onClose: () => setMenu(null)}) : null,
  );
}

/**
 * What can be done to the document in front, and to its neighbours.
 * @param {string} key
 * @returns {import('../ui/menu.js').MenuItem[]}
 */
function tabMenu(key) {
  const others = store.get().tabs.filter((tab) => tab.key !== key);
  const closeOthers = async () => {
    for (const tab of others) if (!(await closeTab(tab.key))) return;
  };
  return [
    menuItem('app.save'),
    menuItem('app.saveAs'),
    menuItem('files.rename'),
    menuItem('files.duplicate'),
    menuItem('files.versions'),
    menuItem('files.export'),
    menuItem('app.activate'),
    {},
    menuItem('app.closeTab'),
    {label: t('app.closeOthers'), icon: 'close', disabled: others.length === 0, run: () => void closeOthers()},
    {},
    menuItem('files.remove', {tone: 'danger'}),
  ];
}
