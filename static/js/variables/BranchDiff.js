/** Two branches of a chat side by side: where they part, the floors and the variables that only one of them has. */
import {h, tags, useEffect, useState} from '../h.js';
import {readAll, withQuery} from '../state/memory.js';
import {store} from '../state/store.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Dialog} from '../ui/dialog.js';
import {Waiting} from '../ui/empty.js';
import {SelectField} from '../ui/fields.js';
import {Icon} from '../ui/icons.js';
import {branchDifference, branchesOf, loadList, useChats, useList} from '../state/chats.js';
import {reasonOf} from '../state/failures.js';
import {preview} from '../state/values.js';

const {caption, code, div, h3, li, p, table, tbody, td, th, thead, tr, ul} = tags;
const MOST = 200;

/** @typedef {{floors: any, variables: {key: string, base: any, target: any}[]}} Difference */

/** @param {{session: string, target: string | null, close: () => void}} props */
export function BranchDiff({session, target: wanted, close}) {
  const branches = useList(branchesOf(session));
  const names = branches.items.map((one) => one.branch_id);
  const [base, setBase] = useState(wanted === 'main' ? null : 'main');
  const [target, setTarget] = useState(wanted);
  const left = base ?? names.find((name) => name !== target) ?? 'main';
  const right = target ?? names.find((name) => name !== left) ?? left;
  const [found, setFound] = useState(/** @type {Difference | null} */ (null));
  const [error, setError] = useState(/** @type {string | null} */ (null));
  useEffect(() => void loadList(branchesOf(session), {unlessKnown: true}), [session]);
  useEffect(() => {
    let isStale = false;
    setFound(null);
    setError(null);
    if (left === right) return;
    Promise.all([branchDifference(session, left, right), variableDifference(session, left, right)]).then(
      ([floors, variables]) => isStale || setFound({floors, variables}),
      (failure) => isStale || setError(reasonOf(failure)),
    );
    return () => {
      isStale = true;
    };
  }, [session, left, right]);
  const options = names.map((name) => ({value: name, label: name}));
  return h(
    Dialog,
    {title: t('variables.compareBranches'), size: 'large', onClose: close, actions: h(Button, {label: t('app.close'), onClick: close})},
    div(
      {className: 'variables-tools'},
      h(SelectField, {label: t('variables.base'), value: left, onChange: setBase, options}),
      h(SelectField, {label: t('variables.target'), value: right, onChange: setTarget, options}),
    ),
    error !== null ? p({className: 'field-error', role: 'alert'}, error) : null,
    left === right
      ? p({className: 'panel-empty'}, h(Icon, {name: 'info'}), t(names.length < 2 ? 'variables.oneBranch' : 'variables.sameBranch'))
      : found === null && error === null
        ? h(Waiting)
        : null,
    found ? h(Floors, {floors: found.floors, left, right}) : null,
    found ? h(VariablesOf, {variables: found.variables, left, right}) : null,
  );
}

/** @param {{floors: any, left: string, right: string}} props */
function Floors({floors, left, right}) {
  if (floors === null) return p({className: 'field-hint'}, t('variables.noOwnFloors'));
  return div(
    {className: 'variables-diff'},
    p(null, floors.fork_floor_no === null ? t('variables.nothingShared') : t('variables.partAfter', {number: String(floors.fork_floor_no), n: floors.shared_floor_nos.length})),
    div(
      {className: 'variables-diff-columns'},
      h(FloorList, {title: t('variables.onlyIn', {name: left}), floors: floors.base_only_floors}),
      h(FloorList, {title: t('variables.onlyIn', {name: right}), floors: floors.target_only_floors}),
    ),
  );
}

/** @param {{title: string, floors: any[]}} props */
function FloorList({title, floors}) {
  const words = useChats((state) => state.words);
  return div(
    null,
    h3(null, title),
    floors.length === 0
      ? p({className: 'field-hint'}, t('variables.none'))
      : ul(
          null,
          floors.slice(0, MOST).map((floor) => li({key: floor.id}, `${floor.floorNo} · ${t(`variables.floorState.${floor.state}`)} · ${words[floor.id] ?? t('variables.noWords')}`)),
          floors.length > MOST ? li({key: 'more'}, '…') : null,
        ),
  );
}

/** @param {{variables: Difference['variables'], left: string, right: string}} props */
function VariablesOf({variables, left, right}) {
  if (variables.length === 0) return p({className: 'field-hint'}, t('variables.sameVariables'));
  return div(
    {className: 'variables-scroll', tabIndex: 0, role: 'region', 'aria-label': t('variables.differingVariables')},
    table(
      {className: 'variables-table'},
      caption({className: 'variables-caption'}, t('variables.differingVariables')),
      thead(null, tr(null, th({scope: 'col'}, t('variables.name')), th({scope: 'col'}, left), th({scope: 'col'}, right))),
      tbody(
        null,
        variables.slice(0, MOST).map((one) =>
          tr({key: one.key}, th({scope: 'row'}, code(null, preview(one.key, 80))), td(null, shown(one.base)), td(null, shown(one.target)))),
      ),
    ),
  );
}

/** @param {any} value */
function shown(value) {
  return value === undefined ? '—' : code(null, preview(value));
}

/** The branches' own variables that are not the same. @param {string} session @param {string} base @param {string} target */
async function variableDifference(session, base, target) {
  const [left, right] = await Promise.all(
    [base, target].map((branch) => readAll(withQuery('/variables', {scope: 'branch', session_id: session, branch_id: branch, sort_by: 'key', sort_order: 'asc'}))),
  );
  /** @type {Map<string, {key: string, base: any, target: any}>} */
  const keys = new Map(left.map(({key, value}) => [key, {key, base: value, target: undefined}]));
  for (const {key, value} of right) keys.set(key, {key, base: keys.get(key)?.base, target: value});
  return [...keys.values()].filter((one) => JSON.stringify(one.base) !== JSON.stringify(one.target)).sort((a, b) => collator().compare(a.key, b.key));
}

function collator() {
  return new Intl.Collator(store.get().view.locale, {numeric: true});
}
