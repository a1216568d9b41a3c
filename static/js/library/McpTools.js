/** The tools of an MCP server before and after somebody approves them: what is offered, what is new, and what has changed. */
import {h, tags, useEffect, useState} from '../h.js';
import {reasonOf} from '../state/failures.js';
import {notify} from '../state/notices.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Dialog} from '../ui/dialog.js';
import {JsonTree} from '../ui/JsonTree.js';
import {Waiting} from '../ui/empty.js';
import {approveTools, readTools} from './servers.js';

const {code, details, li, p, span, summary, ul} = tags;

/** @typedef {import('./servers.js').McpTool} McpTool */

/** @param {{server: import('./servers.js').McpServer, onChanged: () => Promise<void>, close: () => void}} props */
export function McpTools({server, onChanged, close}) {
  const [tools, setTools] = useState(/** @type {McpTool[] | null} */ (null));
  const [error, setError] = useState(/** @type {string | null} */ (null));
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    readTools(server).then(setTools, (failure) => setError(reasonOf(failure)));
  }, []);
  const approve = async () => {
    setBusy(true);
    try {
      await approveTools(server);
      notify('success', 'library.mcpApproved', {name: server.name});
      await onChanged();
      close();
    } catch (failure) {
      setError(reasonOf(failure));
      setBusy(false);
      await onChanged();
    }
  };
  return h(
    Dialog,
    {
      title: t('library.mcpLook', {name: server.name}),
      size: 'large',
      onClose: close,
      actions: [
        h(Button, {key: 'close', label: t('app.close'), onClick: close}),
        h(Button, {key: 'approve', label: t(server.enabled ? 'library.mcpApprove' : 'library.mcpApproveOn'), icon: 'check', tone: 'primary', disabled: isBusy || tools === null, onClick: () => void approve()}),
      ],
    },
    p({className: 'text-soft'}, t('library.mcpApproveText')),
    error === null ? null : p({className: 'field-error', role: 'alert'}, error),
    tools === null && error === null ? h(Waiting) : null,
    tools === null ? null : ul({className: 'key-list', 'aria-label': t('library.mcpLook', {name: server.name})}, tools.map((tool, place) => li({key: place}, h(Tool, {tool})))),
  );
}

/** @param {{tool: McpTool}} props */
function Tool({tool: {name, description, parameters, available, reason}}) {
  return details(
    {className: 'run-more'},
    summary(
      null,
      code(null, name),
      ' ',
      available === null ? null : span({className: `chip ${available ? 'chip-good' : 'chip-bad'}`}, t(available ? 'library.mcpOffered' : 'library.mcpNotOffered')),
      reason === null ? null : span({className: 'text-soft'}, ' ', reason),
    ),
    p(null, description),
    h(JsonTree, {label: t('library.mcpParameters'), value: parameters}),
  );
}
