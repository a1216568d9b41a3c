/**
 * Runs as they happen, of every client, over one connection; and which of them the editor shows.
 *
 * What comes is collected and taken in once for each picture that the browser draws, so that fifty answers at once cost what one
 * does.
 */
import {api, ApiFailure} from '../api/client.js';
import {completeDocument, isSame} from '../core/doc.js';
import {emptyRun, reduceAll} from '../core/runlog.js';
import {t} from '../words.js';
import {announce, notifyFailure} from './notices.js';
import {store} from './store.js';
import {activateTab, activeTab, closeTab, docOf, openPipeline, showDocument, updateTab} from './tabs.js';

/** @typedef {import('./types.js').State} State */
/** @typedef {import('./types.js').Tab} Tab */
/** @typedef {import('../core/doc.js').RunView} RunView */
/** @typedef {import('../core/doc.js').RunEvent} RunEvent */
/** @typedef {import('../core/doc.js').Pipeline} Pipeline */

/** How many runs are kept with their events; those under way, shown or last in a tab are never dropped. */
const MOST_RUNS = 50;
/** How many lines the list has at most; the history asks the server for more. */
const MOST_LINES = 200;
/** A page that is not seen draws no pictures; what comes is taken in all the same. */
const HIDDEN_MS = 500;
/** The pipeline id of a run of a document that was never saved. */
export const UNSAVED = 'unsaved';

let isWatching = false;
/** @type {Map<string, RunEvent[]>} */
const waitingEvents = new Map();
/** @type {Map<string, any>} */
const waitingSummaries = new Map();
/** @type {Set<string>} */
const incomplete = new Set();
/** What is heard of runs while they are read. @type {Map<string, RunEvent[]>} */
const heardWhileRead = new Map();
let isApplying = false;

/** Read the last runs; those to come are told of by `applyRunEvent`. */
export function watchRuns() {
  if (isWatching) return;
  isWatching = true;
  void refreshRuns();
  store.subscribe(showLastOfTab());
}

/** When another tab comes to the front, its last run is the one that is shown. */
function showLastOfTab() {
  let front = store.get().activeTab;
  return () => {
    const state = store.get();
    if (state.activeTab === front) return;
    front = state.activeTab;
    const last = activeTab(state)?.lastRun ?? null;
    if (last !== state.runs.viewed) store.set({runs: {...state.runs, viewed: last, iterations: {}}});
  };
}

/** What happens in the runs. @param {import('../api/events.js').JsonEvent} message */
export function applyRunEvent({event, data}) {
  if (event === 'run') waitingSummaries.set(data.run, data.summary);
  else if (event === 'event') {
    const known = waitingEvents.get(data.run);
    const fresh = data.type === 'node.chunks' ? pieces(data) : [data];
    if (known) known.push(...fresh);
    else waitingEvents.set(data.run, fresh);
  } else if (event === 'missed') incomplete.add(data.run);
  else if (event === 'reset') void catchUpRuns();
  applySoon();
}

/** Pieces that travelled together, one by one. @param {any} event @returns {RunEvent[]} */
function pieces({run, node, data}) {
  return data.pieces.map((/** @type {[number, number, string]} */ [seq, at_ms, text]) => ({run, seq, type: 'node.chunk', at_ms, node, data: {text}}));
}

function applySoon() {
  if (isApplying) return;
  isApplying = true;
  if (document.hidden) setTimeout(applyReceived, HIDDEN_MS);
  else requestAnimationFrame(applyReceived);
}

/** Take in all that came since the last picture. */
function applyReceived() {
  isApplying = false;
  const summaries = new Map(waitingSummaries);
  const events = new Map(waitingEvents);
  waitingSummaries.clear();
  waitingEvents.clear();
  const before = store.get();
  const byId = {...before.runs.byId};
  for (const [id, summary] of summaries) byId[id] = byId[id] ? {...byId[id], summary} : emptyRun(summary);
  for (const [id, heard] of events) {
    // Two nodes at work at once have their pieces by turns.
    heardWhileRead.get(id)?.push(...heard);
    if (byId[id]) byId[id] = reduceAll(byId[id], heard.sort((a, b) => a.seq - b.seq));
  }
  const begun = [...summaries.values()].filter((summary) => !before.runs.byId[summary.id]);
  store.set((state) => ({runs: {...state.runs, list: merged(state.runs.list, summaries), byId: withoutOldest(byId, state)}}));
  for (const summary of begun) showIfFollowed(summary);
  for (const id of incomplete) {
    if (byId[id] && byId[id].state !== 'running') {
      incomplete.delete(id);
      if (isShown(id)) void loadRun(id);
    }
  }
  announceProgress(before);
}

