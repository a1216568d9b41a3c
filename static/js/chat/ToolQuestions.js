/** What a chat asks once of each tool that came from elsewhere and cannot be undone: whether models may call it here. */
import {h, tags, useEffect, useState} from '../h.js';
import {onToolsChanged, tellToolsChanged} from '../state/toolnews.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Icon} from '../ui/icons.js';
import {allow, effectOf, readAllowed, undecided, withTools} from './allowed.js';

const {code, div, li, span, ul} = tags;

/** @param {{session: string}} props */
export function ToolQuestions({session}) {
  const [read, setRead] = useState(/** @type {import('./allowed.js').Allowed | null} */ (null));
  const [times, setTimes] = useState(0);
  useEffect(() => onToolsChanged(() => setTimes((count) => count + 1)), []);
  useEffect(() => {
    let isStale = false;
    // Where it cannot be read, the page of the tools says so.
    void readAllowed(session, {unlessOff: true}).then((found) => isStale || setRead('error' in found ? null : found));
    return () => {
      isStale = true;
    };
  }, [session, times]);
  const asked = read === null ? [] : undecided(read);
  if (read === null || asked.length === 0) return null;
  /** @param {import('./allowed.js').Tool} tool @param {boolean} isAllowed */
  const decide = async (tool, isAllowed) => {
    await allow(session, withTools(read.permissions, [tool], isAllowed, read.tools));
    tellToolsChanged();
  };
  return div(
    {className: 'chat-questions', role: 'group', 'aria-label': t('chat.toolQuestions')},
    div({className: 'chat-questions-head'}, h(Icon, {name: 'info', size: 16}), span(null, t('chat.toolQuestions'))),
    ul(
      null,
      asked.map((tool) =>
        li(
          {key: tool.name},
          span({className: 'chat-question'}, code(null, tool.name), ' ', span({className: 'text-soft'}, effectOf(tool), ' ', tool.description)),
          h(Button, {label: t('chat.allow'), onClick: () => void decide(tool, true), rest: {'aria-label': t('chat.toolAllow', {name: tool.name})}}),
          h(Button, {label: t('chat.refuse'), tone: 'quiet', onClick: () => void decide(tool, false), rest: {'aria-label': t('chat.toolRefuse', {name: tool.name})}}),
        ),
      ),
    ),
  );
}
