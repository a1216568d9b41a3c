/** The actions of the library. */
import {setView} from '../state/view.js';

/** @type {import('../actions.js').Action[]} */
export const libraryActions = [
  {id: 'library.open', title: 'library.action.open', icon: 'folder', keys: ['Alt+L'], global: true, run: () => setView({left: 'library', narrowPage: 'outline'})},
];
