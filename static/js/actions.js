/** Everything that can be done by name: from a key, the command palette, a menu or a button. */
import {accountsActions} from './accounts/actions.js';
import {appActions} from './app-actions.js';
import {canvasActions} from './canvas/actions.js';
import {chatActions} from './chat/actions.js';
import {filesActions} from './files/actions.js';
import {helpActions} from './help/actions.js';
import {libraryActions} from './library/actions.js';
import {runActions} from './run/actions.js';
import {store} from './state/store.js';
import {t} from './words.js';
import {usageActions} from './usage/actions.js';
import {variablesActions} from './variables/actions.js';

/**
 * @typedef {object} Action
 * @property {string} id `area.verb`
 * @property {string} title key of the words
 * @property {string[]} [keys] as `Ctrl+Shift+K`; Ctrl is Cmd on a Mac
 * @property {(state: import('./state/types.js').State) => boolean} [when]
 * @property {(state: import('./state/types.js').State) => boolean} [offered] whether this server and this person have it at all; always unless given
 * @property {(args?: any) => unknown} run
 * @property {boolean} [global] its keys work in text fields too
 * @property {string} [icon]
 * @property {() => boolean} [atFocus] whether its keys work where the focus is now; everywhere unless given
 * @property {boolean} [native] its keys are the browser's own (copy, paste) and only shown; its events do the work
 */

/** @type {Action[]} */
export const ACTIONS = [
  ...appActions,
  ...canvasActions,
  ...chatActions,
  ...filesActions,
  ...helpActions,
  ...libraryActions,
  ...runActions,
  ...variablesActions,
  ...accountsActions,
  ...usageActions,
];

/** @type {Map<string, Action>} */
const byId = new Map(ACTIONS.map((action) => [action.id, action]));
const IS_MAC = /mac|iphone|ipad/i.test(navigator.platform);

/**
 * Whether it can be done now.
 * @param {string} id
 * @param {import('./state/types.js').State} [state]
 */
export function canRun(id, state = store.get()) {
  const action = byId.get(id);
  return !!action && (!action.when || action.when(state));
}

/**
 * Do it, if it can be done now.
 * @param {string} id
 * @param {any} [args]
 * @returns {boolean} whether it could
 */
export function runAction(id, args) {
  if (!canRun(id)) return false;
  byId.get(id)?.run(args);
  return true;
}

/**
 * The keys of an action: the user's own, else the default ones.
 * @param {string} id
 * @returns {string[]}
 */
export function keysOf(id) {
  return store.get().view.keys[id] ?? byId.get(id)?.keys ?? [];
}

/**
 * Keys as people know them.
 * @param {string} id
 */
export function shownKeys(id) {
  const keys = keysOf(id)[0]?.replace('Arrow', '').replace('Delete', 'Del') ?? '';
  return IS_MAC ? keys.replace('Ctrl+', '⌘').replace('Shift+', '⇧').replace('Alt+', '⌥') : keys;
}

/**
 * An action as a line of a menu.
 * @param {string} id
 * @param {Partial<import('./ui/menu.js').MenuItem>} [more]
 * @returns {import('./ui/menu.js').MenuItem & {label: string}}
 */
export function menuItem(id, more) {
  const action = byId.get(id);
  return {label: t(action?.title ?? id), icon: action?.icon, keys: shownKeys(id), disabled: !canRun(id), run: () => void runAction(id), ...more};
}

/**
 * The keys of a keyboard event, written as in an action.
 * @param {KeyboardEvent} event
 */
export function keysOfEvent(event) {
  const parts = [];
  if (event.ctrlKey || event.metaKey) parts.push('Ctrl');
  if (event.altKey) parts.push('Alt');
  // A shifted character is a character of its own; only letters and named keys say Shift.
  if (event.shiftKey && (event.key.length > 1 || /\p{L}/u.test(event.key))) parts.push('Shift');
  // Letters are where they are on a Latin keyboard, so that shortcuts work with a Russian one too.
  const letter = /^Key([A-Z])$/.exec(event.code)?.[1];
  parts.push(letter && !/^[a-z]$/i.test(event.key) ? letter : event.key.length === 1 ? event.key.toUpperCase() : event.key);
  return parts.join('+').replace(/\+ $/, '+Space');
}

/** Listen for every action's keys, for as long as the page lives. */
export function listenForKeys() {
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const keys = keysOfEvent(event);
    const isTyping = isTextField(event.target);
    const isInDialog = store.get().dialogs.length > 0;
    for (const action of ACTIONS) {
      if (action.native || !keysOf(action.id).includes(keys)) continue;
      if (action.atFocus && !action.atFocus()) continue;
      if ((isTyping || isInDialog) && !action.global) continue;
      if (action.when && !action.when(store.get())) continue;
      event.preventDefault();
      action.run();
      return;
    }
  });
}

/** @param {EventTarget | null} target */
function isTextField(target) {
  return target instanceof HTMLElement && (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName));
}
