/**
 * One stream of the server's events for all pages of a browser. A browser opens six connections to a server, and each page that
 * held a stream of its own would take one for good: with enough of them no page loads and nothing can be saved any more.
 *
 *   page that leads ──GET /api/events──▶ server          holds the lock `agentui events`
 *        │  BroadcastChannel `agentui events`
 *        ├──▶ page        waits for the lock while it is seen
 *        └──▶ page        out of sight: listens, and waits for nothing
 *
 * The lock goes on when the page that leads is closed, or has been out of sight for a while. A page that stands still (a debugger,
 * a frozen tab) cannot let go: it says every few seconds that it leads, and after a silence another one steals the lock.
 *
 * Nothing is lost when the lead goes on. Whoever takes it comes with the id of the last event that it heard, and says which one
 * that is; what is sent is numbered. A page that has not heard the same, because it came later or stood still, is told of a gap,
 * and reads what it shows anew. Events may come twice: those of runs have numbers, and a change may be read twice.
 *
 * Browsers give locks to pages from HTTPS or this machine only. Elsewhere each page in sight has a stream of its own.
 */
import {follow} from './events.js';

const NAME = 'agentui events';
/** How long a page is out of sight before it stops leading. */
const HIDDEN_MS = 2_000;
/** How often the page that leads says so. */
const BEAT_MS = 5_000;
/** Silence after which it is taken to stand still. */
const SILENCE_MS = 20_000;

/** @typedef {import('./events.js').JsonEvent} JsonEvent */
/** @typedef {import('./events.js').FollowState} FollowState */

/**
 * @typedef {object} ShareOptions
 * @property {string} lastEventId the event behind which to begin
 * @property {(event: JsonEvent) => void} onEvent hears every event of the stream
 * @property {(state: FollowState) => void} onState hears whether the server can be heard
 * @property {(last: string, known: string) => void} onGap hears that events were missed, or may have been: the page knows those up
 *   to `known`, and the next one that it hears comes behind `last`
 * @property {AbortSignal} [signal] ends the sharing
 * @property {number} [beat] milliseconds
 * @property {number} [silence] milliseconds
 */

/**
 * What pages tell each other. `leader`: who leads, how many events it has sent in its term, the id of the last one, and whether it
 * hears the server. `event`: the event with this number. `hello`: who leads?
 * @typedef {{kind: 'leader', term: string, count: number, last: string, state: FollowState}
 *   | {kind: 'event', term: string, count: number, event: JsonEvent}
 *   | {kind: 'hello'}} Message
 */

/**
 * Hear the events of a stream, by a connection of this page or of another one, until the signal says so.
 * @param {string} path
 * @param {ShareOptions} options
 * @returns {Promise<void>}
 * @throws {import('./client.js').ApiFailure} where the server refuses the stream to this page
 */
export async function share(path, options) {
  const sharing = new Sharing(path, options);
  try {
    await sharing.run();
  } finally {
    sharing.close();
  }
}

class Sharing {
  /**
   * @param {string} path
   * @param {ShareOptions} options
   */
  constructor(path, options) {
    this.path = path;
    this.options = options;
    /** The id of the last event that was heard. */
    this.last = options.lastEventId;
    /** @type {FollowState} */
    this.state = 'connecting';
    /** The term of the page that leads; '' where none has been heard of. */
    this.term = '';
    /** How many events of the term have been heard. */
    this.count = 0;
    this.isLeading = false;
    /** Whether the server has ended the stream for good. */
    this.isOver = false;
    /** How often another page was heard to lead. */
    this.heard = 0;
    this.isAsking = false;
    this.end = new AbortController();
    this.signal = options.signal ? AbortSignal.any([options.signal, this.end.signal]) : this.end.signal;
    this.channel = navigator.locks ? new BroadcastChannel(NAME) : null;
    this.channel?.addEventListener('message', ({data}) => this.receive(data));
    this.ask();
  }

  close() {
    this.end.abort();
    this.channel?.close();
  }

  /** Lead whenever this page is seen and may. */
  async run() {
    while (!this.signal.aborted && !this.isOver) {
      await untilSeen(this.signal);
      const hidden = new AbortController();
      const stopLooking = whenHidden(() => hidden.abort(), HIDDEN_MS);
      try {
        await this.lead(AbortSignal.any([this.signal, hidden.signal]));
      } finally {
        stopLooking();
      }
    }
  }

  /** Wait for the lock, and follow the stream with it until the signal says stop or another page steals it. @param {AbortSignal} signal */
  async lead(signal) {
    if (!navigator.locks) return this.follow(signal);
    const silence = new AbortController();
    const stopListening = this.whenSilent(() => silence.abort());
    /** @param {AbortSignal} held */
    const work = (held) => {
      stopListening();
      return this.follow(held);
    };
    try {
      await hold({signal: AbortSignal.any([signal, silence.signal])}, signal, work);
      if (silence.signal.aborted && !signal.aborted) await hold({steal: true}, signal, work);
    } finally {
      stopListening();
    }
    return undefined;
  }

