/** The last runs of every client, searched by the server, with those to come at the top. */
import {classes, h, tags, useEffect, useRef, useState} from '../h.js';
import {api} from '../api/client.js';
import {openDialog} from '../state/dialogs.js';
import {notify, notifyFailure} from '../state/notices.js';
import {loadRun, openRun, setCompared} from '../state/runs.js';
import {store, useStore} from '../state/store.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Icon} from '../ui/icons.js';
import {clock, duration} from '../state/times.js';

const {button, caption, div, input, label, option, p, select, span, table, tbody, td, th, thead, tr} = tags;

const PAGE = 50;
const MOST = 1000;
const DELAY_MS = 250;
const STATES = ['running', 'finished', 'failed', 'cancelled'];
const ICONS = /** @type {Record<string, string>} */ ({running: 'spinner', finished: 'check', failed: 'error', cancelled: 'stop'});

export function History() {
  const [query, setQuery] = useState('');
  const [state, setState] = useState('');
  const [pipeline, setPipeline] = useState('');
  const [origin, setOrigin] = useState('');
  const [limit, setLimit] = useState(PAGE);
  const pipelines = useStore((now) => now.library.pipelines);
  const viewed = useStore((now) => now.runs.viewed);
  const compared = useStore((now) => now.runs.compared);
  const {lines, isEnd, isLoading} = useLines({query, state, pipeline, limit});
  const shown = lines.filter((line) => origin === '' || (origin === 'try' ? line.origin === 'try' : origin === 'client' ? line.origin === 'client' : line.client === origin.slice(1)));
  const clients = [...new Set(lines.map((line) => line.client).filter(Boolean))].sort();
  return div(
    {className: 'run-history'},
    div(
      {className: 'run-filters', role: 'search'},
      input({className: 'input', type: 'search', 'aria-label': t('run.search'), placeholder: t('run.search'), value: query, onChange: (event) => setQuery(event.target.value)}),
      choice(t('run.filterState'), state, setState, [['', t('run.anyState')], ...STATES.map((one) => [one, t(`run.runState.${one}`)])]),
      choice(t('run.filterPipeline'), pipeline, setPipeline, [['', t('run.anyPipeline')], ...pipelines.map((one) => [one.id, one.name || one.id])]),
      choice(t('run.filterOrigin'), origin, setOrigin, [
        ['', t('run.anyOrigin')],
        ['client', t('run.origin.client')],
        ['try', t('run.origin.try')],
        ...clients.map((one) => [`=${one}`, one]),
      ]),
    ),
    compared
      ? div(
          {className: 'run-comparing', role: 'status'},
          h(Icon, {name: 'compare'}),
          span(null, t('run.comparing', {run: shortId(compared)})),
          h(Button, {label: t('run.cancelCompare'), icon: 'close', iconOnly: true, tone: 'quiet', onClick: () => setCompared(null)}),
        )
      : null,
    div(
      {className: 'run-history-scroll', tabIndex: 0, role: 'region', 'aria-label': t('run.history')},
      table(
        {className: 'run-lines'},
        caption({className: 'visually-hidden'}, t('run.history')),
        thead(null, tr(null, ...['state', 'time', 'pipeline', 'model', 'from', 'took', 'tokens'].map((one) => th({key: one, scope: 'col'}, t(`run.column.${one}`))), th({scope: 'col'}, span({className: 'visually-hidden'}, t('run.compare'))))),
        tbody(null, shown.map((line) => h(Line, {key: line.id, line, isViewed: line.id === viewed, compared}))),
      ),
      shown.length === 0 ? p({className: 'run-empty'}, isLoading ? t('app.loading') : t('run.noRuns')) : null,
      !isEnd && limit < MOST ? h(Button, {label: t('run.more'), onClick: () => setLimit(Math.min(MOST, limit * 2))}) : null,
    ),
  );
}

/**
 * The lines that the server finds, kept fresh: what it says of a run that is in the store's list is newer.
 *
 * What the user changes waits until it rests. What clients do is read at a steady pace, however busy they are: a new run neither
 * puts off the next reading nor ends the one under way.
 * @param {{query: string, state: string, pipeline: string, limit: number}} wanted
 */
