/** Open documents and the commands on them: edit, undo, select, save. */
import {api, ApiFailure} from '../api/client.js';
import {removeDraft, saveDraft} from '../api/drafts.js';
import {emptyDocument, lostOf, parseDocument} from '../core/doc.js';
import {push, redo as redoHistory, startHistory, undo as undoHistory} from '../core/history.js';
import {problemText, t} from '../words.js';
import {ask, openDialog} from './dialogs.js';
import {refreshLibrary} from './library.js';
import {announce, notify, notifyFailure} from './notices.js';
import {draftName, fileOf} from './pages.js';
import {noteRecent} from './recent.js';
import {lockOf, mayChange} from './rights.js';
import {store} from './store.js';
import {setView} from './view.js';

/** @typedef {import('./types.js').Tab} Tab */
/** @typedef {import('./types.js').Pipeline} Pipeline */
/** @typedef {import('./types.js').Selection} Selection */
/** @typedef {import('./types.js').State} State */

/** @type {Selection} */
export const NOTHING = Object.freeze({nodes: [], edges: [], frames: [], notes: []});
const DRAFT_DELAY_MS = 400;
const CHECK_DELAY_MS = 250;

let count = 0;
/** @type {Map<string, ReturnType<typeof setTimeout>>} */
const draftTimers = new Map();
/** @type {Map<string, ReturnType<typeof setTimeout>>} */
const checkTimers = new Map();

/** The tab in front. @param {State} [state] @returns {Tab | null} */
export function activeTab(state = store.get()) {
  return state.tabs.find((tab) => tab.key === state.activeTab) ?? null;
}

/** Whether the document in front cannot be changed. @param {State} state */
export function isFrontLocked(state) {
  const tab = activeTab(state);
  return tab !== null && lockOf(tab, state) !== null;
}

/** The document of a tab as it is now, saved or not. @param {Tab} tab @returns {Pipeline} */
export function docOf(tab) {
  return tab.history.present;
}

/** Whether a tab holds edits that the server does not have. @param {Tab} tab */
export function isDirty(tab) {
  return tab.brokenText === null ? docOf(tab) !== tab.saved : tab.brokenText !== tab.brokenSaved;
}

/**
 * Change parts of a tab.
 * @param {string} key
 * @param {Partial<Tab> | ((tab: Tab) => Partial<Tab>)} change
 */
export function updateTab(key, change) {
  store.set((state) => ({
    tabs: state.tabs.map((tab) => (tab.key === key ? {...tab, ...(typeof change === 'function' ? change(tab) : change)} : tab)),
  }));
}

/**
 * Change which file a tab stands for, or what that file holds as far as we know; the tab's draft goes with it.
 * @param {string} key
 * @param {Partial<Tab>} parts
 */
export function resettleTab(key, parts) {
  const before = store.get().tabs.find((tab) => tab.key === key);
  if (!before) return;
  updateTab(key, parts);
  const now = {...before, ...parts};
  if (draftKey(before) !== draftKey(now)) void removeDraft(draftKey(before));
  keepDraft(key);
  checkSoon(key);
}

/**
 * Replace the document in front by what the command makes of it, as one step that can be undone.
 * @param {string} label key of the words for undo and redo
 * @param {(doc: Pipeline) => Pipeline} command
 * @param {{coalesce?: string}} [options] edits in a row with the same `coalesce` are one step
 * @returns {boolean} whether something changed
 */
export function edit(label, command, options) {
  const tab = activeTab();
  if (!tab) return false;
  if (tab.readOnly) {
    notify('info', 'app.readOnly', {label: tab.readOnly.label});
    return false;
  }
  if (!mayChange(tab.id)) {
    notify('info', 'app.mayNotEdit');
    return false;
  }
  // What the canvas would draw is not what is in the file.
  if (tab.brokenText !== null) return false;
  const before = docOf(tab);
  const after = command(before);
  if (after === before) return false;
  setHistory(tab.key, push(tab.history, after, label, options?.coalesce));
  return true;
}

