/** Turns that this page plays: each is asked for, read as it comes, and stopped. */
import {api, ApiFailure, failureOf} from '../api/client.js';
import {readEvents} from '../api/events.js';
import {knownList, SESSIONS} from '../state/chats.js';
import {parseExact, withQuery, writeMemory} from '../state/memory.js';
import {announce} from '../state/notices.js';
import {Pieces} from '../state/pieces.js';
import {chooseSession, refreshStored} from '../state/session.js';
import {store} from '../state/store.js';
import {t} from '../words.js';
import {setEditing} from './look.js';
import {chosenPlace, isBusy, loadEnd, setTalk, talkOf} from './talk.js';
import {withEvent} from './toolcalls.js';
import {questionOf} from './versions.js';

/** @typedef {import('./talk.js').Place} Place */
/** @typedef {import('./talk.js').Turn} Turn */

/** How long a stopped turn may take to say that it has ended, before its connection is cut. */
const PATIENCE_MS = 4000;

/** @type {Map<string, AbortController>} */
const calls = new Map();
/** @param {Place} place */
const keyOf = ({session, branch}) => JSON.stringify([session, branch]);
/** @param {string} id */
const part = (id) => encodeURIComponent(id);

/** Say something. @param {Place} place @param {string} message */
export function respond(place, message) {
  if (message.trim() === '' || isBusy(talkOf(place))) return;
  setTalk(place, {draft: ''});
  const body = {message, branch_id: place.branch};
  void play(place, {kind: 'respond', target: null, words: message}, `/sessions/${part(place.session)}/respond/stream`, body);
}

/** Let the character speak again, without saying anything. @param {Place} place */
export function speakAgain(place) {
  const path = `/sessions/${part(place.session)}/respond/stream`;
  void play(place, {kind: 'respond', target: null, words: null}, path, {branch_id: place.branch});
}

/** Let the model write what the person may say next, into the field. Nothing of it is kept. @param {Place} place */
export async function writeForMe(place) {
  const {draft} = talkOf(place);
  if (isBusy(talkOf(place)) || draft.trim() !== '') return;
  const call = new AbortController();
  calls.set(keyOf(place), call);
  /** @type {Turn} */
  const turn = {kind: 'draft', target: null, words: null, branch: place.branch, text: '', calls: [], phase: 'drafting', state: 'running', error: null};
  setTalk(place, {turn});
  const text = new Pieces((words) => setTalk(place, {draft: words}));
  const path = `/sessions/${part(place.session)}/respond/stream`;
  const nothing = () => undefined;
  /** @type {{code: string, message: string, details?: any} | null} */
  let error = null;
  try {
    await listen(path, {branch_id: place.branch, prompt_intent: 'impersonate'}, call.signal, text, {update: nothing, onTool: nothing});
  } catch (failure) {
    error = call.signal.aborted ? null : explained(failure);
  } finally {
    calls.delete(keyOf(place));
    text.flush();
  }
  setTalk(place, {turn: error === null ? null : {...turn, state: 'failed', error}});
  announce(error === null ? t('chat.drafted') : error.message);
}

/** Another version of a floor's answer; the ones that it has stay. @param {Place} place @param {string} floor */
export function retry(place, floor) {
  void play(place, {kind: 'retry', target: floor, words: null}, `/floors/${part(floor)}/retry/stream`, {});
}

/** Go on with an answer, one that broke off or a whole one. @param {Place} place @param {string} floor */
export function goOn(place, floor) {
  void play(place, {kind: 'continue', target: floor, words: null}, `/floors/${part(floor)}/retry/stream`, {prompt_intent: 'continue'});
}

/** Answer the newest floor once more, in place of it. @param {Place} place @param {string} floor */
export function regenerate(place, floor) {
  const path = `/sessions/${part(place.session)}/regenerate/stream`;
  void play(place, {kind: 'regenerate', target: floor, words: null}, path, {branch_id: place.branch});
}

/** Say something else than was said, and go on from there on a branch of its own. @param {Place} place @param {string} floor @param {string} message its id @param {string} content */
export function editAndGoOn(place, floor, message, content) {
  void play(place, {kind: 'edit', target: floor, words: content}, `/messages/${part(message)}/edit-and-regenerate/stream`, {content});
}

/**
 * End the turn. The server keeps the words that came, as a page that one can go on with or drop.
 * @param {Place} place
 */
export async function stop(place) {
  const call = calls.get(keyOf(place));
  const {turn} = talkOf(place);
  if (turn?.kind === 'draft') {
    call?.abort(); // no floor keeps its words: the connection is all that there is
    return;
  }
  if (turn !== null) setTalk(place, {turn: {...turn, state: 'stopping'}});
  const timer = setTimeout(() => call?.abort(), PATIENCE_MS);
  call?.signal.addEventListener('abort', () => clearTimeout(timer));
  try {
    await cancelRun({session: place.session, branch: turn?.branch ?? place.branch});
  } catch {
    // It has ended already, or nobody answers: then its connection is all that is left to end.
    call?.abort();
  }
}

/** End what is generated on a branch, whoever asked for it. @param {Place} place */
export function cancelRun({session, branch}) {
  return writeMemory('POST', withQuery(`/sessions/${part(session)}/active-run/cancel`, {branch_id: branch}), {branch_id: branch});
}

