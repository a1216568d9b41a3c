/** The two small dialogs: choose one of a few answers, or type one line. */
import {h, tags, useState} from '../h.js';
import {t} from '../words.js';
import {Button} from './buttons.js';
import {Dialog} from './dialog.js';
import {TextField} from './fields.js';

const {form, li, p, ul} = tags;

/**
 * @param {{title: string, text: string, details?: string[], choices: {id: string, label: string, tone?: 'primary' | 'danger'}[],
 *   answer: (id: string | null) => void, close: () => void}} props
 */
export function Question({title, text, details, choices, answer, close}) {
  /** @param {string | null} id */
  const choose = (id) => {
    close();
    answer(id);
  };
  return h(
    Dialog,
    {
      title,
      size: 'small',
      onClose: () => choose(null),
      actions: [
        h(Button, {key: 'cancel', label: t('app.cancel'), onClick: () => choose(null)}),
        ...choices.map((one) => h(Button, {key: one.id, label: one.label, tone: one.tone ?? 'plain', onClick: () => choose(one.id)})),
      ],
    },
    p({className: 'question'}, text),
    details?.length ? ul({className: 'question-details'}, details.map((line, position) => li({key: position}, line))) : null,
  );
}

/**
 * @param {{title: string, label: string, value?: string, hint?: string, confirm: string, check?: (value: string) => string | null,
 *   answer: (value: string | null) => void, close: () => void}} props
 */
export function TextQuestion({title, label, value = '', hint, confirm, check, answer, close}) {
  const [text, setText] = useState(value);
  const [isTried, setTried] = useState(false);
  const error = check?.(text) ?? null;
  const submit = () => {
    setTried(true);
    if (error) return;
    close();
    answer(text);
  };
  const cancel = () => {
    close();
    answer(null);
  };
  return h(
    Dialog,
    {
      title,
      size: 'small',
      onClose: cancel,
      actions: [
        h(Button, {key: 'cancel', label: t('app.cancel'), onClick: cancel}),
        h(Button, {key: 'ok', label: confirm, tone: 'primary', onClick: submit}),
      ],
    },
    form(
      {
        onSubmit: (event) => {
          event.preventDefault();
          submit();
        },
      },
      h(TextField, {label, value: text, onChange: setText, hint, error: isTried ? error : null, autoFocus: true, onEnter: submit}),
    ),
  );
}
