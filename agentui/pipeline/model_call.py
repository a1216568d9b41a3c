"""A request to a model, and its answer as it comes in: an iterator of pieces, whoever consumes them."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, TypeAlias

from agentui.chat.deltas import Delta, End, Failure, Finish, OpaqueDelta, Start, UsageDelta
from agentui.chat.origin import origin_of
from agentui.chat.reply import Reply
from agentui.chat.request import WireRequest
from agentui.chat.stops import StopFilter
from agentui.chat.wrapping import Unwrapper
from agentui.errors import AgentUIError, UpstreamError, UpstreamInvalid, UpstreamRefused, UpstreamTruncated
from agentui.jsonio import InvalidJson, Json, held_when_parsed, loads, work_of
from agentui.pipeline.events import parsed
from agentui.pipeline.incoming import Incoming
from agentui.pipeline.kept_objects import AnswerNotes, guard_of, notes_of
from agentui.pipeline.metering import OutgoingCall, Tally, closing_tally, unseen_tokens
from agentui.pipeline.node_context import NodeContext
from agentui.redaction import mask_url
from agentui.threads import LONG, apart, in_thread
from agentui.upstream.call import Attempt, UpstreamCall
from agentui.upstream.headers import hops_of, returnable_response_headers
from agentui.upstream.http.request import BodyStream
from agentui.upstream.http.stream import UpstreamStream
from agentui.vendors.amending import amended, foreseen, lasting
from agentui.vendors.base import OutputLimit, Vendor
from agentui.vendors.passed import passed_route
from agentui.vendors.sse import SseDecoder, SseEvent

_SSE_BEGINS = (b"data:", b"event:", b": ", b"id:", b"retry:")
"""How a stream of events begins, whatever its content type says."""
MAX_AMENDMENTS = 3
"""How often a request is sent again without something that the model refuses: each refusal names one thing."""
MAX_MALFORMED = 1
"""How often a request is sent again whose answer was nothing but a malformed call."""
CAP_HEADER = "x-agentui-output-cap"
"""Tells the most tokens that an answer may have where the request sets no limit and a budget does."""
NO_HEADERS: Mapping[str, str] = {}
MAX_ERROR_BYTES = 1024 * 1024
DRAIN_SECONDS = 0.25
SHOWN_CHARACTERS = 500
"""How much of a request's body the debug log shows (seed 003 part 8)."""
TRACE_HEADERS = frozenset({"traceparent", "tracestate"})
"""The headers that name a span to the next server (W3C Trace Context)."""

_WORDLESS = frozenset({Start, UsageDelta, OpaqueDelta, Finish, End})
"""What an answer has that has said nothing: where a piece is one of these alone, nobody has heard anything yet."""

log = logging.getLogger("agentui.calls")


@dataclass(slots=True)
class ModelRequest:
    """What goes out, in which dialect, where to, and through which proxy (as ``UpstreamCall`` has it).

    Not frozen for speed alone (see ``Message``).
    """

    vendor: Vendor
    wire: WireRequest
    url: str
    headers: Mapping[str, str]
    proxy: str = ""


class StreamedPiece(NamedTuple):
    """What one read of a stream brought: the events as the vendor wrote them, and what they mean. The last piece may have no
    events: some dialects say only at the end of the bytes what their last event meant."""

    events: Sequence[SseEvent]
    deltas: Sequence[Delta]


class WholeReply(NamedTuple):
    """An answer in one piece, and the bytes it came in."""

    reply: Reply
    body: bytes


ModelPiece: TypeAlias = StreamedPiece | WholeReply


def call_model(ctx: NodeContext, request: ModelRequest) -> AsyncGenerator[ModelPiece, None]:
    """Send a chat request and yield its answer: one ``WholeReply``, or a ``StreamedPiece`` for every read as it comes.

    The upstream is read no faster than the pieces are taken. Leaving early closes the connection (``aclosing``).
    Raises UpstreamRefused for an error answer, UpstreamTruncated for one that broke off, UpstreamInvalid for one that is not
    in the upstream's language or ends with a malformed call, and the error that the upstream tells in its stream.
    """
    # The other dialects' streams do not pay for the second look.
    return _well_formed(ctx, request) if request.vendor.ends_in_malformed_calls else _answer(ctx, request)


