/** The left side: a rail of panel buttons, and the panel that is open. */
import {classes, h, tags} from '../h.js';
import {PANELS} from '../panels.js';
import {useStore} from '../state/store.js';
import {setView, toggleLeft} from '../state/view.js';
import {t} from '../words.js';
import {Boundary} from '../ui/boundary.js';
import {Icon} from '../ui/icons.js';

const {button, div, h2, nav, section, span} = tags;

/** @param {{isNarrow?: boolean, panel?: string}} props */
export function LeftSide({isNarrow, panel}) {
  const left = useStore((state) => state.view.left);
  const width = useStore((state) => state.view.leftWidth);
  const open = PANELS.find((one) => one.place === 'left' && one.id === (isNarrow ? panel : left));
  return div(
    {className: classes('left-side', isNarrow && 'left-narrow')},
    nav(
      {className: 'rail', 'aria-label': t('app.panels')},
      PANELS.filter((one) => one.place === 'left').map((one) => h(RailButton, {key: one.id, panel: one, isOpen: one.id === open?.id, isNarrow})),
    ),
    open
      ? section(
          {className: 'left-panel', style: isNarrow ? undefined : {width}, 'aria-labelledby': 'left-title'},
          h2({id: 'left-title', className: 'panel-title'}, t(open.title)),
          div({className: 'left-body'}, h(Boundary, {key: open.id}, h(open.Component))),
        )
      : null,
  );
}

/** @param {{panel: import('../panels.js').Panel, isOpen: boolean, isNarrow?: boolean}} props */
function RailButton({panel, isOpen, isNarrow}) {
  const count = useStore((state) => panel.count?.(state) ?? '');
  return button(
    {
      type: 'button',
      className: classes('rail-button', isOpen && 'rail-open'),
      'aria-pressed': isOpen,
      title: t(panel.title),
      onClick: () => (isNarrow ? setView({left: panel.id, narrowPage: 'outline'}) : toggleLeft(panel.id)),
    },
    h(Icon, {name: panel.icon, size: 18}),
    span({className: 'rail-label'}, t(panel.title)),
    count ? span({className: 'badge'}, count) : null,
  );
}
