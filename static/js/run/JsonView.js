/** JSON as it stands in a request: coloured by kind, folded until it is opened, with the pieces that macros gave marked. */
import {classes, h, tags, useEffect, useState} from '../h.js';
import {api} from '../api/client.js';
import {isObject} from '../core/doc.js';
import {isLinked} from '../core/runlog.js';
import {notifyFailure} from '../state/notices.js';
import {goTo} from '../state/tabs.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Icon} from '../ui/icons.js';
import {size} from './times.js';

const {a, button, div, pre, span} = tags;

/** @typedef {import('../core/provenance.js').Mark} Mark */

/** How many members are drawn at once, and how many characters of a text. */
const MOST_MEMBERS = 100;
const MOST_TEXT = 3000;
/** What is larger is folded until somebody asks for it. */
const OPEN_DEPTH = 3;

/**
 * A value that may have come as its beginning and a link to the whole.
 * @param {{label: string, value: any, pick?: (whole: any) => any, marks?: Map<string, Mark[]>, root?: string}} props `pick` takes
 *   what is wanted out of the answer behind the link; `root` is where the value stands for `marks`
 */
export function Value({label, value, pick = (whole) => whole.data, marks, root = ''}) {
  const link = isLinked(value) ? value.link : null;
  const [whole, setWhole] = useState(/** @type {{link: string, value: any} | null} */ (null));
  const [isLoading, setLoading] = useState(false);
  useEffect(() => setLoading(false), [link]);
  if (link === null || whole?.link === link) {
    return div({className: 'run-json', role: 'group', 'aria-label': label, tabIndex: 0}, h(Member, {name: null, value: whole?.link === link ? whole?.value : value, depth: 0, pointer: root, marks}));
  }
  const load = async () => {
    setLoading(true);
    try {
      const {body} = await api.get(/** @type {string} */ (link));
      setWhole({link: /** @type {string} */ (link), value: pick(body)});
    } catch (error) {
      setLoading(false);
      notifyFailure(error);
    }
  };
  return div(
    {className: 'run-json', role: 'group', 'aria-label': label, tabIndex: 0},
    pre({className: 'run-json-start'}, value.summary, '…'),
    div(
      {className: 'run-json-more'},
      h(Button, {label: t('run.loadAll', {size: size(value.bytes)}), icon: 'import', disabled: isLoading, onClick: () => void load()}),
      a({href: link, target: '_blank', rel: 'noopener'}, t('run.openRaw')),
    ),
  );
}

/**
 * @param {{name: string | null, value: any, depth: number, pointer: string, marks?: Map<string, Mark[]>}} props
 * @returns {import('../h.js').ReactElement}
 */
function Member({name, value, depth, pointer, marks}) {
  const isBranch = Array.isArray(value) || isObject(value);
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH);
  const [shown, setShown] = useState(MOST_MEMBERS);
  if (!isBranch) {
    return div({className: 'run-json-line'}, name === null ? null : span({className: 'run-json-name'}, name, ': '), h(Leaf, {value, marks: marks?.get(pointer)}));
  }
  const entries = Array.isArray(value) ? value : Object.entries(value);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const count = entries.length;
  if (count === 0) return div({className: 'run-json-line'}, name === null ? null : span({className: 'run-json-name'}, name, ': '), span({className: 'run-json-mark'}, open, close));
  return div(
    {className: 'run-json-branch'},
    button(
      {type: 'button', className: 'run-json-fold', 'aria-expanded': isOpen, 'aria-label': name ?? t('run.json'), onClick: () => setOpen(!isOpen)},
      h(Icon, {name: isOpen ? 'chevronDown' : 'chevronRight', size: 10}),
      name === null ? null : span({className: 'run-json-name'}, name, ': '),
      span({className: 'run-json-mark'}, open, isOpen ? '' : ` ${count} ${close}`),
    ),
    isOpen
      ? div(
          {className: 'run-json-members'},
          entries.slice(0, shown).map((/** @type {any} */ entry, /** @type {number} */ index) => {
            const [key, item] = Array.isArray(value) ? [String(index), entry] : entry;
            const step = key.replaceAll('~', '~0').replaceAll('/', '~1');
            return h(Member, {key, name: key, value: item, depth: depth + 1, pointer: `${pointer}/${step}`, marks});
          }),
          count > shown ? h(Button, {label: t('run.showMore', {n: count - shown}), tone: 'quiet', onClick: () => setShown(shown + MOST_MEMBERS)}) : null,
        )
      : null,
  );
}

/** @param {{value: any, marks?: Mark[]}} props */
function Leaf({value, marks}) {
  const [isWhole, setWhole] = useState(false);
  if (typeof value !== 'string') {
    const text = JSON.stringify(value) ?? '';
    return span({className: `run-json-${value === null ? 'null' : typeof value}`}, marks?.length ? h(Marked, {text, marks}) : text);
  }
  const isLong = value.length > MOST_TEXT;
  const text = isLong && !isWhole ? value.slice(0, MOST_TEXT) : value;
  return span(
    {className: 'run-json-string'},
    '"',
    marks?.length ? h(Marked, {text, marks}) : text,
    isLong && !isWhole ? '…' : '"',
    isLong ? h(Button, {label: isWhole ? t('run.showLess') : t('run.showAll', {n: value.length}), tone: 'quiet', onClick: () => setWhole(!isWhole)}) : null,
  );
}

/**
 * A text with the pieces that macros gave.
 * @param {{text: string, marks: Mark[]}} props
 */
export function Marked({text, marks}) {
  const sorted = [...marks].sort((one, other) => one.from - other.from);
  const parts = [];
  let at = 0;
  for (const {from, to, macro, field, node} of sorted) {
    if (from < at || from >= text.length) continue;
    parts.push(text.slice(at, from));
    parts.push(
      button(
        {
          key: from,
          type: 'button',
          className: classes('run-mark', `run-mark-${kindOf(macro)}`),
          title: t('run.from', {macro}),
          onClick: () => go(node, field),
        },
        text.slice(from, to),
      ),
    );
    at = to;
  }
  return span(null, ...parts, text.slice(at));
}

/** Show the macro in the node's field. @param {string} node @param {string} field */
function go(node, field) {
  goTo({node, field});
}

/** Which colour a macro's piece has: as in the templates. @param {string} macro */
export function kindOf(macro) {
  if (/^\[\[\s*OUT/.test(macro)) return 'out';
  if (/^\[\[\s*PROMPT/.test(macro)) return 'prompt';
  if (/^\[\[\s*SECRET/.test(macro)) return 'secret';
  if (/^\[\[\s*VAR/.test(macro)) return 'var';
  return macro.startsWith('{{') ? 'curly' : 'name';
}
