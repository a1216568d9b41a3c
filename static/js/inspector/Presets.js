/** The presets: a list to search, and a dialog in which one is seen, changed, made, restored and deleted. */
import {classes, h, tags, useEffect, useId, useState} from '../h.js';
import {api} from '../api/client.js';
import {CodeField} from '../code/Field.js';
import {isObject, isSame} from '../core/doc.js';
import {fuzzy} from '../core/search.js';
import {ask, openDialog} from '../state/dialogs.js';
import {notifyFailure} from '../state/notices.js';
import {mayEdit} from '../state/rights.js';
import {store, useStore} from '../state/store.js';
import {inWords} from '../state/tabs.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Dialog} from '../ui/dialog.js';
import {TextField} from '../ui/fields.js';
import {Icon} from '../ui/icons.js';
import {MenuButton} from '../ui/menu.js';
import {EXAMPLES} from './examples.js';
import {useDraftForm} from '../fields/form.js';
import {JsonField} from '../fields/JsonField.js';
import {deletePreset, idFrom, loadPreset, savePreset} from './presetstore.js';
import {Checked, RequestFields} from './RequestFields.js';
import {UnknownFields} from '../fields/SchemaForm.js';

const {button, div, fieldset, h3, input, li, p, span, ul} = tags;

const KNOWN = ['format', 'name', 'description', 'provider', 'base_url', 'endpoint', 'headers', 'proxy', 'model', 'models', 'template', 'hosts'];

/** The panel. */
export function Presets() {
  const presets = useStore((state) => state.library.presets);
  const [query, setQuery] = useState('');
  const found = fuzzy(query, presets, (one) => `${one.name} ${one.id}`);
  return div(
    {className: 'presets'},
    div(
      {className: 'presets-head'},
      input({
        className: 'input',
        type: 'search',
        'aria-label': t('inspector.findPreset'),
        placeholder: t('inspector.findPreset'),
        value: query,
        spellCheck: false,
        onChange: (event) => setQuery(event.target.value),
      }),
      mayEdit() ? h(Button, {label: t('inspector.newPreset'), icon: 'add', iconOnly: true, tone: 'quiet', onClick: () => void openDialog('preset', {id: null})}) : null,
    ),
    found.length === 0 ? p({className: 'panel-empty'}, t(presets.length ? 'inspector.presetNone' : 'inspector.presetsEmpty')) : null,
    ul(
      {className: 'presets-list', 'aria-label': t('inspector.presets')},
      found.map((one) =>
        li(
          {key: one.id},
          button(
            {type: 'button', className: 'preset-line', onClick: () => void openDialog('preset', {id: one.id})},
            span(
              {className: 'preset-line-name'},
              one.name || one.id,
              one.valid ? null : h(Icon, {name: 'warning', size: 13, className: 'text-warn'}),
              one.valid ? null : span({className: 'visually-hidden'}, t('app.invalid')),
            ),
            span({className: 'preset-line-text'}, one.description || one.id),
          ),
        ),
      ),
    ),
  );
}

const FRESH = Object.freeze({format: 1, name: '', description: '', provider: 'openai', base_url: '', endpoint: '', headers: {}, model: '', template: ''});

/**
 * One preset. Nothing is sent before Save.
 * @param {{id: string | null, close: () => void}} props `id` null: a new one
 */
