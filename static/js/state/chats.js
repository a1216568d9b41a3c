/** The lists of the memory as far as they were read: sessions, their branches, floors and pages; and what is done to them. */
import {useSyncExternalStore} from '../h.js';
import {ApiFailure} from '../api/client.js';
import {ask, askText} from './dialogs.js';
import {readMemory, withQuery, writeMemory} from './memory.js';
import {notify} from './notices.js';
import {chooseSession, onTurn, refreshStored} from './session.js';
import {createStore, store} from './store.js';
import {t} from '../words.js';
import {reasonOf} from './failures.js';
import {sessionLabel} from './labels.js';

/**
 * Which list: of sessions, of the branches of one, of the floors of a branch, of the pages of a floor.
 * @typedef {{of: 'sessions'} | {of: 'branches', session: string} | {of: 'floors', session: string, branch: string} | {of: 'pages', floor: string}} ListName
 *
 * @typedef {object} List
 * @property {'idle' | 'loading' | 'ready' | 'failed'} state
 * @property {any[]} items
 * @property {boolean} hasMore
 * @property {number} total
 * @property {string | null} error
 *
 * @typedef {object} Chats
 * @property {Record<string, List>} lists
 * @property {Record<string, string | null>} words the first words of a floor's input; null: there are none
 * @property {string} keyword
 * @property {'active' | 'archived' | 'all'} status
 * @property {string[]} open the nodes of the tree that are unfolded
 */

/** @type {ListName} */
export const SESSIONS = Object.freeze({of: 'sessions'});
/** @param {string} session @returns {ListName} */
export const branchesOf = (session) => ({of: 'branches', session});
/** @param {string} session @param {string} branch @returns {ListName} */
export const floorsOf = (session, branch) => ({of: 'floors', session, branch});
/** @param {string} floor @returns {ListName} */
export const pagesOf = (floor) => ({of: 'pages', floor});

const PAGE = 50;
const MOST = {sessions: 200, branches: 100, floors: 200, pages: 100};
const AT_ONCE = 4;
const REST_MS = 300;
const MAX_TITLE = 200;
const MAX_BRANCH = 100;

/** @type {List} */
const NOTHING = Object.freeze({state: 'idle', items: [], hasMore: false, total: 0, error: null});

export const chats = createStore(/** @type {Chats} */ ({lists: {}, words: {}, keyword: '', status: 'active', open: []}));

/** @param {ListName} list */
export function keyOf(list) {
  return JSON.stringify(list);
}

/** What was read and found. @template T @param {(state: Chats) => T} select @returns {T} */
export function useChats(select) {
  return useSyncExternalStore(chats.subscribe, () => select(chats.get()));
}

/** @param {ListName | null} list @returns {List} */
export function useList(list) {
  const key = list ? keyOf(list) : '';
  return useChats((state) => state.lists[key] ?? NOTHING);
}

/** @param {ListName} list */
export function knownList(list) {
  return chats.get().lists[keyOf(list)] ?? NOTHING;
}

/** @param {ListName} list @param {number} limit @param {number} offset */
function pathOf(list, limit, offset) {
  const {keyword, status} = chats.get();
  if (list.of === 'sessions') {
    return withQuery('/sessions', {keyword: keyword.trim(), status: status === 'all' ? null : status, sort_by: 'updated_at', sort_order: 'desc', limit, offset});
  }
  if (list.of === 'branches') {
    return withQuery(`/sessions/${encodeURIComponent(list.session)}/branches`, {sort_by: 'branch_id', sort_order: 'asc', limit, offset});
  }
  if (list.of === 'floors') {
    return withQuery('/floors', {session_id: list.session, branch_id: list.branch, sort_by: 'floor_no', sort_order: 'desc', limit, offset});
  }
  return withQuery('/pages', {floor_id: list.floor, sort_by: 'page_no', sort_order: 'asc', limit, offset});
}

/** The newest reading of each list; older answers are not taken. @type {Map<string, number>} */
const readings = new Map();

/**
 * Read a list, or more of it.
 * @param {ListName} list
 * @param {{more?: boolean, unlessKnown?: boolean}} [options]
 */
