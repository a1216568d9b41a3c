/** What tools and nodes wrote while the newest answer was made: what stayed with that answer, and what went further. */
import {h, tags, useState} from '../h.js';
import {preview} from '../state/values.js';
import {refreshStored} from '../state/session.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {NotRead, Waiting} from '../ui/empty.js';
import {Icon} from '../ui/icons.js';
import {change, useReading} from '../state/reading.js';
import {useTalk} from './talk.js';
import {answerOf} from './versions.js';

const {code, div, h3, li, p, section, span, ul} = tags;

const NOWHERE = Object.freeze({session: '', branch: ''});

/** @param {{place: import('./talk.js').Place | null}} props */
export function Writes({place}) {
  const [times, setTimes] = useState(0);
  const floor = useTalk(place ?? NOWHERE).floors.at(-1);
  const page = floor ? (answerOf(floor)?.id ?? null) : null;
  const base = page === null ? null : `/pages/${encodeURIComponent(page)}/variables`;
  const staged = useReading(base && `${base}/staged`, times);
  const promoted = useReading(base && `${base}/promotions`, times);
  const changes = useReading(base && `${base}/changes`, times);
  if (place === null || base === null) return p({className: 'panel-empty'}, h(Icon, {name: 'info'}), t(place === null ? 'chat.empty' : 'chat.beginning'));
  for (const one of [staged, promoted, changes]) {
    if (one === null) return h(Waiting);
    if ('error' in one) return h(NotRead, null, one.error);
  }
  /** @param {Promise<boolean>} work */
  const then = async (work) => {
    if (!(await work)) return;
    setTimes((count) => count + 1);
    await refreshStored();
  };
  const scope = {scope: 'branch', session_id: place.session, branch_id: place.branch};
  /** @param {any} one */
  const keep = (one) => void then(change('PUT', '/variables', {...scope, key: one.key, value: one.value}));
  /** @param {any} one a promotion: the variable becomes what it was before the turn */
  const takeBack = (one) => {
    const old = itemsOf(changes).find((each) => each.scope === one.to_scope && each.key === one.key);
    const isNew = old === undefined || !('before' in old);
    void then(isNew ? change('DELETE', `/variables/${encodeURIComponent(one.target_variable_id)}`, undefined) : change('PUT', '/variables', {scope: one.to_scope, scope_id: one.to_scope_id, key: one.key, value: old.before}));
  };
  return div(
    {className: 'chat-page'},
    p({className: 'field-hint'}, t('chat.writesText')),
    h(List, {
      title: t('chat.writesStaged'),
      none: t('chat.writesNone'),
      items: itemsOf(staged),
      act: (one) => (one.status === 'accepted_page_only' ? h(Button, {label: t('chat.writesKeep', {name: preview(one.key, 40)}), onClick: () => keep(one)}) : null),
      tell: (one) => t(one.status === 'promoted' ? 'chat.writesPromoted' : 'chat.writesPage'),
    }),
    h(List, {
      title: t('chat.writesPromotions'),
      none: t('chat.writesNoPromotions'),
      items: itemsOf(promoted),
      // What went to the floor goes with it; only what outlives the floor has to be taken back.
      act: (one) => (one.to_scope === 'floor' ? null : h(Button, {label: t('chat.writesBack', {name: preview(one.key, 40)}), tone: 'quiet', onClick: () => takeBack(one)})),
      tell: (one) => `${t(`variables.tier.${one.from_scope}`)} → ${t(`variables.tier.${one.to_scope}`)}`,
    }),
  );
}

/** @param {import('../state/reading.js').Reading} reading @returns {any[]} */
const itemsOf = (reading) => (reading !== null && 'data' in reading ? reading.data.items : []);

/** @param {{title: string, none: string, items: any[], act: (one: any) => any, tell: (one: any) => string}} props */
function List({title, none, items, act, tell}) {
  return section(
    null,
    h3(null, title),
    items.length === 0
      ? p({className: 'field-hint'}, none)
      : ul(
          {className: 'chat-writes', 'aria-label': title},
          items.map((one) =>
            li(
              {key: one.id},
              span(null, code(null, preview(one.key, 80)), ' = ', code(null, preview(one.value, 120)), ' ', span({className: 'text-soft'}, tell(one), one.reason ? ` · ${one.reason}` : '')),
              act(one),
            ),
          ),
        ),
  );
}
