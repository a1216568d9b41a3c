/** The command palette: everything that can be done or found, by a few letters. */
import {ACTIONS, runAction, shownKeys} from '../actions.js';
import {findInDocument, fuzzy} from '../core/search.js';
import {classes, h, tags, useMemo, useState} from '../h.js';
import {store} from '../state/store.js';
import {activeTab, docOf, goTo, openPipeline, select} from '../state/tabs.js';
import {t} from '../words.js';
import {useCombobox} from '../ui/combobox.js';
import {Dialog} from '../ui/dialog.js';
import {Icon} from '../ui/icons.js';

const {code, div, input, kbd, li, span, ul} = tags;
const MOST = 60;

/**
 * @typedef {object} Entry
 * @property {string} key
 * @property {string} icon
 * @property {string} text
 * @property {string} [detail]
 * @property {string} [keys]
 * @property {() => void} run
 */

/** @param {{close: () => void, query?: string}} props */
export function Palette({close, query: first = ''}) {
  const [query, setQuery] = useState(first);
  const all = useMemo(entries, []);
  const found = useMemo(() => search(all, query.trim()), [all, query]);
  /** @param {Entry} entry */
  const go = (entry) => {
    close();
    // The dialog gives the focus back first; what the entry opens takes it then.
    setTimeout(entry.run);
  };
  const {active, reset, field, list, option} = useCombobox({count: found.length, onChoose: (index) => go(found[index])});
  return h(
    Dialog,
    {title: t('help.action.palette'), onClose: close, className: 'palette'},
    input({
      ...field,
      className: 'input palette-input',
      type: 'text',
      'aria-label': t('help.paletteLabel'),
      placeholder: t('help.paletteHint'),
      autoFocus: true,
      'data-autofocus': true,
      value: query,
      onChange: (event) => {
        setQuery(event.target.value);
        reset();
      },
    }),
    div({className: 'visually-hidden', 'aria-live': 'polite'}, t('help.paletteCount', {n: found.length})),
    ul(
      {...list, className: 'palette-list', 'aria-label': t('help.action.palette')},
      found.map((entry, position) =>
        li(
          {
            ...option(position),
            key: entry.key,
            className: classes('palette-entry', position === active && 'palette-chosen'),
          },
          h(Icon, {name: entry.icon}),
          span({className: 'palette-text'}, entry.text),
          entry.detail ? code({className: 'palette-detail'}, entry.detail) : null,
          entry.keys ? kbd(null, entry.keys) : null,
        ),
      ),
    ),
  );
}

/** Everything that does not depend on what is typed. @returns {Entry[]} */
function entries() {
  const state = store.get();
  const tab = activeTab(state);
  return [
    ...ACTIONS.filter((action) => !action.when || action.when(state)).map((action) => ({
      key: `action ${action.id}`,
      icon: action.icon ?? 'chevronRight',
      text: t(action.title),
      keys: shownKeys(action.id),
      run: () => void runAction(action.id),
    })),
    ...(tab ? docOf(tab).nodes : []).map((node) => ({
      key: `node ${node.id}`,
      icon: state.nodeTypes[node.type]?.icon ?? 'node',
      text: node.title || state.nodeTypes[node.type]?.title || node.type,
      detail: node.id,
      run: () => {
        select({nodes: [node.id]});
        runAction('canvas.fitSelection');
      },
    })),
    ...state.library.pipelines.map((one) => ({
      key: `pipeline ${one.id}`,
      icon: 'graph',
      text: one.name || one.id,
      detail: one.id,
      run: () => void openPipeline(one.id),
    })),
  ];
}

/** @param {Entry[]} all @param {string} query @returns {Entry[]} */
function search(all, query) {
  if (query === '') return all.slice(0, MOST);
  const named = fuzzy(query, all, (entry) => `${entry.text} ${entry.detail ?? ''}`);
  return [...named, ...textMatches(query)].slice(0, MOST);
}

/** Where the words stand in the fields of the document in front. @param {string} query @returns {Entry[]} */
function textMatches(query) {
  const tab = activeTab();
  if (!tab || query.length < 2) return [];
  return findInDocument(docOf(tab), query).map((match, position) => ({
    key: `text ${match.node} ${match.field} ${position}`,
    icon: 'search',
    text: match.excerpt,
    detail: [match.node, match.field].filter(Boolean).join(' · '),
    run: () => goTo({node: match.node, field: match.field}),
  }));
}
