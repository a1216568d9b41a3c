/** Short messages: shown for a while, and spoken by screen readers. */
import {t} from '../words.js';
import {store} from './store.js';

const SHOWN_MS = {info: 5000, success: 4000, warning: 9000, error: 0};
let count = 0;

/**
 * Show a message. Errors stay until they are closed.
 * @param {'info' | 'success' | 'warning' | 'error'} tone
 * @param {string} key of the words
 * @param {Record<string, string | number>} [params]
 * @param {{action?: {label: string, run: () => void}, topic?: string}} [options] `topic`: takes the place of what was said of the same
 */
export function notify(tone, key, params, options) {
  const notice = {key: `notice-${++count}`, tone, text: t(key, params), action: options?.action ?? null, topic: options?.topic ?? null};
  const isOld = (/** @type {import('./types.js').Notice} */ other) => other.text === notice.text || (notice.topic !== null && other.topic === notice.topic);
  store.set((state) => ({notices: [...state.notices.filter((other) => !isOld(other)), notice].slice(-5)}));
  const shown = SHOWN_MS[tone];
  if (shown && !notice.action) setTimeout(() => dismiss(notice.key), shown);
  return notice.key;
}

/** @param {string} key */
export function dismiss(key) {
  store.set((state) => ({notices: state.notices.filter((notice) => notice.key !== key)}));
}

/**
 * Say what a failed call said.
 * @param {unknown} error usually an ApiFailure
 * @param {string} [key] words with a `{message}`; the message alone unless told
 * @param {string} [topic]
 */
export function notifyFailure(error, key = 'app.failure', topic) {
  const message = error instanceof Error ? error.message : String(error);
  return notify('error', key, {message}, {topic});
}

/**
 * Let screen readers say something that sighted users see happen.
 * @param {string} text
 */
export function announce(text) {
  // The same text twice in a row would not be spoken again.
  store.set((state) => ({spoken: state.spoken === text ? `${text}\u00a0` : text}));
}
