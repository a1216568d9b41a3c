/** What can be done with runs by name. */
import {flushSync} from '../h.js';
import {leaveRun, setFollow} from '../state/runs.js';
import {store} from '../state/store.js';
import {activeTab} from '../state/tabs.js';
import {openDock} from '../state/view.js';
import {isAnswering, retry, send, stop, talkOf} from './conversation.js';
import {showPage} from './page.js';

/** @param {import('../state/types.js').State} state */
const hasTab = (state) => activeTab(state) !== null;

/** The input of the chat pane, where it is drawn. */
function input() {
  return /** @type {HTMLTextAreaElement | null} */ (document.getElementById('run-input'));
}

/** Bring the chat pane to the front with the cursor in it; in it already, send what was typed. */
function open() {
  const tab = activeTab();
  if (tab && input() && document.activeElement === input()) return send(tab, talkOf(tab.key).draft);
  // Drawn at once and not with the next picture, or the first letters that follow would go elsewhere.
  flushSync(() => openDock('run'));
  // A narrow panel may show another page than the chat.
  if (!input()) flushSync(() => showPage('chat'));
  input()?.focus();
}

/** @param {string} [text] */
function start(text) {
  const tab = activeTab();
  if (!tab) return;
  const draft = text ?? talkOf(tab.key).draft;
  if (draft.trim() === '') open();
  else send(tab, draft);
}

/** @type {import('../actions.js').Action[]} */
export const runActions = [
  {id: 'run.open', title: 'run.action.open', icon: 'play', keys: ['Ctrl+Enter'], global: true, when: hasTab, run: open},
  {id: 'run.start', title: 'run.action.start', icon: 'play', when: hasTab, run: start},
  {
    id: 'run.retry',
    title: 'run.action.retry',
    icon: 'refresh',
    when: (state) => talkOf(activeTab(state)?.key ?? '').messages.length > 0,
    run: () => {
      const tab = activeTab();
      if (tab) retry(tab);
    },
  },
  {
    id: 'run.stop',
    title: 'run.action.stop',
    icon: 'stop',
    keys: ['Alt+.'],
    global: true,
    when: (state) => isAnswering(talkOf(activeTab(state)?.key ?? '')),
    run: () => stop(activeTab()?.key ?? ''),
  },
  {id: 'run.preview', title: 'run.action.preview', icon: 'eye', keys: ['Ctrl+Shift+Enter'], global: true, when: hasTab, run: () => openDock('preview')},
  {id: 'run.follow', title: 'run.action.follow', icon: 'forward', run: () => setFollow(!store.get().runs.follow)},
  {id: 'run.leave', title: 'run.action.leave', icon: 'edit', when: (state) => state.runs.viewed !== null, run: () => void leaveRun()},
];
