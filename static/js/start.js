/** What happens before the first picture and right after it: language, look, facts, drafts, and the wires to the server. */
import {ApiFailure, isTurnedAway, onSlow, onUnauthorised} from './api/client.js';
import {storage} from './api/drafts.js';
import {listenForKeys} from './actions.js';
import {loadEditor} from './code/Field.js';
import {listenForDrops} from './files/dropping.js';
import {offerTour} from './help/tourstate.js';
import {openDialog} from './state/dialogs.js';
import {connectBy} from './state/entry.js';
import {watchServer} from './state/events.js';
import {isBeginningAnew} from './state/leaving.js';
import {loadFacts} from './state/library.js';
import {dismiss, notify, notifyFailure} from './state/notices.js';
import {claimPage} from './state/pages.js';
import {store} from './state/store.js';
import {checkSoon, isDirty, keepDraftsNow} from './state/tabs.js';
import {recallView} from './state/view.js';
import {keepFocus} from './ui/focus.js';
import {loadArea, loadLocale, preferredLocale} from './words.js';
import {keepWorkspace, reopenWorkspace} from './workspace.js';

const RETRY_MS = 3000;

/** What the server says to who shows nothing: it only asks. */
const ASKS = new Set(['auth_required', 'unauthorized']);

let isReopened = false;

/** Prepare the first picture; the rest goes on in the background. */
export async function start() {
  // Words and facts are on their way at once; a fact that does not come is told of in words.
  // Whoever comes back from an identity provider is signed in first.
  const facts = new URLSearchParams(location.search).has('state') ? comeBack().then(() => loadFacts()) : loadFacts();
  facts.catch(() => null);
  const locale = recallView() ?? preferredLocale();
  const words = loadLocale(locale);
  const claimed = claimPage();
  onUnauthorised(askWho);
  connectBy(connect);
  tellOfSlowAnswers();
  listenForKeys();
  listenForDrops();
  keepFocus();
  addEventListener('pagehide', keepDraftsNow);
  addEventListener('beforeunload', (event) => {
    keepDraftsNow();
    if (!isBeginningAnew() && store.get().tabs.some((tab) => isDirty(tab) && !tab.readOnly)) event.preventDefault();
  });
  await Promise.all([words, claimed]);
  retellProblems();
  void connect(facts);
}

/** Whoever comes back brings what the server wants to see; few do, so it is loaded then. */
async function comeBack() {
  const [signon] = await Promise.all([import('./accounts/signon.js'), loadLocale(recallView() ?? preferredLocale())]);
  await Promise.all([loadArea('accounts'), signon.comeBack()]);
}

/**
 * The server wants to know who asks. Before anything is shown that is all the page; later it is asked in front of the work, which
 * stays as it is.
 * @param {ApiFailure} failure
 */
function askWho(failure) {
  const {dialogs, server} = store.get();
  const signIn = {by: /** @type {'token' | 'account'} */ (failure.code === 'unauthorized' ? 'token' : 'account'), reason: ASKS.has(failure.code) ? '' : failure.message};
  store.set({server: {...server, signIn}});
  if (server.started && !dialogs.some(({kind}) => kind === 'sign-in')) openDialog('sign-in');
}

/** Say that an answer is long in coming, as long as it is so. */
function tellOfSlowAnswers() {
  let notice = '';
  onSlow((count) => {
    if (count > 0 && notice === '') notice = notify('warning', 'app.slow', {}, {topic: 'slow', stays: true});
    else if (count === 0) {
      dismiss(notice);
      notice = '';
    }
  });
}

/** With every new language: what the server said of the documents is to be told in that one too. */
function retellProblems() {
  let told = store.get().view.words;
  store.subscribe(() => {
    const {tabs, view} = store.get();
    if (view.words !== told) for (const tab of tabs) checkSoon(tab.key);
    told = view.words;
  });
}

/**
 * Get the facts from the server and open what was open, or the active pipeline; again until it works.
 * @param {Promise<string>} [facts] those that are on their way already
 * @returns {Promise<import('./state/entry.js').Connected>} what the first try gave
 */
export async function connect(facts = loadFacts()) {
  let changes;
  try {
    changes = await facts;
  } catch (error) {
    const isOffline = error instanceof ApiFailure && error.status === 0;
    if (isTurnedAway(error)) return 'refused';
    store.set((state) => ({server: {...state.server, online: false}}));
    if (!isOffline) notifyFailure(error);
    setTimeout(() => void connect(), RETRY_MS);
    return 'offline';
  }
  watchServer(changes);
  await reopen();
  offerTour();
  // The first picture did without it, and whoever clicks a node will want it. Where it fails, the field asks again.
  loadEditor().catch(() => null);
  return 'connected';
}

/** Open what was open; once for a page. */
async function reopen() {
  // After a new sign-in the tabs are still there, and so are their drafts.
  if (isReopened) return;
  isReopened = true;
  if ((await storage()).place === 'memory') notify('warning', 'app.draftsNotKept');
  await reopenWorkspace();
  keepWorkspace();
}
