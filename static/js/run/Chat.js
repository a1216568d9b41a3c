/** The chat pane: say something to the pipeline in front, as it is drawn, and watch the answer come. */
import {classes, Fragment, h, tags, useEffect, useRef, useState, useSyncExternalStore} from '../h.js';
import {modelCalls} from '../core/calls.js';
import {DIALECTS} from '../core/dialects.js';
import {shallow, useStore} from '../state/store.js';
import {activeTab, docOf, goTo, updateTab} from '../state/tabs.js';
import {openRun, viewRun} from '../state/runs.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {CheckField, SelectField, TextField} from '../ui/fields.js';
import {Icon} from '../ui/icons.js';
import {clear, isAnswering, retry, send, setTalk, stop, talkOf, talks} from './conversation.js';

const {button, div, form, p, pre, span, textarea} = tags;
/** How near to its end a talk must be to follow the words that come, in pixels. */
const NEAR_END = 48;
/** How many characters of a text are drawn at once. */
const MOST_WORDS = 20_000;

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
  const session = useStore((state) => [state.session.session, state.session.branch].filter(Boolean).join(' · '));
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
      session && talk.remembers ? span({className: 'chip'}, h(Icon, {name: 'branch', size: 12}), session) : null,
      span({className: 'run-space'}),
      h(Button, {label: t('run.retry'), icon: 'refresh', iconOnly: true, tone: 'quiet', disabled: isBusy || talk.messages.length === 0, onClick: () => withTab(retry)}),
      h(Button, {label: t('run.clear'), icon: 'trash', iconOnly: true, tone: 'quiet', disabled: talk.messages.length === 0, onClick: () => clear(key)}),
    ),
    isOpen ? h(Settings, {tab: key, talk, session}) : h(Messages, {talk}),
    h(Composer, {tab: key, talk, isBusy}),
  );
}

/** @param {(tab: import('../state/types.js').Tab) => void} run */
function withTab(run) {
  const tab = activeTab();
  if (tab) run(tab);
}

/** @param {{tab: string, talk: import('./conversation.js').Talk, session: string}} props */
function Settings({tab, talk, session}) {
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
    h(CheckField, {
      label: session ? t('run.remembers', {session}) : t('run.remembersNone'),
      checked: talk.remembers && session !== '',
      disabled: session === '',
      onChange: (remembers) => setTalk(tab, {remembers}),
    }),
  );
}

/** @param {{talk: import('./conversation.js').Talk}} props */
function Messages({talk}) {
  const element = useRef(/** @type {HTMLDivElement | null} */ (null));
  const isAtEnd = useRef(true);
  useEffect(() => {
    if (isAtEnd.current && element.current) element.current.scrollTop = element.current.scrollHeight;
  }, [talk.messages]);
  return div(
    {
      ref: element,
      className: 'run-messages',
      role: 'log',
      'aria-label': t('run.talk'),
      'aria-live': 'off',
      tabIndex: 0,
      onScroll: (event) => {
        const {scrollHeight, scrollTop, clientHeight} = event.currentTarget;
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END;
      },
    },
    talk.messages.length === 0
      ? div({className: 'run-empty'}, h(Icon, {name: 'chat', size: 22}), p(null, t('run.emptyTalk')))
      : talk.messages.map((message) => h(Said, {key: message.key, message})),
  );
}

/** @param {{message: import('./conversation.js').Message}} props */
function Said({message}) {
  const {role, state, error, run, about} = message;
  if (about !== undefined) return p({className: 'run-about'}, h(Icon, {name: 'refresh', size: 12}), about);
  return div(
    {className: classes('run-said', `run-said-${role}`, state === 'failed' && 'run-said-failed'), 'data-t': `said-${role}`},
    div(
      {className: 'run-said-head'},
      span({className: 'run-said-who'}, t(`run.role.${role}`)),
      state === 'stopped' ? span({className: 'chip chip-warn'}, h(Icon, {name: 'stop', size: 10}), t('run.stopped')) : null,
      run !== null
        ? button({type: 'button', className: 'run-link', onClick: () => void showRun(run)}, t('run.showRun'))
        : null,
    ),
    message.text !== '' || state === 'streaming'
      ? h(SaidText, {text: message.text, isStreaming: state === 'streaming'})
      : state === 'done' ? p({className: 'text-soft'}, t('run.saidNothing')) : null,
    error ? h(Failure, {error}) : null,
  );
}

