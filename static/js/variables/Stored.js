/** The stored tiers as one table: a row for each name, a column for each tier, and which of them wins. Cells are edited in place. */
import {classes, h, memo, tags, useCallback, useEffect, useMemo, useRef, useState} from '../h.js';
import {table} from '../core/tiers.js';
import {copyText} from '../state/copying.js';
import {ask, openDialog} from '../state/dialogs.js';
import {announce, notify} from '../state/notices.js';
import {refreshStored} from '../state/session.js';
import {store, useStore} from '../state/store.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Waiting} from '../ui/empty.js';
import {SelectField, TextField} from '../ui/fields.js';
import {Icon} from '../ui/icons.js';
import {Menu, MenuButton} from '../ui/menu.js';
import {reasonOf} from '../state/failures.js';
import {nearCell} from './gridkeys.js';
import {JoinHint} from './JoinHint.js';
import {macrosOf} from './visible.js';
import {timeInWords} from '../state/times.js';
import {compareValues, kindInWords, preview, searchText} from '../state/values.js';
import {ValueEditor} from './ValueEditor.js';
import {COLUMNS, deleteVariable, isLocked, putVariable, tiersAt} from './writing.js';

const {button, caption, div, input, p, s, span, strong, table: tableTag, tbody, td, th, thead, tr} = tags;

/** How many rows are drawn at once. */
const STEP = 200;
const COLLATOR = new Intl.Collator('en', {numeric: true});

/** @typedef {import('../core/tiers.js').Tier} Tier */
/** @typedef {import('../core/tiers.js').TierRow} TierRow */
/** @typedef {import('../state/types.js').StoredVariable} StoredVariable */
/** @typedef {{by: 'key' | 'kind' | 'updated' | Tier, direction: 'asc' | 'desc'}} Sorting */
/** @typedef {{key: string, tier: Tier}} Place */

export function Stored() {
  const session = useStore((state) => state.session);
  const {stored} = session;
  const [query, setQuery] = useState('');
  const [only, setOnly] = useState('all');
  const [sorting, setSorting] = useState(/** @type {Sorting} */ ({by: 'key', direction: 'asc'}));
  const [most, setMost] = useState(STEP);
  const [editing, setEditing] = useState(/** @type {Place | null} */ (null));
  const [isAdding, setAdding] = useState(false);
  const rows = useMemo(() => table(stored.items), [stored.items]);
  const found = useMemo(() => sorted(filtered(rows, query, only), sorting), [rows, query, only, sorting]);
  useEffect(() => setMost(STEP), [query, only, sorting]);
  useEffect(() => setEditing(null), [session.session, session.branch, session.floor, session.page]);
  const tiers = tiersAt(session);

  if (stored.items.length === 0 && stored.state !== 'ready' && stored.state !== 'failed') return h(Waiting);
  return div(
    {className: 'variables-stored'},
    stored.error !== null && stored.state === 'failed'
      ? div(
          {className: 'variables-failed', role: 'alert'},
          h(Icon, {name: 'error'}),
          span(null, t('variables.notRead', {message: stored.error})),
          h(Button, {label: t('variables.again'), icon: 'refresh', onClick: () => void refreshStored()}),
        )
      : null,
    div(
      {className: 'variables-tools'},
      input({
        className: 'input',
        type: 'search',
        'aria-label': t('variables.filter'),
        placeholder: t('variables.filter'),
        value: query,
        spellCheck: false,
        onChange: (event) => setQuery(event.target.value),
      }),
      h(SelectField, {
        label: t('variables.show'),
        hideLabel: true,
        value: only,
        onChange: setOnly,
        options: [
          {value: 'all', label: t('variables.show.all')},
          {value: 'shadowed', label: t('variables.show.shadowed')},
          ...tiers.map((tier) => ({value: tier, label: t('variables.show.tier', {tier: t(`variables.tier.${tier}`)})})),
        ],
      }),
      span({className: 'variables-count', role: 'status'}, t('variables.rowCount', {n: found.length})),
      h(Button, {label: t('variables.add'), icon: 'add', onClick: () => setAdding(true)}),
      h(MenuButton, {
        label: t('variables.atOnce'),
        icon: 'more',
        items: () => /** @type {import('../ui/menu.js').MenuItem[]} */ ([
          {label: t('variables.bulk.edit'), icon: 'edit', disabled: found.length === 0, run: () => void openBulk('edit', found)},
          {label: t('variables.bulk.import'), icon: 'import', run: () => void openBulk('import', [])},
          {label: t('variables.bulk.export'), icon: 'export', disabled: found.length === 0, run: () => void openBulk('export', found)},
          {},
          {label: t('variables.deleteShown', {n: found.length}), icon: 'trash', tone: 'danger', disabled: found.length === 0, run: () => void deleteAll(found)},
        ]),
      }),
    ),
    isAdding ? h(NewVariable, {key: `${session.session} ${session.branch} ${session.floor}`, tiers, onClose: () => setAdding(false)}) : null,
    rows.length === 0 && stored.state === 'ready'
      ? session.session === null
        ? h(JoinHint, {text: t('variables.nothingGlobal')})
        : p({className: 'panel-empty'}, t('variables.nothingHere'))
      : h(Grid, {rows: found.slice(0, most), tiers, sorting, setSorting, editing, setEditing, floorState: stored.floorState}),
    found.length === 0 && rows.length > 0 ? p({className: 'panel-empty'}, t('variables.nothingFound')) : null,
    found.length > most
      ? div(
          {className: 'variables-more'},
          span(null, t('variables.shownOf', {shown: Math.min(most, found.length), n: found.length})),
          h(Button, {label: t('variables.more', {n: Math.min(STEP, found.length - most)}), onClick: () => setMost(most + STEP)}),
        )
      : null,
  );
}

