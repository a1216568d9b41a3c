/** One asset: what it holds, as a form, and how it was before. */
import {keysOfEvent} from '../actions.js';
import {h, tags, useEffect, useState} from '../h.js';
import {ApiFailure} from '../api/client.js';
import {isSame} from '../core/doc.js';
import {reasonOf} from '../state/failures.js';
import {notify} from '../state/notices.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Dialog} from '../ui/dialog.js';
import {NotRead, Waiting} from '../ui/empty.js';
import {MenuButton} from '../ui/menu.js';
import {Tablist} from '../ui/tablist.js';
import {exportsOf} from './Assets.js';
import {CharacterForm} from './forms/CharacterForm.js';
import {Consent, scriptsIn} from './Consent.js';
import {readAsset, writeAsset} from './contents.js';
import {LorebookForm} from './forms/LorebookForm.js';
import {leave} from './leaving.js';
import {refresh} from './lists.js';
import {PresetForm} from './forms/PresetForm.js';
import {RegexForm} from './forms/RegexForm.js';
import {UserForm} from './forms/UserForm.js';
import {Versions} from './Versions.js';

const {div, p, span} = tags;

/** @type {Record<import('./kinds.js').Kind, (props: {asset: import('./contents.js').Opened, content: any, onChange: (content: any) => void}) => any>} */
const FORMS = {character: CharacterForm, user: UserForm, preset: PresetForm, worldbook: LorebookForm, regex: RegexForm};

/** @param {{kind: import('./kinds.js').Kind, id: string, close: () => void}} props */
export function AssetEditor({kind, id, close}) {
  const [asset, setAsset] = useState(/** @type {import('./contents.js').Opened | null} */ (null));
  const [content, setContent] = useState(/** @type {any} */ (null));
  const [error, setError] = useState(/** @type {string | null} */ (null));
  const [tab, setTab] = useState('form');
  const [isSaving, setSaving] = useState(false);

  const read = async () => {
    setError(null);
    try {
      const found = await readAsset(kind, id);
      setAsset(found);
      setContent(found.content);
    } catch (failure) {
      setError(reasonOf(failure));
    }
  };
  useEffect(() => void read(), [kind, id]);

  const isChanged = asset !== null && !isSame(content, asset.content);
  const save = async () => {
    if (asset === null || !isChanged || isSaving) return;
    setSaving(true);
    try {
      await writeAsset(kind, asset, content);
      notify('success', 'library.saved', {name: asset.name});
      await Promise.all([read(), refresh()]);
    } catch (failure) {
      const isStale = failure instanceof ApiFailure && failure.status === 409;
      notify('error', 'app.failure', {message: reasonOf(failure)}, isStale ? {action: {label: t('library.readAnew'), run: () => void read()}} : undefined);
    } finally {
      setSaving(false);
    }
  };
  useEffect(() => {
    /** @param {KeyboardEvent} event */
    const onKey = (event) => {
      if (keysOfEvent(event) !== 'Ctrl+S') return;
      // The document behind the dialog is not meant.
      event.preventDefault();
      void save();
    };
    addEventListener('keydown', onKey, true);
    return () => removeEventListener('keydown', onKey, true);
  });
  const title = asset === null ? t(`library.one.${kind}`) : `${t(`library.one.${kind}`)}: ${asset.name}`;
  const Form = FORMS[kind];
  return h(
    Dialog,
    {
      title,
      size: 'full',
      className: 'library-editor',
      onClose: () => void leave(isChanged, close),
      actions: [
        asset === null || kind === 'user' ? null : h(MenuButton, {key: 'export', label: t('library.export'), icon: 'export', tone: 'plain', items: () => exportsOf(kind, asset)}),
        h(Button, {key: 'close', label: t('app.close'), onClick: () => void leave(isChanged, close)}),
        h(Button, {key: 'save', label: t('app.save'), icon: 'disk', tone: 'primary', keys: 'Ctrl+S', disabled: !isChanged || isSaving, onClick: () => void save()}),
      ],
    },
    asset === null
      ? error === null
        ? h(Waiting)
        : h(NotRead, null, span(null, error))
      : div(
          {className: 'library-editing'},
          scriptsIn(asset.content) > 0 ? h(Consent, {kind, asset, isChanged, onAllowed: () => void Promise.all([read(), refresh()])}) : null,
          h(Tablist, {
            label: title,
            className: 'library-tabs',
            tabs: [
              {id: 'form', label: t('library.edit'), icon: 'edit'},
              {id: 'versions', label: t('library.versions'), icon: 'history'},
            ],
            value: tab,
            onChange: setTab,
            children:
              tab === 'form'
                ? h(Form, {asset, content, onChange: setContent})
                : h(Versions, {kind, asset, isChanged, onRolledBack: () => void Promise.all([read(), refresh()]).then(() => setTab('form'))}),
          }),
        ),
  );
}
