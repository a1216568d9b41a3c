/** What one node of a run sent and heard: the request, the words, the whole reply, usage, attempts. */
import {Fragment, h, tags, useMemo} from '../h.js';
import {curlPosix, curlPowerShell} from '../core/curl.js';
import {isObject} from '../core/doc.js';
import {isLinked, textOf} from '../core/runlog.js';
import {nodeIn, splitId} from '../core/walks.js';
import {api} from '../api/client.js';
import {ErrorButton} from '../costs/ErrorButton.js';
import {RunCost} from '../costs/Cost.js';
import {copyText} from '../state/copying.js';
import {notify, notifyFailure} from '../state/notices.js';
import {skipReason} from '../state/portwords.js';
import {scopeIn} from '../state/runs.js';
import {store, useStore} from '../state/store.js';
import {activeTab, goTo, updateTab} from '../state/tabs.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {FailureBox} from '../ui/failure.js';
import {Icon} from '../ui/icons.js';
import {MenuButton} from '../ui/menu.js';
import {runAgain} from './conversation.js';
import {Iterations} from './Iterations.js';
import {Value} from './JsonView.js';
import {ToolCalls} from './ToolCalls.js';
import {duration} from '../state/times.js';
import {preview} from '../state/values.js';

const {button, code, dd, details, div, dl, dt, h3, li, ol, p, pre, span, summary, ul} = tags;

/** @typedef {import('../core/doc.js').RunView} RunView */
/** @typedef {import('../core/doc.js').NodeRun} NodeRun */

/** How much of a long text is drawn at once; the whole is in the reply below. */
const MOST_WORDS = 20_000;

/** @param {{run: RunView}} props */
export function NodeIO({run}) {
  const selected = useStore((state) => activeTab(state)?.selection.nodes[0] ?? null);
  const id = selected ?? run.order.find((one) => run.nodes[one].state === 'failed') ?? run.order.findLast((one) => run.nodes[one].request !== null) ?? run.order.at(-1) ?? null;
  const node = useStore((state) => (id === null ? null : nodeIn(run, selected === null ? '' : scopeIn(state, run), id, state.runs.iterations)));
  if (id === null) return p({className: 'run-empty'}, t('run.nothingHeard'));
  if (!node) return p({className: 'run-empty'}, t('run.notInRun', {node: id}));
  return h(Exchange, {key: `${run.id}/${id}`, run, node});
}

/** What the names in a condition were. @param {{operands: {name: string, value: any, is_missing: boolean}[]}} props */
function Operands({operands}) {
  if (operands.length === 0) return null;
  return ul(
    {className: 'run-remarks', 'aria-label': t('run.operands')},
    operands.map((one) =>
      li({key: one.name}, code(null, one.name), ' = ', one.is_missing ? span({className: 'chip chip-warn'}, t('run.missing')) : code(null, preview(one.value)))),
  );
}

/** @param {{run: RunView, node: NodeRun}} props */
function Exchange({run, node}) {
  const {path, id} = splitId(node.id);
  const title = useStore((state) => activeTab(state)?.history.present.nodes.find((one) => one.id === id)?.title ?? '');
  const isPinned = useStore((state) => Object.hasOwn(activeTab(state)?.pins ?? {}, id));
  const names = useStore((state) => activeTab(state)?.history.present.nodes);
  const skipped = skipReason(node, (one) => names?.find((each) => each.id === one)?.title || one);
  const request = isObject(node.request) && !isLinked(node.request) ? /** @type {any} */ (node.request) : null;
  const out = isObject(node.out) && !isLinked(node.out) ? /** @type {any} */ (node.out) : null;
  const attempts = useMemo(() => [...node.attempts].sort((a, b) => a.number - b.number), [node.attempts]);
  return div(
    {className: 'run-io'},
    div(
      {className: 'run-io-head'},
      button({type: 'button', className: 'run-io-title', onClick: () => goTo({node: id})}, title || id),
      title || path ? span({className: 'run-row-id'}, node.id) : null,
      path ? h(Iterations, {path, run}) : null,
      span({className: `chip ${node.state === 'failed' ? 'chip-bad' : node.state === 'finished' ? 'chip-good' : ''}`}, t(`run.state.${node.state}`)),
      node.started !== null && node.ended !== null ? span({className: 'text-soft'}, duration(node.ended - node.started)) : null,
      span({className: 'run-space'}),
      node.request !== null
        ? h(MenuButton, {
            label: t('run.copyCurl'),
            icon: 'curl',
            tone: 'plain',
            items: () => [
              {label: t('run.curlPosix'), run: () => void copyCurl(node, curlPosix)},
              {label: t('run.curlPowerShell'), run: () => void copyCurl(node, curlPowerShell)},
            ],
          })
        : null,
      // What runs many times in a run, or within another pipeline, has no one OUT that could stand for it.
      path !== '' ? span({className: 'text-soft', id: 'run-io-inner'}, t('run.innerHint')) : null,
      h(Button, {
        label: isPinned ? t('run.unpin') : t('run.pin'),
        icon: 'pin',
        pressed: isPinned,
        disabled: path !== '' || (!isPinned && node.out === undefined),
        rest: {'aria-describedby': path === '' ? undefined : 'run-io-inner'},
        onClick: () => void (isPinned ? unpin(node.id) : pin(node)),
      }),
      h(Button, {label: t('run.runFromHere'), icon: 'forward', disabled: path !== '' || run.state === 'running', rest: {'aria-describedby': path === '' ? undefined : 'run-io-inner'}, onClick: () => void again(run.id, node.id)}),
    ),
    node.error
      ? h(FailureBox, {role: 'note'}, p(null, node.error.message), p({className: 'text-soft'}, node.error.code), h(ErrorButton, node.error))
      : null,
    skipped ? p({className: 'text-soft'}, skipped) : null,
    Array.isArray(out?.operands) ? h(Operands, {operands: out.operands}) : null,
    div(
      {className: 'run-io-columns'},
      node.request !== null
        ? div(
            {className: 'run-io-column'},
            h3(null, t('run.request')),
            request ? h(RequestLine, {request}) : null,
            request ? h(Headers, {headers: request.headers ?? {}}) : null,
            h(Value, {label: t('run.requestBody'), value: request ? request.body : node.request}),
          )
        : null,
      div(
        {className: 'run-io-column'},
        h3(null, t('run.reply')),
        h(Words, {node, out}),
        out?.usage ? h(Usage, {usage: out.usage}) : null,
        h(RunCost, {run, node: node.id}),
        Array.isArray(out?.tool_calls) && out.tool_calls.length > 0
          ? h(Fragment, null, h3(null, t('run.toolCalls')), h(Value, {label: t('run.toolCalls'), value: out.tool_calls}))
          : null,
        node.tools.length > 0 ? h(ToolCalls, {calls: node.tools}) : null,
        attempts.length > 0 ? h(Attempts, {attempts}) : null,
        node.out !== undefined ? details({className: 'run-more', open: !node.text}, summary(null, t('run.out')), h(Value, {label: t('run.out'), value: node.out})) : null,
      ),
    ),
  );
}

