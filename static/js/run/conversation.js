/** The talk of the chat pane, one for each open document: what was said, with which settings, and the run of each answer. */
import {api, ApiFailure, failureOf} from '../api/client.js';
import {readEvents} from '../api/events.js';
import {isLinked} from '../core/runlog.js';
import {chatRequest, keyHeaders, wordsOf} from '../core/dialects.js';
import {upstream} from '../core/graph.js';
import {beginSession} from '../state/chats.js';
import {notifyFailure} from '../state/notices.js';
import {Pieces} from '../state/pieces.js';
import {mayChange} from '../state/rights.js';
import {loadRun, viewRun} from '../state/runs.js';
import {createStore, store} from '../state/store.js';
import {docOf, updateTab} from '../state/tabs.js';
import {t} from '../words.js';

/** @typedef {import('../core/dialects.js').Dialect} Dialect */
/** @typedef {import('../state/types.js').Tab} Tab */

/**
 * @typedef {object} Message
 * @property {number} key
 * @property {'user' | 'assistant'} role
 * @property {string} text
 * @property {string | null} run the run that answered
 * @property {'done' | 'streaming' | 'stopped' | 'failed'} state
 * @property {{code: string, message: string, node: string | null, status: number | null, details?: any} | null} error `status`: the HTTP status that came with it
 * @property {string} [about] shown in place of what was said: a run that was repeated
 */

/**
 * @typedef {object} Talk
 * @property {Message[]} messages
 * @property {string} draft what is being typed
 * @property {Dialect} dialect
 * @property {string} model
 * @property {string} system
 * @property {string} temperature as typed; empty: the model's own
 * @property {boolean} stream
 * @property {string} key the caller's own key; kept only while the page is open
 * @property {string | null} joins the session whose chat gets what is said as turns; null: none does
 */

/** @type {Talk} */
export const NEW_TALK = Object.freeze({
  messages: [],
  draft: '',
  dialect: 'openai',
  model: 'demo-small',
  system: '',
  temperature: '',
  stream: true,
  key: '',
  joins: null,
});

/** How many characters of a talk, from its end, outlive a reload. */
const MOST_KEPT = 200_000;

/** Talks by the key of their tab. */
export const talks = createStore(/** @type {{byTab: Record<string, Talk>}} */ ({byTab: {}}));
/** @type {Map<string, AbortController>} */
const calls = new Map();
let count = 0;

/** A talk ends with its tab: its answer stops, and its key is forgotten. */
function forgetClosed() {
  const open = new Set(store.get().tabs.map((tab) => tab.key));
  const gone = Object.keys(talks.get().byTab).filter((tab) => !open.has(tab));
  if (gone.length === 0) return;
  gone.forEach(stop);
  talks.set(({byTab}) => ({byTab: Object.fromEntries(Object.entries(byTab).filter(([tab]) => open.has(tab)))}));
}

let {tabs} = store.get();
store.subscribe(() => {
  if (store.get().tabs === tabs) return;
  ({tabs} = store.get());
  forgetClosed();
});

/** @param {string} tab */
export function talkOf(tab) {
  return talks.get().byTab[tab] ?? NEW_TALK;
}

/**
 * Change a talk.
 * @param {string} tab
 * @param {Partial<Talk> | ((talk: Talk) => Partial<Talk>)} change
 */
export function setTalk(tab, change) {
  if (!store.get().tabs.some((one) => one.key === tab)) return;
  talks.set(({byTab}) => {
    const talk = byTab[tab] ?? NEW_TALK;
    return {byTab: {...byTab, [tab]: {...talk, ...(typeof change === 'function' ? change(talk) : change)}}};
  });
}

/**
 * What a reload may give back of a talk: no key, and an answer that was on its way as one that was stopped.
 * @param {string} tab
 */
export function keptTalk(tab) {
  const {key: _, messages, ...talk} = talkOf(tab);
  let room = MOST_KEPT;
  const kept = messages.slice(messages.findLastIndex((message) => (room -= message.text.length) < 0) + 1);
  return {...talk, messages: kept.map((message) => (message.state === 'streaming' ? {...message, state: 'stopped'} : message))};
}

/**
 * Go on with a talk that was kept.
 * @param {string} tab
 * @param {Partial<Talk>} kept
 */
export function restoreTalk(tab, kept) {
  setTalk(tab, {...kept, messages: (kept.messages ?? []).map((message) => ({...message, key: ++count}))});
}

/**
 * The chat that gets what is said as turns: the chosen one, where somebody has said so of it. Choosing another chat says nothing of
 * that one, so that no words go where nobody looks.
 * @param {Talk} talk
 * @param {{session: string | null, branch: string | null}} chosen
 * @returns {{session: string, branch?: string} | null}
 */
