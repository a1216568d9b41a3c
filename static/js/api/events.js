/**
 * Server-sent events over fetch, because the browser's own EventSource can send no token.
 *
 * `follow` goes on after every break from behind the last event that came. The server ends a stream for good with 204.
 */
import {createParser} from '../../vendor/eventsource.js';
import {api, ApiFailure, failureOf} from './client.js';

const MIN_DELAY_MS = 500;
const MAX_DELAY_MS = 10_000;
/** Silence after which a connection counts as dead; the server sends a comment every 15 seconds. */
const IDLE_MS = 60_000;

/**
 * @typedef {object} SseEvent
 * @property {string} id the last id that the stream gave; '' before the first
 * @property {string} event its name, 'message' where it has none
 * @property {string} text its data as it came
 */

/** @typedef {{id: string, event: string, data: any}} JsonEvent an event with its data read as JSON */

/** @typedef {'connecting' | 'open' | 'closed'} FollowState */

/**
 * @typedef {object} FollowOptions
 * @property {string} [lastEventId] the event behind which to begin
 * @property {(event: JsonEvent) => void | false} onEvent false ends the following
 * @property {(state: FollowState, failure: ApiFailure | null) => void} [onState] `failure` is why it connects anew, or closed
 * @property {AbortSignal} [signal] ends the following
 * @property {number} [minDelay] milliseconds
 * @property {number} [maxDelay] milliseconds
 * @property {number} [idle] milliseconds
 */

/**
 * The events of a stream as they come; whoever stops asking closes it.
 * @param {ReadableStream<Uint8Array>} body
 * @param {{lastEventId?: string, onPiece?: () => void, onRetry?: (milliseconds: number) => void}} [options] `onPiece` is called
 *   for whatever comes, `onRetry` for the pause that the server asks for
 * @returns {AsyncGenerator<SseEvent, void>}
 * @throws {NetworkBreak} where the stream ends before its time
 */
export async function* readEvents(body, {lastEventId = '', onPiece, onRetry} = {}) {
  /** @type {SseEvent[]} */
  let events = [];
  const parser = createParser({
    onId: (id) => void (lastEventId = id),
    onEvent: ({event, data}) => void events.push({id: lastEventId, event: event || 'message', text: data}),
    onRetry,
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      // fetch tells a break in the middle of an answer with a TypeError of its own.
      const piece = await reader.read().catch((/** @type {unknown} */ error) => {
        throw new NetworkBreak(String(error));
      });
      if (piece.done) return;
      onPiece?.();
      parser.feed(decoder.decode(piece.value, {stream: true}));
      const heard = events;
      events = [];
      yield* heard;
    }
  } finally {
    // A reader that failed already has nothing to cancel.
    reader.cancel().catch(() => undefined);
  }
}

class NetworkBreak extends Error {}

/**
 * Follow a stream until the server ends it for good, a handler returns false, or the signal says so.
 *
 * Breaks, 408, 429 and every 5xx are tried again after 0.5 to 10 seconds; other refusals reject with their ApiFailure, as does
 * an event whose data is no JSON. What a handler throws rejects too.
 * @param {string} path
 * @param {FollowOptions} options
 * @returns {Promise<void>}
 */
export async function follow(path, options) {
  const follower = new Follower(path, options);
  /** @type {ApiFailure | null} */
  let failure = null;
  try {
    await follower.run();
  } catch (error) {
    failure = error instanceof ApiFailure ? error : null;
    throw error;
  } finally {
    options.onState?.('closed', failure);
  }
}

class Follower {
  /**
   * @param {string} path
   * @param {FollowOptions} options
   */
  constructor(path, options) {
    this.path = path;
    this.options = options;
    this.lastEventId = options.lastEventId ?? '';
    this.minDelay = options.minDelay ?? MIN_DELAY_MS;
    this.maxDelay = options.maxDelay ?? MAX_DELAY_MS;
    this.failures = 0;
  }

  get isAborted() {
    return this.options.signal?.aborted ?? false;
  }

