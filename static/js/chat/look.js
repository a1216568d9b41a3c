/** Which page of the chat is shown, and which floor's prompt. */
import {useSyncExternalStore} from '../h.js';
import {createStore} from '../state/store.js';

/** @typedef {'talk' | 'values' | 'memories' | 'sent' | 'tools' | 'state' | 'writes' | 'rules' | 'checks'} PageName */

const look = createStore(/** @type {{page: PageName, floor: string | null, editing: {floor: string, message: string, text: string} | null}} */ ({page: 'talk', floor: null, editing: null}));

export function useLook() {
  return useSyncExternalStore(look.subscribe, look.get);
}

/** @param {PageName} page */
export function showPage(page) {
  look.set({page});
}

/** Show what was sent for a floor. @param {string | null} floor null: for the newest */
export function showSent(floor) {
  look.set({page: 'sent', floor});
}

/** The question that is being edited; null: none. @param {{floor: string, message: string, text: string} | null} editing */
export function setEditing(editing) {
  look.set({editing, ...(editing ? {page: 'talk'} : {})});
}
