/** The small form in which one stored value is written, as JSON or as text. What is wrong stands right below it. */
import {classes, h, tags, useEffect, useId, useRef, useState} from '../h.js';
import {announce} from '../state/notices.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {reasonOf} from '../state/failures.js';
import {bytesOf, formOf, kindInWords, preview, understood, writtenAs} from '../state/values.js';
import {Changed} from './writing.js';

const {div, option, p, select, textarea} = tags;
const MOST_LINES = 14;
const MOST_BYTES = 1024 * 1024;
/** Longer texts are not wrapped: the browser would measure every line of them at every key. */
const WRAPPED = 20_000;

/** @typedef {import('../state/types.js').StoredVariable} StoredVariable */
/** @typedef {import('../state/values.js').Form} Form */

/**
 * @param {object} props
 * @param {string} props.label what the value is, for screen readers
 * @param {any} props.value undefined: none yet
 * @param {string | null} [props.locked] why it can only be read
 * @param {(value: any, isForced: boolean) => Promise<void>} props.onSave throws what the server says; `isForced`: whatever is there now
 * @param {() => void} props.onClose
 * @param {(now: StoredVariable | null) => void} [props.onTheirs] take what somebody else wrote meanwhile
 * @param {import('../h.js').ReactNode} [props.actions] more buttons
 * @param {string} [props.saveLabel]
 */
export function ValueEditor({label, value, locked = null, onSave, onClose, onTheirs, actions, saveLabel}) {
  const [form, setForm] = useState(/** @type {Form} */ (value === undefined ? 'json' : formOf(value)));
  const [text, setText] = useState(() => (value === undefined ? '' : writtenAs(value, form)));
  const [error, setError] = useState(/** @type {string | null} */ (null));
  const [theirs, setTheirs] = useState(/** @type {{now: StoredVariable | null} | null} */ (null));
  const [isSaving, setSaving] = useState(false);
  const isHere = useRef(true);
  const area = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const id = useId();
  useEffect(() => {
    isHere.current = true;
    area.current?.focus();
    if (text.length < WRAPPED) area.current?.select();
    return () => {
      isHere.current = false;
    };
  }, []);

  /** @param {any} wanted @param {boolean} isForced */
  const send = async (wanted, isForced) => {
    if (bytesOf(wanted) > MOST_BYTES) {
      setError(t('variables.error.payload_too_large'));
      return;
    }
    setSaving(true);
    setError(null);
    setTheirs(null);
    try {
      await onSave(wanted, isForced);
      announce(t('variables.saved', {label}));
      if (isHere.current) onClose();
    } catch (failure) {
      if (!isHere.current) return;
      if (failure instanceof Changed) setTheirs({now: failure.now});
      else setError(reasonOf(failure));
      setSaving(false);
    }
  };
  /** @param {boolean} isForced */
  const save = (isForced = false) => {
    if (locked !== null || isSaving) return;
    const read = understood(text, form);
    if ('message' in read) setError(read.message);
    else void send(read.value, isForced);
  };
  /** @param {Form} next */
  const change = (next) => {
    const read = understood(text, form);
    // Between the two forms the value stays, where the text is one.
    if ('value' in read && text !== '' && (next === 'json' || typeof read.value === 'string')) setText(writtenAs(read.value, next));
    setForm(next);
    setError(null);
  };
  /** @param {import('react').KeyboardEvent} event */
  const onKey = (event) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Escape') onClose();
    else if (event.key === 'Enter' && event.target === area.current && (event.ctrlKey || event.metaKey || (!event.shiftKey && !text.includes('\n')))) save();
    else {
      event.stopPropagation();
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const isMendable = error !== null && form === 'json' && text.trim() !== '';
  return div(
    {className: 'variables-editor', onKeyDown: onKey, role: 'group', 'aria-label': label},
    textarea({
      ref: area,
      className: classes('input', 'mono'),
      value: text,
      readOnly: locked !== null,
      rows: Math.min(MOST_LINES, Math.max(1, text.slice(0, 5000).split('\n').length)),
      wrap: text.length > WRAPPED ? 'off' : 'soft',
      spellCheck: false,
      'aria-label': t('variables.valueOf', {label}),
      'aria-describedby': `${id}-below`,
      'aria-invalid': error !== null || undefined,
      onChange: (event) => setText(event.target.value),
    }),
    div(
      {id: `${id}-below`, className: 'variables-editor-notes'},
      locked ? p({className: 'field-hint'}, locked) : null,
      error !== null ? p({className: 'field-error', role: 'alert'}, error) : null,
      theirs
        ? p(
            {className: 'field-error', role: 'alert'},
            theirs.now ? t('variables.changedMeanwhile', {value: preview(theirs.now.value)}) : t('variables.deletedMeanwhile'),
          )
        : null,
    ),
    div(
      {className: 'variables-editor-foot'},
      select(
        {
          className: 'input',
          'aria-label': t('variables.form'),
          value: form,
          disabled: locked !== null,
          onChange: (event) => change(event.target.value === 'text' ? 'text' : 'json'),
        },
        option({value: 'json'}, t('variables.form.json')),
        option({value: 'text'}, t('variables.form.text')),
      ),
      theirs
        ? [
            h(Button, {key: 'over', label: t('variables.overwrite'), tone: 'danger', onClick: () => save(true)}),
            h(Button, {key: 'theirs', label: t('variables.takeTheirs'), onClick: () => onTheirs?.(theirs.now)}),
          ]
        : locked === null
          ? h(Button, {label: saveLabel ?? t('app.save'), tone: 'primary', disabled: isSaving, onClick: () => save()})
          : null,
      isMendable ? h(Button, {label: t('variables.saveAsText'), onClick: () => void send(text, false)}) : null,
      h(Button, {label: t(locked === null ? 'app.cancel' : 'app.close'), tone: 'quiet', onClick: onClose}),
      actions,
    ),
    value === undefined ? null : p({className: 'field-hint'}, kindInWords(value)),
  );
}
