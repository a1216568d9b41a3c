/** One node: its name and its switches, and below them settings, input and output. */
import {h, tags, useEffect, useRef, useState} from '../h.js';
import {duplicate, removeNodes, renameNode, setAnswer, setNode} from '../core/commands.js';
import {ID_PATTERN, isEnabled, isObject, nodeById} from '../core/doc.js';
import {answersOf} from '../core/graph.js';
import {askText} from '../state/dialogs.js';
import {useStore} from '../state/store.js';
import {activeTab, docOf, edit, goTo, select, updateTab} from '../state/tabs.js';
import {setView} from '../state/view.js';
import {t, translated, typeTitle} from '../words.js';
import {Button} from '../ui/buttons.js';
import {CheckField} from '../ui/fields.js';
import {Icon} from '../ui/icons.js';
import {MenuButton} from '../ui/menu.js';
import {Tablist} from '../ui/tablist.js';
import {rememberCursor} from './cursor.js';
import {useNodeForm} from '../fields/form.js';
import {ProviderCall} from './forms/ProviderCall.js';
import {RawForward} from './forms/RawForward.js';
import {SetVars} from './forms/SetVars.js';
import {HelpText} from './help.js';
import {InputView} from './InputView.js';
import {Locked, LockedFields} from './Locked.js';
import {MendButton} from './MendButton.js';
import {JsonField} from '../fields/JsonField.js';
import {OutputView} from './OutputView.js';
import {SchemaForm} from '../fields/SchemaForm.js';
import {WhenItFails} from './WhenItFails.js';

const {button, code, details, div, h2, header, input, li, p, span, summary, ul} = tags;

/** @typedef {import('../core/doc.js').PipelineNode} PipelineNode */
/** @typedef {import('../core/doc.js').Pipeline} Pipeline */
/** @typedef {import('../core/doc.js').NodeType} NodeType */

/** Forms made by hand; every other type is drawn from its schema. @type {Record<string, (props: {node: PipelineNode}) => import('../h.js').ReactElement>} */
const FORMS = {ProviderCall, RawForward, SetVars};
const COPY_OFFSET = {x: 40, y: 40};

/** @param {{node: PipelineNode, doc: Pipeline}} props */
export function NodeView({node, doc}) {
  const type = useStore((state) => (Object.hasOwn(state.nodeTypes, node.type) ? state.nodeTypes[node.type] : null));
  const page = useStore((state) => state.view.inspectorTab);
  const isPinned = useStore((state) => Object.hasOwn(activeTab(state)?.pins ?? {}, node.id));
  return div(
    {className: 'inspector-node'},
    h(Locked, null, h(NodeHeader, {node, doc, type})),
    h(
      Tablist,
      {
        label: t('inspector.nodePages'),
        className: 'inspector-tabs',
        value: ['settings', 'input', 'output'].includes(page) ? page : 'settings',
        onChange: (id) => setView({inspectorTab: id}),
        tabs: [
          {id: 'settings', label: t('inspector.settings')},
          {id: 'input', label: t('inspector.input')},
          {id: 'output', label: t('inspector.output'), icon: isPinned ? 'pin' : undefined},
        ],
      },
      page === 'input' ? h(InputView, {node}) : page === 'output' ? h(OutputView, {node}) : h(Settings, {node, type}),
    ),
    h(NodeProblems, {node}),
  );
}

