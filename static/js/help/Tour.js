/** Five steps on the pipeline in front: a card beside what it speaks of; nothing behind it is blocked. */
import {runAction} from '../actions.js';
import {h, tags, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore} from '../h.js';
import {store} from '../state/store.js';
import {activeTab, docOf, select} from '../state/tabs.js';
import {setView} from '../state/view.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {endTour, startTour, tour} from './tourstate.js';

const {div, h2, p, section} = tags;

/** @typedef {{id: string, at: string, prepare?: () => void}} Step */

/** @type {Step[]} */
const STEPS = [
  {id: 'canvas', at: '#stage', prepare: () => setView({narrowPage: 'canvas'})},
  {id: 'nodes', at: '.left-side', prepare: () => setView({left: 'nodes', narrowPage: 'outline'})},
  {id: 'inspector', at: '.inspector-side', prepare: showFirstCall},
  {id: 'preview', at: '.dock', prepare: () => void runAction('run.preview')},
  {id: 'try', at: '.dock', prepare: () => void runAction('run.open')},
];

/** Select the node that calls a model, so that the inspector has something to show. */
function showFirstCall() {
  const tab = activeTab();
  const types = store.get().nodeTypes;
  const node = tab && (docOf(tab).nodes.find((one) => types[one.type]?.calls_upstream) ?? docOf(tab).nodes[0]);
  if (node) select({nodes: [node.id]});
  setView({inspectorOpen: true, inspectorTab: 'settings', narrowPage: 'inspector'});
}

export function Tour() {
  const {step} = useSyncExternalStore(tour.subscribe, tour.get);
  if (step === null) return null;
  return step < 0 ? h(Offer) : h(Card, {key: step, step});
}

function Offer() {
  return section(
    {className: 'tour tour-offer', 'aria-label': t('help.action.tour')},
    h2(null, t('help.tourOffer')),
    p(null, t('help.tourOfferText')),
    div(
      {className: 'tour-actions'},
      h(Button, {label: t('help.noThanks'), tone: 'quiet', onClick: endTour}),
      h(Button, {label: t('help.startTour'), tone: 'primary', onClick: startTour}),
    ),
  );
}

/** @param {{step: number}} props */
function Card({step}) {
  const now = STEPS[step];
  const element = useRef(/** @type {HTMLElement | null} */ (null));
  const [place, setPlace] = useState({left: 80, top: 80});
  useEffect(() => {
    now.prepare?.();
  }, [now]);
  useLayoutEffect(() => {
    const put = () => {
      const target = document.querySelector(now.at)?.getBoundingClientRect();
      const box = element.current?.getBoundingClientRect();
      if (target && box) setPlace(beside(target, box));
    };
    put();
    // Panels that the step opened take their place in the next frames.
    const late = setTimeout(put, 150);
    addEventListener('resize', put);
    element.current?.focus();
    return () => {
      clearTimeout(late);
      removeEventListener('resize', put);
    };
  }, [now]);
  const isLast = step === STEPS.length - 1;
  return section(
    {
      ref: element,
      className: 'tour',
      style: place,
      tabIndex: -1,
      'aria-label': t('help.action.tour'),
      onKeyDown: (event) => {
        if (event.key === 'Escape') endTour();
      },
    },
    p({className: 'text-soft'}, t('help.tourStep', {step: step + 1, of: STEPS.length})),
    h2(null, t(`help.tour.${now.id}`)),
    p(null, t(`help.tour.${now.id}Text`)),
    div(
      {className: 'tour-actions'},
      h(Button, {label: t('help.endTour'), tone: 'quiet', onClick: endTour}),
      step > 0 ? h(Button, {label: t('help.back'), onClick: () => tour.set({step: step - 1})}) : null,
      h(Button, {label: t(isLast ? 'help.done' : 'help.next'), tone: 'primary', onClick: () => (isLast ? endTour() : tour.set({step: step + 1}))}),
    ),
  );
}

/**
 * Where the card stands: on the side of the target that has room, within the window.
 * @param {DOMRect} target
 * @param {DOMRect} box
 */
function beside(target, box) {
  const gap = 12;
  const right = target.right + gap + box.width < innerWidth;
  const left = target.left - gap - box.width > 0;
  const above = target.top - gap - box.height > 0;
  // Within a target that leaves no room beside it: in the corner, where the least of it is covered.
  const x = right ? target.right + gap : left ? target.left - gap - box.width : target.right - gap - box.width;
  const y = right || left ? target.top + 40 : above ? target.top - gap - box.height : target.bottom - gap - box.height;
  return {left: clamp(x, innerWidth - box.width - gap), top: clamp(y, innerHeight - box.height - gap)};
}

/** @param {number} value @param {number} most */
function clamp(value, most) {
  return Math.max(12, Math.min(value, most));
}
