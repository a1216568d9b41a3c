/** The button beside the error of a call that opens what mends it: the budgets, or the dialog that connects a model. */
import {h} from '../h.js';
import {callLacksModel, openConnect} from '../state/connecting.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {BudgetButton} from './BudgetButton.js';

/** Nothing for errors of another kind. @param {{code: string | null | undefined, details?: any}} props `details`: of the error */
export function ErrorButton({code, details}) {
  return callLacksModel(code) ? h(Button, {label: t('library.connect'), icon: 'key', onClick: openConnect}) : h(BudgetButton, {code, details});
}
