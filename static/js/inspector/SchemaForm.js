/** A form for any node type, drawn from the JSON schema of its configuration. */
import {classes, Fragment, h, tags, useId, useMemo, useState} from '../h.js';
import {CodeField} from '../code/Field.js';
import {isObject} from '../core/doc.js';
import {defaultOf, resolveSchema, validateValue} from '../core/schema.js';
import {announce} from '../state/notices.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {CheckField, Field as FieldFrame, SelectField, TextField} from '../ui/fields.js';
import {Icon} from '../ui/icons.js';
import {within} from './form.js';
import {JsonField} from './JsonField.js';
import {KeyRows} from './KeyRows.js';
import {useRowKeys} from './rowkeys.js';
import {SecretMenu} from './secrets.js';
import {PipelineField} from './PipelineField.js';
import {moved, sortClasses, useSorting} from '../ui/sorting.js';
import {WrongValue} from './WrongValue.js';

const {div, fieldset, input, legend, p, span} = tags;

/** @typedef {import('../core/schema.js').Field} Field */
/** @typedef {import('./form.js').Form} Form */
/** @typedef {import('./paths.js').Path} Path */

/** Texts this long, or with this room, get several lines. */
const LONG = 120;
const NOTHING = Object.freeze({});
/** What stands in a text, by the server's hint. @type {Record<string, 'text' | 'json' | 'formula' | 'condition'>} */
const LANGUAGES = {macro: 'text', secret: 'text', json: 'json', code: 'formula', condition: 'condition'};

/**
 * The fields of a schema, and below them what the configuration holds beside them.
 * @param {{schema: import('../core/doc.js').Schema, form: Form, defaults?: Record<string, any>}} props
 */
export function SchemaForm({schema, form, defaults = NOTHING}) {
  const fields = useMemo(() => resolveSchema(schema), [schema]);
  return div(
    {className: 'schema-form'},
    fields.length === 0 && schema.properties ? p({className: 'field-hint'}, t('inspector.noFields')) : null,
    h(SchemaFields, {schema, fields, form, defaults}),
    h(UnknownFields, {known: fields.map((field) => field.name), form}),
  );
}

/**
 * Some fields of a schema, one below the other.
 * @param {{schema: import('../core/doc.js').Schema, fields: Field[], form: Form, defaults?: Record<string, any>}} props
 */
export function SchemaFields({schema, fields, form, defaults = NOTHING}) {
  return h(
    Fragment,
    null,
    fields.map((field) => h(SchemaField, {key: field.name, field: withDefault(field, defaults), label: ownTitle(schema, field), form, path: [field.name], value: form.values[field.name]})),
  );
}

/** pydantic names no default that is made anew for each node; the type's own defaults have it. @param {Field} field @param {Record<string, any>} defaults */
function withDefault(field, defaults) {
  return field.default === undefined && field.name in defaults ? {...field, default: defaults[field.name]} : field;
}

/**
 * What the configuration holds that the node type does not know: kept, and shown as it is.
 * @param {{known: string[], form: Form}} props
 */
export function UnknownFields({known, form}) {
  const names = Object.keys(form.values).filter((name) => !known.includes(name));
  if (names.length === 0) return null;
  return fieldset(
    {className: 'inspector-group inspector-unknown'},
    legend(null, t('inspector.unknownFields')),
    p({className: 'field-hint'}, t('inspector.unknownFieldsHint')),
    names.map((name) =>
      h(JsonField, {
        key: name,
        label: name,
        value: form.values[name],
        field: name,
        node: form.node,
        lines: 1,
        onChange: (value) => form.set([name], value),
        aside: h(Button, {
          label: t('inspector.removeNamed', {name}),
          icon: 'trash',
          iconOnly: true,
          tone: 'quiet',
          className: 'inspector-mini',
          onClick: () => form.set([name], undefined, {once: true}),
        }),
      }),
    ),
  );
}

