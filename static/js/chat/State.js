/** Session State of a branch: what its slots hold now or held at a floor, what is otherwise than at another, every write, and a form that writes one. */
import {classes, h, tags, useState} from '../h.js';
import {withQuery} from '../state/memory.js';
import {preview} from '../state/values.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {NotRead, Waiting} from '../ui/empty.js';
import {SelectField, TextField} from '../ui/fields.js';
import {Icon} from '../ui/icons.js';
import {change, useReading} from '../state/reading.js';
import {useTalk} from './talk.js';
import {answerOf, questionOf} from './versions.js';

const {caption, code, details, div, li, p, s, span, summary, table, tbody, td, th, thead, tr, ul} = tags;

const NOWHERE = Object.freeze({session: '', branch: ''});
/** The namespace that the server writes itself, and nobody else. */
const OWN = 'game_state';
/** How many slots are drawn, and how many writes are read. */
const MOST = 200;
const WRITES = 20;
const WORDS = 60;

/** @param {{place: import('./talk.js').Place | null}} props */
export function State({place}) {
  const {floors} = useTalk(place ?? NOWHERE);
  const [times, setTimes] = useState(0);
  const [chosen, choose] = useState({at: '', since: ''});
  // Floors of a chat that was shown before are none of this one.
  const at = floors.some((one) => one.id === chosen.at) ? chosen.at : '';
  const since = floors.some((one) => one.id === chosen.since) && chosen.since !== at ? chosen.since : '';
  const base = place === null ? null : `/sessions/${encodeURIComponent(place.session)}`;
  // A turn may have written: the newest answer is another then.
  const newest = floors.at(-1);
  const again = `${times} ${newest && answerOf(newest)?.id}`;
  const branch = place?.branch;
  const held = useReading(base && withQuery(`${base}/state/resolve`, {branch_id: branch, ...(at ? {source_floor_id: at} : {})}), again);
  const compared = useReading(base && since ? withQuery(`${base}/state/diff`, {floor_id: since, ...(at ? {against: `floor:${at}`} : {against: 'live', branch_id: branch})}) : null, again);
  const writes = useReading(base && withQuery(`${base}/session-state/mutations`, {branch_id: branch, limit: WRITES, sort_order: 'desc'}), again);
  if (place === null || base === null) return p({className: 'panel-empty'}, h(Icon, {name: 'info'}), t('chat.empty'));
  if (held === null) return h(Waiting);
  if ('error' in held) return h(NotRead, null, held.error);
  /** @type {Map<string, any>} */
  const before = new Map();
  if (compared !== null && 'data' in compared) for (const one of compared.data) if (one.change_type !== 'unchanged') before.set(keyOf(one), one);
  const slots = held.data.filter((/** @type {any} */ one) => one.present || before.has(keyOf(one)));
  const moments = floors.map((floor) => ({value: floor.id, label: `${floor.floor_no} · ${(questionOf(floor)?.content ?? '').slice(0, WORDS)}`}));
  const isWritten = () => setTimes((count) => count + 1);
  /** @param {any} one */
  const remove = async (one) => {
    if (await change('DELETE', `${base}/state/values`, {branch_id: branch, namespace: one.namespace, slot: one.slot})) isWritten();
  };
  return div(
    {className: 'chat-page'},
    h(SelectField, {label: t('chat.stateAt'), value: at, onChange: (id) => choose({...chosen, at: id}), options: [{value: '', label: t('chat.stateNow')}, ...moments]}),
    h(SelectField, {label: t('chat.stateSince'), value: since, onChange: (id) => choose({...chosen, since: id}), options: [{value: '', label: t('chat.stateAlone')}, ...moments.filter(({value}) => value !== at)]}),
    compared !== null && 'error' in compared ? h(NotRead, null, compared.error) : null,
    slots.length === 0
      ? p({className: 'panel-empty'}, h(Icon, {name: 'list'}), t('chat.stateNone'))
      : table(
          {className: 'variables-table'},
          caption({className: 'visually-hidden'}, t('chat.state')),
          thead(null, tr(null, th({scope: 'col'}, t('chat.stateSlot')), th({scope: 'col'}, t('variables.value')), th({scope: 'col'}, span({className: 'visually-hidden'}, t('chat.stateRemoval'))))),
          tbody(null, slots.slice(0, MOST).map((/** @type {any} */ one) => h(Slot, {key: keyOf(one), one, old: before.get(keyOf(one)), onRemove: at ? null : () => void remove(one)}))),
        ),
    slots.length > MOST ? p({className: 'field-hint'}, t('variables.shownOf', {shown: MOST, n: slots.length})) : null,
    h(WriteForm, {base, branch: place.branch, onWritten: isWritten}),
    details(
      {className: 'chat-details'},
      summary(null, t('chat.stateHistory')),
      writes !== null && 'error' in writes ? h(NotRead, null, writes.error) : null,
      writes !== null && 'data' in writes && writes.data.length === 0 ? p({className: 'field-hint'}, t('chat.stateNoHistory')) : null,
      ul(null, (writes !== null && 'data' in writes ? writes.data : []).map((/** @type {any} */ one) => h(Mutation, {key: one.id, one, floors}))),
    ),
  );
}

