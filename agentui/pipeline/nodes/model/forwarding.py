"""Passing a request on to an upstream and its answer back, both unread: for what has no counterpart at other vendors."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial

from agentui.errors import BadRequest, NotFound
from agentui.jsonio import InvalidJson, Json, dumps, held_when_parsed, loads
from agentui.pipeline.incoming import Incoming
from agentui.pipeline.kept_objects import MOST_LIST_BYTES, ByteNotes, ObjectGuard, guard_of, is_held
from agentui.pipeline.metering import Tally, closing_tally, unseen_tokens
from agentui.pipeline.model_call import MAX_ERROR_BYTES, NO_HEADERS, begin_tally, count_attempts, is_metered, limit_headers
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.sink import ListenerGone
from agentui.redaction import mask_url
from agentui.threads import apart
from agentui.upstream.call import UpstreamCall
from agentui.upstream.headers import returnable_response_headers
from agentui.upstream.http.request import BodyAborted, BodyStream
from agentui.upstream.http.stream import UpstreamStream
from agentui.vendors.base import Vendor

MAX_KEPT_BYTES = 1024 * 1024
"""An answer beyond this is not kept for OUT."""


def own_body(incoming: Incoming) -> bytes:
    """The caller's bytes; only a model that names a pipeline is replaced by the model meant. Raises BadRequest without one."""
    wire = incoming.wire
    if wire is None or not wire.model or incoming.model == wire.model:
        return incoming.body
    if incoming.model is None:
        raise BadRequest("The request names a pipeline but no model: ask for pipeline/<id>/<model>.", param="model")
    return dumps({**wire.body, "model": incoming.model})


def check_offered(incoming: Incoming, own: Vendor, asked: Vendor) -> None:
    """Raise NotFound unless the vendor that is asked has the routes of the caller's. Dialects whose API lives at one place are
    one vendor's."""
    if asked.default_base_url != own.default_base_url:
        raise NotFound(
            f"{incoming.method} {incoming.path} is {own.title}'s, and this pipeline asks {asked.title}, which has none. "
            f"Name a pipeline with an upstream of that kind in the path: /p/<pipeline>{incoming.path}"
        )


@dataclass(slots=True)
class OpenedForward:
    """A request that was passed on, and what has come of its answer: ``first`` are the first bytes, None where nobody has
    waited for them yet. ``tally`` counts it, where somebody asked for that. ``guarded`` is the call with its guard where the
    answer is read before it is passed on. Close it."""

    stream: UpstreamStream
    closing: AsyncExitStack
    first: bytes | None = None
    tally: Tally | None = None
    guarded: tuple[ObjectGuard, UpstreamCall] | None = None

    async def aclose(self) -> None:
        """Hang up."""
        await self.closing.aclose()


async def open_forward(ctx: NodeContext, call: UpstreamCall) -> OpenedForward:
    """Send the caller's request on; its answer once the headers are there, whatever its status.

    Raises UpstreamError and its kin, and ListenerGone where the caller leaves in the middle of an upload.
    """
    incoming, method, url, headers = ctx.incoming, call.method, mask_url(call.url), call.headers
    size = call.body.length if isinstance(call.body, BodyStream) else len(call.body or b"")
    body: Json = incoming.json if incoming.upload is None else {"content_type": headers.get("content-type"), "bytes": size}
    if not isinstance(call.body, BodyStream) and call.body is not None and call.body is not incoming.body:
        ctx.run.sent_bytes += size
    # Not the call itself: it knows the run, and the two would wait for the garbage collector together.
    guard = await checked_guard(ctx, call)
    request = {"method": method, "url": url, "headers": dict(headers), "body": body}
    ctx.run.emit("node.request", ctx.node_id, request)
    # What is made twice at the vendor is paid twice.
    call.retries = method == "GET"
    tally = await forward_tally(ctx, call)
    try:
        async with AsyncExitStack() as closing:
            if tally is not None:
                closing.enter_context(closing_tally(tally))
            stream = await closing.enter_async_context(ctx.services.upstream.open(call))
            if tally is not None:
                tally.answered(stream.status)
            guarded = (guard, call) if guard is not None and is_held(call) else None
            return OpenedForward(stream, closing.pop_all(), tally=tally, guarded=guarded)
    except BodyAborted as error:
        raise ListenerGone("The caller has left.") from error


