"""What a node that called no model says, and the answer that is made of it."""

from collections.abc import Mapping

from agentui.chat.messages import Text
from agentui.chat.reply import Choice, Reply
from agentui.errors import NotFound, Unsupported
from agentui.ids import new_id
from agentui.jsonio import Json
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


async def answer_with(run: Run, sink: Sink, text: str) -> None:
    """Answer a run's request with the words of a node that called no model. Raises Unsupported and NotFound where no words are
    wanted."""
    match run.incoming.operation:
        case "count_tokens":
            await sink.tokens(estimate_tokens(run.incoming.chat), estimated=True)
        case "embeddings":
            raise Unsupported("This pipeline answers with text and makes no embeddings: choose one that calls a provider.")
        case "forward":
            raise NotFound("This pipeline answers with text and passes nothing on: choose one that calls a provider.")
        case "chat":
            model = run.incoming.model or f"pipeline/{run.plan.id}"
            run.reply = Reply((Choice((Text(text),), "stop"),), new_id("msg"), model, run.started_ms // 1000)
            await sink.reply(run.reply)


def said_in(out: Mapping[str, Json]) -> str:
    """The words of the answering node."""
    said = out.get("response_text")
    return said if isinstance(said, str) else answer_text(out)
