/** A search box with a list, opened at a point of the window: what to add, where to connect to, what to go to, which model. */
import {classes, createPortal, h, tags, useEffect, useLayoutEffect, useMemo, useRef, useState} from '../h.js';
import {findByWords} from '../core/search.js';
import {t} from '../words.js';
import {useCombobox} from './combobox.js';
import {Icon} from './icons.js';
import {useTopLayer} from './layer.js';

const {div, input, li, p, span, ul} = tags;
const MARGIN = 8;

/**
 * @typedef {object} Choice
 * @property {string} key
 * @property {string} title
 * @property {string} [detail] a second, quiet text
 * @property {string} [icon]
 * @property {string} [group] a heading, shown while nothing is typed
 * @property {string} [words] further words to search in; `detail` is searched as it stands
 * @property {string} [more] long text that is searched too and not shown
 * @property {boolean} [last] behind all others that are found, unless its title begins with what is typed and is its `own`
 * @property {boolean} [own] the title is what a person called it
 * @property {number} [rank] smaller ones first while nothing is typed
 */

/**
 * @param {object} props
 * @param {string} props.label what is being chosen
 * @param {string} props.placeholder
 * @param {string} props.empty shown where nothing fits
 * @param {{x: number, y: number}} props.at in pixels of the window
 * @param {Choice[]} props.choices
 * @param {(query: string) => Choice[]} [props.search] finds the choices for a query; a fuzzy search in `choices` unless given
 * @param {(key: string) => void} props.onChoose
 * @param {() => void} props.onClose
 */
export function Chooser({label, placeholder, empty, at, choices, search, onChoose, onClose}) {
  const [query, setQuery] = useState('');
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const found = useMemo(() => findChoices(query, choices, search), [query, choices, search]);
  const host = useTopLayer();
  const place = usePlace(box, at, found.length);
  useOutside(box, onClose);
  const {active, reset, field, list, option} = useCombobox({
    count: found.length,
    onChoose: (index) => onChoose(found[index].key),
    onKey: (key) => {
      const isLeaving = key === 'Escape' || key === 'Tab';
      if (isLeaving) onClose();
      return isLeaving;
    },
  });
  const grouped = query === '';
  return createPortal(
    div(
      {ref: box, className: 'chooser', style: place, role: 'dialog', 'aria-label': label},
      div(
        {className: 'chooser-head'},
        h(Icon, {name: 'search', size: 16}),
        input({
          ...field,
          onKeyDown: (event) => {
            field.onKeyDown(event);
            // No key is for the canvas below while this is open.
            event.stopPropagation();
          },
          autoFocus: true,
          className: 'chooser-input',
          'aria-label': label,
          placeholder,
          value: query,
          onChange: (event) => {
            setQuery(event.target.value);
            reset();
          },
        }),
      ),
      ul(
        {...list, className: 'chooser-list', 'aria-label': label},
        found.flatMap((choice, index) => [
          grouped && choice.group && choice.group !== found[index - 1]?.group
            ? li({key: `group ${choice.group}`, role: 'presentation', className: 'chooser-group'}, choice.group)
            : null,
          li(
            {
              ...option(index),
              key: choice.key,
              className: classes('chooser-item', index === active && 'chooser-active'),
            },
            span({className: 'chooser-icon'}, h(Icon, {name: choice.icon ?? 'node', size: 16})),
            span({className: 'chooser-title'}, choice.title),
            choice.detail ? span({className: 'chooser-detail'}, choice.detail) : null,
          ),
        ]),
      ),
      found.length ? null : p({className: 'chooser-empty', role: 'status'}, empty || t('canvas.chooser.nothing')),
    ),
    host,
  );
}

/**
 * @param {string} query
 * @param {Choice[]} choices
 * @param {((query: string) => Choice[]) | undefined} search
 */
function findChoices(query, choices, search) {
  if (query.trim() === '') return [...choices].sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0));
  if (search) return search(query.trim());
  const found = findByWords(query, choices, (choice) => `${choice.title} ${choice.words ?? ''}`, (choice) => `${choice.detail ?? ''} ${choice.more ?? ''}`);
  if (!found.some((choice) => choice.last)) return found;
  const typed = query.trim().toLowerCase();
  // Who types the name that somebody gave to one of them means that one, and not a kind of which the help has the word.
  const isMeant = (/** @type {Choice} */ choice) => !!choice.own && choice.title.toLowerCase().startsWith(typed);
  const order = (/** @type {Choice} */ choice) => (isMeant(choice) ? 0 : choice.last ? 2 : 1);
  return [...found].sort((a, b) => order(a) - order(b));
}

/**
 * Keep the box inside the window.
 * @param {{current: HTMLElement | null}} box
 * @param {{x: number, y: number}} at
 * @param {number} count
 */
function usePlace(box, at, count) {
  const [place, setPlace] = useState({left: at.x, top: at.y});
  useLayoutEffect(() => {
    const size = box.current?.getBoundingClientRect();
    if (!size) return;
    setPlace((old) => {
      const left = Math.max(MARGIN, Math.min(at.x, innerWidth - size.width - MARGIN));
      // Once it stands it stays where it is while the list under it grows shorter.
      const top = Math.max(MARGIN, Math.min(old.top, at.y, innerHeight - size.height - MARGIN));
      return old.left === left && old.top === top ? old : {left, top};
    });
  }, [at.x, at.y, count]);
  return place;
}

/** @param {{current: HTMLElement | null}} box @param {() => void} onClose */
function useOutside(box, onClose) {
  const close = useRef(onClose);
  close.current = onClose;
  useEffect(() => {
    /** @param {Event} event */
    const outside = (event) => {
      if (!box.current?.contains(/** @type {Node} */ (event.target))) close.current();
    };
    document.addEventListener('pointerdown', outside, true);
    return () => document.removeEventListener('pointerdown', outside, true);
  }, []);
}
