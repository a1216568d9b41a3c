/** Tabs by the book: arrow keys move and choose, one stop in the tab order. */
import {classes, h, tags, useId} from '../h.js';
import {Icon} from './icons.js';

const {button, div, span} = tags;

/**
 * @param {object} props
 * @param {string} props.label
 * @param {{id: string, label: string, icon?: string, count?: string}[]} props.tabs
 * @param {string} props.value
 * @param {(id: string) => void} props.onChange
 * @param {import('../h.js').ReactNode} [props.children] the panel of the chosen tab
 * @param {import('../h.js').ReactNode} [props.aside] at the end of the line
 * @param {string} [props.className]
 */
export function Tablist({label, tabs, value, onChange, children, aside, className}) {
  const id = useId();
  /** @param {import('react').KeyboardEvent} event */
  const onKey = (event) => {
    const now = tabs.findIndex((tab) => tab.id === value);
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : undefined;
    const next =
      step !== undefined ? tabs[(now + step + tabs.length) % tabs.length] : event.key === 'Home' ? tabs[0] : event.key === 'End' ? tabs.at(-1) : null;
    if (!next) return;
    event.preventDefault();
    onChange(next.id);
    const list = event.currentTarget;
    requestAnimationFrame(() => /** @type {HTMLElement | null} */ (list.querySelector('[aria-selected="true"]'))?.focus());
  };
  return div(
    {className: classes('tabs', className)},
    div(
      {className: 'tabs-line'},
      div(
        {role: 'tablist', 'aria-label': label, className: 'tabs-list', onKeyDown: onKey},
        tabs.map((tab) =>
          button(
            {
              key: tab.id,
              type: 'button',
              role: 'tab',
              id: `${id}-${tab.id}`,
              'aria-selected': tab.id === value,
              'aria-controls': children === undefined ? undefined : `${id}-panel`,
              tabIndex: tab.id === value ? 0 : -1,
              className: 'tab',
              onClick: () => onChange(tab.id),
            },
            tab.icon ? h(Icon, {name: tab.icon}) : null,
            span(null, tab.label),
            tab.count ? span({className: 'badge'}, tab.count) : null,
          ),
        ),
      ),
      aside,
    ),
    children === undefined
      ? null
      : div({role: 'tabpanel', id: `${id}-panel`, 'aria-labelledby': `${id}-${value}`, className: 'tabs-panel', tabIndex: 0}, children),
  );
}
