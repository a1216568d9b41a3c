/** Where one writes to the chat. */
import {h, tags} from '../h.js';
import {loadList, SESSIONS} from '../state/chats.js';
import {reasonOf} from '../state/failures.js';
import {writeMemory} from '../state/memory.js';
import {notify} from '../state/notices.js';
import {chooseSession} from '../state/session.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {MenuButton} from '../ui/menu.js';
import {Composer} from '../ui/said.js';
import {choosePage} from './commands.js';
import {setEditing} from './look.js';
import {isBusy, setTalk, useTalk} from './talk.js';
import {respond, retry, speakAgain, stop, writeForMe} from './turns.js';
import {answersOf, isAnswer, questionOf} from './versions.js';

const {span} = tags;

/** What is typed before there is a chat belongs to none. */
const NOWHERE = Object.freeze({session: '', branch: ''});
const TITLE = 60;

/** @param {{place: import('./talk.js').Place | null}} props */
export function Answer({place}) {
  const here = place ?? NOWHERE;
  const talk = useTalk(here);
  const busy = isBusy(talk);
  const send = () => {
    if (talk.draft.trim() === '' || busy) return;
    if (place === null) void begin(talk.draft);
    else respond(place, talk.draft);
  };
  return h(
    Composer,
    {
      id: 'chat-input',
      label: place === null ? t('chat.sayFirst') : t('chat.say'),
      value: talk.draft,
      readOnly: busy && talk.turn?.kind === 'draft', // each piece of the draft would take away what was typed
      onChange: (draft) => setTalk(here, {draft}),
      onSend: send,
      onKey: (event) => {
        if (place !== null && talk.draft === '' && !busy && onEmptyField(place, talk, event.key)) event.preventDefault();
      },
    },
    busy ? span({className: 'text-soft', role: 'status'}, t(`chat.phase.${talk.turn?.state === 'stopping' ? 'stopping' : (talk.turn?.phase ?? 'preparing')}`)) : span({className: 'text-soft chat-keys'}, t('chat.keys')),
    span({className: 'run-space'}),
    busy || place === null ? null : h(MenuButton, {key: 'more', label: t('chat.otherwise'), icon: 'more', iconOnly: true, items: () => otherwise(place, talk)}),
    busy && place !== null
      ? h(Button, {key: 'stop', label: t('run.stop'), icon: 'stop', tone: 'danger', disabled: talk.turn?.state === 'stopping', onClick: () => void stop(place)})
      : h(Button, {key: 'send', label: t('run.send'), icon: 'play', tone: 'primary', type: 'submit', disabled: talk.draft.trim() === ''}),
  );
}

/**
 * What one may do but send words.
 * @param {import('./talk.js').Place} place
 * @param {import('./talk.js').Talk} talk
 * @returns {import('../ui/menu.js').MenuItem[]}
 */
function otherwise(place, talk) {
  const isEmpty = talk.draft.trim() === '';
  return [
    {label: t('chat.speakAgain'), icon: 'forward', disabled: !isEmpty, run: () => speakAgain(place)},
    {label: t('chat.writeForMe'), icon: 'edit', disabled: !isEmpty, run: () => void writeForMe(place)},
  ];
}

/**
 * What keys do in an empty field: left and right go through the versions of the last answer, up edits the last question.
 * @param {import('./talk.js').Place} place
 * @param {import('./talk.js').Talk} talk
 * @param {string} key
 * @returns {boolean} whether something was done
 */
function onEmptyField(place, talk, key) {
  const floor = talk.floors.at(-1);
  if (!floor) return false;
  const question = questionOf(floor);
  if (key === 'ArrowUp' && question) {
    setEditing({floor: floor.id, message: question.id, text: question.content});
    return true;
  }
  const answers = answersOf(floor);
  const now = answers.findIndex((page) => page.is_active);
  const next = answers[now + (key === 'ArrowLeft' ? -1 : 1)];
  if (key === 'ArrowLeft' && next) void choosePage(place, next.id);
  else if (key === 'ArrowRight' && next) void choosePage(place, next.id);
  else if (key === 'ArrowRight' && isAnswer(floor)) retry(place, floor.id);
  else return false;
  return true;
}

/** Begin a chat with what was typed. @param {string} words */
async function begin(words) {
  try {
    const {data} = await writeMemory('POST', '/sessions', {title: words.trim().replaceAll(/\s+/g, ' ').slice(0, TITLE)});
    setTalk(NOWHERE, {draft: ''});
    chooseSession({session: data.id, branch: 'main'});
    respond({session: data.id, branch: 'main'}, words);
    await loadList(SESSIONS);
  } catch (error) {
    notify('error', 'app.failure', {message: reasonOf(error)});
  }
}
