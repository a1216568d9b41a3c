/** The actions on files: templates, import, export, versions, rename, remove, copy. */
import {openDialog} from '../state/dialogs.js';
import {activeTab} from '../state/tabs.js';
import {deletePipeline, duplicatePipeline} from './pipelinefiles.js';

/** @param {import('../state/types.js').State} state */
const hasTab = (state) => activeTab(state) !== null;
/** @param {import('../state/types.js').State} state */
const hasFile = (state) => {
  const tab = activeTab(state);
  return tab !== null && tab.id !== null && !tab.readOnly;
};

/** The id of the file in front. */
const front = () => activeTab()?.id ?? '';

/** @type {import('../actions.js').Action[]} */
export const filesActions = [
  {id: 'files.templates', title: 'files.action.templates', icon: 'templates', run: () => openDialog('templates')},
  {id: 'files.import', title: 'files.action.import', icon: 'import', run: (text) => openDialog('import', {text})},
  {id: 'files.export', title: 'files.action.export', icon: 'export', when: hasTab, run: () => openDialog('export')},
  {id: 'files.keys', title: 'files.action.keys', icon: 'key', run: (props) => openDialog('keys', props)},
  {id: 'files.versions', title: 'files.action.versions', icon: 'history', when: hasFile, run: () => openDialog('versions', {id: activeTab()?.id})},
  {id: 'files.rename', title: 'files.action.rename', icon: 'edit', when: hasFile, run: () => openDialog('rename', {id: front()})},
  {id: 'files.duplicate', title: 'files.action.duplicate', icon: 'copy', when: hasTab, run: () => duplicatePipeline(activeTab()?.id ?? null)},
  {id: 'files.remove', title: 'files.action.remove', icon: 'trash', when: (state) => hasFile(state) && activeTab(state)?.id !== state.server.activePipeline, run: () => deletePipeline(front())},
];
