/** What was said on a branch: the floors that are held, more of them at either end, and the turn that is on its way. */
import {h, tags, useEffect, useLayoutEffect, useRef} from '../h.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {FailureBox} from '../ui/failure.js';
import {ErrorButton} from '../costs/ErrorButton.js';
import {Icon} from '../ui/icons.js';
import {SaidText, useEnd} from '../ui/said.js';
import {HeardCalls} from './Calls.js';
import {FloorView} from './FloorView.js';
import {Said} from './Said.js';
import {isAtEnd, loadEarlier, loadEnd, loadLater, setTalk, useTalk} from './talk.js';
import {readNewest} from './toolcalls.js';
import {cancelRun} from './turns.js';

const {div, p, span} = tags;

/** How near to an edge more is read, in pixels. */
const NEAR = 240;
const NOWHERE = Object.freeze({session: '', branch: ''});

/**
 * @param {{place: import('./talk.js').Place | null, visibility: import('./commands.js').Visibility | null, onVisibility: () => Promise<void>}} props
 */
export function TalkView({place, visibility, onVisibility}) {
  const talk = useTalk(place ?? NOWHERE);
  const {floors, turn, elsewhere} = talk;
  const newest = isAtEnd(talk) ? floors : null;
  const end = useEnd([newest, turn, elsewhere]);
  useStillness(end.element, talk.from, end.isAtEnd);
  useEffect(() => {
    if (place !== null && newest?.length) void readNewest(place.session);
  }, [place?.session, newest]);
  const isNew = turn !== null && (turn.kind !== 'draft' || turn.state === 'failed') && (turn.target === null || (turn.kind === 'edit' && turn.state !== 'failed'));
  return div(
    {
      ref: end.element,
      className: 'chat-floors',
      role: 'log',
      'aria-label': t('chat.said'),
      'aria-live': 'off',
      'aria-busy': talk.state === 'loading',
      tabIndex: 0,
      onScroll: (event) => {
        end.onScroll(event);
        const {scrollTop, scrollHeight, clientHeight} = event.currentTarget;
        if (place === null) return;
        if (scrollTop < NEAR) void loadEarlier(place);
        else if (scrollHeight - scrollTop - clientHeight < NEAR) void loadLater(place);
      },
    },
    place === null ? h(Nothing, {text: t('chat.empty')}) : null,
    place !== null && talk.state === 'failed' ? h(FailureBox, null, p(null, talk.error), h(Button, {label: t('variables.again'), onClick: () => void loadEnd(place)})) : null,
    talk.state === 'ready' && floors.length === 0 && turn === null ? h(Nothing, {text: t('chat.beginning')}) : null,
    place !== null && talk.from > 0
      ? div({className: 'chat-more'}, h(Button, {label: t('chat.earlier', {n: talk.from}), icon: 'arrowUp', tone: 'quiet', onClick: () => void loadEarlier(place)}))
      : null,
    place === null
      ? null
      : floors.map((floor, index) =>
          h(FloorView, {
            key: floor.id,
            place,
            floor,
            before: floors[index - 1] ?? null,
            isHead: talk.from + index === talk.total - 1,
            turn: turn?.target === floor.id ? turn : null,
            isIdle: turn === null || turn.state === 'failed',
            visibility,
            onVisibility,
          }),
        ),
    place !== null && !isAtEnd(talk)
      ? div(
          {className: 'chat-more'},
          h(Button, {label: t('chat.later', {n: talk.total - talk.from - floors.length}), icon: 'arrowDown', tone: 'quiet', onClick: () => void loadLater(place)}),
          h(Button, {label: t('chat.toEnd'), tone: 'quiet', onClick: () => void loadEnd(place)}),
        )
      : null,
    isNew && place !== null ? h(NewTurn, {place, turn}) : null,
    elsewhere !== null && place !== null ? h(Elsewhere, {place, elsewhere}) : null,
  );
}

/** @param {{text: string}} props */
function Nothing({text}) {
  return div({className: 'run-empty'}, h(Icon, {name: 'chat', size: 22}), p(null, text));
}

/** A turn whose floor is not kept yet. @param {{place: import('./talk.js').Place, turn: import('./talk.js').Turn}} props */
function NewTurn({place, turn}) {
  return div(
    {className: 'chat-floor'},
    turn.words === null ? null : h(Said, {role: 'user', text: turn.words}),
    h(HeardCalls, {calls: turn.calls}),
    turn.state === 'failed' ? null : h(Said, {role: 'assistant', text: turn.text, isStreaming: true}),
    turn.error ? h(FailedTurn, {place, error: turn.error}) : null,
  );
}

/** Why a turn gave nothing. @param {{place: import('./talk.js').Place, error: {code: string, message: string, details?: any}}} props */
export function FailedTurn({place, error}) {
  return h(
    FailureBox,
    null,
    p(null, error.message),
    h(ErrorButton, error),
    h(Button, {label: t('app.close'), tone: 'quiet', onClick: () => setTalk(place, {turn: null})}),
  );
}

/** What another client's turn has so far. @param {{place: import('./talk.js').Place, elsewhere: {floor: string, run: any}}} props */
function Elsewhere({place, elsewhere}) {
  return div(
    {className: 'said', 'data-t': 'said-elsewhere'},
    div(
      {className: 'said-head'},
      span({className: 'chip', role: 'status'}, h(Icon, {name: 'spinner', size: 12, className: 'spin'}), t('chat.elsewhere')),
      h(Button, {label: t('run.stop'), icon: 'stop', tone: 'quiet', onClick: () => void cancelRun(place).catch(() => undefined)}),
    ),
    elsewhere.run?.pending_output?.text ? h(SaidText, {text: elsewhere.run.pending_output.text, isStreaming: true}) : null,
  );
}

/**
 * Floors that are put before the others must not move those: what one reads stays where it is.
 * @param {import('react').RefObject<HTMLElement | null>} element
 * @param {number} from
 * @param {import('react').RefObject<boolean>} atEnd
 */
function useStillness(element, from, atEnd) {
  const before = useRef({from, top: 0, id: ''});
  useLayoutEffect(() => {
    const list = element.current;
    const kept = list?.querySelector(`[data-floor="${before.current.id}"]`);
    if (list && kept && before.current.from !== from && !atEnd.current) list.scrollTop += kept.getBoundingClientRect().top - before.current.top;
    before.current.from = from;
  }, [from]);
  useEffect(() => {
    const list = element.current;
    if (!list) return undefined;
    const look = () => {
      const edge = list.getBoundingClientRect().top;
      const first = [...list.querySelectorAll('[data-floor]')].find((one) => one.getBoundingClientRect().bottom > edge);
      before.current = {...before.current, id: first?.getAttribute('data-floor') ?? '', top: first?.getBoundingClientRect().top ?? 0};
    };
    list.addEventListener('scroll', look, {passive: true});
    return () => list.removeEventListener('scroll', look);
  }, []);
}
