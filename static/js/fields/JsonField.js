/** Any value as JSON text: what no form can draw, and what a form would not draw rightly. */
import {h, useEffect, useRef, useState} from '../h.js';
import {isSame} from '../core/doc.js';
import {CodeField} from '../code/Field.js';
import {t} from '../words.js';

/**
 * A value as JSON. While the text is no JSON (or not what `check` wants) the last good value stays, and the field says why: an
 * emptied field is on its way to another value, and must not take its own place away.
 * @param {{label: string, value: any, onChange: (value: any) => void, check?: (value: any) => string | null, field?: string, node?: string | null,
 *   hint?: string, error?: string | null, hideLabel?: boolean, lines?: number, readOnly?: boolean, aside?: import('../h.js').ReactNode}} props
 */
export function JsonField({label, value, onChange, check, field, node = null, hint, error, hideLabel, lines = 3, readOnly, aside}) {
  const [text, setText] = useState(() => written(value));
  const [failure, setFailure] = useState(/** @type {string | null} */ (null));
  const handed = useRef(value);
  useEffect(() => {
    if (isSame(handed.current, value)) return;
    handed.current = value;
    setText(written(value));
    setFailure(null);
  }, [value]);
  /** @param {string} next */
  const change = (next) => {
    setText(next);
    const {parsed, problem} = understood(next, check);
    setFailure(problem);
    if (problem !== null || isSame(parsed, handed.current)) return;
    handed.current = parsed;
    onChange(parsed);
  };
  return h(CodeField, {label, value: text, onChange: change, language: 'json', node, field, hint, hideLabel, lines, readOnly, aside, error: failure ?? error ?? null});
}

/** @param {any} value */
function written(value) {
  return value === undefined ? '' : JSON.stringify(value, null, 2);
}

/**
 * @param {string} text
 * @param {((value: any) => string | null) | undefined} check
 * @returns {{parsed: any, problem: string | null}}
 */
function understood(text, check) {
  try {
    const parsed = JSON.parse(text);
    return {parsed, problem: check?.(parsed) ?? null};
  } catch (error) {
    return {parsed: undefined, problem: t('inspector.notJson', {message: error instanceof Error ? error.message : String(error)})};
  }
}