export function joinedChat({joins}, {session, branch}) {
  if (session === null || joins !== session) return null;
  return branch ? {session, branch} : {session};
}

/** Whether an answer is on its way. @param {Talk} talk */
export function isAnswering(talk) {
  return talk.messages.some((message) => message.state === 'streaming');
}

/**
 * Say something to the pipeline in front and read its answer.
 * @param {Tab} tab
 * @param {string} text
 */
export function send(tab, text) {
  const talk = talkOf(tab.key);
  if (text.trim() === '' || isAnswering(talk)) return;
  setTalk(tab.key, {draft: '', messages: [...talk.messages, newMessage('user', text)]});
  void ask(tab);
}

/** Ask again for the last answer. @param {Tab} tab */
export function retry(tab) {
  const {messages} = talkOf(tab.key);
  if (isAnswering(talkOf(tab.key))) return;
  const last = messages.findLastIndex((message) => message.role === 'user' && message.about === undefined);
  if (last < 0) return;
  setTalk(tab.key, {messages: messages.slice(0, last + 1)});
  void ask(tab);
}

/**
 * Ask again for the last answer as a turn of the chosen chat, or of a new one where none is: a pipeline that writes variables of a
 * chat cannot run outside of one.
 * @param {Tab} tab
 */
export async function retryInChat(tab) {
  const session = store.get().session.session ?? (await beginSession(t('run.trialChat', {name: docOf(tab).name || tab.id || t('run.chat')})));
  if (session === null) return;
  setTalk(tab.key, {joins: session});
  retry(tab);
}

/** Stop the answer that is on its way; the run and its calls end with the connection. @param {string} tab */
export function stop(tab) {
  calls.get(tab)?.abort();
}

/** Begin anew, with the same settings. @param {string} tab */
export function clear(tab) {
  stop(tab);
  setTalk(tab, {messages: []});
}

/** @param {Tab} tab */
function ask(tab) {
  const talk = talkOf(tab.key);
  const {session} = store.get();
  const temperature = Number.parseFloat(talk.temperature.replace(',', '.'));
  const request = chatRequest({
    ...talk,
    temperature: Number.isFinite(temperature) ? temperature : null,
    messages: talk.messages.filter((message) => message.about === undefined && message.text !== '' && message.state !== 'failed'),
  });
  updateTab(tab.key, (now) => (now.sample.kind === 'written' && now.sample.name === '' ? {sample: {...now.sample, request: withoutKey(request)}} : {}));
  return answer(tab, {request, pins: tab.pins, ...joinedChat(talk, session)});
}

/** Previews show the last question; a key must not lie about in them. @param {any} request */
function withoutKey(request) {
  const secret = new Set(['authorization', 'x-api-key', 'x-goog-api-key']);
  return {...request, headers: Object.fromEntries(Object.entries(request.headers).filter(([name]) => !secret.has(name)))};
}

/**
 * Answer a recorded run's request once more with the document in front, from this node on: those before it are pinned to what
 * they gave then. Its caller's key is not kept: the chat's own goes along, if there is one.
 * @param {Tab} tab
 * @param {string} run
 * @param {string | null} node null: from the beginning
 */
export async function runAgain(tab, run, node) {
  if (isAnswering(talkOf(tab.key))) return;
  const pins = node === null ? {} : await outsBefore(tab, run, node);
  // It may have been edited or closed meanwhile.
  const now = store.get().tabs.find((one) => one.key === tab.key);
  if (pins === null || !now || isAnswering(talkOf(tab.key))) return;
  const about = node === null ? t('run.again') : t('run.againFrom', {node});
  setTalk(tab.key, (talk) => ({messages: [...talk.messages, {...newMessage('user', ''), about}]}));
  const {dialect, key} = talkOf(tab.key);
  await answer(now, {run_id: run, headers: keyHeaders(dialect, key), pins: {...now.pins, ...pins}});
}

/**
 * The OUT of every node before this one in a run.
 * @param {Tab} tab
 * @param {string} id
 * @param {string} node
 * @returns {Promise<Record<string, any> | null>}
 */
async function outsBefore(tab, id, node) {
  /** @type {Record<string, any>} */
  const outs = {};
  const before = upstream(docOf(tab), node);
  before.delete(node);
  try {
    for (const [one, {out}] of Object.entries(store.get().runs.byId[id]?.nodes ?? {})) {
      if (!before.has(one) || out === undefined) continue;
      outs[one] = isLinked(out) ? (await api.get(out.link)).body.data : out;
    }
    return outs;
  } catch (error) {
    notifyFailure(error);
    return null;
  }
}