/** Take the last edit back. */
export function undo() {
  const tab = activeTab();
  if (!tab || lockOf(tab) !== null) return;
  const history = undoHistory(tab.history);
  if (history === tab.history) return;
  setHistory(tab.key, history);
  announce(t('app.undone', {label: t(tab.history.label || 'app.edit')}));
}

/** Do again what was taken back. */
export function redo() {
  const tab = activeTab();
  if (!tab || lockOf(tab) !== null) return;
  const history = redoHistory(tab.history);
  if (history === tab.history) return;
  setHistory(tab.key, history);
  announce(t('app.redone', {label: t(history.label || 'app.edit')}));
}

/** @param {string} key @param {Tab['history']} history */
function setHistory(key, history) {
  updateTab(key, (tab) => ({history, selection: existing(tab.selection, history.present)}));
  keepDraft(key);
  checkSoon(key);
}

/** A selection without what the document no longer has. @param {Selection} selection @param {Pipeline} doc */
function existing(selection, doc) {
  const nodes = new Set(doc.nodes.map((node) => node.id));
  const frames = new Set((doc.view?.frames ?? []).map((frame) => frame.id));
  const notes = new Set((doc.view?.notes ?? []).map((note) => note.id));
  return {
    nodes: selection.nodes.filter((id) => nodes.has(id)),
    edges: selection.edges.filter((edge) => doc.edges.some((one) => one.from === edge.from && one.to === edge.to)),
    frames: selection.frames.filter((id) => frames.has(id)),
    notes: selection.notes.filter((id) => notes.has(id)),
  };
}

/**
 * Select these things and nothing else.
 * @param {Partial<Selection>} selection
 */
export function select(selection) {
  const tab = activeTab();
  if (tab) updateTab(tab.key, {selection: {...NOTHING, ...selection}});
}

/**
 * Select these things in a tab, as far as its document has them.
 * @param {string} key
 * @param {Partial<Selection>} selection
 */
export function selectIn(key, selection) {
  updateTab(key, (tab) => ({selection: existing({...NOTHING, ...selection}, docOf(tab))}));
}

/**
 * Show where a problem or a match is: its tab's node, field and line.
 * @param {import('./types.js').Place} place
 */
export function goTo(place) {
  const tab = activeTab();
  if (!tab) return;
  updateTab(tab.key, {focus: {...place}, selection: place.node ? {...NOTHING, nodes: [place.node]} : tab.selection});
  setView({inspectorOpen: true, inspectorTab: 'settings', narrowPage: 'inspector', dockMaximized: false});
}

/** @param {Partial<Tab>} parts @returns {Tab} */
function newTab(parts) {
  const doc = parts.saved ?? emptyDocument('');
  // A tab that a reload gives back has its key already.
  count = Math.max(count + 1, Number(/^tab-(\d+)$/.exec(parts.key ?? '')?.[1] ?? 0));
  return {
    key: `tab-${count}`,
    id: null,
    etag: null,
    saved: null,
    history: startHistory(doc),
    selection: NOTHING,
    focus: null,
    problems: [],
    hosts: [],
    valid: null,
    lastRun: null,
    pins: {},
    sample: {
      kind: 'written',
      name: '',
      runId: null,
      request: {
        method: 'POST',
        path: '/v1/chat/completions',
        headers: {},
        body: {model: 'demo-small', messages: [{role: 'user', content: t('app.sampleMessage')}], stream: true},
      },
    },
    onDisk: null,
    readOnly: null,
    brokenText: null,
    brokenSaved: null,
    within: null,
    saving: false,
    ...parts,
  };
}

/** @param {Tab} tab */
function addTab(tab) {
  store.set((state) => ({tabs: [...state.tabs, tab], activeTab: tab.key}));
  checkSoon(tab.key);
  return tab;
}

/** @param {string} key */
export function activateTab(key) {
  store.set({activeTab: key});
}

/**
 * Open a pipeline of the server; an open one comes to the front.
 * @param {string} id
 * @param {Partial<Tab>} [parts]
 * @returns {Promise<Tab | null>} null when it could not be read
 */
