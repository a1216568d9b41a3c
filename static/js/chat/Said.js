/** Something that was said. */
import {classes, h, tags} from '../h.js';
import {useStore} from '../state/store.js';
import {t} from '../words.js';
import {SaidText} from '../ui/said.js';
import {Markdown} from './Markdown.js';

const {div, p, span} = tags;

/** @param {{role: string, text: string, isStreaming?: boolean, marks?: string[], parts?: any[] | null}} props */
export function Said({role, text, isStreaming, marks = [], parts}) {
  const isMarkdown = useStore((state) => state.view.chatMarkdown);
  const others = (parts ?? []).filter((one) => one.type !== 'text');
  return div(
    {className: classes('said', `said-${role}`), 'data-t': `said-${role}`},
    div(
      {className: 'said-head'},
      span({className: 'said-who'}, t(`variables.role.${role}`)),
      marks.map((mark) => span({key: mark, className: 'chip chip-warn'}, mark)),
      others.map((one, index) => span({key: index, className: 'chip'}, one.name ?? one.filename ?? t(`chat.part.${one.type}`))),
    ),
    text !== '' || isStreaming ? h(isMarkdown ? Markdown : SaidText, {text, isStreaming}) : p({className: 'text-soft'}, t('run.saidNothing')),
  );
}
