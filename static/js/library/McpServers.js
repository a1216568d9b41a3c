/** The MCP servers whose tools models may be offered: how they are doing, on or off, and a form for a new one and for each. */
import {h, tags, useEffect, useState} from '../h.js';
import {ask, openDialog} from '../state/dialogs.js';
import {reasonOf} from '../state/failures.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Dialog} from '../ui/dialog.js';
import {NotRead, Waiting} from '../ui/empty.js';
import {CheckField} from '../ui/fields.js';
import {tried} from './commands.js';
import {McpForm} from './McpForm.js';
import {deleteServer, mayNamePrograms, readServers, switchServer} from './servers.js';

const {code, div, li, p, span, ul} = tags;

/** @typedef {import('./servers.js').McpServer} McpServer */

const TONES = /** @type {Record<string, string>} */ ({connected: 'chip-good', error: 'chip-bad'});

/** @param {{close: () => void}} props */
export function McpServers({close}) {
  const [servers, setServers] = useState(/** @type {McpServer[] | {error: string} | null} */ (null));
  const [edited, setEdited] = useState(/** @type {McpServer | 'new' | null} */ (null));
  const [hasPrograms, setHasPrograms] = useState(false);
  const load = async () => {
    try {
      const [found, isAllowed] = await Promise.all([readServers(), mayNamePrograms()]);
      setHasPrograms(isAllowed);
      setServers(found);
    } catch (error) {
      setServers({error: reasonOf(error)});
    }
  };
  useEffect(() => void load(), []);
  const done = async () => {
    // Only then: who opens the form of the same server again is to find what was kept. Another's may have been opened meanwhile.
    await load();
    setEdited((now) => (now === edited ? null : now));
  };
  return h(
    Dialog,
    {
      title: t('library.mcp'),
      size: 'large',
      onClose: close,
      actions: edited === null ? h(Button, {label: t('library.mcpAdd'), icon: 'add', tone: 'primary', onClick: () => setEdited('new')}) : null,
    },
    p({className: 'text-soft'}, t('library.mcpText')),
    edited === null ? null : h(McpForm, {key: edited === 'new' ? '' : edited.id, server: edited === 'new' ? null : edited, hasPrograms, onDone: done, onCancel: () => setEdited(null)}),
    servers === null
      ? h(Waiting)
      : 'error' in servers
        ? h(NotRead, null, servers.error)
        : servers.length === 0
          ? p({className: 'panel-empty'}, t('library.mcpNone'))
          : ul({className: 'key-list', 'aria-label': t('library.mcp')}, servers.map((server) => h(Line, {key: server.id, server, onChanged: load, onEdit: () => setEdited(server)}))),
  );
}

/** @param {{server: McpServer, onChanged: () => Promise<void>, onEdit: () => void}} props */
function Line({server, onChanged, onEdit}) {
  const {id, name, http, stdio, enabled, status, toolCount, lastError} = server;
  const [isBusy, setBusy] = useState(false);
  /** @param {() => Promise<unknown>} work */
  const change = async (work) => {
    setBusy(true);
    await tried(work);
    await onChanged();
    setBusy(false);
  };
  const remove = async () => {
    const answer = await ask({title: t('library.mcpRemove', {name}), text: t('library.mcpRemoveText'), choices: [{id: 'remove', label: t('library.delete'), tone: 'danger'}]});
    if (answer === 'remove') await change(() => deleteServer(id));
  };
  return li(
    {className: 'key-line'},
    div(
      {className: 'key-text'},
      span(null, name, ' ', span({className: `chip ${TONES[status] ?? ''}`}, t(`library.mcpStatus.${status}`)), ' ', span({className: 'text-soft'}, t('library.mcpTools', {n: toolCount}))),
      code(null, http?.url ?? stdio?.command ?? ''),
      lastError === null ? null : span({className: 'field-error'}, lastError),
    ),
    h(CheckField, {label: t('library.mcpOn', {name}), checked: enabled, disabled: isBusy, onChange: (isOn) => void change(() => switchServer(id, isOn))}),
    h(Button, {label: t('library.mcpLook', {name}), icon: 'list', onClick: () => void openDialog('mcp-tools', {server, onChanged})}),
    h(Button, {label: t('library.mcpEdit', {name}), icon: 'edit', iconOnly: true, tone: 'quiet', disabled: isBusy, onClick: onEdit}),
    h(Button, {label: t('library.mcpRemove', {name}), icon: 'trash', iconOnly: true, tone: 'quiet', disabled: isBusy, onClick: () => void remove()}),
  );
}