async def _well_formed(ctx: NodeContext, request: ModelRequest) -> AsyncGenerator[ModelPiece, None]:
    """The answer, asked for once more where it ends with a malformed call before it said anything.

    Gemini ends so (MALFORMED_FUNCTION_CALL, UNEXPECTED_TOOL_CALL) when the model wrote something like a call that its server
    cannot read. Asked again it mostly succeeds; an answer that has no words and no call ends an agent's work without a reason.
    Raises UpstreamInvalid, which callers try again and for which a further target stands in.
    """
    for left in range(MAX_MALFORMED, -1, -1):
        held: list[ModelPiece] | None = []
        async with aclosing(_answer(ctx, request)) as pieces:
            async for piece in pieces:
                if isinstance(piece, WholeReply):
                    is_malformed = any(choice.finish == "malformed_call" for choice in piece.reply.choices)
                else:
                    is_malformed = any(type(delta) is Finish and delta.reason == "malformed_call" for delta in piece.deltas)
                    if held is not None and any(type(delta) not in _WORDLESS for delta in piece.deltas):
                        for before in held:
                            yield before
                        held = None
                if is_malformed:
                    break
                if held is None or isinstance(piece, WholeReply):
                    yield piece
                else:
                    held.append(piece)
            else:
                for before in held or ():
                    yield before
                return
        if held is None or not left:
            raise UpstreamInvalid("The model wrote a call of a function that cannot be read (malformed call). Try again.")


async def _answer(ctx: NodeContext, request: ModelRequest) -> AsyncGenerator[ModelPiece, None]:
    """The answer of the upstream, as ``call_model`` has it."""
    cutter = _Cutter(request.wire) if request.wire.cut is not None or request.wire.is_wrapped else None
    notes = None if ctx.services.objects is None else _notes_of(ctx, request)
    async with _answering(ctx, request) as (stream, tally, shown):
        first = b""
        if (is_stream := stream.content_type == "text/event-stream") is False and request.wire.stream:
            # Some servers announce their events as plain text.
            first = await stream.next() if stream.content_type == "text/plain" else b""
            is_stream = first.lstrip().startswith(_SSE_BEGINS)
        if not is_stream:
            body = first + await stream.read(ctx.services.max_reply)
            ctx.run.received_bytes += held_when_parsed(body)
            parse = partial(request.vendor.parse_reply, origin=origin_of(request.url))
            whole = WholeReply(await apart(work_of(body), partial(_whole, parse, body, cutter)), body)
            if tally is not None:
                tally.replied(whole.reply)
            if notes is not None:
                await notes.replied(whole.reply.id, body)
            yield whole
            return
        reader = StreamReader(request.vendor, ctx.services.max_event, ctx.services.max_stream, origin_of(request.url))
        async for chunk in stream.chunks() if not first else _all_chunks(first, stream):
            ctx.run.received_bytes += held_when_parsed(chunk)
            # An event of megabytes holds whole pictures, or a hundred thousand values.
            piece = reader.feed(chunk) if reader.held <= LONG else await in_thread(partial(reader.feed, chunk))
            if piece is not None:
                if notes is not None:
                    await notes.heard(piece.events)
                if tally is not None:
                    tally.heard(piece.deltas)
                    tally.is_whole = reader.is_over
                    piece = piece._replace(events=shown(piece.events))
                yield piece if cutter is None else cutter.piece(piece)
            if reader.failure is not None:
                raise reader.failure
            if cutter is not None and cutter.is_over:
                return  # the connection is closed, and the upstream stops
            if ctx.run.has_no_deadline:
                stream.release_deadline()
            if reader.is_over:
                break
        if not reader.is_over:
            tail = reader.close()
            if tally is not None:
                tally.heard(tail.deltas)
                tally.is_whole = True
            yield tail if cutter is None else cutter.piece(tail)
        elif not stream.is_over:
            await _drain(stream)


def _whole(parse: Callable[[Json], Reply], body: bytes, cutter: "_Cutter | None") -> Reply:
    """An answer in one piece. Raises UpstreamInvalid."""
    reply = parse(_parsed(body))
    reply.check_size()
    return reply if cutter is None else cutter.whole(reply)


def _notes_of(ctx: NodeContext, request: ModelRequest) -> AnswerNotes | None:
    """What notes whose the answer is, where it is kept under a key of the server."""
    return notes_of(guard_of(ctx, request.url, request.headers), request.vendor, request.wire.body)


