// A node type's JSON Schema as the fields of a form. Forms are drawn from these, so a node type of a package needs no script.

import {isObject, isSame} from './doc.js';

/** @typedef {import('./doc.js').Schema} Schema */
/** @typedef {import('./doc.js').Json} Json */

/**
 * What a field holds. `choice`: one of `choices`; `list`: `item` for each; `object`: `fields`; `map`: any names, `item` for
 * each value; `union`: one of `alternatives`; `any`: something that the schema does not say.
 * @typedef {'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'list' | 'object' | 'map' | 'union' | 'any'} FieldKind
 */

/**
 * One field of a form.
 * @typedef {object} Field
 * @property {string} name '' for the items of lists and maps
 * @property {FieldKind} kind
 * @property {string} title
 * @property {string} description
 * @property {boolean} required
 * @property {boolean} nullable whether null is a value
 * @property {string | null} ui the server's hint: macro, json, secret, code, role, condition, pipeline, targets
 * @property {boolean} isMore whether it is one of those that few need, which come folded
 * @property {Record<string, Json[]> | null} when the values of fields beside it with which it means anything; null: always
 * @property {Json | undefined} default
 * @property {Json[]} choices
 * @property {Field | null} item
 * @property {Field[]} fields
 * @property {Field[]} alternatives
 * @property {Schema} schema with references resolved
 * @property {{title: string | null, help: string | null, choices: Record<string, string>}} [words] in the language of the person, where it has any
 */

/**
 * Why a value does not fit. `code` is one of required, type, choice, minimum, maximum, exclusiveMinimum, exclusiveMaximum,
 * multipleOf, minLength, maxLength, pattern, minItems, maxItems; `params` are for the text in the language of the person;
 * `path` leads to the part of the value.
 * @typedef {{code: string, params: {[name: string]: string | number}, path: (string | number)[]}} Misfit
 */

/** How often references may lead on: a schema may contain itself. */
const MAX_DEPTH = 8;

/**
 * The fields of a form, in the order of the schema.
 * @param {Schema} schema of an object
 * @returns {Field[]}
 */
export function resolveSchema(schema) {
  return fieldsOf(resolved(schema ?? {}, schema ?? {}), schema ?? {}, 0);
}

/**
 * @param {Schema} schema
 * @param {Schema} root
 * @param {number} depth
 * @returns {Field[]}
 */
function fieldsOf(schema, root, depth) {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).map(([name, each]) =>
    fieldOf(name, each, root, depth + 1, required.has(name)),
  );
}

/**
 * @param {string} name
 * @param {Schema} written
 * @param {Schema} root
 * @param {number} depth
 * @param {boolean} [required]
 * @returns {Field}
 */
function fieldOf(name, written, root, depth, required = false) {
  const {schema, nullable, alternatives} = unwrapped(resolved(written, root), root);
  const isDeep = depth > MAX_DEPTH;
  const kind = isDeep ? 'any' : alternatives.length > 1 ? 'union' : kindOf(schema);
  const value =
    kind === 'map' && isObject(schema.additionalProperties) ? /** @type {Schema} */ (schema.additionalProperties) : {};
  return {
    name,
    kind,
    title: schema.title ?? name,
    description: schema.description ?? '',
    required,
    nullable,
    ui: schema.ui ?? null,
    isMore: written.is_more === true,
    when: /** @type {Record<string, Json[]> | null} */ (isObject(written.when) ? written.when : null),
    default: schema.default,
    choices: schema.enum ?? (schema.const === undefined ? [] : [schema.const]),
    item:
      kind === 'list'
        ? fieldOf('', schema.items ?? {}, root, depth + 1)
        : kind === 'map'
          ? fieldOf('', value, root, depth + 1)
          : null,
    fields: kind === 'object' ? fieldsOf(schema, root, depth) : [],
    alternatives: kind === 'union' ? alternatives.map((each) => fieldOf(name, each, root, depth + 1)) : [],
    schema,
  };
}

/**
 * Whether a field means anything beside what the others say. One that does not is shown all the same where it is set: nothing that
 * is written stays unseen.
 * @param {Field} field
 * @param {Field[]} beside all fields of the same object
 * @param {Record<string, any>} values of that object
 * @param {Record<string, any>} [defaults] of a node type, where its fields name none
 */
