/** The prompt that a preset makes while it is written, with what each of its texts takes: of the chat that is open, else of nothing. */
import {classes, h, tags, useMemo, useState} from '../../h.js';
import {shallow, useStore} from '../../state/store.js';
import {t, translated} from '../../words.js';
import {SelectField, TextField} from '../../ui/fields.js';
import {useTrial} from './trial.js';

const {details, div, h3, p, pre, section, span, summary} = tags;

const INTENTS = ['normal', 'continue', 'impersonate', 'swipe', 'regenerate', 'quiet'];
/** Sections that are drawn. */
const DRAWN = 300;

/**
 * @typedef {object} Section a text of the prompt, or messages of the chat that met one fate
 * @property {string} name
 * @property {string | null} role
 * @property {string | null} text
 * @property {boolean} is_cut
 * @property {number} tokens
 * @property {boolean} kept
 * @property {string | null} why
 *
 * @typedef {object} Tried
 * @property {boolean} is_used
 * @property {Section[]} sections
 * @property {number} token_estimate
 * @property {number} window
 * @property {string[]} warnings
 */

/** @param {{content: any, names: ReadonlyMap<string, string>}} props `names`: what the prompts are called, by their identifiers */
export function PresetTrial({content, names}) {
  const {session, branch} = useStore(({session: chosen}) => ({session: chosen.session, branch: chosen.branch}), shallow);
  const [message, setMessage] = useState('');
  const [intent, setIntent] = useState('normal');
  const body = useMemo(
    () => ({preset: content, message, prompt_intent: intent, ...(session ? {session_id: session, ...(branch ? {branch_id: branch} : {})} : {})}),
    [content, message, intent, session, branch],
  );
  /** @type {import('./trial.js').Trial<Tried>} */
  const {result, error} = useTrial('/presets/test', body);
  // Places that the preset does not name and that nothing fills say nothing of it.
  const sections = (result?.sections ?? []).filter(({name, kept, why}) => kept || why !== 'empty' || names.has(name));
  return section(
    {className: 'library-trial', 'aria-label': t('library.preview')},
    div(
      {className: 'library-row library-between'},
      h3(null, t('library.preview')),
      result === null ? null : span({className: 'library-total', role: 'status'}, t('library.previewTotal', {tokens: result.token_estimate, window: result.window})),
    ),
    p({className: 'text-soft'}, t(session ? 'library.previewChat' : 'library.previewNothing')),
    div(
      {className: 'library-row'},
      h(TextField, {label: t('library.previewMessage'), value: message, onChange: setMessage}),
      h(SelectField, {label: t('library.previewIntent'), value: intent, onChange: setIntent, options: INTENTS.map((value) => ({value, label: t(`library.intent.${value}`)}))}),
    ),
    error === null ? null : p({role: 'alert', className: 'field-error'}, error),
    result !== null && !result.is_used ? p({role: 'alert', className: 'field-error'}, t('library.previewNative')) : null,
    result === null ? null : result.warnings.map((warning, index) => p({key: index, className: 'text-soft'}, warning)),
    sections.slice(0, DRAWN).map((one, index) => h(SectionLine, {key: index, one, name: names.get(one.name)})),
  );
}

/** @param {{one: Section, name: string | undefined}} props */
function SectionLine({one, name}) {
  const {role, text, tokens, kept, why, is_cut: isCut} = one;
  const head = [
    span({key: 'name', className: 'library-prompt-name'}, name || (translated(`chat.source.${one.name}`) ?? one.name)),
    role === null ? null : span({key: 'role', className: 'badge'}, translated(`library.role.${role}`) ?? role),
    kept ? null : span({key: 'why', className: 'badge'}, translated(`chat.reason.${why}`) ?? why),
    span({key: 'tokens', className: 'library-tokens'}, t('library.tokens', {n: tokens})),
  ];
  const className = classes('library-preview', !kept && 'library-off');
  if (text === null || text === '') return div({className}, head);
  return details({className}, summary(null, head), pre({className: 'library-result'}, isCut ? `${text}…` : text));
}
