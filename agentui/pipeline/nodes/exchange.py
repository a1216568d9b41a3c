"""One request to a model and its answer: sent, heard (streamed or whole), passed on, and kept as OUT."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

from agentui.chat.deltas import Delta, End, Failure, TextDelta
from agentui.chat.reply import Reply, ReplyBuilder
from agentui.chat.request import WireRequest
from agentui.errors import AgentUIError, UpstreamInvalid, UpstreamTruncated
from agentui.jsonio import InvalidJson, Json, dumps, loads
from agentui.pipeline.nodecontext import NodeContext
from agentui.pipeline.nodes.target import Target
from agentui.pipeline.trace import TRACE_HEADERS
from agentui.redaction import mask_url
from agentui.upstream.call import Attempt, UpstreamCall
from agentui.upstream.headers import returnable_response_headers
from agentui.upstream.http.stream import UpstreamStream
from agentui.vendors.base import Vendor
from agentui.vendors.sse import SseDecoder, SseEvent

MAX_ERROR_BYTES = 1024 * 1024
DRAIN_SECONDS = 0.25
SHOWN_CHARACTERS = 500
"""How much of a request's body the debug log shows (seed 003 part 8)."""

log = logging.getLogger("agentui.calls")


@dataclass(slots=True)
class OutgoingRequest:
    """What goes out, in which dialect, where to. Not frozen for speed alone (see ``Message``)."""

    vendor: Vendor
    wire: WireRequest
    target: Target


async def exchange(ctx: NodeContext, request: OutgoingRequest) -> Mapping[str, Json]:
    """Send a request, let the caller hear the answer if this node answers, and return OUT.

    Raises UpstreamRefused for an error answer, UpstreamTruncated for one that broke off, UpstreamInvalid for one that is
    not in the upstream's language.
    """
    wire = request.wire
    if wire.dropped:
        ctx.run.emit("run.warning", ctx.node_id, {"dropped": list(wire.dropped)})
        if ctx.answer is not None:
            ctx.answer.note_dropped(wire.dropped)
    call = make_call(ctx, "POST", request.target.url, request.target.headers, dumps(wire.body), wire)
    url, headers, body = call.url, call.headers, wire.body
    ctx.run.emit(
        "node.request",
        ctx.node_id,
        # Not the call itself: it knows the run, and the two would wait for the garbage collector together.
        lambda: {"method": "POST", "url": mask_url(url), "headers": dict(headers), "body": body},
    )
    if log.isEnabledFor(logging.DEBUG):
        shown = ctx.run.redactor.redact(dumps(body).decode())[:SHOWN_CHARACTERS]
        log.debug("%s calls %s at %s: %s", ctx.node_id, request.vendor.name, mask_url(url), shown)
    try:
        async with ctx.services.upstream.open(call) as stream:
            if ctx.answer is not None:
                ctx.answer.note_headers(returnable_response_headers(stream.headers))
            if stream.status >= 400:
                raise request.vendor.parse_error(stream.status, stream.headers, await stream.read(MAX_ERROR_BYTES))
            if wire.operation != "chat":
                return await _side_operation(ctx, request, _json(await stream.read(ctx.services.max_reply)))
            if stream.content_type == "text/event-stream":
                return await _streamed(ctx, request, stream)
            return await _whole(ctx, request, await stream.read(ctx.services.max_reply))
    except AgentUIError as error:
        error.details.setdefault("host", urlsplit(call.url).hostname)
        raise


def make_call(
    ctx: NodeContext, method: str, url: str, headers: Mapping[str, str], body: bytes | None, wire: WireRequest | None
) -> UpstreamCall:
    """An upstream call under the run's clocks, whose attempts the canvas hears of and whose keys it never sees.

    ``wire`` is what is asked, for traces; None where nobody can tell.
    """
    run = ctx.run
    run.redactor.register_headers(headers)
    trace = run.trace
    if trace is not None:
        # The upstream is told of each attempt's own span.
        headers = {name: value for name, value in headers.items() if name.lower() not in TRACE_HEADERS}

    def report(attempt: Attempt) -> None:
        run.emit("node.attempt", ctx.node_id, partial(_attempt_data, attempt, run.started))
        if trace is not None:
            trace.end_attempt(ctx.node_id, attempt)

    return UpstreamCall(
        method=method,
        url=url,
        headers=headers,
        body=body,
        timeouts=ctx.services.timeouts,
        deadline=run.deadline,
        node=ctx.node_id,
        on_attempt=report,
        attempt_headers=None if trace is None else partial(trace.begin_attempt, ctx.node_id, wire),
    )


def _attempt_data(attempt: Attempt, started: float) -> dict[str, Json]:
    """An attempt for the waterfall: moments in milliseconds since the run began."""

    def since(moment: float | None) -> float | None:
        return None if moment is None else round((moment - started) * 1000, 3)

    return {
        "number": attempt.number,
        "host": attempt.host,
        "started_ms": since(attempt.started),
        "connected_ms": since(attempt.connected),
        "first_byte_ms": since(attempt.first_byte),
        "status": attempt.status,
        "error": attempt.error,
        "wait_s": attempt.wait,
    }


async def _whole(ctx: NodeContext, request: OutgoingRequest, body: bytes) -> Mapping[str, Json]:
    """An answer in one piece."""
    ctx.run.heard_bytes += len(body)
    reply = request.vendor.parse_reply(_json(body))
    text = reply.text
    if text:
        ctx.run.emit("node.chunk", ctx.node_id, {"text": text})
    await _remember(ctx, request.vendor, reply)
    if ctx.answer is not None:
        await ctx.answer.reply(reply, body)
    return reply_out(reply, text, reply.raw)