export function isMeant(field, beside, values, defaults = {}) {
  const {when} = field;
  if (when === null) return true;
  const usual = field.default ?? defaults[field.name];
  if (values[field.name] !== undefined && !isSame(values[field.name], usual)) return true;
  return Object.entries(when).every(([name, wanted]) => {
    const other = beside.find((one) => one.name === name);
    return wanted.includes(values[name] ?? other?.default ?? defaults[name] ?? null);
  });
}

/**
 * The schema that a reference leads to; what stands beside the reference wins.
 * @param {Schema} schema
 * @param {Schema} root
 * @returns {Schema}
 */
function resolved(schema, root) {
  let result = schema;
  for (let step = 0; step < MAX_DEPTH; step += 1) {
    // pydantic wraps a reference that has a description of its own.
    const [only] = result.allOf?.length === 1 ? result.allOf : [];
    const reference = result.$ref ?? (only ? '' : undefined);
    if (reference === undefined) return result;
    const {$ref: _, allOf: __, ...beside} = result;
    result = {...(only ?? target(reference, root)), ...beside};
  }
  return {};
}

/**
 * What `#/$defs/Name` leads to; an empty schema where it leads nowhere.
 * @param {string} reference
 * @param {Schema} root
 * @returns {Schema}
 */
function target(reference, root) {
  const name = /^#\/(?:\$defs|definitions)\/(.+)$/.exec(reference)?.[1];
  const key = name?.replaceAll('~1', '/').replaceAll('~0', '~') ?? '';
  const found = root.$defs && Object.hasOwn(root.$defs, key) ? root.$defs[key] : undefined;
  return found ?? {};
}

/**
 * The schema without its null, and what may stand in its place.
 * @param {Schema} schema
 * @param {Schema} root
 * @returns {{schema: Schema, nullable: boolean, alternatives: Schema[]}}
 */
function unwrapped(schema, root) {
  if (Array.isArray(schema.type)) {
    const types = schema.type.filter((type) => type !== 'null');
    const alternatives = types.length > 1 ? types.map((type) => ({...schema, type})) : [];
    return {schema: {...schema, type: types[0]}, nullable: types.length < schema.type.length, alternatives};
  }
  const options = (schema.anyOf ?? schema.oneOf ?? []).map((each) => resolved(each, root));
  if (options.length === 0) return {schema, nullable: schema.type === 'null', alternatives: []};
  const {anyOf: _, oneOf: __, ...beside} = schema;
  const alternatives = options.filter((each) => each.type !== 'null');
  const merged = alternatives.length === 1 ? {...alternatives[0], ...beside} : beside;
  const inner = alternatives.length === 1 ? unwrapped(merged, root) : {schema: merged, nullable: false, alternatives};
  return {...inner, nullable: inner.nullable || alternatives.length < options.length};
}

/**
 * @param {Schema} schema
 * @returns {FieldKind}
 */
function kindOf(schema) {
  if (schema.enum || schema.const !== undefined) return 'choice';
  switch (schema.type) {
    case 'string':
      return 'text';
    case 'number':
    case 'integer':
    case 'boolean':
      return schema.type;
    case 'array':
      return 'list';
    case 'object':
      return schema.properties ? 'object' : 'map';
  }
  return schema.properties ? 'object' : 'any';
}

/**
 * The value that a field begins with: its default, else the emptiest value that it may have.
 * @param {Field} field
 * @returns {Json}
 */
export function defaultOf(field) {
  if (field.default !== undefined) return structuredClone(field.default);
  if (field.nullable) return null;
  switch (field.kind) {
    case 'text':
      return '';
    case 'number':
    case 'integer':
      return field.schema.minimum ?? 0;
    case 'boolean':
      return false;
    case 'choice':
      return field.choices[0] ?? null;
    case 'list':
      return [];
    case 'map':
      return {};
    case 'object':
      return Object.fromEntries(field.fields.filter((each) => each.required).map((each) => [each.name, defaultOf(each)]));
    case 'union':
      return field.alternatives[0] ? defaultOf(field.alternatives[0]) : null;
    default:
      return null;
  }
}

/**
 * The first thing that is wrong with a value; null where it fits. Only `required` fields may not be undefined.
 * @param {Field} field
 * @param {Json | undefined} value
 * @returns {Misfit | null}
 */