export async function loadList(list, {more = false, unlessKnown = false} = {}) {
  const key = keyOf(list);
  const known = knownList(list);
  if (unlessKnown && (known.state === 'ready' || known.state === 'loading')) return;
  const mine = (readings.get(key) ?? 0) + 1;
  readings.set(key, mine);
  putList(key, {...known, state: 'loading'});
  const offset = more ? known.items.length : 0;
  // A list that is read anew keeps its length.
  const limit = more ? PAGE : Math.min(MOST[list.of], Math.max(PAGE, known.items.length));
  try {
    const {data, meta} = await readMemory(pathOf(list, limit, offset));
    if (readings.get(key) !== mine) return;
    const fresh = new Set(data.map((/** @type {any} */ one) => one.id ?? one.branch_id));
    const before = more ? known.items.filter((one) => !fresh.has(one.id ?? one.branch_id)) : [];
    putList(key, {state: 'ready', items: [...before, ...data], hasMore: meta.has_more, total: meta.total, error: null});
    if (list.of === 'floors') void loadWords(data);
  } catch (error) {
    if (readings.get(key) === mine) putList(key, {...known, state: 'failed', error: reasonOf(error)});
  }
}

/** @param {string} key @param {List} list */
function putList(key, list) {
  chats.set((state) => ({lists: {...state.lists, [key]: list}}));
}

/** Read the first words of floors, a few at a time. @param {any[]} floors */
async function loadWords(floors) {
  const {words} = chats.get();
  const waiting = floors.filter((floor) => !(floor.id in words) || floor.state !== 'committed').map((floor) => floor.id);
  const work = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      const {data} = await readMemory(withQuery('/messages', {floor_id: id, role: 'user', sort_by: 'seq', sort_order: 'asc', limit: 1}));
      const text = data.length ? String(data[0].content).slice(0, 200) : null;
      chats.set((state) => ({words: {...state.words, [id]: text}}));
    }
  };
  // Words are a help to find one's way: without them a floor still has its number and its state.
  await Promise.allSettled(Array.from({length: AT_ONCE}, work));
}

/** Read anew what is shown. */
export async function reloadAll() {
  await Promise.all(Object.keys(chats.get().lists).map((key) => loadList(JSON.parse(key))));
}

/** @param {Partial<Pick<Chats, 'keyword' | 'status'>>} patch */
export function search(patch) {
  chats.set(patch);
  chats.set((state) => ({lists: {...state.lists, [keyOf(SESSIONS)]: {...knownList(SESSIONS), items: []}}}));
  void loadList(SESSIONS);
}

/** @param {string} node @param {boolean} isOpen */
export function unfold(node, isOpen) {
  chats.set((state) => ({open: isOpen ? [...new Set([...state.open, node])] : state.open.filter((one) => one !== node)}));
}

/** @type {Set<string>} */
const changed = new Set();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** Follow the turns of all chats; the answer ends it. */
export function followTurns() {
  return onTurn(({session}) => {
    changed.add(session);
    timer ??= setTimeout(() => {
      timer = undefined;
      for (const key of Object.keys(chats.get().lists)) {
        const list = /** @type {ListName} */ (JSON.parse(key));
        if (list.of === 'sessions' || ('session' in list && changed.has(list.session)) || list.of === 'pages') void loadList(list);
      }
      changed.clear();
    }, REST_MS);
  });
}

/** @param {string} path @param {string} session */
const at = (path, session) => `${path}/${encodeURIComponent(session)}`;

/** Do something, and say so when it is refused. @template T @param {() => Promise<T>} work @returns {Promise<T | null>} */
async function tried(work) {
  try {
    return await work();
  } catch (error) {
    notify('error', 'app.failure', {message: reasonOf(error)});
    return null;
  }
}

/** @param {string} value */
function titleProblem(value) {
  if (value.trim() === '') return t('variables.titleMissing');
  return value.length > MAX_TITLE ? t('variables.titleLong', {n: MAX_TITLE}) : null;
}

/** Make a session by hand and choose it. */
export async function newSession() {
  const title = await askText({title: t('variables.newSession'), label: t('variables.title'), confirm: t('variables.create'), check: titleProblem});
  if (title === null) return;
  const made = await tried(() => writeMemory('POST', '/sessions', {title}));
  if (!made) return;
  chats.set({keyword: '', status: 'active'});
  await loadList(SESSIONS);
  chooseSession({session: made.data.id, branch: 'main'});
}

/**
 * Make a session of this title and choose it.
 * @param {string} title
 * @returns {Promise<string | null>} its id; null where it was refused, which is said
 */
