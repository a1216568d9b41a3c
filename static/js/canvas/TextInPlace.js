/** A text that is typed where it stands: Enter or leaving it keeps it, Escape does not. */
import {tags, useEffect, useRef, useState} from '../h.js';
import {focusCanvas} from './stage.js';

const {input, textarea} = tags;

/**
 * @param {{label: string, value: string, lines?: boolean, onDone: (value: string | null) => void}} props
 *   `lines`: Enter begins a new line and Ctrl+Enter keeps;  `onDone` gets null where the text was given up
 */
export function TextInPlace({label, value, lines = false, onDone}) {
  const [text, setText] = useState(value);
  const field = useRef(/** @type {any} */ (null));
  const done = useRef(false);
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  /** @param {string | null} result */
  const finish = (result) => {
    // Leaving the field follows when it is taken away.
    if (done.current) return;
    done.current = true;
    onDone(result);
  };
  const props = {
    ref: field,
    value: text,
    'aria-label': label,
    className: 'canvas-text-in-place nodrag nowheel nopan',
    onChange: (/** @type {any} */ event) => setText(event.target.value),
    onBlur: () => finish(text),
    onKeyDown: (/** @type {import('react').KeyboardEvent} */ event) => {
      event.stopPropagation();
      if (event.nativeEvent.isComposing) return;
      if (event.key === 'Escape') finish(null);
      else if (event.key === 'Enter' && (!lines || event.ctrlKey || event.metaKey)) finish(text);
      else return;
      event.preventDefault();
      focusCanvas();
    },
  };
  return lines ? textarea(props) : input(props);
}
