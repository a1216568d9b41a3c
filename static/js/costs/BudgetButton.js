/** The button of errors that a budget made: it opens the budgets. */
import {h} from '../h.js';
import {isOfBudget, openBudgets} from '../state/budgets.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';

/** Nothing for errors of another kind. @param {{code: string | null | undefined, details?: any}} props `details`: of the error */
export function BudgetButton({code, details}) {
  return isOfBudget(code) ? h(Button, {label: t('app.budgets'), icon: 'coins', onClick: () => openBudgets(code ?? '', details)}) : null;
}