/** The list with new lines at its top and known ones replaced. @param {any[]} list @param {Map<string, any>} summaries */
function merged(list, summaries) {
  if (summaries.size === 0) return list;
  const fresh = [...summaries.values()].filter((summary) => !list.some((line) => line.id === summary.id)).sort((a, b) => (a.id < b.id ? 1 : -1));
  return [...fresh, ...list.map((line) => summaries.get(line.id) ?? line)].slice(0, MOST_LINES);
}

/** The runs without the oldest ones that nobody looks at. @param {Record<string, RunView>} byId @param {State} state */
function withoutOldest(byId, state) {
  const ids = Object.keys(byId);
  if (ids.length <= MOST_RUNS) return byId;
  const wanted = new Set([state.runs.viewed, state.runs.compared, ...state.tabs.map((tab) => tab.lastRun)]);
  const old = ids.filter((id) => !wanted.has(id) && byId[id].state !== 'running').sort();
  const dropped = new Set(old.slice(0, ids.length - MOST_RUNS));
  return Object.fromEntries(Object.entries(byId).filter(([id]) => !dropped.has(id)));
}

/** Show a run that begins, where it is one of the pipeline in front and the switch says so. @param {any} summary */
function showIfFollowed(summary) {
  const state = store.get();
  const tab = activeTab(state);
  if (!tab || tab.readOnly || !state.runs.follow || !isOf(tab, summary)) return;
  updateTab(tab.key, {lastRun: summary.id});
  store.set((now) => ({runs: {...now.runs, viewed: summary.id, iterations: {}}}));
}

/** Whether a run is one of the tab's pipeline. @param {Tab} tab @param {any} summary */
function isOf(tab, summary) {
  return tab.id === null ? summary.pipeline === UNSAVED && summary.origin === 'try' : summary.pipeline === tab.id;
}

/** @param {string} id */
function isShown(id) {
  const state = store.get();
  return state.runs.viewed === id || state.tabs.some((tab) => tab.lastRun === id);
}

/** Say what happened in the run that is shown. @param {State} before */
function announceProgress(before) {
  const {runs} = store.get();
  const now = runs.viewed === null ? null : runs.byId[runs.viewed];
  if (!now) return;
  const was = before.runs.viewed === now.id ? before.runs.byId[now.id] : undefined;
  if (was === now) return;
  const failed = now.order.find((id) => now.nodes[id].state === 'failed' && was?.nodes[id]?.state !== 'failed');
  if (now.state !== 'running' && (!was || was.state === 'running')) {
    announce(t(`run.said.${now.state}`, {message: now.error?.message ?? '', node: failed ?? now.order.findLast((id) => now.nodes[id].state === 'failed') ?? ''}));
  } else if (failed) announce(t('run.said.nodeFailed', {node: failed, message: now.nodes[failed].error?.message ?? ''}));
  else if (!was) announce(t('run.said.started'));
}

/** Read the list of the last runs. */
export async function refreshRuns() {
  try {
    const {body} = await api.get('/api/runs?limit=50');
    store.set((state) => ({runs: {...state.runs, list: body}}));
  } catch (error) {
    notifyFailure(error);
  }
}

/** After a break: what is under way and what ended meanwhile is read whole, what nobody knows any more is over. */
export async function catchUpRuns() {
  await refreshRuns();
  const {byId, list} = store.get().runs;
  const running = Object.values(byId).filter((run) => run.state === 'running');
  const begun = list.filter((line) => line.state === 'running');
  await Promise.all([...new Set([...running, ...begun].map((run) => run.id))].map(loadRun));
}

/**
 * Read a run with all its events.
 * @param {string} id
 * @returns {Promise<any>} what GET /api/runs/{id} says; null when it could not be read (a notice says why)
 */
export async function loadRun(id) {
  /** @type {RunEvent[]} */
  const heard = [];
  heardWhileRead.set(id, heard);
  try {
    const {body} = await api.get(`/api/runs/${encodeURIComponent(id)}`);
    const {events, document: _document, request: _request, ...summary} = body;
    // What was heard meanwhile may be newer than the answer.
    const run = reduceAll(reduceAll(emptyRun(summary), events), heard);
    store.set((state) => ({runs: {...state.runs, byId: withoutOldest({...state.runs.byId, [id]: run}, state)}}));
    return body;
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 404) endLost(id);
    else notifyFailure(error);
    return null;
  } finally {
    if (heardWhileRead.get(id) === heard) heardWhileRead.delete(id);
  }
}

