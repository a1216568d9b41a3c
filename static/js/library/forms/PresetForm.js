/** A prompt preset: its prompts in the order in which they are sent, and how the model samples. */
import {estimateTokens} from '../../core/estimate.js';
import {isObject} from '../../core/doc.js';
import {classes, h, tags, useState} from '../../h.js';
import {announce} from '../../state/notices.js';
import {t, translated} from '../../words.js';
import {Button} from '../../ui/buttons.js';
import {CheckField} from '../../ui/fields.js';
import {sortClasses, useSorting} from '../../ui/sorting.js';
import {CheckPart, ChoicePart, NumberPart, textOf, TextPart} from './fields.js';
import {addPrompt, linesOf, movePrompt, putPrompt, removePrompt, togglePrompt} from './prompts.js';
import {PresetTrial} from './PresetTrial.js';
import {ROLES} from './roles.js';

const {details, div, h3, p, section, span, summary} = tags;

/** What a preset says of sampling, by SillyTavern's names. */
const SAMPLING = ['temperature', 'top_p', 'top_k', 'min_p', 'top_a', 'frequency_penalty', 'presence_penalty', 'repetition_penalty', 'openai_max_context', 'openai_max_tokens', 'seed'];
const FORMATS = ['wi_format', 'scenario_format', 'personality_format', 'new_chat_prompt', 'new_group_chat_prompt', 'new_example_chat_prompt', 'continue_nudge_prompt', 'group_nudge_prompt',
  'impersonation_prompt', 'assistant_prefill'];
const IN_CHAT = 1;

/** @param {{content: any, onChange: (content: any) => void}} props */
export function PresetForm({content, onChange}) {
  const part = {content, onChange};
  const lines = linesOf(content);
  const ordered = lines.filter(({isOrdered}) => isOrdered);
  const others = lines.filter(({isOrdered}) => !isOrdered);
  const [open, setOpen] = useState(/** @type {string | null} */ (null));
  const sorting = useSorting({announce, count: ordered.length, onMove: (from, to) => onChange(movePrompt(content, from, to))});
  const tokens = ordered.filter(({isOn}) => isOn).reduce((sum, {prompt}) => sum + estimateTokens(textOf(prompt.content)), 0);
  /** @param {import('./prompts.js').Line} line @param {number} index */
  const view = (line, index) => h(Prompt, {key: line.id, line, index, sorting, part, isOpen: open === line.id, onOpen: (isOpen) => setOpen(isOpen ? line.id : null)});
  return div(
    {className: 'library-form library-preset'},
    section(
      {className: 'library-fields', 'aria-label': t('library.prompts')},
      div(
        {className: 'library-row library-between'},
        h3(null, t('library.prompts')),
        span({className: 'library-total', role: 'status'}, t('library.tokens', {n: tokens})),
        h(Button, {
          label: t('library.addPrompt'),
          icon: 'add',
          onClick: () => {
            const {content: next, id} = addPrompt(content, t('library.newPrompt'));
            onChange(next);
            setOpen(id);
          },
        }),
      ),
      div({ref: sorting.list, role: 'list', 'aria-label': t('library.prompts')}, ordered.map(view)),
      others.length ? h3(null, t('library.notInOrder')) : null,
      others.length ? div({role: 'list', 'aria-label': t('library.notInOrder')}, others.map(view)) : null,
      h(PresetTrial, {content, names: new Map(lines.map(({id, prompt}) => [id, textOf(prompt.name)]))}),
    ),
    section(
      {className: 'library-aside', 'aria-label': t('library.sampling')},
      h3(null, t('library.sampling')),
      SAMPLING.filter((name) => name in content || name === 'temperature').map((name) => h(NumberPart, {key: name, part, name, label: t(`library.sampling.${name}`), hint: translated(`library.samplingHint.${name}`) ?? undefined})),
      details(null, summary(null, t('library.formats')), FORMATS.map((name) => h(TextPart, {key: name, part, name, label: t(`library.format.${name}`), rows: 2}))),
    ),
  );
}

/**
 * @param {{line: import('./prompts.js').Line, index: number, sorting: import('../../ui/sorting.js').Sorting, part: import('./fields.js').Part, isOpen: boolean,
 *   onOpen: (isOpen: boolean) => void}} props
 */
function Prompt({line, index, sorting, part: {content, onChange}, isOpen, onOpen}) {
  const {id, prompt, isOn, isOrdered} = line;
  const name = textOf(prompt.name) || id;
  const part = {content: prompt, onChange: (/** @type {any} */ next) => onChange(putPrompt(content, id, next))};
  return div(
    {role: 'listitem', 'data-row': isOrdered ? true : undefined, className: classes('library-prompt', !isOn && 'library-off', isOrdered && sortClasses(sorting, index))},
    div(
      {className: 'library-prompt-head'},
      isOrdered ? sorting.handle(index, name) : null,
      h(CheckField, {label: t('library.enabledNamed', {name}), hideLabel: true, checked: isOn, onChange: (checked) => onChange(togglePrompt(content, id, checked))}),
      h(Button, {label: name, tone: 'quiet', icon: isOpen ? 'chevronDown' : 'chevronRight', className: 'library-prompt-name', onClick: () => onOpen(!isOpen), rest: {'aria-expanded': isOpen}}),
      prompt.marker ? span({className: 'badge'}, t('library.marker')) : span({className: 'badge'}, t(`library.role.${ROLES.find((role) => role === prompt.role) ?? 'system'}`)),
      prompt.injection_position === IN_CHAT ? span({className: 'badge'}, t('library.inChatAt', {depth: String(prompt.injection_depth ?? 4)})) : null,
      prompt.marker ? null : span({className: 'library-tokens'}, t('library.tokens', {n: estimateTokens(textOf(prompt.content))})),
      isOrdered ? sorting.arrows(index, name) : null,
    ),
    isOpen ? h(PromptFields, {part, onRemove: () => onChange(removePrompt(content, id))}) : null,
  );
}

/** @param {{part: import('./fields.js').Part, onRemove: () => void}} props */
function PromptFields({part, onRemove}) {
  const {content: prompt} = part;
  return div(
    {className: 'library-prompt-fields'},
    h(TextPart, {part, name: 'name', label: t('library.name')}),
    prompt.marker ? p({className: 'text-soft'}, t('library.markerText')) : h(TextPart, {part, name: 'content', label: t('library.text'), rows: 8}),
    div(
      {className: 'library-row'},
      h(ChoicePart, {part, name: 'role', label: t('library.role'), fallback: 'system', options: ROLES.map((role) => ({value: role, label: t(`library.role.${role}`)}))}),
      h(ChoicePart, {
        part,
        name: 'injection_position',
        label: t('library.position'),
        fallback: 0,
        options: [0, IN_CHAT].map((value) => ({value, label: t(value === IN_CHAT ? 'library.inChat' : 'library.relative')})),
      }),
      prompt.injection_position === IN_CHAT ? h(NumberPart, {part, name: 'injection_depth', label: t('library.depth')}) : null,
      prompt.injection_position === IN_CHAT ? h(NumberPart, {part, name: 'injection_order', label: t('library.order')}) : null,
    ),
    prompt.marker ? null : h(CheckPart, {part, name: 'forbid_overrides', label: t('library.forbidOverrides')}),
    isObject(prompt) && !prompt.system_prompt ? h(Button, {label: t('library.removePrompt'), icon: 'trash', tone: 'danger', onClick: onRemove}) : null,
  );
}
