/** One skill rule: its file as fields, or as it stands where it is of another form. */
import {h, tags, useEffect, useState} from '../../h.js';
import {ApiFailure} from '../../api/client.js';
import {isSame} from '../../core/doc.js';
import {reasonOf} from '../../state/failures.js';
import {notify} from '../../state/notices.js';
import {mayEdit} from '../../state/rights.js';
import {t} from '../../words.js';
import {Button} from '../../ui/buttons.js';
import {Dialog} from '../../ui/dialog.js';
import {Waiting} from '../../ui/empty.js';
import {CheckField, TextField} from '../../ui/fields.js';
import {leave} from '../leaving.js';
import {NEW_RULE, partsOf, readRule, textOfParts, writeRule} from './files.js';

const {div, p, pre, span} = tags;

/**
 * @typedef {import('./files.js').RuleLine} RuleLine
 * @typedef {{group: string, name: string, parts: import('./files.js').RuleParts | null, text: string, etag: string | null}} Draft `text`
 *   counts where the file has no `parts`
 */

/** @type {Draft} */
const EMPTY = {group: '', name: '', parts: NEW_RULE, text: '', etag: null};

/** @param {{rule?: RuleLine, rules: RuleLine[], onChanged: () => Promise<void>, close: () => void}} props without a rule: a new one */
export function RuleEditor({rule, rules, onChanged, close}) {
  const [read, setRead] = useState(/** @type {Draft | null} */ (rule ? null : EMPTY));
  const [draft, setDraft] = useState(/** @type {Draft | null} */ (rule ? null : EMPTY));
  const [failure, setFailure] = useState(/** @type {{text: string, isStale: boolean} | null} */ (null));
  const [isSaving, setSaving] = useState(false);
  const load = async () => {
    if (!rule) return;
    try {
      const {text, etag} = await readRule(rule.group, rule.name);
      const found = {group: rule.group, name: rule.name, parts: partsOf(text), text, etag};
      setRead(found);
      setDraft(found);
      setFailure(null);
    } catch (error) {
      setFailure({text: reasonOf(error), isStale: false});
    }
  };
  useEffect(() => void load(), []);
  const isChanged = draft !== null && !isSame(draft, read);
  const isTaken = !rule && draft !== null && rules.some(({group, name}) => group === draft.group.trim() && name === draft.name.trim());
  const isReady = isChanged && !isTaken && draft.group.trim() !== '' && draft.name.trim() !== '' && (draft.parts?.prompt ?? draft.text).trim() !== '';
  const save = async () => {
    if (draft === null || !isReady || isSaving) return;
    setSaving(true);
    try {
      const name = draft.name.trim();
      await writeRule(draft.group.trim(), name, draft.parts ? textOfParts(draft.parts) : draft.text, draft.etag);
      notify('success', 'library.saved', {name});
      await onChanged();
      close();
    } catch (error) {
      setFailure({text: reasonOf(error), isStale: error instanceof ApiFailure && error.status === 412});
      setSaving(false);
    }
  };
  const isFixed = rule?.shipped || !mayEdit();
  return h(
    Dialog,
    {
      title: rule ? `${rule.group} / ${rule.name}` : t('library.ruleNew'),
      size: 'large',
      onClose: () => void leave(isChanged, close),
      actions: [
        h(Button, {key: 'close', label: t('app.close'), onClick: () => void leave(isChanged, close)}),
        isFixed ? null : h(Button, {key: 'save', label: t('app.save'), icon: 'disk', tone: 'primary', disabled: !isReady || isSaving, onClick: () => void save()}),
      ],
    },
    failure === null
      ? null
      : p(
          {className: 'field-error', role: 'alert'},
          span(null, failure.text),
          failure.isStale ? h(Button, {label: t('library.readAnew'), onClick: () => void load()}) : null,
        ),
    draft !== null
      ? isFixed
        ? pre({className: 'rule-shipped', tabIndex: 0, role: 'group', 'aria-label': t('library.ruleText')}, draft.text)
        : h(Fields, {draft, isNew: !rule, isTaken, problem: rule?.problem ?? null, onChange: setDraft})
      : failure === null
        ? h(Waiting)
        : null,
  );
}

/** @param {{draft: Draft, isNew: boolean, isTaken: boolean, problem: string | null, onChange: (draft: Draft) => void}} props */
function Fields({draft, isNew, isTaken, problem, onChange}) {
  const {parts} = draft;
  /** @param {Partial<import('./files.js').RuleParts>} patch */
  const change = (patch) => parts && onChange({...draft, parts: {...parts, ...patch}});
  return div(
    null,
    problem === null ? null : p({className: 'field-error'}, problem),
    isNew
      ? div(
          null,
          h(TextField, {label: t('library.ruleGroup'), value: draft.group, onChange: (group) => onChange({...draft, group}), autoFocus: true}),
          h(TextField, {label: t('library.name'), value: draft.name, onChange: (name) => onChange({...draft, name}), hint: t('library.ruleNameHint'), error: isTaken ? t('library.ruleTaken') : null}),
        )
      : null,
    parts === null
      ? h(TextField, {label: t('library.ruleFile'), value: draft.text, rows: 16, mono: true, onChange: (text) => onChange({...draft, text})})
      : div(
          null,
          h(TextField, {label: t('library.ruleDesc'), value: parts.desc, hint: t('library.ruleDescHint'), onChange: (desc) => change({desc})}),
          h(TextField, {label: t('library.ruleWhen'), value: parts.when, hint: t('library.ruleWhenHint'), onChange: (when) => change({when})}),
          h(CheckField, {label: t('library.ruleAlways'), checked: parts.always, hint: t('library.ruleAlwaysHint'), onChange: (always) => change({always})}),
          h(TextField, {label: t('library.ruleText'), value: parts.prompt, rows: 14, mono: true, onChange: (prompt) => change({prompt})}),
        ),
  );
}
