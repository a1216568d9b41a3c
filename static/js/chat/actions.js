/** The actions of the chat. */
import {flushSync} from '../h.js';
import {store} from '../state/store.js';
import {openDock} from '../state/view.js';
import {showPage} from './look.js';
import {chosenPlace, isBusy, talkOf} from './talk.js';
import {stop} from './turns.js';

/** Bring the chat to the front with the cursor in its field. */
function open() {
  // Drawn at once and not with the next picture, or the first letters that follow would go elsewhere.
  flushSync(() => openDock('chat'));
  flushSync(() => showPage('talk'));
  document.getElementById('chat-input')?.focus();
}

/** @param {import('../state/types.js').State} [state] */
function busyPlace(state = store.get()) {
  const place = chosenPlace(state);
  return place !== null && isBusy(talkOf(place)) ? place : null;
}

/** @type {import('../actions.js').Action[]} */
export const chatActions = [
  {id: 'chat.open', title: 'chat.action.open', icon: 'chat', keys: ['Alt+T'], global: true, run: open},
  {
    id: 'chat.stop',
    title: 'chat.action.stop',
    icon: 'stop',
    when: (state) => busyPlace(state) !== null,
    run: () => {
      const place = busyPlace();
      if (place) void stop(place);
    },
  },
];
