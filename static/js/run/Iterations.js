/** Which iteration of a loop is looked at: one before, one behind, or any by its number. */
import {h, tags, useMemo, useState} from '../h.js';
import {walksOf} from '../core/walks.js';
import {chooseIteration} from '../state/runs.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';

const {input, span} = tags;

/**
 * The loops around a node of a run, the outermost first.
 * @param {{path: string, run: import('../core/doc.js').RunView}} props `path`: what stands before the node's own id
 */
export function Iterations({path, run}) {
  const walks = useMemo(() => walksOf(run), [run]);
  const steps = path.split('/').slice(0, -1);
  return steps.flatMap((step, index) => {
    const cut = step.indexOf('#');
    if (cut < 0) return [];
    const holder = [...steps.slice(0, index), step.slice(0, cut)].join('/');
    const iterations = walks.get(holder)?.iterations ?? [];
    return [h(Choice, {key: holder, holder, iterations, shown: Number(step.slice(cut + 1))})];
  });
}

/** @param {{holder: string, iterations: number[], shown: number}} props `iterations`: the numbers of those that there are, in order */
export function Choice({holder, iterations, shown}) {
  const [typed, setTyped] = useState(/** @type {{text: string, shown: number} | null} */ (null));
  const at = iterations.indexOf(shown);
  /** @param {number} index */
  const go = (index) => chooseIteration(holder, index >= iterations.length - 1 ? null : iterations[Math.max(0, index)]);
  if (iterations.length === 0) return null;
  return span(
    {className: 'run-iterations', role: 'group', 'aria-label': t('run.iterationShown'), onClick: (/** @type {import('react').MouseEvent} */ event) => event.stopPropagation()},
    h(Button, {label: t('run.previousIteration'), icon: 'arrowLeft', iconOnly: true, tone: 'quiet', disabled: at <= 0, onClick: () => go(at - 1)}),
    input({
      className: 'input run-iteration',
      inputMode: 'numeric',
      'aria-label': t('run.iterationShown'),
      value: typed?.shown === shown ? typed.text : String(shown),
      onChange: (event) => {
        const wanted = Number(event.target.value);
        const found = iterations.indexOf(wanted);
        setTyped({text: event.target.value, shown: found < 0 ? shown : wanted});
        if (found >= 0) go(found);
      },
      onBlur: () => setTyped(null),
    }),
    span({className: 'text-soft'}, `/ ${iterations.at(-1)}`),
    h(Button, {label: t('run.nextIteration'), icon: 'arrowRight', iconOnly: true, tone: 'quiet', disabled: at === iterations.length - 1, onClick: () => go(at + 1)}),
  );
}
