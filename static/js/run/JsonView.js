/** JSON as it stands in a request, with the pieces that macros gave marked. */
import {classes, h, tags, useEffect, useState} from '../h.js';
import {api} from '../api/client.js';
import {isLinked} from '../core/runlog.js';
import {notifyFailure} from '../state/notices.js';
import {goTo} from '../state/tabs.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {JsonTree} from '../ui/JsonTree.js';
import {size} from '../state/times.js';

const {a, button, div, pre, span} = tags;

/** @typedef {import('../core/provenance.js').Mark} Mark */

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
    /** @param {string[]} path */
    const pointer = (path) => [root, ...path.map((key) => key.replaceAll('~', '~0').replaceAll('/', '~1'))].join('/');
    return h(JsonTree, {
      label,
      value: whole?.link === link ? whole?.value : value,
      drawText: (text, path) => {
        const mine = marks?.get(pointer(path));
        return mine?.length ? h(Marked, {text, marks: mine}) : text;
      },
    });
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
    {className: 'json-tree', role: 'group', 'aria-label': label, tabIndex: 0},
    pre({className: 'json-line'}, value.summary, '…'),
    div(
      {className: 'run-json-more'},
      h(Button, {label: t('run.loadAll', {size: size(value.bytes)}), icon: 'import', disabled: isLoading, onClick: () => void load()}),
      a({href: link, target: '_blank', rel: 'noopener'}, t('run.openRaw')),
    ),
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
