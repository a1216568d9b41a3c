/** The chat pane: say something to the pipeline in front, as it is drawn, and watch the answer come. */
import {classes, h, tags, useEffect, useState, useSyncExternalStore} from '../h.js';
import {modelCalls} from '../core/calls.js';
import {DIALECTS} from '../core/dialects.js';
import {ErrorButton} from '../costs/ErrorButton.js';
import {loadList, SESSIONS, useList} from '../state/chats.js';
import {sessionLabel} from '../state/labels.js';
import {shallow, useStore} from '../state/store.js';
import {activeTab, docOf, goTo, updateTab} from '../state/tabs.js';
import {openRun, viewRun} from '../state/runs.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {CheckField, SelectField, TextField} from '../ui/fields.js';
import {FailureBox} from '../ui/failure.js';
import {Icon} from '../ui/icons.js';
import {Composer, SaidText, useEnd} from '../ui/said.js';
import {clear, isAnswering, joinedChat, retry, retryInChat, send, setTalk, stop, talkOf, talks} from './conversation.js';

const {button, div, p, span} = tags;

/** The talk of a tab. @param {string} tab */
function useTalk(tab) {
  return useSyncExternalStore(talks.subscribe, () => talkOf(tab));
}

export function Chat() {
  const key = useStore((state) => state.activeTab);
  return key === null ? p({className: 'run-empty'}, t('run.noDocument')) : h(TalkOfTab, {key, tab: key});
}

/** @param {{tab: string}} props */
function TalkOfTab({tab: key}) {
  const talk = useTalk(key);
  const [isOpen, setOpen] = useState(false);
  const isBusy = isAnswering(talk);
  return div(
    {className: 'run-chat'},
    div(
      {className: 'run-chat-head'},
      h(Button, {
        label: t('run.settings'),
        icon: 'settings',
        tone: 'quiet',
        pressed: isOpen,
        onClick: () => setOpen(!isOpen),
        rest: {'aria-expanded': isOpen},
      }),
      span({className: 'run-chat-how', title: `${t(`run.dialect.${talk.dialect}`)} · ${talk.model}`}, t(`run.dialect.${talk.dialect}`), ' · ', talk.model),
      span({className: 'run-space'}),
      h(Button, {label: t('run.retry'), icon: 'refresh', iconOnly: true, tone: 'quiet', disabled: isBusy || talk.messages.length === 0, onClick: () => withTab(retry)}),
      h(Button, {label: t('run.clear'), icon: 'trash', iconOnly: true, tone: 'quiet', disabled: talk.messages.length === 0, onClick: () => clear(key)}),
    ),
    isOpen ? h(Settings, {tab: key, talk}) : h(Messages, {talk}),
    h(Joining, {tab: key, talk}),
    h(Answering, {tab: key, talk, isBusy}),
  );
}

/** @param {(tab: import('../state/types.js').Tab) => void} run */
function withTab(run) {
  const tab = activeTab();
  if (tab) run(tab);
}

/** @param {{tab: string, talk: import('./conversation.js').Talk}} props */
function Settings({tab, talk}) {
  return div(
    {className: 'run-settings'},
    h(TextField, {label: t('run.system'), value: talk.system, rows: 3, placeholder: t('run.systemHint'), onChange: (system) => setTalk(tab, {system})}),
    div(
      {className: 'run-settings-grid'},
      h(SelectField, {
        label: t('run.dialectLabel'),
        value: talk.dialect,
        onChange: (dialect) => setTalk(tab, {dialect: /** @type {any} */ (dialect)}),
        options: DIALECTS.map((value) => ({value, label: t(`run.dialect.${value}`)})),
      }),
      h(TextField, {label: t('run.model'), value: talk.model, onChange: (model) => setTalk(tab, {model})}),
      h(TextField, {
        label: t('run.temperature'),
        value: talk.temperature,
        placeholder: t('run.temperatureHint'),
        error: talk.temperature !== '' && !/^\d+(?:[.,]\d+)?$/.test(talk.temperature.trim()) ? t('run.temperatureWrong') : null,
        onChange: (temperature) => setTalk(tab, {temperature}),
      }),
      h(TextField, {label: t('run.key'), type: 'password', value: talk.key, hint: t('run.keyHint'), onChange: (key) => setTalk(tab, {key})}),
    ),
    h(CheckField, {label: t('run.stream'), checked: talk.stream, onChange: (stream) => setTalk(tab, {stream})}),
  );
}

/**
 * Whether what is said goes into the chosen chat, with its title. Off until somebody says so: trying is no part of a story.
 * @param {{tab: string, talk: import('./conversation.js').Talk}} props
 */
function Joining({tab, talk}) {
  const {session, branch} = useStore((state) => ({session: state.session.session, branch: state.session.branch}), shallow);
  const known = useList(SESSIONS).items.find((one) => one.id === session);
  useEffect(() => {
    if (session !== null) void loadList(SESSIONS, {unlessKnown: true});
  }, [session]);
  if (session === null) return null;
  const title = known ? sessionLabel(known) : session;
  const isJoined = joinedChat(talk, {session, branch}) !== null;
  return div(
    {className: classes('run-joining', isJoined && 'run-joined')},
    h(CheckField, {
      label: t('run.joins', {title: branch === null || branch === 'main' ? title : `${title} · ${branch}`}),
      hint: isJoined ? t('run.joined') : undefined,
      checked: isJoined,
      onChange: (joins) => setTalk(tab, {joins: joins ? session : null}),
    }),
  );
}

