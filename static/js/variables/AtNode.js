/** What the templates of the selected node can read, where it comes from, and what it was last. */
import {classes, h, tags, useMemo, useState} from '../h.js';
import {namesAt} from '../code/names.js';
import {nodeById} from '../core/doc.js';
import {copyText} from '../state/copying.js';
import {shallow, useStore} from '../state/store.js';
import {activeTab, docOf, goTo} from '../state/tabs.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {CheckField} from '../ui/fields.js';
import {Icon} from '../ui/icons.js';
import {kindInWords, preview} from '../state/values.js';
import {grouped} from './visible.js';

const {button, code, div, h3, input, li, p, s, section, span, ul} = tags;
const STEP = 60;

/** @typedef {import('./visible.js').NameGroup} NameGroup */
/** @typedef {import('./visible.js').Shown} Shown */

export function AtNode() {
  const {doc, node, selected} = useStore((state) => {
    const tab = activeTab(state);
    return {doc: tab ? docOf(tab) : null, node: tab?.selection.nodes[0] ?? null, selected: tab?.selection.nodes.length ?? 0};
  }, shallow);
  const [query, setQuery] = useState('');
  const [isHiddenOnly, setHiddenOnly] = useState(false);
  const contextNames = useStore((state) => state.contextNames);
  const stored = useStore((state) => state.session.names);
  const lastRun = useStore((state) => {
    const tab = activeTab(state);
    return tab?.lastRun ? state.runs.byId[tab.lastRun]?.nodes : null;
  });
  const pins = useStore((state) => activeTab(state)?.pins);
  const known = doc && node ? nodeById(doc, node) : undefined;
  const groups = useMemo(
    () => (doc && node && known ? grouped(namesAt(node), doc, node, contextNames) : []),
    [doc, node, contextNames, stored, lastRun, pins],
  );
  const found = useMemo(() => narrowed(groups, query, isHiddenOnly), [groups, query, isHiddenOnly]);
  if (!doc || !node || !known || selected > 1) {
    return p({className: 'panel-empty'}, h(Icon, {name: 'info'}), t(doc ? (selected > 1 ? 'variables.oneNode' : 'variables.noNode') : 'variables.noPipeline'));
  }
  return div(
    {className: 'variables-at'},
    div(
      {className: 'variables-tools'},
      span({className: 'variables-node'}, h(Icon, {name: 'node'}), span(null, known.title || known.type), code(null, node)),
      input({
        className: 'input',
        type: 'search',
        'aria-label': t('variables.filterNames'),
        placeholder: t('variables.filterNames'),
        value: query,
        spellCheck: false,
        onChange: (event) => setQuery(event.target.value),
      }),
      h(CheckField, {label: t('variables.hiddenOnly'), checked: isHiddenOnly, onChange: setHiddenOnly}),
    ),
    found.length === 0 ? p({className: 'panel-empty'}, t('variables.nothingFound')) : null,
    found.map((group) => h(Group, {key: group.id, group})),
  );
}

/** @param {NameGroup[]} groups @param {string} query @param {boolean} isHiddenOnly @returns {NameGroup[]} */
function narrowed(groups, query, isHiddenOnly) {
  const wanted = query.trim().toLowerCase();
  if (wanted === '' && !isHiddenOnly) return groups;
  return groups
    .map((group) => ({
      ...group,
      names: group.names.filter(
        (one) => (!isHiddenOnly || one.isHidden) && (wanted === '' || `${one.name}\n${one.detail}\n${one.value === undefined ? '' : preview(one.value, 500)}`.toLowerCase().includes(wanted)),
      ),
    }))
    .filter((group) => group.names.length > 0);
}

/** @param {{group: NameGroup}} props */
function Group({group}) {
  const [most, setMost] = useState(STEP);
  const title =
    group.kind === 'out'
      ? t('variables.group.out', {node: `${group.detail} (${group.origin})`})
      : group.kind === 'stored'
        ? t('variables.group.stored', {tier: t(`variables.tier.${group.origin}`)})
        : t(`variables.group.${group.kind}`);
  return section(
    {className: 'variables-group', 'aria-label': title},
    h3(
      null,
      span(null, title),
      span({className: 'badge'}, String(group.names.length)),
      group.kind === 'out' ? h(Button, {label: t('variables.goTo', {node: group.origin ?? ''}), icon: 'arrowRight', iconOnly: true, tone: 'quiet', onClick: () => goTo({node: group.origin})}) : null,
    ),
    ul(
      {className: 'variables-names'},
      group.names.slice(0, most).map((one, position) => h(Name, {key: `${position}:${one.name}`, one, group})),
    ),
    group.names.length > most ? h(Button, {label: t('variables.more', {n: Math.min(STEP, group.names.length - most)}), onClick: () => setMost(most + STEP)}) : null,
  );
}

/** @param {{one: Shown, group: NameGroup}} props */
function Name({one, group}) {
  const by = one.by === null ? '' : one.kind === 'stored' || !['page', 'floor', 'branch', 'chat', 'global'].includes(one.by) ? one.by : t(`variables.tier.${one.by}`);
  const where = by || t('variables.something');
  return li(
    {className: classes('variables-name', one.isHidden && 'variables-name-hidden')},
    button(
      {
        type: 'button',
        className: 'variables-copy mono',
        title: t('variables.copyMacro', {macro: one.insert.slice(0, 300)}),
        onClick: () => void copyText(one.insert),
      },
      one.isHidden ? s(null, preview(one.name)) : span(null, preview(one.name)),
      h(Icon, {name: 'copy', size: 12}),
      span({className: 'visually-hidden'}, t('variables.copyMacro', {macro: one.insert.slice(0, 300)})),
    ),
    one.value === undefined
      ? span({className: 'variables-value variables-unknown'}, group.kind === 'context' || group.kind === 'own' ? '' : t('variables.noValue'))
      : span({className: 'variables-value mono', title: kindInWords(one.value)}, preview(one.value) || t('variables.emptyText')),
    one.isHidden ? span({className: 'chip chip-warn'}, h(Icon, {name: 'eye', size: 12}), t('variables.hiddenBy', {by: where})) : null,
    group.kind === 'variable' && one.node !== null
      ? h(Button, {label: `${one.detail} (${one.node})`, icon: 'arrowRight', tone: 'quiet', className: 'variables-from', title: t('variables.goTo', {node: one.node}), onClick: () => goTo({node: one.node})})
      : null,
  );
}