  /** Follow the stream as the page that leads. @param {AbortSignal} signal */
  async follow(signal) {
    this.term = crypto.getRandomValues(new Uint32Array(2)).join('-');
    this.count = 0;
    this.isLeading = true;
    this.tell();
    const beat = setInterval(() => this.tell(), this.options.beat ?? BEAT_MS);
    // That the lead has gone on is nothing to tell: the stream is not known to be wrong before it cannot be had again.
    let isNew = true;
    try {
      await follow(this.path, {
        lastEventId: this.last,
        signal,
        onEvent: (event) => this.send(event),
        onState: (state) => {
          if (state !== 'closed' && !(isNew && state === 'connecting')) this.setState(state);
          isNew = false;
        },
      });
      this.isOver = !signal.aborted;
    } finally {
      clearInterval(beat);
      this.isLeading = false;
    }
  }

  /** @param {JsonEvent} event */
  send(event) {
    this.count += 1;
    this.last = event.id;
    this.post({kind: 'event', term: this.term, count: this.count, event});
    this.options.onEvent(event);
  }

  /** @param {FollowState} state */
  setState(state) {
    if (this.state === state) return;
    this.state = state;
    if (this.isLeading) this.tell();
    this.options.onState(state);
  }

  tell() {
    this.post({kind: 'leader', term: this.term, count: this.count, last: this.last, state: this.state});
  }

  ask() {
    if (this.isAsking) return;
    this.isAsking = true;
    this.post({kind: 'hello'});
  }

  /** @param {Message} message */
  post(message) {
    this.channel?.postMessage(message);
  }

  /** @param {Message} message */
  receive(message) {
    // A page that still leads hears from one that stole its lock, or was stolen from: the lock tells them.
    if ((message.kind === 'hello') === this.isLeading) this[message.kind](/** @type {never} */ (message));
  }

  hello() {
    this.tell();
  }

  /** @param {Extract<Message, {kind: 'leader'}>} message */
  leader({term, count, last, state}) {
    this.heard += 1;
    this.isAsking = false;
    const known = this.last;
    const hasMissed = last !== known || (term === this.term && count !== this.count);
    Object.assign(this, {term, count, last});
    if (hasMissed) this.options.onGap(last, known);
    this.setState(state);
  }

  /** @param {Extract<Message, {kind: 'event'}>} message */
  event({term, count, event}) {
    this.heard += 1;
    if (term === this.term && count <= this.count) return;
    // What was missed is read anew when the page that leads has said where it is, and this event with it.
    if (term !== this.term || count !== this.count + 1) return this.ask();
    this.count = count;
    this.last = event.id;
    this.options.onEvent(event);
    return undefined;
  }

  /**
   * Call something when the page that leads has said nothing for so long, although it was asked.
   * @param {() => void} act
   * @returns {() => void} stops listening
   */
  whenSilent(act) {
    let {heard} = this;
    let hasAsked = false;
    const look = () => {
      if (this.heard !== heard) {
        ({heard} = this);
        hasAsked = false;
      } else if (hasAsked) {
        act();
      } else {
        hasAsked = true;
        this.isAsking = false;
        this.ask();
      }
    };
    const timer = setInterval(look, (this.options.silence ?? SILENCE_MS) / 2);
    return () => clearInterval(timer);
  }
}

/**
 * Do something while this page holds the lock.
 * @param {LockOptions} options
 * @param {AbortSignal} signal ends the work
 * @param {(signal: AbortSignal) => Promise<void>} work gets a signal that also ends it when another page steals the lock
 */
async function hold(options, signal, work) {
  const stolen = new AbortController();
  /** @type {Promise<void>} */
  let working = Promise.resolve();
  try {
    await navigator.locks.request(NAME, options, () => (working = work(AbortSignal.any([signal, stolen.signal]))));
  } catch (error) {
    // The wait for the lock was given up, or the lock was stolen.
    if (!(error instanceof DOMException && error.name === 'AbortError')) throw error;
  }
  stolen.abort();
  await working;
}

/**
 * Call something once the page has been out of sight for so long.
 * @param {() => void} act
 * @param {number} milliseconds
 * @returns {() => void} stops looking
 */
function whenHidden(act, milliseconds) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const look = () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(act, milliseconds);
  };
  look();
  document.addEventListener('visibilitychange', look);
  return () => {
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', look);
  };
}

/**
 * Wait until the page is seen, or the signal says stop.
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function untilSeen(signal) {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener('visibilitychange', look);
      signal.removeEventListener('abort', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
    signal.addEventListener('abort', look);
  });
}