/**
 * What was said. Of a very long text only a part is drawn: its end while it comes, its beginning afterwards.
 * @param {{text: string, isStreaming: boolean}} props
 */
function SaidText({text, isStreaming}) {
  const [shown, setShown] = useState(MOST_WORDS);
  const isLong = text.length > shown;
  const part = !isLong ? text : isStreaming ? `…${text.slice(-shown)}` : `${text.slice(0, shown)}…`;
  return h(
    Fragment,
    null,
    pre({className: 'run-said-text', 'data-t': 'said-text'}, part, isStreaming ? span({className: 'run-caret', 'aria-hidden': true}) : null),
    isLong && !isStreaming ? h(Button, {label: t('app.showMore', {n: text.length - shown}), tone: 'quiet', onClick: () => setShown(shown * 10)}) : null,
  );
}

/** The run of an answer: known already, or read from the server. @param {string} run */
async function showRun(run) {
  viewRun(run);
  await openRun(run);
}

/** @param {{error: {code: string, message: string, node: string | null, status: number | null}}} props */
function Failure({error}) {
  return div(
    {className: 'run-failure', role: 'alert'},
    h(Icon, {name: 'error'}),
    div(
      {className: 'run-failure-text'},
      p(null, plain(error), ' ', error.message, error.status === null ? '' : span({className: 'text-soft'}, ` (HTTP ${error.status})`)),
      error.node !== null
        ? button({type: 'button', className: 'run-link', onClick: () => goTo({node: error.node})}, t('run.goToNode', {node: error.node}))
        : null,
    ),
  );
}

/** What a failure means, for those that people meet most. @param {{code: string, status: number | null}} error */
function plain({code, status}) {
  const byStatus = `run.why.${code}.${status !== null && status >= 500 ? '5xx' : status}`;
  const keys = [byStatus, `run.why.${code}`];
  const known = keys.find((key) => t(key) !== key);
  return known === undefined ? '' : t(known);
}

/** @param {{tab: string, talk: import('./conversation.js').Talk, isBusy: boolean}} props */
function Composer({tab: key, talk, isBusy}) {
  const {calls, pins} = useStore((state) => {
    const tab = activeTab(state);
    return tab ? {calls: modelCalls(docOf(tab), state.nodeTypes, tab.pins).length, pins: Object.keys(tab.pins).length} : {calls: 0, pins: 0};
  }, shallow);
  const sendDraft = () => withTab((tab) => send(tab, talkOf(key).draft));
  return form(
    {
      className: 'run-composer',
      onSubmit: (event) => {
        event.preventDefault();
        sendDraft();
      },
    },
    textarea({
      className: 'input',
      id: 'run-input',
      rows: 2,
      'aria-label': t('run.say'),
      placeholder: t('run.say'),
      value: talk.draft,
      onChange: (event) => setTalk(key, {draft: event.target.value}),
      onKeyDown: (event) => {
        if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
        event.preventDefault();
        sendDraft();
      },
    }),
    div(
      {className: 'run-composer-line'},
      span({className: 'run-calls'}, t('run.calls', {n: calls})),
      pins
        ? button({type: 'button', className: 'run-link', onClick: () => updateTab(key, {pins: {}})}, h(Icon, {name: 'pin', size: 12}), t('run.unpinAll', {n: pins}))
        : null,
      span({className: 'run-space'}),
      isBusy
        ? h(Button, {label: t('run.stop'), icon: 'stop', tone: 'danger', onClick: () => stop(key)})
        : h(Button, {label: t('run.send'), icon: 'play', tone: 'primary', type: 'submit', disabled: talk.draft.trim() === ''}),
    ),
  );
}
