/** What calls to models took and cost: by day, model, key, pipeline, chat and more; as bars, as a table, and as files. */
import {api, failureOf} from '../api/client.js';
import {Fragment, h, tags, useMemo, useState} from '../h.js';
import {extras, price, tokens, total, number, zone} from '../costs/amounts.js';
import {saveFile} from '../state/copying.js';
import {withQuery} from '../state/memory.js';
import {notifyFailure} from '../state/notices.js';
import {useReading} from '../state/reading.js';
import {useStore} from '../state/store.js';
import {t, translated} from '../words.js';
import {Button} from '../ui/buttons.js';
import {NotRead, Waiting} from '../ui/empty.js';
import {SelectField} from '../ui/fields.js';
import {seesAll, usePeople} from './people.js';
import {Plot} from './Plot.js';
import {inWords, partsOf, RangeFields, spanOf} from './range.js';

const {button, caption, div, p, span, table, tbody, td, th, thead, tr} = tags;

/** @typedef {import('../costs/amounts.js').Sum} Sum */
/** @typedef {'day' | 'model' | 'key' | 'pipeline' | 'session' | 'purpose' | 'account'} Grouping */
/** @typedef {{field: string, value: string, label: string}} Filter */

const GROUPINGS = /** @type {const} */ (['day', 'model', 'key', 'pipeline', 'session', 'purpose']);
const MEASURES = /** @type {const} */ (['price', 'tokens', 'calls']);
/** What the server sums up at most. */
const MOST = 1000;
/** The field of a query that asks for the calls of one row. @type {Record<string, string>} */
const FIELDS = {model: 'model', key: 'key_id', pipeline: 'pipeline_id', session: 'session_id', purpose: 'purpose', account: 'account'};

export function Usage() {
  const keeps = useStore((state) => state.server.keepsUsage);
  return keeps ? h(Kept) : p({className: 'panel-empty'}, t('usage.notKept'));
}

function Kept() {
  const isForAll = useStore((state) => seesAll(state) && state.server.hasAccounts);
  const [range, setRange] = useState({kind: '30', from: '', to: ''});
  const [by, setBy] = useState(/** @type {Grouping} */ ('model'));
  const [measure, setMeasure] = useState(/** @type {import('./Plot.js').Measure} */ ('price'));
  const [filters, setFilters] = useState(/** @type {Filter[]} */ ([]));
  const [again, setAgain] = useState(0);
  const dates = useMemo(() => spanOf(range), [range, again]);
  const asked = {
    start: dates.start,
    end: dates.end,
    zone: zone(),
    ...(isForAll ? {account: '*'} : {}),
    ...Object.fromEntries(filters.map(({field, value}) => [field, value])),
  };
  const isReady = dates.problem === null;
  const days = useReading(isReady ? withQuery('/usage/sums', {by: 'day', ...asked}) : null, again);
  const others = useReading(isReady && by !== 'day' ? withQuery('/usage/sums', {by, ...asked}) : null, again);
  const rows = by === 'day' ? days : others;
  /** @param {string} name a day or month of the plot, or of the table */
  const narrow = (name) => {
    const isMonth = name.length === 7;
    const [year, month] = name.split('-').map(Number);
    const last = isMonth ? `${name}-${String(new Date(year, month, 0).getDate()).padStart(2, '0')}` : name;
    setRange({kind: 'own', from: isMonth ? `${name}-01` : name, to: last});
  };
  /** @param {Filter} filter */
  const only = (filter) => {
    setFilters([...filters.filter(({field}) => field !== filter.field), filter]);
    setBy('day');
  };
  return div(
    {className: 'usage-page'},
    div(
      {className: 'usage-filters', role: 'search', 'aria-label': t('usage.filters')},
      h(RangeFields, {range, onChange: setRange, problem: dates.problem}),
      h(SelectField, {label: t('usage.by'), value: by, onChange: (value) => setBy(/** @type {Grouping} */ (value)), options: [...GROUPINGS, ...(isForAll ? ['account'] : [])].map((value) => ({value, label: t(`usage.by.${value}`)}))}),
      h(SelectField, {label: t('usage.measure'), value: measure, onChange: (value) => setMeasure(/** @type {any} */ (value)), options: MEASURES.map((value) => ({value, label: t(`usage.measure.${value}`)}))}),
      h(Button, {label: t('usage.refresh'), icon: 'refresh', iconOnly: true, onClick: () => setAgain(again + 1)}),
    ),
    filters.length === 0
      ? null
      : div(
          {className: 'usage-chips', role: 'group', 'aria-label': t('usage.onlyThese')},
          filters.map((filter) =>
            h(Button, {key: filter.field, label: `${t(`usage.row.${groupingOf(filter.field)}`)}: ${filter.label}`, icon: 'close', className: 'usage-chip', title: t('usage.onlyNot'), onClick: () => setFilters(filters.filter((one) => one !== filter))})),
        ),
    !isReady
      ? null
      : days === null || rows === null
        ? h(Waiting)
        : 'error' in days || 'error' in rows
          ? h(NotRead, null, 'error' in days ? days.error : /** @type {any} */ (rows).error, ' ', h(Button, {label: t('library.again'), onClick: () => setAgain(again + 1)}))
          : h(Shown, {days: days.data, rows: rows.data, dates, by, measure, asked, onDay: narrow, onOnly: only}),
  );
}