function useLines({query, state, pipeline, limit}) {
  const marks = useStore(({runs}) => `${runs.list[0]?.id ?? ''} ${runs.list.map((line) => line.state).join()}`);
  const [found, setFound] = useState(/** @type {{lines: any[], isLoading: boolean, isEnd: boolean}} */ ({lines: [], isLoading: true, isEnd: true}));
  const asked = new URLSearchParams({limit: String(limit)});
  if (query.trim()) asked.set('q', query.trim());
  if (state) asked.set('state', state);
  if (pipeline) asked.set('pipeline', pipeline);
  const wanted = String(asked);
  const latest = useRef({wanted: '', at: 0, reading: 0, shown: 0});
  useEffect(() => {
    const now = latest.current;
    const wait = now.wanted === wanted ? Math.max(0, now.at + DELAY_MS - performance.now()) : DELAY_MS;
    const timer = setTimeout(() => {
      const mine = now.reading + 1;
      Object.assign(now, {wanted, at: performance.now(), reading: mine});
      const isStale = () => now.wanted !== wanted || mine < now.shown;
      api
        .get(`/api/runs?${wanted}`)
        .then(({body}) => {
          if (isStale()) return;
          now.shown = mine;
          setFound({lines: body, isLoading: false, isEnd: body.length < limit});
        })
        .catch((error) => {
          if (isStale()) return;
          setFound((before) => ({...before, isLoading: false}));
          notifyFailure(error);
        });
    }, wait);
    return () => clearTimeout(timer);
  }, [wanted, limit, marks]);
  return found;
}

/**
 * @param {string} name
 * @param {string} value
 * @param {(value: string) => void} onChange
 * @param {string[][]} options
 */
function choice(name, value, onChange, options) {
  return label(
    {className: 'run-filter'},
    span({className: 'visually-hidden'}, name),
    select({className: 'input', value, onChange: (event) => onChange(event.target.value)}, ...options.map(([one, text]) => option({key: one, value: one}, text))),
  );
}

/** The models that were asked; what the caller named, where that is none of them, stands behind. @param {{line: any}} props */
function Model({line}) {
  const models = /** @type {string[]} */ (line.models ?? []);
  const named = line.model ?? '';
  if (models.length === 0 || (models.length === 1 && models[0] === named)) return cut(named);
  const asked = models.join(', ');
  return cut(named === '' || models.includes(named) ? asked : t('run.modelFor', {asked, named}));
}

/** @param {{line: any, isViewed: boolean, compared: string | null}} props */
function Line({line, isViewed, compared}) {
  const tokens = [line.input_tokens, line.output_tokens].every((one) => one === null) ? '' : `${line.input_tokens ?? '–'} → ${line.output_tokens ?? '–'}`;
  const from = line.origin === 'try' ? t('run.origin.try') : (line.client ?? t('run.origin.client'));
  return tr(
    {className: classes('run-line', isViewed && 'run-line-viewed'), onDoubleClick: () => void openRun(line.id)},
    td(null, span({className: classes('run-line-state', `run-tone-${line.state}`)}, h(Icon, {name: ICONS[line.state] ?? 'info', size: 12, className: line.state === 'running' ? 'spin' : ''}), t(`run.runState.${line.state}`))),
    th(
      {scope: 'row'},
      button({type: 'button', className: 'run-link', 'aria-current': isViewed || undefined, onClick: () => void openRun(line.id), title: line.error?.message ?? line.id}, clock(line.started)),
    ),
    cut(line.pipeline_name || line.pipeline),
    h(Model, {line}),
    cut([from, line.session].filter(Boolean).join(' · ')),
    td({className: 'run-number'}, duration(line.duration_ms)),
    td({className: 'run-number'}, tokens),
    td(
      null,
      h(Button, {
        label: t('run.compareRun', {time: clock(line.started)}),
        icon: 'compare',
        iconOnly: true,
        tone: 'quiet',
        pressed: compared === line.id,
        onClick: () => void compare(line.id),
      }),
    ),
  );
}

/** A cell whose text may be longer than its column. @param {string} text */
function cut(text) {
  return td({className: 'run-cut', title: text}, text);
}

/** The first run that is chosen waits for the second. @param {string} id */
async function compare(id) {
  const {compared} = store.get().runs;
  if (compared === id) return setCompared(null);
  if (compared === null) {
    setCompared(id);
    notify('info', 'run.chooseSecond');
    return undefined;
  }
  const both = await Promise.all([compared, id].map((one) => loadRun(one)));
  setCompared(null);
  if (both.every((one) => one !== null)) openDialog('compare-runs', {a: compared, b: id});
  return undefined;
}

/** @param {string} id */
function shortId(id) {
  return id.slice(-8);
}
