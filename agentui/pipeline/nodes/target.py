"""Where a call goes: the URL and the headers, rendered and checked."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import parse_qsl, urlencode, urlsplit

from agentui.chat.request import WireRequest
from agentui.errors import BadRequest, NodeFailed
from agentui.pipeline.nodecontext import NodeContext, TemplateField
from agentui.secrets.store import check_origin
from agentui.templating.hadtavern.scope import Scope
from agentui.templating.hadtavern.url import has_fixed_host
from agentui.upstream.http.request import check_header
from agentui.vendors.base import Vendor, endpoint_of

KEY_HEADERS = frozenset({"authorization", "x-api-key", "x-goog-api-key", "api-key"})

_VERSION_END = re.compile(r"/(v[0-9]+(?:alpha|beta)?[0-9]*)$")
_DOUBLED_SCHEME = re.compile(r"^Bearer\s+(?=Bearer\b)", re.IGNORECASE)
_BARE_SCHEME = re.compile(r"(?:Bearer|Basic|Token)", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x20\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class TargetFields:
    """The compiled fields of a node that say where to call."""

    base_url: TemplateField[str]
    endpoint: TemplateField[str]
    headers: Mapping[str, TemplateField[str]]


@dataclass(slots=True)
class Target:
    """A URL and the headers to send there. ``stream`` is whether the URL (Gemini) or the body asks for a stream.

    Not frozen for speed alone (see ``Message``).
    """

    url: str
    headers: Mapping[str, str]
    stream: bool

    @classmethod
    def render(cls, fields: TargetFields, ctx: NodeContext, scope: Scope, vendor: Vendor, wire: WireRequest) -> "Target":
        """Render the fields for one request. Raises NodeFailed for what is no URL or header, Forbidden when a secret is
        not meant for this origin."""
        base = ctx.render(fields.base_url, scope).strip() or vendor.default_base_url
        endpoint, stream = _endpoint(ctx.render(fields.endpoint, scope).strip(), vendor, wire)
        url = join_url(ctx.services.upstream.resolve(base), endpoint)
        headers = _headers(fields, ctx, scope, vendor, wire, has_key_in_url=_query_key(url))
        for secret in ctx.used_secrets:
            check_origin(secret, url, has_fixed_host=has_fixed_host(fields.base_url.template))
        return cls(url, headers, stream)


def tidy_header(value: str) -> str:
    """A rendered header's value without a scheme that stands twice or that has no key behind it.

    Seed 003 writes ``Bearer [[VAR:incoming.headers.authorization]]``, and that header begins with Bearer itself; where
    the caller sent none, nothing is left.
    """
    value = _DOUBLED_SCHEME.sub("", value.strip())
    return "" if _BARE_SCHEME.fullmatch(value) else value


@lru_cache(maxsize=256)  # most nodes have one URL and never another
def join_url(base: str, endpoint: str) -> str:
    """Base and endpoint as one URL. A version that both hold (``.../v1`` and ``/v1/...``) stands once.

    Raises NodeFailed for what cannot be a URL.
    """
    base = base.rstrip("/")
    version = _VERSION_END.search(base)
    if version and endpoint.lstrip("/").startswith(version.group(1) + "/"):
        base = base[: version.start()]
    url = f"{base}/{endpoint.lstrip('/')}" if endpoint else base
    try:
        parts = urlsplit(url)
        is_http = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:  # a bracket without its other, or characters that become others when a name is normalised
        is_http = False
    if not is_http:
        raise NodeFailed("base_url must be an http or https address such as https://api.openai.com.", field="base_url")
    if _CONTROL.search(url):
        raise NodeFailed("The URL holds a space, a control character or half a character after rendering.", field="endpoint")
    return url


def _endpoint(written: str, vendor: Vendor, wire: WireRequest) -> tuple[str, bool]:
    """The path and query to call, and whether they (or the body) ask for a stream."""
    if not written or wire.operation != "chat":
        return endpoint_of(vendor, wire), wire.stream
    path, _, query = written.partition("?")
    pairs = [(name, value) for name, value in parse_qsl(query, keep_blank_values=True) if name != "key" or value]
    return vendor.fit_endpoint(f"{path}?{urlencode(pairs, errors='replace')}" if pairs else path, stream=wire.stream)


def _query_key(url: str) -> bool:
    return "key=" in url and any(name == "key" for name, _ in parse_qsl(urlsplit(url).query))


def _headers(
    fields: TargetFields, ctx: NodeContext, scope: Scope, vendor: Vendor, wire: WireRequest, *, has_key_in_url: bool
) -> dict[str, str]:
    headers = {"content-type": "application/json", "accept": "text/event-stream" if wire.stream else "application/json"}
    headers.update(vendor.version_headers(wire))
    keyed = has_key_in_url
    for name, field in fields.headers.items():
        value = tidy_header(ctx.render(field, scope))
        if not value:
            continue
        try:
            check_header(name, value)
        except BadRequest as error:
            raise NodeFailed(error.message, field=f"headers.{name}") from error
        headers[name.lower()] = value
        keyed = keyed or name.lower() in KEY_HEADERS
    if not keyed and ctx.incoming.api_key:
        headers.update(vendor.auth_headers(ctx.incoming.api_key))
    return headers