async def checked_guard(ctx: NodeContext, call: UpstreamCall) -> ObjectGuard | None:
    """The guard of what is kept under the server's keys, which has looked at a caller's own request; None where there is none.
    Raises what the vendor answers to an id that it does not know."""
    if ctx.services.objects is None or (guard := guard_of(ctx, call.url, call.headers)) is None:
        return None
    body = call.body if isinstance(call.body, bytes) else b""
    await guard.check(call.url, body, ctx.incoming.json if body else None)
    return guard


async def forward_tally(ctx: NodeContext, call: UpstreamCall) -> Tally | None:
    """What counts a caller's own request on its way to an upstream; None where nobody asked for that. Raises as ``begin_tally``
    does."""
    incoming = ctx.incoming
    if incoming.vendor is None or not is_metered(ctx):
        return None
    vendor, wire = ctx.services.vendors[incoming.vendor], incoming.wire
    size = call.body.length if isinstance(call.body, BodyStream) else len(call.body or b"")
    limit, unseen = None, 0
    if wire is not None and wire.operation == "chat":
        limit = vendor.billing.output_limit(wire)
        unseen = await apart(len(incoming.body), partial(unseen_tokens, vendor, wire, incoming.body))
    model = incoming.model or ("" if wire is None else wire.model)
    tally = await begin_tally(ctx, vendor, call.url, model, size or 0, limit, unseen)
    if tally.cap is not None and wire is not None:
        body = vendor.billing.with_output_limit(wire, tally.cap).body
        call.body = dumps({**body, "model": model} if "model" in body else body)
    count_attempts(call, tally)
    return tally


async def begin_forward(ctx: NodeContext, call: UpstreamCall) -> OpenedForward:
    """The same where another target may be asked: an answer that is no error and has begun. Raises UpstreamRefused too."""
    opened = await open_forward(ctx, call)
    try:
        stream = opened.stream
        if stream.status >= 400:
            assert ctx.incoming.vendor is not None
            vendor = ctx.services.vendors[ctx.incoming.vendor]
            raise vendor.parse_error(stream.status, stream.headers, await stream.read(MAX_ERROR_BYTES))
        opened.first = await stream.next()
    except BaseException:
        await opened.aclose()
        raise
    return opened


async def forwarded(ctx: NodeContext, opened: OpenedForward) -> Mapping[str, Json]:
    """Hand every piece of the answer on, and give OUT: ``result`` is the answer where it is JSON, else its ``content_type`` and
    ``bytes``; an upstream's refusal is passed on too, and then OUT holds ``error``. Raises as ``open_forward`` does."""
    try:
        async with opened.closing:
            return await (_refused(ctx, opened.stream) if opened.stream.status >= 400 else _passed(ctx, opened))
    except BodyAborted as error:
        raise ListenerGone("The caller has left.") from error


