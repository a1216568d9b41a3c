/** A character's card: its texts with what each costs, its greetings, and what is said about it. */
import {estimateTokens} from '../../core/estimate.js';
import {h, tags} from '../../h.js';
import {announce} from '../../state/notices.js';
import {t} from '../../words.js';
import {Button} from '../../ui/buttons.js';
import {TextField} from '../../ui/fields.js';
import {moved, sortClasses, useSorting} from '../../ui/sorting.js';
import {ChoicePart, NumberPart, textOf, TextPart, Tokens, WordsPart} from './fields.js';
import {Picture} from '../Picture.js';
import {ROLES} from './roles.js';

const {div, fieldset, h3, legend, p} = tags;

/** What every prompt of a chat with this character holds. */
const ALWAYS = ['description', 'personality', 'scenario', 'mes_example', 'system_prompt', 'post_history_instructions'];
const DEFAULT_DEPTH = 4;

/** @param {{asset: import('../contents.js').Opened, content: any, onChange: (content: any) => void}} props */
export function CharacterForm({asset, content, onChange}) {
  const part = {content, onChange};
  const depth = content.extensions?.depth_prompt ?? {};
  const depthPart = {
    content: depth,
    onChange: (/** @type {any} */ next) => onChange({...content, extensions: {...content.extensions, depth_prompt: {depth: DEFAULT_DEPTH, role: 'system', ...next}}}),
  };
  const always = ALWAYS.reduce((sum, name) => sum + estimateTokens(textOf(content[name])), estimateTokens(textOf(depth.prompt)));
  return div(
    {className: 'library-form library-character'},
    div(
      {className: 'library-aside'},
      h(Picture, {id: asset.id, name: asset.name, image: asset.image}),
      p({className: 'library-total', role: 'status'}, t('library.always', {n: always})),
      h(TextPart, {part, name: 'name', label: t('library.name')}),
      h(TextPart, {part, name: 'nickname', label: t('library.nickname')}),
      h(WordsPart, {part, name: 'tags', label: t('library.cardTags')}),
      h(TextPart, {part, name: 'creator', label: t('library.creator')}),
      h(TextPart, {part, name: 'character_version', label: t('library.cardVersion')}),
    ),
    div(
      {className: 'library-fields'},
      h(TextPart, {part, name: 'description', label: t('library.description'), rows: 8}),
      h(TextPart, {part, name: 'personality', label: t('library.personality'), rows: 3}),
      h(TextPart, {part, name: 'scenario', label: t('library.scenario'), rows: 3}),
      h(Greetings, {part}),
      h(TextPart, {part, name: 'mes_example', label: t('library.examples'), rows: 5}),
      h(TextPart, {part, name: 'system_prompt', label: t('library.systemPrompt'), rows: 3}),
      h(TextPart, {part, name: 'post_history_instructions', label: t('library.postHistory'), rows: 3}),
      fieldset(
        {className: 'library-group'},
        legend(null, t('library.depthPrompt')),
        h(TextPart, {part: depthPart, name: 'prompt', label: t('library.text'), rows: 3}),
        div(
          {className: 'library-row'},
          h(NumberPart, {part: depthPart, name: 'depth', label: t('library.depth')}),
          h(ChoicePart, {part: depthPart, name: 'role', label: t('library.role'), fallback: 'system', options: ROLES.map((role) => ({value: role, label: t(`library.role.${role}`)}))}),
        ),
      ),
      h(TextPart, {part, name: 'creator_notes', label: t('library.creatorNotes'), rows: 4}),
    ),
  );
}

/** The first message, and those that may stand in its place. @param {{part: import('./fields.js').Part}} props */
function Greetings({part}) {
  const {content, onChange} = part;
  /** @type {any[]} */
  const others = Array.isArray(content.alternate_greetings) ? content.alternate_greetings : [];
  /** @param {any[]} next */
  const set = (next) => onChange({...content, alternate_greetings: next});
  const sorting = useSorting({announce, count: others.length, onMove: (from, to) => set(moved(others, from, to))});
  return div(
    {className: 'library-greetings'},
    h(TextPart, {part, name: 'first_mes', label: t('library.firstMessage'), rows: 5}),
    div({className: 'library-row library-between'}, h3(null, t('library.greetings', {n: others.length})), h(Button, {label: t('library.addGreeting'), icon: 'add', onClick: () => set([...others, ''])})),
    div(
      {ref: sorting.list},
      others.map((text, index) => {
        const name = t('library.greeting', {number: String(index + 2)});
        return div(
          {key: index, 'data-row': true, className: `library-sorted ${sortClasses(sorting, index)}`},
          sorting.handle(index, name),
          h(TextField, {
            label: name,
            rows: 4,
            value: textOf(text),
            onChange: (next) => set(others.map((one, place) => (place === index ? next : one))),
            aside: [
              h(Tokens, {key: 'tokens', text}),
              h(Button, {key: 'remove', label: t('library.removeNamed', {name}), icon: 'trash', iconOnly: true, tone: 'quiet', onClick: () => set(others.filter((_, place) => place !== index))}),
            ],
          }),
        );
      }),
    ),
  );
}
