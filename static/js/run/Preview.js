/** The dock's "Preview": the exact request that the selected node would send, rendered by the server, and where its pieces came from. */
import {classes, Fragment, h, tags, useEffect, useMemo, useRef, useState} from '../h.js';
import {api, ApiFailure} from '../api/client.js';
import {CodeField} from '../code/Field.js';
import {curlPosix, curlPowerShell} from '../core/curl.js';
import {isObject, nodeById} from '../core/doc.js';
import {answerOf, upstream} from '../core/graph.js';
import {provenance, varies} from '../core/provenance.js';
import {outsOf} from '../core/runlog.js';
import {copyText} from '../state/copying.js';
import {ask, askText} from '../state/dialogs.js';
import {notifyFailure} from '../state/notices.js';
import {mayChange} from '../state/rights.js';
import {store, useStore} from '../state/store.js';
import {requestOf} from '../state/session.js';
import {activeTab, goTo, select, updateTab} from '../state/tabs.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {SelectField, TextField} from '../ui/fields.js';
import {FailureBox} from '../ui/failure.js';
import {Icon} from '../ui/icons.js';
import {MenuButton} from '../ui/menu.js';
import {runAgain, send} from './conversation.js';
import {kindOf, Marked, Value} from './JsonView.js';
import {Headers} from './NodeIO.js';
import {capturedSample, removeSample, savedSamples, saveSample} from './samples.js';
import {clock, size} from '../state/times.js';

const {button, div, h2, li, p, section, span, ul} = tags;

/** @typedef {import('../state/types.js').Sample} Sample */
/** @typedef {import('../state/types.js').Tab} Tab */

/**
 * What POST /api/preview answered, or why it did not.
 * @typedef {object} Found
 * @property {string} node
 * @property {any} answer null before the first
 * @property {ApiFailure | null} failure
 */

const DELAY_MS = 400;
/** How many runs can be chosen to take a request from. */
const MOST_CAPTURED = 30;

export function Preview() {
  const key = useStore((state) => state.activeTab);
  return key === null ? p({className: 'run-empty'}, t('run.noDocument')) : h(PreviewOfTab, {key, tab: key});
}

/** @param {{tab: string}} props */
function PreviewOfTab({tab: key}) {
  const doc = useStore((state) => activeTab(state)?.history.present ?? null);
  const selected = useStore((state) => activeTab(state)?.selection.nodes[0] ?? null);
  const sample = useStore((state) => activeTab(state)?.sample ?? null);
  const [again, setAgain] = useState(0);
  const node = doc && selected !== null && nodeById(doc, selected) ? selected : doc ? (answerOf(doc) ?? doc.nodes.at(-1)?.id ?? null) : null;
  const {found, isWorking} = useFound(node, again);
  if (!doc || !sample) return null;
  return div(
    {className: 'run-preview'},
    section({className: 'run-preview-left', 'aria-label': t('run.sample')}, h(SamplePicker, {tab: key, sample})),
    section(
      {className: 'run-preview-right', 'aria-label': t('run.preview')},
      node === null
        ? p({className: 'run-empty'}, t('run.noNodes'))
        : h(
            Fragment,
            null,
            h(NodeLine, {node, doc, isWorking, again: () => setAgain(again + 1), answer: found?.node === node ? found.answer : null}),
            found?.node === node
              ? found.failure
                ? h(Refusal, {failure: found.failure})
                : h(Rendered, {found, isOld: isWorking})
              : p({className: 'run-empty'}, t('app.loading')),
          ),
    ),
  );
}

/**
 * The preview of a node, made anew when the typing rests.
 * @param {string | null} node
 * @param {number} again changes when it is wanted anew
 * @returns {{found: Found | null, isWorking: boolean}}
 */
function useFound(node, again) {
  const doc = useStore((state) => activeTab(state)?.history.present ?? null);
  const id = useStore((state) => activeTab(state)?.id ?? null);
  const sample = useStore((state) => activeTab(state)?.sample ?? null);
  const pins = useStore((state) => activeTab(state)?.pins ?? null);
  const lastRun = useStore((state) => {
    const run = state.runs.byId[activeTab(state)?.lastRun ?? ''];
    return run && run.state !== 'running' ? run : null;
  });
  // Another chat has other variables, and so have these after a turn.
  const names = useStore((state) => state.session.names);
  const [found, setFound] = useState(/** @type {Found | null} */ (null));
  const [isWorking, setWorking] = useState(false);
  useEffect(() => {
    if (node === null || !doc || !sample) return undefined;
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      setWorking(true);
      try {
        const {body} = await api.send('POST', '/api/preview', {node, ...(mayChange(id) || id === null ? {document: doc} : {pipeline: id}), ...requestOf(sample), out: {...(lastRun ? outsOf(lastRun) : {}), ...pins}}, {signal: stop.signal});
        setFound({node, answer: body, failure: null});
      } catch (error) {
        if (stop.signal.aborted) return;
        if (error instanceof ApiFailure) setFound({node, answer: null, failure: error});
        else notifyFailure(error);
      }
      setWorking(false);
    }, DELAY_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [node, doc, sample, pins, lastRun, names, again]);
  return {found, isWorking};
}

