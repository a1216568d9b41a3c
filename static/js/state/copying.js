/** Texts out of the page: into the system's clipboard, or into a file. */
import {notify} from './notices.js';

/** How much of a copied text is repeated to the user. */
const SHOWN = 80;

/**
 * Copy a text and say so.
 * @param {string} text
 */
export async function copyText(text) {
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
  if (await toClipboard(text)) notify('success', 'app.copied', {text: shown});
  else notify('error', 'app.copyFailed');
}

/**
 * Copy a text.
 * @param {string} text
 * @returns {Promise<boolean>} whether the clipboard has it now
 */
export async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return byCopyEvent(text);
  }
}

/**
 * Without HTTPS there is no `navigator.clipboard`; a copy event of our own making does the same.
 * @param {string} text
 */
function byCopyEvent(text) {
  let isTaken = false;
  const put = (/** @type {ClipboardEvent} */ event) => {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
    event.stopImmediatePropagation();
    isTaken = event.clipboardData !== null;
  };
  document.addEventListener('copy', put, {capture: true, once: true});
  const isDone = document.execCommand('copy');
  document.removeEventListener('copy', put, {capture: true});
  return isDone && isTaken;
}

/**
 * Hand a JSON text to the person as a file.
 * @param {string} name
 * @param {string} text
 */
export function downloadJson(name, text) {
  saveFile(new Blob([text], {type: 'application/json'}), name);
}

/** Hand a file to the person. @param {Blob} content @param {string} name */
export function saveFile(content, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser reads the blob after the click returns.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
