/** What a chat allows models to do with tools: whether at all, how often, and which. */
import {h, tags, useEffect, useId, useRef, useState} from '../h.js';
import {openDialog} from '../state/dialogs.js';
import {onToolsChanged, tellToolsChanged} from '../state/toolnews.js';
import {t, toolText} from '../words.js';
import {Button} from '../ui/buttons.js';
import {NotRead, Waiting} from '../ui/empty.js';
import {CheckField, Field} from '../ui/fields.js';
import {Icon} from '../ui/icons.js';
import {allow, effectOf, readAllowed, withTools} from './allowed.js';

const {code, div, fieldset, h3, input, legend, p} = tags;

/** As in docs/tools-api.md: the defaults and the bounds of what a session says. */
const LIMITS = Object.freeze({
  max_steps_per_generation: {usual: 8, most: 50},
  max_calls_per_turn: {usual: 20, most: 1000},
});

/** @typedef {import('./allowed.js').Allowed} Allowed */

/** @param {{place: import('./talk.js').Place | null}} props */
export function Tools({place}) {
  const session = place?.session ?? null;
  const [read, setRead] = useState(/** @type {Allowed | {error: string} | null} */ (null));
  const [times, setTimes] = useState(0);
  // Changes go one after the other, and what was read before the newest of them is not shown.
  const queue = useRef(Promise.resolve());
  const changes = useRef(0);
  useEffect(() => onToolsChanged(() => setTimes((count) => count + 1)), []);
  useEffect(() => {
    let isStale = false;
    if (session === null) return undefined;
    const known = changes.current;
    void readAllowed(session).then((found) => isStale || known !== changes.current || setRead(found));
    return () => {
      isStale = true;
    };
  }, [session, times]);
  if (session === null) return p({className: 'panel-empty'}, h(Icon, {name: 'info'}), t('chat.empty'));
  if (read === null) return h(Waiting);
  if ('error' in read) return h(NotRead, null, read.error);
  const {permissions, tools} = read;
  /** What was changed is shown at once, and then what the server made of it. @param {Record<string, any>} patch @param {import('./allowed.js').Tool[]} [shown] */
  const change = (patch, shown = tools) => {
    setRead({permissions: {...permissions, ...patch}, tools: shown});
    changes.current += 1;
    const mine = changes.current;
    queue.current = queue.current.then(() => allow(session, patch)).then(() => {
      if (mine === changes.current) tellToolsChanged();
    });
  };
  /** @param {import('./allowed.js').Tool[]} chosen @param {boolean} isAllowed */
  const changeTools = (chosen, isAllowed) =>
    change(withTools(permissions, chosen, isAllowed, tools), tools.map((tool) => (chosen.includes(tool) ? {...tool, is_allowed: isAllowed} : tool)));
  const groups = [...new Set(tools.map((tool) => tool.group))];
  return div(
    {className: 'chat-allowed'},
    h(CheckField, {label: t('chat.toolsOn'), hint: t('chat.toolsOnHint'), checked: permissions.enabled === true, onChange: (enabled) => change({enabled})}),
    permissions.enabled === true
      ? [
          h(Limit, {key: 'steps', name: 'max_steps_per_generation', value: permissions.max_steps_per_generation, onChange: change}),
          h(Limit, {key: 'calls', name: 'max_calls_per_turn', value: permissions.max_calls_per_turn, onChange: change}),
          h(CheckField, {
            key: 'irreversible',
            label: t('chat.irreversible'),
            hint: t('chat.irreversibleHint'),
            checked: permissions.allow_irreversible === true,
            onChange: (allow_irreversible) => change({allow_irreversible}),
          }),
          h3({key: 'title'}, t('chat.toolsAllowed')),
          groups.map((group) => h(Group, {key: group, group, tools: tools.filter((tool) => tool.group === group), place, onChange: changeTools})),
        ]
      : null,
  );
}

/** A number that the server keeps when the field is left. @param {{name: keyof typeof LIMITS, value: number | undefined, onChange: (patch: Record<string, any>) => void}} props */
function Limit({name, value, onChange}) {
  const {usual, most} = LIMITS[name];
  const [typed, setTyped] = useState(String(value ?? usual));
  useEffect(() => setTyped(String(value ?? usual)), [value]);
  const number = Number(typed);
  const isRight = Number.isInteger(number) && number >= 1 && number <= most;
  const keep = () => {
    if (isRight && number !== (value ?? usual)) onChange({[name]: number});
  };
  return h(Field, {
    label: t(`chat.limit.${name}`),
    error: isRight ? null : t('chat.limitWrong', {most}),
    children: (ids) =>
      input({
        ...ids,
        className: 'input',
        type: 'number',
        min: 1,
        max: most,
        value: typed,
        onChange: (event) => setTyped(event.target.value),
        onBlur: keep,
        onKeyDown: (event) => {
          if (event.key === 'Enter') keep();
        },
      }),
  });
}

/**
 * The tools of one group, each with a tick, and all of them with a click.
 * @param {{group: string, tools: import('./allowed.js').Tool[], place: import('./talk.js').Place | null, onChange: (chosen: import('./allowed.js').Tool[], isAllowed: boolean) => void}} props
 */
function Group({group, tools, place, onChange}) {
  const allowed = tools.filter((tool) => tool.is_allowed);
  const others = tools.filter((tool) => !tool.is_allowed);
  return fieldset(
    {className: 'chat-group'},
    legend(null, code(null, group)),
    tools.length === 1
      ? null
      : div(
          {className: 'chat-group-all'},
          h(Button, {label: t('chat.all'), tone: 'quiet', disabled: others.length === 0, onClick: () => onChange(others, true), rest: {'aria-label': t('chat.toolsAll', {group})}}),
          h(Button, {label: t('chat.none'), tone: 'quiet', disabled: allowed.length === 0, onClick: () => onChange(allowed, false), rest: {'aria-label': t('chat.toolsNone', {group})}}),
        ),
    tools.map((tool) => h(ToolLine, {key: tool.name, tool, place, onChange: (isAllowed) => onChange([tool], isAllowed)})),
  );
}

/** @param {{tool: import('./allowed.js').Tool, place: import('./talk.js').Place | null, onChange: (isAllowed: boolean) => void}} props */
function ToolLine({tool, place, onChange}) {
  const id = useId();
  return div(
    {className: 'check'},
    input({id, type: 'checkbox', checked: tool.is_allowed, 'aria-describedby': `${id}-hint`, onChange: (event) => onChange(event.target.checked)}),
    tags.label({htmlFor: id}, code(null, tool.name)),
    h(Button, {label: t('library.toolTryNamed', {name: tool.name}), icon: 'play', iconOnly: true, tone: 'quiet', onClick: () => void openDialog('tool-trial', {tool, place})}),
    tags.span({id: `${id}-hint`, className: 'field-hint'}, [effectOf(tool), toolText(tool)].filter(Boolean).join(' ')),
  );
}
