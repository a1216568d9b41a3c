/** SetVars: rows of names and values, with what each would be now. */
import {classes, h, tags, useId, useState} from '../../h.js';
import {CodeField} from '../../code/Field.js';
import {isObject} from '../../core/doc.js';
import {isRandom} from '../../core/provenance.js';
import {announce, notify} from '../../state/notices.js';
import {useStore} from '../../state/store.js';
import {activeTab} from '../../state/tabs.js';
import {t} from '../../words.js';
import {Button} from '../../ui/buttons.js';
import {Icon} from '../../ui/icons.js';
import {MenuButton} from '../../ui/menu.js';
import {FoldButton, useFolding} from '../../fields/folding.js';
import {focusField, useNodeForm} from '../../fields/form.js';
import {useLiveResults} from '../liveresults.js';
import {choiceRule, isDrawn, OddFields, textRule} from '../OddFields.js';
import {useRowKeys} from '../../fields/rowkeys.js';
import {UnknownFields} from '../../fields/SchemaForm.js';
import {moved, sortClasses, useSorting} from '../../ui/sorting.js';
import {hasMacros, nameRemark, rowsFromLines} from '../variables.js';
import {WrongValue} from '../../fields/WrongValue.js';

const {div, input, label: labelTag, option, p, select, span, textarea} = tags;

/** @typedef {import('../../fields/form.js').Form} Form */
/** @typedef {import('../liveresults.js').LiveResults} LiveResults */

const MODES = ['string', 'expr', 'json'];
/** What a row can be written as: a mode, or a string in the other language. */
const WRITTEN = ['string', 'sillytavern', 'expr', 'json'];
const TIERS = ['run', 'page', 'floor', 'branch', 'chat', 'global'];
const LANGUAGES = /** @type {const} */ ({string: 'text', sillytavern: 'formula', expr: 'formula', json: 'json'});
const RULES = {name: textRule(''), mode: choiceRule(MODES), tier: choiceRule(TIERS), value: textRule(''), language: choiceRule(['hadtavern', 'sillytavern'])};
const EMPTY = Object.freeze(/** @type {any[]} */ ([]));
const SHOWN_RESULT = 240;
/** With more rows than this all are folded at first. */
const MOST_UNFOLDED = 40;
const SHOWN_EXCERPT = 120;

/** @param {{node: import('../../core/doc.js').PipelineNode}} props */
export function SetVars({node}) {
  const form = useNodeForm(node);
  const value = form.values.variables;
  const isList = value === undefined || Array.isArray(value);
  return div(
    {className: 'inspector-page'},
    isList
      ? h(Rows, {form, rows: value ?? EMPTY})
      : h(WrongValue, {
          label: t('inspector.variables'),
          value,
          wanted: 'inspector.kind.list',
          field: 'variables',
          node: node.id,
          onChange: (next) => form.set(['variables'], next),
          fallback: [],
        }),
    h(UnknownFields, {known: ['variables'], form}),
  );
}

