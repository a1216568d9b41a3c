/** The chat whose memory the editor shows and tries with, and the variables that are stored there. */
import {ApiFailure} from '../api/client.js';
import {rawDigits, readAll, readMemory, withQuery} from './memory.js';
import {notify} from './notices.js';
import {store} from './store.js';

/** @typedef {import('./types.js').SessionState} SessionState */
/** @typedef {import('./types.js').StoredVariable} StoredVariable */
/** @typedef {import('../core/tiers.js').Tier} Tier */

/** Runs often end in bursts; one reading serves them all. */
const REST_MS = 300;
const PLACE = /** @type {const} */ (['session', 'branch', 'floor', 'page']);

let isWatching = false;
/** Which reading is the newest; older answers are not taken. */
let reading = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let refreshTimer;
/** @type {Set<(summary: any) => void>} */
const turnListeners = new Set();

/**
 * Choose a session, branch, floor or page; what lies below the chosen one is forgotten.
 * @param {Partial<Pick<SessionState, 'session' | 'branch' | 'floor' | 'page'>>} patch
 */
export function chooseSession(patch) {
  const before = store.get().session;
  const first = PLACE.findIndex((name) => name in patch);
  const forgotten = Object.fromEntries(PLACE.slice(first + 1).map((name) => [name, null]));
  const next = {...before, ...forgotten, ...patch};
  if (PLACE.every((name) => next[name] === before[name])) return;
  // Another chat's values must not stand there as this one's; those of the same chat may until the new ones are here.
  const stored = next.session === before.session ? next.stored : {...next.stored, items: [], floorState: null};
  store.set({session: {...next, stored, names: next.session === before.session ? next.names : null}});
  void refreshStored();
}

/**
 * A sample request as a client of the chosen chat would send it, so that a preview reads that chat's memory. A request that
 * names a chat of its own keeps it.
 * @param {import('./types.js').Sample['request']} request
 */
function inChat(request) {
  const {session, branch} = store.get().session;
  const isNamed = Object.keys(request.headers).some((name) => name.toLowerCase() === 'x-agentui-session');
  if (session === null || isNamed) return request;
  const chat = {'x-agentui-session': session, ...(branch === null ? {} : {'x-agentui-branch': branch})};
  return {...request, headers: {...request.headers, ...chat}};
}

/**
 * What previews and tries take for a sample. A captured request is taken by the server itself, which leaves its caller's keys
 * out.
 * @param {import('./types.js').Sample} sample
 * @returns {{run_id: string} | {request: import('./types.js').Sample['request']}}
 */
export function requestOf(sample) {
  return sample.kind === 'captured' && sample.runId !== null ? {run_id: sample.runId} : {request: inChat(sample.request)};
}

/** Read the stored variables of the chosen place, or the global ones where no chat is chosen. */
export async function refreshStored() {
  watchTurns();
  clearTimeout(refreshTimer);
  refreshTimer = undefined;
  const mine = ++reading;
  const place = store.get().session;
  patchStored({state: 'loading'});
  try {
    const [items, floorState] = await Promise.all([place.session === null ? globals() : visible(place), stateOfFloor(place.floor)]);
    if (mine !== reading) return;
    patchStored({state: 'ready', items, error: null, floorState});
    store.set((state) => ({session: {...state.session, names: namesOf(items)}}));
  } catch (error) {
    if (mine === reading) handleFailure(error, place);
  }
}

/** Read them again in a moment, together with what else happens until then. */
function refreshStoredSoon() {
  refreshTimer ??= setTimeout(() => void refreshStored(), REST_MS);
}

/**
 * Hear of every turn of any chat: when it begins and when it ends. The answer ends it.
 * @param {(summary: any) => void} listener gets the run's line of the history
 */
export function onTurn(listener) {
  watchTurns();
  turnListeners.add(listener);
  return () => void turnListeners.delete(listener);
}

/** @param {unknown} error @param {SessionState} place */
function handleFailure(error, place) {
  if (error instanceof ApiFailure && error.status === 404 && place.session !== null) {
    notify('warning', 'variables.placeGone');
    chooseSession(place.branch === null || error.code === 'not_found' ? {session: null} : {branch: null});
    return;
  }
  patchStored({state: 'failed', error: error instanceof Error ? error.message : String(error)});
}

/** @param {Partial<import('./types.js').Stored>} patch */
function patchStored(patch) {
  store.set((state) => ({session: {...state.session, stored: {...state.session.stored, ...patch}}}));
}

/** @returns {Promise<StoredVariable[]>} */
async function globals() {
  const items = await readAll('/variables?scope=global&sort_by=key&sort_order=asc');
  return items.map(storedVariable);
}

/** @param {SessionState} place @returns {Promise<StoredVariable[]>} */
async function visible({session, branch, floor, page}) {
  const query = {session_id: session, branch_id: branch, floor_id: floor, page_id: page, include_layers: true};
  const {data} = await readMemory(withQuery('/variables/resolve', query));
  return Object.values(data.layers).flatMap((layer) => layer.items.map(storedVariable));
}

/** @param {string | null} floor */
async function stateOfFloor(floor) {
  if (floor === null) return null;
  return (await readMemory(`/floors/${encodeURIComponent(floor)}`)).data.state;
}

/** A variable as the API writes it. @param {any} written @returns {StoredVariable} */
export function storedVariable({id, scope, scope_id, key, value, updated_at}) {
  return {id, tier: scope, scopeId: scope_id, key, value, updated: updated_at};
}

/** What templates see: their numbers are JavaScript's. @param {StoredVariable[]} items */
function namesOf(items) {
  return items.map(({key, tier, value}) => ({name: key, tier, value: hasRawDigits(value) ? JSON.parse(JSON.stringify(value)) : value}));
}

/** Whether a value holds a number that is kept as text. @param {any} value @returns {boolean} */
function hasRawDigits(value) {
  if (typeof value !== 'object' || value === null) return false;
  return rawDigits(value) !== null || Object.values(value).some(hasRawDigits);
}

/** Follow the runs from the first use on: turns of the chosen chat change what is stored there. */
function watchTurns() {
  if (isWatching) return;
  isWatching = true;
  let {list} = store.get().runs;
  store.subscribe(() => {
    const now = store.get().runs.list;
    if (now === list) return;
    const before = new Map(list.map((line) => [line.id, line.state]));
    list = now;
    for (const line of now) if (before.get(line.id) !== line.state) notifyTurn(line);
  });
}

/** @param {any} summary a line of the history that is new or has changed */
function notifyTurn(summary) {
  if (summary.session) for (const listener of turnListeners) listener(summary);
  // Every run may have written global variables, also one that belongs to no chat.
  if (summary.state !== 'running' && store.get().session.stored.state !== 'idle') refreshStoredSoon();
}
