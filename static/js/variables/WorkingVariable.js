/** One working variable: its value, read in parts, its description and tags; written anew, or removed. */
import {h, tags, useEffect, useState} from '../h.js';
import {ask} from '../state/dialogs.js';
import {reasonOf} from '../state/failures.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Dialog} from '../ui/dialog.js';
import {CheckField, TextField} from '../ui/fields.js';
import {putVariable, readPart, removeVariable} from './workingvariables.js';

const {p} = tags;

const ROWS = 12;
/** What no name holds, as docs/working-variables.md has it. */
const NAME = /^[^{}:\r\n]{1,200}$/u;

/** @param {{place: import('./workingvariables.js').Place, name: string | null, onChanged: () => void, close: () => void}} props `name` null: a new one */
export function WorkingVariable({place, name: given, onChanged, close}) {
  const [name, setName] = useState(given ?? '');
  const [facts, setFacts] = useState(/** @type {import('./workingvariables.js').Facts | null} */ (null));
  const [kept, setKept] = useState(/** @type {string | null} */ (given === null ? '' : null));
  /** How many characters of the value were read, as the server counts them. */
  const [count, setCount] = useState(0);
  const [said, setSaid] = useState({value: '', desc: '', tags: '', keep: false});
  const [error, setError] = useState(/** @type {string | null} */ (null));
  /** @param {() => Promise<unknown>} work @returns {Promise<boolean>} */
  const tried = async (work) => {
    try {
      setError(null);
      await work();
      return true;
    } catch (failure) {
      setError(reasonOf(failure));
      return false;
    }
  };
  const readOn = () =>
    tried(async () => {
      if (given === null) return;
      const found = await readPart(place, given, count);
      const value = (kept ?? '') + found.value;
      setFacts(found);
      setCount(count + [...found.value].length);
      setKept(value);
      setSaid((before) => (kept === null ? {value, desc: found.desc, tags: found.tags.join(', '), keep: found.keep} : {...before, value}));
    });
  useEffect(() => void readOn(), []);
  const missing = facts === null ? 0 : facts.length - count;
  const isRule = facts?.type === 'RULE';
  const isLocked = isRule || kept === null;
  const isNamed = NAME.test(name);
  const save = async () => {
    const value = given === null || said.value !== kept ? {value: said.value} : {};
    const list = [...new Set(said.tags.split(',').map((tag) => tag.trim()).filter((tag) => tag !== ''))];
    if (!(await tried(() => putVariable(place, name, {...value, desc: said.desc, tags: list, keep: said.keep})))) return;
    onChanged();
    close();
  };
  const remove = async () => {
    const answer = await ask({title: t('variables.workingRemove', {name}), text: t('variables.workingRemoveText'), choices: [{id: 'remove', label: t('variables.delete'), tone: 'danger'}]});
    if (answer !== 'remove' || !(await tried(() => removeVariable(place, name)))) return;
    onChanged();
    close();
  };
  return h(
    Dialog,
    {
      title: given === null ? t('variables.workingNew') : name,
      size: 'large',
      onClose: close,
      actions: isRule
        ? h(Button, {label: t('app.close'), onClick: close})
        : [
            given === null ? null : h(Button, {key: 'remove', label: t('variables.delete'), icon: 'trash', tone: 'danger', disabled: isLocked, onClick: () => void remove()}),
            h(Button, {key: 'cancel', label: t('app.cancel'), onClick: close}),
            h(Button, {key: 'save', label: t('app.save'), tone: 'primary', disabled: isLocked || !isNamed, onClick: () => void save()}),
          ],
    },
    error === null ? null : p({className: 'field-error', role: 'alert'}, error),
    isRule ? p({className: 'field-hint'}, t('variables.workingRule')) : null,
    given === null
      ? h(TextField, {label: t('variables.name'), value: name, onChange: setName, autoFocus: true, mono: true, error: name === '' || isNamed ? null : t('variables.workingNameWrong')})
      : null,
    h(TextField, {label: t('variables.value'), value: said.value, rows: ROWS, mono: true, disabled: isLocked || missing > 0, onChange: (value) => setSaid({...said, value})}),
    missing > 0 ? h(Button, {label: t('variables.workingReadOn', {n: missing}), icon: 'arrowDown', onClick: () => void readOn()}) : null,
    h(TextField, {label: t('variables.workingDesc'), value: said.desc, disabled: isLocked, onChange: (desc) => setSaid({...said, desc})}),
    h(TextField, {label: t('variables.workingTags'), value: said.tags, disabled: isLocked, hint: t('variables.workingTagsHint'), onChange: (list) => setSaid({...said, tags: list})}),
    h(CheckField, {label: t('variables.workingKeep'), hint: t('variables.workingKeepHint'), checked: said.keep, disabled: isLocked, onChange: (keep) => setSaid({...said, keep})}),
  );
}
