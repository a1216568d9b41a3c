/** What changes on the server's side, as it happens: files, and which pipeline is active. */
import {follow} from '../api/events.js';
import {refreshLibrary} from './library.js';
import {notifyFailure} from './notices.js';
import {store} from './store.js';
import {checkUnchecked, compareWithDisk} from './tabs.js';

let isWatching = false;

/** Follow the changes until the page is closed; knows when the server is gone and when it is back. */
export function watchChanges() {
  if (isWatching) return;
  isWatching = true;
  follow('/api/changes', {
    onEvent: ({data}) => void applyChange(data),
    onState: (state) => {
      const online = state === 'open' ? true : state === 'connecting' ? false : store.get().server.online;
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
