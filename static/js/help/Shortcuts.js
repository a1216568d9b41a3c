/** All keys on one page; each can be changed by pressing others. */
import {ACTIONS, keysOf, keysOfEvent} from '../actions.js';
import {classes, h, tags, useState} from '../h.js';
import {announce} from '../state/notices.js';
import {store, useStore} from '../state/store.js';
import {setView} from '../state/view.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Dialog} from '../ui/dialog.js';
import {TextField} from '../ui/fields.js';

const {button, kbd, p, span, table, tbody, td, th, thead, tr} = tags;
const MODIFIERS = new Set(['Control', 'Shift', 'Alt', 'Meta', 'AltGraph']);

/** @param {{close: () => void}} props */
export function Shortcuts({close}) {
  const own = useStore((state) => state.view.keys);
  const [waiting, setWaiting] = useState(/** @type {string | null} */ (null));
  const [query, setQuery] = useState('');
  const shown = ACTIONS.filter((action) => (!action.offered || action.offered(store.get())) && t(action.title).toLowerCase().includes(query.toLowerCase()));
  return h(
    Dialog,
    {
      title: t('help.action.shortcuts'),
      size: 'large',
      onClose: close,
      actions: h(Button, {label: t('help.resetKeys'), disabled: Object.keys(own).length === 0, onClick: () => setView({keys: {}})}),
    },
    p({className: 'text-soft'}, t('help.shortcutsText')),
    h(TextField, {label: t('help.filterActions'), value: query, onChange: setQuery}),
    table(
      {className: 'shortcuts'},
      thead(null, tr(null, th({scope: 'col'}, t('help.whatItDoes')), th({scope: 'col'}, t('help.keys')), th({scope: 'col'}, t('help.change')))),
      tbody(
        null,
        shown.map((action) => {
          const keys = keysOf(action.id);
          const rivals = keys.flatMap((one) => conflicts(action.id, one));
          return tr(
            {key: action.id},
            td(null, t(action.title), rivals.length ? p({className: 'field-error'}, t('help.conflict', {other: rivals.join(', ')})) : null),
            td(null, keys.map((one) => kbd({key: one}, one))),
            td(
              null,
              action.native ? span({className: 'text-soft'}, t('help.native')) : button(
                {
                  type: 'button',
                  className: classes('button', waiting === action.id && 'button-primary'),
                  'aria-label': t('help.changeKeys', {action: t(action.title)}),
                  onClick: () => {
                    setWaiting(action.id);
                    announce(t('help.pressKeys'));
                  },
                  onBlur: () => setWaiting(null),
                  onKeyDown: (event) => {
                    if (waiting !== action.id || MODIFIERS.has(event.key) || event.key === 'Tab') return;
                    event.preventDefault();
                    event.stopPropagation();
                    if (event.key !== 'Escape') setKeys(action.id, event.key === 'Delete' || event.key === 'Backspace' ? [] : [keysOfEvent(event.nativeEvent)]);
                    setWaiting(null);
                  },
                },
                t(waiting === action.id ? 'help.pressKeys' : 'help.change'),
              ),
              own[action.id]
                ? h(Button, {label: t('help.resetOne', {action: t(action.title)}), icon: 'undo', iconOnly: true, tone: 'quiet', onClick: () => resetKeys(action.id)})
                : null,
            ),
          );
        }),
      ),
    ),
  );
}

/** @param {string} id @param {string[]} keys */
function setKeys(id, keys) {
  setView({keys: {...store.get().view.keys, [id]: keys}});
}

/** @param {string} id */
function resetKeys(id) {
  const {[id]: _gone, ...rest} = store.get().view.keys;
  setView({keys: rest});
}

/** Other actions that listen to the same keys. @param {string} id @param {string} keys */
function conflicts(id, keys) {
  return ACTIONS.filter((other) => other.id !== id && keysOf(other.id).includes(keys)).map((other) => t(other.title));
}