/** @param {string} field */
function groupingOf(field) {
  return Object.keys(FIELDS).find((grouping) => FIELDS[grouping] === field) ?? field;
}

/**
 * @param {{days: Sum[], rows: Sum[], dates: import('./range.js').Span, by: Grouping, measure: import('./Plot.js').Measure, asked: Record<string, any>,
 *   onDay: (name: string) => void, onOnly: (filter: Filter) => void}} props
 */
function Shown({days, rows, dates, by, measure, asked, onDay, onOnly}) {
  const all = useMemo(() => total(days), [days]);
  const parts = useMemo(() => {
    /** @type {Map<string, Sum[]>} */
    const byName = new Map();
    const names = partsOf(dates);
    const isByMonth = names[0]?.length === 7;
    for (const day of days) {
      const name = isByMonth ? (day.name ?? '').slice(0, 7) : (day.name ?? '');
      byName.set(name, [...(byName.get(name) ?? []), day]);
    }
    return names.map((name) => ({name, sum: total(byName.get(name) ?? [])}));
  }, [days, dates]);
  if (all.calls === 0) return p({className: 'panel-empty'}, t('usage.none'));
  const notes = [all.unpriced > 0 ? t('usage.noteUnpriced', {n: all.unpriced}) : '', all.estimated > 0 ? t('usage.noteEstimated', {n: all.estimated}) : '', all.uncounted > 0 ? t('usage.noteUncounted', {n: all.uncounted}) : ''].filter(Boolean);
  return h(
    Fragment,
    null,
    p(
      {className: 'usage-total', role: 'status'},
      span({className: 'usage-total-price'}, price(all)),
      ' ',
      span({className: 'text-soft'}, t('usage.totals', {n: all.calls, input: tokens(all.input_tokens, all), output: tokens(all.output_tokens, all)}), extras(all).length ? ` (${extras(all).join(', ')})` : ''),
    ),
    h(Plot, {key: `${parts[0].name} ${parts.length}`, parts, measure, onChoose: onDay}),
    h(Rows, {rows, by, onDay, onOnly}),
    rows.length >= MOST ? p({className: 'text-soft'}, t('usage.cut', {n: MOST})) : null,
    notes.map((note) => p({key: note, className: 'text-soft usage-note'}, note)),
    div(
      {className: 'usage-files'},
      h(Button, {label: t('usage.saveCalls'), icon: 'export', onClick: () => void save('/usage', asked)}),
      h(Button, {label: t('usage.saveTable'), icon: 'export', onClick: () => void save('/usage/sums', {...asked, by})}),
    ),
  );
}

/** @param {{rows: Sum[], by: Grouping, onDay: (name: string) => void, onOnly: (filter: Filter) => void}} props */
function Rows({rows, by, onDay, onOnly}) {
  const people = usePeople();
  const pipelines = useStore((state) => state.library.pipelines);
  const hasWritten = rows.some((row) => row.cache_write_tokens > 0);
  /** @param {Sum} row */
  const labelOf = (row) => {
    if (row.name === null || row.name === '') return t(`usage.without.${by}`);
    if (by === 'day') return inWords(row.name);
    if (by === 'purpose') return translated(`usage.purpose.${row.name}`) ?? row.name;
    if (by === 'account') return people.get(row.name) ?? row.name;
    if (by === 'pipeline') return pipelines.find(({id}) => id === row.name)?.name || row.name;
    return row.label ?? row.name;
  };
  return div(
    {className: 'usage-scroll', tabIndex: 0, role: 'region', 'aria-label': t('usage.table')},
    table(
      {className: 'usage-table'},
      caption({className: 'visually-hidden'}, t('usage.table')),
      thead(null, tr(null, th({scope: 'col'}, t(`usage.row.${by}`)), ['price', 'calls', 'input', 'output', 'cached', ...(hasWritten ? ['written'] : []), 'reasoning'].map((one) => th({key: one, scope: 'col', className: 'usage-number'}, t(`usage.column.${one}`))))),
      tbody(
        null,
        rows.map((row) => {
          const label = labelOf(row);
          const {name} = row;
          const choose = () => (by === 'day' ? onDay(name ?? '') : onOnly({field: FIELDS[by], value: name ?? '', label}));
          return tr(
            {key: name ?? ''},
            th({scope: 'row'}, name === null || name === '' ? label : button({type: 'button', className: 'run-link usage-name', title: t('usage.only', {name: label}), onClick: choose}, label)),
            td({className: 'usage-number usage-price'}, price(row)),
            td({className: 'usage-number'}, number(row.calls)),
            td({className: 'usage-number'}, tokens(row.input_tokens, row)),
            td({className: 'usage-number'}, tokens(row.output_tokens, row)),
            td({className: 'usage-number'}, number(row.cache_read_tokens)),
            hasWritten ? td({className: 'usage-number'}, number(row.cache_write_tokens)) : null,
            td({className: 'usage-number'}, number(row.reasoning_tokens)),
          );
        }),
      ),
    ),
  );
}

/** Save what is asked for as a file for spreadsheets. @param {string} path @param {Record<string, any>} asked */
async function save(path, asked) {
  try {
    const response = await api.raw(withQuery(path, {...asked, format: 'csv'}));
    if (!response.ok) throw failureOf(response.status, await response.text());
    saveFile(await response.blob(), path === '/usage' ? 'usage.csv' : `usage-by-${asked.by}.csv`);
  } catch (error) {
    notifyFailure(error);
  }
}
