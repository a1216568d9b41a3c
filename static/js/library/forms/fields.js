/** Fields of a form that stand for parts of an asset's content, with what they cost. */
import {estimateTokens} from '../../core/estimate.js';
import {h, tags} from '../../h.js';
import {t} from '../../words.js';
import {CheckField, SelectField, TextField} from '../../ui/fields.js';

const {span} = tags;

/**
 * @typedef {object} Part a content, and how to replace it
 * @property {any} content
 * @property {(content: any) => void} onChange
 */

/** @param {unknown} value */
export const textOf = (value) => (typeof value === 'string' ? value : value === null || value === undefined ? '' : String(value));

/** How many tokens a text costs, roughly. @param {{text: unknown}} props */
export function Tokens({text}) {
  const n = estimateTokens(textOf(text));
  return span({className: 'library-tokens'}, t('library.tokens', {n}));
}

/**
 * A text of the content, with its tokens where it has several lines.
 * @param {{part: Part, name: string, label: string, rows?: number, hint?: string}} props
 */
export function TextPart({part: {content, onChange}, name, label, rows, hint}) {
  const value = textOf(content[name]);
  return h(TextField, {label, hint, rows, value, aside: rows ? h(Tokens, {text: value}) : undefined, onChange: (text) => onChange({...content, [name]: text})});
}

/**
 * A number of the content; what is left empty is null, or not there at all.
 * @param {{part: Part, name: string, label: string, hint?: string, empty?: null | undefined}} props
 */
export function NumberPart({part: {content, onChange}, name, label, hint, empty}) {
  const value = content[name];
  return h(TextField, {
    label,
    hint,
    type: 'number',
    value: typeof value === 'number' ? String(value) : '',
    onChange: (text) => {
      const {[name]: _old, ...rest} = content;
      const number = Number(text);
      if (text.trim() !== '' && Number.isFinite(number)) onChange({...content, [name]: number});
      else onChange(empty === undefined ? rest : {...content, [name]: empty});
    },
  });
}

/** A yes or no of the content. @param {{part: Part, name: string, label: string, hint?: string, isReversed?: boolean}} props `isReversed`: shown as its opposite */
export function CheckPart({part: {content, onChange}, name, label, hint, isReversed = false}) {
  return h(CheckField, {label, hint, checked: Boolean(content[name]) !== isReversed, onChange: (checked) => onChange({...content, [name]: checked !== isReversed})});
}

/**
 * One of a few values of the content.
 * @param {{part: Part, name: string, label: string, options: {value: any, label: string}[], fallback: any, hint?: string}} props
 */
export function ChoicePart({part: {content, onChange}, name, label, options, fallback, hint}) {
  const value = content[name] ?? fallback;
  const known = options.some((one) => one.value === value) ? options : [...options, {value, label: String(value)}];
  return h(SelectField, {
    label,
    hint,
    value: String(value),
    options: known.map((one) => ({value: String(one.value), label: one.label})),
    onChange: (text) => onChange({...content, [name]: known.find((one) => String(one.value) === text)?.value}),
  });
}

/** Words that are divided by commas, as a list of the content. @param {{part: Part, name: string, label: string, hint?: string}} props */
export function WordsPart({part: {content, onChange}, name, label, hint}) {
  const words = Array.isArray(content[name]) ? content[name] : [];
  return h(TextField, {
    label,
    hint,
    value: words.join(', '),
    onChange: (text) => onChange({...content, [name]: splitWords(text)}),
  });
}

/** Keys as people write them: a comma divides, but not within /a regular expression/. @param {string} text @returns {string[]} */
export function splitWords(text) {
  const words = text.match(/\s*(\/(?:\\.|[^/\\])+\/[a-z]*|[^,]*)\s*(?:,|$)/g) ?? [];
  return words.map((word) => word.replace(/,\s*$/, '').trim()).filter((word) => word !== '');
}
