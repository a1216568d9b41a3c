/** How the editor looks, and how the server is set up. */
import {api, setToken} from '../api/client.js';
import {h, tags, useEffect, useState} from '../h.js';
import {openDialog} from '../state/dialogs.js';
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
    h(ServerFacts),
  );
}

function ServerFacts() {
  const server = useStore((state) => state.server);
  const secrets = useStore((state) => state.library.secrets);
  const [facts, setFacts] = useState(/** @type {{settings: Record<string, unknown>, has_token: boolean} | null} */ (null));
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
    facts?.has_token
      ? h(Button, {
          label: t('help.signOut'),
          onClick: () => {
            setToken(null);
            location.reload();
          },
        })
      : null,
    h3(null, t('help.secrets')),
    p({className: 'text-soft'}, secrets.length ? secrets.map((one) => one.name).join(', ') : t('help.noSecrets')),
    h(Button, {label: t('help.secretsManage'), icon: 'key', onClick: () => void openDialog('keys')}),
    h3(null, t('help.settingsOfServer')),
    facts
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
