/** Errors that a budget made, and the page where it stands. */
import {openDialog} from './dialogs.js';

const OF_BUDGETS = new Set(['budget_exceeded', 'price_unknown']);

/** Whether a call was refused for a budget. @param {string | null | undefined} code */
export function isOfBudget(code) {
  return OF_BUDGETS.has(code ?? '');
}

/** Open the budgets, with what was refused. @param {string} code @param {any} [details] of the error */
export function openBudgets(code, details = null) {
  openDialog('usage', {page: 'budgets', refused: {code, ...details}});
}
