/** The panel of the dock: what is visible at the node, what is stored at a place of a chat, and what a page's run wrote. */
import {h, tags, useEffect, useState} from '../h.js';
import {refreshStored} from '../state/session.js';
import {useStore} from '../state/store.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Tablist} from '../ui/tablist.js';
import {AtNode} from './AtNode.js';
import {PlaceBar} from './PlaceBar.js';
import {Stored} from './Stored.js';
import {Writes} from './Writes.js';

const {div} = tags;

let lastView = 'node';

export function Variables() {
  const [view, setView] = useState(lastView);
  const isIdle = useStore((state) => state.session.stored.state === 'idle');
  const isLoading = useStore((state) => state.session.stored.state === 'loading');
  useEffect(() => {
    if (isIdle) void refreshStored();
    // Other windows and clients write too, without a run that could be heard.
    const back = () => void refreshStored();
    addEventListener('focus', back);
    return () => removeEventListener('focus', back);
  }, []);
  return div(
    {className: 'variables'},
    h(Tablist, {
      label: t('variables.panel'),
      className: 'variables-tabs',
      tabs: [
        {id: 'node', label: t('variables.tab.node'), icon: 'node'},
        {id: 'stored', label: t('variables.tab.stored'), icon: 'variable'},
        {id: 'writes', label: t('variables.tab.writes'), icon: 'edit'},
      ],
      value: view,
      onChange: (id) => {
        lastView = id;
        setView(id);
      },
      aside: h(Button, {label: t('variables.refresh'), icon: 'refresh', iconOnly: true, tone: 'quiet', onClick: () => void refreshStored(), rest: {'aria-busy': isLoading}}),
      children: div(
        {className: 'variables-body'},
        h(PlaceBar),
        view === 'node' ? h(AtNode) : view === 'stored' ? h(Stored) : h(Writes),
      ),
    }),
  );
}