/** @param {{node: PipelineNode, doc: Pipeline, type: NodeType | null}} props */
function NodeHeader({node, doc, type}) {
  const {id} = node;
  const isUnclear = useStore((state) => activeTab(state)?.problems.some((one) => one.code === 'answer.ambiguous') ?? false);
  const able = answersOf(doc);
  const answers = able.includes(id) && !(able.length > 1 && isUnclear);
  const isImplied = answers && (doc.answer === undefined || doc.answer === null);
  const kind = typeTitle(type, node.type);
  return header(
    {className: 'inspector-head'},
    div(
      {className: 'inspector-title'},
      span({className: `inspector-icon inspector-icon-${type ? (['data', 'model'].includes(type.category) ? type.category : 'other') : 'unknown'}`}, h(Icon, {name: type?.icon ?? 'warning', size: 18})),
      input({
        className: 'inspector-name',
        'aria-label': t('inspector.nodeTitle'),
        value: typeof node.title === 'string' ? node.title : '',
        placeholder: kind,
        spellCheck: false,
        maxLength: 200,
        onChange: (event) => edit('inspector.edit.title', (now) => setNode(now, id, {title: event.target.value || undefined}), {coalesce: `${id}:title`}),
      }),
      h(MenuButton, {
        label: t('inspector.nodeMenu'),
        icon: 'more',
        iconOnly: true,
        items: () => /** @type {import('../ui/menu.js').MenuItem[]} */ ([
          {label: t('inspector.rename'), icon: 'edit', run: () => void rename(id)},
          {label: t('inspector.duplicate'), icon: 'copy', run: () => copyNode(id)},
          {},
          {label: t('inspector.delete'), icon: 'trash', tone: 'danger', run: () => void edit('inspector.edit.delete', (now) => removeNodes(now, [id]))},
        ]),
      }),
    ),
    div(
      {className: 'inspector-sub'},
      h2({className: 'inspector-kind'}, kind),
      button(
        {type: 'button', className: 'inspector-id', title: t('inspector.rename'), 'aria-label': t('inspector.idAndRename', {id}), onClick: () => void rename(id)},
        code(null, id),
        h(Icon, {name: 'edit', size: 12}),
      ),
      type?.calls_upstream ? span({className: 'chip', title: t('inspector.callsHint')}, t('inspector.calls')) : null,
    ),
    div(
      {className: 'inspector-switches'},
      h(CheckField, {
        label: t('inspector.enabled'),
        className: 'switch',
        checked: isEnabled(node),
        onChange: (next) => void edit('inspector.edit.enabled', (now) => setNode(now, id, {enabled: next ? undefined : false})),
      }),
      h(CheckField, {
        label: t('inspector.answers'),
        className: 'switch',
        checked: answers,
        disabled: isImplied,
        onChange: (next) => void edit('inspector.edit.answer', (now) => setAnswer(now, next ? id : null)),
      }),
    ),
    h(WhenItFails, {node, doc, type, answers}),
    type?.help
      ? details({className: 'inspector-help'}, summary(null, t('inspector.whatItDoes')), h(HelpText, {text: translated(`server.help.${type.type}`) ?? type.help}))
      : null,
  );
}

/** @param {{node: PipelineNode, type: NodeType | null}} props */
function Settings({node, type}) {
  const [asJson, setAsJson] = useState(false);
  const page = useRef(/** @type {HTMLDivElement | null} */ (null));
  useFieldFocus(page, node.id);
  const isWhole = isObject(node.config);
  const Form = Object.hasOwn(FORMS, node.type) ? FORMS[node.type] : null;
  const isRaw = asJson || !isWhole || (!Form && !type);
  return div(
    {
      ref: page,
      className: 'inspector-settings',
      onBlur: (event) => rememberCursor(event.target, node.id),
    },
    !type
      ? p({className: 'inspector-note inspector-note-warn', role: 'status'}, h(Icon, {name: 'warning'}), span(null, t('inspector.unknownType', {type: node.type})))
      : null,
    h(LockedFields, null, isRaw ? h(WholeConfig, {node}) : Form ? h(Form, {node}) : type ? h(SchemaPage, {node, type}) : null),
    isWhole && (Form || type)
      ? div(
          {className: 'inspector-foot inspector-foot-end'},
          h(Button, {label: t('inspector.asJson'), icon: 'code', tone: 'quiet', className: 'inspector-mini', pressed: asJson, onClick: () => setAsJson(!asJson)}),
        )
      : null,
  );
}

