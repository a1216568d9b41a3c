/** The inspector: the document's own fields, one node's settings, input and output, or what can be done with many nodes at once. */
import {runAction} from '../actions.js';
import {h, tags} from '../h.js';
import {nodeById} from '../core/doc.js';
import {lockOf} from '../state/rights.js';
import {shallow, useStore} from '../state/store.js';
import {activeTab} from '../state/tabs.js';
import {t} from '../words.js';
import {Icon} from '../ui/icons.js';
import {DocumentView} from './DocumentView.js';
import {ManyNodes} from './ManyNodes.js';
import {NodeView} from './NodeView.js';

const {div, p} = tags;

export function Inspector() {
  const ids = useStore((state) => activeTab(state)?.selection.nodes ?? NONE, shallow);
  const doc = useStore((state) => activeTab(state)?.history.present ?? null);
  const broken = useStore((state) => activeTab(state)?.brokenText ?? null);
  const lock = useStore((state) => {
    const tab = activeTab(state);
    if (tab?.readOnly) return t('inspector.readOnly', {label: tab.readOnly.label});
    return tab && lockOf(tab, state);
  });
  if (!doc) return null;
  const nodes = ids.map((id) => nodeById(doc, id)).filter((node) => node !== undefined);
  return div(
    {
      className: 'inspector',
      onKeyDown: (event) => {
        // Lists, menus and completions that are open take Escape for themselves, as do dialogs.
        const target = /** @type {Element} */ (event.target);
        if (event.key !== 'Escape' || event.defaultPrevented || target.closest('dialog, [aria-expanded="true"]:is(input)')) return;
        event.preventDefault();
        runAction('canvas.focus');
      },
    },
    lock ? p({className: 'inspector-note inspector-note-top'}, h(Icon, {name: 'eye'}), lock) : null,
    broken !== null
      ? p({className: 'inspector-note inspector-note-bad inspector-note-top', role: 'status'}, h(Icon, {name: 'error'}), t('inspector.brokenFile'))
      : null,
    broken !== null
      ? null
      : nodes.length === 1
      ? h(NodeView, {key: nodes[0].id, node: nodes[0], doc})
      : nodes.length > 1
        ? h(ManyNodes, {nodes})
        : h(DocumentView, {doc}),
  );
}

/** @type {string[]} */
const NONE = [];
