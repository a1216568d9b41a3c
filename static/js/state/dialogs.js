/** Dialogs that are open, by kind; `dialogs.js` of the root says which component shows which kind. */
import {store} from './store.js';

let count = 0;

/**
 * Open a dialog in front of the others.
 * @param {string} kind
 * @param {Record<string, any>} [props]
 * @returns {string} its key
 */
export function openDialog(kind, props = {}) {
  const key = `dialog-${++count}`;
  store.set((state) => ({dialogs: [...state.dialogs, {key, kind, props}]}));
  return key;
}

/** @param {string} [key] the one in front unless told */
export function closeDialog(key) {
  store.set((state) => ({
    dialogs: key ? state.dialogs.filter((dialog) => dialog.key !== key) : state.dialogs.slice(0, -1),
  }));
}

/** A dialog that had to be loaded is there now: messages move into it. */
export function dialogCame() {
  store.set(({dialogs}) => ({dialogs: [...dialogs]}));
}

/**
 * Ask a question; the answer is the id of the choice, or null when the dialog was closed.
 * @param {{title: string, text: string, details?: string[], choices: {id: string, label: string, tone?: 'primary' | 'danger'}[]}} question
 * @returns {Promise<string | null>}
 */
export function ask(question) {
  return new Promise((answer) => openDialog('question', {...question, answer}));
}

/**
 * Ask for one line of text; null when the dialog was closed.
 * @param {{title: string, label: string, value?: string, hint?: string, confirm: string, check?: (value: string) => string | null}} question
 *   `check` gives the reason why a value is refused
 * @returns {Promise<string | null>}
 */
export function askText(question) {
  return new Promise((answer) => openDialog('text', {...question, answer}));
}
