/** Texts into the system clipboard. */
import {notify} from '../state/notices.js';

/**
 * Copy a text and say so.
 * @param {string} text
 */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    notify('success', 'run.copied');
  } catch {
    notify('error', 'run.copyFailed');
  }
}
