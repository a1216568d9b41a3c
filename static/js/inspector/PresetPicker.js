/** A preset chosen by a few letters of its name: a combobox with a list below. */
import {classes, h, tags, useId, useRef, useState} from '../h.js';
import {fuzzy} from '../core/search.js';
import {useStore} from '../state/store.js';
import {t} from '../words.js';
import {Icon} from '../ui/icons.js';

const {div, input, label: labelTag, li, span, ul} = tags;

/**
 * @param {{value: string | null, onChoose: (id: string) => void}} props
 */
export function PresetPicker({value, onChoose}) {
  const presets = useStore((state) => state.library.presets);
  const [query, setQuery] = useState(/** @type {string | null} */ (null));
  const [at, setAt] = useState(0);
  const id = useId();
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const chosen = presets.find((one) => one.id === value);
  const isOpen = query !== null;
  const found = isOpen ? fuzzy(query, presets, (one) => `${one.name} ${one.id}`) : [];
  const now = Math.min(at, Math.max(0, found.length - 1));
  const close = () => {
    setQuery(null);
    setAt(0);
  };
  /** @param {string} preset */
  const choose = (preset) => {
    close();
    onChoose(preset);
  };
  /** @param {import('react').KeyboardEvent} event */
  const onKey = (event) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (!isOpen) setQuery('');
      else if (found.length) setAt((now + (event.key === 'ArrowDown' ? 1 : -1) + found.length) % found.length);
    } else if (event.key === 'Enter' && isOpen && found[now]) choose(found[now].id);
    else if (event.key === 'Escape' && isOpen) close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return div(
    {
      ref: box,
      className: 'preset-picker',
      onBlur: (event) => {
        if (!box.current?.contains(event.relatedTarget)) close();
      },
    },
    labelTag({htmlFor: `${id}-input`, className: 'visually-hidden'}, t('inspector.preset')),
    h(Icon, {name: 'preset', className: 'preset-picker-icon'}),
    input({
      id: `${id}-input`,
      className: 'input',
      role: 'combobox',
      autoComplete: 'off',
      spellCheck: false,
      'aria-expanded': isOpen,
      'aria-controls': `${id}-list`,
      'aria-autocomplete': 'list',
      'aria-activedescendant': isOpen && found[now] ? `${id}-${now}` : undefined,
      placeholder: chosen?.name ?? (value ? t('inspector.presetGone', {id: value}) : t('inspector.presetChoose')),
      value: query ?? chosen?.name ?? '',
      onFocus: (event) => event.target.select(),
      onClick: () => setQuery((old) => old ?? ''),
      onChange: (event) => {
        setQuery(event.target.value);
        setAt(0);
      },
      onKeyDown: onKey,
    }),
    ul(
      {id: `${id}-list`, role: 'listbox', 'aria-label': t('inspector.presets'), className: 'preset-list', hidden: !isOpen},
      found.map((one, index) =>
        li(
          {
            key: one.id,
            id: `${id}-${index}`,
            role: 'option',
            'aria-selected': index === now,
            className: classes('preset-option', index === now && 'preset-option-now'),
            // The field keeps the focus; a click must not take it away first.
            onMouseDown: (event) => event.preventDefault(),
            onMouseMove: () => setAt(index),
            onClick: () => choose(one.id),
          },
          span({className: 'preset-option-name'}, one.name || one.id, one.id === value ? h(Icon, {name: 'check', size: 12}) : null),
          span({className: 'preset-option-text'}, one.description || one.id),
        ),
      ),
      isOpen && found.length === 0 ? li({role: 'option', 'aria-selected': false, 'aria-disabled': true, className: 'preset-option'}, t('inspector.presetNone')) : null,
    ),
  );
}
