"""Where a call goes: the URL and the headers, rendered and checked."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from agentui.chat.request import WireRequest
from agentui.errors import BadRequest, NodeFailed
from agentui.pipeline.node_context import NodeContext, TemplateField
from agentui.secrets.store import check_origin
from agentui.templating.hadtavern.scope import Scope
from agentui.templating.hadtavern.url import has_fixed_host
from agentui.upstream.headers import forwardable_request_headers
from agentui.upstream.http.proxy import Proxy
from agentui.upstream.http.request import UNFIT, check_header
from agentui.upstream.proxies import DIRECT
from agentui.vendors.base import Vendor, endpoint_of

KEY_HEADERS = frozenset({"authorization", "x-api-key", "x-goog-api-key", "api-key"})
ACCOUNT_HEADERS = frozenset({"openai-organization", "openai-project", "x-goog-user-project"})
"""What names the account behind a key: a caller's goes with the caller's own key only."""

_VERSION_END = re.compile(r"/(v[0-9]+(?:alpha|beta)?[0-9]*)$")
_DOUBLED_SCHEME = re.compile(r"^Bearer\s+(?=Bearer\b)", re.IGNORECASE)
_BARE_SCHEME = re.compile(r"(?:Bearer|Basic|Token)", re.IGNORECASE)
_IN_QUERY = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
_CONTROL = re.compile(r"[\x00-\x20\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class TargetFields:
    """The compiled fields that say where to call. ``secret`` renders to a key that goes where the dialect wants it."""

    base_url: TemplateField[str]
    endpoint: TemplateField[str]
    headers: Mapping[str, TemplateField[str]]
    proxy: TemplateField[str]
    secret: TemplateField[str] | None = None


@dataclass(slots=True)
class Target:
    """A URL, the headers to send there and the proxy to go through.

    ``stream`` is whether the URL (Gemini) or the body asks for a stream.

    Not frozen for speed alone (see ``Message``).
    """

    url: str
    headers: Mapping[str, str]
    stream: bool
    proxy: str

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
        return cls(url, headers, stream, render_proxy(fields.proxy, ctx, scope))


def render_proxy(field: TemplateField[str], ctx: NodeContext, scope: Scope) -> str:
    """The proxy's address as the node says it; "" where it says none. Its password is kept out of all that is shown.

    Raises NodeFailed for what is no proxy's address, Forbidden when a secret in it is not meant for that proxy.
    """
    before = ctx.used_secrets
    text = ctx.render(field, scope).strip()
    used = ctx.used_secrets[len(before) :]
    ctx.used_secrets = before  # these go to the proxy, and not with the request
    if text in ("", DIRECT):
        return text
    try:
        proxy = Proxy.parse(text)
    except ValueError as error:
        raise NodeFailed(f"The node's proxy cannot be used: {error}, or is {DIRECT}.", field="proxy") from None
    ctx.run.redactor.register(proxy.password)
    origin = f"{'https' if proxy.scheme == 'https' else 'http'}://{proxy.name}"
    for secret in used:
        check_origin(secret, origin, has_fixed_host=all(macro.kind == "secret" for macro in field.template.macros))
    return text


def forward_target(fields: TargetFields, ctx: NodeContext, vendor: Vendor) -> Target:
    """The target of a request that passes through to ``vendor``: the caller's path and query, and of its headers
    those that an upstream may see; its key only where the node sends none.

    Raises NodeFailed, and Forbidden when a secret is not meant for this origin.
    """
    incoming, scope = ctx.incoming, ctx.scope()
    base = ctx.render(fields.base_url, scope).strip() or vendor.default_base_url
    url = with_query(join_url(ctx.services.upstream.resolve(base), incoming.path), without_key(incoming.query)[0])
    passed = forwardable_request_headers(incoming.headers)
    headers = {**vendor.version_headers(None), **{name: value for name, value in passed.items() if name not in KEY_HEADERS}}
    rendered, keyed = target_headers(fields, ctx, scope, vendor)
    own = {name: value for name, value in rendered.items() if name not in ("content-type", "accept")}
    headers = _with_key(headers, own, keyed, ctx, vendor, has_key_in_url=False)
    for secret in ctx.used_secrets:
        check_origin(secret, url, has_fixed_host=has_fixed_host(fields.base_url.template))
    return Target(url, headers, False, render_proxy(fields.proxy, ctx, scope))


def without_key(query: str) -> tuple[str, str]:
    """A query without its ``key``, and that key."""
    if "key=" not in query and "%" not in query:
        return query, ""
    pairs = parse_qsl(query, keep_blank_values=True)
    key = next((value for name, value in pairs if name == "key"), "")
    return urlencode([(name, value) for name, value in pairs if name != "key"], errors="replace"), key


def with_query(url: str, query: str) -> str:
    """A URL with a raw query, as a request line can hold it."""
    return f"{url}?{quote(query, safe=_IN_QUERY, errors='replace')}" if query else url


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
    return "=" in url and any(name == "key" for name, _ in parse_qsl(urlsplit(url).query))


def _headers(
    fields: TargetFields, ctx: NodeContext, scope: Scope, vendor: Vendor, wire: WireRequest, *, has_key_in_url: bool
) -> dict[str, str]:
    headers = {"content-type": "application/json", "accept": "text/event-stream" if wire.stream else "application/json"}
    headers.update({name: value for name, value in vendor.version_headers(wire).items() if not UNFIT.search(value)})
    return _with_key(headers, *target_headers(fields, ctx, scope, vendor), ctx, vendor, has_key_in_url=has_key_in_url)


def _with_key(
    headers: Mapping[str, str], own: Mapping[str, str], keyed: bool, ctx: NodeContext, vendor: Vendor, *, has_key_in_url: bool
) -> dict[str, str]:
    """A call's headers with those that its node writes, and the caller's key where those hold none."""
    if keyed or has_key_in_url:
        headers = {name: value for name, value in headers.items() if name not in ACCOUNT_HEADERS}
    elif ctx.incoming.api_key:
        own = {**own, **vendor.auth_headers(ctx.incoming.api_key)}
    return {**headers, **own}


def target_headers(fields: TargetFields, ctx: NodeContext, scope: Scope, vendor: Vendor) -> tuple[dict[str, str], bool]:
    """The headers of a target, as ``rendered_headers`` gives them, with its key where that is a secret of its own."""
    own, keyed = rendered_headers(fields.headers, ctx, scope)
    if fields.secret is None:
        return own, keyed
    key = vendor.auth_headers(ctx.render(fields.secret, scope).strip())
    for name, value in key.items():
        try:
            check_header(name, value)
        except BadRequest as error:
            raise NodeFailed(error.message, field=fields.secret.name) from error
    return {**own, **{name.lower(): value for name, value in key.items()}}, True


def rendered_headers(fields: Mapping[str, TemplateField[str]], ctx: NodeContext, scope: Scope) -> tuple[dict[str, str], bool]:
    """The headers that a node writes, by their names in lower case, and whether one of them holds a key. One that renders to
    nothing is none. Raises NodeFailed for what is no header."""
    own: dict[str, str] = {}
    keyed = False
    for name, field in fields.items():
        value = tidy_header(ctx.render(field, scope))
        if not value:
            continue
        try:
            check_header(name, value)
        except BadRequest as error:
            raise NodeFailed(error.message, field=f"headers.{name}") from error
        own[name.lower()] = value
        keyed = keyed or name.lower() in KEY_HEADERS
    return own, keyed
