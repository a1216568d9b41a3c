/** Short messages in the corner, and the region that screen readers listen to. */
import {createPortal, Fragment, h, tags, useEffect, useRef, useState} from '../h.js';
import {dismiss, holdNotices} from '../state/notices.js';
import {useStore} from '../state/store.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Icon} from '../ui/icons.js';
import {topLayer} from '../ui/layer.js';

const {div, span} = tags;
const ICONS = {info: 'info', success: 'check', warning: 'warning', error: 'error'};

export function Notices() {
  const notices = useStore((state) => state.notices);
  const spoken = useStore((state) => state.spoken);
  const dialogs = useStore((state) => state.dialogs);
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [host, setHost] = useState(document.body);
  // Asked at each step of time: a message that leaves under the hand takes along what would have told of the hand's leaving.
  useEffect(() => holdNotices(() => box.current?.matches(':hover, :focus-within') ?? false), []);
  // An open dialog makes everything outside of it inert: messages, with their buttons and for ears, have to be within. The dialogs stand
  // before the messages in the page, so this one has been opened when this is called.
  useEffect(() => setHost(topLayer()), [dialogs]);
  return createPortal(
    h(
      Fragment,
      null,
      div({className: 'visually-hidden', 'aria-live': 'polite', 'data-t': 'spoken'}, spoken),
      div(
        {ref: box, className: 'notices', role: 'region', 'aria-label': t('app.notices')},
        notices.map((notice) =>
          div(
            {key: notice.key, className: `notice notice-${notice.tone}`, role: notice.tone === 'error' ? 'alert' : 'status'},
            h(Icon, {name: ICONS[notice.tone]}),
            span({className: 'notice-text'}, notice.text),
            notice.action
              ? h(Button, {
                  label: notice.action.label,
                  tone: 'quiet',
                  onClick: () => {
                    dismiss(notice.key);
                    notice.action?.run();
                  },
                })
              : null,
            h(Button, {label: t('app.dismiss'), icon: 'close', iconOnly: true, tone: 'quiet', onClick: () => dismiss(notice.key)}),
          ),
        ),
      ),
    ),
    host,
  );
}
