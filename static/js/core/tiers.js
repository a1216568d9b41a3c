// Stored variables as a table: one row for each name, one column for each tier, and who wins.

/** @typedef {import('./doc.js').Json} Json */

/** The tiers, the one that wins first. */
export const TIERS = Object.freeze(/** @type {const} */ (['page', 'floor', 'branch', 'chat', 'global']));

/**
 * @typedef {typeof TIERS[number]} Tier
 */

/**
 * A value as one tier holds it. Null is a value: it hides what stands behind it.
 * @typedef {{value: Json, [more: string]: unknown}} Cell
 */

/**
 * One name. A tier without it is undefined.
 * @typedef {object} TierRow
 * @property {string} key
 * @property {Cell | undefined} page
 * @property {Cell | undefined} floor
 * @property {Cell | undefined} branch
 * @property {Cell | undefined} chat
 * @property {Cell | undefined} global
 * @property {Tier} winner the nearest tier that has the name
 */

/**
 * The rows by name. What an entry has beside name, tier and value (version, time ...) stays in its cell. Entries of other tiers
 * are passed over; of two for one name and tier the last counts.
 * @param {Iterable<{name?: string, key?: string, tier: string, value: Json, [more: string]: unknown}>} entries
 * @returns {TierRow[]} in the order of their names
 */
export function table(entries) {
  /** @type {Map<string, Map<string, Cell>>} */
  const names = new Map();
  for (const {name, key, tier, ...cell} of entries) {
    const called = name ?? key;
    if (called === undefined || !TIERS.some((each) => each === tier)) continue;
    const cells = names.get(called) ?? new Map();
    cells.set(tier, cell);
    names.set(called, cells);
  }
  return [...names].map(([key, cells]) => row(key, cells)).sort((a, b) => compareNames(a.key, b.key));
}

/**
 * @param {string} key
 * @param {Map<string, Cell>} cells
 * @returns {TierRow}
 */
function row(key, cells) {
  const winner = TIERS.find((tier) => cells.has(tier)) ?? 'global';
  return {
    key,
    page: cells.get('page'),
    floor: cells.get('floor'),
    branch: cells.get('branch'),
    chat: cells.get('chat'),
    global: cells.get('global'),
    winner,
  };
}

/**
 * Alphabetical, numbers by their size; the same in every locale.
 * @param {string} a
 * @param {string} b
 * @returns {number}
 */
function compareNames(a, b) {
  return COLLATOR.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0);
}

const COLLATOR = new Intl.Collator('en', {numeric: true});
