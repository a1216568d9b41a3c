/** The assets of one kind that are looked at: read in parts where they are in sight, so that a thousand are as quick as ten. */
import {useSyncExternalStore} from '../h.js';
import {reasonOf} from '../state/failures.js';
import {readMemory, withQuery} from '../state/memory.js';
import {createStore} from '../state/store.js';
import {PATHS} from './kinds.js';

/**
 * @typedef {import('./kinds.js').Kind} Kind
 *
 * @typedef {object} Asset a line of a list
 * @property {string} id
 * @property {string} name
 * @property {string} status active, disabled or deleted
 * @property {string[]} tags
 * @property {string | null} image the hash of its picture
 * @property {number} updated_at milliseconds since 1970
 *
 * @typedef {'updated_at' | 'created_at' | 'name'} SortBy
 *
 * @typedef {object} Listing what is shown, and what was read of it
 * @property {Kind} kind
 * @property {string} keyword
 * @property {string} tag '': any
 * @property {SortBy} sort
 * @property {Record<number, Asset[]>} parts what was read, by its place in parts of PART
 * @property {number | null} total null: not known yet
 * @property {string | null} error
 */

/** How many are read at once. */
export const PART = 60;

/** @type {Pick<Listing, 'parts' | 'total' | 'error'>} */
const UNREAD = {parts: {}, total: null, error: null};

export const listing = createStore(/** @type {Listing} */ ({kind: 'character', keyword: '', tag: '', sort: 'updated_at', ...UNREAD}));
/** Which look at the library is the newest; answers to older ones are not taken. */
let look = 0;
/** The parts that are on their way. @type {Set<number>} */
const reading = new Set();

/** @template T @param {(state: Listing) => T} select @returns {T} */
export function useListing(select) {
  return useSyncExternalStore(listing.subscribe, () => select(listing.get()));
}

/** Look for others, from the first on. @param {Partial<Pick<Listing, 'kind' | 'keyword' | 'tag' | 'sort'>>} patch */
export function show(patch) {
  listing.set({...patch, ...UNREAD});
  look += 1;
  reading.clear();
  void readPart(0);
}

/** Read anew what was read; what is shown stays until the answer is here. */
export async function refresh() {
  look += 1;
  reading.clear();
  const known = Object.keys(listing.get().parts).map(Number);
  await Promise.all((known.length ? known : [0]).map(readPart));
}

/** The asset at a place of the list; undefined where it was not read yet. @param {Listing} state @param {number} place */
export function assetAt({parts}, place) {
  return parts[Math.floor(place / PART)]?.[place % PART];
}

/** See to it that the assets of these places are read. @param {number} from @param {number} to the place behind the last */
export function need(from, to) {
  const {parts, total} = listing.get();
  const end = Math.min(to, total ?? 1);
  for (let part = Math.floor(from / PART); part * PART < end; part += 1) {
    if (!(part in parts) && !reading.has(part)) void readPart(part);
  }
}

/** @param {number} part */
async function readPart(part) {
  const mine = look;
  reading.add(part);
  const {kind, keyword, tag, sort} = listing.get();
  try {
    const {data, meta} = await readMemory(
      withQuery(PATHS[kind], {keyword: keyword.trim(), tag, sort_by: sort, sort_order: sort === 'name' ? 'asc' : 'desc', limit: PART, offset: part * PART}),
    );
    if (mine !== look) return;
    listing.set(({parts, total}) => ({
      // A list that became longer or shorter has others in its places.
      parts: total === null || total === meta.total ? {...parts, [part]: data} : {[part]: data},
      total: meta.total,
      error: null,
    }));
  } catch (error) {
    if (mine === look) listing.set({error: reasonOf(error)});
  } finally {
    if (mine === look) reading.delete(part);
  }
}
