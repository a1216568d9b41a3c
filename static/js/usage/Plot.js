/**
 * What each day or month came to, as bars. Each bar is a button that says its amounts and narrows the page to its day: arrow keys go from one
 * to the next. The table by day below says the same.
 */
import {h, tags, useId, useRef, useState} from '../h.js';
import {money, price, short, tokens} from '../costs/amounts.js';
import {t} from '../words.js';
import {inWords} from './range.js';

const {button, defs, div, figcaption, figure, line, path, pattern, rect, span, svg} = tags;

/** @typedef {import('../costs/amounts.js').Sum} Sum */
/** @typedef {'price' | 'tokens' | 'calls'} Measure */
/** @typedef {{name: string, sum: Sum}} Part */

const HEIGHT = 120;
const WIDTH = 100;
/** How much of its place a bar fills. */
const FILLED = 0.8;
const MARK = 5;

/** The parts of a bar from below: amounts, and the look of each. @param {Sum} sum @param {Measure} measure @returns {[number, string][]} */
function layersOf(sum, measure) {
  if (measure === 'calls') return [[sum.calls, 'known']];
  if (measure === 'tokens') return [[sum.input_tokens, 'known'], [sum.output_tokens, 'second']];
  return [[sum.price_nano - sum.estimated_nano, 'known'], [sum.estimated_nano, 'guessed']];
}

/** @param {Sum} sum @param {Measure} measure */
const heightOf = (sum, measure) => layersOf(sum, measure).reduce((all, [amount]) => all + amount, 0);

/** Whether a bar does not show all: amounts that nobody knows. @param {Sum} sum @param {Measure} measure */
const isShort = (sum, measure) => (measure === 'price' ? sum.unpriced > 0 : measure === 'tokens' && sum.uncounted > 0);

/** The least round number that is no smaller: 1, 2 or 5 and noughts. @param {number} most */
function roundUp(most) {
  if (most <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  return ([1, 2, 5, 10].find((step) => step * power >= most) ?? 10) * power;
}

/** @param {{parts: Part[], measure: Measure, onChoose: (name: string) => void}} props */
export function Plot({parts, measure, onChoose}) {
  const id = useId();
  const list = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [at, setAt] = useState(parts.length - 1);
  const [shown, setShown] = useState(/** @type {number | null} */ (null));
  const highest = Math.max(...parts.map(({sum}) => heightOf(sum, measure)));
  const most = roundUp(highest);
  const step = WIDTH / parts.length;
  const now = Math.min(at, parts.length - 1);
  const told = shown === null ? null : (parts[shown] ?? null);
  /** @param {import('react').KeyboardEvent} event */
  const onKey = (event) => {
    const next = /** @type {Record<string, number>} */ ({ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: parts.length - 1})[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const to = Math.min(Math.max(next, 0), parts.length - 1);
    setAt(to);
    /** @type {HTMLElement | undefined} */ (list.current?.children[to])?.focus();
  };
  /** @param {number} amount */
  const mark = (amount) => (measure === 'price' ? money(amount) : short(amount));
  return figure(
    {className: 'usage-plot'},
    figcaption({className: 'visually-hidden', id}, t(`usage.plot.${measure}`), ' ', t('usage.plotHint')),
    div(
      {className: 'usage-drawing'},
      div({className: 'usage-axis', 'aria-hidden': true}, [1, 0.5, 0].map((part) => span({key: part}, part === 0 ? '0' : highest > 0 ? mark(most * part) : ''))),
      div(
        {className: 'usage-bars'},
        svg(
          {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', 'aria-hidden': true, focusable: false},
          defs(null, pattern({id: `${id}-guess`, width: 4, height: 4, patternUnits: 'userSpaceOnUse'}, rect({width: 4, height: 4, className: 'usage-guess-back'}), path({d: 'M0 2h4', className: 'usage-guess-line'}))),
          [0, 0.5, 1].map((part) => line({key: part, x1: 0, x2: WIDTH, y1: HEIGHT * part, y2: HEIGHT * part, className: 'usage-grid'})),
          parts.flatMap(({name, sum}, place) => {
            let y = HEIGHT;
            const x = (place + (1 - FILLED) / 2) * step;
            const bars = layersOf(sum, measure).map(([amount, look]) => {
              const height = (amount / most) * HEIGHT;
              y -= height;
              return rect({key: `${name} ${look}`, x, y, width: step * FILLED, height, className: `usage-bar usage-bar-${look}`, style: look === 'guessed' ? {fill: `url(#${id}-guess)`} : undefined});
            });
            return isShort(sum, measure) ? [...bars, rect({key: `${name} unknown`, x, y: Math.max(0, y - MARK), width: step * FILLED, height: MARK, className: 'usage-bar usage-bar-unknown'})] : bars;
          }),
        ),
        div(
          {ref: list, className: 'usage-hits', role: 'group', 'aria-labelledby': id, onKeyDown: onKey, onMouseLeave: () => setShown(null)},
          parts.map(({name, sum}, place) =>
            button({
              key: name,
              type: 'button',
              className: 'usage-hit',
              tabIndex: place === now ? 0 : -1,
              'aria-label': words(name, sum),
              onFocus: () => {
                setAt(place);
                setShown(place);
              },
              onBlur: () => setShown(null),
              onMouseEnter: () => setShown(place),
              onClick: () => onChoose(name),
            }),
          ),
        ),
      ),
      div({className: 'usage-days', 'aria-hidden': true}, span(null, inWords(parts[0].name, true)), parts.length > 1 ? span(null, inWords(parts[parts.length - 1].name, true)) : null),
    ),
    div(
      {className: 'usage-legend', 'aria-hidden': true},
      told === null
        ? [...legendOf(parts, measure)].map((look) => span({key: look}, span({className: `usage-key usage-bar-${look}`}), t(`usage.legend.${measure}.${look}`)))
        : span({className: 'usage-pointed'}, words(told.name, told.sum)),
    ),
  );
}

/** What is seen in the bars, where that needs words. @param {Part[]} parts @param {Measure} measure @returns {Set<string>} */
function legendOf(parts, measure) {
  const looks = parts.flatMap(({sum}) => layersOf(sum, measure).flatMap(([amount, look]) => (amount > 0 ? [look] : [])));
  return new Set([...looks, ...(parts.some(({sum}) => isShort(sum, measure)) ? ['unknown'] : [])]);
}

/** @param {string} name @param {Sum} sum */
function words(name, sum) {
  if (sum.calls === 0) return t('usage.partEmpty', {day: inWords(name)});
  return t('usage.part', {day: inWords(name), n: sum.calls, input: tokens(sum.input_tokens, sum), output: tokens(sum.output_tokens, sum), price: price(sum)});
}
