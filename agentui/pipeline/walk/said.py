"""What a node that called no model says, and the answer that is made of it."""

from collections.abc import Mapping

from agentui.chat.deltas import FinishReason
from agentui.chat.messages import Text, ToolCall
from agentui.chat.reply import Choice, Reply
from agentui.errors import NotFound, Unsupported
from agentui.ids import new_id
from agentui.jsonio import Json, dumps_text
from agentui.pipeline.run import Run
from agentui.pipeline.sink import Sink
from agentui.pipeline.tokens import estimate_tokens
from agentui.templating.core.values import best_text, text_of


def answer_text(out: Mapping[str, Json]) -> str:
    """The words of a node that called no model: its ``text``, else the last variable it set, else its best text."""
    text = out.get("text")
    if isinstance(text, str):
        return text
    variables = out.get("vars")
    if isinstance(variables, Mapping) and variables:
        last = list(variables.values())[-1]
        return last if isinstance(last, str) else best_text(last) or text_of(last)
    return best_text(dict(out))


async def answer_with(run: Run, sink: Sink, out: Mapping[str, Json]) -> None:
    """Answer a run's request with the words of a node that called no model, and the calls of tools that it hands on. Raises
    Unsupported and NotFound where no words are wanted."""
    match run.incoming.operation:
        case "count_tokens":
            await sink.tokens(estimate_tokens(run.incoming.chat), estimated=True)
        case "embeddings":
            raise Unsupported("This pipeline answers with text and makes no embeddings: choose one that calls a provider.")
        case "forward":
            raise NotFound("This pipeline answers with text and passes nothing on: choose one that calls a provider.")
        case "chat":
            run.reply = reply_of(run, answer_text(out), out.get("tool_calls"))
            await sink.reply(run.reply)


def reply_of(run: Run, text: str, calls: Json, finish: FinishReason = "stop") -> Reply:
    """An answer of these words and calls of tools, as OUT has them."""
    listed = calls if isinstance(calls, list) else []
    made = [_call_of(call) for call in listed if isinstance(call, Mapping) and {"id", "name", "arguments"} <= call.keys()]
    parts = (*((Text(text),) if text or not made else ()), *made)
    model = run.incoming.model or f"pipeline/{run.plan.id}"
    return Reply((Choice(parts, "tool_calls" if made else finish),), new_id("msg"), model, run.started_ms // 1000)


def _call_of(call: Mapping[str, Json]) -> ToolCall:
    """A call as OUT has it; arguments that are no JSON stand there as the model wrote them."""
    arguments = call["arguments"]
    return ToolCall(str(call["id"]), str(call["name"]), arguments if isinstance(arguments, str) else dumps_text(arguments))


def said_in(out: Mapping[str, Json]) -> str:
    """The words of the answering node."""
    said = out.get("response_text")
    return said if isinstance(said, str) else answer_text(out)