/** @param {{talk: import('./conversation.js').Talk}} props */
function Messages({talk}) {
  const {element, onScroll} = useEnd([talk.messages]);
  return div(
    {
      ref: element,
      className: 'run-messages',
      role: 'log',
      'aria-label': t('run.talk'),
      'aria-live': 'off',
      tabIndex: 0,
      onScroll,
    },
    talk.messages.length === 0
      ? div({className: 'run-empty'}, h(Icon, {name: 'chat', size: 22}), p(null, t('run.emptyTalk')))
      : talk.messages.map((message, place) => h(Said, {key: message.key, message, isLast: place === talk.messages.length - 1})),
  );
}

/** @param {{message: import('./conversation.js').Message, isLast: boolean}} props */
function Said({message, isLast}) {
  const {role, state, error, run, about} = message;
  if (about !== undefined) return p({className: 'run-about'}, h(Icon, {name: 'refresh', size: 12}), about);
  return div(
    {className: classes('said', `said-${role}`, state === 'failed' && 'said-failed'), 'data-t': `said-${role}`},
    div(
      {className: 'said-head'},
      span({className: 'said-who'}, t(`run.role.${role}`)),
      state === 'stopped' ? span({className: 'chip chip-warn'}, h(Icon, {name: 'stop', size: 10}), t('run.stopped')) : null,
      run !== null
        ? button({type: 'button', className: 'run-link', onClick: () => void showRun(run)}, t('run.showRun'))
        : null,
    ),
    message.text !== '' || state === 'streaming'
      ? h(SaidText, {text: message.text, isStreaming: state === 'streaming'})
      : state === 'done' ? p({className: 'text-soft'}, t('run.saidNothing')) : null,
    error ? h(Failure, {error, isLast}) : null,
  );
}

/** The run of an answer: known already, or read from the server. @param {string} run */
async function showRun(run) {
  viewRun(run);
  await openRun(run);
}

/** @param {{error: {code: string, message: string, node: string | null, status: number | null, details?: any}, isLast: boolean}} props `isLast`: it can be asked for again */
function Failure({error, isLast}) {
  // What was refused to a turn of a chat is refused for another reason.
  const isOutside = useStore((state) => state.activeTab !== null && joinedChat(talkOf(state.activeTab), state.session) === null);
  const hasChat = useStore((state) => state.session.session !== null);
  return h(
    FailureBox,
    null,
    p(null, plain(error), ' ', error.message, error.status === null ? '' : span({className: 'text-soft'}, ` (HTTP ${error.status})`)),
    error.node !== null
      ? button({type: 'button', className: 'run-link', onClick: () => goTo({node: error.node})}, t('run.goToNode', {node: error.node}))
      : null,
    h(ErrorButton, error),
    error.code === NEEDS_CHAT && isLast && isOutside
      ? h(Button, {label: t(hasChat ? 'run.retryInChat' : 'run.retryInNewChat'), icon: 'chat', onClick: () => withTab((tab) => void retryInChat(tab))})
      : null,
  );
}

/** A variable of a chat was to be written outside of one. */
const NEEDS_CHAT = 'variable_not_writable';

/** What a failure means, for those that people meet most. @param {{code: string, status: number | null}} error */
function plain({code, status}) {
  const byStatus = `run.why.${code}.${status !== null && status >= 500 ? '5xx' : status}`;
  const keys = [byStatus, `run.why.${code}`];
  const known = keys.find((key) => t(key) !== key);
  return known === undefined ? '' : t(known);
}

/** @param {{tab: string, talk: import('./conversation.js').Talk, isBusy: boolean}} props */
function Answering({tab: key, talk, isBusy}) {
  const {calls, pins} = useStore((state) => {
    const tab = activeTab(state);
    return tab ? {calls: modelCalls(docOf(tab), state.nodeTypes, tab.pins).length, pins: Object.keys(tab.pins).length} : {calls: 0, pins: 0};
  }, shallow);
  const sendDraft = () => withTab((tab) => send(tab, talkOf(key).draft));
  return h(
    Composer,
    {id: 'run-input', label: t('run.say'), value: talk.draft, onChange: (draft) => setTalk(key, {draft}), onSend: sendDraft},
    span({className: 'run-calls'}, t('run.calls', {n: calls})),
    pins
      ? button({type: 'button', className: 'run-link', onClick: () => updateTab(key, {pins: {}})}, h(Icon, {name: 'pin', size: 12}), t('run.unpinAll', {n: pins}))
      : null,
    span({className: 'run-space'}),
    isBusy
      ? h(Button, {key: 'stop', label: t('run.stop'), icon: 'stop', tone: 'danger', onClick: () => stop(key)})
      : h(Button, {key: 'send', label: t('run.send'), icon: 'play', tone: 'primary', type: 'submit', disabled: talk.draft.trim() === ''}),
  );
}
