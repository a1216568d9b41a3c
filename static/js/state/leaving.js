/** Leaving the page on purpose, for one that begins anew for somebody else. */
import {keepDraftsNow} from './tabs.js';

let isOnPurpose = false;

/** Load the page anew. What was typed stays in this browser, so nobody is asked whether to leave it. */
export function beginAnew() {
  isOnPurpose = true;
  keepDraftsNow();
  location.reload();
}

/** Go to another site, which sends the browser back. What was typed stays in this browser. @param {string} address */
export function leaveFor(address) {
  isOnPurpose = true;
  keepDraftsNow();
  location.assign(address);
}

/** Whether the page is left on purpose. */
export function isBeginningAnew() {
  return isOnPurpose;
}
