/** Two runs side by side: which node took how long, and what differs in what was sent, said and given. */
import {Differences} from '../code/Differences.js';
import {h, tags, useMemo, useState} from '../h.js';
import {compareRuns, textOf} from '../core/runlog.js';
import {useStore} from '../state/store.js';
import {t} from '../words.js';
import {Dialog} from '../ui/dialog.js';
import {Icon} from '../ui/icons.js';
import {Tablist} from '../ui/tablist.js';
import {clock, duration} from '../state/times.js';

const {button, caption, div, p, span, table, tbody, td, th, thead, tr} = tags;

/** @typedef {import('../core/doc.js').RunView} RunView */
/** @typedef {'text' | 'request' | 'out'} Part */

/** How much of a text is compared: two of ten megabytes would hold the page for minutes. */
const MOST = 200_000;

/** @param {{a: string, b: string, close: () => void}} props */
export function CompareRuns({a, b, close}) {
  const first = useStore((state) => state.runs.byId[a]);
  const second = useStore((state) => state.runs.byId[b]);
  return h(Dialog, {title: t('run.compareTitle'), size: 'full', onClose: close}, first && second ? h(Both, {a: first, b: second}) : p(null, t('run.gone')));
}

/** @param {{a: RunView, b: RunView}} props */
function Both({a, b}) {
  const found = useMemo(() => compareRuns(a, b), [a, b]);
  const [node, setNode] = useState(() => (found.nodes.find((one) => one.change === 'different') ?? found.nodes[0])?.node ?? null);
  const [part, setPart] = useState(/** @type {Part} */ ('text'));
  return div(
    {className: 'run-compare'},
    table(
      {className: 'run-lines'},
      caption({className: 'visually-hidden'}, t('run.compareTitle')),
      thead(null, tr(null, th({scope: 'col'}, t('run.node')), th({scope: 'col'}, named(a)), th({scope: 'col'}, named(b)), th({scope: 'col'}, t('run.difference')))),
      tbody(
        null,
        tr(null, th({scope: 'row'}, t('run.whole')), td(null, took(found.stateA, found.durationA)), td(null, took(found.stateB, found.durationB)), td(null, faster(found.durationA, found.durationB))),
        found.nodes.map((one) =>
          tr(
            {key: one.node, className: one.node === node ? 'run-line-viewed' : undefined},
            th({scope: 'row'}, button({type: 'button', className: 'run-link', 'aria-pressed': one.node === node, onClick: () => setNode(one.node)}, one.node)),
            td(null, one.stateA === null ? '–' : took(one.stateA, one.durationA)),
            td(null, one.stateB === null ? '–' : took(one.stateB, one.durationB)),
            td(
              null,
              span(
                {className: one.change === 'same' ? 'chip chip-good' : 'chip chip-warn'},
                h(Icon, {name: one.change === 'same' ? 'check' : 'compare', size: 12}),
                one.change === 'different' ? one.differs.map((what) => t(`run.differs.${what}`)).join(', ') : t(`run.change.${one.change}`),
              ),
              ' ',
              faster(one.durationA, one.durationB),
            ),
          ),
        ),
      ),
    ),
    node === null
      ? null
      : h(Tablist, {
          label: t('run.what'),
          tabs: ['text', 'request', 'out'].map((id) => ({id, label: t(`run.differs.${id}`)})),
          value: part,
          onChange: (id) => setPart(/** @type {Part} */ (id)),
          children: h(Sides, {key: `${node}/${part}`, before: shown(a, node, part), after: shown(b, node, part), labels: [named(a), named(b)]}),
        }),
  );
}

/** @param {RunView} run */
function named(run) {
  return `${run.summary.pipeline_name || run.summary.pipeline} · ${clock(run.summary.started ?? 0)}`;
}

/** @param {string} state @param {number | null} ms */
function took(state, ms) {
  return [t(`run.state.${state}`), duration(ms)].filter(Boolean).join(' · ');
}

/** @param {number | null} a @param {number | null} b */
function faster(a, b) {
  if (a === null || b === null || Math.round(a) === Math.round(b)) return '';
  return b < a ? t('run.faster', {time: duration(a - b)}) : t('run.slower', {time: duration(b - a)});
}

/** @param {RunView} run @param {string} node @param {Part} part */
function shown(run, node, part) {
  const one = Object.hasOwn(run.nodes, node) ? run.nodes[node] : null;
  if (!one) return '';
  const out = /** @type {any} */ (one.out);
  const text = part === 'text' ? out?.response_text || textOf(one) : (JSON.stringify(part === 'out' ? one.out : one.request, null, 2) ?? '');
  return text.slice(0, MOST);
}

/** Two texts beside each other, their differences marked. @param {{before: string, after: string, labels: [string, string]}} texts */
function Sides(texts) {
  if (texts.before === '' && texts.after === '') return p({className: 'run-empty'}, t('run.nothingToCompare'));
  return h(Differences, {...texts, className: 'run-sides'});
}
