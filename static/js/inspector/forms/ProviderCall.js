/** ProviderCall: where to ask (from a preset or by hand), what to say, and the body that says it. */
import {h, tags, useState} from '../../h.js';
import {CodeField} from '../../code/Field.js';
import {setConfig, setNode} from '../../core/commands.js';
import {isObject, nodeById} from '../../core/doc.js';
import {ask, askText} from '../../state/dialogs.js';
import {notifyFailure} from '../../state/notices.js';
import {mayEdit} from '../../state/rights.js';
import {store, useStore} from '../../state/store.js';
import {activeTab, edit} from '../../state/tabs.js';
import {t} from '../../words.js';
import {Button} from '../../ui/buttons.js';
import {MenuButton} from '../../ui/menu.js';
import {Tablist} from '../../ui/tablist.js';
import {EXAMPLES} from '../examples.js';
import {useNodeForm} from '../../fields/form.js';
import {PresetPicker} from '../PresetPicker.js';
import {changedFields, fieldsOfPreset, idFrom, loadPreset, presetWith, savePreset, usePreset} from '../presetstore.js';
import {PromptBlocks} from '../PromptBlocks.js';
import {ChangedMark, Checked, RequestFields} from '../RequestFields.js';
import {UnknownFields} from '../../fields/SchemaForm.js';
import {ToolsField} from '../ToolsField.js';
import {CallGroups} from './CallGroups.js';

const {div, p, span} = tags;

/** @typedef {import('../../core/doc.js').PipelineNode} PipelineNode */
/** @typedef {import('../../fields/form.js').Form} Form */
/** @typedef {import('../presetstore.js').LoadedPreset} LoadedPreset */

/** The fields that the parts of this form draw by hand; what else the node type has is drawn from its schema. */
const DRAWN = ['provider', 'base_url', 'endpoint', 'headers', 'proxy', 'model', 'template', 'blocks', 'tools'];

/** @param {{node: PipelineNode}} props */
export function ProviderCall({node}) {
  const form = useNodeForm(node);
  const type = useStore((state) => state.nodeTypes[node.type] ?? null);
  const [page, setPage] = useState('request');
  const wanted = useStore((state) => {
    const focus = activeTab(state)?.focus;
    return focus && focus.node === node.id ? focus.field ?? null : null;
  });
  // Whoever leads to a field of another page leads to that page.
  const [led, setLed] = useState(/** @type {string | null} */ (null));
  if (wanted !== led) {
    setLed(wanted);
    if (wanted) setPage(wanted.startsWith('blocks') ? 'blocks' : wanted === 'template' ? 'template' : 'request');
  }
  const preset = usePreset(typeof node.preset === 'string' ? node.preset : null);
  const changed = preset ? changedFields(form.values, preset.document) : [];
  const blocks = form.values.blocks;
  /** @type {import('../RequestFields.js').MarkOf} */
  const markOf = (field) =>
    preset && {
      isChanged: changed.includes(field),
      revert: () => form.patch({[field]: fieldsOfPreset(preset.document)[field]}, 'inspector.edit.revert'),
    };
  return div(
    {className: 'provider-call'},
    h(PresetBar, {node, form, preset, changed}),
    h(
      Tablist,
      {
        label: t('inspector.providerCallPages'),
        className: 'inspector-pages',
        value: page,
        onChange: setPage,
        tabs: [
          {id: 'request', label: t('inspector.request')},
          {id: 'blocks', label: t('inspector.blocks'), count: Array.isArray(blocks) && blocks.length ? String(blocks.length) : ''},
          {id: 'template', label: t('inspector.template'), count: typeof form.values.template === 'string' && form.values.template.trim() ? '•' : ''},
        ],
      },
      page === 'request'
        ? div(
            {className: 'inspector-page'},
            h(RequestFields, {form, models: modelsOf(preset), markOf}),
            h(ToolsField, {form}),
            type ? h(CallGroups, {type, form, drawn: DRAWN, wanted}) : null,
            h(UnknownFields, {known: type ? Object.keys(type.schema.properties ?? {}) : DRAWN, form}),
          )
        : page === 'blocks'
          ? h(PromptBlocks, {form})
          : h(TemplatePage, {form, markOf}),
    ),
  );
}

/** @param {LoadedPreset | null} preset @returns {string[]} */
function modelsOf(preset) {
  const models = preset?.document.models;
  const offered = Array.isArray(models) ? models.filter((name) => typeof name === 'string') : [];
  const own = preset?.document.model;
  return typeof own === 'string' && own !== '' && !offered.includes(own) ? [own, ...offered] : offered;
}

/**
 * Which preset the node began from, and what can be done with it.
 * @param {{node: PipelineNode, form: Form, preset: LoadedPreset | null, changed: string[]}} props
 */
