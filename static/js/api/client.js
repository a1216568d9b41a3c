/**
 * The server's JSON over fetch: every request of the editor goes through it.
 *
 * The access token lives in sessionStorage under `agentui.token` (in memory where that is forbidden) and goes out as
 * `x-agentui-token`. Who signed in by a password has a cookie, which the browser sends by itself. Nothing here knows the store: who
 * wants to hear that the server lets nobody in says so with `onUnauthorised`.
 */
import {errorText} from '../words.js';

const TOKEN_KEY = 'agentui.token';
/** How long an answer may take before it is told of; nobody can see from outside why nothing happens. */
const SLOW_MS = 10_000;
const HEADER_VALUE = /^[\x21-\x7e]+$/;

/**
 * @typedef {object} Reply
 * @property {any} body the JSON of the answer; null where there is none
 * @property {string | null} etag
 * @property {number} status
 * @property {Headers} headers
 */

/**
 * @typedef {object} SendOptions
 * @property {string} [ifMatch] the ETag of what is replaced, or '*'
 * @property {string} [ifNoneMatch] '*': create, and replace nothing
 * @property {Record<string, string>} [headers]
 * @property {number} [slow] milliseconds without an answer after which that is told of
 * @property {AbortSignal} [signal] aborting rejects with the signal's own reason, not with an ApiFailure
 */

/**
 * A request that did not succeed. `status` 0 means that no answer came, and `code` is then `offline`; otherwise `code`,
 * `message` and `details` are what the server said (docs/errors.md), or `bad_answer` where the answer was not the server's JSON.
 */