  async run() {
    /** @type {ApiFailure | null} */
    let failure = null;
    while (!this.isAborted) {
      this.options.onState?.('connecting', failure);
      failure = null;
      try {
        if (await this.connect()) return;
      } catch (error) {
        if (this.isAborted) return;
        if (!(error instanceof ApiFailure) || !isWorthAnotherTry(error)) throw error;
        failure = error;
      }
      if (this.isAborted) return;
      await pause(this.delay(), this.options.signal);
      this.failures += 1;
    }
  }

  /** @returns {Promise<boolean>} whether it is over for good */
  async connect() {
    const watch = new IdleWatch(this.options.idle ?? IDLE_MS, this.options.signal);
    try {
      /** @type {Record<string, string>} */
      const headers = {accept: 'text/event-stream'};
      if (this.lastEventId !== '') headers['last-event-id'] = this.lastEventId;
      const response = await api.raw(this.path, {headers, signal: watch.signal, cache: 'no-store'});
      if (response.status === 204) return true;
      // A refusal whose words broke off is a refusal all the same.
      if (!response.ok) throw failureOf(response.status, await response.text().catch(() => ''));
      if (response.body === null) throw new ApiFailure(response.status, 'bad_answer', 'The stream has no body.');
      this.options.onState?.('open', null);
      return await this.read(response.body, watch);
    } catch (error) {
      if (watch.isIdle) throw new ApiFailure(0, 'offline', 'The server has fallen silent.');
      if (error instanceof NetworkBreak) throw new ApiFailure(0, 'offline', 'The stream broke off.', {cause: error.message});
      throw error;
    } finally {
      watch.stop();
    }
  }

  /**
   * @param {ReadableStream<Uint8Array>} body
   * @param {IdleWatch} watch
   * @returns {Promise<boolean>} whether a handler ended it
   */
  async read(body, watch) {
    const events = readEvents(body, {
      lastEventId: this.lastEventId,
      onPiece: () => watch.restart(),
      onRetry: (asked) => void (this.minDelay = Math.min(Math.max(asked, this.minDelay), this.maxDelay)),
    });
    for await (const event of events) {
      if (this.isAborted) return false;
      const isOver = this.options.onEvent({id: event.id, event: event.event, data: parsed(event)}) === false;
      this.lastEventId = event.id;
      this.failures = 0;
      if (isOver) return true;
    }
    return false;
  }

  /** @returns {number} milliseconds: exponential, with full jitter above the smallest */
  delay() {
    const ceiling = Math.min(this.maxDelay, this.minDelay * 2 ** Math.min(this.failures + 1, 16));
    return this.minDelay + Math.random() * (ceiling - this.minDelay);
  }
}

/** Aborts a connection that is silent for too long, or when the outer signal says so. */
class IdleWatch {
  /**
   * @param {number} idle milliseconds
   * @param {AbortSignal} [outer]
   */
  constructor(idle, outer) {
    this.idle = idle;
    this.isIdle = false;
    this.controller = new AbortController();
    this.signal = outer ? AbortSignal.any([outer, this.controller.signal]) : this.controller.signal;
    this.restart();
  }

  restart() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.isIdle = true;
      this.controller.abort();
    }, this.idle);
  }

  stop() {
    clearTimeout(this.timer);
    this.controller.abort();
  }
}

/** @param {SseEvent} event */
function parsed(event) {
  try {
    return JSON.parse(event.text);
  } catch {
    throw new ApiFailure(200, 'bad_answer', 'An event of the server is not JSON.', {text: event.text.slice(0, 500)});
  }
}

/** @param {ApiFailure} failure */
function isWorthAnotherTry(failure) {
  return failure.status === 0 || failure.status === 408 || failure.status === 429 || failure.status >= 500;
}

/**
 * @param {number} milliseconds
 * @param {AbortSignal} [signal] ends the pause early
 * @returns {Promise<void>}
 */
function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal?.addEventListener('abort', done);
  });
}
