/** Points in time, durations and sizes as people write them. */
import {store} from './store.js';

/** The hour of today, else the day. @param {number} ms milliseconds since 1970 */
export function timeInWords(ms) {
  const date = new Date(ms);
  if (!Number.isFinite(date.getTime())) return '';
  const isToday = date.toDateString() === new Date().toDateString();
  /** @type {Intl.DateTimeFormatOptions} */
  const style = isToday ? {timeStyle: 'short'} : {dateStyle: 'medium', timeStyle: 'short'};
  return new Intl.DateTimeFormat(store.get().view.locale, style).format(date);
}

/** The time of day, and the day where it is another one than today. @param {number} started milliseconds since 1970 */
export function clock(started) {
  const date = new Date(started);
  const isToday = date.toDateString() === new Date().toDateString();
  return new Intl.DateTimeFormat(store.get().view.locale, isToday ? {timeStyle: 'medium'} : {dateStyle: 'short', timeStyle: 'short'}).format(date);
}

/**
 * `12 ms`, `1.4 s`, `2.5 min`.
 * @param {number | null | undefined} ms
 */
export function duration(ms) {
  if (ms === null || ms === undefined) return '';
  if (ms < 1000) return unit(ms, 'millisecond', ms < 10 ? 1 : 0);
  return ms < 60_000 ? unit(ms / 1000, 'second', ms < 10_000 ? 2 : 1) : unit(ms / 60_000, 'minute', 1);
}

/** @param {number} bytes */
export function size(bytes) {
  if (bytes < 1000) return unit(bytes, 'byte', 0, 'long');
  return bytes < 1_000_000 ? unit(bytes / 1000, 'kilobyte', 1) : unit(bytes / 1_000_000, 'megabyte', 1);
}

/** @param {number} value @param {string} name @param {number} digits @param {'short' | 'long'} [display] */
function unit(value, name, digits, display = 'short') {
  const style = {style: 'unit', unit: name, unitDisplay: display, maximumFractionDigits: digits};
  return new Intl.NumberFormat(store.get().view.locale, /** @type {Intl.NumberFormatOptions} */ (style)).format(value);
}
