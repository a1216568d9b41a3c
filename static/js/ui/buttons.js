/** Buttons with a text, with a picture, and with two states. */
import {classes, h, tags} from '../h.js';
import {Icon} from './icons.js';

const {button, span} = tags;

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
