/** What can be done to an asset as a whole: make one, rename it, delete it and take that back, export it, begin a chat with it or use it in one. */
import {api, failureOf} from '../api/client.js';
import {knownList, loadList, SESSIONS} from '../state/chats.js';
import {askText, openDialog} from '../state/dialogs.js';
import {reasonOf} from '../state/failures.js';
import {writeMemory, withQuery} from '../state/memory.js';
import {dismiss, notify} from '../state/notices.js';
import {chooseSession} from '../state/session.js';
import {store} from '../state/store.js';
import {t} from '../words.js';
import {newContent, saveContent} from './contents.js';
import {PATHS, pathOf} from './kinds.js';
import {refresh, listing, show} from './lists.js';

/** @typedef {import('./kinds.js').Kind} Kind */
/** @typedef {import('./lists.js').Asset} Asset */

const MAX_NAME = 200;

/** Do something, and say so when it is refused. @template T @param {() => Promise<T>} work @returns {Promise<T | null>} */
export async function tried(work) {
  try {
    return await work();
  } catch (error) {
    notify('error', 'app.failure', {message: reasonOf(error)});
    return null;
  }
}

/** What is being done to an asset, by its id. @type {Map<string, Promise<unknown>>} */
const turns = new Map();

/**
 * Do something to an asset once what was done to it before is done, and say so when it is refused: what each saves goes by the
 * revision that it read.
 * @template T
 * @param {string} id
 * @param {() => Promise<T>} work
 * @returns {Promise<T | null>}
 */
async function inTurn(id, work) {
  const turn = (turns.get(id) ?? Promise.resolve()).then(() => tried(work));
  turns.set(id, turn);
  try {
    return await turn;
  } finally {
    if (turns.get(id) === turn) turns.delete(id);
  }
}

/** @param {string} value */
function nameProblem(value) {
  if (value.trim() === '') return t('library.nameMissing');
  return value.length > MAX_NAME ? t('library.nameLong', {n: MAX_NAME}) : null;
}

/** Make an asset with nothing but a name, and open it. @param {Kind} kind */
export async function createAsset(kind) {
  const name = await askText({title: t(`library.new.${kind}`), label: t('library.name'), confirm: t('library.create'), check: nameProblem});
  if (name === null) return;
  const made = await tried(() => writeMemory('POST', PATHS[kind], newContent(kind, name.trim())));
  if (made === null) return;
  show({kind, keyword: '', tag: ''});
  openAsset(kind, made.data.id);
}

/** @param {Kind} kind @param {string} id */
export function openAsset(kind, id) {
  openDialog('asset', {kind, id});
}

/** @param {Kind} kind @param {Asset} asset */
export async function renameAsset(kind, {id, name: old}) {
  const name = await askText({title: t('library.rename'), label: t('library.name'), value: old, confirm: t('library.rename'), check: nameProblem});
  if (name === null || name.trim() === old) return;
  if (await inTurn(id, () => saveContent(kind, id, (content) => ({...content, name: name.trim()})))) await refresh();
}

/** Say by which words an asset is found. @param {Kind} kind @param {Asset} asset */
export async function tagAsset(kind, {id, tags: old}) {
  const text = await askText({title: t('library.tags'), label: t('library.tags'), value: old.join(', '), hint: t('library.tagsHint'), confirm: t('app.save')});
  if (text === null) return;
  const tags = [...new Set(text.split(',').map((tag) => tag.trim()).filter((tag) => tag !== ''))];
  if (await inTurn(id, () => writeMemory('PATCH', pathOf(kind, id), {tags}))) await refresh();
}

/** @param {Kind} kind @param {Asset} asset */
export async function deleteAsset(kind, {id, name}) {
  if ((await inTurn(id, () => writeMemory('DELETE', pathOf(kind, id)).then(() => true))) === null) return;
  await refresh();
  const shown = notify('success', 'library.deleted', {name}, {
    action: {
      label: t('library.undo'),
      run: () => {
        dismiss(shown);
        void tried(() => writeMemory('POST', `${pathOf(kind, id)}/restore`)).then(refresh);
      },
    },
  });
}

/**
 * Save an asset as a file of this computer.
 * @param {Kind} kind
 * @param {Pick<Asset, 'id' | 'name'>} asset
 * @param {string} [format] of a character: v2, v3, png, charx
 */
export async function exportAsset(kind, {id, name}, format) {
  await tried(async () => {
    const response = await api.raw(withQuery(`/export/${kind}/${encodeURIComponent(id)}`, {format}));
    if (!response.ok) throw failureOf(response.status, await response.text());
    const link = document.createElement('a');
    link.href = URL.createObjectURL(await response.blob());
    link.download = fileNameOf(response.headers.get('content-disposition')) ?? `${name}.${format === 'png' || format === 'charx' ? format : 'json'}`;
    link.click();
    // The browser has begun to read it by then.
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  });
}

/** The name that the server gives to a file. @param {string | null} disposition */
function fileNameOf(disposition) {
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? '')?.[1];
  if (encoded !== undefined) return decodeURIComponent(encoded);
  return /filename="([^"]+)"/.exec(disposition ?? '')?.[1] ?? null;
}

/** Make a chat with a character and choose it. @param {Asset} asset @returns {Promise<boolean>} whether there is one */
export async function beginChat({id, name}) {
  const made = await tried(() => writeMemory('POST', '/sessions', {title: name, character_id: id}));
  if (made === null) return false;
  await loadList(SESSIONS);
  chooseSession({session: made.data.id, branch: 'main'});
  return true;
}

/** The field of a session that names an asset of a kind, and what it names in one. @type {Record<Exclude<Kind, 'character'>, {field: string, of: (session: any) => string | null}>} */
const BINDINGS = {
  user: {field: 'user_id', of: (session) => session.user_binding?.user_id ?? null},
  preset: {field: 'preset_id', of: (session) => session.preset_id},
  worldbook: {field: 'worldbook_profile_id', of: (session) => session.worldbook_profile_id},
  regex: {field: 'regex_profile_id', of: (session) => session.regex_profile_id},
};

/** Whether the chosen chat is made of this asset; null where no chat is chosen that the list of chats holds. @param {Exclude<Kind, 'character'>} kind @param {string} id */
export function isInChat(kind, id) {
  const {session} = store.get().session;
  const chosen = session === null ? undefined : knownList(SESSIONS).items.find((one) => one.id === session);
  return chosen === undefined ? null : BINDINGS[kind].of(chosen) === id;
}

/** Have the chosen chat use an asset, in the place of another of its kind, or no longer. @param {Exclude<Kind, 'character'>} kind @param {Asset} asset */
export async function toggleInChat(kind, {id, name}) {
  const {session} = store.get().session;
  const isUsed = isInChat(kind, id);
  if (session === null || isUsed === null) return;
  const change = {[BINDINGS[kind].field]: isUsed ? null : id};
  if ((await tried(() => writeMemory('PATCH', `/sessions/${encodeURIComponent(session)}`, change))) === null) return;
  await loadList(SESSIONS);
  notify('success', isUsed ? 'library.leftChat' : 'library.joinedChat', {name});
}

/** Show the other kind, as somebody who looks for one of it. @param {Kind} kind */
export function showKind(kind) {
  if (listing.get().kind !== kind) show({kind, keyword: '', tag: ''});
}
