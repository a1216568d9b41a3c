/** Why this was sent: every section of a turn's prompt with its source and tokens, what was left out and why, and the macros. */
import {classes, h, tags, useEffect, useState} from '../h.js';
import {reasonOf} from '../state/failures.js';
import {readMemory, writeMemory} from '../state/memory.js';
import {preview} from '../state/values.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {NotRead, Waiting} from '../ui/empty.js';
import {SelectField} from '../ui/fields.js';
import {Icon} from '../ui/icons.js';
import {SaidText} from '../ui/said.js';
import {Lore} from './Lore.js';
import {showSent, useLook} from './look.js';
import {groupOf, inWords, titleOf} from './sections.js';
import {useTalk} from './talk.js';
import {questionOf} from './versions.js';

const {code, details, div, h3, li, p, section, span, summary, ul} = tags;

const NOWHERE = Object.freeze({session: '', branch: ''});
const WORDS = 60;
/** Stands for the turn that is being written. */
const DRAFT = 'draft';
const DRAWN = 200;

/** @typedef {{of: string, data: any} | {of: string, error: string} | null} Read */

/** @param {{place: import('./talk.js').Place | null}} props */
export function Sent({place}) {
  const {floors, draft} = useTalk(place ?? NOWHERE);
  const {floor: asked} = useLook();
  const chosen = asked === DRAFT || floors.some((one) => one.id === asked) ? asked : (floors.at(-1)?.id ?? null);
  const [read, setRead] = useState(/** @type {Read} */ (null));
  const words = chosen === DRAFT ? draft : '';
  useEffect(() => {
    let isStale = false;
    setRead(null);
    if (place === null || chosen === null || (chosen === DRAFT && words.trim() === '')) return undefined;
    const of = chosen;
    const timer = setTimeout(() => {
      const reading = chosen === DRAFT
        ? writeMemory('POST', `/sessions/${encodeURIComponent(place.session)}/prompt-runtime/inspect`, {
            message: words,
            branch_id: place.branch,
            debug_options: {include_worldbook_matches: true, include_runtime_trace: true},
          })
        : readMemory(`/floors/${encodeURIComponent(chosen)}/prompt-runtime/explain`);
      reading.then(({data}) => isStale || setRead({of, data}), (error) => isStale || setRead({of, error: reasonOf(error)}));
    }, chosen === DRAFT ? 400 : 0);
    return () => {
      isStale = true;
      clearTimeout(timer);
    };
  }, [place?.session, place?.branch, chosen, words]);
  if (place === null) return p({className: 'panel-empty'}, h(Icon, {name: 'info'}), t('chat.empty'));
  return div(
    {className: 'chat-sent'},
    h(SelectField, {
      label: t('chat.sentFor'),
      value: chosen ?? '',
      onChange: showSent,
      options: [
        ...floors.map((floor) => ({value: floor.id, label: `${floor.floor_no} · ${(questionOf(floor)?.content ?? '').slice(0, WORDS)}`})),
        {value: DRAFT, label: t('chat.sentDraft')},
      ],
    }),
    chosen === null || (chosen === DRAFT && words.trim() === '')
      ? p({className: 'panel-empty'}, h(Icon, {name: 'info'}), t('chat.sentNothing'))
      : read === null
        ? h(Waiting)
        : 'error' in read
          ? h(NotRead, null, read.error)
          : h(Explained, {key: read.of, data: read.data}),
  );
}

/** @param {{data: any}} props what explain or inspect answered */
function Explained({data}) {
  const prepared = data.prepared_turn ?? null;
  const sections = /** @type {any[]} */ ((prepared ?? data).sections ?? []);
  const trace = (prepared ?? data).runtime_trace ?? {};
  const macro = prepared === null ? data.macro : trace.macro;
  const memory = (prepared ?? data).memory ?? null;
  return div(
    null,
    h(Size, {budgets: trace.budgets ?? null, estimate: (prepared ?? data.prompt_snapshot)?.token_estimate ?? null}),
    h3(null, t('chat.sections')),
    sections.length === 0 ? p({className: 'field-hint'}, t('chat.noSections')) : sections.slice(0, DRAWN).map((one, index) => h(SectionView, {key: index, one})),
    trace.worldbook ? h(Lore, {lore: trace.worldbook}) : null,
    h(Notes, {title: t('chat.trimmed'), notes: (data.trim_reasons ?? []).map((/** @type {any} */ one) => [groupOf(one.group, sections), inWords('reason', one.reason), one.pruned_token_count ? t('chat.tokens', {n: one.pruned_token_count}) : '', one.detail])}),
    h(Notes, {title: t('chat.excluded'), notes: (data.excluded_sources ?? []).map((/** @type {any} */ one) => [inWords('source', one.source), inWords('reason', one.reason), one.detail])}),
    memory === null ? null : h(Memory, {memory, sections}),
    macro ? h(Macros, {macro}) : null,
    h(Notes, {title: t('chat.notes'), notes: [...(data.diagnostics ?? []), ...(data.limitations ?? [])].map((/** @type {any} */ one) => [typeof one === 'string' ? one : one.message])}),
  );
}

