/** The dock's "Run": the chat pane beside the run that is shown, and the history of all runs. */
import {h, tags, useLayoutEffect, useRef, useState} from '../h.js';
import {ErrorButton} from '../costs/ErrorButton.js';
import {RunCost} from '../costs/Cost.js';
import {cancelRun, leaveRun, setFollow} from '../state/runs.js';
import {useStore} from '../state/store.js';
import {activeTab} from '../state/tabs.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {CheckField} from '../ui/fields.js';
import {Icon} from '../ui/icons.js';
import {Tablist} from '../ui/tablist.js';
import {Chat} from './Chat.js';
import {runAgain} from './conversation.js';
import {History} from './History.js';
import {NodeIO} from './NodeIO.js';
import {showPage, usePage} from './page.js';
import {clock, duration} from '../state/times.js';
import {Waterfall} from './Waterfall.js';

const {div, p, section, span} = tags;

/** Below this width the chat is a page of its own, in pixels. */
const WIDE = 640;
const ICONS = /** @type {Record<string, string>} */ ({running: 'spinner', finished: 'check', failed: 'error', cancelled: 'stop'});

export function RunPanel() {
  const element = useRef(/** @type {HTMLDivElement | null} */ (null));
  // Nothing is drawn before the width is known: a chat pane that moves would lose the cursor.
  const [isWide, setWide] = useState(/** @type {boolean | null} */ (null));
  useLayoutEffect(() => {
    const node = element.current;
    if (!node) return undefined;
    setWide(node.clientWidth >= WIDE);
    const observer = new ResizeObserver(([entry]) => setWide(entry.contentRect.width >= WIDE));
    observer.observe(node);
    return () => observer.disconnect();
  }, []);
  return div(
    {ref: element, className: 'run-panel'},
    isWide ? section({className: 'run-left', 'aria-label': t('run.talk')}, h(Chat)) : null,
    isWide === null ? null : section({className: 'run-right', 'aria-label': t('run.shown')}, h(Shown, {hasChat: !isWide})),
  );
}

/** @param {{hasChat: boolean}} props */
function Shown({hasChat}) {
  const page = usePage();
  const run = useStore((state) => (state.runs.viewed === null ? null : (state.runs.byId[state.runs.viewed] ?? null)));
  const pages = [...(hasChat ? [{id: 'chat', label: t('run.chat'), icon: 'chat'}] : []), {id: 'timeline', label: t('run.timeline'), icon: 'waterfall'}, {id: 'node', label: t('run.node'), icon: 'node'}, {id: 'history', label: t('run.history'), icon: 'history'}];
  const chosen = hasChat ? page : page === 'chat' ? 'timeline' : page;
  return h(Tablist, {
    label: t('run.shown'),
    className: 'run-tabs',
    tabs: pages,
    value: chosen,
    onChange: showPage,
    aside: hasChat ? null : h(Follow),
    children: div(
      {className: 'run-page'},
      chosen === 'chat'
        ? h(Chat)
        : chosen === 'history'
          ? h(History)
          : run
            ? div({className: 'run-shown'}, h(Head, {run, hasChat}), chosen === 'node' ? h(NodeIO, {run}) : h(Waterfall, {run}))
            : h(NoRun),
    ),
  });
}

function NoRun() {
  return div({className: 'run-empty'}, h(Icon, {name: 'waterfall', size: 22}), p(null, t('run.noRun')));
}

function Follow() {
  const follow = useStore((state) => state.runs.follow);
  return h(CheckField, {label: t('run.follow'), checked: follow, onChange: setFollow, className: 'run-follow'});
}

/** @param {{run: import('../core/doc.js').RunView, hasChat: boolean}} props */
function Head({run, hasChat}) {
  const isReadOnly = useStore((state) => activeTab(state)?.readOnly?.kind === 'run');
  const {summary, state, error, missed} = run;
  const summaryFacts = /** @type {any} */ (summary);
  const tokens = summaryFacts.output_tokens ?? null;
  return div(
    {className: 'run-head'},
    span({className: `run-line-state run-tone-${state}`}, h(Icon, {name: ICONS[state] ?? 'info', size: 14, className: state === 'running' ? 'spin' : ''}), t(`run.runState.${state}`)),
    span({className: 'text-soft'}, [clock(summary.started ?? 0), summary.pipeline_name || summary.pipeline, summary.model, duration(run.duration), tokens === null ? '' : t('run.tokens', {n: tokens})].filter(Boolean).join(' · ')),
    missed > 0 && state === 'running' ? span({className: 'chip chip-warn', title: t('run.missedHint')}, t('run.missed', {n: missed})) : null,
    h(RunCost, {run}),
    error ? span({className: 'run-head-error', title: error.message}, error.message) : null,
    error ? h(ErrorButton, error) : null,
    ...run.warnings.flatMap((warning, index) => (warning.dropped.length ? [span({key: index, className: 'chip chip-warn'}, t('run.dropped', {names: warning.dropped.join(', ')}))] : warning.message ? [span({key: index, className: warning.level === 'info' ? 'chip' : 'chip chip-warn', title: warning.message}, warning.message)] : [])),
    span({className: 'run-space'}),
    hasChat ? h(Follow) : null,
    state === 'running'
      ? h(Button, {label: t('run.stop'), icon: 'stop', onClick: () => void cancelRun(run.id)})
      : h(Button, {label: t('run.again'), icon: 'refresh', iconOnly: true, tone: 'quiet', onClick: () => withTab((tab) => void runAgain(tab, run.id, null))}),
    h(Button, {label: t('run.back'), icon: 'edit', tone: isReadOnly ? 'primary' : 'quiet', onClick: () => void leaveRun()}),
  );
}

/** @param {(tab: import('../state/types.js').Tab) => void} run */
function withTab(run) {
  const tab = activeTab();
  if (tab) run(tab);
}
