/** An MCP server: a new one, reached over HTTP or a program where the server allows that, or what is kept of one that there is. */
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

/** @typedef {import('./servers.js').McpServer} McpServer */
/** @typedef {ReturnType<typeof saidOf>} Said */

/** @param {McpServer | null} server */
function saidOf(server) {
  const {http = null, stdio = null} = server ?? {};
  return {
    name: server?.name ?? '',
    transport: stdio === null ? 'http' : 'stdio',
    url: http?.url ?? '',
    headers: linesOf(http?.headers ?? {}),
    command: stdio?.command ?? '',
    args: (stdio?.args ?? []).join('\n'),
    env: linesOf(stdio?.env ?? {}, '='),
    cwd: stdio?.cwd ?? null,
    prefix: server?.tool_prefix ?? '',
    level: server?.default_side_effect_level ?? 'irreversible',
  };
}

/** How it is reached; null where that is not said yet. @param {Said} said @returns {import('./servers.js').Reached | null} */
function reachedOf(said) {
  if (said.transport === 'http') {
    const headers = headersOf(said.headers);
    const url = said.url.trim();
    return url === '' || headers === null ? null : {transport: 'http', http: {url, headers}};
  }
  const env = headersOf(said.env, '=');
  const command = said.command.trim();
  const args = said.args.split('\n').filter((line) => line !== '');
  return command === '' || env === null ? null : {transport: 'stdio', stdio: {command, args, env, cwd: said.cwd}};
}

/** @param {{server: McpServer | null, hasPrograms: boolean, onDone: () => Promise<void>, onCancel: () => void}} props `server`: null for a new one; `onDone` reads what is kept now */
export function McpForm({server, hasPrograms, onDone, onCancel}) {
  const [before] = useState(() => saidOf(server));
  const [said, setSaid] = useState(before);
  const [failure, setFailure] = useState(/** @type {string | null} */ (null));
  const [isSaving, setSaving] = useState(false);
  // Where no programs may be named here, one keeps its own: only how it is used is changed.
  const isReachShown = said.transport === 'http' || hasPrograms;
  const reached = reachedOf(said);
  const isMoved = server !== null && isReachShown && !isSame(reached, reachedOf(before));
  const isReady = said.name.trim() !== '' && (!isReachShown || reached !== null);
  const title = server === null ? t('library.mcpAdd') : t('library.mcpEdit', {name: server.name});
  const submit = async () => {
    if (!isReady || isSaving) return;
    setSaving(true);
    const use = {name: said.name.trim(), tool_prefix: said.prefix.trim() || null, default_side_effect_level: said.level};
    try {
      if (server !== null) await changeServer(server.id, isMoved && reached !== null ? {...use, ...reached} : use);
      else if (reached !== null) await addServer({...use, ...reached});
      if (isMoved) notify('warning', 'library.mcpMoved', {name: use.name});
      await onDone();
    } catch (error) {
      setFailure(reasonOf(error));
      setSaving(false);
    }
  };
  /** @param {Partial<Said>} patch */
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
    hasPrograms ? h(SelectField, {label: t('library.mcpTransport'), value: said.transport, onChange: (transport) => change({transport}), options: ['http', 'stdio'].map((value) => ({value, label: t(`library.mcpTransport.${value}`)}))}) : null,
    !isReachShown ? null : said.transport === 'http' ? h(HttpFields, {said, isNew: server === null, change}) : h(ProgramFields, {said, change}),
    h(TextField, {label: t('library.mcpPrefix'), value: said.prefix, onChange: (prefix) => change({prefix}), mono: true, hint: t('library.mcpPrefixHint')}),
    h(SelectField, {label: t('library.mcpLevel'), value: said.level, onChange: (level) => change({level}), options: LEVELS.map((value) => ({value, label: t(`library.mcpLevel.${value}`)}))}),
    isMoved ? p({className: 'field-warning', role: 'status'}, t('library.mcpMoves')) : null,
    div(
      {className: 'key-form-foot'},
      h(Button, {label: t('app.cancel'), onClick: onCancel}),
      h(Button, {label: server === null ? title : t('app.save'), tone: 'primary', type: 'submit', disabled: !isReady || isSaving}),
    ),
  );
}

/** @param {{said: Said, isNew: boolean, change: (patch: Partial<Said>) => void}} props */
function HttpFields({said, isNew, change}) {
  const isWrong = headersOf(said.headers) === null;
  return [
    h(TextField, {key: 'url', label: t('library.mcpUrl'), value: said.url, onChange: (url) => change({url}), mono: true, placeholder: 'https://'}),
    h(TextField, {key: 'headers', label: t('library.mcpHeaders'), value: said.headers, onChange: (headers) => change({headers}), rows: 2, mono: true, hint: t(isNew ? 'library.mcpHeadersHint' : 'library.mcpHeadersKept'), error: isWrong ? t('library.mcpHeadersWrong') : null}),
  ];
}

/** @param {{said: Said, change: (patch: Partial<Said>) => void}} props */
function ProgramFields({said, change}) {
  const isWrong = headersOf(said.env, '=') === null;
  return [
    h(TextField, {key: 'command', label: t('library.mcpCommand'), value: said.command, onChange: (command) => change({command}), mono: true, placeholder: 'npx'}),
    h(TextField, {key: 'args', label: t('library.mcpArgs'), value: said.args, onChange: (args) => change({args}), rows: 2, mono: true, hint: t('library.mcpArgsHint')}),
    h(TextField, {key: 'env', label: t('library.mcpEnv'), value: said.env, onChange: (env) => change({env}), rows: 2, mono: true, hint: t('library.mcpEnvHint'), error: isWrong ? t('library.mcpEnvWrong') : null}),
  ];
}