/** @param {{form: Form, rows: readonly any[]}} props */
function Rows({form, rows}) {
  const [again, setAgain] = useState(0);
  const [isPasting, setPasting] = useState(false);
  const results = useLiveResults(/** @type {string} */ (form.node), again);
  const keys = useRowKeys(rows);
  const folding = useFolding({keys, most: MOST_UNFOLDED, node: form.node, field: 'variables'});
  /** @param {any[]} next @param {string} [label] */
  const set = (next, label = 'inspector.edit.rows') => form.set(['variables'], next, {once: true, label});
  const sorting = useSorting({announce, count: rows.length, onMove: (from, to) => set(moved([...rows], from, to), 'inspector.edit.move')});
  /** Put rows from lines at a place; an empty row there makes room. @param {string} text @param {number} at */
  const paste = (text, at) => {
    const {rows: found, rest} = rowsFromLines(text);
    if (rest) notify('warning', 'inspector.linesLeft', {n: rest});
    if (found.length === 0) return false;
    const isEmpty = isObject(rows[at]) && !rows[at].name && !rows[at].value;
    set([...rows.slice(0, at), ...found, ...rows.slice(isEmpty ? at + 1 : at)], 'inspector.edit.paste');
    return true;
  };
  const add = () => {
    set([...rows, {name: '', value: ''}]);
    focusField(form.node, `variables.${rows.length}.name`);
  };
  const anyVaries = rows.some(isRandom);
  return div(
    {className: 'variables'},
    rows.length === 0 ? p({className: 'inspector-empty'}, t('inspector.noVariables')) : null,
    div(
      {ref: sorting.list, className: 'variable-list', role: 'list', 'aria-label': t('inspector.variables')},
      rows.map((row, index) =>
        h(Row, {
          key: keys[index],
          form,
          rows,
          row,
          index,
          sorting,
          results,
          isFolded: folding.isFolded(keys[index]),
          onFold: rows.length > MOST_UNFOLDED ? () => folding.toggle(keys[index]) : null,
          onPaste: (text) => paste(text, index),
          onRemove: () => set(rows.filter((_, at) => at !== index), 'inspector.edit.remove'),
          onDuplicate: () => set(rows.flatMap((one, at) => (at === index ? [one, structuredClone(one)] : [one])), 'inspector.edit.duplicate'),
        }),
      ),
    ),
    div(
      {className: 'inspector-foot'},
      h(Button, {label: t('inspector.addVariable'), icon: 'add', tone: 'quiet', className: 'inspector-add', onClick: add}),
      h(Button, {label: t('inspector.pasteLines'), icon: 'import', tone: 'quiet', className: 'inspector-add', pressed: isPasting, onClick: () => setPasting(!isPasting)}),
      anyVaries ? h(Button, {label: t('inspector.again'), icon: 'refresh', tone: 'quiet', className: 'inspector-add', onClick: () => setAgain(again + 1)}) : null,
    ),
    results.failure ? p({className: 'inspector-note inspector-note-warn', role: 'status'}, h(Icon, {name: 'warning'}), span(null, t('inspector.noLive', {message: results.failure}))) : null,
    results.missing.length
      ? p({className: 'inspector-note', role: 'status'}, h(Icon, {name: 'info'}), span(null, t('inspector.liveMissing', {nodes: results.missing.join(', ')})))
      : null,
    isPasting
      ? h(PasteBox, {
          onAdd: (text) => {
            if (paste(text, rows.length)) setPasting(false);
          },
        })
      : null,
  );
}

/** @param {{onAdd: (text: string) => void}} props */
function PasteBox({onAdd}) {
  const [text, setText] = useState('');
  const id = useId();
  return div(
    {className: 'inspector-group'},
    div({className: 'field-head'}, labelTag({htmlFor: id}, t('inspector.lines'))),
    textarea({
      id,
      className: 'input mono',
      rows: 4,
      autoFocus: true,
      spellCheck: false,
      placeholder: 'NAME=value',
      value: text,
      onChange: (event) => setText(event.target.value),
    }),
    h(Button, {label: t('inspector.addLines'), tone: 'primary', className: 'inspector-below', disabled: text.trim() === '', onClick: () => onAdd(text)}),
  );
}

/**
 * @param {{form: Form, rows: readonly any[], row: any, index: number, sorting: import('../../ui/sorting.js').Sorting, results: LiveResults,
 *   isFolded: boolean, onFold: (() => void) | null, onPaste: (text: string) => boolean, onRemove: () => void, onDuplicate: () => void}} props
 *   `onFold`: null where the list is short
 */
