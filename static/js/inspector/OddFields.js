/** What a row of a hand-made form holds beside what the form draws: members of the wrong kind, and members that nobody knows. */
import {Fragment, h} from '../h.js';
import {valueAt} from '../core/doc.js';
import {t} from '../words.js';
import {JsonField} from '../fields/JsonField.js';
import {WrongValue} from '../fields/WrongValue.js';

/** @typedef {import('../fields/form.js').Form} Form */

/**
 * What a member may hold: a test, the kind's key in the words, and what a reset puts there.
 * @typedef {{is: (value: any) => boolean, kind: string, fallback: any}} Rule
 */

/** @param {any} fallback @returns {Rule} */
export const textRule = (fallback = undefined) => ({is: (value) => typeof value === 'string', kind: 'text', fallback});
/** @param {string[]} values @returns {Rule} */
export const choiceRule = (values) => ({is: (value) => typeof value === 'string' && values.includes(value), kind: 'choice', fallback: undefined});
/** @type {Rule} */
export const booleanRule = {is: (value) => typeof value === 'boolean', kind: 'boolean', fallback: undefined};
/** @type {Rule} */
export const numberRule = {is: (value) => value === null || (typeof value === 'number' && Number.isFinite(value)), kind: 'number', fallback: undefined};
/** @type {Rule} */
export const countRule = {is: (value) => value === null || (Number.isInteger(value) && value >= 1), kind: 'count', fallback: undefined};

/**
 * Whether a member can be drawn: it is silent, or it is of its kind.
 * @param {Record<string, any>} value
 * @param {Record<string, Rule>} rules
 * @param {string} name
 */
export function isDrawn(value, rules, name) {
  return value[name] === undefined || rules[name].is(value[name]);
}

/**
 * @param {{form: Form, path: import('../fields/paths.js').Path, rules: Record<string, Rule>}} props
 */
export function OddFields({form, path, rules}) {
  const value = valueAt(form.values, path) ?? {};
  const odd = Object.keys(value).filter((name) => !Object.hasOwn(rules, name) || !isDrawn(value, rules, name));
  return h(
    Fragment,
    null,
    odd.map((name) => {
      const field = [...path, name].join('.');
      /** @param {any} next */
      const onChange = (next) => form.set([...path, name], next);
      const common = {key: name, label: name, value: value[name], field, node: form.node, onChange};
      const rule = Object.hasOwn(rules, name) ? rules[name] : null;
      return rule
        ? h(WrongValue, {...common, wanted: `inspector.kind.${rule.kind}`, fallback: rule.fallback})
        : h(JsonField, {...common, lines: 1, hint: t('inspector.unknownField')});
    }),
  );
}
