/** Tries a tool: a form drawn from the schema of its arguments, one call outside of any turn, and what came of it. */
import {classes, h, tags, useMemo, useState} from '../../h.js';
import {isObject} from '../../core/doc.js';
import {resolveSchema, validateValue} from '../../core/schema.js';
import {useDraftForm} from '../../fields/form.js';
import {JsonField} from '../../fields/JsonField.js';
import {SchemaFields} from '../../fields/SchemaForm.js';
import {reasonOf} from '../../state/failures.js';
import {useStore} from '../../state/store.js';
import {argumentText, t} from '../../words.js';
import {Button} from '../../ui/buttons.js';
import {CheckField} from '../../ui/fields.js';

const {div, p, pre, span} = tags;

/**
 * @typedef {import('../../core/schema.js').Field} Field
 *
 * @typedef {object} Tried what can be tried
 * @property {string} name
 * @property {any} parameters JSON Schema of the arguments
 * @property {string} side_effect_level
 * @property {string} [provider_type]
 *
 * @typedef {{status: string, text: string, duration_ms: number | null}} Came
 */

/**
 * @param {{tool: Tried, hint: string, isHeld?: boolean, call: (args: Record<string, any>, isAgreed: boolean) => Promise<Came>}} props
 *   `hint`: what a call is and is not; `isHeld`: it cannot be called now
 */
export function ToolTrial({tool, hint, isHeld = false, call}) {
  const form = useDraftForm({});
  const [isAgreed, setAgreed] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState(/** @type {Came | {error: string} | null} */ (null));
  const words = useStore((state) => state.view.words);
  const fields = useMemo(() => argumentsOf(tool), [tool, words]);
  const isLasting = tool.side_effect_level === 'irreversible';
  const isFree = fields.length === 0 && takesAnything(tool.parameters);
  const args = isFree ? (form.values[''] ?? {}) : given(fields, form.values);
  const isRight = isObject(args) && fields.every((field) => validateValue(field, /** @type {any} */ (args)[field.name]) === null);
  const attempt = async () => {
    setBusy(true);
    try {
      setOutcome(await call(args, isAgreed));
    } catch (error) {
      setOutcome({error: reasonOf(error)});
    }
    // Each call that cannot be undone is agreed to anew.
    setAgreed(false);
    setBusy(false);
  };
  return div(
    {className: 'tool-trial'},
    p({className: 'field-hint'}, fields.length === 0 && !isFree ? `${t('library.toolTryNone')} ${hint}` : hint),
    // The label says what is required; a form that nobody has filled in yet complains of nothing.
    h(SchemaFields, {schema: tool.parameters, fields: fields.map((field) => ({...field, required: false})), form}),
    isFree ? h(JsonField, {label: t('library.toolTryArguments'), value: form.values[''] ?? {}, field: '', node: null, onChange: (value) => form.patch({'': value})}) : null,
    isLasting ? h(CheckField, {label: t('library.toolTryAgree'), checked: isAgreed, onChange: setAgreed}) : null,
    h(Button, {label: t('library.toolTryNow'), icon: 'play', disabled: isHeld || isBusy || !isRight || (isLasting && !isAgreed), onClick: () => void attempt()}),
    div({role: 'status'}, outcome === null ? null : h(Outcome, {outcome})),
  );
}

/**
 * The arguments as fields, called as models call them: their names are what the tool reads.
 * @param {Tried} tool
 * @returns {Field[]}
 */
function argumentsOf(tool) {
  return resolveSchema(tool.parameters).map((field) => ({
    ...field,
    words: {
      title: field.required ? t('library.toolTryRequired', {name: field.name}) : field.name,
      help: argumentText(tool, field.name, field.description),
      choices: {},
    },
  }));
}

/** Whether a schema without named arguments takes some all the same. @param {any} schema */
function takesAnything({additionalProperties, anyOf, oneOf, patternProperties}) {
  return (additionalProperties !== undefined && additionalProperties !== false) || Array.isArray(anyOf) || Array.isArray(oneOf) || patternProperties !== undefined;
}

/** What is sent: an optional text that is empty was not given. @param {Field[]} fields @param {Record<string, any>} values */
function given(fields, values) {
  const said = fields.filter(({name, required}) => values[name] !== undefined && (required || values[name] !== ''));
  return Object.fromEntries(said.map(({name}) => [name, values[name]]));
}

/** @param {{outcome: Came | {error: string}}} props */
function Outcome({outcome}) {
  if ('error' in outcome) return p({className: 'field-error'}, outcome.error);
  const {status, text, duration_ms: took} = outcome;
  const isGood = status === 'success';
  return div(
    null,
    p(null, span({className: classes('chip', isGood ? 'chip-good' : 'chip-bad')}, t(isGood ? 'library.toolTried' : 'library.toolTriedNot')), took === null ? null : ` ${t('library.toolTook', {n: String(Math.round(took))})}`),
    pre({className: 'said-text', tabIndex: 0, 'aria-label': t('library.toolAnswer')}, text),
  );
}
