"""RawForward: the caller's request as it came, to another address."""

from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import partial

from pydantic import Field

from agentui.chat.deltas import End, Failure
from agentui.chat.reply import Reply, ReplyBuilder
from agentui.errors import AgentUIError, BadRequest, NodeFailed, UpstreamInvalid, UpstreamTruncated
from agentui.jsonio import InvalidJson, Json, dumps, held_when_parsed, loads
from agentui.pipeline.kept_objects import ByteNotes, ObjectGuard, notes_of
from agentui.pipeline.metering import Tally, closing_tally
from agentui.pipeline.model_call import limit_headers, make_call
from agentui.pipeline.node import Build, Node, NodeParams, node
from agentui.pipeline.node_context import NodeContext, TemplateField
from agentui.pipeline.nodes.model.forwarding import (
    checked_guard,
    forward_tally,
    forwarded,
    hand_error_on,
    hand_on,
    open_forward,
    own_body,
)
from agentui.pipeline.nodes.model.target import join_url, render_proxy, tidy_header, with_query, without_key
from agentui.pipeline.tokens import estimate_outgoing
from agentui.redaction import mask_url
from agentui.secrets.store import check_origin
from agentui.templating.hadtavern.scope import Scope
from agentui.templating.hadtavern.url import has_fixed_host
from agentui.threads import apart
from agentui.upstream.call import UpstreamCall
from agentui.upstream.headers import forwardable_request_headers, is_for_browsers
from agentui.upstream.http.request import check_header
from agentui.upstream.http.stream import UpstreamStream
from agentui.vendors.base import Vendor
from agentui.vendors.sse import SseDecoder

MAX_KEPT_BYTES = 8 * 1024 * 1024


class RawForwardParams(NodeParams):
    """Where to forward to; everything else is the caller's own request."""

    base_url: str = Field(
        "", description="Where to; empty: the caller's own vendor. demo: the built-in demo.", json_schema_extra={"ui": "macro"}
    )
    override_path: str = Field(
        "",
        description="Path instead of the caller's; a query in it replaces the caller's query too.",
        json_schema_extra={"ui": "macro"},
    )
    extra_headers: dict[str, str] | str = Field(
        default_factory=dict,
        description="Headers to add or replace: an object, or a JSON text with macros.",
        json_schema_extra={"ui": "macro"},
    )
    proxy: str = Field(
        "",
        description="Proxy to go through: http://, https://, socks5:// or socks5h://; empty: the server's own; direct: none.",
        json_schema_extra={"ui": "macro"},
    )


