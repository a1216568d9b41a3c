/** The actions that help: palette, shortcuts, settings, tour. */
import {openDialog} from '../state/dialogs.js';
import {store} from '../state/store.js';
import {startTour} from './tourstate.js';

/** Opening twice would stack two of the same. @param {string} kind @param {Record<string, any>} [props] */
function openOnce(kind, props) {
  if (!store.get().dialogs.some((dialog) => dialog.kind === kind)) openDialog(kind, props);
}

/** @type {import('../actions.js').Action[]} */
export const helpActions = [
  {id: 'help.palette', title: 'help.action.palette', icon: 'command', keys: ['Ctrl+K', 'Ctrl+Shift+P'], global: true, run: () => openOnce('palette')},
  {id: 'help.shortcuts', title: 'help.action.shortcuts', icon: 'keyboard', keys: ['?'], run: () => openOnce('shortcuts')},
  {id: 'help.settings', title: 'help.action.settings', icon: 'settings', keys: ['Ctrl+,'], global: true, run: () => openOnce('settings')},
  {id: 'help.tour', title: 'help.action.tour', icon: 'help', when: (state) => state.activeTab !== null, run: () => startTour()},
];
