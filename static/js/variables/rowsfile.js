/** Variables as a text of JSON: a list with one row a line. Reads what it writes, what the API lists, and a plain object. */
import {ApiFailure} from '../api/client.js';
import {isObject} from '../core/doc.js';
import {brokenAt} from '../core/jsontext.js';
import {TIERS} from '../core/tiers.js';
import {parseExact} from '../state/memory.js';
import {t} from '../words.js';
import {reasonOf} from '../state/failures.js';
import {preview} from '../state/values.js';

/** @typedef {import('../core/tiers.js').Tier} Tier */
/** @typedef {import('./writing.js').Row} Row */
/** @typedef {import('./writing.js').RowProblem} RowProblem */

const MOST_KEY_BYTES = 2000;

/** @param {{tier: Tier, key: string, value: any}[]} items */
export function writtenRows(items) {
  const lines = items.map(({tier, key, value}) => `  ${JSON.stringify({tier, key, value})}`);
  return lines.length === 0 ? '[]\n' : `[\n${lines.join(',\n')}\n]\n`;
}

/**
 * @param {string} text
 * @param {Tier} fallback the tier of rows that name none
 * @param {Tier[]} open the tiers that can be written
 * @returns {{rows: Row[], problems: RowProblem[], error: string | null}} `error`: the text as a whole is nothing
 */
export function readRows(text, fallback, open) {
  let parsed;
  try {
    parsed = parseExact(text);
  } catch {
    const before = text.slice(0, brokenAt(text) ?? text.length).split('\n');
    return {rows: [], problems: [], error: t('variables.bulk.notJson', {line: before.length, column: (before.at(-1)?.length ?? 0) + 1})};
  }
  const list = isObject(parsed) && Array.isArray(parsed.data) ? parsed.data : parsed;
  const written = Array.isArray(list) ? list : isObject(list) ? Object.entries(list).map(([key, value]) => ({key, value})) : null;
  if (written === null) return {rows: [], problems: [], error: t('variables.bulk.notRows')};
  /** @type {Row[]} */
  const rows = [];
  /** @type {RowProblem[]} */
  const problems = [];
  /** @type {Map<string, number>} */
  const first = new Map();
  written.forEach((one, at) => {
    const row = at + 1;
    const message = rowProblem(one, fallback, open);
    if (message !== null) {
      problems.push({row, message});
      return;
    }
    const tier = /** @type {Tier} */ (one.tier ?? one.scope ?? fallback);
    const known = first.get(`${tier} ${one.key}`);
    if (known !== undefined) problems.push({row, message: t('variables.bulk.duplicate', {key: preview(one.key, 80), row: known})});
    else {
      first.set(`${tier} ${one.key}`, row);
      rows.push({row, tier, key: one.key, value: one.value});
    }
  });
  return {rows, problems, error: null};
}

/** @param {any} one @param {Tier} fallback @param {Tier[]} open */
function rowProblem(one, fallback, open) {
  if (!isObject(one)) return t('variables.bulk.noObject');
  const tier = one.tier ?? one.scope ?? fallback;
  if (typeof one.key !== 'string' || one.key === '') return t('variables.keyMissing');
  if (new TextEncoder().encode(one.key).length > MOST_KEY_BYTES) return t('variables.keyLong');
  if (!('value' in one)) return t('variables.valueMissing');
  if (!TIERS.some((each) => each === tier)) return t('variables.bulk.noTier', {tier: preview(tier, 40)});
  return open.some((each) => each === tier) ? null : t('variables.bulk.closedTier', {tier: t(`variables.tier.${tier}`)});
}

/**
 * What a refused batch means for its rows: the server names some of them, else it is said of all.
 * @param {unknown} error
 * @param {Row[]} rows the batch
 * @returns {RowProblem[]}
 */
export function explainBatch(error, rows) {
  const message = reasonOf(error);
  if (error instanceof ApiFailure) {
    const {details} = error;
    const named = (Array.isArray(details) ? details : []).flatMap((one) => {
      const at = /^\/items\/(\d+)/.exec(String(one.path))?.[1];
      return at === undefined || !rows[Number(at)] ? [] : [{row: rows[Number(at)].row, message: one.message}];
    });
    if (Number.isInteger(details?.index) && rows[details.index]) named.push({row: rows[details.index].row, message});
    const scoped = isObject(details) && typeof details.scope === 'string' ? rows.filter((row) => row.tier === details.scope) : [];
    named.push(...scoped.map(({row}) => ({row, message})));
    if (named.length > 0) return [...named, {row: 0, message: t('variables.bulk.othersToo', {n: rows.length})}];
  }
  return [{row: 0, message: t('variables.bulk.batchRefused', {first: rows[0].row, last: rows[rows.length - 1].row, message})}];
}
