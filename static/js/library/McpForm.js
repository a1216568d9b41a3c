/** An MCP server: a new one that is reached over HTTP, or what is kept of one that there is. */
import {h, tags, useState} from '../h.js';
import {isSame} from '../core/doc.js';
import {reasonOf} from '../state/failures.js';
import {notify} from '../state/notices.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {SelectField, TextField} from '../ui/fields.js';
import {headersOf, linesOf} from './headers.js';
import {addServer, changeServer} from './servers.js';

const {div, form, p} = tags;

const LEVELS = ['irreversible', 'sandbox', 'none'];

/** @param {import('./servers.js').McpServer | null} server */
function saidOf(server) {
  if (server === null) return {name: '', url: '', headers: '', prefix: '', level: 'irreversible'};
  const {name, http, tool_prefix: prefix, default_side_effect_level: level} = server;
  return {name, url: http?.url ?? '', headers: linesOf(http?.headers ?? {}), prefix: prefix ?? '', level};
}

/** @param {{server: import('./servers.js').McpServer | null, onDone: () => void, onCancel: () => void}} props `server`: null for a new one */
export function McpForm({server, onDone, onCancel}) {
  const [before] = useState(() => saidOf(server));
  const [said, setSaid] = useState(before);
  const [failure, setFailure] = useState(/** @type {string | null} */ (null));
  const headers = headersOf(said.headers);
  // A server that is started here keeps its program: only how it is used is changed.
  const hasAddress = server === null || server.http !== null;
  const isMoved = server !== null && hasAddress && (said.url.trim() !== before.url || !isSame(headers, headersOf(before.headers)));
  const isReady = said.name.trim() !== '' && (!hasAddress || said.url.trim() !== '') && headers !== null;
  const title = server === null ? t('library.mcpAdd') : t('library.mcpEdit', {name: server.name});
  const submit = async () => {
    if (!isReady) return;
    const use = {name: said.name.trim(), tool_prefix: said.prefix.trim() || null, default_side_effect_level: said.level};
    const http = {url: said.url.trim(), headers};
    try {
      if (server === null) await addServer({...use, http});
      else await changeServer(server.id, isMoved ? {...use, http} : use);
      if (isMoved) notify('warning', 'library.mcpMoved', {name: use.name});
      onDone();
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
      'aria-label': title,
      onSubmit: (event) => {
        event.preventDefault();
        void submit();
      },
    },
    h(TextField, {label: t('library.name'), value: said.name, onChange: (name) => change({name}), autoFocus: true}),
    failure === null ? null : p({className: 'field-error', role: 'alert'}, failure),
    hasAddress ? h(TextField, {label: t('library.mcpUrl'), value: said.url, onChange: (url) => change({url}), mono: true, placeholder: 'https://'}) : null,
    hasAddress ? h(TextField, {label: t('library.mcpHeaders'), value: said.headers, onChange: (text) => change({headers: text}), rows: 2, mono: true, hint: t(server === null ? 'library.mcpHeadersHint' : 'library.mcpHeadersKept'), error: headers === null ? t('library.mcpHeadersWrong') : null}) : null,
    h(TextField, {label: t('library.mcpPrefix'), value: said.prefix, onChange: (prefix) => change({prefix}), mono: true, hint: t('library.mcpPrefixHint')}),
    h(SelectField, {label: t('library.mcpLevel'), value: said.level, onChange: (level) => change({level}), options: LEVELS.map((value) => ({value, label: t(`library.mcpLevel.${value}`)}))}),
    isMoved ? p({className: 'field-warning', role: 'status'}, t('library.mcpMoves')) : null,
    div(
      {className: 'key-form-foot'},
      h(Button, {label: t('app.cancel'), onClick: onCancel}),
      h(Button, {label: server === null ? title : t('app.save'), tone: 'primary', type: 'submit', disabled: !isReady}),
    ),
  );
}