export async function openPipeline(id, parts) {
  const open = store.get().tabs.find((tab) => tab.id === id && !tab.readOnly);
  noteRecent(id);
  if (open) {
    activateTab(open.key);
    return open;
  }
  try {
    const {body: found} = await api.get(`/api/pipelines/${encodeURIComponent(id)}`);
    return addTab(newTab({id, ...asOnDisk(found, id), ...parts}));
  } catch (error) {
    notifyFailure(error, 'app.openFailed');
    return null;
  }
}

/**
 * The parts of a tab that show a file as it is.
 * @param {any} found what GET /api/pipelines/{id} says
 * @param {string} id
 */
function asOnDisk(found, id) {
  const isDrawn = found.document !== null && lostOf(found.document) === null;
  const doc = isDrawn ? readable(found.document) : null;
  const text = doc ? null : (found.text ?? JSON.stringify(found.document, null, 2));
  return {
    etag: found.etag,
    saved: doc,
    history: startHistory(doc ?? emptyDocument(id)),
    brokenText: text,
    brokenSaved: text,
    problems: inWords(found.problems),
    valid: found.valid,
  };
}

/**
 * Change the text of a file that cannot be drawn.
 * @param {string} key
 * @param {string} text
 */
export function setBrokenText(key, text) {
  updateTab(key, {brokenText: text});
  keepDraft(key);
}

/**
 * Draw what the mended text says.
 * @param {string} key
 * @param {{whole?: boolean}} [options] `whole`: only where nothing of it would be left out
 * @returns {boolean} false where it is no JSON object yet, or not whole
 */
export function drawBrokenText(key, {whole = false} = {}) {
  const tab = store.get().tabs.find((one) => one.key === key);
  if (!tab || tab.brokenText === null) return false;
  const parsed = parseDocument(tab.brokenText);
  if (!('document' in parsed) || (whole && lostOf(JSON.parse(tab.brokenText)) !== null)) return false;
  updateTab(key, {history: startHistory(parsed.document), brokenText: null, brokenSaved: null});
  keepDraft(key);
  checkSoon(key);
  return true;
}

/** A document that the canvas can draw, or null. @param {unknown} document */
function readable(document) {
  const parsed = parseDocument(JSON.stringify(document));
  return 'document' in parsed ? parsed.document : null;
}

/**
 * Open a document that is not on the server yet.
 * @param {Pipeline} [doc] empty unless given
 * @param {Partial<Tab>} [parts]
 */
export function newPipeline(doc, parts) {
  const fresh = doc ?? emptyDocument(t('app.untitled'));
  const tab = addTab(newTab({history: startHistory(fresh), ...parts}));
  if (doc) keepDraft(tab.key);
  return tab;
}

/**
 * Show a document that cannot be changed: a version, or what a run ran.
 * @param {Pipeline} doc
 * @param {{kind: 'run' | 'version', label: string}} readOnly
 * @param {Partial<Tab>} [parts]
 */
export function showDocument(doc, readOnly, parts) {
  return addTab(newTab({saved: doc, history: startHistory(doc), readOnly, ...parts}));
}

/**
 * Close a tab; asks first when it holds edits.
 * @param {string} key
 * @returns {Promise<boolean>} false when the user kept it open
 */
export async function closeTab(key) {
  const tab = store.get().tabs.find((one) => one.key === key);
  if (!tab) return true;
  if (isDirty(tab) && !tab.readOnly && (tab.id !== null || docOf(tab).nodes.length > 0)) {
    const answer = await ask({
      title: t('app.closeDirtyTitle', {name: docOf(tab).name || t('app.untitled')}),
      text: t('app.closeDirtyText'),
      choices: [
        {id: 'save', label: t('app.save'), tone: 'primary'},
        {id: 'discard', label: t('app.discard'), tone: 'danger'},
      ],
    });
    if (answer === null || (answer === 'save' && !(await saveTab(key)))) return false;
  }
  clearTimeout(draftTimers.get(key));
  await removeDraft(draftKey(tab));
  store.set((state) => {
    const position = state.tabs.findIndex((one) => one.key === key);
    const tabs = state.tabs.filter((one) => one.key !== key);
    const next = state.activeTab === key ? (tabs[Math.min(position, tabs.length - 1)]?.key ?? null) : state.activeTab;
    return {tabs, activeTab: next};
  });
  return true;
}

