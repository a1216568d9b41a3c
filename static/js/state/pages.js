/**
 * Which page of this browser a draft belongs to. A page keeps its name over a reload, and holds a lock of that name as long as it
 * lives, so that the others know whose drafts are nobody's any more.
 *
 * Browsers give locks to pages from HTTPS or this machine only. Elsewhere every draft counts as nobody's.
 */
import {loadDrafts, removeDraft, saveDraft} from '../api/drafts.js';

/** @typedef {import('../api/drafts.js').Draft} Draft */

const KEPT = 'agentui.page';
/** How long the page before a reload may take to let go of its name. */
const RELOAD_MS = 2000;

/** Whether this is the page before the reload, loaded again. */
let isReloaded = false;
let name = [...crypto.getRandomValues(new Uint8Array(4))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** Take the name of the page before the reload; a copy of a living page gets one of its own. Comes before everything else here. */
export async function claimPage() {
  try {
    const kept = sessionStorage.getItem(KEPT) ?? '';
    isReloaded = /^[0-9a-f]{8}$/.test(kept) && (await hold(kept, AbortSignal.timeout(RELOAD_MS)));
    if (isReloaded) name = kept;
    else await hold(name);
    sessionStorage.setItem(KEPT, name);
  } catch {
    // Storage is forbidden: after a reload the drafts are those of a page that is gone, and are taken over.
  }
}

/**
 * @param {string} page
 * @param {AbortSignal} [signal] until when to wait for a page that has this name
 * @returns {Promise<boolean>} false where another page has it
 */
function hold(page, signal) {
  return new Promise((resolve) => {
    if (!navigator.locks) return resolve(true);
    const keep = () => {
      resolve(true);
      return new Promise(() => {});
    };
    navigator.locks.request(lockOf(page), {signal}, keep).catch(() => resolve(false));
    return undefined;
  });
}

/** @param {string} page */
function lockOf(page) {
  return `agentui page ${page}`;
}

/**
 * What the draft of a document is called in this page.
 * @param {string | null} id the file's id
 * @param {string} tab the key of its tab, which names a document without a file
 */
export function draftName(id, tab) {
  return id === null ? `new:${name}:${tab}` : `pipeline:${name}:${id}`;
}

/**
 * The file that a draft belongs to; null for a document that has none.
 * @param {Draft} draft
 */
export function fileOf({key}) {
  return /^pipeline:(?:[0-9a-f]{8}:)?(.*)$/s.exec(key)?.[1] ?? null;
}

/**
 * The drafts of this page, and, where it is a new one, those of pages that are gone, which are this page's from now on; the newest
 * first. A page that is loaded again takes nobody's: when a browser comes back, the others are on their way as well.
 * @returns {Promise<Draft[]>}
 */
export async function claimDrafts() {
  // Of two pages that start at once, one may have a draft.
  return navigator.locks ? navigator.locks.request('agentui drafts', claim) : claim();
}

/** @returns {Promise<Draft[]>} */
async function claim() {
  const held = new Set(((await navigator.locks?.query())?.held ?? []).map((lock) => lock.name));
  const mine = [];
  for (const draft of await loadDrafts()) {
    const owner = /^(?:new|pipeline):([0-9a-f]{8}):/.exec(draft.key)?.[1];
    if (owner === name) mine.push(draft);
    else if (!isReloaded && (owner === undefined || !held.has(lockOf(owner)))) mine.push(await adopt(draft));
  }
  return mine;
}

/** @param {Draft} draft @returns {Promise<Draft>} */
async function adopt(draft) {
  const {key: old, isOld, kept, ...content} = draft;
  const file = fileOf(draft);
  const wanted = draftName(file, old);
  // A file's second draft is kept as a document of its own.
  const taken = new Set((await loadDrafts()).map((one) => one.key));
  const key = taken.has(wanted) ? draftName(null, old) : wanted;
  await saveDraft(key, content);
  await removeDraft(old);
  return {...content, key, isOld, kept};
}