function Row({form, rows, row, index, sorting, results, isFolded, onFold, onPaste, onRemove, onDuplicate}) {
  const contextNames = useStore((state) => state.contextNames.names);
  const path = ['variables', index];
  const nameField = `variables.${index}.name`;
  const wrong = useStore((state) => activeTab(state)?.problems.find((one) => one.node === form.node && one.field === nameField && one.severity === 'error')?.message);
  const id = useId();
  if (!isObject(row)) return h(BrokenRow, {form, row, index, sorting, onRemove});
  const title = typeof row.name === 'string' && row.name ? row.name : t('inspector.rowNumber', {position: index + 1});
  const mode = drawnText(row, 'mode', 'string');
  const written = mode === 'string' && row.language === 'sillytavern' ? 'sillytavern' : mode;
  const tier = drawnText(row, 'tier', 'run');
  const more = h(MenuButton, {
    label: t('inspector.moreNamed', {name: title}),
    icon: 'more',
    iconOnly: true,
    className: 'inspector-mini',
    items: () => /** @type {import('../../ui/menu.js').MenuItem[]} */ ([
      {label: t('inspector.duplicate'), icon: 'copy', run: onDuplicate},
      {label: t('inspector.delete'), icon: 'trash', tone: 'danger', run: onRemove},
    ]),
  });
  if (isFolded && onFold) {
    const excerpt = drawnText(row, 'value', '').slice(0, SHOWN_EXCERPT);
    return div(
      {'data-row': index, role: 'listitem', 'aria-label': title, className: classes('variable', 'variable-folded', sortClasses(sorting, index))},
      div({className: 'variable-head'}, sorting.handle(index, title), h(FoldButton, {name: title, excerpt, isFolded, onFold}), more),
    );
  }
  const remark = wrong === undefined ? nameRemark(rows, index, contextNames) : null;
  return div(
    {'data-row': index, role: 'listitem', 'aria-label': title, className: classes('variable', sortClasses(sorting, index))},
    div(
      {className: 'variable-head'},
      sorting.handle(index, title),
      onFold
        ? h(Button, {
            label: t('inspector.fold', {name: title}),
            icon: 'chevronDown',
            iconOnly: true,
            tone: 'quiet',
            className: 'inspector-mini',
            onClick: onFold,
            rest: {'aria-expanded': true},
          })
        : null,
      input({
        className: classes('input', 'mono', 'variable-name', wrong !== undefined && 'variable-name-wrong'),
        'aria-label': t('inspector.nameOfRow', {position: index + 1}),
        'data-field': nameField,
        'aria-invalid': wrong === undefined ? undefined : true,
        'aria-describedby': wrong !== undefined || remark ? `${id}-remark` : undefined,
        value: typeof row.name === 'string' ? row.name : '',
        title: typeof row.name === 'string' ? row.name : undefined,
        placeholder: t('inspector.name'),
        spellCheck: false,
        autoComplete: 'off',
        onChange: (event) => form.set([...path, 'name'], event.target.value),
        onPaste: (event) => {
          const text = event.clipboardData.getData('text/plain');
          if (/[=\n]/.test(text) && onPaste(text)) event.preventDefault();
        },
      }),
    ),
    div(
      {className: 'variable-kinds'},
      h(SmallSelect, {
        label: t('inspector.modeOf', {name: title}),
        value: written,
        options: WRITTEN.map((one) => ({value: one, label: t(`inspector.mode.${one}`)})),
        onChange: (next) => form.set(path, withMode(row, next), {once: true}),
      }),
      h(SmallSelect, {
        label: t('inspector.tierOf', {name: title}),
        value: tier,
        options: TIERS.map((one) => ({value: one, label: t(`inspector.tier.${one}`)})),
        onChange: (next) => form.set([...path, 'tier'], next === 'run' ? undefined : next, {once: true}),
      }),
      sorting.arrows(index, title),
      more,
    ),
    wrong === undefined ? null : p({id: `${id}-remark`, className: 'field-error'}, wrong),
    remark ? p({id: `${id}-remark`, className: REMARKS[remark.severity]}, t(remark.key, remark.params)) : null,
    isDrawn(row, RULES, 'value')
      ? h(CodeField, {
          // A mode of its own language gets an editor of its own.
          key: written,
          label: t('inspector.valueOf', {name: title}),
          hideLabel: true,
          value: drawnText(row, 'value', ''),
          onChange: (next) => form.set([...path, 'value'], next),
          language: LANGUAGES[/** @type {keyof typeof LANGUAGES} */ (written)],
          node: form.node,
          field: [...path, 'value'].join('.'),
          maxLines: 14,
          placeholder: t(`inspector.placeholder.${written}`),
          error: hasMacros(row) ? t('inspector.noMacros') : null,
        })
      : null,
    h(OddFields, {form, path, rules: RULES}),
    h(Result, {row, index, results, name: title}),
  );
}

