"""A whole answer, read and written. It is a stream told at once, so both ways go through the stream's own machines."""

from dataclasses import replace

from agentui.chat.reply import Reply, ReplyBuilder
from agentui.chat.request import WireRequest
from agentui.errors import UpstreamInvalid
from agentui.jsonio import Json
from agentui.vendors.openai_responses.errors import stream_failure
from agentui.vendors.openai_responses.events import ResponseEvents
from agentui.vendors.openai_responses.sealed import VENDOR
from agentui.vendors.openai_responses.shelf import Shelf
from agentui.vendors.openai_responses.stream import ResponsesStreamParser


def parse_reply(body: Json) -> Reply:
    """A response with the dialect taken off, its ``raw`` kept.

    Raises UpstreamInvalid for what is no response, and what the upstream says went wrong for one that failed.
    """
    if not isinstance(body, dict) or not isinstance(body.get("output"), list):
        raise UpstreamInvalid("The upstream's answer is no Responses API response: it has no output.", vendor=VENDOR)
    if body.get("status") == "failed":
        raise stream_failure(body.get("error"))
    builder = ReplyBuilder()
    builder.feed(ResponsesStreamParser().whole(body))
    reply = builder.reply()
    return replace(reply, raw=body, raw_vendor=VENDOR)


def render_reply(reply: Reply, wire: WireRequest, *, id: str, now: int, shelf: Shelf) -> Json:
    """The response object for the caller who sent ``wire``; the upstream's own where it spoke this dialect.

    ``id`` and ``now`` are for an upstream that tells neither; ``shelf`` keeps the items that are made here.
    """
    if reply.raw_vendor == VENDOR:
        return reply.raw
    events = ResponseEvents(wire, id=id, now=now)
    for delta in reply.deltas():
        events.feed(delta)
    shelf.put(events.response["output"])
    return events.response
