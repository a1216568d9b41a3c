/** One memory: what it says and where it holds, where it was said, and what was changed of it. */
import {h, tags, useEffect, useState} from '../../h.js';
import {reasonOf} from '../../state/failures.js';
import {useReading} from '../../state/reading.js';
import {timeInWords} from '../../state/times.js';
import {t} from '../../words.js';
import {Button} from '../../ui/buttons.js';
import {FailureBox} from '../../ui/failure.js';
import {CheckField, SelectField, TextField} from '../../ui/fields.js';
import {Icon} from '../../ui/icons.js';
import {pathOf, textOf, TYPES, write} from './items.js';
import {showFloor} from './jump.js';

const {blockquote, details, div, form, li, p, section, span, summary, time, ul} = tags;

/** @typedef {import('./items.js').Item} Item */
/** @typedef {import('./items.js').Place} Place */

const SCOPES = /** @type {const} */ (['chat', 'branch', 'global']);

/** @param {Item | null} item @returns {Record<string, any>} */
function fieldsOf(item) {
  return {
    type: item?.type ?? 'fact',
    text: item === null ? '' : textOf(item),
    fact_key: item?.fact_key ?? '',
    summary_tier: item?.summary_tier ?? '',
    entities: (item?.entities ?? []).join(', '),
    keys: (item?.keys ?? []).join(', '),
    importance: String(item?.importance ?? 0.5),
    scope: item?.scope ?? 'chat',
    pinned: item?.pinned ?? false,
  };
}

/** @param {string} text */
const listOf = (text) => [...new Set(text.split(/[,，、]/).map((one) => one.trim()).filter(Boolean))];

/** @param {string} scope @param {Place} place */
const hostOf = (scope, {session, branch}) => (scope === 'global' ? 'global' : scope === 'branch' ? JSON.stringify([session, branch]) : session);

/**
 * What is to be sent: all of a new one, of another what was changed.
 * @param {Record<string, any>} said
 * @param {Item | null} item
 * @param {Place} place
 */
function bodyOf(said, item, place) {
  const before = fieldsOf(item);
  /** @param {string} name */
  const isNew = (name) => item === null || said[name] !== before[name];
  return {
    ...(isNew('type') ? {type: said.type} : {}),
    ...(isNew('text') ? {content: item !== null && typeof item.content !== 'string' ? {text: said.text} : said.text} : {}),
    ...(said.type === 'fact' && isNew('fact_key') ? {fact_key: said.fact_key.trim() || null} : {}),
    ...(said.type === 'summary' && isNew('summary_tier') ? {summary_tier: said.summary_tier || null} : {}),
    ...(isNew('entities') ? {entities: listOf(said.entities)} : {}),
    ...(isNew('keys') ? {keys: listOf(said.keys)} : {}),
    ...(isNew('importance') ? {importance: Number(said.importance)} : {}),
    ...(isNew('scope') ? {scope: said.scope, scope_id: hostOf(said.scope, place)} : {}),
    ...(isNew('pinned') ? {pinned: said.pinned} : {}),
  };
}

