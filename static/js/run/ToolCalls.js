/** The tools that ran here for one node: what each was asked, what it gave, and how long it took. */
import {Fragment, h, tags} from '../h.js';
import {duration} from '../state/times.js';
import {t} from '../words.js';
import {ToolCall} from '../ui/toolcall.js';
import {Value} from './JsonView.js';

const {h3, li, ol} = tags;

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
  return h(
    ToolCall,
    {tool: call.tool, status: call.status, time: call.end === null ? '' : duration(call.end - call.start), error: call.error},
    h(Value, {label: t('run.toolArguments'), value: call.arguments}),
    call.status === 'running' ? null : h(Value, {label: t('run.toolResult'), value: call.result}),
  );
}