/** @param {'edit' | 'import' | 'export'} mode @param {TierRow[]} rows */
function openBulk(mode, rows) {
  return openDialog('variables-bulk', {mode, items: itemsOf(rows)});
}

/** The variables of rows, the tiers in the order of the columns. @param {TierRow[]} rows @returns {StoredVariable[]} */
function itemsOf(rows) {
  return rows.flatMap((row) => COLUMNS.flatMap((tier) => (row[tier] ? [variableOf(row, tier)] : [])));
}

/** @param {TierRow} row @param {Tier} tier @returns {StoredVariable} */
function variableOf(row, tier) {
  return /** @type {any} */ ({...row[tier], key: row.key, tier});
}

/** @param {TierRow[]} rows */
async function deleteAll(rows) {
  const items = itemsOf(rows);
  const answer = await ask({
    title: t('variables.deleteMany', {n: items.length}),
    text: t('variables.deleteManyText'),
    details: items.slice(0, 20).map((one) => `${one.key} (${t(`variables.tier.${one.tier}`)})`).concat(items.length > 20 ? ['…'] : []),
    choices: [{id: 'delete', label: t('variables.delete'), tone: 'danger'}],
  });
  if (answer !== 'delete') return;
  let gone = 0;
  try {
    for (const item of items) {
      await deleteVariable(item, false);
      gone += 1;
    }
    notify('success', 'variables.deletedMany', {n: gone});
  } catch (error) {
    notify('error', 'variables.deleteFailed', {n: gone, total: items.length, message: reasonOf(error)});
  }
  await refreshStored();
}

/** @type {WeakMap<TierRow, string>} */
const searchTexts = new WeakMap();

/** @param {TierRow} row */
function searchTextOf(row) {
  let known = searchTexts.get(row);
  if (known === undefined) {
    known = [row.key.toLowerCase(), ...COLUMNS.flatMap((tier) => (row[tier] ? [searchText(row[tier]?.value)] : []))].join('\n');
    searchTexts.set(row, known);
  }
  return known;
}

