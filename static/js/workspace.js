/**
 * What a reload gives back: the open tabs with their selections and talks, and the chosen chat. The address names the pipeline in
 * front, so that it can be shared and kept.
 */
import {isObject} from './core/doc.js';
import {keptTalk, restoreTalk, talks} from './run/conversation.js';
import {notify} from './state/notices.js';
import {claimDrafts, draftName, fileOf} from './state/pages.js';
import {chooseSession} from './state/session.js';
import {store} from './state/store.js';
import {activateTab, activeTab, draftKey, newPipeline, openPipeline, restoreDraft, selectIn} from './state/tabs.js';

/** @typedef {import('./state/types.js').Tab} Tab */
/** @typedef {{key: string, id: string | null, draft: string, selection: import('./state/types.js').Selection, talk: any}} KeptTab */

const KEPT = 'agentui.tabs';
const REST_MS = 300;

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** Open the tabs of before the reload, the drafts that are nobody's, and the pipeline that the address names, or the active one. */
export async function reopenWorkspace() {
  const kept = recall();
  const drafts = new Map((await claimDrafts()).map((draft) => [draft.key, draft]));
  for (const entry of kept.tabs) {
    // A page that could not keep its name has its drafts under another one.
    const draft = drafts.get(entry.draft) ?? [...drafts.values()].find((one) => entry.id !== null && fileOf(one) === entry.id);
    if (draft) drafts.delete(draft.key);
    const tab = draft ? await restoreDraft(draft, {key: entry.key}) : await reopen(entry);
    if (!tab) continue;
    selectIn(tab.key, entry.selection);
    if (isObject(entry.talk)) restoreTalk(tab.key, entry.talk);
  }
  for (const draft of drafts.values()) await restoreDraft(draft);
  if (kept.session !== null) chooseSession({session: kept.session, branch: kept.branch});
  const {tabs, server} = store.get();
  const front = tabs.find((tab) => tab.key === kept.front);
  if (front) activateTab(front.key);
  if (!(await openNamed()) && !front && server.activePipeline) await openPipeline(server.activePipeline);
}

/** A tab without edits. @param {KeptTab} entry @returns {Promise<Tab | null>} */
async function reopen({id, key, draft}) {
  // A copy of a browser tab has the other one's list, and must not have its new documents.
  if (id === null) return draft === draftName(null, key) ? newPipeline(undefined, {key}) : null;
  return isThere(id) ? openPipeline(id, {key}) : null;
}

/** @param {string} id */
function isThere(id) {
  return store.get().library.pipelines.some((one) => one.id === id);
}

/**
 * Bring the pipeline to the front that the address names.
 * @returns {Promise<boolean>} false where it names none that is there
 */
async function openNamed() {
  const id = named(location.hash);
  if (id === null) return false;
  if (isThere(id)) return (await openPipeline(id)) !== null;
  // A place in the page has an address as well.
  if (!document.getElementById(id)) notify('warning', 'app.noPipeline', {id});
  return false;
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

/** Write down what is open as it changes, and keep the address true, for as long as the page lives. */
export function keepWorkspace() {
  const soon = () => {
    timer ??= setTimeout(keep, REST_MS);
  };
  store.subscribe(() => {
    writeAddress();
    soon();
  });
  talks.subscribe(soon);
  addEventListener('pagehide', keep);
  addEventListener('hashchange', () => void openNamed().then(writeAddress));
  writeAddress();
  keep();
  performance.mark('reopened');
}

/** The address of the tab in front, without a step in the browser's history. */
function writeAddress() {
  const tab = activeTab();
  const id = tab && !tab.readOnly ? tab.id : null;
  const hash = id === null ? '' : `#${encodeURIComponent(id)}`;
  if (location.hash !== hash) history.replaceState(history.state, '', `${location.pathname}${location.search}${hash}`);
}

function keep() {
  clearTimeout(timer);
  timer = undefined;
  const {tabs, activeTab: front, session} = store.get();
  const open = tabs
    .filter((tab) => !tab.readOnly)
    .map((tab) => ({key: tab.key, id: tab.id, draft: draftKey(tab), selection: tab.selection, talk: keptTalk(tab.key)}));
  try {
    sessionStorage.setItem(KEPT, JSON.stringify({tabs: open, front, session: session.session, branch: session.branch}));
  } catch {
    // Storage is full or forbidden: after a reload the drafts are there, and the active pipeline.
  }
}

/**
 * What was kept; nothing where that cannot be read.
 * @returns {{tabs: KeptTab[], front: string | null, session: string | null, branch: string | null}}
 */
function recall() {
  const nothing = {tabs: [], front: null, session: null, branch: null};
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? 'null');
    return isObject(kept) && Array.isArray(kept.tabs) ? /** @type {any} */ ({...nothing, ...kept}) : nothing;
  } catch {
    // Written by another version, or storage is forbidden.
    return nothing;
  }
}