/** @param {{node: string, doc: import('../core/doc.js').Pipeline, isWorking: boolean, again: () => void, answer: any}} props */
function NodeLine({node, doc, isWorking, again, answer}) {
  const request = isObject(answer?.preview) && typeof answer.preview.url === 'string' ? /** @type {any} */ (answer.preview) : null;
  const before = [...upstream(doc, node), node].map((id) => nodeById(doc, id)?.config);
  return div(
    {className: 'run-head'},
    h(SelectField, {
      label: t('run.node'),
      hideLabel: true,
      value: node,
      onChange: (id) => select({nodes: [id]}),
      options: doc.nodes.map((one) => ({value: one.id, label: one.title ? `${one.title} (${one.id})` : one.id})),
    }),
    answer ? span({className: 'chip'}, size(answer.bytes)) : null,
    typeof answer?.tokens === 'number' ? span({className: 'chip', title: t('run.tokensHint')}, t('run.tokensAbout', {n: answer.tokens})) : null,
    varies(before) ? span({className: 'chip chip-warn', title: t('run.variesHint')}, h(Icon, {name: 'refresh', size: 12}), t('run.varies')) : null,
    span({className: 'run-space'}),
    isWorking ? span({className: 'text-soft'}, h(Icon, {name: 'spinner', className: 'spin', size: 14}), span({className: 'visually-hidden'}, t('app.loading'))) : null,
    h(Button, {label: t('run.renderAgain'), icon: 'refresh', iconOnly: true, tone: 'quiet', onClick: again}),
    request
      ? h(MenuButton, {
          label: t('run.copyCurl'),
          icon: 'curl',
          iconOnly: true,
          items: () => [
            {label: t('run.curlPosix'), run: () => void copyText(curlPosix(request))},
            {label: t('run.curlPowerShell'), run: () => void copyText(curlPowerShell(request))},
          ],
        })
      : null,
  );
}

/** @param {{found: Found, isOld: boolean}} props */
function Rendered({found, isOld}) {
  const {answer, node} = found;
  const {preview, trace, missing, warnings, empty} = answer;
  const marks = useMemo(() => provenance(isObject(preview) ? preview : {}, trace, node), [preview, trace, node]);
  const dropped = Array.isArray(preview?.dropped) ? preview.dropped : [];
  const isRequest = isObject(preview) && typeof preview.url === 'string';
  return div(
    {className: classes('run-rendered', isOld && 'run-rendered-old')},
    missing.length > 0 ? h(Missing, {missing}) : null,
    warnings.length + dropped.length + empty.length > 0
      ? ul(
          {className: 'run-remarks'},
          ...warnings.map((/** @type {string} */ text) => li({key: text}, h(Icon, {name: 'warning', size: 12, className: 'text-warn'}), text)),
          dropped.length ? li(null, h(Icon, {name: 'warning', size: 12, className: 'text-warn'}), t('run.dropped', {names: dropped.join(', ')})) : null,
          ...empty.map((/** @type {{field: string, macro: string}} */ one) =>
            li(
              {key: `${one.field} ${one.macro}`},
              h(Icon, {name: 'info', size: 12}),
              button({type: 'button', className: 'run-link', onClick: () => goTo({node, field: one.field})}, t('run.emptyMacro', one)),
            ),
          ),
        )
      : null,
    isRequest
      ? h(
          Fragment,
          null,
          p({className: 'run-url'}, span({className: 'run-method'}, String(preview.method)), ' ', h(Marked, {text: String(preview.url), marks: marks.get('url') ?? []})),
          h(Headers, {headers: /** @type {Record<string, unknown>} */ (preview.headers ?? {})}),
          h(Value, {key: 'body', label: t('run.requestBody'), value: preview.body, marks, root: 'body'}),
        )
      : h(Value, {key: 'value', label: t('run.preview'), value: preview}),
    h(Legend, {marks}),
  );
}

/** Which macros gave something, in the colours of the marks. @param {{marks: Map<string, import('../core/provenance.js').Mark[]>}} props */
function Legend({marks}) {
  const all = new Map([...marks.values()].flat().map((mark) => [`${mark.field} ${mark.macro}`, mark]));
  if (all.size === 0) return null;
  return section(
    {className: 'run-origins', 'aria-label': t('run.origins')},
    h2(null, t('run.origins')),
    ul(
      null,
      ...[...all].map(([key, mark]) =>
        li(
          {key},
          button({type: 'button', className: `run-mark run-mark-${kindOf(mark.macro)}`, onClick: () => goTo({node: mark.node, field: mark.field})}, mark.macro),
          span({className: 'text-soft'}, ' ', mark.field),
        ),
      ),
    ),
  );
}

