/** A lorebook: its entries as a table, and the one that is chosen as a form. */
import {estimateTokens} from '../../core/estimate.js';
import {isObject} from '../../core/doc.js';
import {classes, h, tags, useMemo, useState} from '../../h.js';
import {t} from '../../words.js';
import {Button} from '../../ui/buttons.js';
import {TextField} from '../../ui/fields.js';
import {Icon} from '../../ui/icons.js';
import {EntryForm} from './EntryForm.js';
import {textOf} from './fields.js';
import {useTrial} from './trial.js';
import {useWindow} from '../window.js';

const {button, div, input, p, span} = tags;

/** In pixels, as in library.css. */
const ROW = 36;

/** @typedef {{uid: string, place: number, entry: any}} Row `uid`: its name among the entries, which may be another than the entry says; `place` among them */

/** Where an entry stands; as in SillyTavern, one that does not say so has 100. @param {any} entry @returns {number} */
const orderOf = ({order}) => Number(order ?? 100) || 0;

/** The entries in the order in which they are inserted. @param {any} content @returns {Row[]} */
function rowsOf(content) {
  const entries = isObject(content.entries) ? content.entries : {};
  return Object.entries(entries)
    .map(([uid, entry], place) => ({uid, place, entry}))
    .filter(({entry}) => isObject(entry))
    .sort((a, b) => orderOf(b.entry) - orderOf(a.entry) || Number(a.uid) - Number(b.uid));
}

/** The book as it is tried: entries are told apart by their places, as several may say the same uid. @param {any} content */
function placedBook(content) {
  if (!isObject(content.entries)) return content;
  const entries = Object.entries(content.entries).map(([uid, entry], place) => [uid, isObject(entry) ? {...entry, uid: place} : entry]);
  return {...content, entries: Object.fromEntries(entries)};
}

/** A new entry as SillyTavern makes one. @param {number} uid */
function newEntry(uid) {
  return {uid, key: [], keysecondary: [], comment: '', content: '', constant: false, selective: true, selectiveLogic: 0, order: 100, position: 0, disable: false, addMemo: true, excludeRecursion: false,
    preventRecursion: false, delayUntilRecursion: 0, probability: 100, useProbability: true, depth: 4, role: 0, group: '', groupOverride: false, groupWeight: 100, scanDepth: null, caseSensitive: null,
    matchWholeWords: null, useGroupScoring: null, automationId: '', sticky: 0, cooldown: 0, delay: 0};
}

/** @param {unknown} list */
const wordsOf = (list) => (Array.isArray(list) ? list.map(textOf).join(', ') : textOf(list));

/** @param {{content: any, onChange: (content: any) => void}} props */
export function LorebookForm({content, onChange}) {
  const [chosen, setChosen] = useState(/** @type {string | null} */ (null));
  const [sought, setSought] = useState('');
  const rows = useMemo(() => rowsOf(content), [content.entries]);
  const words = sought.trim().toLowerCase();
  const found = words === '' ? rows : rows.filter(({entry}) => [entry.comment, wordsOf(entry.key), wordsOf(entry.keysecondary), entry.content].some((text) => textOf(text).toLowerCase().includes(words)));
  /** @param {string} uid @param {any} entry */
  const put = (uid, entry) => onChange({...content, entries: {...content.entries, [uid]: entry}});
  const add = () => {
    const uid = rows.reduce((most, row) => Math.max(most, Number(row.uid) || 0), -1) + 1;
    put(String(uid), newEntry(uid));
    setSought('');
    setChosen(String(uid));
  };
  /** @param {string} uid */
  const remove = (uid) => {
    const {[uid]: _gone, ...entries} = content.entries;
    onChange({...content, entries});
    setChosen(null);
  };
  const [said, setSaid] = useState('');
  const body = useMemo(() => (said === '' ? null : {worldbooks: [placedBook(content)], text: said}), [content, said]);
  /** @type {import('./trial.js').Trial<{entries: Tried[], tokens: number, budget: number, is_cut: boolean}>} */
  const {result, error} = useTrial('/worldbooks/test', body);
  const fates = useMemo(() => (result === null ? null : new Map(result.entries.map((one) => [Number(one.uid), one]))), [result]);
  const active = result === null ? 0 : result.entries.filter((one) => one.is_active).length;
  const entry = chosen === null ? undefined : content.entries?.[chosen];
  return div(
    {className: classes('library-form library-lorebook', entry !== undefined && 'library-chosen')},
    div(
      {className: 'library-entries'},
      div(
        {className: 'library-row'},
        h(TextField, {label: t('library.name'), value: textOf(content.name), onChange: (name) => onChange({...content, name})}),
        input({className: 'input', type: 'search', 'aria-label': t('library.findEntry'), placeholder: t('library.findEntry'), value: sought, spellCheck: false, onChange: (event) => setSought(event.target.value)}),
        h(Button, {label: t('library.addEntry'), icon: 'add', onClick: add}),
      ),
      h(EntryTable, {rows: found, chosen, fates, onChoose: setChosen}),
      h(TextField, {
        label: t('library.trialLore'),
        rows: 3,
        value: said,
        onChange: setSaid,
        className: 'library-trial',
        error,
        aside: result === null ? undefined : span({className: 'library-total', role: 'status'}, t(result.is_cut ? 'library.joinCut' : 'library.join', {n: active, tokens: result.tokens, budget: result.budget})),
      }),
    ),
    div(
      {className: 'library-fields'},
      entry === undefined || chosen === null
        ? p({className: 'panel-empty'}, t(rows.length ? 'library.chooseEntry' : 'library.noEntries'))
        : h(EntryForm, {key: chosen, part: {content: entry, onChange: (next) => put(chosen, next)}, onBack: () => setChosen(null), onRemove: () => remove(chosen)}),
    ),
  );
}

