/** Usage, budgets, and who did what: the pages of what this server counts. */
import {h, useState} from '../h.js';
import {t} from '../words.js';
import {Dialog} from '../ui/dialog.js';
import {Tablist} from '../ui/tablist.js';
import {Budgets} from './Budgets.js';
import {Log} from './Log.js';
import {Usage} from './Usage.js';

/** @typedef {'usage' | 'budgets' | 'log'} PageName */

/** @param {{close: () => void, page?: PageName, refused?: import('./Budgets.js').Refused | null}} props `refused`: the error that led here */
export function UsagePages({close, page: first = 'usage', refused = null}) {
  const [page, setPage] = useState(first);
  return h(
    Dialog,
    {title: t('usage.title'), size: 'large', className: 'usage-dialog', onClose: close},
    h(Tablist, {
      label: t('usage.title'),
      className: 'usage-tabs',
      tabs: [
        {id: 'usage', label: t('usage.page.usage'), icon: 'coins'},
        {id: 'budgets', label: t('usage.page.budgets'), icon: 'lock'},
        {id: 'log', label: t('usage.page.log'), icon: 'history'},
      ],
      value: page,
      onChange: (id) => setPage(/** @type {PageName} */ (id)),
      children: page === 'usage' ? h(Usage) : page === 'budgets' ? h(Budgets, {refused}) : h(Log),
    }),
  );
}
