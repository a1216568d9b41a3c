/** A call of a tool: which tool, how it went, how long it took, and behind that what it was asked and what it gave. */
import {h, tags} from '../h.js';
import {t} from '../words.js';

const {details, p, span, summary} = tags;

/**
 * @param {object} props
 * @param {string} props.tool
 * @param {string} props.status as in docs/tools-api.md
 * @param {string} [props.time] how long it took, in words
 * @param {string | null} [props.error] why it came to nothing
 * @param {string[]} [props.marks]
 * @param {import('../h.js').ReactNode} [props.children] arguments and result
 */
export function ToolCall({tool, status, time = '', error = null, marks = [], children}) {
  const tone = status === 'success' ? 'chip-good' : status === 'running' || status === 'queued' ? '' : 'chip-bad';
  return details(
    {className: 'run-more'},
    summary(
      null,
      tool,
      ' ',
      span({className: `chip ${tone}`}, t(`run.tool.${status}`)),
      marks.map((mark) => span({key: mark, className: 'chip'}, mark)),
      time === '' ? null : span({className: 'text-soft'}, ` ${time}`),
    ),
    error ? p({className: 'text-soft'}, error) : null,
    children,
  );
}
