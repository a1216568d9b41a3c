/** To the clipboard, and a word about it. */
import {notify, notifyFailure} from '../state/notices.js';

/** @param {string} text */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    notify('success', 'variables.copied', {text: text.length > 80 ? `${text.slice(0, 80)}…` : text});
  } catch (error) {
    notifyFailure(error, 'variables.copyFailed');
  }
}
