/** A modal dialog on the browser's own `<dialog>`: the focus stays inside, Escape closes, the opener gets the focus back. */
import {classes, h, tags, useEffect, useId, useRef} from '../h.js';
import {t} from '../words.js';
import {Button} from './buttons.js';

const {dialog, div, footer, h2, header} = tags;

/**
 * @param {object} props
 * @param {string} props.title
 * @param {() => void} props.onClose
 * @param {import('../h.js').ReactNode} [props.children]
 * @param {import('../h.js').ReactNode} [props.actions] buttons of the bottom line
 * @param {'small' | 'medium' | 'large' | 'full'} [props.size]
 * @param {string} [props.className]
 */
export function Dialog({title, onClose, children, actions, size = 'medium', className}) {
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const heading = useId();
  useEffect(() => {
    const node = element.current;
    const opener = document.activeElement;
    if (node && !node.open) node.showModal();
    // A closed dialog cannot be focused, so React's autoFocus came too early; the browser took the first button.
    /** @type {HTMLElement | null | undefined} */ (node?.querySelector('[data-autofocus]'))?.focus();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return dialog(
    {
      ref: element,
      className: classes('dialog', `dialog-${size}`, className),
      'aria-labelledby': heading,
      onCancel: (event) => {
        // The state decides what is open; the browser must not close it on its own.
        event.preventDefault();
        if (event.target === element.current) onClose();
      },
      onMouseDown: (event) => {
        if (event.target === element.current) onClose();
      },
    },
    div(
      {className: 'dialog-box'},
      header(
        {className: 'dialog-head'},
        h2({id: heading}, title),
        h(Button, {label: t('app.close'), icon: 'close', iconOnly: true, tone: 'quiet', onClick: onClose}),
      ),
      div({className: 'dialog-body'}, children),
      actions ? footer({className: 'dialog-foot'}, actions) : null,
    ),
  );
}
