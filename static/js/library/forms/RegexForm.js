/** A regex profile: its scripts in the order in which they run, and the one that is chosen as a form. */
import {classes, h, tags, useState} from '../../h.js';
import {announce} from '../../state/notices.js';
import {t} from '../../words.js';
import {Button} from '../../ui/buttons.js';
import {CheckField, TextField} from '../../ui/fields.js';
import {moved, sortClasses, useSorting} from '../../ui/sorting.js';
import {CheckPart, ChoicePart, NumberPart, textOf, TextPart} from './fields.js';
import {RegexTrial} from './RegexTrial.js';

const {div, fieldset, h3, legend} = tags;

/** Which texts a script is run on, by SillyTavern's numbers. */
const PLACEMENTS = Object.freeze({1: 'userInput', 2: 'aiOutput', 3: 'slashCommand', 5: 'worldInfo', 6: 'reasoning'});

/** @param {{content: any, onChange: (content: any) => void}} props */
export function RegexForm({content, onChange}) {
  const scripts = Array.isArray(content.scripts) ? content.scripts : [];
  const [open, setOpen] = useState(/** @type {number | null} */ (scripts.length === 1 ? 0 : null));
  /** @param {any[]} next */
  const set = (next) => onChange({...content, scripts: next});
  /** @param {number} index @param {any} script */
  const put = (index, script) => set(scripts.map((/** @type {any} */ one, /** @type {number} */ place) => (place === index ? script : one)));
  const sorting = useSorting({
    announce,
    count: scripts.length,
    onMove: (from, to) => {
      set(moved(scripts, from, to));
      setOpen(null);
    },
  });
  const add = () => {
    set([...scripts, {id: crypto.randomUUID(), scriptName: t('library.newScript'), findRegex: '', replaceString: '', trimStrings: [], placement: [2], disabled: false, markdownOnly: false, promptOnly: false,
      runOnEdit: true, substituteRegex: 0, minDepth: null, maxDepth: null}]);
    setOpen(scripts.length);
  };
  return div(
    {className: 'library-form library-regex'},
    div(
      {className: 'library-fields'},
      h(TextField, {label: t('library.name'), value: textOf(content.name), onChange: (name) => onChange({...content, name})}),
      div({className: 'library-row library-between'}, h3(null, t('library.scripts')), h(Button, {label: t('library.addScript'), icon: 'add', onClick: add})),
      div(
        {ref: sorting.list, role: 'list', 'aria-label': t('library.scripts')},
        scripts.map((/** @type {any} */ script, /** @type {number} */ index) => {
          const name = textOf(script.scriptName) || t('library.scriptNumber', {number: String(index + 1)});
          const part = {content: script, onChange: (/** @type {any} */ next) => put(index, next)};
          const isOpen = open === index;
          return div(
            {key: index, role: 'listitem', 'data-row': true, className: classes('library-prompt', script.disabled && 'library-off', sortClasses(sorting, index))},
            div(
              {className: 'library-prompt-head'},
              sorting.handle(index, name),
              h(CheckField, {label: t('library.enabledNamed', {name}), hideLabel: true, checked: !script.disabled, onChange: (checked) => put(index, {...script, disabled: !checked})}),
              h(Button, {label: name, tone: 'quiet', icon: isOpen ? 'chevronDown' : 'chevronRight', className: 'library-prompt-name', onClick: () => setOpen(isOpen ? null : index), rest: {'aria-expanded': isOpen}}),
              sorting.arrows(index, name),
            ),
            isOpen
              ? h(ScriptFields, {
                  part,
                  onRemove: () => {
                    set(scripts.filter((/** @type {any} */ _, /** @type {number} */ place) => place !== index));
                    setOpen(null);
                  },
                })
              : null,
          );
        }),
      ),
    ),
    h(RegexTrial, {scripts, placements: PLACEMENTS}),
  );
}

/** @param {{part: import('./fields.js').Part, onRemove: () => void}} props */
function ScriptFields({part, onRemove}) {
  const {content: script, onChange} = part;
  const placement = Array.isArray(script.placement) ? script.placement : [];
  const trims = Array.isArray(script.trimStrings) ? script.trimStrings : [];
  return div(
    {className: 'library-prompt-fields'},
    h(TextPart, {part, name: 'scriptName', label: t('library.name')}),
    h(TextField, {label: t('library.findRegex'), value: textOf(script.findRegex), mono: true, rows: 2, onChange: (findRegex) => onChange({...script, findRegex})}),
    h(TextField, {label: t('library.replaceString'), value: textOf(script.replaceString), mono: true, rows: 3, onChange: (replaceString) => onChange({...script, replaceString})}),
    h(TextField, {label: t('library.trimStrings'), hint: t('library.trimHint'), value: trims.join('\n'), mono: true, rows: 2, onChange: (text) => onChange({...script, trimStrings: text === '' ? [] : text.split('\n')})}),
    fieldset(
      {className: 'library-group'},
      legend(null, t('library.placement')),
      Object.entries(PLACEMENTS).map(([number, name]) =>
        h(CheckField, {
          key: number,
          label: t(`library.placement.${name}`),
          checked: placement.includes(Number(number)),
          onChange: (checked) => onChange({...script, placement: checked ? [...placement, Number(number)] : placement.filter((/** @type {any} */ one) => one !== Number(number))}),
        }),
      ),
    ),
    fieldset(
      {className: 'library-group'},
      legend(null, t('library.changes')),
      h(CheckPart, {part, name: 'markdownOnly', label: t('library.markdownOnly')}),
      h(CheckPart, {part, name: 'promptOnly', label: t('library.promptOnly')}),
      h(CheckPart, {part, name: 'runOnEdit', label: t('library.runOnEdit')}),
    ),
    div(
      {className: 'library-row'},
      h(NumberPart, {part, name: 'minDepth', label: t('library.minDepth'), empty: null}),
      h(NumberPart, {part, name: 'maxDepth', label: t('library.maxDepth'), empty: null}),
      h(ChoicePart, {part, name: 'substituteRegex', label: t('library.substitute'), fallback: 0, options: [0, 1, 2].map((value) => ({value, label: t(`library.substitute.${value}`)}))}),
    ),
    h(Button, {label: t('library.removeScript'), icon: 'trash', tone: 'danger', onClick: onRemove}),
  );
}