@node("RawForward")
class RawForward(Node[RawForwardParams]):
    """Forwards the caller's request unchanged: method, query and body as they came.

    When it answers, the upstream's bytes pass through unparsed while they arrive. OUT: ``result``, the upstream's JSON,
    or ``{"error", "text"}`` for what is not JSON. Where the answer is the upstream's error, OUT holds ``error`` too.
    """

    Params = RawForwardParams
    title = "Raw forward"
    category = "model"
    icon = "forward"
    summary = "{base_url}"
    calls_upstream = True

    def prepare(self, build: Build) -> None:
        """Compile base URL, path and headers."""
        params = self.params
        self._base_url = build.url("base_url", params.base_url, "address")
        self._proxy = build.proxy("proxy", params.proxy)
        self._path = build.url("override_path", params.override_path, "path", secrets=True)
        self._headers: Mapping[str, TemplateField[str]] = {}
        self._headers_json: TemplateField[Json] | None = None
        if isinstance(params.extra_headers, str):
            if params.extra_headers.strip():
                self._headers_json = build.object("extra_headers", params.extra_headers, secrets=True)
        else:
            self._headers = build.headers("extra_headers", params.extra_headers)

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        """Forward, pass the answer on, and give OUT. Raises UpstreamError and its kin, NodeFailed, TemplateProblem."""
        call = await ctx.apart(partial(self.assemble, ctx))
        await ctx.begin_call()
        if ctx.incoming.operation == "forward":
            return await forwarded(ctx, await open_forward(ctx, call))
        notes = _notes_of(ctx, await checked_guard(ctx, call))
        incoming, method, url, headers = ctx.incoming, call.method, mask_url(call.url), call.headers
        ctx.run.emit(
            "node.request",
            ctx.node_id,
            # Not the call itself: it knows the run, and the two would wait for the garbage collector together.
            lambda: {"method": method, "url": url, "headers": dict(headers), "body": incoming.json},
        )
        tally = await forward_tally(ctx, call)
        with nullcontext() if tally is None else closing_tally(tally):
            return await self._forward_chat(ctx, call, tally, notes)

    async def _forward_chat(
        self, ctx: NodeContext, call: UpstreamCall, tally: Tally | None, notes: ByteNotes | None
    ) -> Mapping[str, Json]:
        """Send what has its counterpart at other vendors, and pass the answer on."""
        async with ctx.services.upstream.open(call) as stream:
            if tally is not None:
                tally.answered(stream.status)
            is_page = is_for_browsers(stream.headers.get("content-type", ""))
            text = f"The upstream answered {stream.status} with an HTML page or a script: check base_url and path."
            if is_page and stream.status >= 400:
                begins = (await stream.read(MAX_KEPT_BYTES))[:200].decode("utf-8", "replace")
                raise UpstreamInvalid(text, begins=begins)
            if is_page:
                ctx.run.emit("run.warning", ctx.node_id, {"message": text})
            if stream.status >= 400:
                return await self._pass_error_on(ctx, stream)
            return await self._pass_on(ctx, stream, tally, notes)

    async def preview(self, ctx: NodeContext) -> Json:
        """The request that would go out: method, url, headers and body, and about how many tokens go in."""
        call, wire = await ctx.apart(partial(self.assemble, ctx)), ctx.incoming.wire
        return {
            "method": call.method,
            "url": call.url,
            "headers": dict(call.headers),
            "body": ctx.incoming.json,
            "tokens": None if wire is None else estimate_outgoing(ctx.services.vendors[wire.vendor], wire),
        }

    def assemble(self, ctx: NodeContext) -> UpstreamCall:
        """The request that is sent, rendered, with nothing sent yet."""
        incoming = ctx.incoming
        scope = ctx.scope()
        base = ctx.render(self._base_url, scope).strip() or self._default_base(ctx)
        written = ctx.render(self._path, scope).strip()
        headers = forwardable_request_headers(incoming.headers)
        path, _, own_query = written.partition("?")
        query = own_query if "?" in written else incoming.query
        query, key = without_key(query)
        if key and "x-goog-api-key" not in headers:
            # Keys in query strings end up in logs and redirects; Gemini takes the same key as a header.
            headers["x-goog-api-key"] = key
        for name, value in self._extra_headers(ctx, scope).items():
            if value:
                headers[name] = value
            else:
                headers.pop(name, None)  # one that renders to nothing is not sent, the caller's own neither
        url = with_query(join_url(ctx.services.upstream.resolve(base), path or incoming.path), query)
        for secret in ctx.used_secrets:
            check_origin(secret, url, has_fixed_host=has_fixed_host(self._base_url.template))
        proxy = render_proxy(self._proxy, ctx, scope)
        body = incoming.upload or own_body(incoming) or None
        return make_call(ctx, incoming.method, url, headers, body, incoming.wire, proxy)

    def _default_base(self, ctx: NodeContext) -> str:
        vendor = ctx.incoming.vendor
        if vendor is None:
            raise NodeFailed("base_url is empty and the caller's vendor is unknown: set base_url.", field="base_url")
        return ctx.services.vendors[vendor].default_base_url

    def _extra_headers(self, ctx: NodeContext, scope: Scope) -> dict[str, str]:
        extra: dict[str, str] = {name: ctx.render(field, scope) for name, field in self._headers.items()}
        if self._headers_json is not None:
            rendered = ctx.render(self._headers_json, scope)
            if not isinstance(rendered, dict):
                raise NodeFailed("extra_headers must be a JSON object of texts.", field="extra_headers")
            extra = {
                name: value if isinstance(value, str) else dumps(value).decode()
                for name, value in rendered.items()
                if value is not None
            }
        extra = {name: tidy_header(value) for name, value in extra.items()}
        for name, value in extra.items():
            try:
                check_header(name, value)
            except BadRequest as error:
                raise NodeFailed(error.message, field=f"extra_headers.{name}") from error
        return {name.lower(): value for name, value in extra.items()}

    async def _pass_on(
        self, ctx: NodeContext, stream: UpstreamStream, tally: Tally | None, notes: ByteNotes | None
    ) -> Mapping[str, Json]:
        """Hand the answer on, with a copy for OUT."""
        copy = bytearray()
        if ctx.sink is not None and ctx.incoming.wire is not None and stream.content_type == "text/event-stream":
            vendor = ctx.services.vendors[ctx.incoming.wire.vendor]
            ctx.run.partial_reply = _Forwarded(vendor, ctx.services.max_event, copy)
        first = None
        if notes is not None and stream.content_type != "text/event-stream":
            await notes.replied(first := await stream.read(MAX_KEPT_BYTES))
            notes = None
        kept, _ = await hand_on(ctx, stream, MAX_KEPT_BYTES, copy, first, notes, limit_headers(ctx, tally))
        if tally is not None:
            tally.is_whole = True
        if kept is None:
            ctx.run.partial_reply = None
            return {"result": {"error": f"The answer is larger than {MAX_KEPT_BYTES} bytes and was not kept.", "text": ""}}
        ctx.run.received_bytes += held_when_parsed(kept)
        out = await apart(len(kept), partial(self._result, ctx, stream.content_type, kept, tally))
        ctx.run.partial_reply = None
        return out

    async def _pass_error_on(self, ctx: NodeContext, stream: UpstreamStream) -> Mapping[str, Json]:
        """Hand an error answer on as a whole."""
        shown, error = await hand_error_on(ctx, stream, await stream.read(MAX_KEPT_BYTES))
        told = await apart(len(shown), partial(self._result, ctx, stream.content_type, shown))
        return {**told, "error": error}

    def _result(self, ctx: NodeContext, content_type: str, body: bytes, tally: Tally | None = None) -> dict[str, Json]:
        """The JSON that came; a stream of the caller's own dialect as the answer it adds up to."""
        try:
            if content_type == "text/event-stream" and ctx.incoming.wire is not None:
                return _assembled(ctx, body, tally)
            result = loads(body)
            if tally is not None and ctx.incoming.wire is not None:
                tally.told(ctx.services.vendors[ctx.incoming.wire.vendor].billing.usage_of(result))
            return {"result": result}
        except (InvalidJson, UpstreamInvalid):
            return {"result": {"error": "The upstream's answer is not JSON.", "text": body.decode("utf-8", "replace")}}