/** Nodes before this one whose results nobody knows: run them once, or pin something. @param {{missing: string[]}} props */
function Missing({missing}) {
  return div(
    {className: 'run-missing', role: 'note'},
    h(Icon, {name: 'info'}),
    div(
      null,
      p(null, t('run.missingNodes', {n: missing.length}), ' ', ...missing.flatMap((id, index) => [index ? ', ' : '', button({key: id, type: 'button', className: 'run-link', onClick: () => select({nodes: [id]})}, id)])),
      div(
        {className: 'run-missing-actions'},
        h(Button, {label: t('run.runOnce'), icon: 'play', onClick: () => void runOnce()}),
        h(Button, {label: t('run.pinSomething'), icon: 'pin', onClick: () => void pinByHand(missing[0])}),
      ),
    ),
  );
}

/** Run the pipeline on the sample, so that every node has given something. */
async function runOnce() {
  const tab = activeTab();
  if (!tab) return;
  if (tab.sample.kind === 'captured' && tab.sample.runId !== null) return runAgain(tab, tab.sample.runId, null);
  const {body} = tab.sample.request;
  const last = [body?.messages, body?.contents].find(Array.isArray)?.at(-1);
  const text = typeof last?.content === 'string' ? last.content : (last?.parts?.[0]?.text ?? t('app.sampleMessage'));
  return send(tab, text);
}

/** @param {string} node */
async function pinByHand(node) {
  const text = await askText({title: t('run.pinTitle', {node}), label: t('run.pinLabel'), confirm: t('run.pin')});
  const tab = activeTab();
  if (text !== null && tab) updateTab(tab.key, ({pins}) => ({pins: {...pins, [node]: {response_text: text}}}));
}

/** @param {{failure: ApiFailure}} props */
function Refusal({failure}) {
  /** @type {any[]} */
  const problems = Array.isArray(failure.details?.problems) ? failure.details.problems : [];
  const node = failure.details?.node ?? null;
  return h(
    FailureBox,
    null,
    p(null, failure.message),
    problems.length > 0
      ? ul(
          {className: 'run-remarks'},
          ...problems.map((one, index) =>
            li(
              {key: index},
              one.node === null || one.node === undefined
                ? one.message
                : button({type: 'button', className: 'run-link', onClick: () => goTo(one)}, [one.node, one.field, one.line ? t('run.line', {n: one.line}) : ''].filter(Boolean).join(' · '), ': ', one.message),
            ),
          ),
        )
      : node !== null
        ? button({type: 'button', className: 'run-link', onClick: () => goTo({node})}, t('run.goToNode', {node}))
        : null,
  );
}

/** @param {{tab: string, sample: Sample}} props */
function SamplePicker({tab, sample}) {
  const runs = useStore((state) => state.runs.list);
  const [saved, setSaved] = useState(/** @type {Sample[]} */ ([]));
  const refresh = () => void savedSamples().then(setSaved, notifyFailure);
  useEffect(refresh, []);
  /** @param {Sample} next */
  const use = (next) => updateTab(tab, {sample: next});
  const value = sample.kind === 'saved' ? `saved:${sample.name}` : sample.kind === 'captured' ? `run:${sample.runId}` : 'written';
  const captured = runs.slice(0, MOST_CAPTURED).map((run) => ({value: `run:${run.id}`, label: [clock(run.started), run.model, run.client].filter(Boolean).join(' · ')}));
  if (sample.kind === 'captured' && !captured.some((one) => one.value === value)) captured.unshift({value, label: sample.name});
  return div(
    {className: 'run-sample'},
    h(SelectField, {
      label: t('run.sample'),
      value,
      onChange: (chosen) => void choose(chosen, saved, sample, use),
      options: [
        {value: 'written', label: t('run.sampleWritten')},
        ...saved.map((one) => ({value: `saved:${one.name}`, label: t('run.sampleSaved', {name: one.name})})),
        ...captured.map((one) => ({...one, label: t('run.sampleRun', {run: one.label})})),
      ],
    }),
    div(
      {className: 'run-sample-actions'},
      h(Button, {
        label: t('run.saveSample'),
        icon: 'disk',
        tone: 'quiet',
        onClick: async () => {
          const name = await askText({title: t('run.saveSample'), label: t('run.sampleName'), value: sample.kind === 'saved' ? sample.name : '', confirm: t('app.save'), check: (text) => (text.trim() ? null : t('run.sampleNameWanted'))});
          if (name === null) return;
          await saveSample(name.trim(), sample.request);
          use({kind: 'saved', name: name.trim(), runId: null, request: sample.request});
          refresh();
        },
      }),
      sample.kind === 'saved'
        ? h(Button, {
            label: t('run.removeSample'),
            icon: 'trash',
            tone: 'quiet',
            onClick: async () => {
              const answer = await ask({title: t('run.removeSample'), text: t('run.removeSampleText', {name: sample.name}), choices: [{id: 'remove', label: t('run.removeSample'), tone: 'danger'}]});
              if (answer !== 'remove') return;
              await removeSample(sample.name);
              use({...sample, kind: 'written', name: ''});
              refresh();
            },
          })
        : null,
    ),
    sample.kind === 'captured' ? p({className: 'field-hint'}, t('run.capturedHint')) : null,
    h(RequestFields, {key: `${value}`, sample, use}),
  );
}

