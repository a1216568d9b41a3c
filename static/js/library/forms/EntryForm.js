/** One entry of a lorebook. */
import {h, tags} from '../../h.js';
import {t} from '../../words.js';
import {Button} from '../../ui/buttons.js';
import {CheckPart, ChoicePart, NumberPart, TextPart, WordsPart} from './fields.js';
import {ROLES} from './roles.js';

const {details, div, summary} = tags;

const POSITIONS = [0, 1, 2, 3, 4, 5, 6, 7];
const AT_DEPTH = 4;
const OUTLET = 7;
const LOGIC = ['andAny', 'notAll', 'notAny', 'andAll'];
const DETAILS = ['scanDepth', 'sticky', 'cooldown', 'delay', 'delayUntilRecursion', 'groupWeight'];

/** @param {{part: import('./fields.js').Part, onBack: () => void, onRemove: () => void}} props */
export function EntryForm({part, onBack, onRemove}) {
  const {content: entry} = part;
  /** What is as the book says unless it is said here. */
  const unlessSaid = [
    {value: null, label: t('library.asUsual')},
    {value: true, label: t('library.yes')},
    {value: false, label: t('library.no')},
  ];
  return div(
    {className: 'library-entry'},
    div(
      {className: 'library-row library-between'},
      h(Button, {label: t('library.allEntries'), icon: 'arrowLeft', tone: 'quiet', className: 'library-back', onClick: onBack}),
      h(CheckPart, {part, name: 'disable', label: t('library.enabled'), isReversed: true}),
      h(CheckPart, {part, name: 'constant', label: t('library.constant')}),
      h(Button, {label: t('library.removeEntry'), icon: 'trash', iconOnly: true, tone: 'quiet', onClick: onRemove}),
    ),
    h(TextPart, {part, name: 'comment', label: t('library.entryTitle')}),
    h(WordsPart, {part, name: 'key', label: t('library.keys'), hint: t('library.keysHint')}),
    h(TextPart, {part, name: 'content', label: t('library.text'), rows: 8}),
    div(
      {className: 'library-row'},
      h(ChoicePart, {part, name: 'position', label: t('library.position'), fallback: 0, options: POSITIONS.map((value) => ({value, label: t(`library.lorePosition.${value}`)}))}),
      entry.position === AT_DEPTH ? h(NumberPart, {part, name: 'depth', label: t('library.depth')}) : null,
      entry.position === AT_DEPTH ? h(ChoicePart, {part, name: 'role', label: t('library.role'), fallback: 0, options: ROLES.map((role, value) => ({value, label: t(`library.role.${role}`)}))}) : null,
      entry.position === OUTLET ? h(TextPart, {part, name: 'outletName', label: t('library.outlet')}) : null,
      h(NumberPart, {part, name: 'order', label: t('library.order')}),
      h(NumberPart, {part, name: 'probability', label: t('library.probability')}),
    ),
    details(
      {open: Array.isArray(entry.keysecondary) && entry.keysecondary.length > 0},
      summary(null, t('library.secondary')),
      h(WordsPart, {part, name: 'keysecondary', label: t('library.secondaryKeys')}),
      h(ChoicePart, {part, name: 'selectiveLogic', label: t('library.logic'), fallback: 0, options: LOGIC.map((name, value) => ({value, label: t(`library.logic.${name}`)}))}),
    ),
    details(
      null,
      summary(null, t('library.details')),
      div({className: 'library-row'}, DETAILS.map((name) => h(NumberPart, {key: name, part, name, label: t(`library.entry.${name}`), empty: null}))),
      div(
        {className: 'library-row'},
        h(ChoicePart, {part, name: 'caseSensitive', label: t('library.entry.caseSensitive'), fallback: null, options: unlessSaid}),
        h(ChoicePart, {part, name: 'matchWholeWords', label: t('library.entry.matchWholeWords'), fallback: null, options: unlessSaid}),
        h(TextPart, {part, name: 'group', label: t('library.entry.group')}),
      ),
      h(CheckPart, {part, name: 'excludeRecursion', label: t('library.entry.excludeRecursion')}),
      h(CheckPart, {part, name: 'preventRecursion', label: t('library.entry.preventRecursion')}),
      h(CheckPart, {part, name: 'ignoreBudget', label: t('library.entry.ignoreBudget')}),
    ),
  );
}
