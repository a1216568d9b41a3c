/** What is wrong with the document in front; each line leads to its place. */
import {classes, h, tags} from '../h.js';
import {MendButton} from '../inspector/MendButton.js';
import {useStore} from '../state/store.js';
import {activeTab, goTo} from '../state/tabs.js';
import {t} from '../words.js';
import {Icon} from '../ui/icons.js';

const {button, code, div, li, p, span, ul} = tags;

/** @type {import('../state/types.js').Problem[]} */
const NONE = [];

export function Problems() {
  const problems = useStore((state) => activeTab(state)?.problems ?? NONE);
  const complaints = useStore((state) => state.server.complaints);
  const isUnchecked = useStore((state) => activeTab(state)?.valid === null);
  return div(
    {className: 'problems'},
    isUnchecked ? p({className: 'panel-empty'}, h(Icon, {name: 'help'}), t('app.notChecked')) : null,
    problems.length === 0 && !isUnchecked ? p({className: 'panel-empty'}, h(Icon, {name: 'check', className: 'text-good'}), t('app.noProblems')) : null,
    ul(
      {className: 'problem-list'},
      problems.map((problem, position) => li({key: position, className: 'problem-line'}, h(Line, {problem}), h(MendButton, {problem}))),
    ),
    complaints.length
      ? ul(
          {className: 'problem-list', 'aria-label': t('app.serverComplaints')},
          complaints.map((text, position) => li({key: position, className: 'problem'}, h(Icon, {name: 'folder', className: 'text-warn'}), span(null, text))),
        )
      : null,
  );
}

/** @param {{problem: import('../state/types.js').Problem}} props */
function Line({problem}) {
  const isError = problem.severity === 'error';
  const place = [problem.node, problem.field, problem.line ? `${problem.line}:${problem.column ?? 1}` : null].filter(Boolean).join(' · ');
  return button(
    {type: 'button', className: 'problem', onClick: () => goTo({...problem})},
    h(Icon, {name: isError ? 'error' : 'warning', className: classes(isError ? 'text-bad' : 'text-warn')}),
    span({className: 'visually-hidden'}, t(isError ? 'app.error' : 'app.warning')),
    span({className: 'problem-text'}, problem.message),
    place ? code({className: 'problem-place'}, place) : null,
  );
}

/** How many problems the document in front has, for a badge. @param {import('../state/types.js').State} state */
export function problemCount(state) {
  const n = activeTab(state)?.problems.length ?? 0;
  return n ? String(n) : '';
}
