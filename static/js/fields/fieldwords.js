/** What the form of a schema says of a field: how it, its values and its rows are called, what it does, and what is wrong with a value. */
import {isObject} from '../core/doc.js';
import {validateValue} from '../core/schema.js';
import {t} from '../words.js';

/** @typedef {import('../core/schema.js').Field} Field */

/**
 * What a member is called: in the person's language where that has words for it, by its own title, else by its name. A title that
 * came with a reference is the name of a type.
 * @param {import('../core/doc.js').Schema} parent
 * @param {Field} field
 */
export function ownTitle(parent, field) {
  const words = field.name.replaceAll('_', ' ');
  return field.words?.title ?? parent.properties?.[field.name]?.title ?? words.charAt(0).toUpperCase() + words.slice(1);
}

/** @param {Field} field */
export function titleOf(field) {
  return field.words?.title || field.title || field.name;
}

/** Whether a value cannot be drawn in this field at all. @param {Field} field @param {any} value */
export function isWrongKind(field, value) {
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
export function complaint(field, value) {
  const misfit = validateValue(field, value);
  if (!misfit || misfit.path.length > 0) return null;
  const kinds = String(misfit.params.type ?? '').split(', ').map((kind) => t(`inspector.kind.${kind}`));
  return t(`inspector.misfit.${misfit.code}`, misfit.code === 'type' ? {type: kinds.join(' / ')} : misfit.params);
}

/** @param {Field} field */
export function helpOf(field) {
  return field.words?.help ?? field.description;
}

/** What stands under a field: its description, and where it is silent, its default. @param {Field} field @param {any} value */
export function hintOf(field, value) {
  const isSilent = value === undefined && field.default !== undefined && field.default !== '' && field.default !== null && typeof field.default !== 'object';
  return [helpOf(field), isSilent ? t('inspector.default', {value: field.kind === 'choice' ? nameOf(field, field.default) : String(field.default)}) : ''].filter(Boolean).join(' ');
}

/** What a choice is called: in the person's language, by the schema, else as it is. @param {Field} field @param {any} choice */
export function nameOf(field, choice) {
  const plain = typeof choice === 'string' ? choice : JSON.stringify(choice);
  return field.words?.choices[plain] ?? field.schema.enumDescriptions?.[field.choices.indexOf(choice)] ?? plain;
}

/** What a row is called: by its own name where it has one. @param {any} value @param {string} kind @param {number} index */
export function rowName(value, kind, index) {
  const own = isObject(value) ? NAMES.map((name) => value[name]).find((one) => typeof one === 'string' && one !== '') : undefined;
  return own === undefined ? `${kind} ${index + 1}` : String(own);
}

/** What a folded row holds beside its name, in one line. @param {Field} item @param {any} value */
export function excerptOf(item, value) {
  if (!isObject(value)) return '';
  const said = item.fields
    .filter(({name, kind}) => !NAMES.includes(name) && ['text', 'number', 'integer', 'choice'].includes(kind) && (value[name] ?? '') !== '')
    .sort((a, b) => Number(a.kind === 'choice') - Number(b.kind === 'choice'))
    .map((field) => (field.kind === 'choice' ? nameOf(field, value[field.name]) : String(value[field.name])));
  return said.join(' · ').replace(/\s+/g, ' ').slice(0, MOST_EXCERPT);
}

/** The members by which rows call themselves. */
const NAMES = ['name', 'title', 'id'];
const MOST_EXCERPT = 120;
