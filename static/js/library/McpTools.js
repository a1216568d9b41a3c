/** The tools of an MCP server before and after somebody approves them: what is offered, what is new, and what has changed. */
import {h, tags, useEffect, useState} from '../h.js';
import {reasonOf} from '../state/failures.js';
import {openDialog} from '../state/dialogs.js';
import {notify} from '../state/notices.js';
import {tellToolsChanged} from '../state/toolnews.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Dialog} from '../ui/dialog.js';
import {CheckField} from '../ui/fields.js';
import {JsonTree} from '../ui/JsonTree.js';
import {Waiting} from '../ui/empty.js';
import {approveTools, readTools} from './servers.js';

const {details, div, li, p, span, summary, ul} = tags;

/** @typedef {import('./servers.js').McpTool} McpTool */

/** @param {{server: import('./servers.js').McpServer, onChanged: () => Promise<void>, close: () => void}} props */
export function McpTools({server, onChanged, close}) {
  const [tools, setTools] = useState(/** @type {McpTool[] | null} */ (null));
  const [error, setError] = useState(/** @type {string | null} */ (null));
  const [isBusy, setBusy] = useState(false);
  const [chosen, setChosen] = useState(/** @type {ReadonlySet<string>} */ (new Set()));
  useEffect(() => {
    readTools(server).then(
      (found) => {
        setTools(found);
        setChosen(suggested(found));
      },
      (failure) => setError(reasonOf(failure)),
    );
  }, []);
  /** @param {McpTool[]} some @param {boolean} isChosen */
  const choose = (some, isChosen) => {
    const names = some.map((tool) => tool.tool_name);
    setChosen(new Set(isChosen ? [...chosen, ...names] : [...chosen].filter((name) => !names.includes(name))));
  };
  const approve = async () => {
    setBusy(true);
    try {
      await approveTools(server, [...chosen]);
      notify('success', 'library.mcpApproved', {name: server.name});
      tellToolsChanged();
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
    tools === null || tools.length < 2
      ? null
      : div(
          {className: 'mcp-all'},
          h(Button, {label: t('library.mcpAll'), tone: 'quiet', onClick: () => choose(tools.filter(isThere), true)}),
          h(Button, {label: t('library.mcpNothing'), tone: 'quiet', onClick: () => choose(tools, false)}),
        ),
    tools === null
      ? null
      : ul(
          {className: 'key-list', 'aria-label': t('library.mcpLook', {name: server.name})},
          tools.map((tool, place) => li({key: place}, h(Tool, {tool, isChosen: chosen.has(tool.tool_name), onChange: (isChosen) => choose([tool], isChosen)}))),
        ),
  );
}

/** Whether a server still has a tool. @param {McpTool} tool */
const isThere = (tool) => tool.approval !== 'gone';

/**
 * What is chosen before anybody has looked: what was approved; and of a server of which nothing was, all but what it says may
 * overwrite or delete. What came or changed later is left to who looks at it.
 * @param {McpTool[]} tools
 */
function suggested(tools) {
  const isFirst = tools.every((tool) => tool.approval === 'new');
  const wanted = tools.filter((tool) => (isFirst ? tool.annotations.destructiveHint !== true || tool.annotations.readOnlyHint === true : tool.approval === 'approved'));
  return new Set(wanted.map((tool) => tool.tool_name));
}

/** What a server says that a tool does. @param {McpTool} tool */
function hintOf({annotations: {readOnlyHint: reads, destructiveHint: destroys}}) {
  if (reads === true) return 'library.mcpReads';
  return destroys === true ? 'library.mcpDestroys' : destroys === false ? 'library.mcpAdds' : 'library.mcpSaysNothing';
}

/** @param {{tool: McpTool, isChosen: boolean, onChange: (isChosen: boolean) => void}} props */
function Tool({tool, isChosen, onChange}) {
  const {name, description, parameters, available, reason, approval} = tool;
  return div(
    {className: 'mcp-tool'},
    h(CheckField, {label: name, checked: isChosen, disabled: !isThere(tool), onChange}),
    approval === 'approved' || (approval === 'new' && available === null) ? null : span({className: 'chip'}, t(`library.mcpApproval.${approval}`)),
    available === null ? null : span({className: `chip ${available ? 'chip-good' : 'chip-bad'}`}, t(available ? 'library.mcpOffered' : 'library.mcpNotOffered')),
    span({className: 'text-soft'}, t(hintOf(tool))),
    details(
      {className: 'run-more'},
      summary(null, description.split('\n')[0] || t('library.mcpParameters')),
      reason === null ? null : p({className: 'text-soft'}, reason),
      p(null, description),
      available === true ? h(Button, {label: t('library.toolTryNamed', {name}), icon: 'play', onClick: () => void openDialog('tool-trial', {tool})}) : null,
      h(JsonTree, {label: t('library.mcpParameters'), value: parameters}),
    ),
  );
}
