/** What the one who asks may do here, as the server says. Where nobody signs in, everybody may do all of it. */
import {t} from '../words.js';
import {store} from './store.js';

/** @typedef {import('./types.js').State} State */

/** Whether callers are different people on this server. @param {State} [state] */
export function hasPeople(state = store.get()) {
  return state.server.me !== null;
}

/** Whether pipelines, presets, skill rules and providers' keys may be changed. @param {State} [state] */
export function mayEdit(state = store.get()) {
  return state.server.me?.may_edit ?? true;
}

/** Whether an id means something of one's own, which everybody may change. @param {string | null} id */
export function isOwn(id) {
  return id !== null && id.startsWith('~');
}

/** Whether the document of an id may be changed. @param {string | null} id @param {State} [state] */
export function mayChange(id, state = store.get()) {
  return isOwn(id) || mayEdit(state);
}

/**
 * Why a document cannot be changed, in words; null where it can.
 * @param {import('./types.js').Tab} tab
 * @param {State} [state]
 */
export function lockOf(tab, state = store.get()) {
  if (tab.readOnly) return t('app.readOnly', {label: tab.readOnly.label});
  return mayChange(tab.id, state) ? null : t('app.mayNotEdit');
}

/** Whether there are other accounts, and this one manages them. @param {State} [state] */
export function mayManagePeople(state = store.get()) {
  const {me, hasAccounts} = state.server;
  return hasAccounts && me?.role === 'admin' && me.client_id === null;
}