/** @param {{node: PipelineNode, type: NodeType}} props */
function SchemaPage({node, type}) {
  const form = useNodeForm(node);
  return div({className: 'inspector-page'}, h(SchemaForm, {type, form}));
}

/** The whole configuration as JSON. @param {{node: PipelineNode}} props */
function WholeConfig({node}) {
  return div(
    {className: 'inspector-page'},
    h(JsonField, {
      label: t('inspector.config'),
      value: node.config,
      lines: 12,
      check: (value) => (isObject(value) ? null : t('inspector.wrongKind', {wanted: t('inspector.kind.object')})),
      error: isObject(node.config) ? null : t('inspector.wrongKind', {wanted: t('inspector.kind.object')}),
      onChange: (value) => void edit('inspector.edit.config', (now) => setNode(now, node.id, {config: value}), {coalesce: `${node.id}:config`}),
    }),
  );
}

/** The problems of the node, below the fields, which so stay where they are; a click leads to the field. @param {{node: PipelineNode}} props */
function NodeProblems({node}) {
  const problems = useStore((state) => activeTab(state)?.problems);
  const mine = (problems ?? []).filter((one) => one.node === node.id);
  if (mine.length === 0) return null;
  return ul(
    {className: 'inspector-problems', 'aria-label': t('app.problems')},
    mine.map((one, position) =>
      li(
        {key: position},
        button(
          {type: 'button', className: `inspector-problem inspector-problem-${one.severity}`, onClick: () => goTo({...one})},
          h(Icon, {name: one.severity === 'error' ? 'error' : 'warning', size: 14}),
          span({className: 'visually-hidden'}, t(one.severity === 'error' ? 'app.error' : 'app.warning')),
          span(null, one.message),
        ),
        h(MendButton, {problem: one}),
      ),
    ),
  );
}

/**
 * Take the focus to a field that somebody wants to see and that is no template field (those know how themselves).
 * @param {{current: HTMLElement | null}} page
 * @param {string} node
 */
function useFieldFocus(page, node) {
  const focus = useStore((state) => activeTab(state)?.focus ?? null);
  useEffect(() => {
    if (!focus || focus.node !== node || !focus.field || !page.current) return;
    const element = page.current.querySelector(`[data-field="${CSS.escape(focus.field)}"]`);
    if (element instanceof HTMLElement && !element.classList.contains('cm-content')) {
      element.focus();
      const tab = activeTab();
      if (tab) updateTab(tab.key, {focus: null});
    }
  }, [focus, node]);
}

/**
 * Give a node another id; what refers to it follows.
 * @param {string} id
 */
async function rename(id) {
  const wanted = await askText({
    title: t('inspector.renameTitle', {id}),
    label: t('inspector.newId'),
    hint: t('inspector.idHint'),
    value: id,
    confirm: t('inspector.renameDo'),
    check: (text) => {
      if (!ID_PATTERN.test(text)) return t('inspector.idWrong');
      const tab = activeTab();
      return tab && text !== id && nodeById(docOf(tab), text) ? t('inspector.idTaken', {id: text}) : null;
    },
  });
  if (wanted === null || wanted === id || !edit('inspector.edit.rename', (doc) => renameNode(doc, id, wanted))) return;
  const tab = activeTab();
  if (tab && Object.hasOwn(tab.pins, id)) {
    const {[id]: pinned, ...rest} = tab.pins;
    updateTab(tab.key, {pins: {...rest, [wanted]: pinned}});
  }
  select({nodes: [wanted]});
}

/** @param {string} id */
function copyNode(id) {
  /** @type {string[]} */
  let ids = [];
  edit('inspector.edit.duplicateNode', (doc) => {
    const copied = duplicate(doc, [id], COPY_OFFSET);
    ids = copied.ids;
    return copied.doc;
  });
  if (ids.length) select({nodes: ids});
}
