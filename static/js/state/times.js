/** Points in time as people write them: the hour of today, else the day. */
import {store} from './store.js';

/** @param {number} ms milliseconds since 1970 */
export function timeInWords(ms) {
  const date = new Date(ms);
  if (!Number.isFinite(date.getTime())) return '';
  const isToday = date.toDateString() === new Date().toDateString();
  /** @type {Intl.DateTimeFormatOptions} */
  const style = isToday ? {timeStyle: 'short'} : {dateStyle: 'medium', timeStyle: 'short'};
  return new Intl.DateTimeFormat(store.get().view.locale, style).format(date);
}
