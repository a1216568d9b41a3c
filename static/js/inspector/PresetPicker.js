/** A preset chosen by a few letters of its name: a combobox with a list below. */
import {classes, h, tags, useId, useRef, useState} from '../h.js';
import {fuzzy} from '../core/search.js';
import {useStore} from '../state/store.js';
import {t} from '../words.js';
import {useCombobox} from '../ui/combobox.js';
import {Icon} from '../ui/icons.js';

const {div, input, label: labelTag, li, span, ul} = tags;

/**
 * @param {{value: string | null, onChoose: (id: string) => void}} props
 */
export function PresetPicker({value, onChoose}) {
  const presets = useStore((state) => state.library.presets);
  const [query, setQuery] = useState(/** @type {string | null} */ (null));
  const id = useId();
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const chosen = presets.find((one) => one.id === value);
  const isOpen = query !== null;
  const found = isOpen ? fuzzy(query, presets, (one) => `${one.name} ${one.id}`) : [];
  const close = () => {
    setQuery(null);
    reset();
  };
  /** @param {string} preset */
  const choose = (preset) => {
    close();
    onChoose(preset);
  };
  const {active, reset, field, list, option} = useCombobox({
    count: found.length,
    isOpen,
    onChoose: (index) => choose(found[index].id),
    onKey: (key) => {
      const isOpening = !isOpen && (key === 'ArrowDown' || key === 'ArrowUp');
      const isClosing = isOpen && key === 'Escape';
      if (isOpening) setQuery('');
      if (isClosing) close();
      return isOpening || isClosing;
    },
  });
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
      ...field,
      id: `${id}-input`,
      className: 'input',
      placeholder: chosen?.name ?? (value ? t('inspector.presetGone', {id: value}) : t('inspector.presetChoose')),
      value: query ?? chosen?.name ?? '',
      onFocus: (event) => event.target.select(),
      onClick: () => setQuery((old) => old ?? ''),
      onChange: (event) => {
        setQuery(event.target.value);
        reset();
      },
    }),
    ul(
      {...list, 'aria-label': t('inspector.presets'), className: 'preset-list', hidden: !isOpen},
      found.map((one, index) =>
        li(
          {
            ...option(index),
            key: one.id,
            className: classes('preset-option', index === active && 'preset-option-now'),
            // The field keeps the focus; a click must not take it away first.
            onMouseDown: (event) => event.preventDefault(),
          },
          span({className: 'preset-option-name'}, one.name || one.id, one.id === value ? h(Icon, {name: 'check', size: 12}) : null),
          span({className: 'preset-option-text'}, one.description || one.id),
        ),
      ),
      isOpen && found.length === 0 ? li({role: 'option', 'aria-selected': false, 'aria-disabled': true, className: 'preset-option'}, t('inspector.presetNone')) : null,
    ),
  );
}