export function PresetDialog({id, close}) {
  const form = useDraftForm(FRESH);
  const [base, setBase] = useState(/** @type {{id: string | null, etag: string | null, document: Record<string, any>} | null} */ (id === null ? {id, etag: null, document: FRESH} : null));
  const [problems, setProblems] = useState(/** @type {import('../core/doc.js').Problem[]} */ ([]));
  const [isTried, setTried] = useState(false);
  /** @param {string} wanted */
  const load = async (wanted) => {
    const loaded = await loadPreset(wanted);
    setBase(loaded);
    form.reset(loaded.document);
  };
  useEffect(() => {
    if (id === null) return;
    load(id).catch((error) => {
      notifyFailure(error);
      close();
    });
  }, [id]);
  const isFree = mayEdit();
  const isDirty = base !== null && !isSame(form.values, base.document);
  const {name} = form.values;
  const nameError = typeof name !== 'string' || name.trim() === '' ? t('inspector.nameMissing') : name.length > 200 ? t('inspector.nameLong') : null;
  const leave = async () => {
    if (isDirty) {
      const answer = await ask({title: t('inspector.presetLeave'), text: t('app.closeDirtyText'), choices: [{id: 'discard', label: t('app.discard'), tone: 'danger'}]});
      if (answer !== 'discard') return;
    }
    close();
  };
  const save = async () => {
    setTried(true);
    if (!base || nameError) return;
    const taken = store.get().library.presets.map((one) => one.id);
    const saved = await savePreset(base.id ?? idFrom(name, taken), form.values, base.etag);
    if (!saved) return;
    setBase(saved);
    form.reset(saved.document);
    const {body} = await api.get(`/api/presets/${encodeURIComponent(saved.id)}`);
    setProblems(inWords(body.problems ?? []));
    if ((body.problems ?? []).length === 0) close();
  };
  const models = Array.isArray(form.values.models) ? form.values.models.filter((one) => typeof one === 'string') : [];
  return h(
    Dialog,
    {
      title: id === null ? t('inspector.newPreset') : t('inspector.presetTitle', {name: base?.document.name ? String(base.document.name) : id}),
      size: 'large',
      onClose: () => void leave(),
      actions: [
        base?.id && isFree
          ? h(Button, {
              key: 'delete',
              label: t('inspector.delete'),
              icon: 'trash',
              tone: 'quiet',
              className: 'preset-delete',
              onClick: () => void deletePreset(/** @type {string} */ (base.id)).then((isGone) => isGone && close()),
            })
          : null,
        h(Button, {key: 'cancel', label: t(isFree ? 'app.cancel' : 'app.close'), onClick: () => void leave()}),
        isFree && h(Button, {key: 'save', label: t('app.save'), tone: 'primary', disabled: !base || (!isDirty && base.id !== null), onClick: () => void save().catch(notifyFailure)}),
      ],
    },
    base === null
      ? p({className: 'panel-empty'}, t('app.loading'))
      : div(
          {className: 'preset-dialog'},
          isFree ? null : p({className: 'text-soft'}, t('app.mayNotEdit')),
          problems.length ? ul({className: 'inspector-problems'}, problems.map((one, position) => li({key: position, className: 'field-error'}, [one.field, one.message].filter(Boolean).join(': ')))) : null,
          fieldset(
            {className: 'preset-columns', disabled: !isFree},
            div(
              null,
              h(TextField, {label: t('inspector.name'), value: typeof name === 'string' ? name : '', autoFocus: id === null, error: isTried ? nameError : null, onChange: (next) => form.set(['name'], next)}),
              h(Checked, {form, field: 'description', fallback: '', draw: (value) =>
                h(TextField, {label: t('inspector.description'), value: value ?? '', rows: 2, onChange: (next) => form.set(['description'], next)})}),
              h(RequestFields, {form, models, provider: 'openai'}),
            ),
            div(
              null,
              h(NamesField, {form, field: 'models', label: t('inspector.models'), hint: t('inspector.modelsHint')}),
              h(NamesField, {form, field: 'hosts', label: t('inspector.presetHosts'), hint: t('inspector.presetHostsHint')}),
              h(Checked, {form, field: 'template', fallback: '', draw: (value) =>
                h(CodeField, {
                  label: t('inspector.template'),
                  readOnly: !isFree,
                  value: value ?? '',
                  onChange: (next) => form.set(['template'], next),
                  language: 'json',
                  prompt: true,
                  lines: 5,
                  placeholder: t('inspector.templateEmpty'),
                  aside: h(MenuButton, {
                    label: t('inspector.exampleMenu'),
                    icon: 'templates',
                    className: 'inspector-mini',
                    items: () => Object.keys(EXAMPLES).map((one) => ({label: t(`inspector.provider.${one}`), run: () => form.set(['template'], EXAMPLES[one])})),
                  }),
                })}),
              h(UnknownFields, {known: KNOWN, form}),
              base.id ? h(Versions, {id: base.id, etag: base.etag, onRestore: (document) => form.reset(document)}) : null,
            ),
          ),
        ),
  );
}

