"""Tools that are requests: templates with a call's arguments in them, and the answer as the model reads it.

What a model writes is one thing of the request and cannot become another: in the address a part of the path or a value of the
query, in a header a part of its one line, in the body a JSON value. The host stands in the definition.
"""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from agentui.definitions.records import HttpHandler
from agentui.definitions.templates import Fault, arguments_scope, compiled
from agentui.errors import BadRequest, UpstreamInvalid, UpstreamTimeout, UpstreamTruncated
from agentui.jsonio import InvalidJson, Json, dumps, loads
from agentui.redaction import Redactor, is_key_header, mask_url
from agentui.secrets.store import Secret, SecretStore, check_origin
from agentui.templating.core.language import Template
from agentui.templating.core.problems import TemplateRenderError
from agentui.templating.hadtavern.json_body import JsonLanguage
from agentui.templating.hadtavern.scope import Scope
from agentui.templating.hadtavern.template import TextLanguage
from agentui.templating.hadtavern.url import UrlLanguage, has_fixed_host
from agentui.threads import apart
from agentui.tools.arguments import size_of
from agentui.tools.errors import OutcomeUnknown
from agentui.tools.tool import Handler, SideEffect, ToolAnswer, ToolCallContext
from agentui.upstream.call import UpstreamCall
from agentui.upstream.client import Upstream
from agentui.upstream.http.exchange import Timeouts
from agentui.upstream.http.request import FRAMING, check_header
from agentui.upstream.http.stream import UpstreamStream

MAX_URL = 8000
"""Characters of an address with its arguments: what servers and proxies take."""
_KEY_FROM_STORE = re.compile(r"=\[\[\s*SECRET\s*:[^\]]*\]\]")
_BEFORE_QUERY = re.compile(r"[^?#]*")
_CONTROL = re.compile(r"[\x00-\x20\x7f\ud800-\udfff]")
_TEXTUAL = re.compile(r"text/.*|application/(?:(?:.*\+)?(?:json|xml)|javascript|x-ndjson|yaml)|")
_OWN_HEADERS: Final = FRAMING | {"accept-encoding"}


@dataclass(frozen=True, slots=True)
class HttpTemplates:
    """The compiled templates of a request. ``headers`` are by their names in lower case."""

    url: Template[Scope, str]
    headers: Mapping[str, Template[Scope, str]]
    body: Template[Scope, Json] | None

    @classmethod
    def of(cls, handler: HttpHandler) -> "HttpTemplates":
        """The templates of a definition. Raises Fault that says which field is wrong."""
        url = compiled("url", UrlLanguage("address", secrets=True), handler.url)
        if not has_fixed_host(url):
            raise Fault("url", "Macros stand behind the host only: https://host/{{ args.name }}.")
        if mask_url(plain := _KEY_FROM_STORE.sub("", handler.url)) != plain:
            raise Fault("url", "Store the key and write [[SECRET:name]] where it stands.")
        headers = {name.lower(): _header(name, value) for name, value in handler.headers.items()}
        body = None
        if handler.body.strip():
            if handler.method == "GET":
                raise Fault("body", "A GET has no body.")
            body = compiled("body", JsonLanguage(secrets=True), handler.body)
        return cls(url, headers, body)


def _header(name: str, source: str) -> Template[Scope, str]:
    """The template of one header. Raises Fault."""
    where = f"headers/{name}"
    try:
        check_header(name, "")
    except BadRequest as error:
        raise Fault(where, error.message) from None
    if name.lower() in _OWN_HEADERS:
        raise Fault(where, "This header is the connection's own.")
    template = compiled(where, TextLanguage(secrets=True), source)
    if is_key_header(name) and all(macro.kind != "secret" for macro in template.macros):
        raise Fault(where, "Store the key and write [[SECRET:name]] here.")
    return template


@dataclass(frozen=True, slots=True)
class _Request:
    """A request as it goes out."""

    url: str
    headers: Mapping[str, str]
    body: bytes | None


