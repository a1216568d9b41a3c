/** The line at the top: which pipeline, and what is done most. */
import {canRun, menuItem} from '../actions.js';
import {classes, h, tags} from '../h.js';
import {canRedo, canUndo} from '../core/history.js';
import {hasPeople, lockOf, mayManagePeople} from '../state/rights.js';
import {shallow, useStore} from '../state/store.js';
import {activeTab, docOf, isDirty} from '../state/tabs.js';
import {toggleDock} from '../state/view.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Icon} from '../ui/icons.js';
import {MenuButton} from '../ui/menu.js';

const {div, h1, header, span} = tags;

export function TopBar() {
  const now = useStore((state) => {
    const tab = activeTab(state);
    return {
      name: tab ? docOf(tab).name || t('app.untitled') : null,
      id: tab?.id ?? null,
      isDirty: !!tab && isDirty(tab) && !tab.readOnly,
      lock: tab && lockOf(tab, state),
      isActive: !!tab && tab.id !== null && tab.id === state.server.activePipeline,
      canUndo: !!tab && lockOf(tab, state) === null && canUndo(tab.history),
      canRedo: !!tab && lockOf(tab, state) === null && canRedo(tab.history),
      errors: tab?.problems.filter((one) => one.severity === 'error').length ?? 0,
      warnings: tab?.problems.filter((one) => one.severity === 'warning').length ?? 0,
      saving: !!tab?.saving,
      canActivate: canRun('app.activate', state),
      online: state.server.online,
      me: state.server.me && (state.server.me.name || state.server.me.account_id),
    };
  }, shallow);
  const hasTab = now.name !== null;
  const problems = now.errors + now.warnings;
  return header(
    {className: 'topbar'},
    div(
      {className: 'topbar-brand'},
      h1({className: 'brand', translate: 'no'}, h(Icon, {name: 'graph', size: 18}), 'agentui'),
      h(MenuButton, {label: t('app.menu'), icon: 'menu', iconOnly: true, items: mainMenu}),
    ),
    div(
      {className: 'topbar-title'},
      hasTab
        ? span(
            {className: 'topbar-name', title: now.name ?? ''},
            now.name,
            now.isDirty ? span({className: 'dirty', title: t('app.unsaved')}, '●', span({className: 'visually-hidden'}, t('app.unsaved'))) : null,
          )
        : null,
      now.isActive ? span({className: 'chip chip-good'}, h(Icon, {name: 'check', size: 12}), t('app.active')) : null,
      now.lock !== null ? span({className: 'chip', title: now.lock}, h(Icon, {name: 'lock', size: 12}), t('app.viewing')) : null,
      now.online ? null : span({className: 'chip chip-bad', role: 'status'}, h(Icon, {name: 'warning', size: 12}), t('app.offline')),
    ),
    div(
      {className: 'topbar-actions', role: 'toolbar', 'aria-label': t('app.toolbar')},
      h(Button, action('app.undo', {iconOnly: true, tone: 'quiet', disabled: !now.canUndo})),
      h(Button, action('app.redo', {iconOnly: true, tone: 'quiet', disabled: !now.canRedo})),
      h(Button, {
        label: t('app.problems'),
        icon: problems ? 'warning' : 'check',
        iconOnly: true,
        tone: 'quiet',
        count: problems ? String(problems) : undefined,
        className: classes(now.errors > 0 && 'text-bad', now.errors === 0 && now.warnings > 0 && 'text-warn'),
        disabled: !hasTab,
        onClick: () => toggleDock('problems'),
      }),
      h(Button, action('help.palette', {iconOnly: true, tone: 'quiet'})),
      h(Button, {...action('run.open', {disabled: !hasTab}), label: t('app.try'), className: 'topbar-try'}),
      h(Button, {
        ...action('app.activate', {disabled: !now.canActivate}),
        label: t('app.activate'),
        title: now.canActivate ? t('app.action.activate') : (now.lock ?? t(now.isActive ? 'app.activeAlready' : 'app.activateFirst')),
        className: 'wide-only',
      }),
      h(Button, {
        ...action('app.save', {disabled: !hasTab || now.lock !== null || now.saving}),
        ...(now.lock === null ? {} : {title: now.lock}),
        label: now.saving ? t('app.saving') : t('app.save'),
        tone: now.isDirty ? 'primary' : 'plain',
      }),
    ),
    now.me === null
      ? null
      : h(MenuButton, {label: t('app.youAre', {name: now.me}), text: now.me, icon: 'user', className: 'topbar-me', items: myMenu}),
  );
}

/**
 * The button of an action.
 * @param {string} id
 * @param {Partial<import('../ui/buttons.js').ButtonProps>} [more]
 */
function action(id, more) {
  const {label, icon, keys, run} = menuItem(id);
  return {label, icon, keys, title: label, onClick: () => run?.(), ...more};
}

/** What whoever is here may do about that. @returns {import('../ui/menu.js').MenuItem[]} */
function myMenu() {
  const people = mayManagePeople() ? [menuItem('accounts.people')] : [];
  return [menuItem('accounts.mine'), menuItem('accounts.keys'), ...people, {}, ...counted(), {}, menuItem('accounts.signOut')];
}

/** @returns {import('../ui/menu.js').MenuItem[]} */
function mainMenu() {
  // Who has a name finds these behind it.
  const own = hasPeople() ? [] : counted();
  return [
    menuItem('app.new'),
    menuItem('app.open'),
    menuItem('files.templates'),
    menuItem('files.import'),
    menuItem('files.export'),
    {},
    menuItem('app.save'),
    menuItem('app.saveAs'),
    menuItem('app.activate'),
    menuItem('files.versions'),
    menuItem('files.rename'),
    menuItem('files.duplicate'),
    menuItem('files.remove', {tone: 'danger'}),
    {},
    menuItem('library.connect'),
    menuItem('files.keys'),
    menuItem('library.mcp'),
    menuItem('library.rules'),
    menuItem('library.tools'),
    ...own,
    menuItem('help.settings'),
    menuItem('help.shortcuts'),
    menuItem('help.tour'),
  ];
}

/** What this server counts. @returns {import('../ui/menu.js').MenuItem[]} */
function counted() {
  return [menuItem('usage.open'), menuItem('usage.budgets'), menuItem('usage.log')];
}
