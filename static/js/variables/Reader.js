/** What was said on the chosen floor, page by page. */
import {classes, h, tags, useEffect, useRef, useState} from '../h.js';
import {copyText} from '../state/copying.js';
import {readMemory, withQuery} from '../state/memory.js';
import {useStore} from '../state/store.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Icon} from '../ui/icons.js';
import {loadList, pagesOf, useList} from '../state/chats.js';
import {reasonOf} from '../state/failures.js';
import {pageLabel} from '../state/labels.js';

const {article, div, h3, h4, header, p, section, span} = tags;
/** How much of a message is drawn at first. */
const SHOWN = 4000;
const STEP = 50;

export function Reader() {
  const floor = useStore((state) => state.session.floor);
  return floor === null ? null : h(FloorReader, {key: floor, floor});
}

/** @param {{floor: string}} props */
function FloorReader({floor}) {
  const page = useStore((state) => state.session.page);
  const pages = useList(pagesOf(floor));
  const [messages, setMessages] = useState(/** @type {any[] | null} */ (null));
  const [hasMore, setMore] = useState(false);
  const [error, setError] = useState(/** @type {string | null} */ (null));
  const reading = useRef(0);
  /** @param {any[]} known */
  const read = async (known) => {
    // A later reading has a later state of the floor: what an earlier one brings after it is dropped.
    const mine = (reading.current += 1);
    try {
      const {data, meta} = await readMemory(withQuery('/messages', {floor_id: floor, sort_by: 'seq', sort_order: 'asc', limit: STEP, offset: known.length}));
      if (mine !== reading.current) return;
      setMessages([...known, ...data]);
      setMore(meta.has_more);
      setError(null);
    } catch (failure) {
      if (mine === reading.current) setError(reasonOf(failure));
    }
  };
  useEffect(() => void loadList(pagesOf(floor), {unlessKnown: true}), [floor]);
  // A floor that is being written gets its pages later.
  useEffect(() => void read([]), [floor, pages.items]);
  const shown = pages.items.filter((one) => page === null || one.id === page);
  return section(
    {className: 'chats-reader', 'aria-label': t('variables.reader'), tabIndex: 0},
    h3(null, t('variables.reader')),
    error !== null ? p({className: 'field-error', role: 'alert'}, error) : null,
    messages === null && error === null ? p({role: 'status'}, h(Icon, {name: 'spinner', className: 'spin'}), t('app.loading')) : null,
    shown.map((one) =>
      section(
        {key: one.id, className: classes('chats-page', !one.is_active && 'chats-inactive'), 'aria-label': pageLabel(one)},
        h4(null, pageLabel(one)),
        (messages ?? []).filter((message) => message.page_id === one.id).map((message) => h(Message, {key: message.id, message})),
      ),
    ),
    messages?.length === 0 ? p({className: 'field-hint'}, t('variables.noMessages')) : null,
    hasMore ? h(Button, {label: t('variables.more', {n: STEP}), onClick: () => void read(messages ?? [])}) : null,
  );
}

/** @param {{message: any}} props */
function Message({message}) {
  const [shown, setShown] = useState(SHOWN);
  const text = String(message.content);
  return article(
    {className: classes('chats-message', `chats-role-${message.role}`)},
    header(
      null,
      span({className: 'chats-role'}, t(`variables.role.${message.role}`)),
      message.is_hidden ? span({className: 'chip'}, t('variables.hiddenMessage')) : null,
      h(Button, {label: t('variables.copyText'), icon: 'copy', iconOnly: true, tone: 'quiet', onClick: () => void copyText(text)}),
    ),
    div({className: 'chats-text'}, text.length > shown ? `${text.slice(0, shown)}…` : text),
    text.length > shown ? h(Button, {label: t('variables.showMore', {n: text.length - shown}), onClick: () => setShown(shown * 10)}) : null,
  );
}
