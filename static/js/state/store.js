/** The editor's one state: an immutable value, replaced by the commands in this folder and read through narrow selectors. */
import {useRef, useSyncExternalStore} from '../h.js';

/** @typedef {import('./types.js').State} State */

/**
 * @template S
 * @param {S} initial
 */
export function createStore(initial) {
  let state = initial;
  /** @type {Set<() => void>} */
  const listeners = new Set();
  return {
    get: () => state,
    /** Replace parts of the state. @param {Partial<S> | ((state: S) => Partial<S>)} change */
    set(change) {
      const patch = typeof change === 'function' ? change(state) : change;
      const next = {...state, ...patch};
      if (Object.keys(patch).every((key) => Object.is(/** @type {any} */ (state)[key], /** @type {any} */ (next)[key]))) return;
      state = next;
      for (const listener of [...listeners]) listener();
    },
    /** Hear of every change; the answer ends it. @param {() => void} listener */
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** @type {State} */
const initial = {
  server: {version: null, online: true, signIn: null, me: null, hasAccounts: false, keepsUsage: false, activePipeline: null, complaints: [], checks: {director: '', verifier: ''}, started: false},
  nodeTypes: {},
  contextNames: {names: [], paths: [], filters: {}},
  library: {pipelines: [], presets: [], secrets: [], loaded: false},
  tabs: [],
  activeTab: null,
  view: {
    // The drawing has the room: the rail says what else there is.
    left: null,
    dock: null,
    leftWidth: 264,
    inspectorWidth: 360,
    dockHeight: 300,
    chatMarkdown: true,
    chatFailStrategy: 'warn',
    chatOwnDirector: false,
    chatOwnVerifier: false,
    dockMaximized: false,
    inspectorOpen: true,
    inspectorTab: 'settings',
    theme: 'system',
    contrast: 'normal',
    locale: 'en',
    locked: false,
    minimap: true,
    snap: false,
    allReferences: false,
    narrowPage: 'outline',
    keys: {},
    words: 0,
  },
  dialogs: [],
  notices: [],
  spoken: '',
  runs: {list: [], byId: {}, viewed: null, compared: null, iterations: {}, follow: true, live: 'connecting'},
  session: {
    session: null,
    branch: null,
    floor: null,
    page: null,
    names: null,
    stored: {state: 'idle', items: [], error: null, floorState: null},
  },
};

export const store = createStore(initial);

/**
 * A part of the state; the component renders anew only when that part changes.
 * @template T
 * @param {(state: State) => T} select
 * @param {(a: T, b: T) => boolean} [equal] `Object.is` unless told; `shallow` for lists and objects made by the selector
 * @returns {T}
 */
export function useStore(select, equal = Object.is) {
  const last = useRef(/** @type {{value: T} | null} */ (null));
  return useSyncExternalStore(store.subscribe, () => {
    const value = select(store.get());
    if (last.current === null || !equal(last.current.value, value)) last.current = {value};
    return last.current.value;
  });
}

/**
 * Whether two lists or objects hold the same values at their first level.
 * @param {any} a
 * @param {any} b
 */
export function shallow(a, b) {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.is(a[key], b[key]));
}