/**
 * Save a tab. A new document asks for its file's name; a file that changed meanwhile opens the merge view.
 * @param {string} [key] the tab in front unless told
 * @param {{id?: string, overwrite?: string}} [options] `id`: save under this name; `overwrite`: the ETag of the version to replace
 * @returns {Promise<boolean>} whether it is on the server now
 */
export async function saveTab(key, options) {
  const found = key ? store.get().tabs.find((one) => one.key === key) : activeTab();
  if (!found || lockOf(found) !== null || found.saving) return false;
  if (found.brokenText !== null && !drawBrokenText(found.key, {whole: true})) {
    notify('error', 'app.stillBroken', {}, {topic: `save ${found.key}`});
    return false;
  }
  const tab = store.get().tabs.find((one) => one.key === found.key) ?? found;
  const id = options?.id ?? tab.id;
  if (id === null) {
    openDialog('save-as', {tab: tab.key});
    return false;
  }
  const doc = docOf(tab);
  const isNew = id !== tab.id || tab.etag === null;
  updateTab(tab.key, {saving: true});
  try {
    const conditions = options?.overwrite
      ? {ifMatch: options.overwrite}
      : isNew
        ? {ifNoneMatch: '*'}
        : {ifMatch: tab.etag ?? '*'};
    const {body} = await api.send('PUT', `/api/pipelines/${encodeURIComponent(id)}`, doc, conditions);
    const oldDraft = draftKey(tab);
    updateTab(tab.key, {id, etag: body.etag, saved: doc, problems: inWords(body.problems), valid: body.valid, onDisk: null, saving: false});
    await removeDraft(oldDraft);
    // What was typed while the server wrote is not in the file.
    keepDraft(tab.key);
    noteRecent(id);
    await refreshLibrary();
    const topic = `save ${tab.key}`;
    if (body.valid) notify('success', 'app.saved', {id}, {topic});
    else notify('warning', 'app.savedWithProblems', {id, n: body.problems.length}, {topic});
    return true;
  } catch (error) {
    updateTab(tab.key, {saving: false});
    if (error instanceof ApiFailure && error.status === 412) {
      openDialog('merge', {tab: tab.key, id, theirs: error.details.current ?? null, etag: error.details.etag ?? null});
    } else {
      notifyFailure(error, 'app.saveFailed', `save ${tab.key}`);
    }
    return false;
  }
}

/**
 * Open the edits that were not saved when the page was closed.
 * @param {import('../api/drafts.js').Draft} draft one of this page
 * @param {Partial<Tab>} [parts]
 * @returns {Promise<Tab | null>} null where it holds no document
 */
export async function restoreDraft(draft, parts) {
  const parsed = parseDocument(JSON.stringify(draft.document));
  if (!('document' in parsed)) return null;
  const file = fileOf(draft);
  // What was kept beside another draft of the same file is a document of its own.
  const id = store.get().tabs.some((tab) => tab.id === file) ? null : file;
  const saved = draft.base === null || id === null ? null : readable(draft.base);
  const history = typeof draft.text === 'string' ? startHistory(parsed.document) : push(startHistory(saved ?? parsed.document), parsed.document, 'app.edit');
  const tab = addTab(newTab({id, etag: id === null ? null : draft.etag, saved, history, brokenText: draft.text ?? null, ...parts}));
  // A new document's draft is called after its tab, and this may be another one.
  if (draftKey(tab) !== draft.key) {
    await writeDraft(tab.key);
    await removeDraft(draft.key);
  }
  if (id !== null && typeof draft.text !== 'string') await compareWithDisk(id);
  return tab;
}

/**
 * Take note of a change of a pipeline's file: an unchanged tab shows the new one, an edited one says so.
 * @param {string} id
 */
