/** When each node of a run worked, and on what: waiting, connecting, until the first word, and while words came. */
import {classes, h, tags, useEffect, useMemo, useState} from '../h.js';
import {waterfall} from '../core/runlog.js';
import {nodeIn, placeOf, scopeOf, splitId} from '../core/walks.js';
import {skipReason} from '../state/portwords.js';
import {scopeIn} from '../state/runs.js';
import {useStore} from '../state/store.js';
import {activeTab, docOf, select} from '../state/tabs.js';
import {t} from '../words.js';
import {Icon} from '../ui/icons.js';
import {duration} from '../state/times.js';
import {Choice} from './Iterations.js';

const {button, caption, div, dd, dl, dt, span, table, tbody, td, th, thead, tr} = tags;

/** @typedef {import('../core/doc.js').RunView} RunView */
/** @typedef {import('../core/doc.js').WaterfallRow} Row */

const PHASES = /** @type {const} */ (['queue', 'connect', 'firstToken', 'stream']);
const STATE_ICONS = /** @type {Record<string, string>} */ ({running: 'spinner', finished: 'check', failed: 'error', stopped: 'stop'});
const TICKS = 2;
/** How often the bars of a run that is silent grow, in milliseconds. */
const STEP_MS = 200;

/** @param {{run: RunView}} props */
export function Waterfall({run}) {
  const selected = useStore((state) => activeTab(state)?.selection.nodes[0] ?? null);
  const [pointed, setPointed] = useState(/** @type {string | null} */ (null));
  const now = useNow(run);
  const tabs = useStore((state) => state.tabs);
  const front = useStore((state) => state.activeTab);
  const labels = useMemo(() => labelsOf(tabs, front, run), [tabs, front, run.id]);
  const [open, setOpen] = useState(/** @type {ReadonlySet<string>} */ (new Set()));
  const chosen = useStore((state) => state.runs.iterations);
  const scope = useStore((state) => scopeIn(state, run));
  const rows = useMemo(() => waterfall(run.duration === null ? {...run, at: Math.max(run.at, now)} : run, labels, {open, chosen}), [run, labels, now, open, chosen]);
  /** @param {string} holder */
  const toggle = (holder) => setOpen(open.has(holder) ? new Set([...open].filter((one) => one !== holder)) : new Set([...open, holder]));
  const end = Math.max(1, run.duration ?? 0, now, ...rows.map((row) => row.end));
  const skipped = run.order.map((id) => run.nodes[id]).filter((node) => !node.id.includes('/') && (node.state === 'skipped' || node.state === 'pinned'));
  const inFront = selected === null ? null : (nodeIn(run, scope, selected, chosen)?.id ?? null);
  const shown = rows.find((row) => row.node === (pointed ?? inFront));
  return div(
    {className: 'run-waterfall'},
    div(
      {className: 'run-waterfall-scroll', tabIndex: 0, role: 'region', 'aria-label': t('run.timeline')},
      table(
        {className: 'run-bars'},
        caption({className: 'visually-hidden'}, t('run.timelineCaption')),
        thead(
          null,
          tr(
            null,
            th({scope: 'col'}, t('run.node')),
            th(
              {scope: 'col', className: 'run-scale'},
              span({className: 'visually-hidden'}, t('run.phases')),
              ...Array.from({length: TICKS + 1}, (_, tick) =>
                span({className: 'run-tick', 'aria-hidden': true, style: {left: `${(tick / TICKS) * 100}%`}}, duration((end * tick) / TICKS)),
              ),
            ),
            th({scope: 'col', className: 'run-took'}, t('run.took')),
          ),
        ),
        tbody(
          null,
          rows.map((row) => h(Bar, {key: row.node, row, end, isSelected: row.node === inFront, isOpen: open.has(row.node), scope, onToggle: toggle, onPoint: setPointed})),
          skipped.map((node) =>
            tr(
              {key: node.id, className: 'run-row-skipped'},
              th({scope: 'row'}, h(Name, {id: node.id, label: labels[node.id] ?? node.id, icon: node.state === 'pinned' ? 'pin' : 'skip', state: node.state})),
              td({colSpan: 2}, skipReason(node, (id) => labels[id] ?? id) || t(`run.state.${node.state}`)),
            ),
          ),
        ),
      ),
    ),
    h(Legend, {}),
    div({className: 'run-details'}, shown ? h(Details, {row: shown}) : null),
  );
}

