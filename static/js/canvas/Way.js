/** The way to a pipeline that was opened from a node that calls it. */
import {h, tags} from '../h.js';
import {isSame} from '../core/doc.js';
import {useStore} from '../state/store.js';
import {activeTab, docOf} from '../state/tabs.js';
import {Icon} from '../ui/icons.js';
import {t} from '../words.js';
import {goBack, wayHere} from './calls.js';

const {button, li, nav, ol, span} = tags;

export function Way() {
  const way = useStore(wayHere, isSame);
  const name = useStore((state) => {
    const tab = activeTab(state);
    return tab ? docOf(tab).name || tab.id || '' : '';
  });
  if (!way.length) return null;
  return nav(
    {className: 'canvas-way', 'aria-label': t('canvas.way.label')},
    ol(
      null,
      way.map((step) =>
        li(
          {key: step.key},
          button({type: 'button', className: 'canvas-way-step', onClick: () => goBack(step)}, h(Icon, {name: 'arrowLeft', size: 14}), `${step.name} · ${step.title}`),
        ),
      ),
      li({'aria-current': 'page'}, span(null, name)),
    ),
  );
}