/** The server no longer knows a run: one that was under way ended with it. @param {string} id */
function endLost(id) {
  const message = t('run.lost');
  store.set((state) => {
    const run = state.runs.byId[id];
    if (!run || run.state !== 'running') return {};
    const over = {seq: run.lastSeq + 1, type: 'run.finished', at_ms: run.at, data: {state: 'cancelled', error: {code: 'lost', message}}};
    return {runs: {...state.runs, byId: {...state.runs.byId, [id]: reduceAll(run, [over])}}};
  });
}

/** Show a run on the canvas that is in front, without asking what it ran. @param {string | null} id */
export function viewRun(id) {
  const tab = activeTab();
  if (tab && id !== null) updateTab(tab.key, {lastRun: id});
  store.set((state) => ({runs: {...state.runs, viewed: id, iterations: {}}}));
}

/**
 * Open a run: on its pipeline where that is still what ran, else with the document that ran, which cannot be changed.
 * @param {string} id
 * @returns {Promise<boolean>}
 */
export async function openRun(id) {
  const whole = await loadRun(id);
  if (whole === null) return false;
  const ran = /** @type {Pipeline} */ (completeDocument(whole.document ?? {}));
  const state = store.get();
  const shown = state.tabs.find((tab) => tab.readOnly?.kind === 'run' && tab.lastRun === id);
  const front = activeTab(state);
  const same = [front, ...state.tabs].find((tab) => tab && !tab.readOnly && isOf(tab, whole) && runsAlike(docOf(tab), ran));
  if (shown || same) {
    activateTab(/** @type {Tab} */ (shown ?? same).key);
  } else {
    const label = t('run.viewLabel', {pipeline: whole.pipeline_name || whole.pipeline, time: timeOf(whole.started)});
    showDocument(ran, {kind: 'run', label}, {lastRun: id});
  }
  viewRun(id);
  return true;
}

/** Back to the pipeline itself, with nothing shown of any run. */
export async function leaveRun() {
  const tab = activeTab();
  if (tab?.readOnly?.kind === 'run') {
    const pipeline = store.get().runs.byId[tab.lastRun ?? '']?.summary.pipeline;
    await closeTab(tab.key);
    const isThere = store.get().library.pipelines.some((one) => one.id === pipeline);
    if (pipeline !== undefined && isThere) await openPipeline(pipeline);
  }
  const front = activeTab();
  if (front) updateTab(front.key, {lastRun: null});
  store.set((state) => ({runs: {...state.runs, viewed: null, iterations: {}}}));
}

/** Whether two documents do the same; where their nodes stand and what they are called does not matter. @param {Pipeline} a @param {Pipeline} b */
function runsAlike(a, b) {
  return isSame(working(a), working(b));
}

/** @param {Pipeline} doc */
function working(doc) {
  return {
    nodes: doc.nodes.map(({id, type, config, enabled, on_error}) => ({id, type, config, enabled: enabled ?? true, on_error: on_error ?? 'fail'})),
    edges: doc.edges.map(({from, to, from_port}) => ({from, to, from_port: from_port ?? 'done'})),
    answer: doc.answer ?? null,
  };
}

/** @param {number | undefined} started */
function timeOf(started) {
  return new Intl.DateTimeFormat(store.get().view.locale, {timeStyle: 'medium'}).format(new Date(started ?? 0));
}

/** Whether every new run of the pipeline in front is shown. @param {boolean} isOn */
export function setFollow(isOn) {
  store.set((state) => ({runs: {...state.runs, follow: isOn}}));
}

/** Stop a run. @param {string} id */
export async function cancelRun(id) {
  try {
    await api.send('POST', `/api/runs/${encodeURIComponent(id)}/cancel`);
  } catch (error) {
    // Over already: that is what was wanted.
    if (!(error instanceof ApiFailure && error.status === 409)) notifyFailure(error);
  }
}

/** The path, within a run, of the document in front: of a pipeline that another called there. @param {State} state @param {RunView} run */
export function scopeIn(state, run) {
  const within = activeTab(state)?.within;
  return within && within.run === run.id ? within.path : '';
}

/**
 * Look at one iteration of a loop in the run that is shown; null: at the last.
 * @param {string} holder the loop's full id in the run
 * @param {number | null} iteration
 */
export function chooseIteration(holder, iteration) {
  store.set(({runs}) => {
    const {[holder]: _, ...rest} = runs.iterations;
    return {runs: {...runs, iterations: iteration === null ? rest : {...rest, [holder]: iteration}}};
  });
}

/** Which run another one is compared with. @param {string | null} id */
export function setCompared(id) {
  store.set((state) => ({runs: {...state.runs, compared: id}}));
}