/** @param {TierRow[]} rows @param {string} query @param {string} only */
function filtered(rows, query, only) {
  const wanted = query.trim().toLowerCase();
  return rows.filter((row) => {
    if (only === 'shadowed' && COLUMNS.filter((tier) => row[tier]).length < 2) return false;
    if (only !== 'all' && only !== 'shadowed' && !row[/** @type {Tier} */ (only)]) return false;
    return wanted === '' || searchTextOf(row).includes(wanted);
  });
}

/** @param {TierRow[]} rows already by name @param {Sorting} sorting */
function sorted(rows, {by, direction}) {
  const sign = direction === 'asc' ? 1 : -1;
  if (by === 'key') return direction === 'asc' ? rows : [...rows].reverse();
  if (by === 'kind') return [...rows].sort((a, b) => sign * COLLATOR.compare(kindInWords(a[a.winner]?.value), kindInWords(b[b.winner]?.value)));
  if (by === 'updated') return [...rows].sort((a, b) => sign * (Number(a[a.winner]?.updated) - Number(b[b.winner]?.updated)));
  return [...rows].sort((a, b) => compareValues(a[by]?.value, b[by]?.value, direction));
}

/**
 * @param {{rows: TierRow[], tiers: Tier[], sorting: Sorting, setSorting: (sorting: Sorting) => void, editing: Place | null,
 *   setEditing: (place: Place | null) => void, floorState: string | null}} props
 */
