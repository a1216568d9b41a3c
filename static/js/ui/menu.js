/** A menu that opens at a button or at a point: arrow keys move, letters jump, Escape closes. */
import {classes, createPortal, h, tags, useEffect, useLayoutEffect, useRef, useState} from '../h.js';
import {Button} from './buttons.js';
import {Icon} from './icons.js';
import {useTopLayer} from './layer.js';

const {button, div, hr, kbd, section, span} = tags;

/**
 * @typedef {object} MenuItem
 * @property {string} [label] without one the item is a line
 * @property {string} [icon]
 * @property {string} [keys]
 * @property {() => void} [run]
 * @property {boolean} [disabled]
 * @property {boolean} [checked] makes it a choice
 * @property {'danger'} [tone]
 */

/**
 * A menu at a point of the window.
 * @param {{items: MenuItem[], x: number, y: number, label: string, onClose: () => void}} props
 */
export function Menu({items, x, y, label, onClose}) {
  const element = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [place, setPlace] = useState({left: x, top: y});
  useLayoutEffect(() => {
    const node = element.current;
    if (!node) return;
    const box = node.getBoundingClientRect();
    setPlace({
      left: Math.max(4, Math.min(x, innerWidth - box.width - 4)),
      top: Math.max(4, Math.min(y, innerHeight - box.height - 4)),
    });
  }, [x, y]);
  useEffect(() => {
    const opener = document.activeElement;
    options(element.current)[0]?.focus();
    /** @param {Event} event */
    const outside = (event) => {
      if (!element.current?.contains(/** @type {Node} */ (event.target))) onClose();
    };
    document.addEventListener('pointerdown', outside, true);
    return () => {
      document.removeEventListener('pointerdown', outside, true);
      if (opener instanceof HTMLElement && opener.isConnected && document.activeElement === document.body) opener.focus();
    };
  }, []);
  const host = useTopLayer();
  // It stands at the end of the page, outside of what it belongs to: a landmark of its own, named as it is.
  return createPortal(
    section({'aria-label': label}, div(
      {
        ref: element,
        className: 'menu',
        role: 'menu',
        'aria-label': label,
        style: place,
        onKeyDown: (event) => onMenuKey(event, element.current, onClose),
        onContextMenu: (event) => event.preventDefault(),
      },
      items.map((item, position) =>
        item.label === undefined
          ? hr({key: position})
          : button(
              {
                key: position,
                type: 'button',
                role: item.checked === undefined ? 'menuitem' : 'menuitemcheckbox',
                'aria-checked': item.checked,
                className: classes('menu-item', item.tone === 'danger' && 'menu-danger'),
                disabled: item.disabled,
                tabIndex: -1,
                onClick: () => {
                  onClose();
                  item.run?.();
                },
              },
              h(Icon, {name: item.checked ? 'check' : (item.icon ?? 'none'), className: item.checked || item.icon ? '' : 'icon-none'}),
              span({className: 'menu-label'}, item.label),
              item.keys ? kbd(null, item.keys) : null,
            ),
      ),
    )),
    host,
  );
}

/**
 * A button that opens a menu below itself.
 * @param {{label: string, text?: string, icon?: string, items: () => MenuItem[], iconOnly?: boolean, tone?: 'plain' | 'primary' | 'quiet', className?: string, title?: string}} props
 *   `text` is shown in the label's place, which is spoken then
 */
export function MenuButton({label, text, icon, items, iconOnly, tone = 'quiet', className, title}) {
  const [place, setPlace] = useState(/** @type {{x: number, y: number} | null} */ (null));
  const element = useRef(/** @type {HTMLSpanElement | null} */ (null));
  return span(
    {ref: element, className: 'menu-anchor'},
    h(Button, {
      label: text ?? label,
      icon,
      iconOnly,
      tone,
      className,
      title: title ?? (text === undefined ? undefined : label),
      onClick: () => {
        const box = element.current?.getBoundingClientRect();
        setPlace(place || !box ? null : {x: box.left, y: box.bottom + 4});
      },
      rest: {'aria-haspopup': 'menu', 'aria-expanded': place !== null, ...(text === undefined ? {} : {'aria-label': label})},
    }),
    place ? h(Menu, {items: items(), ...place, label, onClose: () => setPlace(null)}) : null,
  );
}

/** @param {HTMLElement | null} menu */
function options(menu) {
  return /** @type {HTMLButtonElement[]} */ ([...(menu?.querySelectorAll('.menu-item:not(:disabled)') ?? [])]);
}

/**
 * @param {import('react').KeyboardEvent} event
 * @param {HTMLElement | null} menu
 * @param {() => void} onClose
 */
function onMenuKey(event, menu, onClose) {
  const all = options(menu);
  const now = all.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
  /** @param {number} position */
  const go = (position) => all[(position + all.length) % all.length]?.focus();
  if (event.key === 'Escape' || event.key === 'Tab') onClose();
  else if (event.key === 'ArrowDown') go(now + 1);
  else if (event.key === 'ArrowUp') go(now - 1);
  else if (event.key === 'Home') go(0);
  else if (event.key === 'End') go(all.length - 1);
  else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && event.key !== ' ') {
    const letter = event.key.toLowerCase();
    const rest = [...all.slice(now + 1), ...all.slice(0, now + 1)];
    rest.find((one) => one.textContent?.trim().toLowerCase().startsWith(letter))?.focus();
  } else return;
  event.stopPropagation();
  if (event.key !== 'Tab') event.preventDefault();
}
