/** The tools that were called for an answer: while it comes, and afterwards with what they were asked and what they gave. */
import {h, tags} from '../h.js';
import {duration} from '../state/times.js';
import {t} from '../words.js';
import {JsonTree} from '../ui/JsonTree.js';
import {ToolCall} from '../ui/toolcall.js';
import {useCalls} from './toolcalls.js';

const {li, ol} = tags;

/** What a turn that is on its way has called. @param {{calls: readonly import('./toolcalls.js').Heard[]}} props */
export function HeardCalls({calls}) {
  if (calls.length === 0) return null;
  return h(List, null, calls.map(({id, tool, status, ms, error}) => li({key: id}, h(ToolCall, {tool, status, error, time: duration(ms)}))));
}

/** What the turns of a floor called. @param {{floor: string}} props */
export function FloorCalls({floor}) {
  const calls = useCalls(floor);
  if (calls.length === 0) return null;
  return h(
    List,
    null,
    calls.map((call) =>
      li(
        {key: call.id},
        h(
          ToolCall,
          {tool: call.tool_name, status: call.status, time: duration(call.duration_ms), error: call.error_message, marks: call.commit_outcome === 'discarded' ? [t('chat.callDiscarded')] : []},
          h(JsonTree, {label: t('run.toolArguments'), value: call.args}),
          h(JsonTree, {label: t('run.toolResult'), value: call.result}),
        ),
      )),
  );
}

/** @param {{children?: import('../h.js').ReactNode}} props */
function List({children}) {
  return ol({className: 'chat-calls', 'aria-label': t('chat.calls')}, children);
}
