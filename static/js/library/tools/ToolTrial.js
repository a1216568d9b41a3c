/** Tries a tool: a form of its arguments, one call outside of any chat, and what came of it. */
import {classes, h, tags, useState} from '../../h.js';
import {isObject} from '../../core/doc.js';
import {reasonOf} from '../../state/failures.js';
import {t} from '../../words.js';
import {Button} from '../../ui/buttons.js';
import {CheckField, TextField} from '../../ui/fields.js';
import {tryDefinition} from './definitions.js';

const {details, div, p, pre, span, summary} = tags;

/** @typedef {{status: string, text: string, duration_ms: number | null} | {error: string}} Outcome */

/** @param {{tool: import('./definitions.js').Definition, isChanged: boolean}} props `isChanged`: the form holds what is not saved, and what is saved is tried */
export function ToolTrial({tool, isChanged}) {
  const [said, setSaid] = useState(/** @type {Record<string, string>} */ ({}));
  const [isAgreed, setAgreed] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState(/** @type {Outcome | null} */ (null));
  const {properties, required} = tool.parameters;
  const names = isObject(properties) ? Object.keys(properties) : [];
  const isLasting = tool.side_effect_level === 'irreversible';
  const args = names.map((name) => ({name, typed: argumentOf(properties[name], said[name] ?? '')}));
  const wrong = args.filter(({typed}) => typed === null).map(({name}) => name);
  const attempt = async () => {
    setBusy(true);
    try {
      setOutcome(await tryDefinition(tool.id, Object.fromEntries(args.flatMap(({name, typed}) => (typed ? [[name, typed.value]] : []))), isAgreed));
    } catch (error) {
      setOutcome({error: reasonOf(error)});
    }
    // Each call that cannot be undone is agreed to anew.
    setAgreed(false);
    setBusy(false);
  };
  return details(
    {className: 'chat-details'},
    summary(null, t('library.toolTry')),
    p({className: 'field-hint'}, t(isChanged ? 'library.toolTrySave' : names.length ? 'library.toolTryHint' : 'library.toolTryNone')),
    names.map((name) =>
      h(TextField, {
        key: name,
        label: Array.isArray(required) && required.includes(name) ? t('library.toolTryRequired', {name}) : name,
        hint: typeof properties[name]?.description === 'string' ? properties[name].description : undefined,
        error: wrong.includes(name) ? t('library.toolTryJson') : null,
        mono: true,
        value: said[name] ?? '',
        onChange: (text) => setSaid({...said, [name]: text}),
      }),
    ),
    isLasting ? h(CheckField, {label: t('library.toolTryAgree'), checked: isAgreed, onChange: setAgreed}) : null,
    h(Button, {label: t('library.toolTryNow'), icon: 'play', disabled: isChanged || isBusy || wrong.length > 0 || (isLasting && !isAgreed), onClick: () => void attempt()}),
    div({role: 'status'}, outcome === null ? null : h(Came, {outcome})),
  );
}

/** @param {{outcome: Outcome}} props */
function Came({outcome}) {
  if ('error' in outcome) return p({className: 'field-error'}, outcome.error);
  const {status, text, duration_ms: took} = outcome;
  const isGood = status === 'success';
  return div(
    null,
    p(null, span({className: classes('chip', isGood ? 'chip-good' : 'chip-bad')}, t(isGood ? 'library.toolTried' : 'library.toolTriedNot')), took === null ? null : ` ${t('library.toolTook', {n: String(Math.round(took))})}`),
    pre({className: 'said-text', tabIndex: 0, 'aria-label': t('library.toolAnswer')}, text),
  );
}

/**
 * An argument as it was typed: a text where the schema wants one, else JSON, and a text where it is none and the schema does not
 * say. Undefined: nothing was typed; null: what was typed cannot be what the schema wants.
 * @param {any} schema
 * @param {string} text
 * @returns {{value: any} | undefined | null}
 */
function argumentOf(schema, text) {
  if (text === '') return undefined;
  if (schema?.type === 'string') return {value: text};
  try {
    return {value: JSON.parse(text)};
  } catch {
    return schema?.type === undefined ? {value: text} : null;
  }
}
