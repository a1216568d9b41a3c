/** What templates of a node can read: every name with where it comes from and its last value. A click inserts or copies the macro. */
import {classes, Fragment, h, tags, useId, useState} from '../h.js';
import {namesAt, shown} from '../code/names.js';
import {fuzzy} from '../core/search.js';
import {copyText} from '../state/copying.js';
import {useStore} from '../state/store.js';
import {activeTab} from '../state/tabs.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {cursorOf, insertAt} from './cursor.js';

const {button, code, div, h3, input, p, span, ul, li} = tags;

/** @typedef {import('../core/doc.js').VisibleName} VisibleName */

const GROUPS = ['variable', 'out', 'own', 'stored', 'context'];
const GROUP_OF = /** @type {Record<string, string>} */ ({'short-out': 'out'});

/** @param {{node: import('../core/doc.js').PipelineNode}} props */
export function InputView({node}) {
  const [query, setQuery] = useState('');
  const id = useId();
  // The names depend on the document, the last run, the pins and the stored variables.
  useStore((state) => activeTab(state)?.history.present);
  useStore((state) => activeTab(state)?.pins);
  useStore((state) => state.session.names);
  useStore((state) => {
    const run = activeTab(state)?.lastRun;
    return run ? state.runs.byId[run] : null;
  });
  const names = namesAt(node.id);
  const found = query.trim() === '' ? names : fuzzy(query, names, (one) => `${one.name} ${one.detail}`);
  const cursor = cursorOf(node.id);
  return div(
    {className: 'inspector-page'},
    p({className: 'field-hint', id: `${id}-how`}, cursor ? t('inspector.inputInserts', {field: cursor.field}) : t('inspector.inputCopies')),
    input({
      className: 'input',
      type: 'search',
      'aria-label': t('inspector.findName'),
      placeholder: t('inspector.findName'),
      value: query,
      spellCheck: false,
      onChange: (event) => setQuery(event.target.value),
    }),
    found.length === 0 ? p({className: 'inspector-empty'}, t('inspector.noNames')) : null,
    GROUPS.map((group) => {
      const members = found.filter((one) => (GROUP_OF[one.kind] ?? one.kind) === group);
      if (members.length === 0) return null;
      return h(
        Fragment,
        {key: group},
        h3({className: 'inspector-subtitle', id: `${id}-${group}`}, t(`inspector.names.${group}`)),
        ul(
          {className: 'name-list', 'aria-labelledby': `${id}-${group}`},
          members.map((one) => li({key: `${one.kind}:${one.name}`}, h(NameLine, {name: one, how: `${id}-how`, use: cursor ? (macro) => insertAt(cursor, macro) : null}))),
        ),
      );
    }),
  );
}

/** @param {{name: VisibleName, how: string, use: ((macro: string) => void) | null}} props */
function NameLine({name, how, use}) {
  const kind = GROUP_OF[name.kind] ?? name.kind;
  return div(
    {className: 'name-line'},
    button(
      {
        type: 'button',
        className: 'name-button',
        'aria-describedby': how,
        onClick: () => (use ? use(name.insert) : void copyText(name.insert)),
      },
      span({className: 'name-top'}, code({className: classes('name-macro', `name-${kind}`)}, name.name), span({className: 'name-origin'}, name.detail)),
      name.value === undefined ? null : span({className: 'name-value'}, shown(name.value) || t('inspector.emptyText')),
    ),
    use
      ? h(Button, {
          label: t('inspector.copyMacro', {path: name.name}),
          icon: 'copy',
          iconOnly: true,
          tone: 'quiet',
          className: 'inspector-mini',
          onClick: () => void copyText(name.insert),
        })
      : null,
  );
}
