/** What a chat knows beyond its window: all of it, seen from here or not and why not, and what a person can do with it. */
import {classes, h, tags, useEffect, useRef, useState} from '../../h.js';
import {withQuery} from '../../state/memory.js';
import {notify, notifyFailure} from '../../state/notices.js';
import {useReading} from '../../state/reading.js';
import {ask} from '../../state/dialogs.js';
import {t, translated} from '../../words.js';
import {Button} from '../../ui/buttons.js';
import {NotRead, Waiting} from '../../ui/empty.js';
import {SelectField, TextField} from '../../ui/fields.js';
import {Icon} from '../../ui/icons.js';
import {MenuButton} from '../../ui/menu.js';
import {ItemForm} from './ItemForm.js';
import {merge, pathOf, seenFrom, separate, textOf, TYPES, useChanges, write} from './items.js';
import {showFloor} from './jump.js';
import {Transfer} from './Transfer.js';

const {code, div, li, p, section, span, ul} = tags;

/** @typedef {import('./items.js').Item} Item */
/** @typedef {import('./items.js').Place} Place */

const PAGE = 50;
const REST_MS = 250;
/** What a list can be narrowed to, and how it is asked for. @type {Record<string, Record<string, any>>} */
const SHOWN = {seen: {visible: true}, hidden: {visible: false}, waiting: {waiting: true}, pinned: {pinned: true}, all: {}};
/** Of these an empty one says that nothing is there, and what to do. */
const BROAD = new Set(['seen', 'all']);
/** Reasons that an edge is behind: they can be taken back. */
const BY_EDGE = new Set(['superseded', 'compacted']);

/** @param {{place: Place | null}} props */
export function MemoryPage({place}) {
  if (place === null) return p({className: 'panel-empty'}, h(Icon, {name: 'info'}), t('chat.empty'));
  return h(Known, {place});
}

/** @param {{place: Place}} props */
function Known({place}) {
  const again = useChanges(place);
  const [filter, setFilter] = useState({shown: 'seen', type: '', q: '', offset: 0});
  const [editing, setEditing] = useState(/** @type {string | null} */ (null));
  const [merging, setMerging] = useState(/** @type {Item | null} */ (null));
  const element = useRef(/** @type {HTMLDivElement | null} */ (null));
  const opener = useRef('');
  const words = useLater(filter.q.trim());
  const from = seenFrom(place);
  const path = withQuery('/memories', {...from, ...SHOWN[filter.shown], type: filter.type, q: words.slice(0, 1000), sort_by: 'updated_at', sort_order: 'desc', limit: PAGE, offset: filter.offset});
  const read = useReading(path, again, null);
  const waiting = useReading(withQuery('/memories/stats', {...from, waiting: true}), again);
  const stats = useReading(withQuery('/memories/stats', {...from, visible: true}), again);
  const isOld = editing !== null && editing !== '';
  const one = useReading(isOld ? withQuery(pathOf(editing), from) : null, again);
  /** @param {Partial<typeof filter>} patch */
  const narrow = (patch) => setFilter({...filter, offset: 0, ...patch});
  const close = () => {
    setEditing(null);
    // Back to what opened the form; where that is gone, to the list.
    requestAnimationFrame(() => /** @type {HTMLElement | null} */ (element.current?.querySelector(opener.current) ?? element.current)?.focus());
  };
  /** @param {string} id "": a new one */
  const open = (id) => {
    opener.current = id === '' ? '[data-new]' : `[data-edit="${CSS.escape(id)}"]`;
    setEditing(id);
  };
  if (editing === '') return div({className: 'chat-page memories'}, h(ItemForm, {place, item: null, again, onClose: close}));
  if (editing !== null) {
    return div(
      {className: 'chat-page memories'},
      one === null ? h(Waiting) : 'error' in one ? h(NotRead, null, one.error, ' ', h(Button, {label: t('memories.back'), onClick: close})) : h(ItemForm, {key: editing, place, item: one.data, again, onClose: close}),
    );
  }
  const count = waiting !== null && 'data' in waiting ? waiting.data.total : 0;
  return div(
    {ref: element, className: 'chat-page memories', tabIndex: -1},
    div(
      {className: 'memories-filters', role: 'search', 'aria-label': t('memories.filters')},
      h(TextField, {label: t('memories.search'), type: 'search', value: filter.q, onChange: (q) => narrow({q})}),
      h(SelectField, {
        label: t('memories.shown'),
        value: filter.shown,
        onChange: (shown) => narrow({shown}),
        options: Object.keys(SHOWN).map((value) => ({value, label: value === 'waiting' && count > 0 ? `${t('memories.shown.waiting')} (${count})` : t(`memories.shown.${value}`)})),
      }),
      h(SelectField, {label: t('memories.type'), value: filter.type, onChange: (type) => narrow({type}), options: [{value: '', label: t('memories.anyType')}, ...TYPES.map((value) => ({value, label: t(`memories.type.${value}`)}))]}),
    ),
    div(
      {className: 'memories-actions'},
      stats !== null && 'data' in stats ? span({className: 'text-soft memories-sum', role: 'status'}, t('memories.sum', {n: stats.data.total, tokens: stats.data.estimated_tokens})) : null,
      h(Button, {label: t('memories.new'), icon: 'add', onClick: () => open(''), rest: {'data-new': ''}}),
      h(Transfer, {place}),
    ),
    merging === null
      ? null
      : div(
          {className: 'memories-merging', role: 'status'},
          span(null, t('memories.mergeWith', {text: short(textOf(merging))})),
          h(Button, {label: t('app.cancel'), tone: 'quiet', onClick: () => setMerging(null)}),
        ),
    read === null
      ? h(Waiting)
      : 'error' in read
        ? h(NotRead, null, read.error)
        : h(Items, {items: read.data.data, place, merging, onMerge: setMerging, onEdit: open, isNarrowed: words !== '' || filter.type !== '' || !BROAD.has(filter.shown)}),
    read !== null && 'data' in read && (read.data.meta.has_more || filter.offset > 0)
      ? div(
          {className: 'memories-actions'},
          span({className: 'text-soft memories-sum'}, t('memories.part', {from: filter.offset + 1, to: filter.offset + read.data.data.length, n: read.data.meta.total})),
          h(Button, {label: t('memories.newer'), icon: 'arrowLeft', disabled: filter.offset === 0, onClick: () => setFilter({...filter, offset: Math.max(0, filter.offset - PAGE)})}),
          h(Button, {label: t('memories.older'), icon: 'arrowRight', disabled: !read.data.meta.has_more, onClick: () => setFilter({...filter, offset: filter.offset + PAGE})}),
        )
      : null,
    h(Switch, {place, again}),
  );
}

