/** The actions of the variables and the sessions. */
import {openDialog} from '../state/dialogs.js';
import {refreshStored} from '../state/session.js';
import {setView, openDock} from '../state/view.js';
import {newSession, reloadAll} from '../state/chats.js';

/** @type {import('../actions.js').Action[]} */
export const variablesActions = [
  {id: 'variables.open', title: 'variables.action.open', icon: 'variable', keys: ['Alt+V'], global: true, run: () => openDock('variables')},
  {id: 'variables.sessions', title: 'variables.action.sessions', icon: 'chat', keys: ['Alt+C'], global: true, run: () => setView({left: 'sessions', narrowPage: 'outline'})},
  {id: 'variables.newSession', title: 'variables.newSession', icon: 'add', run: () => newSession()},
  {id: 'variables.import', title: 'variables.bulk.import', icon: 'import', run: () => openDialog('variables-bulk', {mode: 'import', items: []})},
  {id: 'variables.refresh', title: 'variables.refresh', icon: 'refresh', run: () => Promise.all([refreshStored(), reloadAll()])},
];
