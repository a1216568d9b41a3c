/** How the editor looks, and how the server is set up. */
import {api, ApiFailure, setToken, token} from '../api/client.js';
import {Fragment, h, tags, useEffect, useState} from '../h.js';
import {openDialog} from '../state/dialogs.js';
import {notifyFailure} from '../state/notices.js';
import {mayEdit} from '../state/rights.js';
import {useStore} from '../state/store.js';
import {setLocale, setView} from '../state/view.js';
import {LOCALES, t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Dialog} from '../ui/dialog.js';
import {CheckField, SelectField} from '../ui/fields.js';

const {code, div, h3, li, p, table, tbody, td, th, tr, ul} = tags;

/** @param {{close: () => void}} props */
export function Settings({close}) {
  const view = useStore((state) => state.view);
  return h(
    Dialog,
    {title: t('help.action.settings'), size: 'large', onClose: close},
    h3(null, t('help.look')),
    div(
      {className: 'settings-grid'},
      h(SelectField, {
        label: t('help.language'),
        value: view.locale,
        onChange: (locale) => void setLocale(locale),
        options: Object.entries(LOCALES).map(([value, label]) => ({value, label})),
      }),
      h(SelectField, {
        label: t('help.theme'),
        value: view.theme,
        onChange: (theme) => setView({theme: /** @type {any} */ (theme)}),
        options: ['system', 'dark', 'light'].map((value) => ({value, label: t(`help.theme.${value}`)})),
      }),
      h(SelectField, {
        label: t('help.contrast'),
        value: view.contrast,
        onChange: (contrast) => setView({contrast: /** @type {any} */ (contrast)}),
        options: ['normal', 'more'].map((value) => ({value, label: t(`help.contrast.${value}`)})),
      }),
    ),
    h(CheckField, {label: t('help.minimap'), checked: view.minimap, onChange: (minimap) => setView({minimap})}),
    h(CheckField, {label: t('help.snap'), checked: view.snap, onChange: (snap) => setView({snap})}),
    h(CheckField, {label: t('help.references'), checked: view.allReferences, onChange: (allReferences) => setView({allReferences})}),
    h(WhoAsks),
    h(ServerFacts),
  );
}

/** Who is signed in, where somebody has to be, and the way out. */
function WhoAsks() {
  const [me, setMe] = useState(/** @type {{account_id: string, name: string | null, role: 'admin' | 'user'} | null} */ (null));
  useEffect(() => {
    // Whoever cannot be told of is not shown; the page that asks who it is comes by itself.
    api.get('/auth/me').then(
      ({body}) => setMe(body.data),
      () => setMe(null),
    );
  }, []);
  // Only where people have accounts the server knows a name; elsewhere a token may be kept.
  if (me === null || (me.name === null && token() === null)) return null;
  return div(
    null,
    h3(null, t('help.account')),
    me.name === null ? null : p(null, t(`help.signedIn.${me.role}`, {name: me.name, account: me.account_id})),
    h(Button, {label: t('help.signOut'), onClick: () => void signOut()}),
  );
}

async function signOut() {
  try {
    await api.send('POST', '/auth/sign-out', {});
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    notifyFailure(error);
    return;
  }
  setToken(null);
  location.reload();
}

function ServerFacts() {
  const server = useStore((state) => state.server);
  const secrets = useStore((state) => state.library.secrets);
  const [facts, setFacts] = useState(/** @type {{settings: Record<string, unknown>} | null} */ (null));
  const [failure, setFailure] = useState('');
  useEffect(() => {
    api.get('/api/settings').then(
      ({body}) => setFacts(body),
      (error) => setFailure(String(error.message)),
    );
  }, []);
  return div(
    {className: 'server-facts'},
    h3(null, t('help.server')),
    p(null, t('help.version', {version: server.version ?? '?'})),
    failure ? p({className: 'field-error'}, failure) : null,
    server.complaints.length ? ul(null, server.complaints.map((text, position) => li({key: position}, text))) : null,
    mayEdit() ? h(Fragment, null, h3(null, t('help.secrets')), p({className: 'text-soft'}, secrets.length ? secrets.map((one) => one.name).join(', ') : t('help.noSecrets')),
    h(Button, {label: t('help.secretsManage'), icon: 'key', onClick: () => void openDialog('keys')})) : null,
    h3(null, t('help.settingsOfServer')),
    // For admins alone: others are told so.
    facts && Object.keys(facts.settings).length === 0 ? p({className: 'text-soft'}, t('app.settingsHidden')) : null,
    facts && Object.keys(facts.settings).length > 0
      ? table(
          {className: 'settings-table'},
          tbody(
            null,
            Object.entries(facts.settings).map(([name, value]) =>
              tr({key: name}, th({scope: 'row'}, code(null, `AGENTUI_${name.toUpperCase()}`)), td(null, code(null, JSON.stringify(value)))),
            ),
          ),
        )
      : null,
  );
}