/** @param {{namespace: string, slot: string}} one */
const keyOf = ({namespace, slot}) => JSON.stringify([namespace, slot]);

/** @param {{one: any, old: any, onRemove: (() => void) | null}} props `old`: how it differs from the floor that it is compared with; `onRemove`: null of what was */
function Slot({one, old, onRemove}) {
  const name = `${one.namespace}.${one.slot}`;
  const isOwn = one.namespace === OWN || one.namespace.startsWith(`${OWN}.`);
  return tr(
    {className: classes(old !== undefined && 'chat-changed')},
    th({scope: 'row'}, code(null, preview(name, 80))),
    // What is compared with stands on the right of a comparison, what is shown on the left.
    td(
      null,
      old?.right_present ? span({className: 'chat-before'}, s(null, preview(old.right_value, 60)), ' → ') : null,
      old && !old.right_present ? span({className: 'chip'}, t('chat.new')) : null,
      one.present ? code(null, preview(one.value)) : t('chat.deleted'),
    ),
    td(null, isOwn || !one.present || onRemove === null ? null : h(Button, {label: t('chat.stateRemove', {name}), icon: 'trash', iconOnly: true, tone: 'quiet', onClick: onRemove})),
  );
}

/** @param {{one: any, floors: readonly import('./talk.js').Floor[]}} props */
function Mutation({one, floors}) {
  const floor = floors.find((each) => each.id === one.source_floor_id);
  return li(
    null,
    code(null, `${one.state_namespace}.${one.target_slot}`),
    ' ',
    one.payload_present ? code(null, one.payload_preview) : t('chat.deleted'),
    ' ',
    span({className: 'text-soft'}, floor ? t('chat.floor', {number: String(floor.floor_no)}) : t(`chat.stateMode.${one.write_mode}`)),
    one.status === 'discarded' ? span({className: 'chip'}, t('chat.callDiscarded')) : null,
  );
}

/** Writes one slot; a namespace that the session does not know is registered first. @param {{base: string, branch: string, onWritten: () => void}} props */
function WriteForm({base, branch, onWritten}) {
  const [said, setSaid] = useState({namespace: '', slot: '', value: ''});
  const known = useReading(`${base}/state/namespaces`);
  const value = parsed(said.value);
  const isReady = said.namespace.trim() !== '' && said.slot.trim() !== '' && said.value.trim() !== '' && value !== null;
  const write = async () => {
    if (!isReady || value === null) return;
    const namespace = said.namespace.trim();
    const isKnown = known !== null && 'data' in known && known.data.some((/** @type {any} */ one) => one.namespace === namespace);
    const own = {namespace, logical_owner_type: 'editor', logical_owner_id: 'page'};
    if (!isKnown && !(await change('POST', `${base}/state/namespaces`, own))) return;
    if (await change('POST', `${base}/state/values/write`, {branch_id: branch, namespace, slot: said.slot.trim(), value: value.value})) {
      setSaid({...said, slot: '', value: ''});
      onWritten();
    }
  };
  return details(
    {className: 'chat-details'},
    summary(null, t('chat.stateWrite')),
    h(TextField, {label: t('chat.stateNamespace'), hint: t('chat.stateNamespaceHint'), mono: true, value: said.namespace, onChange: (namespace) => setSaid({...said, namespace})}),
    h(TextField, {label: t('chat.stateSlot'), mono: true, value: said.slot, onChange: (slot) => setSaid({...said, slot})}),
    h(TextField, {
      label: t('variables.value'),
      hint: t('chat.stateValueHint'),
      error: said.value.trim() !== '' && value === null ? t('chat.notJson') : null,
      mono: true,
      rows: 3,
      value: said.value,
      onChange: (text) => setSaid({...said, value: text}),
    }),
    h(Button, {label: t('chat.stateWriteNow'), disabled: !isReady, onClick: () => void write()}),
  );
}

/** @param {string} text @returns {{value: any} | null} null: it is no JSON */
function parsed(text) {
  try {
    return {value: JSON.parse(text)};
  } catch {
    return null;
  }
}