async def _streamed(ctx: NodeContext, request: OutgoingRequest, stream: UpstreamStream) -> Mapping[str, Json]:
    """An answer in pieces: each read is understood, kept and passed on before the next."""
    vendor = request.vendor
    reader = StreamReader(ctx, vendor)
    async for chunk in stream.chunks():
        await reader.take(chunk)
        if reader.saw_marker:
            break
    await reader.end()
    if reader.saw_marker and not stream.is_over:
        await _drain(stream)
    reply = reader.builder.reply()
    await _remember(ctx, vendor, reply)
    return reply_out(reply, reply.text, vendor.render_reply(reply, request.wire))


class StreamReader:
    """Reads one streamed answer: understands it, keeps it and passes it on."""

    def __init__(self, ctx: NodeContext, vendor: Vendor) -> None:
        self.ctx = ctx
        self.vendor = vendor
        self.builder = ReplyBuilder()
        self.saw_marker = False
        self._decoder = SseDecoder(ctx.services.max_event)
        self._left = ctx.services.max_stream
        self._parser = vendor.stream_parser()

    async def take(self, chunk: bytes) -> None:
        """Understand the next bytes and pass them on.

        Raises UpstreamInvalid for what is not in the upstream's language and for more than may be kept, and the error that
        the upstream told in its stream.
        """
        self.ctx.run.heard_bytes += len(chunk)
        self._left -= len(chunk)
        if self._left < 0:
            # All of it is kept until the run ends: words without end would fill the memory.
            limit = self.ctx.services.max_stream
            raise UpstreamInvalid(f"The upstream's streamed answer is larger than {limit} bytes.", limit=limit)
        events = self._decoder.feed(chunk)
        if not events:
            return
        feed = self._parser.feed
        deltas: list[Delta] = []
        for number, event in enumerate(events):
            meant = feed(event)
            if meant and type(meant[-1]) is Failure:
                await self._pass_on(events[:number], deltas)
                raise meant[-1].error
            deltas += meant
        self.saw_marker = bool(deltas) and type(deltas[-1]) is End
        await self._pass_on(events, deltas)

    async def end(self) -> None:
        """The bytes are over. Raises UpstreamTruncated unless the answer is whole."""
        if self.saw_marker:
            return
        tail = self._parser.close()
        if not self._decoder.is_clean or not any(isinstance(delta, End) for delta in tail):
            raise UpstreamTruncated("The upstream's answer broke off before its end.")
        await self._pass_on((), tail)

    async def _pass_on(self, events: Sequence[SseEvent], deltas: Sequence[Delta]) -> None:
        """Keep what was said, and pass it on."""
        self.builder.feed(deltas)
        for delta in deltas:
            if type(delta) is TextDelta:
                self.ctx.emit_chunk(delta.text)
        if self.ctx.answer is not None:
            await self.ctx.answer.send(self.vendor.name, events, deltas)


async def _drain(stream: UpstreamStream) -> None:
    """Read the few bytes after the end marker, so that the connection can serve again; a server that keeps it open
    loses it."""
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in stream.chunks():
                pass
    except (TimeoutError, AgentUIError):
        return


async def _side_operation(ctx: NodeContext, request: OutgoingRequest, body: Json) -> Mapping[str, Json]:
    """A token count or embeddings."""
    if request.wire.operation == "count_tokens":
        assert request.vendor.count_tokens is not None
        tokens = request.vendor.count_tokens.parse_reply(body)
        if ctx.answer is not None:
            await ctx.answer.tokens(tokens, estimated=False)
        return {"result": body, "response_text": str(tokens)}
    assert ctx.incoming.wire is not None and request.vendor.embeddings is not None
    answer = request.vendor.embeddings.parse_reply(body, ctx.incoming.wire)
    if ctx.answer is not None:
        await ctx.answer.document(answer)
    return {"result": body, "response_text": ""}


def _json(body: bytes) -> Json:
    try:
        return loads(body)
    except InvalidJson as error:
        raise UpstreamInvalid("The upstream's answer is not JSON.", begins=body[:200].decode("utf-8", "replace")) from error


async def _remember(ctx: NodeContext, vendor: Vendor, reply: Reply) -> None:
    """Keep signed thoughts for callers whose dialect cannot carry them back."""
    if vendor.name != ctx.incoming.vendor:
        await ctx.services.continuity.share(vendor.name, reply)


def reply_out(reply: Reply, text: str, result: Json) -> dict[str, Json]:
    """A reply as OUT: the provider's JSON, and what pipelines mostly want of it. ``text`` is the reply's."""
    choice = reply.choices[0] if reply.choices else None
    calls = choice.tool_calls if choice else ()
    usage = reply.usage
    return {
        "result": result,
        "response_text": text,
        "usage": None
        if usage is None
        else {
            "input_tokens": usage.input,
            "output_tokens": usage.output,
            "total_tokens": usage.total,
            "cache_read_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
            "reasoning_tokens": usage.reasoning,
        },
        "finish_reason": choice.finish if choice else None,
        "tool_calls": [{"id": call.id, "name": call.name, "arguments": _arguments(call.arguments)} for call in calls],
    }


def _arguments(text: str) -> Json:
    """Arguments as JSON; a model's broken JSON stays text."""
    try:
        return loads(text or "{}")
    except InvalidJson:
        return text
