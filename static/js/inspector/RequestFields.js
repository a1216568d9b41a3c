/** The fields of a request to a provider, as a node and a preset have them: provider, address, headers, model. */
import {Fragment, h, tags, useId} from '../h.js';
import {CodeField} from '../code/Field.js';
import {isObject} from '../core/doc.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {SelectField} from '../ui/fields.js';
import {KeyRows} from '../fields/KeyRows.js';
import {ModelChooser} from './ModelChooser.js';
import {LiteralKeyWarning, SecretMenu} from '../fields/secrets.js';
import {WrongValue} from '../fields/WrongValue.js';

const {datalist, div, option, span} = tags;

/** @typedef {import('../fields/form.js').Form} Form */
/** @typedef {import('./presetstore.js').PresetField} PresetField */

export const PROVIDERS = ['caller', 'openai', 'openai_responses', 'claude', 'gemini'];
const ADDRESSES = /** @type {Record<string, string>} */ ({
  openai: 'https://api.openai.com',
  openai_responses: 'https://api.openai.com',
  claude: 'https://api.anthropic.com',
  gemini: 'https://generativelanguage.googleapis.com',
});
const ENDPOINTS = /** @type {Record<string, string>} */ ({
  openai: '/v1/chat/completions',
  openai_responses: '/v1/responses',
  claude: '/v1/messages',
  gemini: '/v1beta/models/{model}:generateContent',
});
const HEADER_NAMES = ['Authorization', 'x-api-key', 'x-goog-api-key', 'api-key', 'anthropic-version', 'anthropic-beta', 'HTTP-Referer', 'X-Title', 'User-Agent'];
export const NO_HEADERS = Object.freeze({});

/**
 * @typedef {(field: PresetField) => {isChanged: boolean, revert: () => void} | null} MarkOf what is known of a field beside its preset's
 */

/**
 * @param {{form: Form, models?: string[], markOf?: MarkOf, provider?: string}} props `provider` where the form is silent
 */
export function RequestFields({form, models = [], markOf, provider: silent = 'caller'}) {
  const {values, node} = form;
  const provider = typeof values.provider === 'string' ? values.provider : silent;
  /** @param {PresetField} field */
  const mark = (field) => h(ChangedMark, {mark: markOf?.(field) ?? null, name: t(`inspector.${field}`)});
  /** @param {'base_url' | 'endpoint' | 'model' | 'proxy'} field @param {object} rest */
  const line = (field, rest) =>
    h(Checked, {form, field, fallback: '', draw: (value) =>
      h(CodeField, {
        label: t(`inspector.${field}`),
        value: value ?? '',
        onChange: (next) => form.set([field], next),
        node,
        field,
        singleLine: true,
        aside: mark(field),
        ...rest,
      })});
  return h(
    Fragment,
    null,
    h(ProviderField, {form, value: values.provider, silent, aside: mark('provider')}),
    line('base_url', {placeholder: ADDRESSES[provider] ?? t('inspector.callersAddress'), hint: t('inspector.base_urlHint')}),
    line('endpoint', {placeholder: ENDPOINTS[provider] ?? t('inspector.callersEndpoint'), hint: t('inspector.endpointHint'), secrets: true}),
    line('model', {
      placeholder: t('inspector.callersModel'),
      hint: t('inspector.modelHint'),
      aside: span(
        {className: 'inspector-aside'},
        mark('model'),
        h(ModelChooser, {form, provider, models}),
      ),
    }),
    h(HeadersField, {form, field: 'headers', label: t('inspector.headers'), hint: t('inspector.headersHint'), aside: mark('headers')}),
    line('proxy', {placeholder: t('inspector.serversProxy'), hint: t('inspector.proxyHint'), secrets: true}),
  );
}

/** @param {{form: Form, value: any, silent: string, aside: import('../h.js').ReactNode}} props */
function ProviderField({form, value, silent, aside}) {
  const shown = value === undefined ? silent : value;
  const isKnown = PROVIDERS.includes(shown);
  const options = PROVIDERS.map((id) => ({value: id, label: t(`inspector.provider.${id}`)}));
  if (!isKnown) options.unshift({value: JSON.stringify(shown), label: t('inspector.notAllowed', {value: JSON.stringify(shown)})});
  return h(SelectField, {
    label: t('inspector.provider'),
    value: isKnown ? shown : JSON.stringify(shown),
    options,
    aside,
    error: isKnown ? null : t('inspector.providerUnknown'),
    onChange: (next) => form.set(['provider'], next, {once: true}),
  });
}

/**
 * Headers as rows; a name of a stored key comes from a menu.
 * @param {{form: Form, field: string, label: string, hint?: string, aside?: import('../h.js').ReactNode}} props
 */
export function HeadersField({form, field, label, hint, aside}) {
  const id = useId();
  const value = form.values[field] ?? NO_HEADERS;
  if (!isObject(value)) return h(Checked, {form, field, fallback: {}, isRight: isObject, wanted: 'map', draw: () => null});
  return div(
    {className: 'inspector-group'},
    datalist({id: `${id}-names`}, HEADER_NAMES.map((name) => option({key: name, value: name}))),
    h(KeyRows, {
      label,
      hint,
      aside,
      value,
      empty: '',
      nameLabel: t('inspector.headerName'),
      addLabel: t('inspector.addHeader'),
      suggestions: `${id}-names`,
      ignoreCase: true,
      onChange: (next, once) => form.set([field], next, {once}),
      renderValue: ({name, value: each, label: rowLabel, onChange}) =>
        typeof each === 'string'
          ? div(
              {className: 'header-value'},
              h(CodeField, {
                label: rowLabel,
                hideLabel: true,
                value: each,
                onChange,
                node: form.node,
                field: `${field}.${name}`,
                singleLine: true,
                secrets: true,
              }),
              h(SecretMenu, {header: name, value: each, onChange}),
              h(LiteralKeyWarning, {header: name, value: each, onChange}),
            )
          : h(WrongValue, {label: rowLabel, value: each, wanted: 'inspector.kind.text', field: `${field}.${name}`, node: form.node, onChange, fallback: ''}),
    }),
  );
}

/**
 * A field that shows its raw value where that is of the wrong kind.
 * @param {{form: Form, field: string, fallback: any, wanted?: string, isRight?: (value: any) => boolean, draw: (value: any) => import('../h.js').ReactNode}} props
 */
export function Checked({form, field, fallback, wanted = 'text', isRight = isText, draw}) {
  const value = form.values[field];
  if (value === undefined || isRight(value)) return draw(value);
  return h(WrongValue, {
    label: t(`inspector.${field}`),
    value,
    wanted: `inspector.kind.${wanted}`,
    field,
    node: form.node,
    onChange: (next) => form.set([field], next),
    fallback,
  });
}

/** @param {any} value */
function isText(value) {
  return typeof value === 'string';
}

/**
 * "Changed from preset", with the way back.
 * @param {{mark: {isChanged: boolean, revert: () => void} | null, name: string}} props
 */
export function ChangedMark({mark, name}) {
  if (!mark?.isChanged) return null;
  return span(
    {className: 'changed-mark'},
    span({className: 'chip chip-warn'}, t('inspector.changed')),
    h(Button, {
      label: t('inspector.revertNamed', {name}),
      icon: 'undo',
      iconOnly: true,
      tone: 'quiet',
      className: 'inspector-mini',
      onClick: mark.revert,
    }),
  );
}
