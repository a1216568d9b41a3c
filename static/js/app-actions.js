/** The actions of the editor as a whole: files, undo, panels. */
import {openDialog} from './state/dialogs.js';
import {activatePipeline} from './state/library.js';
import {activeTab, activateTab, closeTab, isDirty, newPipeline, openPipeline, redo, saveTab, undo} from './state/tabs.js';
import {setView, maximizeDock, toggleDock, toggleLeft} from './state/view.js';
import {canRedo, canUndo} from './core/history.js';
import {isOwn, lockOf, mayEdit} from './state/rights.js';
import {store} from './state/store.js';

/** @typedef {import('./state/types.js').State} State */

/** @param {State} state */
const hasTab = (state) => activeTab(state) !== null;
/** @param {State} state */
const canEdit = (state) => {
  const tab = activeTab(state);
  return tab !== null && lockOf(tab, state) === null;
};

/** @param {number} step */
function nextTab(step) {
  const {tabs, activeTab: key} = store.get();
  const now = tabs.findIndex((tab) => tab.key === key);
  if (tabs.length > 1) activateTab(tabs[(now + step + tabs.length) % tabs.length].key);
}

/** @type {import('./actions.js').Action[]} */
export const appActions = [
  {id: 'app.new', title: 'app.action.new', icon: 'add', keys: ['Alt+N'], global: true, when: mayEdit, run: () => newPipeline()},
  {id: 'app.open', title: 'app.action.open', icon: 'folder', keys: ['Ctrl+O'], global: true, run: (id) => (id ? openPipeline(id) : openDialog('open'))},
  {id: 'app.save', title: 'app.action.save', icon: 'disk', keys: ['Ctrl+S'], global: true, when: canEdit, run: () => saveTab()},
  {
    id: 'app.saveAs',
    title: 'app.action.saveAs',
    keys: ['Ctrl+Shift+S'],
    global: true,
    when: (state) => hasTab(state) && mayEdit(state),
    run: () => openDialog('save-as', {tab: activeTab()?.key}),
  },
  {
    id: 'app.activate',
    title: 'app.action.activate',
    icon: 'power',
    when: (state) => {
      const tab = activeTab(state);
      return !!tab && tab.id !== null && lockOf(tab, state) === null && tab.valid !== false && !isDirty(tab) && !isOwn(tab.id) && tab.id !== state.server.activePipeline;
    },
    run: () => activatePipeline(activeTab()?.id ?? ''),
  },
  {id: 'app.closeTab', title: 'app.action.closeTab', icon: 'close', keys: ['Alt+W'], global: true, when: hasTab, run: () => closeTab(activeTab()?.key ?? '')},
  {id: 'app.nextTab', title: 'app.action.nextTab', keys: ['Alt+PageDown'], global: true, run: () => nextTab(1)},
  {id: 'app.previousTab', title: 'app.action.previousTab', keys: ['Alt+PageUp'], global: true, run: () => nextTab(-1)},
  {
    id: 'app.undo',
    title: 'app.action.undo',
    icon: 'undo',
    keys: ['Ctrl+Z'],
    when: (state) => canEdit(state) && canUndo(/** @type {any} */ (activeTab(state)).history),
    run: undo,
  },
  {
    id: 'app.redo',
    title: 'app.action.redo',
    icon: 'redo',
    keys: ['Ctrl+Shift+Z', 'Ctrl+Y'],
    when: (state) => canEdit(state) && canRedo(/** @type {any} */ (activeTab(state)).history),
    run: redo,
  },
  {id: 'app.toggleLeft', title: 'app.action.toggleLeft', keys: ['Ctrl+B'], global: true, run: () => toggleLeft(store.get().view.left ?? 'nodes')},
  {
    id: 'app.toggleInspector',
    title: 'app.action.toggleInspector',
    keys: ['Ctrl+I'],
    run: () => setView({inspectorOpen: !store.get().view.inspectorOpen}),
  },
  {id: 'app.toggleDock', title: 'app.action.toggleDock', keys: ['Ctrl+J'], global: true, run: () => toggleDock(store.get().view.dock ?? 'run')},
  {id: 'app.maximizeDock', title: 'app.action.maximizeDock', icon: 'maximize', keys: ['Alt+J'], global: true, run: maximizeDock},
];
