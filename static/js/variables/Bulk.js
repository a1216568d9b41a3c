/** Many variables at once as JSON: to change them, to bring some in, or to take them away as a file. */
import {h, tags, useMemo, useState} from '../h.js';
import {copyText, downloadJson} from '../state/copying.js';
import {notify, notifyFailure} from '../state/notices.js';
import {refreshStored} from '../state/session.js';
import {useStore} from '../state/store.js';
import {t} from '../words.js';
import {Button, FileButton} from '../ui/buttons.js';
import {Dialog} from '../ui/dialog.js';
import {CheckField, SelectField, TextField} from '../ui/fields.js';
import {reasonOf} from '../state/failures.js';
import {explainBatch, readRows, writtenRows} from './rowsfile.js';
import {deleteVariable, isLocked, putBatch, tiersAt} from './writing.js';

const {div, li, p, strong, ul} = tags;
const MOST_PROBLEMS = 200;

/** @typedef {import('../core/tiers.js').Tier} Tier */
/** @typedef {import('../state/types.js').StoredVariable} StoredVariable */
/** @typedef {import('./writing.js').RowProblem} RowProblem */

/** @param {{mode: 'edit' | 'import' | 'export', items: StoredVariable[], close: () => void}} props */
export function Bulk({mode, items, close}) {
  const session = useStore((state) => state.session);
  const open = tiersAt(session).filter((tier) => !isLocked(tier, session.stored.floorState));
  const [tiers, setTiers] = useState(() => [...new Set(items.map((one) => one.tier))].filter((tier) => mode === 'export' || open.includes(tier)));
  const [given] = useState(tiers);
  const shown = useMemo(() => items.filter((one) => tiers.includes(one.tier)), [items, tiers]);
  const [text, setText] = useState(() => (mode === 'import' ? '' : writtenRows(shown)));
  const [fallback, setFallback] = useState(/** @type {Tier} */ (open.findLast((tier) => tier !== 'floor' && tier !== 'page') ?? 'global'));
  const [isDeleting, setDeleting] = useState(false);
  const [refused, setRefused] = useState(/** @type {RowProblem[]} */ ([]));
  const [isBusy, setBusy] = useState(false);
  const read = useMemo(() => (text.trim() === '' ? null : readRows(text, fallback, open)), [text, fallback, open.join()]);
  const before = useMemo(() => new Map(shown.map((one) => [`${one.tier} ${one.key}`, one])), [shown]);
  const changed = (read?.rows ?? []).filter((row) => {
    const known = before.get(`${row.tier} ${row.key}`);
    return mode === 'import' || !known || JSON.stringify(known.value) !== JSON.stringify(row.value);
  });
  const kept = new Set((read?.rows ?? []).map((row) => `${row.tier} ${row.key}`));
  const missing = mode === 'edit' && read && !read.error ? shown.filter((one) => !kept.has(`${one.tier} ${one.key}`)) : [];
  const problems = [...(read?.problems ?? []), ...refused].sort((a, b) => a.row - b.row);
  const isReady = read !== null && read.error === null && read.problems.length === 0 && (changed.length > 0 || (isDeleting && missing.length > 0));

  /** @param {Tier} tier @param {boolean} isOn */
  const choose = (tier, isOn) => {
    const next = isOn ? [...tiers, tier] : tiers.filter((one) => one !== tier);
    setTiers(next);
    setText(writtenRows(items.filter((one) => next.includes(one.tier))));
    setRefused([]);
  };
  const save = async () => {
    setBusy(true);
    setRefused([]);
    const {created, updated, problems: wrong} = await putBatch(changed, explainBatch);
    let gone = 0;
    if (isDeleting && wrong.length === 0) {
      for (const one of missing) {
        try {
          await deleteVariable(one, false);
          gone += 1;
        } catch (error) {
          wrong.push({row: 0, message: `${one.key}: ${reasonOf(error)}`});
        }
      }
      await refreshStored();
    }
    setBusy(false);
    setRefused(wrong);
    if (wrong.length > 0) return;
    notify('success', 'variables.bulk.done', {created, updated, deleted: gone});
    close();
  };
  const download = () => {
    downloadJson('variables.json', text);
    close();
  };
  return h(
    Dialog,
    {
      title: t(`variables.bulk.${mode}`),
      size: 'large',
      onClose: close,
      actions:
        mode === 'export'
          ? [
              h(Button, {key: 'copy', label: t('variables.copyAll'), icon: 'copy', onClick: () => void copyText(text)}),
              h(Button, {key: 'download', label: t('variables.download'), icon: 'export', tone: 'primary', onClick: download}),
            ]
          : [
              h(Button, {key: 'cancel', label: t('app.cancel'), onClick: close}),
              h(Button, {key: 'save', label: t('variables.bulk.write', {n: changed.length}), tone: 'primary', disabled: !isReady || isBusy, onClick: () => void save()}),
            ],
    },
    div(
      {className: 'variables-bulk'},
      mode === 'import'
        ? div(
            {className: 'variables-tools'},
            h(FileButton, {label: t('variables.bulk.file'), icon: 'folder', onFile: (file) => void file.text().then(setText, notifyFailure)}),
            h(SelectField, {
              label: t('variables.bulk.into'),
              value: fallback,
              onChange: (next) => setFallback(/** @type {Tier} */ (next)),
              options: open.map((tier) => ({value: tier, label: t(`variables.tier.${tier}`)})),
            }),
          )
        : div(
            {className: 'variables-tools', role: 'group', 'aria-label': t('variables.bulk.tiers')},
            given.map((tier) => h(CheckField, {key: tier, label: t(`variables.tier.${tier}`), checked: tiers.includes(tier), onChange: (isOn) => choose(tier, isOn)})),
          ),
      h(TextField, {
        label: t('variables.bulk.text'),
        hint: mode === 'export' ? undefined : t('variables.bulk.hint'),
        error: read?.error ?? null,
        value: text,
        rows: 14,
        mono: true,
        autoFocus: mode === 'import',
        disabled: isBusy,
        onChange: (next) => {
          setText(next);
          setRefused([]);
        },
      }),
      problems.length > 0
        ? div(
            {className: 'variables-problems', role: 'alert'},
            strong(null, t('variables.bulk.problems', {n: problems.length})),
            ul(
              {tabIndex: 0, 'aria-label': t('variables.bulk.problems', {n: problems.length})},
              problems.slice(0, MOST_PROBLEMS).map((one, position) => li({key: position}, one.row > 0 ? t('variables.bulk.row', {row: one.row, message: one.message}) : one.message)),
            ),
          )
        : null,
      missing.length > 0 ? h(CheckField, {label: t('variables.bulk.deleteMissing', {n: missing.length}), checked: isDeleting, onChange: setDeleting}) : null,
      changed.length > 100 ? p({className: 'field-hint'}, t('variables.bulk.hundreds')) : null,
    ),
  );
}