/** How much of the model's window the prompt takes, and how much is left for the answer. @param {{budgets: any, estimate: number | null}} props */
function Size({budgets, estimate}) {
  if (estimate === null) return null;
  const {window, available_for_reply: left} = budgets ?? {};
  const parts = [t('chat.estimate', {n: estimate}), window ? t('chat.window', {n: window}) : '', window && left ? t('chat.leftForAnswer', {n: left}) : ''];
  return p({className: 'field-hint'}, parts.filter(Boolean).join(' '));
}

/** What the model is told of what it cannot see any more: the texts of a memory, and how much of the chat is not in the prompt. @param {{memory: any, sections: any[]}} props */
function Memory({memory, sections}) {
  const items = /** @type {any[]} */ (memory.selected_items ?? []);
  const gone = sections.filter((one) => one.group === 'history' && !one.kept).reduce((sum, one) => sum + one.message_count, 0);
  const sent = sections.filter((one) => one.group === 'history' && one.kept).reduce((sum, one) => sum + one.message_count, 0);
  const notes = [
    [t('chat.memoryHistory', {sent: String(sent), gone: String(gone)})],
    ...(items.length === 0 && !memory.summary_injected ? [[t('chat.memoryNone')]] : []),
    ...items.map((one) => [String(one.type ?? one.kind ?? ''), String(one.content ?? one.text ?? one.id ?? '')]),
  ];
  return h(Notes, {title: t('chat.memory'), notes});
}

/** One section, or messages of the history that met one fate; the text where the server keeps it. @param {{one: any}} props */
function SectionView({one}) {
  const {source, role, text, tokens, kept, why, first_floor_no: first, last_floor_no: last, message_count: count} = one;
  const head = [
    span({key: 'name', className: 'chat-section-name'}, titleOf(one)),
    source === one.name ? null : span({key: 'source', className: 'chip'}, inWords('source', source)),
    role ? span({key: 'role', className: 'text-soft'}, t(`chat.role.${role}`)) : null,
    first === null || first === undefined ? null : span({key: 'floor', className: 'text-soft'}, t('chat.floors', {first: String(first), last: String(last), n: count})),
    span({key: 'tokens', className: 'chat-section-tokens'}, t('chat.tokens', {n: tokens})),
    kept ? null : span({key: 'why', className: 'chip chip-warn'}, inWords('reason', why) || t('chat.leftOut')),
  ];
  const className = classes('chat-section', !kept && 'chat-section-out');
  if (typeof text !== 'string') return div({className}, head);
  return details({className}, summary(null, head), h(SaidText, {text: one.is_cut ? `${text}…` : text}));
}

/** @param {{title: string, notes: string[][]}} props */
function Notes({title, notes}) {
  if (notes.length === 0) return null;
  return section({'aria-label': title}, h3(null, title), ul({className: 'run-remarks'}, notes.slice(0, DRAWN).map((parts, index) => li({key: index}, parts.filter(Boolean).join(' · ')))));
}

/** What macros did: warnings, what they wrote, and what each became. @param {{macro: any}} props */
function Macros({macro}) {
  const [isOpen, setOpen] = useState(false);
  const {warnings = [], mutation_preview: mutations = [], traces = []} = macro;
  if (traces.length + mutations.length + warnings.length === 0) return null;
  return section(
    {'aria-label': t('chat.macros')},
    h3(null, t('chat.macros')),
    warnings.map((/** @type {any} */ one, /** @type {number} */ index) => p({key: index, className: 'chat-warning'}, h(Icon, {name: 'warning', size: 14}), one.message)),
    mutations.length
      ? ul(
          {className: 'run-remarks'},
          mutations.slice(0, DRAWN).map((/** @type {any} */ one, /** @type {number} */ index) => li({key: index}, code(null, `${one.scope} ${one.key} = ${'value' in one ? preview(one.value, WORDS) : '—'}`))),
        )
      : null,
    traces.length ? h(Button, {label: t('chat.traces', {n: traces.length}), tone: 'quiet', onClick: () => setOpen(!isOpen), rest: {'aria-expanded': isOpen}}) : null,
    isOpen
      ? ul(
          {className: 'chat-traces'},
          traces.slice(0, DRAWN).map((/** @type {any} */ one, /** @type {number} */ index) => li({key: index}, code(null, preview(one.raw_text, WORDS)), ' → ', code(null, preview(one.resolved_text, WORDS)))),
        )
      : null,
  );
}
