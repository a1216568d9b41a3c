/** Which tools of this server a model is offered: names, groups and MCP servers, chosen from what there is or typed. */
import {h, tags, useId, useState} from '../h.js';
import {readAll, readMemory} from '../state/memory.js';
import {t, toolText} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Field} from '../ui/fields.js';
import {Checked} from './RequestFields.js';

const {code, datalist, div, fieldset, input, legend, li, option, p, ul} = tags;

/** As many as a node takes, and the name of all. */
const MOST = 100;
const EVERY = '*';

/** @param {any} value @returns {value is string[]} */
const isNames = (value) => Array.isArray(value) && value.every((one) => typeof one === 'string');

/** @param {{form: import('../fields/form.js').Form}} props */
export function ToolsField({form}) {
  return h(Checked, {form, field: 'tools', fallback: [], wanted: 'list', isRight: isNames, draw: (value) => h(Chosen, {form, names: value ?? []})});
}

/** @param {{form: import('../fields/form.js').Form, names: string[]}} props */
function Chosen({form, names}) {
  const id = useId();
  const [typed, setTyped] = useState('');
  const [known, setKnown] = useState(/** @type {{name: string, says: string}[] | null} */ (null));
  const name = typed.trim();
  const canAdd = name !== '' && !names.includes(name) && names.length < MOST;
  const add = () => {
    if (!canAdd) return;
    form.set(['tools'], [...names, name], {once: true});
    setTyped('');
  };
  const look = () => {
    if (known !== null) return;
    setKnown([]);
    // They help to choose: a name that is typed is as good.
    readKnown().then(setKnown, () => setKnown(null));
  };
  return fieldset(
    {className: 'inspector-group'},
    legend(null, t('inspector.tools')),
    names.length === 0
      ? p({className: 'field-hint'}, t('inspector.toolsNone'))
      : ul(
          {className: 'tool-names', 'aria-label': t('inspector.tools')},
          names.map((one, place) =>
            li(
              {key: place},
              code(null, one),
              h(Button, {
                label: t('inspector.toolRemove', {name: one}),
                icon: 'trash',
                iconOnly: true,
                tone: 'quiet',
                className: 'inspector-mini',
                onClick: () => form.set(['tools'], names.filter((_, at) => at !== place), {once: true}),
              }),
            )),
        ),
    datalist({id: `${id}-known`}, (known ?? []).filter((one) => !names.includes(one.name)).map((one) => option({key: one.name, value: one.name}, one.says))),
    h(Field, {
      label: t('inspector.toolName'),
      hint: t('inspector.toolsHint'),
      children: (ids) =>
        div(
          {className: 'tool-add'},
          input({
            ...ids,
            className: 'input mono',
            list: `${id}-known`,
            value: typed,
            'data-field': 'tools',
            autoComplete: 'off',
            spellCheck: false,
            onFocus: look,
            onChange: (event) => setTyped(event.target.value),
            onKeyDown: (event) => {
              if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
              event.preventDefault();
              add();
            },
          }),
          h(Button, {label: t('inspector.toolAdd'), icon: 'add', disabled: !canAdd, onClick: add}),
        ),
    }),
  );
}

/** What a node can name, with a word on each: all, groups, MCP servers, single tools. */
async function readKnown() {
  const [tools, servers] = await Promise.all([readMemory('/tools/builtin'), readAll('/mcp/servers')]);
  /** @type {string[]} */
  const groups = [...new Set(tools.data.map((/** @type {any} */ tool) => tool.group))];
  return [
    {name: EVERY, says: t('inspector.toolsAll')},
    ...groups.map((group) => ({name: `group:${group}`, says: t('inspector.toolGroup')})),
    ...servers.map((server) => ({name: `mcp:${server.name}`, says: t('inspector.toolServer')})),
    ...tools.data.map((/** @type {any} */ tool) => ({name: tool.name, says: toolText(tool)})),
  ];
}