function Grid({rows, tiers, sorting, setSorting, editing, setEditing, floorState}) {
  const element = useRef(/** @type {HTMLTableElement | null} */ (null));
  const [at, setAt] = useState({key: '', column: 0});
  const [menu, setMenu] = useState(/** @type {{row: TierRow, x: number, y: number} | null} */ (null));
  const active = rows.some((row) => row.key === at.key) ? at : {key: rows[0]?.key ?? '', column: 0};

  /** @param {import('react').KeyboardEvent} event */
  const onKey = (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (!element.current || target.dataset.cell === undefined) return;
    const next = nearCell(element.current, target, event.key, event.ctrlKey);
    if (next) next.focus();
    else if (event.key === 'Delete' && target.dataset.variable !== undefined) {
      const row = rows.find((one) => one.key === target.dataset.key);
      const tier = /** @type {Tier} */ (target.dataset.tier);
      if (row?.[tier]) void askDelete(variableOf(row, tier));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  /** @param {import('react').FocusEvent} event */
  const onFocus = (event) => {
    const {cell, key} = /** @type {HTMLElement} */ (event.target).dataset;
    if (cell !== undefined && key !== undefined) setAt({key, column: Number(cell)});
  };
  /** After an edit the focus goes back to the cell. @param {Place} place */
  const close = (place) => {
    setEditing(null);
    requestAnimationFrame(() => {
      const cells = /** @type {HTMLElement[]} */ ([...(element.current?.querySelectorAll(`[data-tier="${place.tier}"]`) ?? [])]);
      cells.find((one) => one.dataset.key === place.key)?.focus();
    });
  };
  const closeRef = useRef(close);
  closeRef.current = close;
  const edit = useCallback((/** @type {string} */ key, /** @type {Tier} */ tier) => setEditing({key, tier}), []);
  const closeStable = useCallback((/** @type {Place} */ place) => closeRef.current(place), []);
  const openMenu = useCallback((/** @type {TierRow} */ row, /** @type {HTMLElement} */ from) => {
    const box = from.getBoundingClientRect();
    setMenu({row, x: box.left, y: box.bottom + 2});
  }, []);
  /** @param {Sorting['by']} by @param {string} label @param {string} [className] */
  const head = (by, label, className) =>
    th(
      {scope: 'col', key: by, className, 'aria-sort': sorting.by === by ? (sorting.direction === 'asc' ? 'ascending' : 'descending') : undefined},
      button(
        {
          type: 'button',
          className: 'variables-sort',
          onClick: () => setSorting({by, direction: sorting.by === by && sorting.direction === 'asc' ? 'desc' : 'asc'}),
        },
        span(null, label),
        sorting.by === by ? h(Icon, {name: sorting.direction === 'asc' ? 'arrowDown' : 'arrowUp', size: 12}) : null,
      ),
    );
  return div(
    {className: 'variables-scroll'},
    tableTag(
      {ref: element, className: 'variables-table', role: 'grid', onKeyDown: onKey, onFocus},
      caption({className: 'visually-hidden'}, t('variables.caption')),
      thead(
        null,
        tr(
          null,
          head('key', t('variables.name'), 'variables-key'),
          COLUMNS.map((tier) => {
            const isHere = tiers.includes(tier);
            const why = !isHere ? t('variables.tierAbsent') : isLocked(tier, floorState) ? t(`variables.locked.${floorState}`) : '';
            const label = t(`variables.tier.${tier}`);
            return th(
              {
                key: tier,
                scope: 'col',
                title: why || undefined,
                className: classes('variables-tier', !isHere && 'variables-absent'),
                'aria-sort': sorting.by === tier ? (sorting.direction === 'asc' ? 'ascending' : 'descending') : undefined,
              },
              button(
                {
                  type: 'button',
                  className: 'variables-sort',
                  onClick: () => setSorting({by: tier, direction: sorting.by === tier && sorting.direction === 'asc' ? 'desc' : 'asc'}),
                },
                span(null, label),
                isHere && why ? h(Icon, {name: 'lock', size: 12}) : null,
                why ? span({className: 'visually-hidden'}, why) : null,
                sorting.by === tier ? h(Icon, {name: sorting.direction === 'asc' ? 'arrowDown' : 'arrowUp', size: 12}) : null,
              ),
            );
          }),
          head('kind', t('variables.type')),
          head('updated', t('variables.updated')),
        ),
      ),
      tbody(
        null,
        rows.map((row) =>
          h(Row, {
            key: row.key,
            row,
            tiers: tiers.join(' '),
            floorState,
            activeColumn: row.key === active.key ? active.column : -1,
            editedTier: editing?.key === row.key ? editing.tier : null,
            onEdit: edit,
            onClose: closeStable,
            onMenu: openMenu,
          }),
        ),
      ),
    ),
    menu ? h(Menu, {x: menu.x, y: menu.y, label: t('variables.rowMenu', {key: menu.row.key}), items: rowMenu(menu.row), onClose: () => setMenu(null)}) : null,
  );
}

/** @param {TierRow} row @returns {import('../ui/menu.js').MenuItem[]} */
function rowMenu(row) {
  const {plain, byTier} = macrosOf(row.key, row.winner);
  const items = itemsOf([row]);
  return [
    ...(plain ? [{label: t('variables.copyMacro', {macro: plain}), icon: 'copy', run: () => copyText(plain)}] : []),
    {label: t('variables.copyMacro', {macro: byTier}), icon: 'copy', run: () => copyText(byTier)},
    {label: t('variables.copyValue'), icon: 'copy', run: () => copyText(JSON.stringify(row[row.winner]?.value, null, 2))},
    {},
    {label: t('variables.deleteEverywhere', {n: items.length}), icon: 'trash', tone: 'danger', run: () => void deleteAll([row])},
  ];
}

const Row = memo(RowView);

/**
 * @param {{row: TierRow, tiers: string, floorState: string | null, activeColumn: number, editedTier: Tier | null,
 *   onEdit: (key: string, tier: Tier) => void, onClose: (place: Place) => void, onMenu: (row: TierRow, from: HTMLElement) => void}} props
 */
function RowView({row, tiers, floorState, activeColumn, editedTier, onEdit, onClose, onMenu}) {
  const here = tiers.split(' ');
  const winner = row[row.winner];
  return tr(
    null,
    th(
      {scope: 'row', className: 'variables-key'},
      button(
        {
          type: 'button',
          className: 'variables-cell mono',
          'data-cell': 0,
          'data-key': row.key,
          tabIndex: activeColumn === 0 ? 0 : -1,
          'aria-haspopup': 'menu',
          title: row.key.slice(0, 500),
          onClick: (event) => onMenu(row, event.currentTarget),
        },
        preview(row.key, 80),
      ),
    ),
    COLUMNS.map((tier, position) =>
      h(Cell, {
        key: tier,
        row,
        tier,
        isHere: here.includes(tier),
        isLocked: isLocked(tier, floorState),
        lockedWhy: floorState ?? '',
        column: position + 1,
        isActive: activeColumn === position + 1,
        isEdited: editedTier === tier,
        onEdit,
        onClose,
      }),
    ),
    td({className: 'variables-type'}, kindInWords(winner?.value)),
    td({className: 'variables-time'}, timeInWords(Number(winner?.updated))),
  );
}

/**
 * @param {{row: TierRow, tier: Tier, isHere: boolean, isLocked: boolean, lockedWhy: string, column: number, isActive: boolean, isEdited: boolean,
 *   onEdit: (key: string, tier: Tier) => void, onClose: (place: Place) => void}} props
 */
function Cell({row, tier, isHere, isLocked: locked, lockedWhy, column, isActive, isEdited, onEdit, onClose}) {
  const cell = row[tier];
  const label = t('variables.cellLabel', {key: preview(row.key, 80), tier: t(`variables.tier.${tier}`)});
  if (isEdited) return td({className: 'variables-editing'}, h(CellEditor, {row, tier, label, locked: locked ? t(`variables.locked.${lockedWhy}`) : null, onClose}));
  if (!isHere || (!cell && locked)) return td({className: classes('variables-none', !isHere && 'variables-absent')});
  const isWinner = row.winner === tier;
  return td(
    {className: classes(cell && (isWinner ? 'variables-wins' : 'variables-hidden'))},
    button(
      {
        type: 'button',
        className: classes('variables-cell', cell && 'mono'),
        'data-cell': column,
        'data-key': row.key,
        'data-tier': tier,
        'data-variable': cell ? '' : undefined,
        tabIndex: isActive ? 0 : -1,
        'aria-label': cell ? undefined : t('variables.addAt', {label}),
        onClick: () => onEdit(row.key, tier),
      },
      !cell ? h(Icon, {name: 'add', size: 12}) : isWinner ? strong(null, preview(cell.value)) : s(null, preview(cell.value)),
      cell && !isWinner ? span({className: 'visually-hidden'}, ` ${t('variables.shadowedBy', {tier: t(`variables.tier.${row.winner}`)})}`) : null,
      cell && preview(cell.value) === '' ? span({className: 'variables-blank'}, t('variables.emptyText')) : null,
    ),
  );
}

/** @param {{row: TierRow, tier: Tier, label: string, locked: string | null, onClose: (place: Place) => void}} props */
function CellEditor({row, tier, label, locked, onClose}) {
  // What the edit began from; a refresh meanwhile does not change what is being written.
  const [base, setBase] = useState(row[tier] ? variableOf(row, tier) : null);
  const [round, setRound] = useState(0);
  const close = () => onClose({key: row.key, tier});
  const others = tiersAt(store.get().session).filter((one) => one !== tier && !isLocked(one, store.get().session.stored.floorState));
  return h(ValueEditor, {
    key: round,
    label,
    value: base?.value,
    locked,
    onSave: (value, isForced) => putVariable(tier, row.key, value, isForced ? undefined : base),
    onClose: close,
    onTheirs: (now) => {
      setBase(now);
      setRound(round + 1);
      void refreshStored();
    },
    actions: base
      ? [
          h(MenuButton, {
            key: 'copy',
            label: t('variables.copyTo'),
            icon: 'copy',
            items: () => others.map((to) => ({label: t(`variables.tier.${to}`), run: () => void copyToTier(row.key, base.value, to)})),
          }),
          locked === null
            ? h(Button, {key: 'delete', label: t('variables.delete'), icon: 'trash', iconOnly: true, tone: 'quiet', onClick: () => void askDelete(base).then((isGone) => isGone && close())})
            : null,
        ]
      : null,
  });
}

/** @param {StoredVariable} variable @returns {Promise<boolean>} whether it is gone */
async function askDelete(variable) {
  const answer = await ask({
    title: t('variables.deleteOne', {key: preview(variable.key, 80)}),
    text: t('variables.deleteOneText', {tier: t(`variables.tier.${variable.tier}`)}),
    choices: [{id: 'delete', label: t('variables.delete'), tone: 'danger'}],
  });
  if (answer !== 'delete') return false;
  try {
    await deleteVariable(variable);
    announce(t('variables.deletedMany', {n: 1}));
    return true;
  } catch (error) {
    notify('error', 'variables.notDeleted', {message: reasonOf(error)});
    return false;
  }
}

/** @param {string} key @param {any} value @param {Tier} to */
async function copyToTier(key, value, to) {
  const there = store.get().session.stored.items.find((one) => one.key === key && one.tier === to);
  if (there) {
    const answer = await ask({
      title: t('variables.copyOver', {key: preview(key, 80)}),
      text: t('variables.copyOverText', {tier: t(`variables.tier.${to}`), value: preview(there.value)}),
      choices: [{id: 'over', label: t('variables.overwrite'), tone: 'danger'}],
    });
    if (answer !== 'over') return;
  }
  try {
    await putVariable(to, key, value, there ?? null);
    notify('success', 'variables.copiedTo', {key: preview(key, 80), tier: t(`variables.tier.${to}`)});
  } catch (error) {
    notify('error', 'variables.notCopied', {message: reasonOf(error)});
  }
}

/** @param {{tiers: Tier[], onClose: () => void}} props */
function NewVariable({tiers, onClose}) {
  const floorState = useStore((state) => state.session.stored.floorState);
  const open = tiers.filter((tier) => !isLocked(tier, floorState));
  const [key, setKey] = useState('');
  const [tier, setTier] = useState(/** @type {Tier} */ (open.findLast((one) => one !== 'floor' && one !== 'page') ?? 'global'));
  const [error, setError] = useState(/** @type {string | null} */ (null));
  return div(
    {className: 'variables-new', role: 'group', 'aria-label': t('variables.add')},
    div(
      {className: 'variables-new-head'},
      h(TextField, {
        label: t('variables.name'),
        value: key,
        mono: true,
        autoFocus: true,
        error,
        onChange: (next) => {
          setKey(next);
          setError(null);
        },
      }),
      h(SelectField, {
        label: t('variables.tier'),
        value: tier,
        onChange: (next) => setTier(/** @type {Tier} */ (next)),
        options: open.map((one) => ({value: one, label: t(`variables.tier.${one}`)})),
      }),
    ),
    h(ValueEditor, {
      label: t('variables.newValue'),
      value: undefined,
      saveLabel: t('variables.add'),
      onSave: async (value, isForced) => {
        const wrong = keyProblem(key);
        setError(wrong);
        if (wrong) throw new Error(wrong);
        await putVariable(tier, key, value, isForced ? undefined : null);
      },
      onTheirs: onClose,
      onClose,
    }),
  );
}

/** Why a name cannot be one. @param {string} key */
export function keyProblem(key) {
  if (key === '') return t('variables.keyMissing');
  return new TextEncoder().encode(key).length > 2000 ? t('variables.keyLong') : null;
}
