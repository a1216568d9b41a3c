/** A new MCP server that is reached over HTTP. */
import {h, tags, useState} from '../h.js';
import {reasonOf} from '../state/failures.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {SelectField, TextField} from '../ui/fields.js';
import {headersOf} from './headers.js';
import {addServer} from './servers.js';

const {div, form} = tags;

const LEVELS = ['irreversible', 'sandbox', 'none'];

/** @param {{onAdded: () => void, onCancel: () => void}} props */
export function McpForm({onAdded, onCancel}) {
  const [said, setSaid] = useState({name: '', url: '', headers: '', prefix: '', level: 'irreversible'});
  const [failure, setFailure] = useState(/** @type {string | null} */ (null));
  const headers = headersOf(said.headers);
  const isReady = said.name.trim() !== '' && said.url.trim() !== '' && headers !== null;
  const submit = async () => {
    if (!isReady) return;
    try {
      await addServer({
        name: said.name.trim(),
        http: {url: said.url.trim(), headers},
        tool_prefix: said.prefix.trim() || null,
        default_side_effect_level: said.level,
      });
      onAdded();
    } catch (error) {
      setFailure(reasonOf(error));
    }
  };
  /** @param {Partial<typeof said>} patch */
  const change = (patch) => {
    setFailure(null);
    setSaid({...said, ...patch});
  };
  return form(
    {
      className: 'key-form',
      'aria-label': t('library.mcpAdd'),
      onSubmit: (event) => {
        event.preventDefault();
        void submit();
      },
    },
    h(TextField, {label: t('library.name'), value: said.name, onChange: (name) => change({name}), autoFocus: true}),
    h(TextField, {label: t('library.mcpUrl'), value: said.url, onChange: (url) => change({url}), mono: true, placeholder: 'https://', error: failure}),
    h(TextField, {label: t('library.mcpHeaders'), value: said.headers, onChange: (text) => change({headers: text}), rows: 2, mono: true, hint: t('library.mcpHeadersHint'), error: headers === null ? t('library.mcpHeadersWrong') : null}),
    h(TextField, {label: t('library.mcpPrefix'), value: said.prefix, onChange: (prefix) => change({prefix}), mono: true, hint: t('library.mcpPrefixHint')}),
    h(SelectField, {label: t('library.mcpLevel'), value: said.level, onChange: (level) => change({level}), options: LEVELS.map((value) => ({value, label: t(`library.mcpLevel.${value}`)}))}),
    div(
      {className: 'key-form-foot'},
      h(Button, {label: t('app.cancel'), onClick: onCancel}),
      h(Button, {label: t('library.mcpAdd'), tone: 'primary', type: 'submit', disabled: !isReady}),
    ),
  );
}
