/** How the editor is arranged and looks; kept in the browser. */
import {isObject} from '../core/doc.js';
import {loadLocale} from '../words.js';
import {store} from './store.js';

/** @typedef {import('./types.js').ViewState} ViewState */

const KEPT = 'agentui.view';
const FORGOTTEN = new Set(['words', 'locked', 'narrowPage', 'dockMaximized']);
/** Panels that can be closed. */
const MAY_BE_NULL = new Set(['left', 'dock']);
/** A window as narrow as this has the left panel folded whatever was kept, and begins with a slim inspector, so that the canvas has room. */
const SLIM_WINDOW = '(max-width: 1199px)';
const SLIM = {leftWidth: 208, inspectorWidth: 320};
/** The left panel that was folded because the window became narrow; it opens again with the room for it. @type {string | null} */
let folded = null;

/**
 * Change how the editor looks.
 * @param {Partial<ViewState>} patch
 */
export function setView(patch) {
  store.set((state) => ({view: {...state.view, ...patch}}));
  applyLook();
  remember();
}

/** @param {string} locale */
export async function setLocale(locale) {
  await loadLocale(locale);
  remember();
}

/**
 * Open a panel of the left side, or close it when it is open.
 * @param {string} id
 */
export function toggleLeft(id) {
  folded = null;
  setView({left: store.get().view.left === id ? null : id, narrowPage: 'outline'});
}

/**
 * Open a panel of the dock, or close it when it is open.
 * @param {string} id
 */
export function toggleDock(id) {
  const isOpen = store.get().view.dock === id;
  setView({dock: isOpen ? null : id, narrowPage: isOpen ? 'outline' : 'dock', ...(isOpen ? {dockMaximized: false} : {})});
}

/**
 * Open a panel of the dock.
 * @param {string} id
 */
export function openDock(id) {
  setView({dock: id, narrowPage: 'dock'});
}

/** Let the dock take the place of the canvas and its sides, or give it back; a closed one opens. */
export function maximizeDock() {
  const {dock, dockMaximized} = store.get().view;
  setView({dock: dock ?? 'run', dockMaximized: dock === null || !dockMaximized});
}

/** Read what this browser remembers; a broken memory is as good as none. */
export function recallView() {
  /** @type {Partial<ViewState>} */
  let kept = {};
  try {
    kept = JSON.parse(localStorage.getItem(KEPT) ?? '{}');
  } catch {
    // Written by hand, by another version, or storage is forbidden: the defaults serve.
  }
  const known = Object.fromEntries(
    Object.entries({...store.get().view, ...(matchMedia(SLIM_WINDOW).matches ? SLIM : {})}).map(([name, value]) => {
      const old = kept?.[/** @type {keyof ViewState} */ (name)];
      return [name, !FORGOTTEN.has(name) && isLike(name, old, value) ? old : value];
    }),
  );
  // A narrow screen shows one panel at a time, and begins with the one that is the whole editor.
  if (matchMedia('(max-width: 899px)').matches) known.left = 'outline';
  else if (matchMedia(SLIM_WINDOW).matches) known.left = fold(/** @type {string | null} */ (known.left));
  store.set({view: /** @type {ViewState} */ (known)});
  applyLook();
  return typeof kept?.locale === 'string' ? kept.locale : null;
}

/**
 * Whether a remembered value can stand for the default one.
 * @param {string} name
 * @param {unknown} old
 * @param {unknown} value
 */
function isLike(name, old, value) {
  if (name === 'keys') return isKeys(old);
  if (MAY_BE_NULL.has(name)) return old === null || typeof old === 'string';
  return old !== null && typeof old === typeof value;
}

/** Whether a value has the shape of the user's own keys. @param {unknown} value */
function isKeys(value) {
  return isObject(value) && Object.values(value).every((keys) => Array.isArray(keys) && keys.every((key) => typeof key === 'string'));
}

function remember() {
  const {view} = store.get();
  // What was folded for want of room is open again in a wider window.
  const open = {...view, left: view.left ?? folded};
  const kept = Object.fromEntries(Object.entries(open).filter(([name]) => !FORGOTTEN.has(name)));
  try {
    localStorage.setItem(KEPT, JSON.stringify(kept));
  } catch {
    // Storage is full or forbidden; the look lasts until the page is closed.
  }
}

/** Themes are attributes of the root element, so that one style sheet serves all. */
function applyLook() {
  const {theme, contrast} = store.get().view;
  const root = document.documentElement;
  root.dataset.theme = theme === 'system' ? (matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark') : theme;
  root.dataset.contrast = contrast === 'more' || matchMedia('(prefers-contrast: more)').matches ? 'more' : 'normal';
}

/** Keep in mind which left panel was open. @param {string | null} left @returns {null} */
function fold(left) {
  folded = left;
  return null;
}

matchMedia(SLIM_WINDOW).addEventListener('change', ({matches}) => {
  const {left} = store.get().view;
  if (matches) setView({left: fold(left)});
  else if (left === null) setView({left: folded});
});
matchMedia('(prefers-color-scheme: light)').addEventListener('change', applyLook);
matchMedia('(prefers-contrast: more)').addEventListener('change', applyLook);