/** The checks that the session of a place names, or that this browser wants of the server's own. @param {Place} place */
function checksOf({session}) {
  const known = knownList(SESSIONS).items.find((one) => one.id === session);
  const {server: {checks}, view} = store.get();
  return {
    enableDirector: Boolean(known?.director_pipeline_id || (checks.director && view.chatOwnDirector)),
    enableVerifier: Boolean(known?.verifier_pipeline_id || (checks.verifier && view.chatOwnVerifier)),
    verifierFailStrategy: view.chatFailStrategy,
  };
}

/**
 * Ask for a turn and take its events in.
 * @param {Place} place
 * @param {Pick<Turn, 'kind' | 'target' | 'words'>} asked
 * @param {string} path
 * @param {any} body
 */
async function play(place, asked, path, body) {
  if (isBusy(talkOf(place))) return;
  const call = new AbortController();
  calls.set(keyOf(place), call);
  setTalk(place, {elsewhere: null, turn: {...asked, branch: place.branch, text: '', calls: [], phase: null, state: 'running', error: null}});
  /** @param {Partial<Turn>} patch */
  const update = (patch) => {
    const {turn} = talkOf(place);
    if (turn !== null) setTalk(place, {turn: {...turn, ...patch}});
  };
  const text = new Pieces((words) => update({text: words}));
  /** @type {{code: string, message: string, details?: any} | null} */
  let error = null;
  let isKept = true;
  try {
    // The session says whether its turns have tools, a director and a verifier; every turn takes what it allows.
    await listen(path, {...body, config: {enableTools: true, ...checksOf(place)}}, call.signal, text, {update, onTool: (event) => update({calls: withEvent(talkOf(place).turn?.calls ?? [], event)})});
  } catch (failure) {
    error = call.signal.aborted ? null : explained(failure);
    isKept = error === null || (failure instanceof ApiFailure && failure.details?.is_partial === true);
  } finally {
    calls.delete(keyOf(place));
    text.flush();
  }
  await settle(place, error, isKept);
}

/**
 * Read a turn's events to their end.
 * @param {string} path
 * @param {any} body
 * @param {AbortSignal} signal
 * @param {Pieces} text
 * @param {{update: (patch: Partial<Turn>) => void, onTool: (event: any) => void}} listeners
 * @throws {ApiFailure} where it failed
 */
async function listen(path, body, signal, text, {update, onTool}) {
  const headers = {'content-type': 'application/json', accept: 'text/event-stream'};
  const response = await api.raw(path, {method: 'POST', headers, body: JSON.stringify(body), signal});
  if (!response.ok || response.body === null) throw failureOf(response.status, await response.text());
  for await (const event of readEvents(response.body)) {
    const data = parseExact(event.text);
    if (event.event === 'start') update({branch: data.branch_id});
    else if (event.event === 'chunk') text.add(data.chunk);
    else if (event.event === 'tool') onTool(data);
    else if (event.event === 'run') update({phase: data.public_phase});
    else if (event.event === 'error') throw new ApiFailure(200, data.code, data.message, data.details ?? {});
    else if (event.event === 'done') return;
  }
  throw new ApiFailure(0, 'offline', t('chat.brokeOff'));
}

/** @param {unknown} failure */
function explained(failure) {
  if (failure instanceof ApiFailure) return {code: failure.code, message: failure.message, details: failure.details};
  return {code: 'broken', message: t('chat.brokeOff')};
}

/**
 * After a turn: what it left is read, and what came of nothing is given back to the field.
 * @param {Place} place where it was asked for
 * @param {{code: string, message: string, details?: any} | null} error
 * @param {boolean} isKept whether it left an answer, or the words that had come of one
 */
async function settle(place, error, isKept) {
  const {turn} = talkOf(place);
  const wasStopped = turn?.state === 'stopping';
  const branch = turn?.branch ?? place.branch;
  if (isKept && (error === null || wasStopped) && branch !== place.branch) {
    setTalk(place, {turn: null});
    const chosen = chosenPlace();
    if (chosen?.session === place.session && chosen.branch === place.branch) chooseSession({session: place.session, branch});
    return;
  }
  const before = talkOf(place).floors.at(-1)?.id;
  await loadEnd(place);
  const {draft, floors} = talkOf(place);
  // A question whose answer never came was not kept, so it goes back into the field.
  const isLost = turn?.kind === 'respond' && turn.words !== null && floors.at(-1)?.id === before && (error !== null || wasStopped);
  setTalk(place, {
    turn: error === null || wasStopped || turn === null ? null : {...turn, state: 'failed', error},
    draft: isLost && draft === '' ? (turn?.words ?? '') : draft,
  });
  if (turn?.kind === 'edit' && !isKept) editAgain(place, turn);
  announce(error === null ? t('chat.answered') : error.message);
  void refreshStored();
}

/** An edit that came to nothing goes on where it was, with its words. @param {Place} place @param {Turn} turn */
function editAgain(place, turn) {
  const floor = talkOf(place).floors.find(({id}) => id === turn.target);
  const question = floor ? questionOf(floor) : null;
  const chosen = chosenPlace();
  if (floor === undefined || question === null || turn.words === null) return;
  if (chosen?.session !== place.session || chosen.branch !== place.branch) return;
  setEditing({floor: floor.id, message: question.id, text: turn.words});
}
