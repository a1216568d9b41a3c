"""What a request shows of who makes it: keys and tokens wherever a vendor's client puts its own, and the page's sign-in."""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, urlencode

from aiohttp import web

from agentui.accounts.authentication import Presented
from agentui.http.reading import TOKEN_HEADERS, holds_secret
from agentui.principal import KEY_PREFIX

CLIENT_KEY_HEADER: Final = "x-tavern-client-key"
"""Where only a client key stands (TavernHeadless' contract, 5.4)."""
SIGN_IN_COOKIE: Final = "agentui_sign_in"

OWN_KEYS: web.RequestKey[tuple[str, ...]] = web.RequestKey("own_keys", tuple)
"""The credentials of this server that a request shows, and its access token: no upstream may see them."""

_SCHEME = re.compile(r"^Bearer\s+", re.IGNORECASE)


def shows_client_key(request: web.BaseRequest) -> bool:
    """Whether a request shows what looks like a client key."""
    # In one expression, because every request comes by here. A header may come several times.
    get = request.headers.getall
    shown = (
        f"{get('authorization', ())} {get('x-api-key', ())} {get('x-goog-api-key', ())} {get('x-agentui-token', ())} "
        f"{request.path_qs}"
    )
    return KEY_PREFIX in shown or CLIENT_KEY_HEADER in request.headers


def presented_by(request: web.BaseRequest) -> Presented:
    """All that a request shows."""
    found: dict[str, None] = {}
    for name in TOKEN_HEADERS:
        for value in request.headers.getall(name, ()):
            # A header that was sent several times may come as one value with commas.
            found.update((_SCHEME.sub("", part.strip()), None) for part in (value, *value.split(",")))
    found.update((key, None) for key in request.query.getall("key", ()))
    found.pop("", None)
    client_keys = [value.strip() for value in request.headers.getall(CLIENT_KEY_HEADER, ())]
    client_keys += [key for key in found if key.startswith(KEY_PREFIX) and key not in client_keys]
    others = tuple(key for key in found if not key.startswith(KEY_PREFIX))
    return Presented(tuple(client_keys), others, _sign_in_of(request.headers.get("Cookie", "")))


def without_own_keys(own: tuple[str, ...], headers: Mapping[str, str]) -> Mapping[str, str]:
    """The headers (names in lower case) without those that hold one of this server's own credentials. A sign-in is one
    whatever let the request in: beside a key, or where nobody signs in any more."""
    if not own and SIGN_IN_COOKIE not in headers.get("cookie", ""):
        return headers
    return {name: value for name, value in headers.items() if not _holds_own(name, value, own)}


def query_without_own_keys(own: tuple[str, ...], query: str) -> str:
    """The query without every ``key=`` that is one of this server's own credentials."""
    if not own or ("key=" not in query and "%" not in query):
        return query
    pairs = parse_qsl(query, keep_blank_values=True)
    kept = [(name, value) for name, value in pairs if name != "key" or not is_own_key(own, value)]
    return query if len(kept) == len(pairs) else urlencode(kept, errors="replace")


def is_own_key(own: tuple[str, ...], key: str) -> bool:
    """Whether this is one of this server's own credentials, alone or among others of a header."""
    return key.startswith(KEY_PREFIX) or any(holds_secret(key, secret) for secret in own)


def _holds_own(name: str, value: str, own: tuple[str, ...]) -> bool:
    if name == CLIENT_KEY_HEADER:
        return True
    if name == "cookie":
        return SIGN_IN_COOKIE in value
    return name in TOKEN_HEADERS and (KEY_PREFIX in value or is_own_key(own, value))


def _sign_in_of(cookies: str) -> str | None:
    """The page's sign-in among the cookies of a header."""
    if SIGN_IN_COOKIE not in cookies:
        return None
    for cookie in cookies.split(";"):
        name, _, value = cookie.strip().partition("=")
        if name == SIGN_IN_COOKIE:
            return value or None
    return None