/**
 * What nodes are called: those of the document in front, and of those on the way to it that call each other.
 * @param {import('../state/types.js').Tab[]} tabs
 * @param {string | null} front
 * @param {RunView} run
 */
function labelsOf(tabs, front, run) {
  /** @type {{[place: string]: string}} */
  const labels = {};
  const seen = new Set();
  for (let tab = tabs.find((one) => one.key === front); tab && !seen.has(tab.key); ) {
    seen.add(tab.key);
    const {within} = tab;
    const scope = within?.run === run.id ? within.path : '';
    for (const node of docOf(tab).nodes) labels[placeOf(scope, node.id)] = node.title || node.id;
    tab = scope === '' ? undefined : tabs.find((one) => one.key === within?.tab);
  }
  return labels;
}

/** The run's clock while it goes on, in steps. @param {RunView} run */
function useNow(run) {
  const [now, setNow] = useState(0);
  const isRunning = run.state === 'running';
  const started = run.summary.started ?? 0;
  useEffect(() => {
    setNow(0);
    if (!isRunning) return undefined;
    // The server's clock may be another one: the bars grow from the last event on.
    const begun = performance.now();
    const from = run.at;
    const timer = setInterval(() => setNow(from + performance.now() - begun), STEP_MS);
    return () => clearInterval(timer);
  }, [isRunning, started]);
  return now;
}

/**
 * @param {{row: Row, end: number, isSelected: boolean, isOpen: boolean, scope: string, onToggle: (holder: string) => void, onPoint: (node: string | null) => void}} props
 *   `scope`: the path of the document in front within the run
 */
function Bar({row, end, isSelected, isOpen, scope, onToggle, onPoint}) {
  /** @param {{from: number, to: number}} span */
  const place = ({from, to}) => ({left: `${(from / end) * 100}%`, width: `${Math.max(0, ((to - from) / end) * 100)}%`});
  const isLocal = PHASES.every((phase) => phase === 'queue' || row[phase] === null);
  return tr(
    {
      className: classes('run-row', isSelected && 'run-row-selected', row.state === 'failed' && 'run-row-failed'),
      'data-t': `bar-${row.node}`,
      onMouseEnter: () => onPoint(row.node),
      onMouseLeave: () => onPoint(null),
      onFocus: () => onPoint(row.node),
      onBlur: () => onPoint(null),
      onClick: () => selectRow(row.node, scope),
      'data-depth': row.depth || undefined,
    },
    th(
      {scope: 'row'},
      row.walk ? h(Fold, {row, walk: row.walk, isOpen, onToggle}) : null,
      h(Name, {id: row.node, label: row.label, icon: STATE_ICONS[row.state] ?? 'info', state: row.state, scope}),
      row.walk?.iterations.length ? h(Walk, {walk: row.walk, isOpen}) : null,
    ),
    td(
      {className: 'run-track'},
      span({className: 'visually-hidden'}, spoken(row)),
      div(
        {className: 'run-bar-area', 'aria-hidden': true},
        span({className: classes('run-bar', isLocal && 'run-bar-local', row.state === 'running' && 'run-bar-running'), style: place({from: row.start, to: row.end})}),
        row.attempts.slice(0, -1).map((attempt) => span({key: attempt.number, className: 'run-bar run-bar-attempt', style: place({from: attempt.start, to: attempt.end})})),
        row.tools.map((each) => span({key: each.id, className: 'run-bar run-bar-tool', style: place(each)})),
        PHASES.map((phase) => {
          const part = row[phase];
          return part && !(isLocal && phase === 'queue') ? span({key: phase, className: `run-bar run-bar-${phase}`, style: place(part)}) : null;
        }),
      ),
    ),
    td({className: 'run-took'}, duration(row.end - row.start), row.attempts.length > 1 ? span({className: 'chip chip-warn'}, `×${row.attempts.length}`) : null),
  );
}