async def _all_chunks(first: bytes, stream: UpstreamStream) -> AsyncGenerator[bytes, None]:
    """The bytes of a stream of which the first were read already."""
    yield first
    async for chunk in stream.chunks():
        yield chunk


_Shown: TypeAlias = Callable[[Sequence[SseEvent]], Sequence[SseEvent]]
"""The events of a stream that the caller would have had."""
_Opened: TypeAlias = tuple[UpstreamStream, Tally | None, _Shown]
"""An answer, what counts it where somebody asked for that, and what of its events is the caller's."""


@asynccontextmanager
async def _answering(ctx: NodeContext, request: ModelRequest) -> AsyncGenerator[_Opened, None]:
    """The answer to a chat request, its headers shown. What the upstream refuses by name and the request can do without is left
    out, and it is asked again (``vendors.amending``). Raises the error that the answer is."""
    asked = ctx.incoming
    own = asked.vendor == request.vendor.name and request.wire.model == asked.model and not asked.is_made_here
    refusals, place = ctx.services.refusals, (ctx.run.account, request.url, request.wire.model)
    for known in refusals.of(*place, time.monotonic()):
        request = replace(request, wire=foreseen(request.wire, known, is_own=own))
    counts = is_metered(ctx)
    for left in range(MAX_AMENDMENTS, -1, -1):
        opened = _metered(ctx, request) if counts else _unmetered(ctx, request)
        async with opened as (stream, tally, shown):
            error = await _refusal(request, stream)
            wire = amended(request.wire, error, is_own=own) if left and error is not None else None
            if error is not None and wire is not None:
                if (refusal := lasting(error)) is not None:
                    refusals.remember(*place, refusal, time.monotonic())
                request = replace(request, wire=wire)
                continue
            _show_headers(ctx, stream)  # of the answer that counts; those of the others say nothing of it
            if tally is not None:
                _show_limits(ctx, tally)
            if error is not None:
                try:
                    raise error
                finally:
                    del error  # its traceback holds this frame: the two would keep each other, and the run
            yield stream, tally, shown
            return


def is_metered(ctx: NodeContext) -> bool:
    """Whether anybody asked to count the calls of this run."""
    run = ctx.run
    return ctx.services.meter.covers(run.principal, run.session or run.serves)


@asynccontextmanager
async def _unmetered(ctx: NodeContext, request: ModelRequest) -> AsyncGenerator[_Opened, None]:
    """The answer to a request whose cost nobody asked for."""
    async with ctx.services.upstream.open(await _call_of(ctx, request)) as stream:
        yield stream, None, _all_events


@asynccontextmanager
async def _metered(ctx: NodeContext, request: ModelRequest) -> AsyncGenerator[_Opened, None]:
    """The answer to a request that is counted. Raises as ``begin_tally`` does."""
    billing, wire, shown = request.vendor.billing, request.wire, _all_events
    limit, unseen = None, 0
    if wire.operation == "chat":
        limit, told = billing.output_limit(wire), billing.telling_usage(wire)
        if told is not wire:
            request, shown = replace(request, wire=told), billing.without_usage
    body = ctx.incoming.body_of(request.wire)
    if limit is not None:
        unseen = await apart(len(body), partial(unseen_tokens, request.vendor, wire, body))
    tally = await begin_tally(ctx, request.vendor, request.url, wire.model, len(body), limit, unseen)
    if tally.cap is not None:
        request = replace(request, wire=billing.with_output_limit(request.wire, tally.cap))
    with closing_tally(tally):
        async with ctx.services.upstream.open(await _call_of(ctx, request, tally)) as stream:
            tally.answered(stream.status)
            yield stream, tally, shown


def _all_events(events: Sequence[SseEvent]) -> Sequence[SseEvent]:
    return events


def _is_free(incoming: Incoming) -> bool:
    """Whether no vendor charges for what passes through."""
    if incoming.method != "POST":
        return True
    route = passed_route(incoming.path, "POST")
    return route is not None and route.is_free


