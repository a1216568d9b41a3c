/** Closing what is edited in a dialog. */
import {ask} from '../state/dialogs.js';
import {t} from '../words.js';

/** Changes that were not saved are asked about first. @param {boolean} isChanged @param {() => void} close */
export async function leave(isChanged, close) {
  if (isChanged) {
    const answer = await ask({title: t('library.unsaved'), text: t('library.unsavedText'), choices: [{id: 'leave', label: t('library.discard'), tone: 'danger'}]});
    if (answer !== 'leave') return;
  }
  close();
}
