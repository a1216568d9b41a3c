/** A form for any node type, drawn from the JSON schema of its configuration. */
import {classes, Fragment, h, tags, useId, useState} from '../h.js';
import {isObject, isSame} from '../core/doc.js';
import {defaultOf, isMeant, validateValue} from '../core/schema.js';
import {announce} from '../state/notices.js';
import {useStore} from '../state/store.js';
import {activeTab} from '../state/tabs.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {CheckField, SelectField} from '../ui/fields.js';
import {Icon} from '../ui/icons.js';
import {complaint, excerptOf, helpOf, isWrongKind, ownTitle, rowName, titleOf} from './fieldwords.js';
import {FoldButton, useFolding} from './folding.js';
import {within} from './form.js';
import {JsonField} from './JsonField.js';
import {KeyRows} from './KeyRows.js';
import {BooleanKind, ChoiceKind, NumberKind, TextKind} from './PlainFields.js';
import {useRowKeys} from './rowkeys.js';
import {useSpokenFields} from './spoken.js';
import {moved, sortClasses, useSorting} from '../ui/sorting.js';
import {WrongValue} from './WrongValue.js';

const {details, div, fieldset, legend, p, span, summary} = tags;

/** @typedef {import('../core/schema.js').Field} Field */
/** @typedef {import('./form.js').Form} Form */
/** @typedef {import('./PlainFields.js').FieldProps} FieldProps */

const NOTHING = Object.freeze({});
/** Lists with more rows than this come folded: each row of several fields has editors of its own. */
const MOST_UNFOLDED = 8;

/**
 * The fields of a node type, and below them what the configuration holds beside them.
 * @param {{type: import('../core/doc.js').NodeType, form: Form}} props
 */
export function SchemaForm({type, form}) {
  const {schema, defaults} = type;
  const fields = useSpokenFields(type);
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
    fields.filter((field) => isMeant(field, fields, form.values, defaults)).map((field) => h(SchemaField, {key: field.name, field: withDefault(field, defaults), label: ownTitle(schema, field), form, path: [field.name], value: form.values[field.name]})),
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

/** A list of anything, with rows to add, remove and move; those of several fields can be folded. @param {FieldProps & {label: string}} props */
function ListKind({field, form, path, value, label}) {
  const items = value ?? field.default ?? EMPTY_LIST;
  const item = /** @type {Field} */ (field.item);
  const keys = useRowKeys(items);
  const folding = useFolding({keys, most: MOST_UNFOLDED, node: form.node, field: path.join('.')});
  const inside = within(form, path, items);
  const sorting = useSorting({announce, count: items.length, onMove: (from, to) => form.set(path, moved(items, from, to), {once: true})});
  const isTargets = field.ui === 'targets';
  const isPlain = ['text', 'number', 'integer', 'boolean', 'choice'].includes(item.kind);
  const error = complaint(field, value);
  return div(
    {className: 'inspector-group schema-list', role: 'group', 'aria-label': label},
    h(GroupHead, {label, hint: helpOf(field), error, count: items.length}),
    div(
      {ref: sorting.list, className: 'schema-list-rows'},
      items.map((/** @type {any} */ each, /** @type {number} */ index) => {
        const isOwn = isTargets && saysNothing(each);
        const name = isOwn ? t('inspector.ownTarget') : rowName(each, titleOf(item) || label, index);
        const isFolded = !isPlain && folding.isFolded(keys[index]);
        return div(
          {key: keys[index], 'data-row': index, className: classes('schema-row', isPlain && 'schema-row-plain', isFolded && 'schema-row-folded', sortClasses(sorting, index))},
          div(
            {className: 'schema-row-head'},
            sorting.handle(index, name),
            isPlain
              ? h(SchemaField, {field: item, form: inside, path: [...path, index], value: each, label: name, hideLabel: true})
              : h(FoldButton, {name, excerpt: isFolded ? excerptOf(item, each) : '', isFolded, onFold: () => folding.toggle(keys[index])}),
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
          isOwn ? p({className: 'field-hint'}, t('inspector.ownTargetHint')) : null,
          isPlain || isFolded || isOwn ? null : h(SchemaField, {field: item, form: inside, path: [...path, index], value: each, label: name, hideLabel: true}),
        );
      }),
    ),
    h(Button, {
      label: t('inspector.addTo', {name: label}),
      icon: 'add',
      tone: 'quiet',
      className: 'inspector-add',
      onClick: () => form.set(path, isTargets ? [...(items.length === 0 ? [OWN_TARGET] : items), NEW_TARGET] : [...items, defaultOf(item)], {once: true}),
    }),
  );
}

/** A target that says nothing: the node's own fields. It comes first, so that who adds another one goes on asking the node's. */
const OWN_TARGET = Object.freeze({});

/** A target that is about to be written. */
const NEW_TARGET = Object.freeze({model: ''});

/** Whether a target says nothing at all. @param {any} value */
const saysNothing = (value) => isObject(value) && Object.keys(value).length === 0;

const EMPTY_LIST = Object.freeze(/** @type {any[]} */ ([]));

/** An object with known members. @param {FieldProps & {label: string}} props */
function ObjectKind({field, form, path, value, label, hideLabel}) {
  const shown = value ?? field.default ?? NOTHING;
  const inside = within(form, path, shown);
  const beside = Object.keys(shown).filter((name) => !field.fields.some((one) => one.name === name));
  return fieldset(
    {className: classes('inspector-group', hideLabel && 'inspector-group-bare')},
    legend({className: hideLabel ? 'visually-hidden' : undefined}, label),
    helpOf(field) && !hideLabel ? p({className: 'field-hint'}, helpOf(field)) : null,
    h(Members, {field, form: inside, path, shown}),
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

/**
 * The known members of an object that mean anything now, and behind a click those that few need.
 * @param {{field: Field, form: Form, path: import('./paths.js').Path, shown: Record<string, any>}} props
 */
function Members({field, form, path, shown}) {
  const meant = field.fields.filter((each) => isMeant(each, field.fields, shown));
  const more = meant.filter((each) => each.isMore);
  const isSet = more.some(({name, default: usual}) => shown[name] !== undefined && !isSame(shown[name], usual));
  const [isOpen, setOpen] = useState(isSet);
  // Whoever leads to a field behind the click opens it.
  const wanted = useStore((state) => activeTab(state)?.focus?.field ?? null);
  const [led, setLed] = useState(/** @type {string | null} */ (null));
  if (wanted !== led) {
    setLed(wanted);
    if (more.some((each) => wanted === [...path, each.name].join('.') || wanted?.startsWith(`${[...path, each.name].join('.')}.`))) setOpen(true);
  }
  /** @param {Field} each */
  const draw = (each) => h(SchemaField, {key: each.name, field: each, label: ownTitle(field.schema, each), form, path: [...path, each.name], value: shown[each.name]});
  return h(
    Fragment,
    null,
    meant.filter((each) => !each.isMore).map(draw),
    more.length === 0
      ? null
      : details({className: 'inspector-fold', open: isOpen, onToggle: (event) => setOpen(event.currentTarget.open)}, summary(null, t('inspector.moreFields')), isOpen ? more.map(draw) : null),
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
