/** One floor of a talk: the question, the version of the answer that counts, and what can be done with them. */
import {classes, h, tags, useState} from '../h.js';
import {ErrorButton} from '../costs/ErrorButton.js';
import {AnswerCost} from '../costs/Cost.js';
import {forkFloor} from '../state/chats.js';
import {copyText} from '../state/copying.js';
import {openDialog} from '../state/dialogs.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {FailureBox} from '../ui/failure.js';
import {Icon} from '../ui/icons.js';
import {MenuButton} from '../ui/menu.js';
import {Composer} from '../ui/said.js';
import {FloorCalls, HeardCalls} from './Calls.js';
import {choosePage, drop, goBackTo, isHidden, showCalls, toggleHidden} from './commands.js';
import {Greeting} from './Greeting.js';
import {setEditing, showSent, useLook} from './look.js';
import {Said} from './Said.js';
import {setTalk} from './talk.js';
import {editAndGoOn, goOn, regenerate, retry} from './turns.js';
import {answerOf, answersOf, askedOf, isAnswer, questionOf, wordsOf} from './versions.js';

const {article, div, p, span} = tags;

/** @typedef {import('./talk.js').Place} Place */
/** @typedef {import('./talk.js').Floor} Floor */
/** @typedef {import('./talk.js').Turn} Turn */

/**
 * @typedef {object} FloorProps
 * @property {Place} place
 * @property {Floor} floor
 * @property {Floor | null} before
 * @property {boolean} isHead whether it is the newest of the branch
 * @property {Turn | null} turn the one that answers it anew
 * @property {boolean} isIdle whether a turn can begin
 * @property {import('./commands.js').Visibility | null} visibility
 * @property {() => Promise<void>} onVisibility
 */

/** @param {FloorProps} props */
export function FloorView(props) {
  const {place, floor, turn, visibility} = props;
  const {editing} = useLook();
  const answer = answerOf(floor);
  const hidden = isHidden(visibility, floor);
  const isAnswering = turn !== null && turn.kind !== 'edit' && turn.state !== 'failed';
  return article(
    {className: classes('chat-floor', hidden && 'chat-hidden'), 'data-floor': floor.id, 'aria-label': t('chat.floor', {number: String(floor.floor_no)})},
    askedOf(floor).map((message) =>
      editing?.message === message.id
        ? h(Editing, {key: message.id, ...props})
        : h(Said, {key: message.id, role: message.role, text: message.content, parts: /** @type {any} */ (message).parts, marks: hidden ? [t('chat.hiddenMark')] : []}),
    ),
    isAnswering ? h(HeardCalls, {calls: turn.calls}) : h(FloorCalls, {floor: floor.id}),
    isAnswering
      ? h(Said, {role: 'assistant', text: (turn.kind === 'continue' ? wordsOf(answer) : '') + turn.text, isStreaming: true})
      : (answer?.messages ?? []).map((message) =>
          !isAnswer(floor)
            ? h(Greeting, {key: message.id, place, text: message.content})
            : h(Said, {key: message.id, role: message.role, text: message.content, parts: /** @type {any} */ (message).parts, marks: answer?.is_partial ? [t('chat.partial')] : []}),
        ),
    turn?.error ? h(FailureBox, null, p(null, turn.error.message), h(ErrorButton, turn.error), h(Button, {label: t('app.close'), tone: 'quiet', onClick: () => setTalk(place, {turn: null})})) : null,
    isAnswering ? null : h(Tools, props),
  );
}

/** Say something else than was said. @param {FloorProps} props */
function Editing({place, floor, isIdle}) {
  const {editing} = useLook();
  const [text, setText] = useState(editing?.text ?? '');
  const go = () => {
    if (!editing || text.trim() === '' || !isIdle) return;
    setEditing(null);
    editAndGoOn(place, floor.id, editing.message, text);
  };
  return h(
    Composer,
    {
      label: t('chat.editLabel'),
      value: text,
      rows: 3,
      autoFocus: true,
      onChange: setText,
      onSend: go,
      onKey: (event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        setEditing(null);
        document.getElementById('chat-input')?.focus();
      },
    },
    span({className: 'text-soft'}, t('chat.editHint')),
    span({className: 'run-space'}),
    h(Button, {label: t('app.cancel'), tone: 'quiet', onClick: () => setEditing(null)}),
    h(Button, {label: t('chat.goOn'), icon: 'branch', tone: 'primary', type: 'submit', disabled: !isIdle || text.trim() === ''}),
  );
}

