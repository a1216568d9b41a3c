/** The pipeline itself: its name, what answers, where keys would go, and how clients reach it. */
import {h, tags, useId} from '../h.js';
import {setAnswer, setDocument} from '../core/commands.js';
import {isEnabled} from '../core/doc.js';
import {answerOf, answersOf} from '../core/graph.js';
import {copyText} from '../state/copying.js';
import {shallow, useStore} from '../state/store.js';
import {activeTab, edit} from '../state/tabs.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {SelectField, TextField} from '../ui/fields.js';
import {Icon} from '../ui/icons.js';
import {Locked, useLocked} from './Locked.js';

const {code, dd, div, dl, dt, h2, h3, header, li, p, span, ul} = tags;

/** @typedef {import('../core/doc.js').Pipeline} Pipeline */

/** @param {{doc: Pipeline}} props */
export function DocumentView({doc}) {
  const {id, hosts, isActive} = useStore((state) => {
    const tab = activeTab(state);
    return {id: tab?.id ?? null, hosts: tab?.hosts ?? NONE, isActive: tab?.id != null && tab.id === state.server.activePipeline};
  }, shallow);
  const nodeTypes = useStore((state) => state.nodeTypes);
  const isLocked = useLocked();
  const calls = doc.nodes.filter((node) => isEnabled(node) && nodeTypes[node.type]?.calls_upstream).length;
  const off = doc.nodes.filter((node) => !isEnabled(node)).length;
  return div(
    // With its fields switched off nothing in it takes the focus, and the keyboard could not scroll it.
    {className: 'inspector-scroll', tabIndex: isLocked ? 0 : undefined},
    header(
      {className: 'inspector-head'},
      div({className: 'inspector-title'}, h2({className: 'inspector-big'}, t('inspector.pipeline'))),
      div(
        {className: 'inspector-sub'},
        id === null ? span({className: 'chip chip-warn'}, t('app.notSavedYet')) : code({className: 'inspector-file'}, id),
        isActive ? span({className: 'chip chip-good'}, t('app.active')) : null,
      ),
    ),
    div(
      {className: 'inspector-page'},
      h(Locked, null, h(TextField, {
        label: t('inspector.name'),
        value: typeof doc.name === 'string' ? doc.name : '',
        error: typeof doc.name !== 'string' || doc.name.trim() === '' ? t('inspector.nameMissing') : doc.name.length > 200 ? t('inspector.nameLong') : null,
        onChange: (name) => void edit('inspector.edit.name', (now) => setDocument(now, {name}), {coalesce: 'document:name'}),
      }),
      h(TextField, {
        label: t('inspector.description'),
        value: typeof doc.description === 'string' ? doc.description : '',
        rows: 3,
        placeholder: t('inspector.descriptionPlaceholder'),
        onChange: (description) => void edit('inspector.edit.description', (now) => setDocument(now, {description: description || undefined}), {coalesce: 'document:description'}),
      }),
      h(AnswerField, {doc})),
      dl(
        {className: 'facts'},
        fact(t('inspector.nodes'), off ? t('inspector.nodesOff', {n: doc.nodes.length, off}) : String(doc.nodes.length)),
        fact(t('inspector.edges'), String(doc.edges.length)),
        fact(t('inspector.modelCalls'), String(calls)),
      ),
      h(Hosts, {hosts}),
      h(Reach, {id}),
    ),
  );
}

/** @type {string[]} */
const NONE = [];

/** @param {string} name @param {string} value */
function fact(name, value) {
  return div({className: 'fact'}, dt(null, name), dd(null, value));
}

/** @param {{doc: Pipeline}} props */
function AnswerField({doc}) {
  const implied = answerOf({...doc, answer: undefined});
  const several = answersOf({...doc, answer: undefined}).length;
  const isUnclear = useStore((state) => activeTab(state)?.problems.some((one) => one.code === 'answer.ambiguous' || one.code === 'answer.none') ?? false);
  const value = doc.answer ?? '';
  /** @param {import('../core/doc.js').PipelineNode} node */
  const named = (node) => (node.title ? `${node.title} (${node.id})` : `${node.id} · ${node.type}`);
  const impliedNode = doc.nodes.find((node) => node.id === implied);
  const options = [
    {value: '', label: impliedNode ? t('inspector.answerImplied', {node: named(impliedNode)}) : several && !isUnclear ? t('inspector.answerSeveral', {n: several}) : t('inspector.answerNone')},
    ...doc.nodes.map((node) => ({value: node.id, label: named(node)})),
  ];
  const isKnown = options.some((one) => one.value === value);
  if (!isKnown) options.push({value: String(value), label: t('inspector.notAllowed', {value: JSON.stringify(value)})});
  return h(SelectField, {
    label: t('inspector.answerNode'),
    value: String(value),
    options,
    hint: t('inspector.answerHint'),
    error: !isKnown ? t('inspector.answerUnknown') : value === '' && isUnclear ? t('inspector.answerAmbiguous') : null,
    onChange: (next) => void edit('inspector.edit.answer', (now) => setAnswer(now, next === '' ? null : next)),
  });
}

/** @param {{hosts: string[]}} props */
function Hosts({hosts}) {
  const id = useId();
  return div(
    {className: 'inspector-section'},
    h3({className: 'inspector-subtitle', id}, t('inspector.hosts')),
    hosts.length
      ? ul(
          {className: 'host-list', 'aria-labelledby': id},
          hosts.map((host) => li({key: host}, h(Icon, {name: 'key', size: 14}), code(null, host))),
        )
      : p({className: 'field-hint'}, t('inspector.hostsNone')),
    p({className: 'field-hint'}, t('inspector.hostsHint')),
  );
}

/** @param {{id: string | null}} props */
function Reach({id}) {
  const heading = useId();
  return div(
    {className: 'inspector-section'},
    h3({className: 'inspector-subtitle', id: heading}, t('inspector.reach')),
    id === null
      ? p({className: 'field-hint'}, t('inspector.reachSave'))
      : ul(
          {className: 'reach-list', 'aria-labelledby': heading},
          waysTo(id).map(({key, label, text}) =>
            li(
              {key, className: 'reach'},
              span({className: 'reach-label'}, label),
              code({className: 'reach-text'}, text),
              h(Button, {
                label: t('inspector.copyNamed', {name: label}),
                icon: 'copy',
                iconOnly: true,
                tone: 'quiet',
                className: 'inspector-mini',
                onClick: () => void copyText(text),
              }),
            ),
          ),
        ),
    id === null ? null : p({className: 'field-hint'}, t('inspector.reachHint')),
  );
}

/** What clients of each dialect are given: SDKs add the rest of the path themselves. @param {string} id */
function waysTo(id) {
  const base = `${location.origin}/p/${encodeURIComponent(id)}`;
  return [
    {key: 'openai', label: 'OpenAI', text: `${base}/v1`},
    {key: 'claude', label: 'Claude', text: base},
    {key: 'gemini', label: 'Gemini', text: base},
    {key: 'model', label: t('inspector.modelName'), text: `pipeline/${id}`},
  ];
}
