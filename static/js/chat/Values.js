/** What the chat remembers here, and what the newest turn changed. */
import {classes, h, tags, useEffect, useState} from '../h.js';
import {table as rowsOf} from '../core/tiers.js';
import {readMemory} from '../state/memory.js';
import {useStore} from '../state/store.js';
import {preview} from '../state/values.js';
import {openDock} from '../state/view.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {NotRead} from '../ui/empty.js';
import {Icon} from '../ui/icons.js';
import {useTalk} from './talk.js';
import {answerOf} from './versions.js';

const {caption, code, div, p, s, span, table, tbody, td, th, thead, tr} = tags;

const NOWHERE = Object.freeze({session: '', branch: ''});
/** How many names are drawn. */
const MOST = 200;

/** @typedef {{scope: string, key: string, before?: any, after?: any}} Change a side that is missing: there was none */

/** @param {{place: import('./talk.js').Place | null}} props */
export function Values({place}) {
  const {items, state, error} = useStore((all) => all.session.stored);
  const floor = useTalk(place ?? NOWHERE).floors.at(-1);
  const page = floor ? (answerOf(floor)?.id ?? null) : null;
  const changes = useChanges(page, items);
  const rows = rowsOf(items);
  const changed = new Map(changes.map((one) => [`${one.scope} ${one.key}`, one]));
  const gone = changes.filter((one) => !('after' in one) && !rows.some((row) => row.key === one.key && row.winner === one.scope));
  const shown = [...rows].sort((a, b) => Number(changed.has(`${b.winner} ${b.key}`)) - Number(changed.has(`${a.winner} ${a.key}`)));
  if (state === 'failed') return h(NotRead, null, t('variables.notRead', {message: error ?? ''}));
  return div(
    {className: 'chat-values'},
    floor ? p({className: 'field-hint'}, t('chat.changed', {n: changes.length})) : null,
    rows.length + gone.length === 0
      ? p({className: 'panel-empty'}, h(Icon, {name: 'variable'}), t('chat.noValues'))
      : table(
          {className: 'variables-table'},
          caption({className: 'visually-hidden'}, t('chat.values')),
          thead(null, tr(null, th({scope: 'col'}, t('variables.name')), th({scope: 'col'}, t('variables.value')), th({scope: 'col'}, t('variables.tier')))),
          tbody(
            null,
            gone.map((one) => h(Row, {key: `gone ${one.scope} ${one.key}`, name: one.key, tier: one.scope, change: one})),
            shown.slice(0, MOST).map((row) =>
              h(Row, {key: row.key, name: row.key, tier: row.winner, value: row[row.winner]?.value, isThere: true, change: changed.get(`${row.winner} ${row.key}`)})),
          ),
        ),
    rows.length > MOST ? p({className: 'field-hint'}, t('variables.shownOf', {shown: MOST, n: rows.length})) : null,
    h(Button, {label: t('chat.allVariables'), icon: 'variable', tone: 'quiet', onClick: () => openDock('variables')}),
  );
}

/** @param {{name: string, tier: string, value?: any, isThere?: boolean, change?: Change}} props */
function Row({name, tier, value, isThere = false, change}) {
  return tr(
    {className: classes(change !== undefined && 'chat-changed')},
    th({scope: 'row'}, code(null, preview(name, 80))),
    td(
      null,
      change !== undefined && 'before' in change ? span({className: 'chat-before'}, s(null, preview(change.before, 60)), ' → ') : null,
      change !== undefined && !('before' in change) ? span({className: 'chip'}, t('chat.new')) : null,
      isThere ? code(null, preview(value)) : t('chat.deleted'),
    ),
    td(null, t(`variables.tier.${tier}`)),
  );
}

/** What the turn behind an output page changed in the tiers that outlive it. @param {string | null} page @param {unknown} again @returns {Change[]} */
function useChanges(page, again) {
  const [changes, setChanges] = useState(/** @type {Change[]} */ ([]));
  useEffect(() => {
    let isStale = false;
    if (page === null) setChanges([]);
    else {
      readMemory(`/pages/${encodeURIComponent(page)}/variables/changes`).then(
        ({data}) => isStale || setChanges(data.items),
        // The page may be gone by now; the values themselves say when they cannot be read.
        () => isStale || setChanges([]),
      );
    }
    return () => {
      isStale = true;
    };
  }, [page, again]);
  return changes;
}
