"""How many tokens: what a run has cost by its providers' own count, and a local guess at what a request would."""

from collections.abc import Mapping

from agentui.chat.deltas import Usage
from agentui.chat.estimates import message_tokens, text_tokens
from agentui.chat.reply import Reply
from agentui.chat.request import ChatRequest, Tool, WireRequest
from agentui.errors import AgentUIError
from agentui.jsonio import Json, dumps
from agentui.pipeline.run import Run
from agentui.vendors.base import Vendor


def tokens_of(run: Run) -> Usage:
    """The tokens of all calls that the run made, as the providers counted them; pinned nodes made none."""
    told = [usage_of(run, out) for node, out in tuple(run.out.items()) if node not in run.pins and isinstance(out, Mapping)]
    told.append(Usage(run.inner_usage.get("input_tokens"), run.inner_usage.get("output_tokens")))
    return Usage(_sum([usage.input for usage in told]), _sum([usage.output for usage in told]))


def told_tokens(run: Run) -> tuple[int | None, int | None]:
    """The input and output tokens of the calls whose answers were read anyway. One that was forwarded unread is not read for
    this."""
    input = output = None
    told = [out.get("usage") for node, out in run.out.items() if node not in run.pins]
    for usage in [*told, run.inner_usage] if run.inner_usage else told:
        if type(usage) is dict:
            if (count := _count(usage.get("input_tokens"))) is not None:
                input = count + (input or 0)
            if (count := _count(usage.get("output_tokens"))) is not None:
                output = count + (output or 0)
    return input, output


def usage_of(run: Run, out: Mapping[str, Json]) -> Usage:
    """The tokens that a node's OUT tells of: its ``usage``, else those in an answer that was passed through unread, if it is
    one in the caller's dialect."""
    usage = out.get("usage")
    if isinstance(usage, Mapping):
        return Usage(_count(usage.get("input_tokens")), _count(usage.get("output_tokens")))
    read = _forwarded_reply(run, out)
    return read.usage if read is not None and read.usage is not None else Usage()


def reply_of(run: Run, out: Mapping[str, Json]) -> Reply | None:
    """What the answering node, whose OUT this is, said: as it told, else as it is read in an answer that was passed through
    unread, if that is one in the caller's dialect."""
    return run.reply if run.reply is not None else _forwarded_reply(run, out)


def _forwarded_reply(run: Run, out: Mapping[str, Json]) -> Reply | None:
    result, vendor = out.get("result"), run.incoming.vendor
    if "usage" in out or vendor is None or not isinstance(result, Mapping):
        return None
    try:
        return run.services.vendors[vendor].parse_reply(dict(result))
    except AgentUIError:
        return None


def _sum(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _count(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def estimate_tokens(chat: ChatRequest) -> int:
    """Roughly the input tokens of a request: its messages, and the tools that it offers."""
    total = sum(map(message_tokens, chat.messages))
    for tool in chat.tools:
        if isinstance(tool, Tool):
            total += text_tokens(tool.name + (tool.description or "")) + len(dumps(dict(tool.schema or {}))) // 4
    return max(total, 1)


def estimate_outgoing(vendor: Vendor, wire: WireRequest) -> int | None:
    """Roughly the input tokens of a request in a vendor's dialect; None for one that is no conversation, or cannot be read."""
    if wire.operation in ("embeddings", "forward"):
        return None
    try:
        return estimate_tokens(vendor.parse_request(wire))
    except AgentUIError:
        return None
