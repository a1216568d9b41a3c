/** Form fields with a label, a hint and an error that belong together for screen readers too. */
import {classes, h, React, tags, useEffect, useId, useRef, useState} from '../h.js';

const {div, input, label: labelTag, option, p, select, span, textarea} = tags;

/** Whether the fields within are there to be read alone. */
export const FieldsLocked = React.createContext(false);

/**
 * @typedef {object} FieldProps
 * @property {string} label
 * @property {string} [hint]
 * @property {string | null} [error]
 * @property {boolean} [hideLabel] spoken, but not shown
 * @property {import('../h.js').ReactNode} [aside] beside the label: marks, small buttons
 * @property {string} [className]
 */

/**
 * The frame around a control. `children` gets the ids that tie the control to its texts.
 * @param {FieldProps & {children: (ids: {id: string, 'aria-describedby': string | undefined, 'aria-invalid': boolean | undefined}) => import('../h.js').ReactNode}} props
 */
export function Field({label, hint, error, hideLabel, aside, className, children}) {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined;
  return div(
    {className: classes('field', error && 'field-wrong', className)},
    div(
      {className: classes('field-head', hideLabel && !aside && 'visually-hidden')},
      labelTag({htmlFor: id, className: hideLabel ? 'visually-hidden' : undefined}, label),
      aside,
    ),
    children({id, 'aria-describedby': described, 'aria-invalid': error ? true : undefined}),
    error ? p({id: `${id}-error`, className: 'field-error', role: 'alert'}, error) : null,
    hint ? p({id: `${id}-hint`, className: 'field-hint'}, hint) : null,
  );
}

/**
 * One line of text, or many with `rows`. The text is kept while typing and handed on with every change.
 * @param {FieldProps & {value: string, onChange: (value: string) => void, placeholder?: string, rows?: number, type?: string,
 *   autoFocus?: boolean, selects?: boolean, disabled?: boolean, list?: string, mono?: boolean, autoComplete?: string, least?: string, onEnter?: () => void}} props
 *   `autoComplete`: what a browser may fill in, such as `username`; `least`: of a date
 */
export function TextField({value, onChange, placeholder, rows, type = 'text', autoFocus, selects, disabled, list, mono, autoComplete = 'off', least, onEnter, ...field}) {
  const isLocked = React.useContext(FieldsLocked);
  const [shown, setShown] = useState(value);
  const handed = useRef(value);
  useEffect(() => {
    // A change from outside (undo, another view) replaces what is shown; our own echo does not move the cursor.
    if (value !== handed.current) {
      handed.current = value;
      setShown(value);
    }
  }, [value]);
  /** @param {string} next */
  const change = (next) => {
    setShown(next);
    handed.current = next;
    onChange(next);
  };
  return h(Field, {
    ...field,
    children: (ids) =>
      rows
        ? textarea({
            ...ids,
            className: classes('input', mono && 'mono'),
            rows,
            value: shown,
            placeholder,
            disabled: disabled || isLocked,
            autoFocus,
            'data-autofocus': autoFocus,
            spellCheck: !mono,
            onChange: (event) => change(event.target.value),
          })
        : input({
            ...ids,
            className: classes('input', mono && 'mono'),
            type,
            value: shown,
            placeholder,
            disabled: disabled || isLocked,
            autoFocus,
            'data-autofocus': autoFocus,
            list,
            onFocus: selects ? (event) => event.target.select() : undefined,
            spellCheck: false,
            autoComplete,
            min: least,
            onChange: (event) => change(event.target.value),
            onKeyDown: (event) => {
              if (event.key === 'Enter' && onEnter && !event.nativeEvent.isComposing) {
                event.preventDefault();
                onEnter();
              }
            },
          }),
  });
}

/**
 * A choice of a few.
 * @param {FieldProps & {value: string, onChange: (value: string) => void, options: {value: string, label: string, disabled?: boolean}[], disabled?: boolean, autoFocus?: boolean}} props
 */
export function SelectField({value, onChange, options, disabled, autoFocus, ...field}) {
  const isLocked = React.useContext(FieldsLocked);
  return h(Field, {
    ...field,
    children: (ids) =>
      select(
        {...ids, className: 'input', value, autoFocus, disabled: disabled || isLocked, onChange: (event) => onChange(event.target.value)},
        options.map((one) => option({key: one.value, value: one.value, disabled: one.disabled}, one.label)),
      ),
  });
}

/**
 * A yes or no.
 * @param {{label: string, checked: boolean, onChange: (checked: boolean) => void, hint?: string, disabled?: boolean, hideLabel?: boolean, className?: string}} props
 */
export function CheckField({label, checked, onChange, hint, disabled, hideLabel, className}) {
  const isLocked = React.useContext(FieldsLocked);
  const id = useId();
  return div(
    {className: classes('check', className)},
    input({
      id,
      type: 'checkbox',
      checked,
      disabled: disabled || isLocked,
      'aria-describedby': hint ? `${id}-hint` : undefined,
      onChange: (event) => onChange(event.target.checked),
    }),
    labelTag({htmlFor: id, className: hideLabel ? 'visually-hidden' : undefined}, label),
    hint ? span({id: `${id}-hint`, className: 'field-hint'}, hint) : null,
  );
}
