/** What is done to pipeline files as a whole, and the rules for their names. */
import {api} from '../api/client.js';
import {ID_PATTERN} from '../core/doc.js';
import {refreshLibrary} from '../state/library.js';
import {notify, notifyFailure} from '../state/notices.js';
import {store} from '../state/store.js';
import {activeTab, docOf, newPipeline, resettleTab} from '../state/tabs.js';
import {t} from '../words.js';

/**
 * Why a text cannot be the id of a new file; null when it can.
 * @param {string} id
 */
export function idProblem(id) {
  if (!ID_PATTERN.test(id)) return t('files.idWrong');
  return store.get().library.pipelines.some((one) => one.id === id) ? t('files.idTaken', {id}) : null;
}

/**
 * An id made of a name that nobody uses yet.
 * @param {string} name
 */
export function freeId(name) {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 50);
  const start = plain || 'pipeline';
  const taken = new Set(store.get().library.pipelines.map((one) => one.id));
  if (!taken.has(start)) return start;
  let number = 2;
  while (taken.has(`${start}-${number}`)) number += 1;
  return `${start}-${number}`;
}

/**
 * @param {string} id
 * @param {string} next
 */
export async function renameFile(id, next) {
  const tab = store.get().tabs.find((one) => one.id === id && !one.readOnly);
  try {
    await api.send('POST', `/api/pipelines/${encodeURIComponent(id)}/rename`, {id: next}, {ifMatch: tab?.etag ?? '*'});
    if (tab) resettleTab(tab.key, {id: next});
    await refreshLibrary();
    notify('success', 'files.renamed', {id: next});
  } catch (error) {
    notifyFailure(error, 'files.renameFailed');
  }
}

/**
 * Remove a file; its document stays open, unsaved, so that a mistake costs nothing.
 * @param {string} id
 * @param {string | null} etag
 */
export async function removeFile(id, etag) {
  try {
    await api.send('DELETE', `/api/pipelines/${encodeURIComponent(id)}`, undefined, {ifMatch: etag ?? '*'});
    for (const tab of store.get().tabs.filter((one) => one.id === id)) {
      resettleTab(tab.key, {id: null, etag: null, saved: null, onDisk: null});
    }
    await refreshLibrary();
    notify('success', 'files.removed', {id});
  } catch (error) {
    notifyFailure(error, 'files.removeFailed');
  }
}

/** Open a copy of the document in front, unsaved. */
export function duplicateFile() {
  const tab = activeTab();
  if (!tab) return;
  const doc = docOf(tab);
  newPipeline({...doc, name: t('files.copyOf', {name: doc.name || t('app.untitled')})});
}