/**
 * @param {string} chosen
 * @param {Sample[]} saved
 * @param {Sample} now
 * @param {(sample: Sample) => void} use
 */
async function choose(chosen, saved, now, use) {
  if (chosen === 'written') return use({kind: 'written', name: t('run.sampleOwn'), runId: null, request: now.request});
  if (chosen.startsWith('saved:')) {
    const one = saved.find((sample) => sample.name === chosen.slice('saved:'.length));
    return one && use(one);
  }
  const id = chosen.slice('run:'.length);
  const run = store.get().runs.list.find((line) => line.id === id);
  try {
    return use(await capturedSample(id, run ? clock(run.started) : id));
  } catch (error) {
    return notifyFailure(error);
  }
}

/** The request by hand; a captured one that is changed becomes a written one. @param {{sample: Sample, use: (sample: Sample) => void}} props */
function RequestFields({sample, use}) {
  const {method, path, headers, body} = sample.request;
  const [bodyText, setBodyText] = useState(() => JSON.stringify(body, null, 2) ?? '');
  const [headerText, setHeaderText] = useState(() => linesOf(headers));
  const [error, setError] = useState(/** @type {string | null} */ (null));
  const handed = useRef(sample.request);
  useEffect(() => {
    if (sample.request === handed.current) return;
    // The chat pane said something: its request is the sample until somebody writes one.
    handed.current = sample.request;
    setBodyText(JSON.stringify(sample.request.body, null, 2) ?? '');
    setHeaderText(linesOf(sample.request.headers));
    setError(null);
  }, [sample.request]);
  /** @param {Partial<Sample['request']>} patch */
  const change = (patch) => {
    handed.current = {...sample.request, ...patch};
    const name = sample.kind === 'saved' ? sample.name : t('run.sampleOwn');
    if (sample.kind === 'saved') void saveSample(sample.name, {...sample.request, ...patch}).catch(notifyFailure);
    use({kind: sample.kind === 'saved' ? 'saved' : 'written', name, runId: null, request: handed.current});
  };
  const isLocked = sample.kind === 'captured';
  return div(
    {className: 'run-request'},
    div(
      {className: 'run-request-line'},
      h(SelectField, {label: t('run.method'), value: method, disabled: isLocked, onChange: (next) => change({method: next}), options: ['POST', 'GET', 'PUT', 'DELETE'].map((one) => ({value: one, label: one}))}),
      h(TextField, {label: t('run.path'), value: path, mono: true, disabled: isLocked, onChange: (next) => change({path: next})}),
    ),
    h(TextField, {
      label: t('run.headerLines'),
      hint: t('run.headerHint'),
      value: headerText,
      rows: 2,
      mono: true,
      disabled: isLocked,
      onChange: (text) => {
        setHeaderText(text);
        change({headers: headersOf(text)});
      },
    }),
    h(CodeField, {
      label: t('run.body'),
      value: bodyText,
      language: 'json',
      node: null,
      lines: 6,
      maxLines: 20,
      error,
      readOnly: isLocked,
      onChange: (text) => {
        setBodyText(text);
        const parsed = readBody(text);
        setError(parsed.error);
        if (parsed.error === null) change({body: parsed.body});
      },
    }),
    isLocked ? h(Button, {label: t('run.editCopy'), icon: 'edit', onClick: () => change({})}) : null,
  );
}

/** @param {Record<string, string>} headers */
function linesOf(headers) {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

/** @param {string} text @returns {Record<string, string>} */
function headersOf(text) {
  return Object.fromEntries(
    text.split('\n').flatMap((line) => {
      const colon = line.indexOf(':');
      return colon > 0 ? [[line.slice(0, colon).trim(), line.slice(colon + 1).trim()]] : [];
    }),
  );
}

/** @param {string} text */
function readBody(text) {
  if (text.trim() === '') return {body: null, error: null};
  try {
    return {body: JSON.parse(text), error: null};
  } catch (error) {
    return {body: null, error: t('run.notJson', {message: error instanceof Error ? error.message : ''})};
  }
}
