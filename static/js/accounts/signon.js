/**
 * Signing in at an identity provider: the page goes there, or opens a window for it in front of work that must not be lost, and the
 * provider sends the browser back to it with what the server wants to see.
 */
import {api, setToken} from '../api/client.js';
import {notify} from '../state/notices.js';
import {reasonOf} from '../state/failures.js';
import {leaveFor} from '../state/leaving.js';
import {t} from '../words.js';

/** What the page remembers over the way to the provider and back: what for, and where it was. */
const KEY = 'agentui.sign-on';
const CHANNEL = 'agentui.sign-on';

/** @typedef {{purpose: 'sign-in' | 'link', hash: string, isWindow: boolean}} Trip */

/** Why nobody was let in on the way back; '' where nothing was wrong. */
let failure = '';

/** Why the last way back came to nothing. */
export function signOnFailure() {
  return failure;
}

/** Go to the provider, to sign in or to link one's account. @param {'sign-in' | 'link'} purpose */
export async function goToProvider(purpose) {
  const url = await begin(purpose, false);
  leaveFor(url);
}

/**
 * Sign in at the provider in a window of its own, while the page stays as it is.
 * @returns {Promise<void>} once somebody is signed in there; rejects where the browser opens no window
 */
export async function signInBeside() {
  // Opened at once, because browsers open windows for a click and not for an answer that comes later.
  remember('sign-in', true);
  const beside = window.open('about:blank', CHANNEL, 'popup,width=520,height=720');
  if (!beside) throw new Error(t('accounts.windowBlocked'));
  try {
    beside.location.href = await begin('sign-in', true);
  } catch (error) {
    beside.close();
    throw error;
  }
  const channel = new BroadcastChannel(CHANNEL);
  await new Promise((done) => channel.addEventListener('message', done, {once: true}));
  channel.close();
}

/** Hand on what the provider has sent the browser back with, and be where the page was before. Never rejects. */
export async function comeBack() {
  const said = Object.fromEntries([...new URLSearchParams(location.search)].filter(([name]) => ['state', 'code', 'iss', 'error'].includes(name)));
  const trip = recall();
  // Out of the address first: nobody sends it twice, or keeps it among the bookmarks. Only this page's own part is put back.
  history.replaceState(null, '', `${location.pathname}${trip?.hash ?? location.hash}`);
  // A link of another site is no way back: this page has begun nothing, and asks the server nothing.
  if (trip === null) return;
  try {
    if (trip.purpose === 'link') await api.send('POST', '/auth/identities', said);
    else {
      await api.send('POST', '/auth/sign-in', {way: 'oidc', ...said});
      setToken(null);
    }
  } catch (error) {
    failure = reasonOf(error);
    if (trip.purpose === 'link') notify('error', 'app.failure', {message: failure});
    return;
  }
  if (trip.purpose === 'link') notify('success', 'accounts.linked');
  if (!trip.isWindow) return;
  new BroadcastChannel(CHANNEL).postMessage('signed in');
  window.close();
}

/** @param {'sign-in' | 'link'} purpose @param {boolean} isWindow @returns {Promise<string>} the provider's address */
async function begin(purpose, isWindow) {
  remember(purpose, isWindow);
  const path = purpose === 'link' ? '/auth/identities/begin' : '/auth/sign-in/begin';
  const {body} = await api.send('POST', path, {way: 'oidc'});
  return body.data.url;
}

/** @param {'sign-in' | 'link'} purpose @param {boolean} isWindow */
function remember(purpose, isWindow) {
  sessionStorage.setItem(KEY, JSON.stringify({purpose, hash: location.hash, isWindow}));
}

/** @returns {Trip | null} null: nothing was begun here */
function recall() {
  const kept = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  return kept === null ? null : JSON.parse(kept);
}
