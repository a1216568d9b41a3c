"""RawForward: the caller's request as it came, to another address."""

from collections.abc import Mapping
from urllib.parse import parse_qsl, quote, urlencode

from pydantic import Field

from agentui.chat.deltas import End, Failure
from agentui.chat.reply import ReplyBuilder
from agentui.errors import BadRequest, NodeFailed, UpstreamInvalid, UpstreamTruncated
from agentui.jsonio import InvalidJson, Json, dumps, loads
from agentui.pipeline.model_call import make_call
from agentui.pipeline.node import Build, Node, NodeParams, node
from agentui.pipeline.nodecontext import NodeContext, TemplateField
from agentui.pipeline.nodes.target import join_url, tidy_header
from agentui.pipeline.tokens import estimate_outgoing
from agentui.redaction import mask_url
from agentui.secrets.store import check_origin
from agentui.templating.hadtavern.scope import Scope
from agentui.templating.hadtavern.url import has_fixed_host
from agentui.upstream.call import UpstreamCall
from agentui.upstream.headers import forwardable_request_headers, returnable_response_headers
from agentui.upstream.http.request import check_header
from agentui.upstream.http.stream import UpstreamStream
from agentui.vendors.sse import SseDecoder

MAX_KEPT_BYTES = 8 * 1024 * 1024
_IN_QUERY = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"


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
        call = self.assemble(ctx)
        incoming, method, url, headers = ctx.incoming, call.method, mask_url(call.url), call.headers
        ctx.run.emit(
            "node.request",
            ctx.node_id,
            # Not the call itself: it knows the run, and the two would wait for the garbage collector together.
            lambda: {"method": method, "url": url, "headers": dict(headers), "body": incoming.json},
        )
        async with ctx.services.upstream.open(call) as stream:
            if _is_for_browsers(stream.content_type):
                raise UpstreamInvalid(
                    f"The upstream answered {stream.status} with an HTML page or a script: check base_url and path.",
                    begins=(await stream.read(MAX_KEPT_BYTES))[:200].decode("utf-8", "replace"),
                )
            if stream.status >= 400:
                return await self._pass_error_on(ctx, stream)
            return await self._pass_on(ctx, stream)

    async def preview(self, ctx: NodeContext) -> Json:
        """The request that would go out: method, url, headers and body, and about how many tokens go in."""
        call, wire = self.assemble(ctx), ctx.incoming.wire
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
        query, key = _without_key(query)
        if key and "x-goog-api-key" not in headers:
            # Keys in query strings end up in logs and redirects; Gemini takes the same key as a header.
            headers["x-goog-api-key"] = key
        for name, value in self._extra_headers(ctx, scope).items():
            if value:
                headers[name] = value
            else:
                headers.pop(name, None)  # one that renders to nothing is not sent, the caller's own neither
        url = join_url(ctx.services.upstream.resolve(base), path or incoming.path)
        url = f"{url}?{quote(query, safe=_IN_QUERY, errors='replace')}" if query else url
        for secret in ctx.used_secrets:
            check_origin(secret, url, has_fixed_host=has_fixed_host(self._base_url.template))
        return make_call(ctx, incoming.method, url, headers, _body(ctx) or None, incoming.wire)

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

    async def _pass_on(self, ctx: NodeContext, stream: UpstreamStream) -> Mapping[str, Json]:
        """Hand every chunk to the caller (if this node answers) and keep a copy for OUT."""
        headers = returnable_response_headers(stream.headers)
        kept = bytearray()
        whole = True
        # The caller's headers wait for the first byte: silence until then is still told by a status.
        chunk = await stream.next()
        if ctx.sink is not None:
            await ctx.sink.raw(stream.status, headers, b"")
        while chunk:
            if ctx.sink is not None:
                await ctx.sink.raw(stream.status, headers, chunk)
            if ctx.run.has_no_deadline:
                stream.release_deadline()
            whole = whole and len(kept) + len(chunk) <= MAX_KEPT_BYTES
            if whole:
                kept += chunk
            chunk = await stream.next()
        if not whole:
            return {"result": {"error": f"The answer is larger than {MAX_KEPT_BYTES} bytes and was not kept.", "text": ""}}
        return self._result(ctx, stream.content_type, bytes(kept))

    async def _pass_error_on(self, ctx: NodeContext, stream: UpstreamStream) -> Mapping[str, Json]:
        """Hand an error answer on as a whole, without the keys that some upstreams repeat in it."""
        headers = returnable_response_headers(stream.headers)
        body = (await stream.read(MAX_KEPT_BYTES)).decode("utf-8", "surrogateescape")
        shown = ctx.run.redactor.redact(body).encode("utf-8", "surrogateescape")
        if ctx.sink is not None:
            await ctx.sink.raw(stream.status, headers, shown)
        error = _error("upstream_refused", f"The upstream answered {stream.status}; its answer was passed on.", stream.status)
        return {**self._result(ctx, stream.content_type, shown), "error": error}

    def _result(self, ctx: NodeContext, content_type: str, body: bytes) -> dict[str, Json]:
        """The JSON that came; a stream of the caller's own dialect as the answer it adds up to."""
        try:
            if content_type == "text/event-stream" and ctx.incoming.wire is not None:
                return _assembled(ctx, body)
            return {"result": loads(body)}
        except (InvalidJson, UpstreamInvalid):
            return {"result": {"error": "The upstream's answer is not JSON.", "text": body.decode("utf-8", "replace")}}


def _assembled(ctx: NodeContext, body: bytes) -> dict[str, Json]:
    """The answer that a stream adds up to, and the error that it ends with, if it does. Raises UpstreamTruncated when it
    broke off in the caller's dialect; of another dialect's stream nothing is known."""
    assert ctx.incoming.wire is not None
    vendor = ctx.services.vendors[ctx.incoming.wire.vendor]
    parser, decoder = vendor.stream_parser(), SseDecoder(ctx.services.max_event)
    deltas = [delta for event in decoder.feed(body) for delta in parser.feed(event)]
    deltas += parser.close()
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


def _is_for_browsers(content_type: str) -> bool:
    """True for what a browser would draw or run in the name of this server: no model's API answers so."""
    return content_type in ("text/html", "text/javascript", "application/javascript") or content_type.endswith(("/xml", "+xml"))


def _without_key(query: str) -> tuple[str, str]:
    """A query without its ``key``, and that key."""
    if "key=" not in query and "%" not in query:
        return query, ""
    pairs = parse_qsl(query, keep_blank_values=True)
    key = next((value for name, value in pairs if name == "key"), "")
    return urlencode([(name, value) for name, value in pairs if name != "key"], errors="replace"), key


def _body(ctx: NodeContext) -> bytes:
    """The caller's bytes; only a model that names a pipeline is replaced by the model meant."""
    incoming = ctx.incoming
    wire = incoming.wire
    if wire is None or incoming.model == wire.model:
        return incoming.body
    if incoming.model is None:
        raise BadRequest("The request names a pipeline but no model: ask for pipeline/<id>/<model>.", param="model")
    return dumps({**wire.body, "model": incoming.model})