/**
 * Show a node of a run: its iteration, and the node of the document in front.
 * @param {string} full its id in the run
 * @param {string} scope
 */
function selectRow(full, scope) {
  const {path, id} = splitId(full);
  if (!path.startsWith(scope) || scopeOf(path) !== scope) return;
  select({nodes: [id]});
}

/** Opens and folds what ran within a node. @param {{row: Row, walk: NonNullable<Row['walk']>, isOpen: boolean, onToggle: (holder: string) => void}} props */
function Fold({row, walk, isOpen, onToggle}) {
  return button(
    {
      type: 'button',
      className: 'button button-quiet button-icon run-fold',
      'aria-expanded': isOpen,
      'aria-label': t(isOpen ? 'run.fold' : 'run.unfold', {node: row.label}),
      onClick: (event) => {
        event.stopPropagation();
        onToggle(walk.holder);
      },
    },
    h(Icon, {name: isOpen ? 'chevronDown' : 'chevronRight', size: 14}),
  );
}

/** The iterations of a loop: how many, and where it is open, which one follows. @param {{walk: NonNullable<Row['walk']>, isOpen: boolean}} props */
function Walk({walk, isOpen}) {
  if (!isOpen || walk.shown === null) return span({className: 'run-row-id'}, t('run.iterations', {n: walk.iterations.at(-1) ?? 0}));
  return h(Choice, {holder: walk.holder, iterations: walk.iterations, shown: walk.shown});
}

/** @param {{id: string, label: string, icon: string, state: string, scope?: string}} props */
function Name({id, label, icon, state, scope = ''}) {
  return button(
    {
      type: 'button',
      className: 'run-row-name',
      onClick: () => selectRow(id, scope),
      onKeyDown: (event) => {
        const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
        if (step === 0) return;
        event.preventDefault();
        const all = /** @type {HTMLElement[]} */ ([...(event.currentTarget.closest('tbody')?.querySelectorAll('.run-row-name') ?? [])]);
        all[all.indexOf(event.currentTarget) + step]?.focus();
      },
    },
    h(Icon, {name: icon, size: 12, className: classes(`run-tone-${state}`, state === 'running' && 'spin')}),
    span({className: 'run-row-label'}, label),
    label === splitId(id).id ? null : span({className: 'run-row-id'}, splitId(id).id),
    span({className: 'visually-hidden'}, t(`run.state.${state}`)),
  );
}

/** The phases of a row in words. @param {Row} row */
function spoken(row) {
  const parts = PHASES.flatMap((phase) => {
    const part = row[phase];
    return part ? [`${t(`run.phase.${phase}`)} ${duration(part.to - part.from)}`] : [];
  });
  if (row.attempts.length > 1) parts.push(t('run.attempts', {n: row.attempts.length}));
  return parts.join(', ');
}

function Legend() {
  return div(
    {className: 'run-legend', 'aria-hidden': true},
    PHASES.map((phase) => span({key: phase}, span({className: `run-key run-bar-${phase}`}), t(`run.phase.${phase}`))),
  );
}

/** @param {{row: Row}} props */
function Details({row}) {
  return dl(
    {className: 'run-facts'},
    fact(t('run.node'), row.label),
    fact(t('run.starts'), duration(row.start)),
    ...PHASES.flatMap((phase) => {
      const part = row[phase];
      return part ? [fact(t(`run.phase.${phase}`), duration(part.to - part.from))] : [];
    }),
    ...(row.attempts.length > 1 || row.attempts.some((attempt) => attempt.error)
      ? row.attempts.map((attempt) => fact(t('run.attempt', {n: attempt.number}), [duration(attempt.end - attempt.start), attempt.status, attempt.error].filter(Boolean).join(' · ')))
      : []),
  );
}

/** @param {string} name @param {string} value */
function fact(name, value) {
  return div({key: name}, dt(null, name), dd(null, value));
}
