/** The bar at the bottom of a narrow screen: one page at a time. */
import {h, tags} from '../h.js';
import {useStore} from '../state/store.js';
import {setView} from '../state/view.js';
import {t} from '../words.js';
import {Icon} from '../ui/icons.js';

const {button, nav, span} = tags;

/** @type {{id: import('../state/types.js').ViewState['narrowPage'], icon: string}[]} */
const PAGES = [
  {id: 'outline', icon: 'list'},
  {id: 'canvas', icon: 'graph'},
  {id: 'inspector', icon: 'edit'},
  {id: 'dock', icon: 'play'},
];

export function NarrowBar() {
  const page = useStore((state) => state.view.narrowPage);
  return nav(
    {className: 'narrow-bar', 'aria-label': t('app.pages')},
    PAGES.map((one) =>
      button(
        {
          key: one.id,
          type: 'button',
          'aria-current': one.id === page ? 'page' : undefined,
          // A phone's outline is the whole editor; the other left panels are one tap away.
          onClick: () => setView({narrowPage: one.id, ...(one.id === 'outline' ? {left: 'outline'} : {})}),
        },
        h(Icon, {name: one.icon, size: 20}),
        span(null, t(`app.page.${one.id}`)),
      ),
    ),
  );
}
