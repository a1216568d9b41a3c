/** The actions on files: templates, import, export, versions, rename, remove, copy. */
import {openDialog} from '../state/dialogs.js';
import {mayChange as mayChangeId, mayEdit} from '../state/rights.js';
import {activeTab} from '../state/tabs.js';
import {deletePipeline, duplicatePipeline} from './pipelinefiles.js';

/** @param {import('../state/types.js').State} state */
const hasTab = (state) => activeTab(state) !== null;
/** @param {import('../state/types.js').State} state */
const hasFile = (state) => {
  const tab = activeTab(state);
  return tab !== null && tab.id !== null && !tab.readOnly;
};

/** @param {import('../state/types.js').State} state */
const mayChange = (state) => hasFile(state) && mayChangeId(activeTab(state)?.id ?? null, state);

/** The id of the file in front. */
const front = () => activeTab()?.id ?? '';

/** @type {import('../actions.js').Action[]} */
export const filesActions = [
  {id: 'files.templates', title: 'files.action.templates', icon: 'templates', when: mayEdit, run: () => openDialog('templates')},
  {id: 'files.import', title: 'files.action.import', icon: 'import', when: mayEdit, run: (text) => openDialog('import', {text})},
  {id: 'files.export', title: 'files.action.export', icon: 'export', when: hasTab, run: () => openDialog('export')},
  {id: 'files.keys', title: 'files.action.keys', icon: 'key', when: mayEdit, run: (props) => openDialog('keys', props)},
  {id: 'files.versions', title: 'files.action.versions', icon: 'history', when: hasFile, run: () => openDialog('versions', {id: activeTab()?.id})},
  {id: 'files.rename', title: 'files.action.rename', icon: 'edit', when: mayChange, run: () => openDialog('rename', {id: front()})},
  {id: 'files.duplicate', title: 'files.action.duplicate', icon: 'copy', when: (state) => hasTab(state) && (mayEdit(state) || hasFile(state)), run: () => duplicatePipeline(activeTab()?.id ?? null)},
  {id: 'files.remove', title: 'files.action.remove', icon: 'trash', when: (state) => mayChange(state) && activeTab(state)?.id !== state.server.activePipeline, run: () => deletePipeline(front())},
];