/** @param {{place: Place, item: Item | null, again: number, onClose: () => void}} props `item`: null for a new one */
export function ItemForm({place, item, again, onClose}) {
  const [said, setSaid] = useState(() => fieldsOf(item));
  const [failure, setFailure] = useState(/** @type {string | null} */ (null));
  const [isSending, setSending] = useState(false);
  // What was undone, or changed in another tab, is shown; a field that somebody is typing in keeps its text.
  const [known, setKnown] = useState(item);
  useEffect(() => {
    if (item === null || known === null || item.updated_at === known.updated_at) return;
    const [before, now] = [fieldsOf(known), fieldsOf(item)];
    setSaid((old) => Object.fromEntries(Object.keys(now).map((name) => [name, old[name] === before[name] ? now[name] : old[name]])));
    setKnown(item);
  }, [item]);
  /** @param {string} name @returns {(value: any) => void} */
  const put = (name) => (value) => setSaid((old) => ({...old, [name]: value}));
  const importance = Number(said.importance);
  const isWrong = said.importance.trim() === '' || !(importance >= 0 && importance <= 1);
  const isReady = said.text.trim() !== '' && !isWrong && !isSending;
  const save = async () => {
    if (!isReady) return;
    setSending(true);
    try {
      const body = bodyOf(said, item, place);
      if (item === null) await write('POST', '/memories', body);
      else if (Object.keys(body).length > 0) await write('PATCH', pathOf(item.id), body);
      onClose();
    } catch (error) {
      setFailure(reasonOf(error));
      setSending(false);
    }
  };
  const isOfFloor = item?.scope === 'floor';
  return div(
    {
      className: 'memories-form',
      onKeyDown: (/** @type {import('react').KeyboardEvent} */ event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onClose();
      },
    },
    form(
      {
        'aria-label': t(item === null ? 'memories.new' : 'memories.edit'),
        onSubmit: (event) => {
          event.preventDefault();
          void save();
        },
      },
      p({className: 'memories-subject'}, t(item === null ? 'memories.new' : 'memories.edit')),
      failure === null ? null : h(FailureBox, null, p(null, failure)),
      h(TextField, {label: t('memories.text'), value: said.text, rows: 5, autoFocus: true, onChange: put('text')}),
      div(
        {className: 'memories-pair'},
        h(SelectField, {label: t('memories.type'), value: said.type, onChange: put('type'), options: TYPES.map((value) => ({value, label: t(`memories.type.${value}`)}))}),
        h(TextField, {label: t('memories.importance'), type: 'text', value: said.importance, error: isWrong ? t('memories.importanceWrong') : null, onChange: put('importance')}),
      ),
      said.type === 'fact' ? h(TextField, {label: t('memories.factKey'), hint: t('memories.factKeyHint'), mono: true, value: said.fact_key, onChange: put('fact_key')}) : null,
      said.type === 'summary'
        ? h(SelectField, {label: t('memories.tier'), value: said.summary_tier, onChange: put('summary_tier'), options: ['', 'micro', 'macro'].map((value) => ({value, label: t(`memories.tier.${value || 'none'}`)}))})
        : null,
      h(TextField, {label: t('memories.entities'), hint: t('memories.entitiesHint'), value: said.entities, onChange: put('entities')}),
      h(TextField, {label: t('memories.keys'), hint: t('memories.keysHint'), value: said.keys, onChange: put('keys')}),
      isOfFloor || (item?.sources.length ?? 0) > 0
        ? null
        : h(SelectField, {label: t('memories.scope'), value: said.scope, onChange: put('scope'), options: SCOPES.map((value) => ({value, label: t(`memories.scope.${value}`)}))}),
      h(CheckField, {label: t('memories.pinned'), hint: t('memories.pinnedHint'), checked: said.pinned, onChange: put('pinned')}),
      div(
        {className: 'memories-actions'},
        h(Button, {label: t('app.cancel'), onClick: onClose}),
        h(Button, {label: t('memories.save'), tone: 'primary', type: 'submit', disabled: !isReady}),
      ),
    ),
    item === null ? null : h(Sources, {place, item}),
    item === null ? null : h(Changes, {item, again}),
  );
}

/** Where it was said. @param {{place: Place, item: Item}} props */
function Sources({place, item}) {
  if (item.sources.length === 0) return null;
  return section(
    {'aria-label': t('memories.sources')},
    p({className: 'memories-subject'}, t('memories.sources')),
    ul(
      {className: 'memories-list'},
      item.sources.map((source) =>
        li(
          {key: source.page_id, className: 'memories-source'},
          source.quote === null ? null : blockquote(null, source.quote),
          h(Button, {label: t('memories.showFloor'), icon: 'forward', onClick: () => void showFloor(place, source.floor_id)}),
        )),
    ),
  );
}

/** What people changed of it, the latest first; the latest can be undone. @param {{item: Item, again: number}} props */
function Changes({item, again}) {
  const [failure, setFailure] = useState(/** @type {string | null} */ (null));
  const read = useReading(`${pathOf(item.id)}/history`, `${again} ${item.updated_at}`);
  if (read === null || !('data' in read) || read.data.length === 0) return null;
  const undo = async () => {
    try {
      await write('POST', `${pathOf(item.id)}/undo`);
      setFailure(null);
    } catch (error) {
      setFailure(reasonOf(error));
    }
  };
  return details(
    {className: 'chat-details', open: true},
    summary(null, t('memories.history')),
    failure === null ? null : h(FailureBox, null, p(null, failure)),
    ul(
      {className: 'memories-list'},
      read.data.map((/** @type {any} */ change, /** @type {number} */ index) =>
        li(
          {key: change.id, className: 'memories-change'},
          time({dateTime: new Date(change.created_at).toISOString(), className: 'text-soft'}, timeInWords(change.created_at)),
          span(null, t('memories.was', {text: textOf(change.before)})),
          change.before.status === 'deprecated' ? span({className: 'chip'}, t('memories.hidden.deprecated')) : null,
          change.before.pinned ? span({className: 'chip'}, h(Icon, {name: 'pin', size: 12}), t('memories.pinnedMark')) : null,
          index === 0 ? h(Button, {label: t('memories.undo'), icon: 'undo', onClick: () => void undo()}) : null,
        )),
    ),
  );
}