/** The line below a floor. @param {FloorProps} props */
function Tools(props) {
  const {place, floor, isHead, isIdle} = props;
  const answers = answersOf(floor);
  const now = answers.findIndex((page) => page.is_active);
  const isAnswered = isAnswer(floor);
  const partial = answers[now]?.is_partial ? answers[now] : null;
  return div(
    {className: 'chat-tools'},
    span({className: 'chat-number'}, t('chat.number', {number: String(floor.floor_no), n: floor.token_in + floor.token_out})),
    isAnswered ? h(AnswerCost, {floor: floor.id, stamp: `${answers.length} ${now} ${floor.token_in} ${floor.token_out}`}) : null,
    answers.length > 1 || (isHead && isAnswered)
      ? div(
          {className: 'chat-versions', role: 'group', 'aria-label': t('chat.versions')},
          h(Button, {label: t('chat.previous'), icon: 'arrowLeft', iconOnly: true, tone: 'quiet', disabled: now <= 0, onClick: () => void choosePage(place, answers[now - 1].id)}),
          span(null, `${now + 1}/${answers.length}`),
          now < answers.length - 1
            ? h(Button, {label: t('chat.next'), icon: 'arrowRight', iconOnly: true, tone: 'quiet', onClick: () => void choosePage(place, answers[now + 1].id)})
            : h(Button, {label: t('chat.another'), icon: 'arrowRight', iconOnly: true, tone: 'quiet', disabled: !isIdle || !isAnswered, onClick: () => retry(place, floor.id)}),
        )
      : null,
    isHead && isAnswered ? h(Button, {label: t('chat.regenerate'), icon: 'refresh', iconOnly: true, tone: 'quiet', disabled: !isIdle, onClick: () => regenerate(place, floor.id)}) : null,
    partial ? h(Button, {label: t('chat.continue'), icon: 'forward', disabled: !isIdle, onClick: () => goOn(place, floor.id)}) : null,
    partial ? h(Button, {label: t('chat.drop'), icon: 'trash', disabled: !isIdle, onClick: () => void drop(place, floor, partial.id)}) : null,
    span({className: 'run-space'}),
    h(MenuButton, {label: t('chat.menuOf', {number: String(floor.floor_no)}), icon: 'more', iconOnly: true, items: () => menuOf(props)}),
  );
}

/** @param {FloorProps} props @returns {import('../ui/menu.js').MenuItem[]} */
function menuOf({place, floor, before, isHead, isIdle, visibility, onVisibility}) {
  const question = questionOf(floor);
  const {id} = floor;
  const isOwn = floor.branch_id === undefined || floor.branch_id === place.branch;
  const byRange = isHidden(visibility, floor) && !(visibility?.hidden_floor_ids ?? []).includes(id);
  return [
    {label: t('chat.edit'), icon: 'edit', disabled: question === null, run: () => question && setEditing({floor: id, message: question.id, text: question.content})},
    {label: t('chat.continue'), icon: 'forward', disabled: !isIdle || !isAnswer(floor) || wordsOf(answerOf(floor)) === '', run: () => goOn(place, id)},
    {label: t('chat.another'), icon: 'refresh', disabled: !isIdle || !isAnswer(floor), run: () => retry(place, id)},
    {label: t('chat.copy'), icon: 'copy', run: () => void copyText(wordsOf(answerOf(floor)))},
    {},
    {label: t('chat.why'), icon: 'eye', run: () => showSent(id)},
    {label: t('chat.calls'), icon: 'waterfall', disabled: !isAnswer(floor), run: () => void showCalls(id)},
    {label: t('chat.compare'), icon: 'compare', run: () => void openDialog('compare-floors', {place, left: before?.id ?? id, right: id})},
    {},
    {label: t('chat.branchHere'), icon: 'branch', run: () => void forkFloor(place.session, floor)},
    {label: t('chat.back'), icon: 'undo', disabled: isHead || !isOwn || !isIdle, run: () => void goBackTo(place, floor)},
    {
      label: t(isHidden(visibility, floor) ? 'chat.show' : 'chat.hide'),
      icon: 'eye',
      disabled: byRange,
      run: () => void toggleHidden(place, floor, visibility).then((isDone) => (isDone ? onVisibility() : undefined)),
    },
  ];
}
