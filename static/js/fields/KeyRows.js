/** An object whose names are free, such as headers, as rows of a name and a value. */
import {h, tags, useRef, useState} from '../h.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {TextField} from '../ui/fields.js';

const {div, p} = tags;

/** @typedef {{key: string, name: string, value: any}} Row */

let count = 0;

/**
 * @param {object} props
 * @param {string} props.label
 * @param {Record<string, any>} props.value
 * @param {(value: Record<string, any>, once: boolean) => void} props.onChange `once`: a row came or went
 * @param {any} props.empty the value of a new row
 * @param {(row: {name: string, value: any, label: string, onChange: (value: any) => void}) => import('../h.js').ReactNode} props.renderValue
 * @param {string} props.nameLabel
 * @param {string} props.addLabel
 * @param {string} [props.hint]
 * @param {string} [props.suggestions] id of a datalist with names
 * @param {import('../h.js').ReactNode} [props.aside] beside the label
 * @param {boolean} [props.ignoreCase] whether names that differ in case only are the same (headers)
 */
export function KeyRows({label, value, onChange, empty, renderValue, nameLabel, addLabel, hint, suggestions, aside, ignoreCase = false}) {
  const [rows, setRows] = useState(() => rowsOf(value));
  const handed = useRef(value);
  /** The row that was added last: its name is typed next. */
  const fresh = useRef('');
  // A change from outside (undo, a preset) replaces the rows; rows without a name live only here.
  if (handed.current !== value) {
    handed.current = value;
    setRows(rowsOf(value));
  }
  /** @param {Row[]} next @param {boolean} [once] */
  const change = (next, once = false) => {
    setRows(next);
    const object = objectOf(next, ignoreCase);
    handed.current = object;
    onChange(object, once);
  };
  /** @param {Row} row @param {Partial<Row>} patch */
  const changeRow = (row, patch) => change(rows.map((one) => (one.key === row.key ? {...one, ...patch} : one)));
  return div(
    {className: 'key-rows', role: 'group', 'aria-label': label},
    div({className: 'field-head'}, div({className: 'inspector-label', 'aria-hidden': true}, label), aside),
    rows.map((row, index) => {
      const twin = row.name !== '' && rows.findIndex((one) => isSameName(one.name, row.name, ignoreCase)) < index;
      return div(
        {key: row.key, className: 'key-row'},
        div(
          {className: 'key-row-line'},
          h(TextField, {
            label: `${nameLabel} ${index + 1}`,
            hideLabel: true,
            mono: true,
            value: row.name,
            placeholder: nameLabel,
            autoFocus: row.key === fresh.current,
            list: suggestions,
            error: twin ? t('inspector.nameTwice') : row.name === '' && row.value !== empty ? t('inspector.nameMissing') : null,
            onChange: (name) => changeRow(row, {name}),
          }),
          h(Button, {
            label: t('inspector.removeNamed', {name: row.name || String(index + 1)}),
            icon: 'trash',
            iconOnly: true,
            tone: 'quiet',
            className: 'inspector-mini',
            onClick: () => change(rows.filter((one) => one !== row), true),
          }),
        ),
        renderValue({
          name: row.name,
          value: row.value,
          label: t('inspector.valueOf', {name: row.name || String(index + 1)}),
          onChange: (next) => changeRow(row, {value: next}),
        }),
      );
    }),
    h(Button, {
      label: addLabel,
      icon: 'add',
      tone: 'quiet',
      className: 'inspector-add',
      onClick: () => {
        fresh.current = `key-${++count}`;
        setRows([...rows, {key: fresh.current, name: '', value: empty}]);
      },
    }),
    hint ? p({className: 'field-hint'}, hint) : null,
  );
}

/** @param {Record<string, any>} value @returns {Row[]} */
function rowsOf(value) {
  return Object.entries(value).map(([name, each]) => ({key: `key-${++count}`, name, value: each}));
}

/** The rows that have a name of their own. @param {Row[]} rows @param {boolean} ignoreCase */
function objectOf(rows, ignoreCase) {
  const kept = rows.filter((row, index) => row.name !== '' && rows.findIndex((one) => isSameName(one.name, row.name, ignoreCase)) === index);
  return Object.fromEntries(kept.map((row) => [row.name, row.value]));
}

/** @param {string} a @param {string} b @param {boolean} ignoreCase */
function isSameName(a, b, ignoreCase) {
  return ignoreCase ? a.trim().toLowerCase() === b.trim().toLowerCase() : a === b;
}