/**
 * Let the document in front run, and take its answer in as a message.
 * @param {Tab} tab
 * @param {any} asked what POST /api/try takes beside the document
 */
async function answer(tab, asked) {
  const key = tab.key;
  const message = {...newMessage('assistant', ''), state: /** @type {'streaming'} */ ('streaming')};
  setTalk(key, (talk) => ({messages: [...talk.messages, message]}));
  const controller = new AbortController();
  calls.set(key, controller);
  /** @param {Partial<Message>} change */
  const update = (change) =>
    setTalk(key, (talk) => ({messages: talk.messages.map((one) => (one.key === message.key ? {...one, ...change} : one))}));
  const text = new Pieces((words) => update({text: words}));
  /** @type {string | null} */
  let run = null;
  try {
    // A document of one's own may name the server's keys: who may not edit lets the saved pipeline run.
    const body = {...(tab.id === null ? {} : {pipeline: tab.id}), ...(mayChange(tab.id) || tab.id === null ? {document: docOf(tab)} : {}), ...asked};
    const response = await api.raw('/api/try', {
      method: 'POST',
      headers: {'content-type': 'application/json'},
      body: JSON.stringify(body),
      signal: controller.signal,
    });
    run = response.headers.get('x-agentui-run');
    update({run});
    if (run !== null) {
      updateTab(key, {lastRun: run});
      if (store.get().activeTab === key) viewRun(run);
    }
    if (!response.ok) throw failureOf(response.status, await response.text());
    const said = response.headers.get('content-type')?.startsWith('text/event-stream') ? await readStream(response, text) : await readWhole(response, text);
    text.flush();
    if (said.error) throw new ApiFailure(200, said.error.code, said.error.message);
    update({state: 'done'});
  } catch (error) {
    text.flush();
    const why = controller.signal.aborted ? null : await explained(error, run);
    update(why === null ? {state: 'stopped'} : {state: 'failed', error: why});
  } finally {
    // Another answer may have begun by now.
    if (calls.get(key) === controller) calls.delete(key);
  }
}

/**
 * @param {Response} response
 * @param {Pieces} text
 * @returns {Promise<{error: {code: string, message: string} | null}>}
 */
async function readStream(response, text) {
  /** @type {{code: string, message: string} | null} */
  let error = null;
  if (response.body === null) return {error};
  for await (const event of readEvents(response.body)) {
    if (event.text === '[DONE]') continue;
    const said = wordsOf(readable(event.text));
    text.add(said.text);
    error ??= said.error;
  }
  return {error};
}

/**
 * @param {Response} response
 * @param {Pieces} text
 */
async function readWhole(response, text) {
  const raw = await response.text();
  const data = readable(raw);
  const said = wordsOf(data);
  // An answer in a shape that no dialect knows is shown as it came.
  text.add(said.text || (said.error ? '' : typeof data === 'object' && data !== null && said.text === '' && hasNoWords(data) ? '' : raw));
  return {error: said.error};
}

/** An answer of a known shape that says nothing. @param {object} data */
function hasNoWords(data) {
  return 'choices' in data || 'candidates' in data || 'content' in data;
}

/** @param {string} text @returns {unknown} */
function readable(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * What went wrong, and in which node; null where somebody stopped the run.
 * @param {unknown} error
 * @param {string | null} run
 * @returns {Promise<Message['error']>}
 */
async function explained(error, run) {
  const code = error instanceof ApiFailure ? error.code : 'broken';
  const message = error instanceof ApiFailure ? error.message : t('run.brokeOff');
  const named = error instanceof ApiFailure ? (error.details?.problems?.[0]?.node ?? error.details?.node ?? null) : null;
  const status = error instanceof ApiFailure && error.status >= 400 ? error.status : null;
  const details = error instanceof ApiFailure ? error.details : undefined;
  if (run === null) return {code, message, node: named, status, details};
  await loadRun(run);
  const view = store.get().runs.byId[run];
  if (view?.state === 'cancelled') return null;
  const failed = view?.order.find((id) => view.nodes[id].state === 'failed') ?? null;
  const own = failed === null ? view?.error : (view?.nodes[failed].error ?? view?.error);
  return {code: own?.code ?? code, message: own?.message || message, node: failed ?? named, status: own?.status ?? status, details};
}

/** @param {'user' | 'assistant'} role @param {string} text @returns {Message} */
function newMessage(role, text) {
  return {key: ++count, role, text, run: null, state: 'done', error: null};
}