export async function beginSession(title) {
  const made = await tried(() => writeMemory('POST', '/sessions', {title}));
  if (!made) return null;
  await loadList(SESSIONS);
  chooseSession({session: made.data.id, branch: 'main'});
  return made.data.id;
}

/** @param {any} session */
export async function renameSession(session) {
  const title = await askText({title: t('variables.renameSession'), label: t('variables.title'), value: sessionLabel(session), confirm: t('variables.rename'), check: titleProblem});
  if (title === null) return;
  if (await tried(() => writeMemory('PATCH', at('/sessions', session.id), {title}))) await loadList(SESSIONS);
}

/** @param {any} session */
export async function archiveSession(session) {
  const isArchived = session.status === 'archived';
  if (!isArchived) {
    const answer = await ask({
      title: t('variables.archiveSession', {title: sessionLabel(session)}),
      text: t('variables.archiveText'),
      choices: [{id: 'archive', label: t('variables.archive'), tone: 'primary'}],
    });
    if (answer !== 'archive') return;
  }
  const status = isArchived ? 'active' : 'archived';
  if (!(await tried(() => writeMemory('PATCH', at('/sessions', session.id), {status})))) return;
  notify('success', isArchived ? 'variables.reopened' : 'variables.archived', {title: sessionLabel(session)});
  await loadList(SESSIONS);
}

/** @param {any} session */
export async function deleteSession(session) {
  const answer = await ask({
    title: t('variables.deleteSession', {title: sessionLabel(session)}),
    text: t('variables.deleteSessionText'),
    choices: [{id: 'delete', label: t('variables.delete'), tone: 'danger'}],
  });
  if (answer !== 'delete') return;
  if (!(await tried(() => writeMemory('DELETE', at('/sessions', session.id))))) return;
  notify('success', 'variables.sessionDeleted', {title: sessionLabel(session)});
  if (store.get().session.session === session.id) chooseSession({session: null});
  await loadList(SESSIONS);
}

/** Fork a branch behind a floor and choose it. @param {string} session @param {any} floor */
export async function forkFloor(session, floor) {
  const taken = knownList(branchesOf(session)).items.map((one) => one.branch_id);
  const name = await askText({
    title: t('variables.forkTitle', {number: String(floor.floor_no)}),
    label: t('variables.branchName'),
    hint: t('variables.forkHint'),
    confirm: t('variables.fork'),
    check: (value) => {
      if (value.trim() === '') return t('variables.branchMissing');
      if (value.length > MAX_BRANCH) return t('variables.branchLong', {n: MAX_BRANCH});
      return taken.includes(value) ? t('variables.error.branch_exists') : null;
    },
  });
  if (name === null) return;
  const forked = await tried(() => writeMemory('POST', `${at('/floors', floor.id)}/branch`, {branch_id: name}));
  if (!forked) return;
  await loadList(branchesOf(session));
  notify('success', 'variables.forked', {name: forked.data.branch_id});
  chooseSession({session, branch: forked.data.branch_id});
}

/** @param {string} session @param {string} branch */
export async function deleteBranch(session, branch) {
  const answer = await ask({
    title: t('variables.deleteBranch', {name: branch}),
    text: t('variables.deleteBranchText'),
    choices: [{id: 'delete', label: t('variables.delete'), tone: 'danger'}],
  });
  if (answer !== 'delete') return;
  const path = withQuery(at('/branches', branch), {session_id: session});
  if (!(await tried(() => writeMemory('DELETE', path)))) return;
  notify('success', 'variables.branchDeleted', {name: branch});
  const chosen = store.get().session;
  if (chosen.session === session && chosen.branch === branch) chooseSession({session, branch: 'main'});
  else void refreshStored();
  await loadList(branchesOf(session));
}

/** How two branches differ, floor by floor; null where one of them has no floors of its own. @param {string} session @param {string} base @param {string} target */
export async function branchDifference(session, base, target) {
  try {
    const path = withQuery(`${at('/sessions', session)}/branches/diff`, {base_branch_id: base, target_branch_id: target});
    const {data} = await readMemory(path);
    void loadWords([...data.base_only_floors, ...data.target_only_floors]);
    return data;
  } catch (error) {
    if (error instanceof ApiFailure && error.code === 'branch_not_found') return null;
    throw error;
  }
}