/**
 * @typedef {object} FieldProps
 * @property {Field} field
 * @property {Form} form
 * @property {Path} path
 * @property {any} value undefined where the configuration is silent
 * @property {string} [label] where the field has no title of its own
 * @property {boolean} [hideLabel]
 */

/** One field of any kind. @param {FieldProps} props */
function SchemaField(props) {
  const {field, form, path, value} = props;
  const label = props.label ?? titleOf(field);
  const shown = value === undefined ? field.default : value;
  if (isWrongKind(field, shown)) {
    return h(WrongValue, {
      label,
      value,
      wanted: `inspector.kind.${field.kind}`,
      field: path.join('.'),
      node: form.node,
      onChange: (next) => form.set(path, next),
      fallback: defaultOf(field),
    });
  }
  if (field.nullable && !['text', 'number', 'integer', 'boolean', 'choice', 'any'].includes(field.kind)) return h(MaybeField, {...props, label});
  return h(KINDS[field.kind], {...props, label});
}

/**
 * What a member is called: in the person's language where that has words for it, by its own title, else by its name. A title that
 * came with a reference is the name of a type.
 * @param {import('../core/doc.js').Schema} parent
 * @param {Field} field
 */
function ownTitle(parent, field) {
  const words = field.name.replaceAll('_', ' ');
  return field.words?.title ?? parent.properties?.[field.name]?.title ?? words.charAt(0).toUpperCase() + words.slice(1);
}

/** @param {Field} field */
function titleOf(field) {
  return field.words?.title || field.title || field.name;
}

/** Whether a value cannot be drawn in this field at all. @param {Field} field @param {any} value */
function isWrongKind(field, value) {
  if (value === undefined || (value === null && field.nullable)) return false;
  switch (field.kind) {
    case 'text':
      return typeof value !== 'string';
    case 'number':
    case 'integer':
      return typeof value !== 'number';
    case 'boolean':
      return typeof value !== 'boolean';
    case 'list':
      return !Array.isArray(value);
    case 'object':
    case 'map':
      return !isObject(value);
    default:
      return false;
  }
}

/**
 * What is wrong with a value, in the language of the person. A list or an object says so at its own fields.
 * @param {Field} field
 * @param {any} value
 */
function complaint(field, value) {
  const misfit = validateValue(field, value);
  if (!misfit || misfit.path.length > 0) return null;
  const kinds = String(misfit.params.type ?? '').split(', ').map((kind) => t(`inspector.kind.${kind}`));
  return t(`inspector.misfit.${misfit.code}`, misfit.code === 'type' ? {type: kinds.join(' / ')} : misfit.params);
}

/** @param {Field} field */
function helpOf(field) {
  return field.words?.help ?? field.description;
}

/** What stands under a field: its description, and where it is silent, its default. @param {Field} field @param {any} value */
function hintOf(field, value) {
  const isSilent = value === undefined && field.default !== undefined && field.default !== '' && field.default !== null && typeof field.default !== 'object';
  return [helpOf(field), isSilent ? t('inspector.default', {value: field.kind === 'choice' ? nameOf(field, field.default) : String(field.default)}) : ''].filter(Boolean).join(' ');
}

