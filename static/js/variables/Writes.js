/** What the run behind an output page wrote to its page and its floor, and what went on from there. */
import {h, tags, useEffect, useState} from '../h.js';
import {readMemory} from '../state/memory.js';
import {useStore} from '../state/store.js';
import {t} from '../words.js';
import {NotRead, Waiting} from '../ui/empty.js';
import {Icon} from '../ui/icons.js';
import {reasonOf} from '../state/failures.js';
import {timeInWords} from '../state/times.js';
import {preview} from '../state/values.js';

const {caption, code, div, h3, p, table, tbody, td, th, thead, tr} = tags;

/** @typedef {{staged: any[], promotions: any[]} | {error: string} | null} Read */

export function Writes() {
  const page = useStore((state) => state.session.page);
  const items = useStore((state) => state.session.stored.items);
  const [read, setRead] = useState(/** @type {Read} */ (null));
  useEffect(() => {
    if (page === null) return;
    let isStale = false;
    const path = `/pages/${encodeURIComponent(page)}/variables`;
    Promise.all([readMemory(`${path}/staged`), readMemory(`${path}/promotions`)]).then(
      ([staged, promotions]) => isStale || setRead({staged: staged.data.items, promotions: promotions.data.items}),
      (error) => isStale || setRead({error: reasonOf(error)}),
    );
    return () => {
      isStale = true;
    };
  }, [page, items]);
  useEffect(() => setRead(null), [page]);
  if (page === null) return p({className: 'panel-empty'}, h(Icon, {name: 'info'}), t('variables.choosePage'));
  if (read === null) return h(Waiting);
  if ('error' in read) return h(NotRead, null, read.error);
  return div(
    {className: 'variables-writes'},
    h(List, {
      title: t('variables.staged'),
      empty: t('variables.stagedEmpty'),
      heads: ['name', 'value', 'goes', 'status', 'source', 'updated'],
      rows: read.staged.map((one) => ({
        id: one.id,
        cells: [
          code(null, preview(one.key, 80)),
          code(null, preview(one.value)),
          t(`variables.intent.${one.intent}`),
          t(`variables.writeStatus.${one.status}`),
          [one.source?.toolName, one.source?.providerId].filter((part) => typeof part === 'string').join(' · '),
          timeInWords(one.created_at),
        ],
      })),
    }),
    h(List, {
      title: t('variables.promotions'),
      empty: t('variables.promotionsEmpty'),
      heads: ['name', 'value', 'goes', 'updated'],
      rows: read.promotions.map((one) => ({
        id: one.id,
        cells: [
          code(null, preview(one.key, 80)),
          code(null, preview(one.value)),
          t('variables.fromTo', {from: t(`variables.tier.${one.from_scope}`), to: t(`variables.tier.${one.to_scope}`)}),
          timeInWords(one.created_at),
        ],
      })),
    }),
  );
}

/** @param {{title: string, empty: string, heads: string[], rows: {id: string, cells: import('../h.js').ReactNode[]}[]}} props */
function List({title, empty, heads, rows}) {
  return div(
    null,
    h3(null, title),
    rows.length === 0
      ? p({className: 'panel-empty'}, empty)
      : div(
          {className: 'variables-scroll', tabIndex: 0, role: 'region', 'aria-label': title},
          table(
            {className: 'variables-table'},
            caption({className: 'visually-hidden'}, title),
            thead(null, tr(null, heads.map((head) => th({key: head, scope: 'col'}, t(`variables.${head}`))))),
            tbody(null, rows.map((row) => tr({key: row.id}, row.cells.map((cell, position) => td({key: position}, cell))))),
          ),
        ),
  );
}
