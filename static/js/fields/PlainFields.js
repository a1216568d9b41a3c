/** The fields of a schema that hold one value: a text, a number, a switch, one of a few. */
import {h, tags, useState} from '../h.js';
import {CodeField} from '../code/Field.js';
import {t} from '../words.js';
import {CheckField, Field as FieldFrame, SelectField, TextField} from '../ui/fields.js';
import {complaint, helpOf, hintOf, nameOf} from './fieldwords.js';
import {PipelineField} from './PipelineField.js';
import {SecretMenu} from './secrets.js';

const {input} = tags;

/** @typedef {import('../core/schema.js').Field} Field */
/** @typedef {import('./form.js').Form} Form */
/** @typedef {import('./paths.js').Path} Path */

/**
 * @typedef {object} FieldProps
 * @property {Field} field
 * @property {Form} form
 * @property {Path} path
 * @property {any} value undefined where the configuration is silent
 * @property {string} [label] where the field has no title of its own
 * @property {boolean} [hideLabel]
 */

/** Texts this long, or with this room, get several lines. */
const LONG = 120;
/** What stands in a text, by the server's hint. @type {Record<string, 'text' | 'json' | 'formula' | 'condition'>} */
const LANGUAGES = {macro: 'text', secret: 'text', json: 'json', code: 'formula', condition: 'condition'};

/** @param {FieldProps & {label: string}} props */
export function TextKind({field, form, path, value, label, hideLabel}) {
  const shown = value ?? '';
  const error = value === null || value === undefined ? complaint(field, value) : complaint(field, shown);
  /** An emptied text that may be null, or that has no place, goes away. @param {string} next */
  const change = (next) => form.set(path, next === '' && field.nullable ? null : next);
  const hint = hintOf(field, value);
  const placeholder = value === undefined && typeof field.default === 'string' && field.default !== '' ? field.default : undefined;
  if (field.ui === 'role') return h(ChoiceKind, {field: {...field, choices: ['system', 'user', 'assistant']}, form, path, value, label, hideLabel});
  if (field.ui === 'pipeline') return h(PipelineField, {label, hideLabel, value: shown, hint, error, onChange: change});
  if (field.ui !== null && Object.hasOwn(LANGUAGES, field.ui)) {
    const isSecret = field.ui === 'secret';
    return h(CodeField, {
      label,
      hideLabel,
      value: shown,
      onChange: change,
      language: LANGUAGES[field.ui],
      node: field.ui === 'code' ? null : form.node,
      field: path.join('.'),
      secrets: isSecret,
      lines: field.ui === 'json' || field.ui === 'code' ? 4 : 1,
      placeholder,
      hint,
      error,
      aside: isSecret ? h(SecretMenu, {value: shown, onChange: change}) : undefined,
    });
  }
  const isLong = shown.includes('\n') || shown.length > LONG || (field.schema.maxLength ?? 0) > 10 * LONG;
  return h(TextField, {label, hideLabel, value: shown, onChange: change, rows: isLong ? 5 : undefined, placeholder, hint, error});
}

/** A number; what is typed stays while it is none, and the last good number counts. @param {FieldProps & {label: string}} props */
export function NumberKind({field, form, path, value, label, hideLabel}) {
  const [typed, setTyped] = useState(/** @type {{text: string, value: any} | null} */ (null));
  const mine = typed !== null && Object.is(typed.value, value) ? typed.text : null;
  const text = mine ?? (value === undefined || value === null ? '' : String(value));
  const isNumber = text.trim() === '' || Number.isFinite(Number(text.trim().replace(',', '.')));
  const error = isNumber ? complaint(field, value ?? (field.nullable ? null : undefined)) : t(`inspector.misfit.type`, {type: t(`inspector.kind.${field.kind}`)});
  /** @param {string} next */
  const change = (next) => {
    const plain = next.trim().replace(',', '.');
    const number = Number(plain);
    const result = plain === '' ? (field.nullable ? null : undefined) : Number.isFinite(number) ? number : value;
    setTyped({text: next, value: result});
    form.set(path, result);
  };
  return h(FieldFrame, {
    label,
    hideLabel,
    hint: hintOf(field, value),
    error,
    children: (ids) =>
      input({
        ...ids,
        className: 'input inspector-number',
        inputMode: field.kind === 'integer' ? 'numeric' : 'decimal',
        autoComplete: 'off',
        value: text,
        placeholder: field.default === undefined || field.default === null ? t('inspector.none') : String(field.default),
        onChange: (event) => change(event.target.value),
      }),
  });
}

/** @param {FieldProps & {label: string}} props */
export function BooleanKind({field, form, path, value, label, hideLabel}) {
  if (field.nullable) {
    return h(SelectField, {
      label,
      hideLabel,
      hint: hintOf(field, value),
      value: String(value ?? null),
      options: ['null', 'true', 'false'].map((one) => ({value: one, label: t(`inspector.value.${one}`)})),
      onChange: (next) => form.set(path, next === 'null' ? null : next === 'true', {once: true}),
    });
  }
  return h(CheckField, {
    label,
    hideLabel,
    className: 'inspector-check',
    checked: value ?? field.default === true,
    hint: helpOf(field),
    onChange: (next) => form.set(path, next, {once: true}),
  });
}

/** One of a few values; a value that is none of them is shown and named. @param {FieldProps & {label: string}} props */
export function ChoiceKind({field, form, path, value, label, hideLabel}) {
  const shown = value === undefined ? field.default : value;
  const options = field.choices.map((choice) => ({value: JSON.stringify(choice), label: nameOf(field, choice)}));
  const isKnown = shown === undefined || field.choices.some((choice) => JSON.stringify(choice) === JSON.stringify(shown));
  if (field.nullable || shown === undefined) options.unshift({value: 'null', label: t('inspector.none')});
  const isNull = shown === null || shown === undefined;
  if (!isKnown && !(isNull && field.nullable)) options.unshift({value: JSON.stringify(shown), label: t('inspector.notAllowed', {value: JSON.stringify(shown)})});
  return h(SelectField, {
    label,
    hideLabel,
    hint: hintOf(field, value),
    error: complaint(field, value),
    value: isNull ? 'null' : JSON.stringify(shown),
    options,
    onChange: (next) => form.set(path, JSON.parse(next) ?? (field.nullable ? null : undefined), {once: true}),
  });
}