@dataclass(slots=True)
class _Forwarded:
    """The bytes of a stream that were handed on; they are read where it breaks off and somebody asks for its words."""

    vendor: Vendor
    max_event: int
    copy: bytearray

    def reply(self) -> Reply:
        """What the model has said, as far as it can be understood."""
        builder, parser, decoder = ReplyBuilder(), self.vendor.stream_parser(), SseDecoder(self.max_event)
        with suppress(AgentUIError):
            for event in decoder.feed(bytes(self.copy)):
                builder.feed(parser.feed(event))
        return builder.reply()


def _notes_of(ctx: NodeContext, guard: ObjectGuard | None) -> ByteNotes | None:
    """What notes whose a forwarded answer is, where it is kept under a key of the server."""
    wire = ctx.incoming.wire
    notes = None if wire is None else notes_of(guard, ctx.services.vendors[wire.vendor], wire.body)
    return None if notes is None else ByteNotes(notes, ctx.services.max_event)


def _assembled(ctx: NodeContext, body: bytes, tally: Tally | None) -> dict[str, Json]:
    """The answer that a stream adds up to, and the error that it ends with, if it does. Raises UpstreamTruncated when it
    broke off in the caller's dialect; of another dialect's stream nothing is known."""
    assert ctx.incoming.wire is not None
    vendor = ctx.services.vendors[ctx.incoming.wire.vendor]
    parser, decoder = vendor.stream_parser(), SseDecoder(ctx.services.max_event)
    deltas = [delta for event in decoder.feed(body) for delta in parser.feed(event)]
    deltas += parser.close()
    if tally is not None:
        tally.heard(deltas)
    failure = next((delta.error for delta in deltas if isinstance(delta, Failure)), None)
    if deltas and failure is None and not any(isinstance(delta, End) for delta in deltas):
        raise UpstreamTruncated("The upstream's answer broke off before its end.")
    builder = ReplyBuilder()
    builder.feed(deltas)
    reply = builder.reply()
    ctx.emit_chunk(reply.text)
    if ctx.sink is not None:
        ctx.run.reply = reply
    out = {"result": vendor.render_reply(reply, ctx.incoming.wire)}
    return out if failure is None else {**out, "error": _error(failure.code, failure.message, failure.status)}


def _error(code: str, message: str, status: int) -> Json:
    """An error as OUT holds it."""
    return {"code": code, "message": message, "status": status}
