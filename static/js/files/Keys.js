/** The providers' keys on the server: added, replaced, removed. What was typed goes there once and never comes back. */
import {api} from '../api/client.js';
import {h, tags, useEffect, useState} from '../h.js';
import {ask} from '../state/dialogs.js';
import {refreshLibrary} from '../state/library.js';
import {notify, notifyFailure} from '../state/notices.js';
import {store, useStore} from '../state/store.js';
import {checkSoon} from '../state/tabs.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Dialog} from '../ui/dialog.js';
import {TextField} from '../ui/fields.js';
import {Icon} from '../ui/icons.js';

const {code, div, form, h3, li, p, span, ul} = tags;

/** @typedef {{name: string, pipelines: string[], presets: string[]}} Use */
/** @typedef {{name: string, source: string, origins: string[] | null}} Key */

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** What is alike in names that mean one key. @param {string} name */
const same = (name) => name.toLowerCase().replaceAll('-', '_');

/**
 * @param {object} props
 * @param {string} [props.add] the name of a key to begin with; empty: a new one
 * @param {(name: string) => void} [props.onStored] told of the key that was added, and then the dialog closes
 * @param {() => void} props.close
 */
export function Keys({add, onStored, close}) {
  const keys = /** @type {Key[]} */ (useStore((state) => state.library.secrets));
  const [uses, setUses] = useState(/** @type {Use[]} */ ([]));
  const [edited, setEdited] = useState(/** @type {string | null} */ (add ?? null));
  useEffect(() => {
    api.get('/api/secrets/uses').then(({body}) => setUses(body), notifyFailure);
  }, [keys]);
  const missing = uses.filter((use) => !keys.some((key) => same(key.name) === same(use.name)));
  /** @param {string} name */
  const stored = (name) => {
    setEdited(null);
    if (!onStored) return;
    onStored(name);
    close();
  };
  return h(
    Dialog,
    {
      title: t('files.keys'),
      onClose: close,
      actions: edited === null ? [h(Button, {key: 'add', label: t('files.keyAdd'), icon: 'add', tone: 'primary', onClick: () => setEdited('')})] : null,
    },
    p({className: 'text-soft'}, t('files.keysText')),
    edited === null ? null : h(KeyForm, {key: edited, name: edited, known: keys.find((key) => same(key.name) === same(edited)) ?? null, onStored: stored, onCancel: () => setEdited(null)}),
    keys.length === 0 && edited === null ? p({className: 'panel-empty'}, t('files.keysNone')) : null,
    ul(
      {className: 'key-list', 'aria-label': t('files.keys')},
      keys.map((key) => h(KeyLine, {key: key.name, shown: key, use: uses.find((use) => same(use.name) === same(key.name)), onReplace: () => setEdited(key.name)})),
    ),
    missing.length
      ? [
          h3({key: 'title'}, t('files.keysMissing')),
          ul(
            {key: 'list', className: 'key-list', 'aria-label': t('files.keysMissing')},
            missing.map((use) =>
              li(
                {key: use.name, className: 'key-line'},
                h(Icon, {name: 'warning', className: 'text-warn'}),
                div({className: 'key-text'}, code(null, use.name), h(UsedBy, {use})),
                h(Button, {label: t('files.keyAddNamed', {name: use.name}), onClick: () => setEdited(use.name)}),
              ),
            ),
          ),
        ]
      : null,
  );
}

/** @param {{shown: Key, use: Use | undefined, onReplace: () => void}} props */
function KeyLine({shown, use, onReplace}) {
  const isOurs = shown.source === 'store';
  const remove = async () => {
    const answer = await ask({
      title: t('files.keyRemoveTitle', {name: shown.name}),
      text: t(use ? 'files.keyRemoveUsed' : 'files.keyRemoveText'),
      details: use ? [...use.pipelines, ...use.presets] : [],
      choices: [{id: 'remove', label: t('files.keyRemove'), tone: 'danger'}],
    });
    if (answer !== 'remove') return;
    try {
      await api.send('DELETE', `/api/secrets/${encodeURIComponent(shown.name)}`);
      await afterChange();
      notify('success', 'files.keyRemoved', {name: shown.name});
    } catch (error) {
      notifyFailure(error);
    }
  };
  return li(
    {className: 'key-line'},
    h(Icon, {name: 'key'}),
    div(
      {className: 'key-text'},
      code(null, shown.name),
      span({className: 'text-soft'}, shown.origins === null ? t('files.keyAnywhere') : t('files.keyGoesTo', {origins: shown.origins.join(', ')})),
      use ? h(UsedBy, {use}) : null,
      isOurs ? null : span({className: 'text-soft'}, t('files.keyOfEnvironment')),
    ),
    isOurs ? h(Button, {label: t('files.keyReplace'), onClick: onReplace, rest: {'aria-label': t('files.keyReplaceNamed', {name: shown.name})}}) : null,
    isOurs ? h(Button, {label: t('files.keyRemoveNamed', {name: shown.name}), icon: 'trash', iconOnly: true, tone: 'quiet', onClick: () => void remove()}) : null,
  );
}

/** @param {{use: Use}} props */
function UsedBy({use}) {
  return span({className: 'text-soft'}, t('files.keyUsedBy', {names: [...use.pipelines, ...use.presets].join(', ')}));
}

/** @param {{name: string, known: Key | null, onStored: (name: string) => void, onCancel: () => void}} props */
function KeyForm({name: given, known, onStored, onCancel}) {
  const [name, setName] = useState(given);
  const [value, setValue] = useState('');
  const [origins, setOrigins] = useState((known?.origins ?? []).join('\n'));
  const [isTried, setTried] = useState(false);
  const [failure, setFailure] = useState(/** @type {string | null} */ (null));
  const nameError = NAME.test(name.trim()) ? null : t('files.keyNameWrong');
  const valueError = value.trim() === '' ? t('files.keyValueMissing') : null;
  const submit = async () => {
    setTried(true);
    if (nameError || valueError) return;
    const listed = origins.split(/[\s,]+/).filter(Boolean);
    try {
      await api.send('PUT', `/api/secrets/${encodeURIComponent(name.trim())}`, {value: value.trim(), origins: listed.length ? listed : null});
      await afterChange();
      notify('success', 'files.keyStored', {name: name.trim()});
      onStored(name.trim());
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
  };
  return form(
    {
      className: 'key-form',
      'aria-label': known ? t('files.keyReplaceNamed', {name: known.name}) : t('files.keyAdd'),
      onSubmit: (event) => {
        event.preventDefault();
        void submit();
      },
    },
    h(TextField, {label: t('files.keyName'), value: name, onChange: setName, mono: true, disabled: given !== '', autoFocus: given === '', hint: t('files.keyNameHint', {name: name.trim() || 'openai'}), error: isTried ? nameError : null}),
    h(TextField, {label: t('files.keyValue'), value, onChange: setValue, type: 'password', autoFocus: given !== '', hint: t(known ? 'files.keyValueAgain' : 'files.keyValueHint'), error: isTried ? valueError : null}),
    h(TextField, {label: t('files.keyOrigins'), value: origins, onChange: (text) => (setFailure(null), setOrigins(text)), rows: 2, mono: true, hint: t('files.keyOriginsHint'), error: failure}),
    div(
      {className: 'key-form-foot'},
      h(Button, {label: t('app.cancel'), onClick: onCancel}),
      h(Button, {label: t('files.keyStore'), tone: 'primary', type: 'submit'}),
    ),
  );
}

/** Names and problems are other ones now. */
async function afterChange() {
  await refreshLibrary();
  for (const tab of store.get().tabs) checkSoon(tab.key);
}
