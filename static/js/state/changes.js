/** What changes on the server's side, as it happens: files, and which pipeline is active. */
import {follow} from '../api/events.js';
import {refreshLibrary} from './library.js';
import {notifyFailure} from './notices.js';
import {store} from './store.js';
import {checkUnchecked, compareWithDisk} from './tabs.js';

let isWatching = false;

/**
 * Follow the changes until the page is closed; knows when the server is gone and when it is back.
 * @param {string} lastEventId the last change that is known
 */
export function watchChanges(lastEventId) {
  if (isWatching) return;
  isWatching = true;
  let wasOpen = false;
  follow('/api/changes', {
    lastEventId,
    onEvent: ({data}) => void applyChange(data),
    onState: (state) => {
      // While it connects for the first time nothing is known to be wrong.
      const online = state === 'open' ? true : state === 'connecting' && wasOpen ? false : store.get().server.online;
      wasOpen ||= state === 'open';
      if (online && !store.get().server.online) void catchUp();
      store.set((now) => ({server: {...now.server, online}}));
    },
  }).catch((error) => {
    isWatching = false;
    notifyFailure(error);
  });
}

/** @param {{kind: string, id: string | null, etag: string | null}} change */
async function applyChange(change) {
  if (change.kind === 'reset' || change.id === null) return catchUp();
  try {
    await refreshLibrary();
    if (change.kind === 'pipeline') await compareWithDisk(change.id);
  } catch (error) {
    notifyFailure(error);
  }
}

/** What happened while the server could not be heard. */
async function catchUp() {
  checkUnchecked();
  try {
    await refreshLibrary();
    for (const tab of store.get().tabs) if (tab.id !== null) await compareWithDisk(tab.id);
  } catch (error) {
    notifyFailure(error);
  }
}
