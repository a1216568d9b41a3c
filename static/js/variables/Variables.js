/** The panel of the dock: what is visible at the node, what is stored at a place of a chat, what a page's run wrote, and what models keep. */
import {h, tags, useEffect, useState} from '../h.js';
import {refreshStored} from '../state/session.js';
import {useStore} from '../state/store.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Tablist} from '../ui/tablist.js';
import {AtNode} from './AtNode.js';
import {PlaceBar} from './PlaceBar.js';
import {Stored} from './Stored.js';
import {Working} from './Working.js';
import {Writes} from './Writes.js';

const {div} = tags;

/** @typedef {keyof typeof VIEWS} View */

const VIEWS = {node: AtNode, stored: Stored, writes: Writes, working: Working};

let lastView = /** @type {View} */ ('node');

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
        {id: 'working', label: t('variables.tab.working'), icon: 'note'},
      ],
      value: view,
      onChange: (id) => {
        lastView = /** @type {View} */ (id);
        setView(lastView);
      },
      aside: h(Button, {label: t('variables.refresh'), icon: 'refresh', iconOnly: true, tone: 'quiet', onClick: () => void refreshStored(), rest: {'aria-busy': isLoading}}),
      children: div(
        {className: 'variables-body'},
        h(PlaceBar),
        h(VIEWS[view]),
      ),
    }),
  );
}
