/** At which place of which chat: session, branch, floor, page. */
import {h, tags, useEffect} from '../h.js';
import {chooseSession} from '../state/session.js';
import {shallow, useStore} from '../state/store.js';
import {t} from '../words.js';
import {SelectField} from '../ui/fields.js';
import {branchesOf, floorsOf, keyOf, loadList, pagesOf, SESSIONS, useList} from '../state/chats.js';
import {floorLabel, pageLabel, sessionLabel} from '../state/labels.js';

const {div} = tags;

export function PlaceBar() {
  const {session, branch, floor, page} = useStore(({session: {session, branch, floor, page}}) => ({session, branch, floor, page}), shallow);
  const lists = [SESSIONS, session === null ? null : branchesOf(session), session === null || branch === null ? null : floorsOf(session, branch), floor === null ? null : pagesOf(floor)];
  const [sessions, branches, floors, pages] = [useList(lists[0]), useList(lists[1]), useList(lists[2]), useList(lists[3])];
  useEffect(() => {
    for (const list of lists) if (list) void loadList(list, {unlessKnown: true});
  }, lists.map((list) => (list ? keyOf(list) : '')));
  /** A chosen one that the list does not hold is an option all the same. @param {string | null} chosen @param {{value: string, label: string}[]} known */
  const withChosen = (chosen, known) => (chosen === null || known.some((one) => one.value === chosen) ? known : [...known, {value: chosen, label: chosen}]);
  return div(
    {className: 'variables-place', role: 'group', 'aria-label': t('variables.place')},
    h(SelectField, {
      label: t('variables.session'),
      value: session ?? '',
      onChange: (id) => chooseSession(id ? {session: id, branch: 'main'} : {session: null}),
      options: [{value: '', label: t('variables.noSession')}, ...withChosen(session, sessions.items.map((one) => ({value: one.id, label: sessionLabel(one)})))],
    }),
    h(SelectField, {
      label: t('variables.branch'),
      value: branch ?? '',
      disabled: session === null,
      onChange: (name) => chooseSession({branch: name || null}),
      options: [{value: '', label: t('variables.wholeSession')}, ...withChosen(branch, branches.items.map((one) => ({value: one.branch_id, label: one.branch_id})))],
    }),
    h(SelectField, {
      label: t('variables.floor'),
      value: floor ?? '',
      disabled: branch === null,
      onChange: (id) => chooseSession({floor: id || null}),
      options: [{value: '', label: t('variables.wholeBranch')}, ...withChosen(floor, floors.items.map((one) => ({value: one.id, label: floorLabel(one)})))],
    }),
    h(SelectField, {
      label: t('variables.page'),
      value: page ?? '',
      disabled: floor === null,
      onChange: (id) => chooseSession({page: id || null}),
      options: [{value: '', label: t('variables.wholeFloor')}, ...withChosen(page, pages.items.map((one) => ({value: one.id, label: pageLabel(one)})))],
    }),
  );
}
