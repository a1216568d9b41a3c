/** Money, tokens and moments of the ledger as people read them. What nobody knows is said, and never counted as nothing. */
import {store} from '../state/store.js';
import {t} from '../words.js';

/**
 * @typedef {object} Sum what calls came to, as GET /usage/sums says
 * @property {string | null} name
 * @property {string | null} label
 * @property {number} calls
 * @property {number} input_tokens
 * @property {number} output_tokens
 * @property {number} cache_read_tokens
 * @property {number} cache_write_tokens
 * @property {number} reasoning_tokens
 * @property {number} price_nano of the prices that are known
 * @property {number} estimated_nano
 * @property {number} unpriced
 * @property {number} estimated
 * @property {number} uncounted
 */

const NANO = 1_000_000_000;
/** Below a cent the first digits say more than two decimals. */
const CENT = NANO / 100;

/** Billionths of a dollar as money. @param {number} nano */
export function money(nano) {
  /** @type {Intl.NumberFormatOptions} */
  const digits = nano === 0 || Math.abs(nano) >= CENT ? {minimumFractionDigits: 2, maximumFractionDigits: nano < NANO ? 4 : 2} : {maximumSignificantDigits: 3};
  return new Intl.NumberFormat(store.get().view.locale, {style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol', ...digits}).format(nano / NANO);
}

/** @param {number} n */
export function number(n) {
  return new Intl.NumberFormat(store.get().view.locale).format(n);
}

/** A number for an axis: 12K, 3M. @param {number} n */
export function short(n) {
  return new Intl.NumberFormat(store.get().view.locale, {notation: 'compact', maximumSignificantDigits: 3}).format(n);
}

/** What calls cost together. @param {Pick<Sum, 'calls' | 'price_nano' | 'estimated_nano' | 'unpriced' | 'estimated'>} sum */
export function price({calls, price_nano: nano, estimated_nano: guessed, unpriced}) {
  if (unpriced > 0 && unpriced === calls) return t('usage.priceUnknown');
  const known = guessed === 0 ? money(nano) : t(guessed === nano ? 'usage.priceEstimated' : 'usage.pricePartly', {price: money(nano)});
  return unpriced === 0 ? known : t('usage.priceAndUnknown', {price: known, n: unpriced});
}

/** Tokens that calls took together. @param {number} n @param {Pick<Sum, 'calls' | 'uncounted'>} sum */
export function tokens(n, {calls, uncounted}) {
  if (uncounted > 0 && uncounted === calls) return t('usage.unknown');
  return uncounted === 0 ? number(n) : t('usage.atLeast', {amount: number(n)});
}

/** What of the tokens is more than words: those of caches and of thoughts. @param {Pick<Sum, 'cache_read_tokens' | 'cache_write_tokens' | 'reasoning_tokens'>} sum */
export function extras(sum) {
  return [
    sum.cache_read_tokens ? t('usage.extra.cached', {n: sum.cache_read_tokens}) : '',
    sum.cache_write_tokens ? t('usage.extra.written', {n: sum.cache_write_tokens}) : '',
    sum.reasoning_tokens ? t('usage.extra.reasoning', {n: sum.reasoning_tokens}) : '',
  ].filter(Boolean);
}

/** All sums as one. @param {Sum[]} sums @returns {Sum} */
export function total(sums) {
  const [first = {}, ...rest] = /** @type {any[]} */ (sums);
  const none = Object.fromEntries(FIELDS.map((field) => [field, 0]));
  return rest.reduce((all, one) => Object.fromEntries(FIELDS.map((field) => [field, all[field] + one[field]])), {...none, ...first});
}

const FIELDS = ['calls', 'input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens', 'reasoning_tokens', 'price_nano', 'estimated_nano', 'unpriced', 'estimated', 'uncounted'];

/** A moment with its day, where the person is. @param {number} ms */
export function moment(ms) {
  return new Intl.DateTimeFormat(store.get().view.locale, {dateStyle: 'medium', timeStyle: 'medium'}).format(ms);
}

/** The zone that the person is in, by its IANA name. */
export function zone() {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
}
