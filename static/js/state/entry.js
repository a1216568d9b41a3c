/** Getting in: what is done once somebody shows who it is, and for whom the page goes on. */
import {noteEntry} from '../api/client.js';
import {beginAnew} from './leaving.js';
import {store} from './store.js';

/** @typedef {'connected' | 'refused' | 'offline'} Connected */

/** @type {() => Promise<Connected>} */
let connect = async () => 'offline';

/** Say how the page gets its facts from the server; the start of the page knows that. @param {() => Promise<Connected>} work */
export function connectBy(work) {
  connect = work;
}

/**
 * Go on as whoever shows something else now. What is on the page belongs to who was there before: for another one it begins anew.
 * @returns {Promise<Connected>}
 */
export async function enter() {
  const before = store.get().server;
  noteEntry();
  const result = await connect();
  const {me} = store.get().server;
  if (result === 'connected' && before.started && before.me?.account_id !== me?.account_id) beginAnew();
  return result;
}
