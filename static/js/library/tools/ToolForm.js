/** One defined tool: what models are told of it, and what serves its calls. */
import {Fragment, h, tags, useState} from '../../h.js';
import {isSame} from '../../core/doc.js';
import {reasonOf} from '../../state/failures.js';
import {notify} from '../../state/notices.js';
import {useStore} from '../../state/store.js';
import {t} from '../../words.js';
import {Button} from '../../ui/buttons.js';
import {Dialog} from '../../ui/dialog.js';
import {SelectField, TextField} from '../../ui/fields.js';
import {leave} from '../leaving.js';
import {NEW_TOOL, refusalsOf, saidOf, tryDefinition, writeDefinition, wrongIn} from './definitions.js';
import {ToolTrial} from './ToolTrial.js';

const {details, p, summary} = tags;

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const LEVELS = ['irreversible', 'sandbox', 'none'];

/**
 * @typedef {import('./definitions.js').Said} Said
 * @typedef {Partial<Record<keyof Said | '', string>>} Errors
 * @typedef {{said: Said, errors: Errors, change: (patch: Partial<Said>) => void}} PartProps
 */

/** @param {{tool?: import('./definitions.js').Definition, onChanged: () => Promise<void>, close: () => void}} props without a tool: a new one */
export function ToolForm({tool, onChanged, close}) {
  const [before] = useState(() => (tool ? saidOf(tool) : NEW_TOOL));
  const [said, setSaid] = useState(before);
  const [refused, setRefused] = useState(/** @type {Errors} */ ({}));
  const [isSaving, setSaving] = useState(false);
  const isChanged = !isSame(said, before);
  const wrong = wrongIn(said);
  // An empty name is no mistake yet.
  const told = wrong.filter((field) => field !== 'name' || said.name !== '').map((field) => [field, t(`library.toolWrong.${field}`)]);
  const errors = {...refused, ...Object.fromEntries(told)};
  /** @param {Partial<Said>} patch */
  const change = (patch) => {
    setRefused({});
    setSaid({...said, ...patch});
  };
  const save = async () => {
    setSaving(true);
    try {
      await writeDefinition(tool ?? null, said);
      notify('success', 'library.saved', {name: said.name});
      await onChanged();
      close();
    } catch (error) {
      setRefused(refusalsOf(error, reasonOf(error)));
      setSaving(false);
    }
  };
  const part = {said, errors, change};
  const levels = [...(tool ? [] : ['']), ...LEVELS];
  return h(
    Dialog,
    {
      title: tool ? t('library.toolEdit', {name: tool.name}) : t('library.toolNew'),
      size: 'large',
      onClose: () => void leave(isChanged, close),
      actions: [
        h(Button, {key: 'close', label: t('app.close'), onClick: () => void leave(isChanged, close)}),
        h(Button, {key: 'save', label: t('app.save'), icon: 'disk', tone: 'primary', disabled: !isChanged || wrong.length > 0 || isSaving, onClick: () => void save()}),
      ],
    },
    errors[''] === undefined ? null : p({className: 'field-error', role: 'alert'}, errors['']),
    h(Line, {...part, field: 'name', label: t('library.name'), hint: t('library.toolNameHint'), autoFocus: !tool}),
    h(Line, {...part, field: 'description', label: t('library.toolDescription'), hint: t('library.toolDescriptionHint'), rows: 2}),
    h(Line, {...part, field: 'parameters', label: t('library.toolParameters'), hint: t('library.toolParametersHint'), rows: 8}),
    h(SelectField, {
      label: t('library.toolHandler'),
      value: said.type,
      onChange: (type) => change({type: /** @type {Said['type']} */ (type), timeout: ''}),
      options: ['http', 'pipeline'].map((value) => ({value, label: t(`library.toolType.${value}`)})),
    }),
    h(said.type === 'http' ? HttpPart : PipelinePart, part),
    h(Line, {...part, field: 'timeout', label: t('library.toolTimeout'), hint: t(`library.toolTimeoutHint.${said.type}`)}),
    h(SelectField, {
      label: t('library.mcpLevel'),
      value: said.level,
      error: errors.level,
      onChange: (level) => change({level}),
      options: levels.map((value) => ({value, label: t(value === '' ? 'library.toolLevelOwn' : `library.mcpLevel.${value}`)})),
    }),
    tool ? h(Trial, {tool, isChanged}) : null,
  );
}

/** @param {{tool: import('./definitions.js').Definition, isChanged: boolean}} props `isChanged`: the form holds what is not saved, and what is saved is tried */
function Trial({tool, isChanged}) {
  return details(
    {className: 'chat-details'},
    summary(null, t('library.toolTry')),
    h(ToolTrial, {tool, hint: t(isChanged ? 'library.toolTrySave' : 'library.toolTryHint'), isHeld: isChanged, call: (args, isAgreed) => tryDefinition(tool.id, args, isAgreed)}),
  );
}

/** @param {PartProps} props */
function HttpPart(props) {
  const {said, errors, change} = props;
  return h(
    Fragment,
    null,
    h(SelectField, {label: t('library.toolMethod'), value: said.method, error: errors.method, onChange: (method) => change({method}), options: METHODS.map((value) => ({value, label: value}))}),
    h(Line, {...props, field: 'url', label: t('library.mcpUrl'), hint: t('library.toolUrlHint')}),
    h(Line, {...props, field: 'headers', label: t('library.mcpHeaders'), hint: t('library.mcpHeadersHint'), rows: 2}),
    said.method === 'GET' && said.body === '' ? null : h(Line, {...props, field: 'body', label: t('library.toolBody'), hint: t('library.toolBodyHint'), rows: 4}),
  );
}

/** @param {PartProps} props */
function PipelinePart(props) {
  const {said, errors, change} = props;
  const pipelines = useStore((state) => state.library.pipelines);
  const ids = pipelines.map((one) => one.id);
  const options = pipelines.map(({id, name}) => ({value: id, label: name && name !== id ? `${name} (${id})` : id}));
  // What was chosen and is not there is shown as it is.
  if (!ids.includes(said.pipeline)) options.unshift({value: said.pipeline, label: said.pipeline || t('library.toolChoose')});
  return h(
    Fragment,
    null,
    h(SelectField, {label: t('library.toolPipeline'), value: said.pipeline, error: errors.pipeline, onChange: (pipeline) => change({pipeline}), options}),
    h(Line, {...props, field: 'input', label: t('library.toolInput'), hint: t('library.toolInputHint'), rows: 2}),
    h(Line, {...props, field: 'model', label: t('library.toolModel'), hint: t('library.toolModelHint')}),
  );
}

/** A text of the form. @param {PartProps & {field: Exclude<keyof Said, 'type'>, label: string, hint: string, rows?: number, autoFocus?: boolean}} props */
function Line({said, errors, change, field, label, hint, rows, autoFocus}) {
  return h(TextField, {label, hint, rows, autoFocus, mono: field !== 'description', value: said[field], error: errors[field] ?? null, onChange: (text) => change({[field]: text})});
}