/**
 * @typedef {object} Tried what became of an entry in a trial
 * @property {string | number} uid
 * @property {boolean} is_active
 * @property {string | null} cause
 * @property {string | null} reason
 * @property {string} detail
 * @property {{matched_key: string, excerpt: string} | null} first_match
 */

/** Why an entry joins or does not. @param {Tried} tried */
function fateOf({is_active, cause, reason, detail, first_match}) {
  if (is_active && first_match !== null) return t('library.joinsBy', {key: first_match.matched_key});
  const told = is_active ? t(`library.cause.${cause}`) : t(`library.reason.${reason}`);
  return detail ? `${told}: ${detail}` : told;
}

/** @param {{rows: Row[], chosen: string | null, fates: Map<number, Tried> | null, onChoose: (uid: string) => void}} props `fates`: null where nothing is tried */
function EntryTable({rows, chosen, fates, onChoose}) {
  const seen = useWindow({count: rows.length, rowHeight: ROW});
  return div(
    {className: 'library-table', role: 'table', 'aria-label': t('library.entries'), 'aria-rowcount': rows.length + 1},
    div(
      {role: 'row', 'aria-rowindex': 1, className: 'library-table-head'},
      ['title', fates === null ? 'keys' : 'fate', 'position', 'order', 'cost'].map((name) => span({key: name, role: 'columnheader'}, t(`library.column.${name}`))),
    ),
    div(
      {className: 'library-table-scroll', ref: seen.scroller, role: 'rowgroup', tabIndex: 0, 'aria-label': t('library.entries')},
      div({style: {height: seen.height}, role: 'presentation', className: 'library-table-rows'},
        rows.slice(seen.from, seen.to).map(({uid, place, entry}, index) => {
          const fate = fates?.get(place);
          const name = textOf(entry.comment) || wordsOf(entry.key) || t('library.entryNumber', {number: uid});
          return div(
            {
              key: uid,
              role: 'row',
              'aria-rowindex': seen.from + index + 2,
              className: classes('library-table-row', entry.disable && 'library-off', fate?.is_active && 'library-joins', uid === chosen && 'library-table-chosen'),
              style: {top: (seen.from + index) * ROW},
            },
            span({role: 'cell'}, button({type: 'button', className: 'library-link', 'aria-pressed': uid === chosen, onClick: () => onChoose(uid)}, name)),
            fate === undefined
              ? span({role: 'cell'}, entry.constant ? t('library.constant') : wordsOf(entry.key))
              : span({role: 'cell', title: fate.first_match?.excerpt}, h(Icon, {name: fate.is_active ? 'check' : 'close'}), ' ', fateOf(fate)),
            span({role: 'cell'}, t(`library.lorePosition.${Number(entry.position) in PLACES ? Number(entry.position) : 0}`)),
            span({role: 'cell'}, String(orderOf(entry))),
            span({role: 'cell'}, String(estimateTokens(textOf(entry.content)))),
          );
        }),
      ),
    ),
  );
}

/** The places that SillyTavern knows. */
const PLACES = Object.freeze({0: true, 1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true});
