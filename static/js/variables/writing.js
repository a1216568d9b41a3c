/** Writes of stored variables: one at a time with a look at what is there now, or many through the batch route. */
import {ApiFailure} from '../api/client.js';
import {TIERS} from '../core/tiers.js';
import {readMemory, withQuery, writeMemory} from '../state/memory.js';
import {refreshStored, storedVariable} from '../state/session.js';
import {store} from '../state/store.js';

/** @typedef {import('../core/tiers.js').Tier} Tier */
/** @typedef {import('../state/types.js').StoredVariable} StoredVariable */
/** @typedef {import('../state/types.js').SessionState} SessionState */

/** What the batch route takes at once (docs/variables-api.md); the bytes leave room for the frame of the body. */
const BATCH = 100;
const BATCH_BYTES = 900_000;

/** The tiers in the order of the table's columns. */
export const COLUMNS = Object.freeze([...TIERS].reverse());

/** The variable is not what the edit began from. */
export class Changed extends Error {
  /** @param {StoredVariable | null} now null: it was deleted */
  constructor(now) {
    super('changed');
    this.now = now;
  }
}

/** The tiers that the chosen place has. @param {SessionState} place @returns {Tier[]} */
export function tiersAt({session, branch, floor, page}) {
  const has = {global: true, chat: session !== null, branch: branch !== null, floor: floor !== null, page: page !== null};
  return COLUMNS.filter((tier) => has[tier]);
}

/** Where a tier's variables are at the chosen place, as the API names it. @param {Tier} tier @param {SessionState} place */
export function targetOf(tier, {session, branch, floor, page}) {
  if (tier === 'global') return {scope: tier, scope_id: 'global'};
  if (tier === 'branch') return {scope: tier, session_id: session, branch_id: branch};
  return {scope: tier, scope_id: tier === 'chat' ? session : tier === 'floor' ? floor : page};
}

/** Whether a tier cannot be written because of the chosen floor's state. @param {Tier} tier @param {string | null} floorState */
export function isLocked(tier, floorState) {
  return (tier === 'floor' || tier === 'page') && (floorState === 'committed' || floorState === 'generating');
}

/**
 * Write one variable at the chosen place, unless somebody else wrote it since the edit began. The API has no condition for a
 * write, so the look and the write are two requests; a write in between is not seen.
 * @param {Tier} tier
 * @param {string} key
 * @param {any} value
 * @param {StoredVariable | null | undefined} base what the edit began from, null: nothing; undefined: write whatever is there
 * @throws {Changed | ApiFailure}
 */
export async function putVariable(tier, key, value, base) {
  const target = targetOf(tier, store.get().session);
  if (base !== undefined) {
    const now = await current(target, key);
    if ((now?.id ?? null) !== (base?.id ?? null) || JSON.stringify(now?.value) !== JSON.stringify(base?.value)) throw new Changed(now);
  }
  await writeMemory('PUT', '/variables', {...target, key, value});
  await refreshStored();
}

/** @param {{scope: string, scope_id?: string | null, session_id?: string | null, branch_id?: string | null}} target @param {string} key */
async function current(target, key) {
  const {data} = await readMemory(withQuery('/variables', {...target, key, limit: 1}));
  return data.length ? storedVariable(data[0]) : null;
}

/**
 * @param {StoredVariable} variable
 * @param {boolean} [isAlone] whether what is shown is read anew; of many the last one is enough
 */
export async function deleteVariable(variable, isAlone = true) {
  try {
    await writeMemory('DELETE', `/variables/${encodeURIComponent(variable.id)}`);
  } catch (error) {
    // Gone already: that is what was wanted.
    if (!(error instanceof ApiFailure && error.status === 404)) throw error;
  }
  if (isAlone) await refreshStored();
}

/**
 * @typedef {object} Row a variable to write
 * @property {number} row its place in the text, from 1
 * @property {Tier} tier
 * @property {string} key
 * @property {any} value
 *
 * @typedef {{row: number, message: string}} RowProblem
 */

/**
 * Write many variables, a hundred at once; each hundred is written whole or not at all.
 * @param {Row[]} rows
 * @param {(error: unknown, rows: Row[]) => RowProblem[]} explain what a refused batch means for its rows
 * @returns {Promise<{created: number, updated: number, problems: RowProblem[]}>}
 */
export async function putBatch(rows, explain) {
  const place = store.get().session;
  const done = {created: 0, updated: 0, problems: /** @type {RowProblem[]} */ ([])};
  for (const batch of batches(rows)) {
    try {
      const items = batch.map(({tier, key, value}) => ({...targetOf(tier, place), key, value}));
      const {data} = await writeMemory('PUT', '/variables/batch', {items});
      done.created += data.meta.created;
      done.updated += data.meta.updated;
    } catch (error) {
      done.problems.push(...explain(error, batch));
      if (!(error instanceof ApiFailure) || error.status === 0) break;
    }
  }
  await refreshStored();
  return done;
}

/** @param {Row[]} rows @returns {Row[][]} */
function batches(rows) {
  /** @type {Row[][]} */
  const all = [];
  let bytes = Infinity;
  for (const row of rows) {
    const size = new TextEncoder().encode(JSON.stringify([row.key, row.value])).length + 200;
    if (bytes + size > BATCH_BYTES || (all.at(-1)?.length ?? BATCH) >= BATCH) {
      all.push([]);
      bytes = 0;
    }
    all.at(-1)?.push(row);
    bytes += size;
  }
  return all;
}
