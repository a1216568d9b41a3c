/** Buttons with a text, with a picture, with two states, and those that choose a file. */
import {classes, Fragment, h, tags, useRef} from '../h.js';
import {Icon} from './icons.js';

const {button, input, span} = tags;

/**
 * @typedef {object} ButtonProps
 * @property {string} label what it does; shown, or spoken where only the picture is shown
 * @property {string} [icon]
 * @property {boolean} [iconOnly]
 * @property {'plain' | 'primary' | 'danger' | 'quiet'} [tone]
 * @property {() => void} [onClick]
 * @property {boolean} [disabled]
 * @property {string} [title] a tooltip; the label where only the picture is shown
 * @property {string} [keys] shown in the tooltip
 * @property {boolean} [pressed] makes it a switch
 * @property {string} [className]
 * @property {boolean} [autoFocus]
 * @property {string} [count] a badge
 * @property {'button' | 'submit'} [type]
 * @property {Record<string, any>} [rest] further attributes (aria-haspopup, data-t ...)
 */

/** @param {ButtonProps} props */
export function Button({
  label,
  icon,
  iconOnly = false,
  tone = 'plain',
  onClick,
  disabled,
  title,
  keys,
  pressed,
  className,
  autoFocus,
  count,
  type = 'button',
  rest,
}) {
  const tip = title ?? (iconOnly ? label : undefined);
  return button(
    {
      type,
      className: classes('button', `button-${tone}`, iconOnly && 'button-icon', className),
      onClick,
      disabled,
      autoFocus,
      title: keys && tip ? `${tip} (${keys})` : tip,
      'aria-label': iconOnly ? (count ? `${label}: ${count}` : label) : undefined,
      'aria-pressed': pressed,
      ...rest,
    },
    icon ? h(Icon, {name: icon}) : null,
    iconOnly ? null : span({className: 'button-label'}, label),
    count ? span({className: 'badge', 'aria-hidden': iconOnly}, count) : null,
  );
}

/**
 * A button that asks for a JSON file; the same file can be chosen again.
 * @param {ButtonProps & {fileLabel?: string, onFile: (file: File) => void}} props `fileLabel` names the field behind it
 */
export function FileButton({fileLabel, onFile, ...props}) {
  const chooser = useRef(/** @type {HTMLInputElement | null} */ (null));
  return h(
    Fragment,
    null,
    h(Button, {...props, onClick: () => chooser.current?.click()}),
    input({
      ref: chooser,
      type: 'file',
      accept: '.json,application/json',
      className: 'visually-hidden',
      tabIndex: -1,
      'aria-label': fileLabel ?? props.label,
      onChange: (event) => {
        const [file] = event.target.files ?? [];
        event.target.value = '';
        if (file) onFile(file);
      },
    }),
  );
}