async def begin_tally(
    ctx: NodeContext, vendor: Vendor, url: str, model: str, size: int, limit: OutputLimit | None = None, unseen: int = 0
) -> Tally:
    """What counts a call with a body of so many bytes that is about to go out. Raises what the meter raises."""
    run, incoming = ctx.run, ctx.incoming
    call = OutgoingCall(
        run.principal,
        run.id,
        run.plan.id,
        ctx.node_id,
        run.session or run.serves,
        run.floor,
        run.purpose,
        incoming.operation,
        vendor.name,
        url,
        model,
        size,
        limit,
        unseen,
        is_free=incoming.operation == "count_tokens" or (incoming.operation == "forward" and _is_free(incoming)),
    )
    tally = await ctx.services.meter.begin(call)
    if run.trace is not None:
        tally.on_price = partial(run.trace.tell_cost, ctx.node_id)
    if tally.cap is not None and ctx.sink is not None:
        ctx.sink.note_headers({CAP_HEADER: str(tally.cap)})
    return tally


class _Cutter:
    """Takes from one answer what the upstream could not be told to leave out: what stands behind a stop string, and the object
    around its JSON."""

    def __init__(self, wire: WireRequest) -> None:
        self._stops = None if wire.cut is None else StopFilter(wire.cut)
        self._object = Unwrapper() if wire.is_wrapped else None

    @property
    def is_over(self) -> bool:
        """Whether nothing that the upstream may still say is part of the answer."""
        return self._stops is not None and self._stops.is_over

    def piece(self, piece: StreamedPiece) -> StreamedPiece:
        """A piece of a stream. Its events say more than that and are not passed on."""
        deltas = piece.deltas if self._stops is None else self._stops.feed(piece.deltas)
        return StreamedPiece((), deltas if self._object is None else self._object.feed(deltas))

    def whole(self, reply: Reply) -> Reply:
        """A whole answer."""
        reply = reply if self._stops is None else self._stops.cut(reply)
        return reply if self._object is None else self._object.unwrapped(reply)


async def ask_model(ctx: NodeContext, request: ModelRequest) -> Json:
    """Send a request that is no chat (a token count, embeddings); the JSON of its answer. Raises as ``call_model`` does."""
    opened = _metered(ctx, request) if is_metered(ctx) else _unmetered(ctx, request)
    async with opened as (stream, tally, _):
        _show_headers(ctx, stream)
        if tally is not None:
            _show_limits(ctx, tally)
        if (error := await _refusal(request, stream)) is not None:
            try:
                raise error
            finally:
                del error  # as above
        answer = await _json(await stream.read(ctx.services.max_reply))
        if tally is not None:
            tally.told(request.vendor.billing.usage_of(answer))
        return answer


async def _call_of(ctx: NodeContext, request: ModelRequest, tally: Tally | None = None) -> UpstreamCall:
    """The call that sends a request, of which the canvas and the log have heard."""
    await ctx.begin_call()
    wire = request.wire
    ctx.run.note_model(wire.model)
    if wire.dropped:
        ctx.run.emit("run.warning", ctx.node_id, {"dropped": list(wire.dropped)})
        if ctx.sink is not None:
            ctx.sink.note_dropped(wire.dropped)
    body = ctx.incoming.body_of(wire)
    if ctx.services.objects is not None and (guard := guard_of(ctx, request.url, request.headers)) is not None:
        await guard.check(request.url, body, wire.body)
    if body is not ctx.incoming.body:
        ctx.run.sent_bytes += len(body)
    call = make_call(ctx, "POST", request.url, request.headers, body, wire, request.proxy)
    if tally is not None:
        count_attempts(call, tally)
    url, headers = call.url, call.headers
    ctx.run.emit(
        "node.request",
        ctx.node_id,
        # Not the call itself: it knows the run, and the two would wait for the garbage collector together.
        lambda: {"method": "POST", "url": mask_url(url), "headers": dict(headers), "body": parsed(body.decode())},
    )
    if log.isEnabledFor(logging.DEBUG):
        shown = ctx.run.redactor.redact(body.decode())[:SHOWN_CHARACTERS]
        log.debug("%s calls %s at %s: %s", ctx.node_id, request.vendor.name, mask_url(url), shown)
    return call


def _show_headers(ctx: NodeContext, stream: UpstreamStream) -> None:
    """Show the caller an answer's headers."""
    if ctx.sink is not None:
        ctx.sink.note_headers(returnable_response_headers(stream.headers))


def _show_limits(ctx: NodeContext, tally: Tally) -> None:
    """Show the caller what is left here."""
    if ctx.sink is not None and tally.limits:
        ctx.sink.note_headers(limit_headers(ctx, tally))


