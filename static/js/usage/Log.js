/** Who did what and when: the operation log, one's own or, for admins, everybody's. */
import {Fragment, h, tags, useMemo, useState} from '../h.js';
import {moment} from '../costs/amounts.js';
import {withQuery} from '../state/memory.js';
import {useReading} from '../state/reading.js';
import {useStore} from '../state/store.js';
import {t, translated} from '../words.js';
import {Button} from '../ui/buttons.js';
import {NotRead, Waiting} from '../ui/empty.js';
import {CheckField, SelectField} from '../ui/fields.js';
import {seesAll, usePeople} from './people.js';
import {RangeFields, spanOf} from './range.js';

const {caption, code, dd, details, div, dl, dt, li, p, span, summary, table, tbody, td, th, thead, time, tr, ul} = tags;

const PAGE = 50;
/** The kinds of things that are changed, as the log names them. */
export const TARGETS = ['session', 'branch', 'floor', 'character', 'user', 'preset', 'preset_entry', 'worldbook', 'worldbook_entry', 'regex_profile', 'file', 'session_state_namespace',
  'session_state_value', 'tool_definition', 'mcp_server', 'memory', 'memory_edge', 'memory_job', 'memory_scope', 'llm_profile', 'llm_slot', 'tag', 'account', 'sign_in', 'passkey', 'identity', 'client', 'client_api_key', 'budget', 'budget_settings'];
/** What an entry names beside what is shown of it. */
const FACTS = ['action', 'reason', 'permission_action', 'target_id', 'session_id', 'branch_id', 'floor_id', 'run_id', 'project_id', 'before_ref', 'after_ref', 'request_id', 'operation_group_id'];

export function Log() {
  const isForAll = useStore((state) => seesAll(state) && state.server.hasAccounts);
  const people = usePeople();
  const [range, setRange] = useState({kind: 'all', from: '', to: ''});
  const [kind, setKind] = useState('');
  const [person, setPerson] = useState('');
  const [isDenied, setDenied] = useState(false);
  const [offset, setOffset] = useState(0);
  const [again, setAgain] = useState(0);
  const dates = useMemo(() => spanOf(range), [range, again]);
  const path = withQuery('/operation-logs', {
    ...(isForAll ? {account: '*'} : {}),
    ...(range.kind === 'all' ? {} : {start: dates.start, end: dates.end}),
    target_type: kind,
    actor_account_id: person,
    status: isDenied ? 'denied' : '',
    limit: PAGE,
    offset,
  });
  const read = useReading(dates.problem === null ? path : null, again, null);
  /** @template T @param {(value: T) => void} set @returns {(value: T) => void} */
  const narrow = (set) => (value) => {
    set(value);
    setOffset(0);
  };
  return div(
    {className: 'usage-page'},
    p({className: 'text-soft'}, t(isForAll ? 'usage.logAll' : 'usage.logOwn')),
    div(
      {className: 'usage-filters', role: 'search', 'aria-label': t('usage.filters')},
      h(SelectField, {label: t('usage.log.kind'), value: kind, onChange: narrow(setKind), options: [{value: '', label: t('usage.log.anyKind')}, ...TARGETS.map((value) => ({value, label: targetName(value)}))]}),
      isForAll ? h(SelectField, {label: t('usage.log.person'), value: person, onChange: narrow(setPerson), options: [{value: '', label: t('usage.log.anyPerson')}, ...[...people].map(([value, label]) => ({value, label}))]}) : null,
      h(RangeFields, {range, onChange: narrow(setRange), problem: dates.problem, hasAll: true}),
      h(CheckField, {label: t('usage.log.denied'), checked: isDenied, onChange: narrow(setDenied)}),
      h(Button, {label: t('usage.refresh'), icon: 'refresh', iconOnly: true, onClick: () => setAgain(again + 1)}),
    ),
    dates.problem !== null
      ? null
      : read === null
        ? h(Waiting)
        : 'error' in read
          ? h(NotRead, null, read.error, ' ', h(Button, {label: t('library.again'), onClick: () => setAgain(again + 1)}))
          : h(Entries, {entries: read.data.data, meta: read.data.meta, people, onPage: setOffset}),
  );
}

/** A kind of thing in words. @param {string | null} target */
function targetName(target) {
  return target === null ? '' : (translated(`usage.target.${target}`) ?? target);
}

/**
 * What was done, in words: those of the action where it has some, else the verb that its name holds.
 * @param {{action: string, target_type: string | null}} entry
 */