class HttpTools:
    """Serves the calls of tools that are requests."""

    def __init__(self, upstream: Upstream, secrets: SecretStore, redactor: Redactor) -> None:
        self._upstream = upstream
        self._secrets = secrets
        self._redactor = redactor

    def handler(self, definition: HttpHandler, side_effect: SideEffect) -> Handler:
        """What serves the calls of one definition."""

        async def handle(arguments: Mapping[str, Json], context: ToolCallContext) -> ToolAnswer:
            return await self._serve(definition, side_effect, arguments, context.place.hops)

        return handle

    async def _serve(
        self, definition: HttpHandler, side_effect: SideEffect, arguments: Mapping[str, Json], hops: int
    ) -> ToolAnswer:
        """Send the request and read its answer.

        Raises BadRequest for arguments that do not fit the templates, Forbidden for a key that may not go there, what
        ``Upstream.open`` raises, and OutcomeUnknown where a request with side effects was sent and its answer did not come.
        """
        request = await apart(size_of(arguments), partial(self._rendered, definition, arguments))
        seconds = definition.timeout_ms / 1000
        call = UpstreamCall(
            method=definition.method,
            url=request.url,
            headers=request.headers,
            body=request.body,
            timeouts=Timeouts(first_byte=seconds, idle=seconds),
            deadline=time.monotonic() + seconds,
            hops=hops,
            retries=False,
        )
        try:
            async with self._upstream.open(call) as stream:
                content, is_whole = await _read(stream, definition.max_response_bytes)
                return await apart(len(content), partial(_answer, stream.status, stream.content_type, content, is_whole))
        except (UpstreamInvalid, UpstreamTimeout, UpstreamTruncated) as error:
            if side_effect == "none":
                raise
            raise OutcomeUnknown(f"Whether the call did anything is not known. {error.message}") from error

    def _rendered(self, definition: HttpHandler, arguments: Mapping[str, Json]) -> _Request:
        """The request with the arguments in it. Raises as ``_serve`` does."""
        templates = HttpTemplates.of(definition)
        used: list[Secret] = []

        def secret(name: str) -> str:
            found = self._secrets.get(name)
            self._redactor.register(found.value)
            used.append(found)
            return found.value

        scope = arguments_scope(arguments, secret, self._redactor.register_made)
        try:
            url = self._upstream.resolve(templates.url.render(scope).strip())
            _check_path(templates.url, scope)
            headers = {name: template.render(scope).strip() for name, template in templates.headers.items()}
            body = None if templates.body is None else dumps(templates.body.render(scope))
        except TemplateRenderError as error:
            raise BadRequest(f"The arguments do not fit the request: {error.message}") from error
        _check_sent(url, headers)
        for each in used:
            check_origin(each, url)
        if body is not None:
            headers = {"content-type": "application/json", **headers}
        return _Request(url, headers, body)


def _check_path(template: Template[Scope, str], scope: Scope) -> None:
    """Raise BadRequest where an argument leaves a part of the path empty: the address would be another resource's."""
    written = ""
    for _, segments in template.trace(scope):
        for segment in segments:
            if segment.macro is not None and not segment.text and _BEFORE_QUERY.fullmatch(written):
                raise BadRequest(f"{segment.macro} is a part of the address and must not be empty.")
            written += segment.text


def _check_sent(url: str, headers: Mapping[str, str]) -> None:
    """Raise BadRequest for an address or a header that cannot be sent; the values are not quoted."""
    if len(url) > MAX_URL:
        raise BadRequest(f"With its arguments the address is longer than {MAX_URL} characters. Send less.")
    if _CONTROL.search(url):
        raise BadRequest("The address holds a space, a control character or half a character.")
    for name, value in headers.items():
        check_header(name, value)


async def _read(stream: UpstreamStream, limit: int) -> tuple[bytes, bool]:
    """The answer's beginning, and whether that is all. Raises as ``UpstreamStream.chunks`` does."""
    content = bytearray()
    async for piece in stream.chunks():
        content += piece
        if len(content) > limit:
            return bytes(content[:limit]), False
    return bytes(content), True


def _answer(status: int, content_type: str, content: bytes, is_whole: bool) -> ToolAnswer:
    """An answer as the model reads it and as it is recorded."""
    is_text = _TEXTUAL.fullmatch(content_type) is not None
    text = content.decode("utf-8", "replace") if is_text else f"[{len(content)} bytes of {content_type}, which is no text]"
    if is_text and not is_whole:
        text += f"\n[Only the first {len(content)} bytes of the answer are shown. Ask for less.]"
    body: Json = text
    if is_text and is_whole and "json" in content_type:
        try:
            body = loads(content)
        except InvalidJson:
            pass
    value = {"status": status, "content_type": content_type, "body": body}
    if 200 <= status < 300:
        return ToolAnswer(text, value)
    return ToolAnswer(f"Error: the service answered with status {status}.\n{text}".rstrip(), value, is_error=True)
