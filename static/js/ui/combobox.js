/** A text field with a list below it: arrow keys walk through the list, Enter chooses, and the focus stays in the field. */
import {useEffect, useId, useState} from '../h.js';

const STEPS = /** @type {Record<string, number>} */ ({ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8});

/**
 * The attributes of the field, the list and its lines, for `count` lines.
 * @param {object} options
 * @param {number} options.count
 * @param {(index: number) => void} options.onChoose
 * @param {boolean} [options.isOpen] false while there is no list
 * @param {(key: string) => boolean} [options.onKey] is asked about a key first; true: it is done with it
 */
export function useCombobox({count, onChoose, isOpen = true, onKey}) {
  const [at, setActive] = useState(0);
  const active = Math.max(0, Math.min(at, count - 1));
  const id = useId();
  useEffect(() => {
    document.getElementById(`${id}-${active}`)?.scrollIntoView({block: 'nearest'});
  }, [active, id]);
  /** @param {import('react').KeyboardEvent} event */
  const onKeyDown = (event) => {
    if (event.nativeEvent.isComposing) return;
    if (!onKey?.(event.key)) {
      if (event.key in STEPS && isOpen) setActive(Math.max(0, Math.min(active + STEPS[event.key], count - 1)));
      else if (event.key === 'Enter' && isOpen && count > 0) onChoose(active);
      else return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return {
    active,
    /** Choose nothing but the first line again: what is found has changed. */
    reset: () => setActive(0),
    field: /** @type {const} */ ({
      role: 'combobox',
      'aria-expanded': isOpen && count > 0,
      'aria-controls': `${id}-list`,
      'aria-activedescendant': isOpen && count > 0 ? `${id}-${active}` : undefined,
      'aria-autocomplete': 'list',
      autoComplete: 'off',
      spellCheck: false,
      onKeyDown,
    }),
    list: /** @type {const} */ ({id: `${id}-list`, role: 'listbox'}),
    /** @param {number} index */
    option: (index) =>
      /** @type {const} */ ({
        id: `${id}-${index}`,
        role: 'option',
        'aria-selected': index === active,
        onMouseMove: () => setActive(index),
        onClick: () => onChoose(index),
      }),
  };
}
