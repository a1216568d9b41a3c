/** The actions of what calls cost, and of who did what. */
import {openDialog} from '../state/dialogs.js';

/** @type {import('../actions.js').Action[]} */
export const usageActions = [
  {id: 'usage.open', title: 'usage.action.open', icon: 'coins', run: () => openDialog('usage')},
  {id: 'usage.budgets', title: 'usage.action.budgets', icon: 'lock', run: () => openDialog('usage', {page: 'budgets'})},
  {id: 'usage.log', title: 'usage.action.log', icon: 'history', run: () => openDialog('usage', {page: 'log'})},
];
