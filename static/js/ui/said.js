/** What somebody says: its text, however long, the end of a list that follows what comes, and the field where one answers. */
import {Fragment, h, tags, useEffect, useRef, useState} from '../h.js';
import {t} from '../words.js';
import {Button} from './buttons.js';

const {div, form, pre, span, textarea} = tags;
/** How near to its end a list must be to follow the words that come, in pixels. */
const NEAR_END = 48;
/** How many characters of a text are drawn at once. */
export const MOST_WORDS = 20_000;

/**
 * What was said. Of a very long text only a part is drawn: its end while it comes, its beginning afterwards.
 * @param {{text: string, isStreaming?: boolean}} props
 */
export function SaidText({text, isStreaming = false}) {
  const [shown, setShown] = useState(MOST_WORDS);
  const isLong = text.length > shown;
  const part = !isLong ? text : isStreaming ? `…${text.slice(-shown)}` : `${text.slice(0, shown)}…`;
  return h(
    Fragment,
    null,
    pre({className: 'said-text', 'data-t': 'said-text'}, part, isStreaming ? span({className: 'said-caret', 'aria-hidden': true}) : null),
    isLong && !isStreaming ? h(Button, {label: t('app.showMore', {n: text.length - shown}), tone: 'quiet', onClick: () => setShown(shown * 10)}) : null,
  );
}

/**
 * A list that stays at its end while it is there: its element, and what to do when it is scrolled.
 * @param {readonly unknown[]} changes what makes the list longer
 */
export function useEnd(changes) {
  const element = useRef(/** @type {HTMLDivElement | null} */ (null));
  const isAtEnd = useRef(true);
  useEffect(() => {
    if (isAtEnd.current && element.current) element.current.scrollTop = element.current.scrollHeight;
  }, changes);
  /** @param {{currentTarget: HTMLElement}} event */
  const onScroll = ({currentTarget: {scrollHeight, scrollTop, clientHeight}}) => {
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END;
  };
  return {element, isAtEnd, onScroll};
}

/**
 * The field where one writes. Enter sends, Shift+Enter begins a line.
 * @param {object} props
 * @param {string} props.label
 * @param {string} props.value
 * @param {(value: string) => void} props.onChange
 * @param {() => void} props.onSend
 * @param {string} [props.id]
 * @param {number} [props.rows]
 * @param {boolean} [props.disabled]
 * @param {boolean} [props.readOnly] while somebody else writes in it
 * @param {boolean} [props.autoFocus]
 * @param {(event: import('react').KeyboardEvent<HTMLTextAreaElement>) => void} [props.onKey] hears of the other keys
 * @param {import('../h.js').ReactNode} [props.children] what stands below it: the buttons
 */
export function Composer({label, value, onChange, onSend, id, rows = 2, disabled, readOnly, autoFocus, onKey, children}) {
  return form(
    {
      className: 'composer',
      onSubmit: (event) => {
        event.preventDefault();
        onSend();
      },
    },
    textarea({
      className: 'input',
      id,
      rows,
      disabled,
      readOnly,
      autoFocus,
      'aria-label': label,
      placeholder: label,
      value,
      onChange: (event) => onChange(event.target.value),
      onKeyDown: (event) => {
        if (event.nativeEvent.isComposing) return;
        if (event.key !== 'Enter' || event.shiftKey) return onKey?.(event);
        event.preventDefault();
        onSend();
      },
    }),
    div({className: 'composer-line'}, children),
  );
}
