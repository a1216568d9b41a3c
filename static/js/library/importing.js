/** Files on their way into the library, one after the other, each with the report of what was read of it. */
import {useSyncExternalStore} from '../h.js';
import {api, failureOf} from '../api/client.js';
import {loadList, SESSIONS} from '../state/chats.js';
import {reasonOf} from '../state/failures.js';
import {announce} from '../state/notices.js';
import {openDialog} from '../state/dialogs.js';
import {createStore, store} from '../state/store.js';
import {t} from '../words.js';
import {refresh} from './lists.js';

/**
 * @typedef {object} Arrival a file, and what became of it
 * @property {string} key
 * @property {string} file its name
 * @property {'waiting' | 'reading' | 'done' | 'failed'} state
 * @property {string | null} kind what it was recognised as: a kind of asset, or a chat
 * @property {any} result what the server made of it
 * @property {string | null} error
 */

/** What can be imported. */
export const ACCEPTED = '.json,.png,.charx,.jsonl,.thchat,application/json,image/png';

const arrivals = createStore(/** @type {{list: Arrival[]}} */ ({list: []}));
let count = 0;
/** The files behind the arrivals that wait. @type {Map<string, File>} */
const waiting = new Map();
let isWorking = false;

/** @returns {Arrival[]} */
export function useArrivals() {
  return useSyncExternalStore(arrivals.subscribe, () => arrivals.get().list);
}

/** Forget what arrived, but for what is on its way. */
export function forgetArrivals() {
  arrivals.set(({list}) => ({list: list.filter(({state}) => state === 'waiting' || state === 'reading')}));
}

/** Import files and show their reports. @param {readonly File[]} files */
export async function importFiles(files) {
  if (files.length === 0) return;
  const added = files.map((file) => {
    const key = `arrival-${++count}`;
    waiting.set(key, file);
    return {key, file: file.name, state: /** @type {const} */ ('waiting'), kind: null, result: null, error: null};
  });
  arrivals.set(({list}) => ({list: [...list, ...added]}));
  if (!store.get().dialogs.some(({kind}) => kind === 'library-import')) openDialog('library-import');
  if (isWorking) return;
  isWorking = true;
  for (let [next] = waiting; next !== undefined; [next] = waiting) await importOne(...next);
  isWorking = false;
  const {list} = arrivals.get();
  announce(t('library.imported', {n: list.filter(({state}) => state === 'done').length}));
  await Promise.all([refresh(), loadList(SESSIONS)]);
}

/** @param {string} key @param {File} file */
async function importOne(key, file) {
  /** @param {Partial<Arrival>} patch */
  const put = (patch) => arrivals.set(({list}) => ({list: list.map((one) => (one.key === key ? {...one, ...patch} : one))}));
  put({state: 'reading'});
  try {
    const form = new FormData();
    form.append('file', file);
    const response = await api.raw('/import/auto', {method: 'POST', body: form, headers: {accept: 'application/json'}});
    const text = await response.text();
    if (!response.ok) throw failureOf(response.status, text);
    put({state: 'done', ...JSON.parse(text).data});
  } catch (error) {
    put({state: 'failed', error: reasonOf(error)});
  } finally {
    waiting.delete(key);
  }
}
