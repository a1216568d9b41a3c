/** What changes on the server's side, as it happens: files, and which pipeline is active. */
import {refreshLibrary} from './library.js';
import {notifyFailure} from './notices.js';
import {store} from './store.js';
import {checkUnchecked, compareWithDisk} from './tabs.js';

/**
 * What changed. Handlers of the server's events are called by `events.js`.
 * @param {{kind: string, id: string | null, etag: string | null}} change
 */
export async function applyChange(change) {
  if (change.kind === 'reset' || change.id === null) return catchUpChanges();
  try {
    await refreshLibrary();
    if (change.kind === 'pipeline') await compareWithDisk(change.id);
  } catch (error) {
    notifyFailure(error);
  }
}

/** What happened while the server could not be heard. */
export async function catchUpChanges() {
  checkUnchecked();
  try {
    await refreshLibrary();
    for (const tab of store.get().tabs) if (tab.id !== null) await compareWithDisk(tab.id);
  } catch (error) {
    notifyFailure(error);
  }
}