export function validateValue(field, value) {
  if (value === undefined) return field.required ? misfit('required') : null;
  if (value === null && (field.nullable || field.kind === 'any')) return null;
  switch (field.kind) {
    case 'text':
      return typeof value === 'string' ? checkText(field.schema, value) : misfit('type', {type: 'text'});
    case 'number':
    case 'integer':
      return checkNumber(field, value);
    case 'boolean':
      return typeof value === 'boolean' ? null : misfit('type', {type: 'boolean'});
    case 'choice':
      return field.choices.some((each) => isSame(each, value)) ? null : misfit('choice', {choices: field.choices.join(', ')});
    case 'list':
      return checkList(field, value);
    case 'map':
      return isObject(value) ? checkMembers(value, () => field.item) : misfit('type', {type: 'object'});
    case 'object':
      return checkObject(field, value);
    case 'union':
      return field.alternatives.some((each) => validateValue(each, value) === null)
        ? null
        : misfit('type', {type: field.alternatives.map((each) => each.kind).join(', ')});
    default:
      return null;
  }
}

/**
 * @param {string} code
 * @param {{[name: string]: string | number}} [params]
 * @param {(string | number)[]} [path]
 * @returns {Misfit}
 */
function misfit(code, params = {}, path = []) {
  return {code, params, path};
}

/**
 * @param {Schema} schema
 * @param {string} value
 * @returns {Misfit | null}
 */
function checkText(schema, value) {
  const length = [...value].length;
  if (schema.minLength !== undefined && length < schema.minLength) return misfit('minLength', {limit: schema.minLength});
  if (schema.maxLength !== undefined && length > schema.maxLength) return misfit('maxLength', {limit: schema.maxLength});
  return schema.pattern !== undefined && !matches(schema.pattern, value) ? misfit('pattern', {pattern: schema.pattern}) : null;
}

/**
 * Whether a text matches; a pattern that this language does not know is left to the server.
 * @param {string} pattern
 * @param {string} value
 * @returns {boolean}
 */
function matches(pattern, value) {
  try {
    return new RegExp(pattern, 'u').test(value);
  } catch {
    return true;
  }
}

/**
 * @param {Field} field
 * @param {Json} value
 * @returns {Misfit | null}
 */
function checkNumber({kind, schema}, value) {
  const fits = typeof value === 'number' && Number.isFinite(value) && (kind === 'number' || Number.isInteger(value));
  if (!fits) return misfit('type', {type: kind});
  const {minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf} = schema;
  if (minimum !== undefined && value < minimum) return misfit('minimum', {limit: minimum});
  if (maximum !== undefined && value > maximum) return misfit('maximum', {limit: maximum});
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) return misfit('exclusiveMinimum', {limit: exclusiveMinimum});
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) return misfit('exclusiveMaximum', {limit: exclusiveMaximum});
  // 0.3 / 0.1 is not 3 in binary.
  const isMultiple = multipleOf === undefined || Math.abs(value / multipleOf - Math.round(value / multipleOf)) < 1e-9;
  return isMultiple ? null : misfit('multipleOf', {limit: multipleOf});
}

/**
 * @param {Field} field
 * @param {Json} value
 * @returns {Misfit | null}
 */
function checkList({schema, item}, value) {
  if (!Array.isArray(value)) return misfit('type', {type: 'list'});
  if (schema.minItems !== undefined && value.length < schema.minItems) return misfit('minItems', {limit: schema.minItems});
  if (schema.maxItems !== undefined && value.length > schema.maxItems) return misfit('maxItems', {limit: schema.maxItems});
  for (const [index, each] of value.entries()) {
    const wrong = item && validateValue(item, each);
    if (wrong) return {...wrong, path: [index, ...wrong.path]};
  }
  return null;
}

/**
 * @param {Field} field
 * @param {Json} value
 * @returns {Misfit | null}
 */
function checkObject(field, value) {
  if (!isObject(value)) return misfit('type', {type: 'object'});
  const missing = field.fields.find((each) => each.required && value[each.name] === undefined);
  if (missing) return misfit('required', {}, [missing.name]);
  return checkMembers(value, (name) => field.fields.find((each) => each.name === name) ?? null);
}

/**
 * @param {{[name: string]: unknown}} value
 * @param {(name: string) => Field | null} fieldFor
 * @returns {Misfit | null}
 */
function checkMembers(value, fieldFor) {
  for (const [name, each] of Object.entries(value)) {
    const field = fieldFor(name);
    const wrong = field && validateValue(field, /** @type {Json} */ (each));
    if (wrong) return {...wrong, path: [name, ...wrong.path]};
  }
  return null;
}