function PresetBar({node, form, preset, changed}) {
  const id = typeof node.preset === 'string' ? node.preset : null;
  const names = changed.map((name) => t(`inspector.${name}`));
  return div(
    {className: 'preset-bar'},
    h(PresetPicker, {value: id, onChoose: (next) => void applyPreset(node.id, next)}),
    changed.length
      ? span({className: 'chip chip-warn preset-changed', title: names.join(', ')}, t('inspector.changedCount', {n: changed.length}))
      : null,
    h(MenuButton, {
      label: t('inspector.presetMenu'),
      icon: 'more',
      iconOnly: true,
      items: () => [
        {
          label: t('inspector.presetRevert'),
          icon: 'undo',
          disabled: !preset || changed.length === 0,
          run: () => preset && form.patch(fieldsOfPreset(preset.document), 'inspector.edit.revert'),
        },
        {
          label: preset ? t('inspector.presetSaveTo', {name: nameOf(preset)}) : t('inspector.presetSave'),
          icon: 'disk',
          disabled: !preset || changed.length === 0 || !mayEdit(),
          run: () => preset && void savePreset(preset.id, presetWith(preset.document, form.values), preset.etag),
        },
        {label: t('inspector.presetSaveNew'), icon: 'add', run: () => void saveAsNew(node, form, preset)},
        {},
        {
          label: t('inspector.presetDetach'),
          icon: 'close',
          disabled: id === null,
          run: () => void edit('inspector.edit.preset', (doc) => setNode(doc, node.id, {preset: undefined})),
        },
      ],
    }),
  );
}

/** @param {LoadedPreset} preset */
function nameOf(preset) {
  return typeof preset.document.name === 'string' && preset.document.name ? preset.document.name : preset.id;
}

/**
 * Copy a preset's fields into the node. Fields that the person wrote are not lost without a question.
 * @param {string} nodeId
 * @param {string} id
 */
async function applyPreset(nodeId, id) {
  try {
    const preset = await loadPreset(id);
    const tab = activeTab();
    const node = tab && nodeById(tab.history.present, nodeId);
    if (!node) return;
    const config = isObject(node.config) ? node.config : {};
    const lost = typeof config.template === 'string' && config.template.trim() !== '' && !preset.document.template;
    apply(nodeId, preset, lost && (await keepsTemplate()) ? {template: config.template} : {});
  } catch (error) {
    notifyFailure(error);
  }
}

/** Whether a template that the preset does not have stays. */
async function keepsTemplate() {
  const answer = await ask({
    title: t('inspector.presetTemplateTitle'),
    text: t('inspector.presetTemplateText'),
    choices: [
      {id: 'drop', label: t('inspector.presetTemplateDrop')},
      {id: 'keep', label: t('inspector.presetTemplateKeep'), tone: 'primary'},
    ],
  });
  return answer !== 'drop';
}

/** @param {string} nodeId @param {LoadedPreset} preset @param {Record<string, any>} kept */
function apply(nodeId, preset, kept) {
  edit('inspector.edit.preset', (doc) => setNode(setConfig(doc, nodeId, {...fieldsOfPreset(preset.document), ...kept}), nodeId, {preset: preset.id}));
}

/** @param {PipelineNode} node @param {Form} form @param {LoadedPreset | null} preset */
async function saveAsNew(node, form, preset) {
  const taken = store.get().library.presets.map((one) => one.id);
  const name = await askText({
    title: t('inspector.presetSaveNew'),
    label: t('inspector.presetName'),
    value: node.title ?? '',
    confirm: t('app.save'),
    check: (text) => (text.trim() === '' ? t('inspector.nameMissing') : text.length > 200 ? t('inspector.nameLong') : null),
  });
  if (name === null) return;
  const {models, hosts} = preset?.document ?? {};
  const document = presetWith({format: 1, name: name.trim(), description: '', ...(models ? {models} : {}), ...(hosts ? {hosts} : {})}, form.values);
  const saved = await savePreset(idFrom(name, taken), document, null);
  if (saved) edit('inspector.edit.preset', (doc) => setNode(doc, node.id, {preset: saved.id}));
}

/** @param {{form: Form, markOf: import('../RequestFields.js').MarkOf}} props */
function TemplatePage({form, markOf}) {
  const {values} = form;
  const provider = Object.hasOwn(EXAMPLES, values.provider) ? values.provider : null;
  /** @param {string} id */
  const start = async (id) => {
    const has = typeof values.template === 'string' && values.template.trim() !== '';
    const answer = has
      ? await ask({title: t('inspector.exampleReplace'), text: t('inspector.exampleReplaceText'), choices: [{id: 'yes', label: t('inspector.replace'), tone: 'primary'}]})
      : 'yes';
    if (answer === 'yes') form.set(['template'], EXAMPLES[id], {once: true, label: 'inspector.edit.template'});
  };
  const names = Object.keys(EXAMPLES);
  return div(
    {className: 'inspector-page'},
    p({className: 'field-hint'}, t('inspector.templateHint')),
    h(Checked, {form, field: 'template', fallback: '', draw: (value) =>
      h(CodeField, {
        label: t('inspector.template'),
        value: value ?? '',
        onChange: (next) => form.set(['template'], next),
        language: 'json',
        node: form.node,
        field: 'template',
        prompt: true,
        lines: 14,
        maxLines: 40,
        placeholder: t('inspector.templateEmpty'),
        aside: span(
          {className: 'inspector-aside'},
          h(ChangedMark, {mark: markOf('template'), name: t('inspector.template')}),
          provider
            ? h(Button, {
                label: t('inspector.exampleStart', {provider: t(`inspector.provider.${provider}`)}),
                icon: 'templates',
                tone: 'quiet',
                className: 'inspector-mini',
                onClick: () => void start(provider),
              })
            : h(MenuButton, {
                label: t('inspector.exampleMenu'),
                icon: 'templates',
                className: 'inspector-mini',
                items: () => names.map((id) => ({label: t(`inspector.provider.${id}`), run: () => void start(id)})),
              }),
        ),
      })}),
  );
}
