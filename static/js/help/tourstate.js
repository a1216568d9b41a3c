/** Which step of the tour is shown; the card itself is drawn by Tour.js. */
import {createStore} from '../state/store.js';

const SEEN = 'agentui.tour';

/** `step` -1: the offer; null: nothing. */
export const tour = createStore({step: /** @type {number | null} */ (null)});

/** Offer the tour to people who have not seen it in this browser. */
export function offerTour() {
  try {
    if (localStorage.getItem(SEEN) === null) tour.set({step: -1});
  } catch {
    // Storage is forbidden: without a memory the offer would come each time, so it does not come at all.
  }
}

/** Begin at the first step. */
export function startTour() {
  tour.set({step: 0});
}

/** Close the tour, and do not offer it again. */
export function endTour() {
  tour.set({step: null});
  try {
    localStorage.setItem(SEEN, new Date().toISOString());
  } catch {
    // It is offered again next time, which is no harm.
  }
}
