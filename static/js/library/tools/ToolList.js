/** The tools that people defined: which are on, and a form for each. */
import {h, tags, useEffect, useState} from '../../h.js';
import {ask, openDialog} from '../../state/dialogs.js';
import {reasonOf} from '../../state/failures.js';
import {useReading} from '../../state/reading.js';
import {t, toolText} from '../../words.js';
import {Button} from '../../ui/buttons.js';
import {Dialog} from '../../ui/dialog.js';
import {NotRead, Waiting} from '../../ui/empty.js';
import {CheckField} from '../../ui/fields.js';
import {tried} from '../commands.js';
import {deleteDefinition, readDefinitions, switchDefinition} from './definitions.js';

const {code, details, div, li, p, span, summary, ul} = tags;

/** @typedef {import('./definitions.js').Definition} Definition */

/** @param {{close: () => void}} props */
export function ToolList({close}) {
  const [tools, setTools] = useState(/** @type {Definition[] | {error: string} | null} */ (null));
  const load = () => readDefinitions().then(setTools, (error) => setTools({error: reasonOf(error)}));
  useEffect(() => void load(), []);
  return h(
    Dialog,
    {
      title: t('library.tools'),
      size: 'large',
      onClose: close,
      actions: h(Button, {label: t('library.toolNew'), icon: 'add', tone: 'primary', onClick: () => void openDialog('tool', {onChanged: load})}),
    },
    p({className: 'text-soft'}, t('library.toolsText')),
    tools === null
      ? h(Waiting)
      : 'error' in tools
        ? h(NotRead, null, tools.error)
        : tools.length === 0
          ? p({className: 'panel-empty'}, t('library.toolsNone'))
          : ul({className: 'key-list', 'aria-label': t('library.tools')}, tools.map((tool) => h(Line, {key: tool.id, tool, onChanged: load}))),
    h(Builtin),
  );
}

/** The tools that every server has, to look at and to try. */
function Builtin() {
  const [isOpen, setOpen] = useState(false);
  const read = useReading(isOpen ? '/tools/builtin' : null);
  return details(
    {className: 'chat-details', open: isOpen, onToggle: (event) => setOpen(event.currentTarget.open)},
    summary(null, t('library.toolsBuiltin')),
    isOpen && read === null ? h(Waiting) : null,
    read !== null && 'error' in read ? h(NotRead, null, read.error) : null,
    read !== null && 'data' in read
      ? ul(
          {className: 'key-list', 'aria-label': t('library.toolsBuiltin')},
          read.data.map((/** @type {any} */ tool) =>
            li(
              {key: tool.name, className: 'key-line'},
              div({className: 'key-text'}, span(null, code(null, tool.name), ' ', span({className: 'text-soft'}, t(`library.mcpLevel.${tool.side_effect_level}`))), span({className: 'text-soft'}, toolText(tool))),
              h(Button, {label: t('library.toolTryNamed', {name: tool.name}), icon: 'play', iconOnly: true, onClick: () => void openDialog('tool-trial', {tool})}),
            ),
          ),
        )
      : null,
  );
}

/** @param {{tool: Definition, onChanged: () => Promise<void>}} props */
function Line({tool, onChanged}) {
  const {id, name, description, enabled, handler_type: type, handler, side_effect_level: level} = tool;
  const [isBusy, setBusy] = useState(false);
  /** @param {() => Promise<unknown>} work */
  const change = async (work) => {
    setBusy(true);
    await tried(work);
    await onChanged();
    setBusy(false);
  };
  const remove = async () => {
    const answer = await ask({title: t('library.toolRemove', {name}), text: t('library.toolRemoveText'), choices: [{id: 'remove', label: t('library.delete'), tone: 'danger'}]});
    if (answer === 'remove') await change(() => deleteDefinition(id));
  };
  return li(
    {className: 'key-line'},
    div(
      {className: 'key-text'},
      span(null, code(null, name), ' ', span({className: 'chip'}, t(`library.toolType.${type}`)), ' ', span({className: 'text-soft'}, t(`library.mcpLevel.${level}`))),
      span({className: 'text-soft'}, description),
      code(null, type === 'http' ? `${handler.method} ${handler.url}` : handler.pipeline_id),
    ),
    h(CheckField, {label: t('library.mcpOn', {name}), checked: enabled, disabled: isBusy, onChange: (isOn) => void change(() => switchDefinition(id, isOn))}),
    h(Button, {label: t('library.toolEdit', {name}), icon: 'edit', onClick: () => void openDialog('tool', {tool, onChanged})}),
    h(Button, {label: t('library.toolRemove', {name}), icon: 'trash', iconOnly: true, tone: 'quiet', disabled: isBusy, onClick: () => void remove()}),
  );
}