/** @param {FieldProps & {label: string}} props */
function TextKind({field, form, path, value, label, hideLabel}) {
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
function NumberKind({field, form, path, value, label, hideLabel}) {
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
function BooleanKind({field, form, path, value, label, hideLabel}) {
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
function ChoiceKind({field, form, path, value, label, hideLabel}) {
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

/** What a choice is called: in the person's language, by the schema, else as it is. @param {Field} field @param {any} choice */
function nameOf(field, choice) {
  const plain = typeof choice === 'string' ? choice : JSON.stringify(choice);
  return field.words?.choices[plain] ?? field.schema.enumDescriptions?.[field.choices.indexOf(choice)] ?? plain;
}

/** A list of anything, with rows to add, remove and move. @param {FieldProps & {label: string}} props */
function ListKind({field, form, path, value, label}) {
  const items = value ?? field.default ?? EMPTY_LIST;
  const item = /** @type {Field} */ (field.item);
  const keys = useRowKeys(items);
  const inside = within(form, path, items);
  const sorting = useSorting({announce, count: items.length, onMove: (from, to) => form.set(path, moved(items, from, to), {once: true})});
  const isPlain = ['text', 'number', 'integer', 'boolean', 'choice'].includes(item.kind);
  const error = complaint(field, value);
  return div(
    {className: 'inspector-group schema-list', role: 'group', 'aria-label': label},
    h(GroupHead, {label, hint: helpOf(field), error, count: items.length}),
    div(
      {ref: sorting.list, className: 'schema-list-rows'},
      items.map((/** @type {any} */ each, /** @type {number} */ index) => {
        const name = rowName(each, titleOf(item) || label, index);
        return div(
          {key: keys[index], 'data-row': index, className: classes('schema-row', isPlain && 'schema-row-plain', sortClasses(sorting, index))},
          div(
            {className: 'schema-row-head'},
            sorting.handle(index, name),
            isPlain
              ? h(SchemaField, {field: item, form: inside, path: [...path, index], value: each, label: name, hideLabel: true})
              : span({className: 'schema-row-name'}, name),
            sorting.arrows(index, name),
            h(Button, {
              label: t('inspector.removeNamed', {name}),
              icon: 'trash',
              iconOnly: true,
              tone: 'quiet',
              className: 'inspector-mini',
              onClick: () => form.set(path, items.filter((/** @type {any} */ _, /** @type {number} */ at) => at !== index), {once: true}),
            }),
          ),
          isPlain ? null : h(SchemaField, {field: item, form: inside, path: [...path, index], value: each, label: name, hideLabel: true}),
        );
      }),
    ),
    h(Button, {
      label: t('inspector.addTo', {name: label}),
      icon: 'add',
      tone: 'quiet',
      className: 'inspector-add',
      onClick: () => form.set(path, [...items, defaultOf(item)], {once: true}),
    }),
  );
}

const EMPTY_LIST = Object.freeze(/** @type {any[]} */ ([]));

/** What a row is called: by its own name where it has one. @param {any} value @param {string} kind @param {number} index */
function rowName(value, kind, index) {
  const own = isObject(value) ? [value.name, value.title, value.id].find((one) => typeof one === 'string' && one !== '') : undefined;
  return own === undefined ? `${kind} ${index + 1}` : String(own);
}

/** An object with known members. @param {FieldProps & {label: string}} props */
function ObjectKind({field, form, path, value, label, hideLabel}) {
  const shown = value ?? field.default ?? NOTHING;
  const inside = within(form, path, shown);
  const beside = Object.keys(shown).filter((name) => !field.fields.some((one) => one.name === name));
  return fieldset(
    {className: classes('inspector-group', hideLabel && 'inspector-group-bare')},
    legend({className: hideLabel ? 'visually-hidden' : undefined}, label),
    helpOf(field) && !hideLabel ? p({className: 'field-hint'}, helpOf(field)) : null,
    field.fields.map((each) => h(SchemaField, {key: each.name, field: each, label: ownTitle(field.schema, each), form: inside, path: [...path, each.name], value: shown[each.name]})),
    beside.map((name) =>
      h(JsonField, {
        key: name,
        label: name,
        value: shown[name],
        field: [...path, name].join('.'),
        node: form.node,
        lines: 1,
        hint: t('inspector.unknownField'),
        onChange: (next) => inside.set([...path, name], next),
      }),
    ),
  );
}

/** An object with free names. @param {FieldProps & {label: string}} props */
function MapKind({field, form, path, value, label}) {
  const item = /** @type {Field} */ (field.item);
  return div(
    {className: 'inspector-group'},
    h(KeyRows, {
      label,
      value: value ?? field.default ?? NOTHING,
      hint: helpOf(field),
      nameLabel: t('inspector.name'),
      addLabel: t('inspector.addTo', {name: label}),
      empty: item.kind === 'any' ? '' : defaultOf(item),
      onChange: (next, once) => form.set(path, next, {once}),
      renderValue: ({name, value: each, label: rowLabel, onChange}) =>
        h(SchemaField, {
          field: item.kind === 'any' ? item : {...item, ui: item.ui ?? field.ui},
          form: {...form, set: (_path, next) => onChange(next)},
          path: [...path, name],
          value: each,
          label: rowLabel,
          hideLabel: true,
        }),
    }),
  );
}

/** A list or an object that may be missing. @param {FieldProps & {label: string}} props */
function MaybeField(props) {
  const {field, form, path, value, label} = props;
  const isThere = value !== null && value !== undefined;
  return div(
    {className: 'schema-maybe'},
    h(CheckField, {
      label: t('inspector.has', {name: label}),
      className: 'inspector-check',
      checked: isThere,
      hint: isThere ? undefined : helpOf(field),
      onChange: (next) => form.set(path, next ? defaultOf({...field, nullable: false, default: undefined}) : null, {once: true}),
    }),
    isThere ? h(KINDS[field.kind], props) : null,
  );
}

/** A value of one of several kinds. @param {FieldProps & {label: string}} props */
function UnionKind({field, form, path, value, label}) {
  const shown = value === undefined ? field.default : value;
  const fitting = field.alternatives.findIndex((one) => validateValue(one, shown ?? defaultOf(one)) === null);
  const likely = fitting >= 0 ? fitting : field.alternatives.findIndex((one) => !isWrongKind(one, shown));
  const names = field.alternatives.map((one) => (one.schema.title && one.schema.title !== field.name ? one.schema.title : t(`inspector.kind.${one.kind}`)));
  if (likely < 0) return h(AnyKind, {field, form, path, value, label});
  return div(
    {className: 'inspector-group', role: 'group', 'aria-label': label},
    h(SelectField, {
      label: t('inspector.kindOf', {name: label}),
      value: String(likely),
      options: names.map((name, index) => ({value: String(index), label: name})),
      onChange: (next) => form.set(path, defaultOf(field.alternatives[Number(next)]), {once: true}),
    }),
    h(SchemaField, {key: likely, field: {...field.alternatives[likely], ui: field.alternatives[likely].ui ?? field.ui, description: helpOf(field)}, form, path, value, label}),
  );
}

/** Anything, as JSON. @param {FieldProps & {label: string}} props */
function AnyKind({field, form, path, value, label, hideLabel}) {
  return h(JsonField, {
    label,
    hideLabel,
    value: value === undefined ? field.default : value,
    field: path.join('.'),
    node: form.node,
    hint: helpOf(field),
    error: complaint(field, value),
    onChange: (next) => form.set(path, next),
  });
}

/** @param {{label: string, hint: string, error: string | null, count: number}} props */
function GroupHead({label, hint, error, count}) {
  const id = useId();
  return div(
    {className: 'inspector-group-head', id},
    div({className: 'field-head', 'aria-hidden': true}, span({className: 'inspector-label'}, label), span({className: 'badge'}, String(count))),
    error ? p({className: 'field-error', role: 'alert'}, h(Icon, {name: 'error', size: 12}), error) : null,
    hint ? p({className: 'field-hint'}, hint) : null,
  );
}

/** @type {Record<import('../core/schema.js').FieldKind, (props: any) => import('../h.js').ReactElement>} */
const KINDS = {
  text: TextKind,
  number: NumberKind,
  integer: NumberKind,
  boolean: BooleanKind,
  choice: ChoiceKind,
  list: ListKind,
  object: ObjectKind,
  map: MapKind,
  union: UnionKind,
  any: AnyKind,
};
