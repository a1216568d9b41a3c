/** What is done to pipeline files as a whole, and the rules for their names. */
import {api} from '../api/client.js';
import {setDocument} from '../core/commands.js';
import {ID_PATTERN} from '../core/doc.js';
import {ask, openDialog} from '../state/dialogs.js';
import {activatePipeline, refreshLibrary} from '../state/library.js';
import {notify, notifyFailure} from '../state/notices.js';
import {moveRecent} from '../state/recent.js';
import {isOwn, mayChange, mayEdit} from '../state/rights.js';
import {store} from '../state/store.js';
import {activateTab, activeTab, closeTab, docOf, edit, isDirty, openPipeline, resettleTab, saveTab} from '../state/tabs.js';
import {t} from '../words.js';

/**
 * Why a text cannot be the id of a new file; null when it can. What is one's own stays that, and so does what is the server's.
 * @param {string} id
 * @param {string | null} [before] the id that it takes the place of
 */
export function idProblem(id, before = null) {
  if (!ID_PATTERN.test(isOwn(id) ? id.slice(1) : id) || isOwn(id) !== isOwn(before)) return t('files.idWrong');
  // Some disks take capitals for the same letters.
  return store.get().library.pipelines.some((one) => one.id.toLowerCase() === id.toLowerCase()) ? t('files.idTaken', {id}) : null;
}

/**
 * An id made of a name that nobody uses yet.
 * @param {string} name
 * @param {string} [mark] what stands before it
 */
export function freeId(name, mark = '') {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 50);
  const start = mark + (plain || 'pipeline');
  const taken = new Set(store.get().library.pipelines.map((one) => one.id));
  if (!taken.has(start)) return start;
  let number = 2;
  while (taken.has(`${start}-${number}`)) number += 1;
  return `${start}-${number}`;
}

/** The tab in which a file can be edited. @param {string} id */
export function openTabOf(id) {
  return store.get().tabs.find((one) => one.id === id && !one.readOnly) ?? null;
}

/** @param {string} id */
const pathOf = (id) => `/api/pipelines/${encodeURIComponent(id)}`;

/**
 * What can be done to a pipeline, as lines of a menu.
 * @param {import('../state/types.js').Summary} one
 * @param {() => void} open
 * @returns {import('../ui/menu.js').MenuItem[]}
 */
export function pipelineMenu(one, open) {
  const opening = {label: t('files.open'), icon: 'folder', run: open};
  const copying = {label: t('files.action.duplicate'), icon: 'copy', run: () => void duplicatePipeline(one.id)};
  if (!mayChange(one.id)) return [opening, copying];
  return [
    opening,
    {label: t('files.action.rename'), icon: 'edit', keys: 'F2', run: () => void openDialog('rename', {id: one.id})},
    copying,
    {label: t('app.action.activate'), icon: 'power', disabled: one.active || !one.valid || isOwn(one.id), run: () => void activatePipeline(one.id)},
    {},
    {label: t(one.active ? 'files.removeActive' : 'files.action.remove'), icon: 'trash', keys: 'Del', tone: 'danger', disabled: one.active, run: () => void deletePipeline(one.id)},
  ];
}

/**
 * Give a pipeline another name, its file another one, or both. An open document without edits is saved with its new name; one
 * with edits keeps it as an edit.
 * @param {string} id
 * @param {{name: string | null, id: string}} wanted `name` null: as it is
 */
export async function renamePipeline(id, {name, id: next}) {
  try {
    const tab = openTabOf(id);
    if (next !== id) {
      await api.send('POST', `${pathOf(id)}/rename`, {id: next}, {ifMatch: tab?.etag ?? '*'});
      if (tab) resettleTab(tab.key, {id: next});
      moveRecent(id, next);
    }
    if (name !== null) await nameDocument(next, name);
    await refreshLibrary();
    if (next !== id) notify('success', 'files.renamed', {id: next});
  } catch (error) {
    await refreshLibrary().catch(() => null);
    notifyFailure(error, 'files.renameFailed');
  }
}

/** @param {string} id @param {string} name */
async function nameDocument(id, name) {
  const tab = openTabOf(id);
  if (tab) {
    if (docOf(tab).name === name) return;
    const hadEdits = isDirty(tab);
    activateTab(tab.key);
    edit('files.named', (doc) => setDocument(doc, {name}));
    if (!hadEdits) await saveTab(tab.key);
    return;
  }
  const {body} = await api.get(pathOf(id));
  if (body.document === null || body.document.name === name) return;
  await api.send('PUT', pathOf(id), {...body.document, name}, {ifMatch: body.etag});
}

/**
 * Delete a pipeline, and offer to take that back. A tab without edits goes with it; edits stay as a new document. What cannot be
 * brought back, because it is no JSON, is asked for first.
 * @param {string} id
 */
export async function deletePipeline(id) {
  try {
    const {body: was} = await api.get(pathOf(id));
    if (was.document === null && !(await confirmed(id))) return;
    await api.send('DELETE', pathOf(id), undefined, {ifMatch: was.etag});
    const tab = openTabOf(id);
    for (const one of store.get().tabs.filter((each) => each.id === id)) {
      if (isDirty(one) && !one.readOnly) resettleTab(one.key, {id: null, etag: null, saved: null, onDisk: null});
      else await closeTab(one.key);
    }
    moveRecent(id, null);
    await refreshLibrary();
    const restore = {label: t('files.undo'), run: () => void restorePipeline(id, was.document, tab)};
    notify('success', 'files.removed', {id}, was.document === null ? undefined : {action: restore});
  } catch (error) {
    notifyFailure(error, 'files.removeFailed');
  }
}

/** @param {string} id */
async function confirmed(id) {
  const answer = await ask({
    title: t('files.removeTitle', {id}),
    text: t('files.removeBroken'),
    choices: [{id: 'remove', label: t('files.remove'), tone: 'danger'}],
  });
  return answer === 'remove';
}

/**
 * Bring a deleted pipeline back as it was, and into the tab that it had.
 * @param {string} id
 * @param {any} document
 * @param {import('../state/types.js').Tab | null} tab
 */
async function restorePipeline(id, document, tab) {
  try {
    const {body} = await api.send('PUT', pathOf(id), document, {ifNoneMatch: '*'});
    const kept = tab && store.get().tabs.find((one) => one.key === tab.key && one.id === null);
    if (kept) resettleTab(kept.key, {id, etag: body.etag, saved: tab.saved});
    else if (tab) await openPipeline(id);
    await refreshLibrary();
    notify('success', 'files.restoredFile', {id});
  } catch (error) {
    notifyFailure(error, 'files.restoreFailed');
  }
}

/**
 * Make a copy of a pipeline as a file of its own, with the edits of its tab, and open it. Who may not change the server's gets one
 * of his own.
 * @param {string | null} id null: the document in front, which has no file
 */
export async function duplicatePipeline(id) {
  const tab = id === null ? activeTab() : openTabOf(id);
  try {
    const document = tab && tab.brokenText === null ? docOf(tab) : id === null ? null : (await api.get(pathOf(id))).body.document;
    if (document === null) {
      notify('error', 'files.duplicateBroken');
      return;
    }
    const name = t('files.copyOf', {name: document.name || id || t('app.untitled')});
    const copy = freeId(name, isOwn(id) || !mayEdit() ? '~' : '');
    await api.send('PUT', pathOf(copy), {...document, name}, {ifNoneMatch: '*'});
    await refreshLibrary();
    await openPipeline(copy);
    notify('success', 'files.duplicated', {id: copy});
  } catch (error) {
    notifyFailure(error, 'files.duplicateFailed');
  }
}
