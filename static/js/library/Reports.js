/** Files into the library: choose or drop them, and read what was made of each. */
import {runAction} from '../actions.js';
import {h, tags, useRef} from '../h.js';
import {chooseSession} from '../state/session.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Dialog} from '../ui/dialog.js';
import {Icon} from '../ui/icons.js';
import {openAsset} from './commands.js';
import {ACCEPTED, forgetArrivals, importFiles, useArrivals} from './importing.js';

const {details, div, h3, input, li, p, span, summary, ul} = tags;

const SIGNS = /** @type {const} */ ({waiting: 'history', reading: 'spinner', done: 'check', failed: 'error'});
/** What a report lists, in the order in which it matters. */
const LISTS = ['dropped_fields', 'warnings', 'downgraded_entries', 'unsupported_fields', 'unresolved_markers', 'ignored_fields'];

/** @param {{close: () => void}} props */
export function Reports({close}) {
  const arrivals = useArrivals();
  const chooser = useRef(/** @type {HTMLInputElement | null} */ (null));
  const end = () => {
    close();
    forgetArrivals();
  };
  return h(
    Dialog,
    {title: t('library.action.import'), size: 'large', onClose: end, actions: [h(Button, {key: 'close', label: t('app.close'), tone: 'primary', onClick: end})]},
    div(
      {className: 'drop-zone'},
      h(Icon, {name: 'import', size: 22}),
      p(null, t('library.dropHere')),
      h(Button, {label: t('library.chooseFiles'), onClick: () => chooser.current?.click()}),
      input({
        ref: chooser,
        type: 'file',
        multiple: true,
        accept: ACCEPTED,
        className: 'visually-hidden',
        tabIndex: -1,
        'aria-label': t('library.chooseFiles'),
        onChange: (event) => {
          const files = [...(event.target.files ?? [])];
          event.target.value = '';
          void importFiles(files);
        },
      }),
    ),
    arrivals.length === 0
      ? null
      : ul({className: 'library-arrivals', 'aria-label': t('library.report')}, arrivals.map((arrival) => li({key: arrival.key}, h(Arrival, {arrival, onOpen: end})))),
  );
}

/** @param {{arrival: import('./importing.js').Arrival, onOpen: () => void}} props */
function Arrival({arrival: {file, state, kind, result, error}, onOpen}) {
  const open = () => {
    onOpen();
    if (kind === 'chat') {
      chooseSession({session: result.session_id, branch: 'main'});
      runAction('chat.open');
    } else openAsset(/** @type {any} */ (kind), kind === 'character' ? result.character_id : result.id);
  };
  return div(
    {className: `library-arrival library-arrival-${state}`},
    div(
      {className: 'library-arrival-head'},
      h(Icon, {name: SIGNS[state], className: state === 'reading' ? 'spin' : ''}),
      span({className: 'library-name'}, file),
      span({className: 'text-soft'}, kind === null ? t(`library.arrival.${state}`) : t(`library.one.${kind}`)),
      kind === null ? null : h(Button, {label: t('library.open'), title: t('library.openNamed', {name: file}), onClick: open}),
    ),
    error === null ? null : p({role: 'alert', className: 'field-error'}, error),
    result === null ? null : h(Report, {report: result.report}),
  );
}

/** @param {{report: Record<string, any>}} props as in docs/assets.md */
function Report({report}) {
  const read = Object.entries(report.read ?? {});
  const lists = LISTS.filter((name) => Array.isArray(report[name]) && report[name].length > 0);
  return div(
    {className: 'import-report'},
    read.length ? p({className: 'text-soft'}, t('library.report.read', {list: read.map(([name, n]) => `${name} ${n}`).join(', ')})) : null,
    report.scripts_waiting ? p({className: 'text-warn'}, t('library.report.scripts_waiting', {n: report.scripts_waiting})) : null,
    lists.map((name) =>
      // Losses are told at once; what is only kept is there for whoever asks.
      details(
        {key: name, open: name !== 'ignored_fields'},
        summary(null, h3(null, t(`library.report.${name}`, {n: report[name].length}))),
        ul(null, report[name].map((/** @type {string} */ line) => li({key: line}, line))),
      ),
    ),
  );
}
