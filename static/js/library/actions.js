/** The actions of the library. */
import {openDialog} from '../state/dialogs.js';
import {store} from '../state/store.js';
import {setView} from '../state/view.js';
import {importFiles} from './importing.js';

/** @type {import('../actions.js').Action[]} */
export const libraryActions = [
  {id: 'library.open', title: 'library.action.open', icon: 'folder', keys: ['Alt+L'], global: true, run: () => setView({left: 'library', narrowPage: 'outline'})},
  {
    id: 'library.import',
    title: 'library.action.import',
    icon: 'import',
    run: (/** @type {File[] | undefined} */ files) => {
      if (files) void importFiles(files);
      else if (!store.get().dialogs.some(({kind}) => kind === 'library-import')) openDialog('library-import');
    },
  },
  {id: 'library.connect', title: 'library.connect', icon: 'key', run: () => void openDialog('connect')},
  {id: 'library.mcp', title: 'library.action.mcp', icon: 'link', run: () => void openDialog('mcp')},
  {id: 'library.rules', title: 'library.action.rules', icon: 'note', run: () => void openDialog('rules')},
  {id: 'library.tools', title: 'library.action.tools', icon: 'edit', run: () => void openDialog('tools')},
];
