/** Director and verifier of a chat: which pipelines they are, what becomes of a refused answer, and what they said of the newest turn. */
import {h, tags} from '../h.js';
import {loadList, SESSIONS, useList} from '../state/chats.js';
import {useStore} from '../state/store.js';
import {setView} from '../state/view.js';
import {t} from '../words.js';
import {NotRead} from '../ui/empty.js';
import {SelectField} from '../ui/fields.js';
import {Icon} from '../ui/icons.js';
import {SaidText} from '../ui/said.js';
import {change, useReading} from '../state/reading.js';
import {useTalk} from './talk.js';
import {answerOf} from './versions.js';

const {div, h3, li, p, section, span, ul} = tags;

const NOWHERE = Object.freeze({session: '', branch: ''});
const STRATEGIES = ['warn', 'block', 'retry'];
/** The source of the sections that a director's words make. */
const DIRECTOR = 'director';

/** @param {{place: import('./talk.js').Place | null}} props */
export function Checks({place}) {
  const session = useList(SESSIONS).items.find((one) => one.id === place?.session);
  const strategy = useStore((state) => state.view.chatFailStrategy);
  const wantsDirector = useStore((state) => state.view.chatOwnDirector);
  const wantsVerifier = useStore((state) => state.view.chatOwnVerifier);
  const hasVerifier = useStore((state) => state.server.checks.verifier !== '') && wantsVerifier;
  const floor = useTalk(place ?? NOWHERE).floors.at(-1);
  const base = floor ? `/floors/${encodeURIComponent(floor.id)}` : null;
  // Another version of the answer has another verdict.
  const version = floor && answerOf(floor)?.id;
  const result = useReading(base && `${base}/result`, version);
  const explained = useReading(base && `${base}/prompt-runtime/explain`, version);
  if (place === null) return p({className: 'panel-empty'}, h(Icon, {name: 'info'}), t('chat.empty'));
  /** @param {Record<string, any>} patch */
  const send = async (patch) => {
    if (await change('PATCH', `/sessions/${encodeURIComponent(place.session)}`, patch)) await loadList(SESSIONS);
  };
  // Floors that no turn made have neither sections nor notes.
  const directed = explained !== null && 'data' in explained ? (explained.data.sections ?? []).filter((/** @type {any} */ one) => one.source === DIRECTOR) : [];
  const skipped = explained !== null && 'data' in explained ? (explained.data.diagnostics ?? []).filter((/** @type {any} */ one) => one.code === 'director_skipped') : [];
  const verdict = result !== null && 'data' in result ? result.data.verifier : null;
  return div(
    {className: 'chat-page'},
    h(Slot, {slot: 'director', named: session?.director_pipeline_id ?? '', isOwnWanted: wantsDirector, onName: (id) => void send({director_pipeline_id: id}), onOwn: (chatOwnDirector) => setView({chatOwnDirector})}),
    h(Slot, {slot: 'verifier', named: session?.verifier_pipeline_id ?? '', isOwnWanted: wantsVerifier, onName: (id) => void send({verifier_pipeline_id: id}), onOwn: (chatOwnVerifier) => setView({chatOwnVerifier})}),
    h(SelectField, {
      label: t('chat.checksStrategy'),
      hint: t('chat.checksStrategyHint'),
      value: strategy,
      disabled: !session?.verifier_pipeline_id && !hasVerifier,
      onChange: (chatFailStrategy) => setView({chatFailStrategy}),
      options: STRATEGIES.map((value) => ({value, label: t(`chat.checksStrategy.${value}`)})),
    }),
    section(
      null,
      h3(null, t('chat.checksSaid.director')),
      explained !== null && 'error' in explained ? h(NotRead, null, explained.error) : null,
      directed.length + skipped.length === 0 ? p({className: 'field-hint'}, t('chat.checksNothing')) : null,
      directed.map((/** @type {any} */ one) => h(SaidText, {key: one.name, text: one.text})),
      skipped.map((/** @type {any} */ one) => p({key: one.message, className: 'field-hint'}, one.message)),
    ),
    section(
      null,
      h3(null, t('chat.checksSaid.verifier')),
      result !== null && 'error' in result ? h(NotRead, null, result.error) : null,
      verdict === null ? p({className: 'field-hint'}, t('chat.checksNothing')) : h(Verdict, {verdict}),
    ),
  );
}

/** Stands for the server's own pipeline; no id of a pipeline has this sign. */
const OWN = '*';

/**
 * Which pipeline is asked: one that the session names, the server's own where this browser wants it, or none.
 * @param {{slot: 'director' | 'verifier', named: string, isOwnWanted: boolean, onName: (id: string | null) => void, onOwn: (isWanted: boolean) => void}} props
 */
function Slot({slot, named, isOwnWanted, onName, onOwn}) {
  const pipelines = useStore((state) => state.library.pipelines);
  const own = useStore((state) => state.server.checks[slot]);
  const known = pipelines.map(({id, name}) => ({value: id, label: name || id}));
  const nobody = {value: '', label: t('chat.checksNobody')};
  const servers = {value: OWN, label: t('chat.checksOwn', {name: known.find((one) => one.value === own)?.label ?? own})};
  const value = named || (own && isOwnWanted ? OWN : '');
  /** @param {string} id */
  const choose = (id) => {
    // The server asks its own only where the session names none.
    if (own) onOwn(id === OWN);
    const next = id === OWN ? '' : id;
    if (next !== named) onName(next || null);
  };
  return h(SelectField, {
    label: t(`chat.checks.${slot}`),
    hint: value === OWN ? `${t(`chat.checksHint.${slot}`)} ${t('chat.checksOwnHint')}` : t(`chat.checksHint.${slot}`),
    value,
    onChange: choose,
    options: [nobody, ...(own ? [servers] : []), ...(named === '' || known.some((one) => one.value === named) ? known : [{value: named, label: named}, ...known])],
  });
}

/** @param {{verdict: {status: string, issues?: string[], suggestion?: string | null}}} props */
function Verdict({verdict}) {
  const {status, issues = [], suggestion} = verdict;
  return div(
    null,
    p(null, span({className: status === 'pass' ? 'chip chip-good' : status === 'fail' ? 'chip chip-bad' : 'chip'}, t(`chat.verdict.${status}`))),
    issues.length === 0 ? null : ul(null, issues.map((one, index) => li({key: index}, one))),
    suggestion ? p(null, suggestion) : null,
  );
}
