/** RawForward: where the caller's request goes, and what is added to it. */
import {h, tags} from '../../h.js';
import {CodeField} from '../../code/Field.js';
import {isObject} from '../../core/doc.js';
import {t} from '../../words.js';
import {Button} from '../../ui/buttons.js';
import {useNodeForm} from '../../fields/form.js';
import {Checked, HeadersField} from '../RequestFields.js';
import {UnknownFields} from '../../fields/SchemaForm.js';

const {div} = tags;

/** @typedef {import('../../fields/form.js').Form} Form */

const KNOWN = ['base_url', 'override_path', 'extra_headers', 'proxy'];

/** @param {{node: import('../../core/doc.js').PipelineNode}} props */
export function RawForward({node}) {
  const form = useNodeForm(node);
  /** @param {'base_url' | 'override_path' | 'proxy'} field @param {object} rest */
  const line = (field, rest) =>
    h(Checked, {form, field, fallback: '', draw: (value) =>
      h(CodeField, {
        label: t(`inspector.${field}`),
        value: value ?? '',
        onChange: (next) => form.set([field], next),
        node: node.id,
        field,
        singleLine: true,
        ...rest,
      })});
  return div(
    {className: 'inspector-page'},
    line('base_url', {placeholder: t('inspector.callersAddress'), hint: t('inspector.base_urlHint')}),
    line('override_path', {placeholder: t('inspector.callersPath'), hint: t('inspector.override_pathHint'), secrets: true}),
    h(ExtraHeaders, {form}),
    line('proxy', {placeholder: t('inspector.serversProxy'), hint: t('inspector.proxyHint'), secrets: true}),
    h(UnknownFields, {known: KNOWN, form}),
  );
}

/** Headers as rows, or as one JSON text in which macros may stand anywhere. @param {{form: Form}} props */
function ExtraHeaders({form}) {
  const value = form.values.extra_headers;
  /** @param {any} next */
  const set = (next) => form.set(['extra_headers'], next, {once: true});
  if (typeof value === 'string') {
    const object = objectOf(value);
    return h(CodeField, {
      label: t('inspector.extra_headers'),
      value,
      onChange: (next) => form.set(['extra_headers'], next),
      language: 'json',
      node: form.node,
      field: 'extra_headers',
      secrets: true,
      lines: 5,
      hint: t('inspector.extra_headersText'),
      aside: h(Button, {
        label: t('inspector.asRows'),
        icon: 'list',
        tone: 'quiet',
        className: 'inspector-mini',
        disabled: object === null,
        title: object === null ? t('inspector.asRowsNot') : undefined,
        onClick: () => set(object),
      }),
    });
  }
  return h(HeadersField, {
    form,
    field: 'extra_headers',
    label: t('inspector.extra_headers'),
    hint: t('inspector.extra_headersHint'),
    aside: h(Button, {
      label: t('inspector.asText'),
      icon: 'code',
      tone: 'quiet',
      className: 'inspector-mini',
      onClick: () => set(JSON.stringify(value ?? {}, null, 2)),
    }),
  });
}

/** The text as an object of texts; null where it is none, because of a macro for example. @param {string} text */
function objectOf(text) {
  if (text.trim() === '') return {};
  try {
    const parsed = JSON.parse(text);
    return isObject(parsed) && Object.values(parsed).every((each) => typeof each === 'string') ? parsed : null;
  } catch {
    return null;
  }
}
