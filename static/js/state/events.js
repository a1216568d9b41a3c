/** The server's events as they happen, and who is told of them: changes of documents, and runs. */
import {share} from '../api/shared.js';
import {applyChange, catchUpChanges} from './changes.js';
import {notifyFailure} from './notices.js';
import {applyRunEvent, catchUpRuns, watchRuns} from './runs.js';
import {store} from './store.js';

let isWatching = false;

/**
 * Follow the server until the page is closed; knows when it is gone and when it is back.
 * @param {string} lastChange the id of the last change that is known
 */
export function watchServer(lastChange) {
  if (isWatching) return;
  isWatching = true;
  watchRuns();
  let wasOpen = false;
  share('/api/events', {
    lastEventId: `${lastChange};`,
    onEvent: (event) => void (event.event === 'change' ? applyChange(event.data) : applyRunEvent(event)),
    onState: (state) => {
      const isBack = wasOpen && state === 'open';
      // While it connects for the first time nothing is known to be wrong.
      if (wasOpen || state === 'open') setOnline(state === 'open');
      wasOpen ||= state === 'open';
      store.set(({runs}) => ({runs: {...runs, live: state}}));
      if (isBack) catchUp(true, true);
    },
    onGap: (last, known) => {
      const [change, run] = last.split(';');
      const [knownChange, knownRun] = known.split(';');
      catchUp(change !== knownChange, run !== knownRun || change === knownChange);
    },
  }).catch((error) => {
    isWatching = false;
    store.set(({runs}) => ({runs: {...runs, live: 'closed'}}));
    notifyFailure(error);
  });
}

/** @param {boolean} isOnline */
function setOnline(isOnline) {
  store.set(({server}) => ({server: {...server, online: isOnline}}));
}

/** @param {boolean} changes @param {boolean} runs */
function catchUp(changes, runs) {
  if (changes) void catchUpChanges();
  if (runs) void catchUpRuns();
}
