"""HttpRequest: asks an HTTP service that is no model."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal
from urllib.parse import quote

from pydantic import Field

from agentui.errors import BadRequest, NodeFailed, UpstreamError
from agentui.jsonio import Json, dumps, held_when_parsed
from agentui.pipeline.events import parsed
from agentui.pipeline.model_call import make_call
from agentui.pipeline.node import Build, Node, NodeParams, node
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.nodes.model.target import render_proxy, rendered_headers
from agentui.redaction import LONGEST, mask_url
from agentui.secrets.store import check_origin
from agentui.templating.core.problems import TemplateRenderError
from agentui.templating.hadtavern.scope import Scope
from agentui.templating.hadtavern.url import empty_part, has_fixed_host
from agentui.threads import apart
from agentui.upstream.http.exchange import Timeouts
from agentui.upstream.plain import CONNECTIONS_OWN, check_sendable, json_of_answer, text_of_answer

TOLD_HEADERS = frozenset(
    {"cache-control", "content-type", "date", "etag", "last-modified", "link", "location", "retry-after", "x-request-id"}
)
"""The headers of an answer that OUT holds: none that sets a cookie or hands out a token."""
SHOWN = 200
"""Characters of an answer with an error status that the error quotes."""

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"]


class HttpRequestParams(NodeParams):
    """A request, and what is taken for its answer."""

    method: Method = Field("GET", description="What to do there.")
    url: str = Field(
        "",
        description="The address; what macros give to it is percent-encoded. [[SECRET:name]] may stand in it.",
        json_schema_extra={"ui": "secret"},
    )
    query: dict[str, str] = Field(
        default_factory=dict,
        max_length=100,
        description="Values of the query, by their names; one that renders to nothing is left out.",
        json_schema_extra={"ui": "secret"},
    )
    headers: dict[str, str] = Field(
        default_factory=dict,
        max_length=100,
        description="Headers to send; one that renders to nothing is left out.",
        json_schema_extra={"ui": "secret"},
    )
    body_kind: Literal["none", "json", "text"] = Field(
        "none",
        description="What the body is written as.",
        json_schema_extra={"enumDescriptions": ["No body", "JSON with macros", "Text with macros"]},
    )
    body: str = Field(
        "",
        description="The body, as body_kind says.",
        json_schema_extra={"when": {"body_kind": ["json", "text"]}, "ui": "macro"},
    )
    proxy: str = Field(
        "",
        description="Proxy to go through: http://, https://, socks5:// or socks5h://; empty: the server's own; direct: none.",
        json_schema_extra={"ui": "macro"},
    )
    timeout_s: float = Field(30.0, ge=0.1, le=600, description="Seconds until the whole answer must be there.")
    max_bytes: int = Field(1_048_576, ge=1, le=33_554_432, description="Bytes that the answer may have.")
    fail_on_status: bool = Field(True, description="Fail where the answer has a status of 400 or above.")


@dataclass(frozen=True, slots=True)
class _Request:
    """The request as it goes out."""

    url: str
    headers: Mapping[str, str]
    body: bytes | None
    proxy: str


@node("HttpRequest")
class HttpRequest(Node[HttpRequestParams]):
    """Asks an HTTP service, and gives its answer in OUT.

    It goes where calls to models may go: not to this server itself, and where private addresses are closed, not to those.
    A redirect is an error. OUT: ``status``, ``ok`` (below 400), ``headers`` (a few), ``text``, and ``json`` where the answer
    is JSON.
    """

    Params = HttpRequestParams
    title = "HTTP request"
    category = "tools"
    icon = "link"
    summary = "{method} {url}"
    calls_upstream = True
    says_text = True
    address_field = "url"

    def prepare(self, build: Build) -> None:
        """Compile the address, the query, the headers and the body."""
        params = self.params
        self._url = build.url("url", params.url, "address", secrets=True)
        if not params.url.strip():
            build.problem("http.no_url", "A request needs an address: https://host/path.", "url")
        self._query = {name: build.text(f"query.{name}", value, secrets=True) for name, value in params.query.items()}
        self._headers = build.headers("headers", params.headers)
        for name in params.headers:
            if name.lower() in CONNECTIONS_OWN:
                text = f"{name} is the connection's own header: leave it out."
                build.problem("header.name", text, f"headers.{name}", facts={"header": name, "reason": "own"})
        self._proxy = build.proxy("proxy", params.proxy)
        self._json = build.json("body", params.body, secrets=True) if params.body_kind == "json" else None
        self._text = build.text("body", params.body, secrets=True) if params.body_kind == "text" else None

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        """Send the request and give its answer. Raises what ``Upstream.open`` raises, UpstreamInvalid for an answer that is too
        large, UpstreamError for an error status, Forbidden for a key that may not go there, NodeFailed."""
        request = await ctx.apart(partial(self._rendered, ctx), len(self.params.body))
        self._tell(ctx, request)
        seconds = self.params.timeout_s
        call = make_call(ctx, self.params.method, request.url, request.headers, request.body, None, request.proxy)
        call = replace(
            call,
            timeouts=Timeouts(connect=min(seconds, call.timeouts.connect), first_byte=seconds, idle=seconds),
            deadline=min(time.monotonic() + seconds, ctx.deadline),
            retries=False,
        )
        async with ctx.services.upstream.open(call) as stream:
            content = await stream.read(self.params.max_bytes)
            status, headers, kind = stream.status, stream.headers, stream.content_type
        ctx.run.received_bytes += 2 * held_when_parsed(content)
        text, value = await apart(len(content), lambda: (text_of_answer(kind, content), json_of_answer(kind, content)))
        if status >= 400 and self.params.fail_on_status:
            # A key is masked before the cut: of half of one nobody would know what it is.
            shown = ctx.run.redactor.redact(text[: SHOWN + LONGEST])[:SHOWN] if text else ""
            said = f": {shown}" if shown else "."
            raise UpstreamError(f"The service answered with status {status}{said}", answered=status)
        told = {name: told for name, told in headers.items() if name in TOLD_HEADERS}
        return {"status": status, "ok": status < 400, "headers": told, "text": text or "", "json": value}

    async def preview(self, ctx: NodeContext) -> Json:
        """The request that would go out: method, url, headers and body."""
        request = await ctx.apart(partial(self._rendered, ctx), len(self.params.body))
        body = None if request.body is None else parsed(request.body.decode("utf-8", "replace"))
        return {"method": self.params.method, "url": request.url, "headers": dict(request.headers), "body": body}

    def _rendered(self, ctx: NodeContext) -> _Request:
        """The request with everything put in, checked. Raises NodeFailed, Forbidden, TemplateProblem."""
        scope = ctx.scope()
        url = ctx.services.upstream.resolve(self._address(ctx, scope))
        headers, _ = rendered_headers(self._headers, ctx, scope)
        body = None
        if self._json is not None:
            body = dumps(ctx.render(self._json, scope))
            headers = {"content-type": "application/json", **headers}
        elif self._text is not None:
            body = ctx.render(self._text, scope).encode("utf-8", "replace")
            headers = {"content-type": "text/plain; charset=utf-8", **headers}
        try:
            check_sendable(url, headers)
        except BadRequest as error:
            raise NodeFailed(error.message, field=error.param) from error
        for secret in ctx.used_secrets:
            check_origin(secret, url, has_fixed_host=has_fixed_host(self._url.template))
        return _Request(url, headers, body, render_proxy(self._proxy, ctx, scope))

    def _address(self, ctx: NodeContext, scope: Scope) -> str:
        """The address with its query. Raises NodeFailed where a macro leaves its part of the path empty."""
        url = ctx.render(self._url, scope).strip()
        try:
            empty = empty_part(self._url.template, scope)
        except TemplateRenderError:  # a secret is not read for this; the address itself has been rendered
            empty = None
        if empty is not None:
            raise NodeFailed(f"{empty} is a part of the address and must not be empty.", field="url")
        values = ((name, ctx.render(field, scope)) for name, field in self._query.items())
        query = "&".join(f"{_encoded(name)}={_encoded(value)}" for name, value in values if value)
        if not query:
            return url
        address, mark, fragment = url.partition("#")
        return f"{address}{'&' if '?' in address else '?'}{query}{mark}{fragment}"

    def _tell(self, ctx: NodeContext, request: _Request) -> None:
        """Let watchers see the request."""
        method, body = self.params.method, request.body
        ctx.run.sent_bytes += len(body or b"")
        ctx.run.emit(
            "node.request",
            ctx.node_id,
            lambda: {
                "method": method,
                "url": mask_url(request.url),
                "headers": dict(request.headers),
                "body": None if body is None else parsed(body.decode("utf-8", "replace")),
            },
        )


def _encoded(text: str) -> str:
    return quote(text, safe="", errors="replace")
