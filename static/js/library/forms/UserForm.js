/** Who the person is in a chat: a name, a description, and where it stands in the prompt. */
import {h, tags} from '../../h.js';
import {t} from '../../words.js';
import {ChoicePart, NumberPart, TextPart} from './fields.js';
import {ROLES} from './roles.js';

const {div} = tags;

/** SillyTavern's places of a description, by its numbers. */
const POSITIONS = {0: 'inPrompt', 2: 'noteTop', 3: 'noteBottom', 4: 'atDepth', 9: 'nowhere'};
const AT_DEPTH = 4;

/** @param {{content: any, onChange: (content: any) => void}} props */
export function UserForm({content, onChange}) {
  const part = {content, onChange};
  return div(
    {className: 'library-form'},
    div(
      {className: 'library-fields'},
      h(TextPart, {part, name: 'name', label: t('library.name')}),
      h(TextPart, {part, name: 'description', label: t('library.description'), rows: 10}),
      h(ChoicePart, {
        part,
        name: 'position',
        label: t('library.position'),
        fallback: 0,
        options: Object.entries(POSITIONS).map(([value, name]) => ({value: Number(value), label: t(`library.userPosition.${name}`)})),
      }),
      content.position === AT_DEPTH
        ? div(
            {className: 'library-row'},
            h(NumberPart, {part, name: 'depth', label: t('library.depth')}),
            h(ChoicePart, {part, name: 'role', label: t('library.role'), fallback: 0, options: ROLES.map((role, value) => ({value, label: t(`library.role.${role}`)}))}),
          )
        : null,
    ),
  );
}
