/** Which chat: its session, its branch, and what can be done to it. */
import {h, tags} from '../h.js';
import {archiveSession, branchesOf, deleteBranch, deleteSession, newSession, renameSession, SESSIONS, useList} from '../state/chats.js';
import {openDialog} from '../state/dialogs.js';
import {sessionLabel} from '../state/labels.js';
import {chooseSession} from '../state/session.js';
import {store, useStore} from '../state/store.js';
import {openDock, setView} from '../state/view.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {SelectField} from '../ui/fields.js';
import {MenuButton} from '../ui/menu.js';
import {setPipeline, toggleAssembly} from './commands.js';

const {div} = tags;

/** @param {{place: import('./talk.js').Place | null}} props */
export function Head({place}) {
  const sessions = useList(SESSIONS).items;
  const branches = useList(place === null ? null : branchesOf(place.session)).items;
  const session = sessions.find((one) => one.id === place?.session);
  return div(
    {className: 'chat-head'},
    h(SelectField, {
      label: t('variables.session'),
      hideLabel: true,
      className: 'chat-session',
      value: place?.session ?? '',
      onChange: (id) => chooseSession(id ? {session: id, branch: 'main'} : {session: null}),
      options: [{value: '', label: t('chat.noSession')}, ...withChosen(place?.session ?? null, sessions.map((one) => ({value: one.id, label: sessionLabel(one)})))],
    }),
    h(Button, {label: t('variables.newSession'), icon: 'add', iconOnly: true, tone: 'quiet', onClick: () => void newSession()}),
    place === null
      ? null
      : h(SelectField, {
          label: t('variables.branch'),
          hideLabel: true,
          value: place.branch,
          onChange: (branch) => chooseSession({session: place.session, branch}),
          options: withChosen(place.branch, branches.map((one) => ({value: one.branch_id, label: branchLabel(one)}))),
        }),
    session === undefined ? null : h(PipelineField, {session}),
    h(MenuButton, {label: t('chat.menu'), icon: 'more', iconOnly: true, items: () => menuOf(place, session)}),
  );
}

/** A chosen one that the list does not hold is an option all the same. @param {string | null} chosen @param {{value: string, label: string}[]} known */
function withChosen(chosen, known) {
  return chosen === null || known.some((one) => one.value === chosen) ? known : [{value: chosen, label: chosen}, ...known];
}

/** @param {any} branch as the list of branches tells of it */
function branchLabel({branch_id, floor_count, source_branch_id}) {
  const label = `${branch_id} · ${t('variables.floorCount', {n: floor_count})}`;
  return source_branch_id ? `${label} · ${t('chat.from', {branch: source_branch_id})}` : label;
}

/** Which pipeline answers. @param {{session: any}} props */
function PipelineField({session}) {
  const pipelines = useStore((state) => state.library.pipelines);
  const chosen = session.pipeline_id ?? '';
  return h(SelectField, {
    label: t('chat.pipeline'),
    hideLabel: true,
    value: chosen,
    onChange: (id) => void setPipeline(session.id, id || null),
    options: [{value: '', label: t('chat.usualPipeline')}, ...withChosen(chosen || null, pipelines.map(({id, name}) => ({value: id, label: name || id})))],
  });
}

/** @param {import('./talk.js').Place | null} place @param {any} session @returns {import('../ui/menu.js').MenuItem[]} */
function menuOf(place, session) {
  const isMarkdown = store.get().view.chatMarkdown;
  const others = [
    {label: t('chat.allSessions'), icon: 'list', run: () => setView({left: 'sessions', narrowPage: 'outline'})},
    {label: t('chat.allVariables'), icon: 'variable', run: () => openDock('variables')},
    {label: t('chat.markdown'), checked: isMarkdown, run: () => setView({chatMarkdown: !isMarkdown})},
  ];
  if (place === null || session === undefined) return others;
  return [
    {label: t('variables.rename'), icon: 'edit', run: () => void renameSession(session)},
    {label: t(session.status === 'archived' ? 'variables.reopen' : 'variables.archive'), icon: 'folder', run: () => void archiveSession(session)},
    {label: t('chat.assemble'), checked: session.assemble, run: () => void toggleAssembly(session)},
    {label: t('variables.compareBranches'), icon: 'compare', run: () => void openDialog('branch-diff', {session: place.session, target: null})},
    {},
    ...others,
    {},
    {label: t('variables.deleteBranch', {name: place.branch}), icon: 'trash', tone: 'danger', disabled: place.branch === 'main', run: () => void deleteBranch(place.session, place.branch)},
    {label: t('chat.deleteSession'), icon: 'trash', tone: 'danger', run: () => void deleteSession(session)},
  ];
}