/** @param {{request: any}} props */
function RequestLine({request}) {
  return p({className: 'run-url'}, span({className: 'run-method'}, String(request.method ?? '')), ' ', String(request.url ?? ''));
}

/** @param {{headers: Record<string, unknown>}} props */
export function Headers({headers}) {
  const all = Object.entries(headers);
  if (all.length === 0) return null;
  return details(
    {className: 'run-more'},
    summary(null, t('run.headers', {n: all.length})),
    dl({className: 'run-headers'}, ...all.map(([name, value]) => div({key: name}, dt(null, name), dd(null, String(value))))),
  );
}

/** What the node said. @param {{node: NodeRun, out: any}} props */
function Words({node, out}) {
  const text = (typeof out?.response_text === 'string' && node.state !== 'running' ? out.response_text : '') || textOf(node);
  if (text === '') return node.state === 'running' ? p({className: 'text-soft'}, t('run.waiting')) : null;
  return pre({className: 'run-words', tabIndex: 0, role: 'group', 'aria-label': t('run.reply')}, text.length > MOST_WORDS ? `${text.slice(0, MOST_WORDS)}…` : text);
}

/** @param {{usage: any}} props */
function Usage({usage}) {
  const all = Object.entries(usage).filter(([, value]) => typeof value === 'number');
  if (all.length === 0) return null;
  return dl(
    {className: 'run-facts', 'aria-label': t('run.usage')},
    ...all.map(([name, value]) => div({key: name}, dt(null, t(`run.usage.${name}`) === `run.usage.${name}` ? name.replaceAll('_', ' ') : t(`run.usage.${name}`)), dd(null, String(value)))),
  );
}

/** @param {{attempts: import('../core/doc.js').Attempt[]}} props */
function Attempts({attempts}) {
  return h(
    Fragment,
    null,
    h3(null, t('run.attempts', {n: attempts.length})),
    ol(
      {className: 'run-attempts'},
      ...attempts.map((attempt) =>
        li(
          {key: attempt.number},
          [attempt.host, attempt.status === null ? null : t('run.status', {status: attempt.status}), attempt.error, attempt.first_byte_ms === null || attempt.started_ms === null ? null : t('run.firstByte', {time: duration(attempt.first_byte_ms - attempt.started_ms)}), attempt.wait_s ? t('run.waited', {time: duration(attempt.wait_s * 1000)}) : null]
            .filter(Boolean)
            .join(' · '),
        ),
      ),
    ),
  );
}

/**
 * Data that may have come as its beginning and a link.
 * @param {any} data
 * @returns {Promise<any>}
 */
async function whole(data) {
  return isLinked(data) ? (await api.get(data.link)).body.data : data;
}

/** @param {NodeRun} node @param {(request: any) => string} write */
async function copyCurl(node, write) {
  try {
    await copyText(write(await whole(node.request)));
  } catch (error) {
    notifyFailure(error);
  }
}

/** Let later tries use what the node gave, without running it. @param {NodeRun} node */
async function pin(node) {
  const tab = activeTab();
  if (!tab) return;
  try {
    const out = await whole(node.out);
    updateTab(tab.key, (now) => ({pins: {...now.pins, [node.id]: out}}));
    notify('info', 'run.pinned', {node: node.id});
  } catch (error) {
    notifyFailure(error);
  }
}

/** @param {string} id */
function unpin(id) {
  const tab = activeTab();
  if (tab) updateTab(tab.key, ({pins}) => ({pins: Object.fromEntries(Object.entries(pins).filter(([one]) => one !== id))}));
}

/** @param {string} run @param {string} node */
async function again(run, node) {
  const tab = activeTab(store.get());
  if (tab) await runAgain(tab, run, node);
}
