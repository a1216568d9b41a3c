/** Which page of the run that is shown is in front: the chat where it has no place of its own, the timeline, a node, the history. */
import {useSyncExternalStore} from '../h.js';
import {createStore} from '../state/store.js';

const front = createStore({page: 'chat'});

/** @param {string} page */
export function showPage(page) {
  front.set({page});
}

/** The page that was chosen last. */
export function usePage() {
  return useSyncExternalStore(front.subscribe, () => front.get().page);
}