export function actionName({action, target_type: target}) {
  const own = translated(`usage.done.${action}`);
  if (own !== null) return own;
  const verb = action.includes('.') ? action.slice(action.lastIndexOf('.') + 1) : action.startsWith('batch_') ? action.split('_')[1] : action.split('_')[0];
  const words = translated(`usage.verb.${verb}`);
  return words === null ? action : t('usage.didWhat', {verb: words, target: targetName(target)});
}

/** @param {{entries: any[], meta: {total: number, offset: number, has_more: boolean}, people: import('./people.js').People, onPage: (offset: number) => void}} props */
function Entries({entries, meta, people, onPage}) {
  if (entries.length === 0) return p({className: 'panel-empty'}, t('usage.log.none'));
  return h(
    Fragment,
    null,
    p({className: 'text-soft', role: 'status'}, t('usage.log.shown', {from: meta.offset + 1, to: meta.offset + entries.length, total: meta.total})),
    ul({className: 'usage-log', 'aria-label': t('usage.page.log')}, entries.map((entry) => h(Entry, {key: entry.id, entry, people}))),
    meta.offset > 0 || meta.has_more
      ? div(
          {className: 'usage-files'},
          h(Button, {label: t('usage.log.newer'), icon: 'arrowLeft', disabled: meta.offset === 0, onClick: () => onPage(Math.max(0, meta.offset - PAGE))}),
          h(Button, {label: t('usage.log.older'), icon: 'arrowRight', disabled: !meta.has_more, onClick: () => onPage(meta.offset + PAGE)}),
        )
      : null,
  );
}

/** @param {{entry: any, people: import('./people.js').People}} props */
function Entry({entry, people}) {
  const account = entry.actor_account_id ?? entry.actor_id;
  const who = people.get(account) ?? account;
  const by = entry.actor_type === 'account' ? who : t(`usage.actor.${entry.actor_type}`, {name: who});
  const facts = FACTS.filter((name) => entry[name] !== null);
  return li(
    null,
    details(
      {className: 'usage-entry'},
      summary(
        null,
        time({dateTime: new Date(entry.created_at).toISOString(), className: 'text-soft'}, moment(entry.created_at)),
        span({className: 'usage-did'}, actionName(entry), entry.target_type === 'account' && entry.target_id !== null ? ` · ${people.get(entry.target_id) ?? entry.target_id}` : ''),
        entry.status === 'denied' ? span({className: 'chip chip-bad'}, t('usage.denied')) : null,
        span({className: 'usage-who'}, by),
      ),
      div(
        {className: 'usage-entry-body'},
        dl(
          {className: 'usage-facts'},
          facts.map((name) => div({key: name}, dt(null, t(`usage.fact.${name}`)), dd(null, code(null, entry[name])))),
          entry.metadata?.route ? div(null, dt(null, t('usage.fact.route')), dd(null, code(null, entry.metadata.route))) : null,
          entry.metadata?.request_fields?.length ? div(null, dt(null, t('usage.fact.fields')), dd(null, code(null, entry.metadata.request_fields.join(', ')))) : null,
        ),
        entry.diff === null ? null : h(Changes, {diff: entry.diff}),
      ),
    ),
  );
}

/** What changed, before and after. Texts that somebody wrote are not in the log. @param {{diff: any}} props */
function Changes({diff}) {
  /** @param {any} change @param {'before' | 'after'} side */
  const cell = (change, side) => (change[`${side}_hash`] === null ? t('usage.changeNothing') : change.redacted ? span({className: 'text-soft'}, t('usage.changeHidden')) : code(null, String(change[`${side}_preview`])));
  return div(
    {className: 'usage-scroll', tabIndex: 0, role: 'region', 'aria-label': t('usage.changes')},
    table(
      {className: 'usage-table'},
      caption({className: 'visually-hidden'}, t('usage.changes')),
      thead(null, tr(null, th({scope: 'col'}, t('usage.changeField')), th({scope: 'col'}, t('usage.changeBefore')), th({scope: 'col'}, t('usage.changeAfter')))),
      tbody(null, diff.changes.map((/** @type {any} */ change) => tr({key: change.path}, th({scope: 'row'}, code(null, change.path.slice(1))), td(null, cell(change, 'before')), td(null, cell(change, 'after'))))),
    ),
    diff.truncated ? p({className: 'text-soft'}, t('usage.changesCut', {n: diff.total_changes})) : null,
  );
}
