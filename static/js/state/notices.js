/** Short messages: shown for a while, and spoken by screen readers. */
import {t} from '../words.js';
import {lacksModel, openConnect} from './connecting.js';
import {isOfBudget, openBudgets} from './budgets.js';
import {store} from './store.js';

/** How long a message is shown. One with a button, or of a failure, has to be read and thought about. */
const SHOWN_MS = {info: 5000, success: 4000, warning: 9000, error: 30_000};
const WITH_ACTION_MS = 20_000;
const STEP_MS = 500;

let count = 0;
/** What is left of the time of each message, in milliseconds. @type {Map<string, number>} */
const left = new Map();
/** @type {ReturnType<typeof setInterval> | undefined} */
let timer;
let isHeld = () => false;

/**
 * Show a message for a while. Its time stands still while somebody is at one of the messages, and while the page is out of sight.
 * @param {'info' | 'success' | 'warning' | 'error'} tone
 * @param {string} key of the words
 * @param {Record<string, string | number>} [params]
 * @param {{action?: {label: string, run: () => void}, topic?: string, stays?: boolean}} [options] `topic`: takes the place of what
 *   was said of the same; `stays`: until it is dismissed, for what is so as long as it is said
 * @returns {string} the message's key
 */
export function notify(tone, key, params, options) {
  const notice = {key: `notice-${++count}`, tone, text: t(key, params), action: options?.action ?? null, topic: options?.topic ?? null};
  const isOld = (/** @type {import('./types.js').Notice} */ other) => other.text === notice.text || (notice.topic !== null && other.topic === notice.topic);
  store.set((state) => ({notices: [...state.notices.filter((other) => !isOld(other)), notice].slice(-5)}));
  if (!options?.stays) left.set(notice.key, Math.max(SHOWN_MS[tone], notice.action ? WITH_ACTION_MS : 0));
  timer ??= setInterval(pass, STEP_MS);
  return notice.key;
}

/** A step of time: messages whose time is over leave. */
function pass() {
  if (isHeld() || document.hidden) return;
  for (const [key, milliseconds] of left) {
    if (milliseconds > STEP_MS) left.set(key, milliseconds - STEP_MS);
    else dismiss(key);
  }
  if (left.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}

/** Let the time of all messages stand still while somebody is at one of them. @param {() => boolean} isAt says whether that is so */
export function holdNotices(isAt) {
  isHeld = isAt;
}

/** @param {string} key */
export function dismiss(key) {
  left.delete(key);
  store.set((state) => ({notices: state.notices.filter((notice) => notice.key !== key)}));
}

/**
 * Say what a failed call said, with the button that opens what mends it: the budgets that refused it, or the dialog that connects
 * the model that is missing.
 * @param {unknown} error usually an ApiFailure
 * @param {string} [key] words with a `{message}`; the message alone unless told
 * @param {string} [topic]
 */
export function notifyFailure(error, key = 'app.failure', topic) {
  const message = error instanceof Error ? error.message : String(error);
  const refused = /** @type {{code?: string, details?: any}} */ (error instanceof Error ? error : {});
  return notify('error', key, {message}, {topic, action: mending(refused)});
}

/** @param {{code?: string, details?: any}} refused @returns {{label: string, run: () => void} | undefined} */
function mending({code, details}) {
  if (isOfBudget(code)) return {label: t('app.budgets'), run: () => openBudgets(code ?? '', details)};
  return lacksModel(code) ? {label: t('library.connect'), run: openConnect} : undefined;
}

/**
 * Let screen readers say something that sighted users see happen.
 * @param {string} text
 */
export function announce(text) {
  // The same text twice in a row would not be spoken again.
  store.set((state) => ({spoken: state.spoken === text ? `${text}\u00a0` : text}));
}
