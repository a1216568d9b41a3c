/** The working variables of a branch: what models keep between the calls of their tools, and what a person keeps for them. */
import {h, tags, useEffect, useRef, useState} from '../h.js';
import {openDialog} from '../state/dialogs.js';
import {reasonOf} from '../state/failures.js';
import {shallow, useStore} from '../state/store.js';
import {timeInWords} from '../state/times.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {NotRead, Waiting} from '../ui/empty.js';
import {SelectField, TextField} from '../ui/fields.js';
import {Icon} from '../ui/icons.js';
import {listVariables, TYPES} from './workingvariables.js';

const {button, caption, code, div, p, span, table, tbody, td, th, thead, tr} = tags;

/** @typedef {import('./workingvariables.js').Facts} Facts */
/** @typedef {import('./workingvariables.js').Place} Place */

const SEARCH_MS = 250;
/** @type {Readonly<{search: string, type: string}>} */
const NOTHING = Object.freeze({search: '', type: ''});

export function Working() {
  const {session, branch} = useStore((state) => ({session: state.session.session, branch: state.session.branch ?? 'main'}), shallow);
  return session === null ? p({className: 'panel-empty'}, h(Icon, {name: 'info'}), t('variables.workingNowhere')) : h(List, {key: `${session} ${branch}`, place: {session, branch}});
}

/** @param {{place: Place}} props */
function List({place}) {
  // Whatever changes the variables of the chat may change these.
  const changed = useStore((state) => state.session.stored.items);
  const [sought, setSought] = useState(NOTHING);
  const [read, setRead] = useState(/** @type {{items: Facts[], total: number} | {error: string} | null} */ (null));
  const readings = useRef(0);
  /** @param {Facts[]} known what stands before the part that is read */
  const load = async (known) => {
    readings.current += 1;
    const mine = readings.current;
    /** @param {typeof read} found */
    const show = (found) => {
      if (mine === readings.current) setRead(found);
    };
    try {
      const {items, total} = await listVariables(place, sought, known.length);
      show({items: [...known, ...items], total});
    } catch (error) {
      show({error: reasonOf(error)});
    }
  };
  useEffect(() => {
    const timer = setTimeout(() => void load([]), sought === NOTHING ? 0 : SEARCH_MS);
    return () => clearTimeout(timer);
  }, [sought, changed]);
  /** @param {string | null} name null: a new one */
  const open = (name) => void openDialog('working-variable', {place, name, onChanged: () => void load([])});
  return div(
    {className: 'variables-writes'},
    div(
      {className: 'variables-tools'},
      h(TextField, {label: t('variables.workingFind'), value: sought.search, onChange: (search) => setSought({...sought, search})}),
      h(SelectField, {
        label: t('variables.workingType'),
        value: sought.type,
        onChange: (type) => setSought({...sought, type}),
        options: ['', ...TYPES].map((type) => ({value: type, label: t(type === '' ? 'variables.workingAll' : `variables.working.${type}`)})),
      }),
      h(Button, {label: t('variables.workingNew'), icon: 'add', onClick: () => open(null)}),
    ),
    read === null
      ? h(Waiting)
      : 'error' in read
        ? h(NotRead, null, read.error)
        : read.items.length === 0
          ? p({className: 'panel-empty'}, t('variables.workingNone'))
          : h(Rows, {items: read.items, onOpen: open}),
    read !== null && 'items' in read && read.items.length < read.total
      ? h(Button, {label: t('variables.shownOf', {shown: read.items.length, n: read.total}), icon: 'arrowDown', onClick: () => void load(read.items)})
      : null,
  );
}

/** @param {{items: Facts[], onOpen: (name: string) => void}} props */
function Rows({items, onOpen}) {
  return div(
    {className: 'variables-scroll', tabIndex: 0, role: 'region', 'aria-label': t('variables.tab.working')},
    table(
      {className: 'variables-table'},
      caption({className: 'visually-hidden'}, t('variables.tab.working')),
      thead(null, tr(null, ['name', 'workingType', 'workingLength', 'workingTags', 'updated'].map((head) => th({key: head, scope: 'col'}, t(`variables.${head}`))))),
      tbody(
        null,
        items.map((one) =>
          tr(
            {key: one.name},
            th({scope: 'row'}, button({type: 'button', className: 'working-open', title: one.desc || undefined, onClick: () => onOpen(one.name)}, code(null, one.name))),
            td(null, t(`variables.working.${one.type}`)),
            td(null, t('variables.workingCharacters', {n: one.length})),
            td(null, one.tags.map((tag) => span({key: tag, className: 'chip'}, tag)), one.keep ? span({className: 'chip'}, t('variables.workingKept')) : null),
            td(null, timeInWords(one.updated_at)),
          )),
      ),
    ),
  );
}