/** A list of names, one a line. @param {{form: import('../fields/form.js').Form, field: 'models' | 'hosts', label: string, hint: string}} props */
function NamesField({form, field, label, hint}) {
  const value = form.values[field];
  const isRight = value === undefined || (Array.isArray(value) && value.every((one) => typeof one === 'string'));
  if (!isRight) {
    return h(JsonField, {
      label,
      value,
      error: t('inspector.wrongKind', {wanted: t('inspector.kind.list')}),
      onChange: (next) => form.set([field], next),
    });
  }
  return h(Lines, {label, value: value ?? NO_NAMES, hint, onChange: (next) => form.set([field], next.length ? next : undefined)});
}

/** @type {string[]} */
const NO_NAMES = [];

/** @param {{label: string, value: string[], hint: string, onChange: (value: string[]) => void}} props */
function Lines({label, value, hint, onChange}) {
  // The text is the person's own while it is typed: blank lines would vanish under the cursor otherwise.
  const [typed, setTyped] = useState(() => value.join('\n'));
  const names = namesOf(typed);
  const text = isSame(names, value) ? typed : value.join('\n');
  return h(TextField, {
    label,
    hint,
    rows: 2,
    mono: true,
    value: text,
    onChange: (next) => {
      setTyped(next);
      onChange(namesOf(next));
    },
  });
}

/** @param {string} text */
function namesOf(text) {
  return text.split('\n').map((line) => line.trim()).filter(Boolean);
}

/**
 * The kept versions of a preset; one is put into the form, and becomes the newest by saving.
 * @param {{id: string, etag: string | null, onRestore: (document: Record<string, any>) => void}} props
 */
function Versions({id, etag, onRestore}) {
  const [versions, setVersions] = useState(/** @type {any[]} */ ([]));
  const [shown, setShown] = useState(/** @type {number | null} */ (null));
  const locale = useStore((state) => state.view.locale);
  const heading = useId();
  useEffect(() => {
    api
      .get(`/api/presets/${encodeURIComponent(id)}/versions`)
      .then(({body}) => setVersions(body))
      .catch(notifyFailure);
  }, [id, etag]);
  /** @param {number} number */
  const restore = async (number) => {
    const {body} = await api.get(`/api/presets/${encodeURIComponent(id)}/versions/${number}`);
    if (!isObject(body.document)) return;
    setShown(number);
    onRestore(body.document);
  };
  const time = new Intl.DateTimeFormat(locale, {dateStyle: 'medium', timeStyle: 'short'});
  return div(
    {className: 'inspector-section'},
    h3({className: 'inspector-subtitle', id: heading}, t('inspector.versions')),
    versions.length === 0 ? p({className: 'field-hint'}, t('inspector.versionsNone')) : null,
    ul(
      {className: 'version-list', 'aria-labelledby': heading},
      versions.map((one) =>
        li(
          {key: one.number, className: classes('version', shown === one.number && 'version-shown')},
          span({className: 'version-name'}, one.name || t('inspector.version', {n: one.number})),
          span({className: 'text-soft'}, one.time ? time.format(one.time) : ''),
          h(Button, {
            label: t('inspector.versionRestore', {n: one.number}),
            icon: 'history',
            iconOnly: true,
            tone: 'quiet',
            className: 'inspector-mini',
            onClick: () => void restore(one.number).catch(notifyFailure),
          }),
        ),
      ),
    ),
  );
}
