/** Connect a model: a provider or an address, a key, a model of its list, tried and made the default for chats. */
import {h, tags, useId, useState} from '../h.js';
import {api, ApiFailure} from '../api/client.js';
import {BudgetButton} from '../costs/BudgetButton.js';
import {reasonOf} from '../state/failures.js';
import {notify} from '../state/notices.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Dialog} from '../ui/dialog.js';
import {FailureBox} from '../ui/failure.js';
import {CheckField, SelectField, TextField} from '../ui/fields.js';
import {findLocal, keepProfile, listModels, tryModel} from './connecting.js';

const {datalist, div, form, li, option, p, ul} = tags;

/** @typedef {import('./connecting.js').Local} Local */

const PROVIDERS = [
  {value: 'openai', label: 'OpenAI'},
  {value: 'anthropic', label: 'Anthropic'},
  {value: 'google', label: 'Google Gemini'},
  {value: 'deepseek', label: 'DeepSeek'},
  {value: 'xai', label: 'xAI'},
];
const OWN = 'openai-compatible';

/** @param {{close: () => void}} props */
export function Connect({close}) {
  const list = useId();
  const [provider, setProvider] = useState('openai');
  const [address, setAddress] = useState('');
  const [key, setKey] = useState('');
  const [model, setModel] = useState('');
  const [isDefault, setDefault] = useState(true);
  const [models, setModels] = useState(/** @type {{id: string, label: string}[]} */ ([]));
  const [locals, setLocals] = useState(/** @type {Local[] | null} */ (null));
  const [busy, setBusy] = useState('');
  const [said, setSaid] = useState('');
  const [failure, setFailure] = useState(/** @type {string | null} */ (null));
  const [refused, setRefused] = useState(/** @type {ApiFailure | null} */ (null));
  const [isTried, setTried] = useState(false);
  const isOwn = provider === OWN;
  // A server at home wants no key, and the API wants some text.
  const asked = {provider, base_url: isOwn ? address.trim() : null, api_key: key.trim() || (isOwn ? 'none' : '')};
  const wrong = {
    address: isOwn && !/^https?:\/\/\S+$/.test(address.trim()) ? t('library.connectAddressWrong') : null,
    key: asked.api_key === '' ? t('library.connectKeyMissing') : null,
    model: model.trim() === '' ? t('library.connectModelMissing') : null,
  };
  /** @param {string} name @param {() => Promise<void>} work */
  const doing = async (name, work) => {
    setBusy(name);
    setFailure(null);
    setSaid('');
    try {
      await work();
    } catch (error) {
      setFailure(reasonOf(error));
      setRefused(error instanceof ApiFailure ? error : null);
    } finally {
      setBusy('');
    }
  };
  const look = () =>
    doing('look', async () => {
      const found = await findLocal();
      setLocals(found);
      if (found.length === 0) setSaid(t('library.connectLocalNone'));
    });
  const readModels = () => {
    setTried(true);
    if (wrong.address || wrong.key) return;
    void doing('list', async () => {
      const found = await listModels(asked);
      setModels(found);
      if (model === '' && found.length === 1) setModel(found[0].id);
      setSaid(t('library.connectListed', {n: found.length}));
    });
  };
  const say = () => {
    setTried(true);
    if (wrong.address || wrong.key || wrong.model) return;
    void doing('test', async () => setSaid(t('library.connectAnswered', {text: await tryModel(asked, model.trim())})));
  };
  const submit = () => {
    setTried(true);
    if (wrong.address || wrong.key || wrong.model) return;
    void doing('keep', async () => {
      const kept = await keepProfile(asked, model.trim());
      if (isDefault) await api.send('POST', `/llm-profiles/${kept.id}/activate`, {instance_slot: '*'});
      notify('success', isDefault ? 'library.connectedDefault' : 'library.connected', {name: kept.preset_name});
      close();
    });
  };
  /** @param {Local} local */
  const take = (local) => {
    setProvider(OWN);
    setAddress(local.address);
    setKey('');
    setModels(local.models);
    setModel(local.models[0]?.id ?? '');
    setLocals(null);
    setSaid(t('library.connectListed', {n: local.models.length}));
  };
  return h(
    Dialog,
    {
      title: t('library.connect'),
      onClose: close,
      actions: [
        h(Button, {key: 'test', label: t('library.connectTest'), disabled: busy !== '', onClick: say}),
        h(Button, {key: 'keep', label: t('library.connectKeep'), tone: 'primary', disabled: busy !== '', onClick: submit}),
      ],
    },
    p({className: 'text-soft'}, t('library.connectText')),
    form(
      {
        className: 'key-form',
        'aria-label': t('library.connect'),
        onSubmit: (event) => {
          event.preventDefault();
          submit();
        },
      },
      h(SelectField, {
        label: t('library.connectProvider'),
        value: provider,
        onChange: (next) => (setProvider(next), setModels([])),
        options: [...PROVIDERS, {value: OWN, label: t('library.connectOwn')}],
      }),
      isOwn
        ? h(TextField, {label: t('library.connectAddress'), value: address, onChange: setAddress, mono: true, placeholder: 'http://127.0.0.1:11434/v1', hint: t('library.connectAddressHint'), error: isTried ? wrong.address : null})
        : null,
      h(TextField, {label: t('library.connectKey'), value: key, onChange: setKey, type: 'password', hint: t(isOwn ? 'library.connectKeyOptional' : 'library.connectKeyHint'), error: isTried ? wrong.key : null}),
      h(TextField, {label: t('library.connectModel'), value: model, onChange: setModel, mono: true, list, hint: t('library.connectModelHint'), error: isTried ? wrong.model : null}),
      datalist({id: list}, models.map((one) => option({key: one.id, value: one.id}, one.label))),
      h(CheckField, {label: t('library.connectDefault'), checked: isDefault, onChange: setDefault}),
      div(
        {className: 'key-form-foot'},
        h(Button, {label: t('library.connectLocal'), icon: 'search', disabled: busy !== '', onClick: () => void look()}),
        h(Button, {label: t('library.connectList'), disabled: busy !== '', onClick: readModels}),
        // Enter in a field submits a form by its button.
        h(Button, {label: t('library.connectKeep'), type: 'submit', className: 'visually-hidden', rest: {tabIndex: -1, 'aria-hidden': true}}),
      ),
    ),
    locals !== null && locals.length > 0
      ? ul(
          {className: 'key-list', 'aria-label': t('library.connectLocalFound')},
          locals.map((local) =>
            li({key: local.address, className: 'key-line'}, div({className: 'key-text'}, `${local.name} · ${local.address}`), h(Button, {label: t('library.connectUse', {name: local.name}), onClick: () => take(local)})),
          ),
        )
      : null,
    p({role: 'status'}, busy ? t('library.connectBusy') : said),
    failure === null ? null : h(FailureBox, null, p(null, failure), refused === null ? null : h(BudgetButton, {code: refused.code, details: refused.details})),
  );
}