/** A row written in another way. @param {any} row @param {string} written one of WRITTEN */
function withMode(row, written) {
  const {mode: _, language: __, ...rest} = row;
  if (written === 'sillytavern') return {...rest, language: written};
  return written === 'string' ? rest : {...rest, mode: written};
}

/** A member of a row as a text; the fallback where the row is silent, or holds what no form can draw. @param {any} row @param {keyof typeof RULES} name @param {string} fallback */
function drawnText(row, name, fallback) {
  return RULES[name].is(row[name]) ? String(row[name]) : fallback;
}

const REMARKS = {warning: 'field-warning', info: 'field-hint'};

/** What the row would be now. @param {{row: any, index: number, results: LiveResults, name: string}} props */
function Result({row, index, results, name}) {
  const failure = results.failures[index];
  if (failure) return p({className: 'variable-result text-bad', role: 'status'}, h(Icon, {name: 'error', size: 12}), span(null, failure));
  const found = results.values[index];
  // The line is there before its value is, so that nothing moves when it comes.
  if (!found) return div({className: 'variable-result'});
  const text = typeof found.value === 'string' ? found.value : JSON.stringify(found.value);
  const kind = found.value === null ? 'null' : Array.isArray(found.value) ? 'list' : typeof found.value;
  return div(
    {className: 'variable-result', role: 'group', 'aria-label': t('inspector.resultOf', {name})},
    span({className: 'variable-equals', 'aria-hidden': true}, '='),
    span({className: classes('variable-value', text === '' && 'variable-value-empty')}, text === '' ? t('inspector.emptyText') : text.slice(0, SHOWN_RESULT) + (text.length > SHOWN_RESULT ? '…' : '')),
    span({className: 'variable-kind'}, t(`inspector.type.${kind}`)),
    isRandom(row) ? span({className: 'chip', title: t('inspector.variesHint')}, t('inspector.varies')) : null,
  );
}

/** A row that is no object at all. @param {{form: Form, row: any, index: number, sorting: import('../../ui/sorting.js').Sorting, onRemove: () => void}} props */
function BrokenRow({form, row, index, sorting, onRemove}) {
  const name = t('inspector.rowNumber', {position: index + 1});
  return div(
    {'data-row': index, role: 'listitem', 'aria-label': name, className: 'variable'},
    div(
      {className: 'variable-head'},
      sorting.handle(index, name),
      span({className: 'variable-name'}),
      h(Button, {label: t('inspector.removeNamed', {name}), icon: 'trash', iconOnly: true, tone: 'quiet', className: 'inspector-mini', onClick: onRemove}),
    ),
    h(WrongValue, {
      label: name,
      value: row,
      wanted: 'inspector.kind.object',
      field: `variables.${index}`,
      node: form.node,
      onChange: (next) => form.set(['variables', index], next),
      fallback: {name: '', value: ''},
    }),
  );
}

/** @param {{label: string, value: string, options: {value: string, label: string}[], onChange: (value: string) => void}} props */
function SmallSelect({label, value, options, onChange}) {
  return select(
    {className: 'small-select', 'aria-label': label, title: label, value, onChange: (event) => onChange(event.target.value)},
    options.map((one) => option({key: one.value, value: one.value}, one.label)),
  );
}
