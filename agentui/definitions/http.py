"""Tools that are requests: templates with a call's arguments in them, and the answer as the model reads it.

What a model writes is one thing of the request and cannot become another: in the address a part of the path or a value of the
query, in a header a part of its one line, in the body a JSON value. The host stands in the definition.
"""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from agentui.definitions.records import HttpHandler
from agentui.definitions.templates import Fault, arguments_scope, compiled
from agentui.errors import BadRequest, Forbidden, UpstreamInvalid, UpstreamTimeout, UpstreamTruncated
from agentui.jsonio import Json, dumps
from agentui.principal import Principal
from agentui.redaction import Redactor, is_key_header, mask_url
from agentui.secrets.store import Secret, SecretStore, check_origin
from agentui.templating.core.language import Template
from agentui.templating.core.problems import TemplateRenderError
from agentui.templating.hadtavern.json_body import JsonLanguage
from agentui.templating.hadtavern.scope import Scope
from agentui.templating.hadtavern.template import TextLanguage
from agentui.templating.hadtavern.url import UrlLanguage, empty_part, has_fixed_host
from agentui.threads import apart
from agentui.tools.arguments import size_of
from agentui.tools.errors import OutcomeUnknown
from agentui.tools.tool import CallPlace, Handler, SideEffect, ToolAnswer, ToolCallContext
from agentui.upstream.call import UpstreamCall
from agentui.upstream.client import Upstream
from agentui.upstream.http.exchange import Timeouts
from agentui.upstream.http.request import check_header
from agentui.upstream.http.stream import UpstreamStream
from agentui.upstream.plain import CONNECTIONS_OWN, check_sendable, json_of_answer, text_of_answer

_KEY_FROM_STORE = re.compile(r"=\[\[\s*SECRET\s*:[^\]]*\]\]")


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
    if name.lower() in CONNECTIONS_OWN:
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
            return await self._serve(definition, side_effect, arguments, context.place)

        return handle

    async def _serve(
        self, definition: HttpHandler, side_effect: SideEffect, arguments: Mapping[str, Json], place: CallPlace
    ) -> ToolAnswer:
        """Send the request and read its answer.

        Raises BadRequest for arguments that do not fit the templates, Forbidden for a key that may not go there, what
        ``Upstream.open`` raises, and OutcomeUnknown where a request with side effects was sent and its answer did not come.
        """
        request = await apart(size_of(arguments), partial(self._rendered, definition, arguments, place.principal))
        seconds = definition.timeout_ms / 1000
        call = UpstreamCall(
            method=definition.method,
            url=request.url,
            headers=request.headers,
            body=request.body,
            timeouts=Timeouts(first_byte=seconds, idle=seconds),
            deadline=time.monotonic() + seconds,
            hops=place.hops,
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

    def _rendered(self, definition: HttpHandler, arguments: Mapping[str, Json], principal: Principal) -> _Request:
        """The request with the arguments in it, with the server's keys where ``principal`` may decide where those go. Raises
        as ``_serve`` does."""
        templates = HttpTemplates.of(definition)
        used: list[Secret] = []

        def secret(name: str) -> str:
            if not principal.may_edit:
                raise Forbidden("The keys of this server are for the tools of who may edit pipelines.", name=name)
            found = self._secrets.get(name)
            self._redactor.register(found.value)
            used.append(found)
            return found.value

        scope = arguments_scope(arguments, secret, self._redactor.register_made)
        try:
            url = self._upstream.resolve(templates.url.render(scope).strip())
            if (empty := empty_part(templates.url, scope)) is not None:
                raise BadRequest(f"{empty} is a part of the address and must not be empty.")
            headers = {name: template.render(scope).strip() for name, template in templates.headers.items()}
            body = None if templates.body is None else dumps(templates.body.render(scope))
        except TemplateRenderError as error:
            raise BadRequest(f"The arguments do not fit the request: {error.message}") from error
        check_sendable(url, headers)
        for each in used:
            check_origin(each, url)
        if body is not None:
            headers = {"content-type": "application/json", **headers}
        return _Request(url, headers, body)


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
    read = text_of_answer(content_type, content)
    text = f"[{len(content)} bytes of {content_type}, which is no text]" if read is None else read
    if read is not None and not is_whole:
        text += f"\n[Only the first {len(content)} bytes of the answer are shown. Ask for less.]"
    parsed = json_of_answer(content_type, content) if read is not None and is_whole else None
    body: Json = text if parsed is None else parsed
    value = {"status": status, "content_type": content_type, "body": body}
    if 200 <= status < 300:
        return ToolAnswer(text, value)
    return ToolAnswer(f"Error: the service answered with status {status}.\n{text}".rstrip(), value, is_error=True)
