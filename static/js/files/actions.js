/** The actions on files: templates, import, export, versions, rename, remove, copy. */
import {ask, askText, openDialog} from '../state/dialogs.js';
import {activeTab} from '../state/tabs.js';
import {t} from '../words.js';
import {duplicateFile, idProblem, removeFile, renameFile} from './pipelinefiles.js';

/** @param {import('../state/types.js').State} state */
const hasTab = (state) => activeTab(state) !== null;
/** @param {import('../state/types.js').State} state */
const hasFile = (state) => {
  const tab = activeTab(state);
  return tab !== null && tab.id !== null && !tab.readOnly;
};

async function rename() {
  const tab = activeTab();
  if (!tab || tab.id === null) return;
  const id = await askText({
    title: t('files.action.rename'),
    label: t('files.id'),
    value: tab.id,
    hint: t('files.idHint'),
    confirm: t('files.rename'),
    check: (value) => (value === tab.id ? null : idProblem(value)),
  });
  if (id !== null && id !== tab.id) await renameFile(tab.id, id);
}

async function remove() {
  const tab = activeTab();
  if (!tab || tab.id === null) return;
  const answer = await ask({
    title: t('files.removeTitle', {id: tab.id}),
    text: t('files.removeText'),
    choices: [{id: 'remove', label: t('files.remove'), tone: 'danger'}],
  });
  if (answer === 'remove') await removeFile(tab.id, tab.etag);
}

/** @type {import('../actions.js').Action[]} */
export const filesActions = [
  {id: 'files.templates', title: 'files.action.templates', icon: 'templates', run: () => openDialog('templates')},
  {id: 'files.import', title: 'files.action.import', icon: 'import', run: (text) => openDialog('import', {text})},
  {id: 'files.export', title: 'files.action.export', icon: 'export', when: hasTab, run: () => openDialog('export')},
  {id: 'files.versions', title: 'files.action.versions', icon: 'history', when: hasFile, run: () => openDialog('versions', {id: activeTab()?.id})},
  {id: 'files.rename', title: 'files.action.rename', icon: 'edit', when: hasFile, run: rename},
  {id: 'files.duplicate', title: 'files.action.duplicate', icon: 'copy', when: hasTab, run: duplicateFile},
  {id: 'files.remove', title: 'files.action.remove', icon: 'trash', when: hasFile, run: remove},
];