def limit_headers(ctx: NodeContext, tally: Tally | None) -> Mapping[str, str]:
    """What is left here, as the caller's dialect spells it, in place of what the upstream says of its own limits: those are its
    key's."""
    vendor = ctx.incoming.vendor
    if tally is None or not tally.limits or vendor is None:
        return NO_HEADERS
    return ctx.services.vendors[vendor].billing.limit_headers(tally.limits)


async def _refusal(request: ModelRequest, stream: UpstreamStream) -> UpstreamRefused | None:
    """The error that an answer is; None for one that is none."""
    if stream.status < 400:
        return None
    return request.vendor.parse_error(stream.status, stream.headers, await stream.read(MAX_ERROR_BYTES))


class StreamReader:
    """Understands one stream as its bytes come. Holds state, touches no socket."""

    def __init__(self, vendor: Vendor, max_event: int, max_stream: int, origin: str = "") -> None:
        """``max_event`` and ``max_stream`` are the most bytes of one event and of all of them; ``origin`` is whose stream it is
        (see ``chat.origin``)."""
        self.is_over = False
        """True once the dialect's own end marker was seen."""
        self.failure: UpstreamError | None = None
        """The error that the upstream told behind the last piece; None as long as it told none."""
        self._decoder = SseDecoder(max_event)
        self._limit = self._left = max_stream
        self._parser = vendor.stream_parser(origin)

    def feed(self, chunk: bytes) -> StreamedPiece | None:
        """The piece that the next bytes bring; None where no event is whole yet.

        Raises UpstreamInvalid for what is not in the upstream's language and for more than may be kept.
        """
        self._left -= len(chunk)
        if self._left < 0:
            # All of it is kept until the run ends: words without end would fill the memory.
            raise UpstreamInvalid(f"The upstream's streamed answer is larger than {self._limit} bytes.", limit=self._limit)
        events = self._decoder.feed(chunk)
        if not events:
            return None
        deltas: list[Delta] = []
        for number, event in enumerate(events):
            meant = self._parser.feed(event)
            if meant and type(meant[-1]) is Failure:
                events, self.failure = events[:number], meant[-1].error
                break
            deltas += meant
        self.is_over = bool(deltas) and type(deltas[-1]) is End
        return StreamedPiece(events, deltas)

    @property
    def held(self) -> int:
        """Bytes of an event whose end has not come."""
        return self._decoder.held

    def close(self) -> StreamedPiece:
        """The bytes are over without an end marker: what was held back. Raises UpstreamTruncated unless the answer is whole."""
        tail = [*(delta for event in self._decoder.close() for delta in self._parser.feed(event)), *self._parser.close()]
        if not self._decoder.is_clean or not any(isinstance(delta, End) for delta in tail):
            raise UpstreamTruncated("The upstream's answer broke off before its end.")
        return StreamedPiece((), tail)


def make_call(
    ctx: NodeContext,
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes | BodyStream | None,
    wire: WireRequest | None,
    proxy: str = "",
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
        proxy=proxy,
        hops=hops_of(ctx.incoming.headers) + 1,
        retries=run.may_retry,
        on_attempt=report,
        attempt_headers=None if trace is None else partial(trace.begin_attempt, ctx.node_id, wire),
    )


def count_attempts(call: UpstreamCall, tally: Tally) -> None:
    """Let a tally hear of the attempts of a call, too."""
    report = call.on_attempt

    def both(attempt: Attempt) -> None:
        if report is not None:
            report(attempt)
        tally.attempted(attempt)

    call.on_attempt = both


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
        **({} if attempt.proxy is None else {"proxy": attempt.proxy}),
    }


async def _drain(stream: UpstreamStream) -> None:
    """Read the few bytes after the end marker, so that the connection can serve again; a server that keeps it open
    loses it. One that breaks it off is no worse for that: the answer is whole."""
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in stream.chunks():
                pass
    except (TimeoutError, AgentUIError):
        stream.is_broken = False


async def _json(body: bytes) -> Json:
    return await apart(len(body), partial(_parsed, body))


def _parsed(body: bytes) -> Json:
    """The JSON of an answer. Raises UpstreamInvalid."""
    try:
        return loads(body)
    except InvalidJson as error:
        raise UpstreamInvalid("The upstream's answer is not JSON.", begins=body[:200].decode("utf-8", "replace")) from error
