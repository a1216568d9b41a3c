/** Spans of days, as the person's calendar has them. */
import {h, tags} from '../h.js';
import {store} from '../state/store.js';
import {t} from '../words.js';
import {SelectField, TextField} from '../ui/fields.js';

const {div} = tags;

/** @typedef {{kind: string, from: string, to: string}} Range `kind`: a number of days, `own` for the two that are named, or `all` */
/** @typedef {{start: number, end: number, problem: string | null}} Span milliseconds since 1970 */

const KINDS = ['1', '7', '30', '90', '365', 'own'];
/** Beyond these days are months, so that each can be seen. */
const MOST_DAYS = 92;
/** The server sums so many days up at once. */
const MOST_OWN = 1000;

/** A day as the server names it. @param {Date} date */
export function nameOf(date) {
  return [date.getFullYear(), String(date.getMonth() + 1).padStart(2, '0'), String(date.getDate()).padStart(2, '0')].join('-');
}

/** Midnight of a named day, where the person is. @param {string} name */
export function dayOf(name) {
  const [year, month, day] = name.split('-').map(Number);
  return new Date(year, month - 1, day ?? 1);
}

/** The day so many days behind another: days of changed clocks are longer or shorter. @param {Date} date @param {number} days */
function later(date, days) {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + days);
}

/** @param {Range} range @returns {Span} */
export function spanOf({kind, from, to}) {
  const today = dayOf(nameOf(new Date()));
  if (kind === 'all') return {start: 0, end: later(today, 1).getTime(), problem: null};
  if (kind !== 'own') return {start: later(today, 1 - Number(kind)).getTime(), end: later(today, 1).getTime(), problem: null};
  const [first, last] = [dayOf(from || nameOf(today)), dayOf(to || nameOf(today))];
  const isWrong = !(first <= last) || later(first, MOST_OWN) < last;
  return {start: first.getTime(), end: later(last, 1).getTime(), problem: isWrong ? t('usage.rangeWrong', {n: MOST_OWN}) : null};
}

/** The days of a span by name, or its months where those are too many. @param {Span} span @returns {string[]} */
export function partsOf({start, end}) {
  const days = [];
  for (let day = new Date(start); day.getTime() < end; day = later(day, 1)) days.push(nameOf(day));
  return days.length <= MOST_DAYS ? days : [...new Set(days.map((day) => day.slice(0, 7)))];
}

/** A day or month as people write it. @param {string} name @param {boolean} [isShort] */
export function inWords(name, isShort = false) {
  const isMonth = name.length === 7;
  /** @type {Intl.DateTimeFormatOptions} */
  const style = isMonth ? {month: isShort ? 'short' : 'long', year: 'numeric'} : isShort ? {month: 'short', day: 'numeric'} : {dateStyle: 'medium'};
  return new Intl.DateTimeFormat(store.get().view.locale, style).format(dayOf(name));
}

/** The fields by which a span is chosen. @param {{range: Range, onChange: (range: Range) => void, problem: string | null, hasAll?: boolean}} props */
export function RangeFields({range, onChange, problem, hasAll = false}) {
  const kinds = hasAll ? ['all', ...KINDS] : KINDS;
  return div(
    {className: 'usage-range'},
    h(SelectField, {label: t('usage.range'), value: range.kind, onChange: (kind) => onChange({...range, kind}), options: kinds.map((value) => ({value, label: t(`usage.range.${value}`)}))}),
    range.kind === 'own' ? h(TextField, {label: t('usage.from'), type: 'date', value: range.from, onChange: (from) => onChange({...range, from})}) : null,
    range.kind === 'own' ? h(TextField, {label: t('usage.to'), type: 'date', value: range.to, onChange: (to) => onChange({...range, to}), error: problem}) : null,
  );
}