/** Whether this chat's turns write and read memories. @param {{place: Place, again: number}} props */
function Switch({place, again}) {
  const path = `/sessions/${encodeURIComponent(place.session)}`;
  const read = useReading(path, again);
  if (read === null || !('data' in read)) return null;
  return h(SelectField, {
    label: t('memories.switch'),
    hint: t(`memories.switchHint.${read.data.memory ?? 'usual'}`),
    value: read.data.memory ?? '',
    onChange: (value) => void write('PATCH', path, {memory: value || null}).catch(notifyFailure),
    options: ['', 'on', 'off', 'incognito'].map((value) => ({value, label: t(`memories.switch.${value || 'usual'}`)})),
  });
}

/** A text, once nobody types any more. @param {string} text */
function useLater(text) {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), REST_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

/** @param {string} text */
function short(text) {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** Whom or what an item is about: the first of its entities, else the key of a fact; "" for none. @param {Item} item */
export function subjectOf({entities, fact_key: key}) {
  return entities[0] ?? key ?? '';
}

/**
 * @param {{items: Item[], place: Place, merging: Item | null, onMerge: (item: Item | null) => void, onEdit: (id: string) => void, isNarrowed: boolean}} props
 */
function Items({items, isNarrowed, ...rest}) {
  if (items.length === 0) return p({className: 'panel-empty'}, h(Icon, {name: 'note'}), t(isNarrowed ? 'memories.noneSo' : 'memories.none'));
  /** @type {Map<string, Item[]>} */
  const groups = new Map();
  for (const item of items) {
    const subject = subjectOf(item);
    const known = groups.get(subject);
    if (known) known.push(item);
    else groups.set(subject, [item]);
  }
  return [...groups].map(([subject, own]) =>
    section(
      {key: subject, 'aria-label': subject || t('memories.noSubject')},
      p({className: 'memories-subject'}, subject || t('memories.noSubject')),
      ul({className: 'memories-list'}, own.map((item) => h(Row, {key: item.id, item, ...rest}))),
    ));
}

/** @param {{item: Item, place: Place, merging: Item | null, onMerge: (item: Item | null) => void, onEdit: (id: string) => void}} props */
function Row({item, place, merging, onMerge, onEdit}) {
  const {id, pinned, waiting, visible, hidden_reason: reason, hidden_by: by} = item;
  const text = textOf(item);
  const name = short(text);
  /** @param {() => Promise<unknown>} work */
  const then = (work) => void work().catch(notifyFailure);
  const floor = item.sources[0]?.floor_id ?? item.source_floor_id;
  return li(
    {className: classes('memories-item', visible === false && 'memories-hidden'), 'data-memory': id},
    p({className: 'memories-text'}, text),
    div(
      {className: 'memories-marks'},
      span({className: 'chip'}, t(`memories.type.${item.type}`)),
      pinned ? span({className: 'chip'}, h(Icon, {name: 'pin', size: 12}), t('memories.pinnedMark')) : null,
      visible === false ? span({className: 'chip chip-warn'}, translated(`memories.hidden.${reason}`) ?? reason) : null,
      item.scope === 'global' ? span({className: 'chip'}, t('memories.scope.global')) : null,
      item.fact_key ? code(null, item.fact_key) : null,
      item.entities.length > 1 ? span({className: 'text-soft'}, item.entities.join(', ')) : null,
    ),
    div(
      {className: 'memories-tools'},
      merging !== null && merging.id !== id
        ? h(Button, {label: t('memories.mergeThis'), icon: 'merge', tone: 'primary', title: name, onClick: () => void chooseKept(merging, item).then((isDone) => isDone && onMerge(null))})
        : null,
      waiting ? h(Button, {label: t('memories.agree'), icon: 'check', tone: 'primary', onClick: () => then(() => write('PATCH', pathOf(id), {waiting: false}))}) : null,
      waiting ? h(Button, {label: t('memories.refuse'), icon: 'close', onClick: () => then(() => write('PATCH', pathOf(id), {waiting: false, status: 'deprecated'}))}) : null,
      by !== null && BY_EDGE.has(reason ?? '') ? h(Button, {label: t('memories.showOther'), icon: 'eye', onClick: () => onEdit(by)}) : null,
      by !== null && BY_EDGE.has(reason ?? '') ? h(Button, {label: t('memories.separate'), icon: 'undo', onClick: () => then(() => separate(item))}) : null,
      item.status === 'deprecated' ? h(Button, {label: t('memories.restore'), icon: 'restore', onClick: () => then(() => write('PATCH', pathOf(id), {status: 'active'}))}) : null,
      span({className: 'run-space'}),
      floor ? h(Button, {label: t('memories.showFloor'), icon: 'forward', iconOnly: true, tone: 'quiet', onClick: () => void showFloor(place, floor)}) : null,
      h(Button, {label: t(pinned ? 'memories.unpin' : 'memories.pin'), icon: 'pin', iconOnly: true, tone: 'quiet', onClick: () => then(() => write('PATCH', pathOf(id), {pinned: !pinned}))}),
      h(Button, {label: t('memories.edit'), icon: 'edit', iconOnly: true, tone: 'quiet', onClick: () => onEdit(id), rest: {'data-edit': id}}),
      h(MenuButton, {
        label: t('memories.more', {text: name}),
        icon: 'more',
        iconOnly: true,
        items: () => /** @type {import('../../ui/menu.js').MenuItem[]} */ ([
          ...(item.status === 'deprecated' ? [] : [{label: t('memories.forget'), icon: 'eye', run: () => then(() => write('PATCH', pathOf(id), {status: 'deprecated'}))}]),
          {label: t('memories.merge'), icon: 'merge', run: () => onMerge(item)},
          {},
          {label: t('memories.delete'), icon: 'trash', tone: 'danger', run: () => void remove(item)},
        ]),
      }),
    ),
  );
}

/** Which of two holds. @param {Item} first @param {Item} second @returns {Promise<boolean>} whether one was chosen */
async function chooseKept(first, second) {
  const answer = await ask({
    title: t('memories.mergeTitle'),
    text: t('memories.mergeText'),
    choices: [
      {id: 'first', label: t('memories.keep', {text: short(textOf(first))})},
      {id: 'second', label: t('memories.keep', {text: short(textOf(second))})},
    ],
  });
  if (answer === null) return false;
  try {
    await (answer === 'first' ? merge(first, second) : merge(second, first));
    notify('success', 'memories.merged');
    return true;
  } catch (error) {
    notifyFailure(error);
    return false;
  }
}

/** @param {Item} item */
async function remove(item) {
  const answer = await ask({title: t('memories.deleteTitle'), text: t('memories.deleteText', {text: short(textOf(item))}), choices: [{id: 'delete', label: t('memories.delete'), tone: 'danger'}]});
  if (answer !== 'delete') return;
  try {
    await write('DELETE', pathOf(item.id));
    notify('success', 'memories.deleted', {}, {action: {label: t('memories.undo'), run: () => void write('POST', `${pathOf(item.id)}/undo`).catch(notifyFailure)}});
  } catch (error) {
    notifyFailure(error);
  }
}
