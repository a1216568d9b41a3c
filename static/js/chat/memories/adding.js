/** Reading all that a chat knows, and writing many memories to it. */
import {ApiFailure} from '../../api/client.js';
import {reasonOf} from '../../state/failures.js';
import {readAll, withQuery, writeMemory} from '../../state/memory.js';
import {seenFrom, textOf, told} from './items.js';

const PART = 200;
const AT_ONCE = 4;

/** @typedef {import('./items.js').Place} Place */

/**
 * All items of a chat, and the edges between them.
 * @param {Place} place
 * @param {boolean} [isSeen] only what is seen from there
 * @returns {Promise<{items: import('./items.js').Item[], edges: any[]}>}
 */
export async function readKnown(place, isSeen = false) {
  const items = await readAll(withQuery('/memories', {...seenFrom(place), visible: isSeen || null, sort_order: 'asc'}), PART);
  const ids = new Set(items.map(({id}) => id));
  const edges = isSeen ? [] : await readAll('/memory-edges?sort_order=asc', PART);
  return {items, edges: edges.filter(({from_id, to_id}) => ids.has(from_id) && ids.has(to_id))};
}

/** @param {string} type @param {string} text @param {string | null | undefined} key */
const sameness = (type, text, key) => JSON.stringify([type, text, key ?? null]);

/**
 * Write the memories of a file to a chat. What is known there already is not written again, so that a file may be read once more
 * where a reading broke off. Pages that an item names as its sources are kept where they are this account's and this chat's.
 * @param {Place} place
 * @param {import('./files.js').Found} found
 * @param {(n: number) => void} onDone
 * @returns {Promise<{added: number, known: number, refused: string | null}>} `refused`: why the first of those that are not there was not taken
 */
export async function addAll(place, found, onDone) {
  const {items: there, edges: ties} = await readKnown(place);
  /** @type {Map<string, string>} */
  const ids = new Map();
  const known = new Map(there.map((item) => [sameness(item.type, textOf(item), item.fact_key), item.id]));
  const count = {added: 0, known: 0};
  /** @type {string | null} */
  let refused = null;
  let next = 0;
  const work = async () => {
    for (let at = next++; at < found.items.length; at = next++) {
      const item = found.items[at];
      const key = sameness(item.type, item.content, item.fact_key?.trim().toLowerCase());
      let id = known.get(key);
      if (id !== undefined) count.known++;
      else {
        known.set(key, '');
        try {
          id = await add(place, item);
          known.set(key, id);
          count.added++;
        } catch (error) {
          // What the server cannot do at all ends it; what it does not take is told at the end.
          if (!(error instanceof ApiFailure) || error.status >= 500 || error.status === 401) throw error;
          refused ??= reasonOf(error);
        }
      }
      const own = found.ids[at];
      if (own !== null && id) ids.set(own, id);
      onDone(at + 1);
    }
  };
  try {
    await Promise.all(Array.from({length: AT_ONCE}, work));
    const tied = new Set(ties.map((edge) => JSON.stringify([edge.from_id, edge.to_id, edge.relation])));
    for (const {from, to, relation} of found.edges) {
      const [from_id, to_id] = [ids.get(from), ids.get(to)];
      if (from_id === undefined || to_id === undefined || tied.has(JSON.stringify([from_id, to_id, relation]))) continue;
      try {
        await writeMemory('POST', '/memory-edges', {from_id, to_id, relation});
      } catch (error) {
        if (!(error instanceof ApiFailure) || error.status >= 500) throw error;
        refused ??= reasonOf(error);
      }
    }
  } finally {
    told();
  }
  return {...count, refused};
}

/** @param {Place} place @param {import('./files.js').Given} item @returns {Promise<string>} */
async function add({session}, item) {
  const body = {...item, scope: 'chat', scope_id: session};
  try {
    return (await writeMemory('POST', '/memories', body)).data.id;
  } catch (error) {
    const isOfElsewhere = error instanceof ApiFailure && [400, 404].includes(error.status) && item.sources?.length > 0;
    if (!isOfElsewhere) throw error;
    // It was said in another chat: here it holds as something written by hand.
    return (await writeMemory('POST', '/memories', {...body, sources: []})).data.id;
  }
}