async def hand_on(
    ctx: NodeContext,
    stream: UpstreamStream,
    most: int,
    kept: bytearray,
    first: bytes | None = None,
    notes: ByteNotes | None = None,
    limits: Mapping[str, str] = NO_HEADERS,
) -> tuple[bytes | None, int]:
    """Hand every piece of an answer to the caller (if this node answers) as it comes: a copy of it, None where it is larger
    than ``most``, and its size. ``kept`` holds the pieces that were handed on, as far as there is room; ``first`` is the first
    one, where somebody has waited for it. ``notes`` hears each piece before the caller, ``limits`` are
    headers in place of the upstream's."""
    headers = {**returnable_response_headers(stream.headers), **limits}
    size = 0
    # The caller's headers wait for the first byte: silence until then is still told by a status.
    chunk = await stream.next() if first is None else first
    if ctx.sink is not None:
        await ctx.sink.raw(stream.status, headers, b"")
    while chunk:
        size += len(chunk)
        if notes is not None:
            await notes.heard(chunk)
        if ctx.sink is not None:
            await ctx.sink.raw(stream.status, headers, chunk)
        if ctx.run.has_no_deadline:
            stream.release_deadline()
        if size <= most:
            kept += chunk
        chunk = await stream.next()
    return (bytes(kept) if size <= most else None), size


async def hand_error_on(ctx: NodeContext, stream: UpstreamStream, body: bytes) -> tuple[bytes, Json]:
    """Hand an error answer on as a whole, without the keys that some upstreams repeat in it: what was sent, and ``error`` for
    OUT. Raises UpstreamRefused, and hands nothing on, where an edge leads on from the node's failure."""
    vendor = ctx.incoming.vendor
    if ctx.catches and vendor is not None:
        raise ctx.services.vendors[vendor].parse_error(stream.status, stream.headers, body)
    shown = ctx.run.redactor.redact(body.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    if ctx.sink is not None:
        await ctx.sink.raw(stream.status, returnable_response_headers(stream.headers), shown)
    text = f"The upstream answered {stream.status}; its answer was passed on."
    return shown, {"code": "upstream_refused", "message": text, "status": stream.status}


async def _passed(ctx: NodeContext, opened: OpenedForward) -> dict[str, Json]:
    """Hand on an answer as it comes."""
    stream = opened.stream
    kept: bytes | None
    is_json = stream.content_type == "application/json"
    if is_json and opened.guarded is not None:
        kept, size = await _hand_held_on(ctx, opened, *opened.guarded)
    else:
        most, limits = MAX_KEPT_BYTES if is_json else 0, limit_headers(ctx, opened.tally)
        kept, size = await hand_on(ctx, stream, most, bytearray(), opened.first, limits=limits)
    told = {"content_type": stream.content_type, "bytes": size}
    if kept:
        ctx.run.received_bytes += held_when_parsed(kept)
    result = _json_or(kept, told) if kept else told
    if opened.tally is not None and ctx.incoming.vendor is not None:
        opened.tally.told(ctx.services.vendors[ctx.incoming.vendor].billing.usage_of(result))
    return {"result": result}


async def _hand_held_on(ctx: NodeContext, opened: OpenedForward, guard: ObjectGuard, call: UpstreamCall) -> tuple[bytes, int]:
    """Hand an answer on that is read as a whole first: what the caller got, and its size. Raises UpstreamInvalid where it is
    too large."""
    stream = opened.stream
    body = await guard.held(ctx, call, (opened.first or b"") + await stream.read(MOST_LIST_BYTES))
    if ctx.sink is not None:
        headers = {**returnable_response_headers(stream.headers), **limit_headers(ctx, opened.tally)}
        await ctx.sink.raw(stream.status, headers, body)
    return body, len(body)


async def _refused(ctx: NodeContext, stream: UpstreamStream) -> dict[str, Json]:
    """Hand on an error answer. One that is no JSON comes from a server that lacks the route, and is told in the caller's
    dialect."""
    body = await stream.read(MAX_ERROR_BYTES)
    answer = _json_or(body, None)
    if answer is None:
        assert ctx.incoming.vendor is not None
        raise ctx.services.vendors[ctx.incoming.vendor].parse_error(stream.status, stream.headers, body)
    ctx.run.received_bytes += held_when_parsed(body)
    _, error = await hand_error_on(ctx, stream, body)
    return {"result": answer, "error": error}


def _json_or(body: bytes, otherwise: Json) -> Json:
    try:
        return loads(body)
    except InvalidJson:
        return otherwise
