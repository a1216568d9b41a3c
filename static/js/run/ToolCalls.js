/** The tools that ran here for one node: what each was asked, what it gave, and how long it took. */
import {Fragment, h, tags} from '../h.js';
import {t} from '../words.js';
import {Value} from './JsonView.js';
import {duration} from './times.js';

const {details, h3, li, ol, p, span, summary} = tags;

/** @typedef {import('../core/doc.js').ToolRun} ToolRun */

/** @param {{calls: ToolRun[]}} props */
export function ToolCalls({calls}) {
  return h(
    Fragment,
    null,
    h3(null, t('run.tools')),
    ol(
      {className: 'run-attempts', 'aria-label': t('run.tools')},
      ...calls.map((call) => li({key: call.id}, h(Call, {call}))),
    ),
  );
}

/** @param {{call: ToolRun}} props */
function Call({call}) {
  const isGood = call.status === 'success';
  return details(
    {className: 'run-more'},
    summary(
      null,
      call.tool,
      ' ',
      span({className: `chip ${isGood ? 'chip-good' : call.status === 'running' ? '' : 'chip-bad'}`}, t(`run.tool.${call.status}`)),
      call.end === null ? null : span({className: 'text-soft'}, ` ${duration(call.end - call.start)}`),
    ),
    call.error === null ? null : p({className: 'text-soft'}, call.error),
    h(Value, {label: t('run.toolArguments'), value: call.arguments}),
    call.status === 'running' ? null : h(Value, {label: t('run.toolResult'), value: call.result}),
  );
}
