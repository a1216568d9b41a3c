/** The place to chat: a session's branch as a talk, and beside it what is remembered and what was sent. */
import {h, tags, useEffect, useLayoutEffect, useRef, useState} from '../h.js';
import {branchesOf, followTurns, loadList, SESSIONS} from '../state/chats.js';
import {notifyFailure} from '../state/notices.js';
import {shallow, useStore} from '../state/store.js';
import {loadSheet} from '../sheets.js';
import {loadArea, t} from '../words.js';
import {Waiting} from '../ui/empty.js';
import {Tablist} from '../ui/tablist.js';
import {Answer} from './Answer.js';
import {Checks} from './Checks.js';
import {readVisibility} from './commands.js';
import {Head} from './Head.js';
import {showPage, useLook} from './look.js';
import {Rules} from './Rules.js';
import {Sent} from './Sent.js';
import {State} from './State.js';
import {chosenPlace, followOthers, loadEnd, readElsewhere} from './talk.js';
import {TalkView} from './TalkView.js';
import {ToolQuestions} from './ToolQuestions.js';
import {Tools} from './Tools.js';
import {Values} from './Values.js';
import {Writes} from './Writes.js';

const {div, section} = tags;

/** Below this width what stands beside the talk is a page of its own, in pixels. */
const WIDE = 720;

export function ChatPanel() {
  const element = useRef(/** @type {HTMLDivElement | null} */ (null));
  const place = useStore(chosenPlace, shallow);
  // Nothing is drawn before the width is known: a field that moves would lose the cursor.
  const [isWide, setWide] = useState(/** @type {boolean | null} */ (null));
  useLayoutEffect(() => {
    const node = element.current;
    if (!node) return undefined;
    setWide(node.clientWidth >= WIDE);
    const observer = new ResizeObserver(([entry]) => setWide(entry.contentRect.width >= WIDE));
    observer.observe(node);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    void loadList(SESSIONS, {unlessKnown: true});
    const ends = [followTurns(), followOthers()];
    return () => ends.forEach((end) => end());
  }, []);
  useEffect(() => {
    if (place === null) return;
    void loadList(branchesOf(place.session));
    void loadEnd(place);
    void readElsewhere(place);
  }, [place]);
  return div(
    {ref: element, className: 'chat'},
    h(Head, {place}),
    isWide === null ? null : h(Pages, {place, isWide}),
  );
}

/** What stands beside the talk. @type {Record<Exclude<import('./look.js').PageName, 'talk'>, (props: {place: import('./talk.js').Place | null}) => any>} */
const BESIDE = {values: Values, memories: Memories, sent: Sent, tools: Tools, state: State, writes: Writes, rules: Rules, checks: Checks};

/** @param {{place: import('./talk.js').Place | null, isWide: boolean}} props */
function Pages({place, isWide}) {
  const {page} = useLook();
  const [visibility, setVisibility] = useState(/** @type {import('./commands.js').Visibility | null} */ (null));
  const refreshVisibility = async () => setVisibility(place === null ? null : await readVisibility(place));
  useEffect(() => void refreshVisibility(), [place]);
  const talk = section(
    {className: 'chat-talk', 'aria-label': t('chat.talk')},
    h(TalkView, {key: `${place?.session} ${place?.branch}`, place, visibility, onVisibility: refreshVisibility}),
    place === null ? null : h(ToolQuestions, {key: place.session, session: place.session}),
    h(Answer, {place}),
  );
  const chosen = isWide && page === 'talk' ? 'values' : page;
  const tabs = h(Tablist, {
    label: t('chat.beside'),
    className: 'chat-tabs',
    tabs: [
      ...(isWide ? [] : [{id: 'talk', label: t('chat.talk'), icon: 'chat'}]),
      {id: 'values', label: t('chat.values'), icon: 'variable'},
      {id: 'memories', label: t('chat.memories'), icon: 'note'},
      {id: 'sent', label: t('chat.sent'), icon: 'eye'},
      {id: 'tools', label: t('chat.tools'), icon: 'settings'},
      {id: 'state', label: t('chat.state'), icon: 'list'},
      {id: 'writes', label: t('chat.writes'), icon: 'edit'},
      {id: 'rules', label: t('chat.rules'), icon: 'file'},
      {id: 'checks', label: t('chat.checks'), icon: 'check'},
    ],
    value: chosen,
    onChange: (id) => showPage(/** @type {any} */ (id)),
    children: chosen === 'talk' ? talk : h(BESIDE[chosen], {key: place?.session, place}),
  });
  return isWide ? div({className: 'chat-wide'}, talk, section({className: 'chat-beside', 'aria-label': t('chat.beside')}, tabs)) : tabs;
}

/** What the chat knows beyond its window. A first visit does without it. @param {{place: import('./talk.js').Place | null}} props */
function Memories({place}) {
  const [Loaded, setLoaded] = useState(/** @type {((props: any) => any) | null} */ (null));
  useEffect(() => {
    Promise.all([import('./memories/MemoryPage.js'), loadArea('memories'), loadSheet('memories')]).then(
      ([{MemoryPage}]) => setLoaded(() => MemoryPage),
      (error) => notifyFailure(error, 'app.partFailed'),
    );
  }, []);
  return Loaded === null ? h(Waiting) : h(Loaded, {place});
}
