/** What happens before the first picture and right after it: language, look, facts, drafts, and the wires to the server. */
import {ApiFailure, onUnauthorised} from './api/client.js';
import {loadDrafts, storage} from './api/drafts.js';
import {listenForKeys} from './actions.js';
import {listenForDrops} from './files/dropping.js';
import {offerTour} from './help/tourstate.js';
import {watchChanges} from './state/changes.js';
import {loadFacts} from './state/library.js';
import {notify, notifyFailure} from './state/notices.js';
import {watchRuns} from './state/runs.js';
import {store} from './state/store.js';
import {isDirty, keepDraftsNow, openPipeline, restoreDraft} from './state/tabs.js';
import {recallView} from './state/view.js';
import {keepFocus} from './ui/focus.js';
import {loadLocale, preferredLocale} from './words.js';

const RETRY_MS = 3000;

let isReopened = false;

/** Prepare the first picture; the rest goes on in the background. */
export async function start() {
  const locale = recallView() ?? preferredLocale();
  const words = loadLocale(locale);
  onUnauthorised(() => store.set((state) => ({server: {...state.server, needsToken: true}})));
  listenForKeys();
  listenForDrops();
  keepFocus();
  addEventListener('pagehide', keepDraftsNow);
  addEventListener('beforeunload', (event) => {
    keepDraftsNow();
    if (store.get().tabs.some((tab) => isDirty(tab) && !tab.readOnly)) event.preventDefault();
  });
  await words;
  void connect();
}

/**
 * Get the facts from the server and open what was open, or the active pipeline; again until it works.
 * @returns {Promise<'connected' | 'refused' | 'offline'>} what the first try gave
 */
export async function connect() {
  try {
    await loadFacts();
  } catch (error) {
    const isOffline = error instanceof ApiFailure && error.status === 0;
    if (error instanceof ApiFailure && error.status === 401) return 'refused';
    store.set((state) => ({server: {...state.server, online: false}}));
    if (!isOffline) notifyFailure(error);
    setTimeout(() => void connect(), RETRY_MS);
    return 'offline';
  }
  watchChanges();
  watchRuns();
  await reopen();
  offerTour();
  return 'connected';
}

/** Open the drafts that were not saved, and the pipeline that the address names, or the active one; once for a page. */
async function reopen() {
  // After a new sign-in the tabs are still there, and so are their drafts.
  if (isReopened) return;
  isReopened = true;
  if ((await storage()).place === 'memory') notify('warning', 'app.draftsNotKept');
  for (const draft of await loadDrafts()) {
    const isOpen = store.get().tabs.some((tab) => tab.id !== null && draft.key === `pipeline:${tab.id}`);
    if (!isOpen) await restoreDraft(draft);
  }
  const wanted = named(location.hash) ?? store.get().server.activePipeline;
  if (wanted && store.get().library.pipelines.some((one) => one.id === wanted)) await openPipeline(wanted);
}

/** The pipeline that the address names; null where it names none, or nothing readable. @param {string} hash */
function named(hash) {
  try {
    return decodeURIComponent(hash.slice(1)) || null;
  } catch {
    // A "%" that escapes nothing: the address was cut or typed by hand.
    return null;
  }
}