export async function compareWithDisk(id) {
  const open = () => store.get().tabs.find((one) => one.id === id && !one.readOnly);
  if (!open()) return;
  try {
    const {body} = await api.get(`/api/pipelines/${encodeURIComponent(id)}`);
    // Somebody may have typed, saved or closed it meanwhile.
    const tab = open();
    if (!tab || tab.saving) return;
    if (body.etag === tab.etag) {
      // What was gone or another one is as it was: somebody took a change back.
      if (tab.onDisk) updateTab(tab.key, {onDisk: null});
      return;
    }
    if (!isDirty(tab)) {
      const now = asOnDisk(body, id);
      const history = tab.saved && now.saved ? push(tab.history, now.saved, 'app.changedOnDisk') : now.history;
      updateTab(tab.key, {...now, history});
      notify('info', 'app.reloaded', {id});
    } else updateTab(tab.key, {onDisk: {etag: body.etag}});
  } catch (error) {
    const tab = open();
    if (!(error instanceof ApiFailure && error.status === 404)) notifyFailure(error);
    else if (tab) followRename(tab);
  }
}

/**
 * A tab's file is gone. Where one file with its very content stands under a name that no tab has, it was renamed.
 * @param {Tab} tab
 */
function followRename(tab) {
  const {library, tabs} = store.get();
  const [other, ...more] = library.pipelines.filter((one) => one.etag === tab.etag && !tabs.some((each) => each.id === one.id));
  if (!other || more.length) {
    updateTab(tab.key, {onDisk: {etag: null}});
    return;
  }
  resettleTab(tab.key, {id: other.id, onDisk: null});
  notify('info', 'files.renamed', {id: other.id});
}

/** What a tab's draft is called. @param {Tab} tab */
export function draftKey(tab) {
  return draftName(tab.id, tab.key);
}

/** Keep the edits of a tab in the browser until they are saved. @param {string} key */
function keepDraft(key) {
  clearTimeout(draftTimers.get(key));
  draftTimers.set(
    key,
    setTimeout(() => void writeDraft(key), DRAFT_DELAY_MS),
  );
}

/** Write the drafts that still wait for the typing to rest; the page may be about to close. */
export function keepDraftsNow() {
  for (const [key, timer] of draftTimers) {
    clearTimeout(timer);
    void writeDraft(key);
  }
}

/** @param {string} key */
async function writeDraft(key) {
  draftTimers.delete(key);
  const tab = store.get().tabs.find((one) => one.key === key);
  if (!tab || tab.readOnly) return;
  if (!isDirty(tab)) await removeDraft(draftKey(tab));
  else await saveDraft(draftKey(tab), {document: docOf(tab), base: tab.saved, etag: tab.etag, time: Date.now(), text: tab.brokenText});
}

/**
 * The server's problems in the chosen language.
 * @param {import('./types.js').Problem[]} problems
 */
export function inWords(problems) {
  return problems.map((one) => ({...one, message: problemText(one)}));
}

/** Have a tab's document checked when the typing rests. @param {string} key */
export function checkSoon(key) {
  clearTimeout(checkTimers.get(key));
  checkTimers.set(key, setTimeout(() => void check(key), CHECK_DELAY_MS));
}

/** Check every document whose last check got no answer: the server is back. */
export function checkUnchecked() {
  for (const tab of store.get().tabs) if (tab.valid === null) checkSoon(tab.key);
}

/** @param {string} key */
async function check(key) {
  const tab = store.get().tabs.find((one) => one.key === key);
  if (!tab || tab.brokenText !== null) return;
  const doc = docOf(tab);
  /** An answer about a document that has changed meanwhile says nothing. @param {Partial<Tab>} found */
  const take = (found) => updateTab(key, (now) => (docOf(now) === doc ? found : {}));
  try {
    const {body} = await api.send('POST', '/api/validate', {document: doc, ...(tab.id === null ? {} : {pipeline: tab.id})});
    take({problems: inWords(body.problems), hosts: body.hosts, valid: body.valid});
  } catch (error) {
    // What was wrong before is shown until the server is back.
    take({valid: null});
    if (!(error instanceof ApiFailure && error.code === 'offline')) notifyFailure(error);
  }
}