export class ApiFailure extends Error {
  /**
   * @param {number} status
   * @param {string} code
   * @param {string} message
   * @param {any} [details]
   */
  constructor(status, code, message, details = {}) {
    super(errorText(code, message, details));
    this.name = 'ApiFailure';
    /** The server's own words. */
    this.said = message;
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

/** A wrong password: whoever typed it is told beside the field. */
const NOT_SIGNED_IN = 'sign_in_failed';

/** How often somebody has got in: what was asked before is refused for what counts no more. */
let entries = 0;

/** @type {Set<(failure: ApiFailure) => void>} */
const unauthorisedListeners = new Set();

/** @type {Set<(count: number) => void>} */
const slowListeners = new Set();
/** How many requests have waited too long for their answers. */
let slowCount = 0;

/** @type {string | null} */
let tokenInMemory = null;

/**
 * Be told whenever the server lets this page in no more, or not yet.
 * @param {(failure: ApiFailure) => void} listener
 * @returns {() => void} stops the telling
 */
export function onUnauthorised(listener) {
  unauthorisedListeners.add(listener);
  return () => void unauthorisedListeners.delete(listener);
}

/**
 * Be told how many requests have waited for their answers longer than one would expect, whenever that changes. They go on waiting.
 * @param {(count: number) => void} listener
 * @returns {() => void} stops the telling
 */
export function onSlow(listener) {
  slowListeners.add(listener);
  return () => void slowListeners.delete(listener);
}

/** @param {number} change */
function countSlow(change) {
  slowCount += change;
  for (const listener of slowListeners) listener(slowCount);
}

/**
 * Tell of work that takes too long, until it is done.
 * @template T
 * @param {number} milliseconds
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
async function tellingSlow(milliseconds, work) {
  let isSlow = false;
  const timer = setTimeout(() => {
    isSlow = true;
    countSlow(1);
  }, milliseconds);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    if (isSlow) countSlow(-1);
  }
}

/** Somebody got in just now: refusals of what was asked before tell nothing any more. */
export function noteEntry() {
  entries += 1;
}

/** @returns {string | null} the access token of this browser tab */
export function token() {
  try {
    return sessionStorage.getItem(TOKEN_KEY) ?? tokenInMemory;
  } catch {
    return tokenInMemory; // the browser keeps nothing for this page
  }
}

/**
 * Keep the access token for this browser tab; null forgets it.
 * @param {string | null} value
 */
export function setToken(value) {
  tokenInMemory = value;
  try {
    if (value === null) sessionStorage.removeItem(TOKEN_KEY);
    else sessionStorage.setItem(TOKEN_KEY, value);
  } catch {
    // The browser keeps nothing for this page: it is asked for again after a reload.
  }
}

/**
 * fetch with the access token. The answer is not looked at, but for the server's own refusals to let anybody in.
 * @param {string} path from the server's root
 * @param {RequestInit} [init]
 * @returns {Promise<Response>}
 * @throws {ApiFailure} with code `offline` when no answer came
 */
async function raw(path, init = {}) {
  const headers = new Headers(init.headers);
  const kept = token();
  // What no header can hold is no token of the server's either: it will say so.
  if (kept !== null && HEADER_VALUE.test(kept)) headers.set('x-agentui-token', kept);
  const entry = entries;
  let response;
  try {
    response = await fetch(path, {...init, headers});
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiFailure(0, 'offline', 'The server does not answer.', {cause: String(error)});
  }
  // A run's own 401 is its provider's, about the provider's key.
  if ((response.status === 401 || response.status === 403) && !response.headers.has('x-agentui-run')) {
    const text = await response.clone().text().catch(() => '');
    const failure = failureOf(response.status, text);
    if (isTurnedAway(failure) && entry === entries) notifyUnauthorised(failure);
  }
  return response;
}

/**
 * Whether the server does not let this page in: nothing was shown (401), or what was shown is none of its keys, or of an account that
 * is disabled (403 with a code of its own).
 * @param {unknown} failure
 * @returns {failure is ApiFailure}
 */
export function isTurnedAway(failure) {
  if (!(failure instanceof ApiFailure)) return false;
  return failure.status === 401 ? failure.code !== NOT_SIGNED_IN : failure.status === 403 && failure.code.startsWith('auth_');
}

/** @param {ApiFailure} failure */
function notifyUnauthorised(failure) {
  for (const listener of unauthorisedListeners) listener(failure);
}

/**
 * @param {string} method
 * @param {string} path
 * @param {any} [body] sent as JSON; undefined sends none
 * @param {SendOptions} [options]
 * @returns {Promise<Reply>}
 * @throws {ApiFailure}
 */
async function send(method, path, body, options = {}) {
  const headers = new Headers(options.headers);
  headers.set('accept', 'application/json');
  if (options.ifMatch !== undefined) headers.set('if-match', options.ifMatch);
  if (options.ifNoneMatch !== undefined) headers.set('if-none-match', options.ifNoneMatch);
  /** @type {RequestInit} */
  const init = {method, headers, signal: options.signal};
  if (body !== undefined) {
    headers.set('content-type', 'application/json');
    init.body = JSON.stringify(body);
  }
  const {response, text} = await tellingSlow(options.slow ?? SLOW_MS, async () => {
    const answered = await raw(path, init);
    return {response: answered, text: await textOf(answered, options.signal)};
  });
  if (!response.ok && response.status !== 304) throw failureOf(response.status, text);
  return {body: bodyOf(response, text), etag: response.headers.get('etag'), status: response.status, headers: response.headers};
}

/**
 * @param {Response} response
 * @param {AbortSignal} [signal]
 */
async function textOf(response, signal) {
  try {
    return await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiFailure(0, 'offline', "The server's answer broke off.", {cause: String(error)});
  }
}

/**
 * @param {Response} response
 * @param {string} text
 */
function bodyOf(response, text) {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiFailure(response.status, 'bad_answer', "The server's answer is not JSON.", {text: text.slice(0, 500)});
  }
}

/**
 * An answer with an error status as the failure that it tells of: in the editor's shape, or in a dialect's.
 * @param {number} status
 * @param {string} text the answer's body
 * @returns {ApiFailure}
 */
export function failureOf(status, text) {
  let error;
  try {
    error = JSON.parse(text).error;
  } catch {
    error = undefined;
  }
  if (typeof error === 'object' && error !== null && typeof error.message === 'string') {
    const code = error.code ?? error.type ?? error.status ?? `http_${status}`;
    return new ApiFailure(status, String(code), error.message, error.details ?? {});
  }
  return new ApiFailure(status, 'bad_answer', `The server answered with status ${status}.`, {text: text.slice(0, 500)});
}

export const api = {
  /**
   * @param {string} path
   * @param {SendOptions} [options]
   * @returns {Promise<Reply>}
   * @throws {ApiFailure}
   */
  get: (path, options) => send('GET', path, undefined, options),
  send,
  raw,
};
