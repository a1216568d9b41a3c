/** The prompt policy of a chat: by which rules its prompts are put together, and where each rule comes from. */
import {h, tags, useState} from '../h.js';
import {withQuery} from '../state/memory.js';
import {t} from '../words.js';
import {NotRead, Waiting} from '../ui/empty.js';
import {CheckField, SelectField, TextField} from '../ui/fields.js';
import {Icon} from '../ui/icons.js';
import {change, useReading} from '../state/reading.js';

const {div, fieldset, legend, li, p, ul} = tags;

const SHAPES = ['default', 'strict_alternating', 'no_assistant', 'flattened'];
const MODES = ['compat_strict', 'compat_plus', 'native'];
const SOURCES = ['memory', 'worldbook', 'examples'];
const DELIVERY = ['allow_assistant_prefill', 'require_last_user', 'no_assistant'];

/** @param {{place: import('./talk.js').Place | null}} props */
export function Rules({place}) {
  const [times, setTimes] = useState(0);
  const [ofBranch, setOfBranch] = useState(false);
  const base = place === null ? null : `/sessions/${encodeURIComponent(place.session)}/prompt-runtime`;
  const read = useReading(base && withQuery(base, {branch_id: place?.branch}), times);
  if (place === null || base === null) return p({className: 'panel-empty'}, h(Icon, {name: 'info'}), t('chat.empty'));
  if (read === null) return h(Waiting);
  if ('error' in read) return h(NotRead, null, read.error);
  const {mode, policy, warnings} = read.data;
  /** @param {string} path @param {any} body */
  const send = async (path, body) => {
    if (await change('PATCH', path, body)) setTimes((count) => count + 1);
  };
  const where = ofBranch ? `${base}/branches/${encodeURIComponent(place.branch)}/policy` : `${base}/policy`;
  /** @param {Record<string, any>} patch */
  const patch = (patch) => void send(where, patch);
  const {structure, delivery, budget, source_selection: sources} = policy;
  const history = sources.history ?? {};
  return div(
    {className: 'chat-page'},
    h(SelectField, {
      label: t('chat.rulesFor'),
      value: ofBranch ? 'branch' : 'session',
      onChange: (value) => setOfBranch(value === 'branch'),
      options: [{value: 'session', label: t('chat.rulesSession')}, {value: 'branch', label: t('chat.rulesBranch', {name: place.branch})}],
    }),
    h(SelectField, {
      label: t('chat.rulesMode'),
      value: mode.session_prompt_mode ?? '',
      onChange: (value) => void send(`${base}/mode`, {prompt_mode: value || null}),
      options: [{value: '', label: t('chat.rulesUsual')}, ...MODES.map((value) => ({value, label: t(`chat.rulesMode.${value}`)}))],
    }),
    h(SelectField, {
      label: t('chat.rulesShape'),
      value: structure.mode,
      onChange: (value) => patch({structure: {mode: value}}),
      options: SHAPES.map((value) => ({value, label: t(`chat.rulesShape.${value}`)})),
    }),
    fieldset(
      {className: 'chat-group'},
      legend(null, t('chat.rulesDelivery')),
      DELIVERY.map((name) => h(CheckField, {key: name, label: t(`chat.rulesDelivery.${name}`), checked: delivery[name] === true, onChange: (isOn) => patch({delivery: {[name]: isOn}})})),
    ),
    fieldset(
      {className: 'chat-group'},
      legend(null, t('chat.rulesSources')),
      SOURCES.map((name) => h(CheckField, {key: name, label: t(`chat.rulesSource.${name}`), checked: sources[name]?.enabled !== false, onChange: (enabled) => patch({source_selection: {[name]: {enabled}}})})),
    ),
    h(Count, {
      label: t('chat.rulesHistory'),
      hint: t('chat.rulesHistoryHint'),
      least: 0,
      value: history.mode === 'windowed' ? (history.max_messages ?? null) : null,
      onChange: (count) => patch({source_selection: {history: count === null ? {mode: 'full', max_messages: null} : {mode: 'windowed', max_messages: count}}}),
    }),
    h(Count, {label: t('chat.rulesWindow'), hint: t('chat.rulesWindowHint'), least: 1, value: budget.max_input_tokens ?? null, onChange: (max_input_tokens) => patch({budget: {max_input_tokens}})}),
    h(Count, {label: t('chat.rulesReserve'), hint: t('chat.rulesReserveHint'), least: 0, value: budget.reserved_completion_tokens ?? null, onChange: (reserved_completion_tokens) => patch({budget: {reserved_completion_tokens}})}),
    warnings.length === 0 ? null : ul({className: 'field-hint'}, warnings.map((/** @type {string} */ one) => li({key: one}, one))),
  );
}

/**
 * A number that is kept when Enter is pressed or the field is left; an empty field is null.
 * @param {{label: string, hint: string, least: number, value: number | null, onChange: (value: number | null) => void}} props
 */
function Count({label, hint, least, value, onChange}) {
  const shown = value === null ? '' : String(value);
  const [typed, setTyped] = useState(/** @type {string | null} */ (null));
  const text = (typed ?? shown).trim();
  const isRight = text === '' || (/^\d{1,9}$/.test(text) && Number(text) >= least);
  const keep = () => {
    if (!isRight) return;
    if (typed !== null && text !== shown) onChange(text === '' ? null : Number(text));
    setTyped(null);
  };
  return div(
    {onBlur: keep},
    h(TextField, {label, hint, value: typed ?? shown, error: isRight ? null : t('chat.rulesNumber', {least}), onChange: setTyped, onEnter: keep}),
  );
}
