"""Which family of routes a request is for, and whether the key that it came with may be used for it, and from where."""

from functools import lru_cache
from typing import Final

from aiohttp import web

from agentui.accounts.restrictions import check_address, check_route
from agentui.http.limits import Limits
from agentui.http.reading import split_prefix
from agentui.principal import Principal, RouteFamily

_VENDORS: Final = ("/v1/", "/v1beta/", "/v1alpha/", "/{version}/")
"""What the vendors' routes begin with, as the router spells them."""
_METHOD: Final = "/{version}/models/{call}"
"""The route that holds a model and its method (``detect.METHOD_PATH``)."""
_BY_WORD: Final[dict[str, RouteFamily]] = {
    "embeddings": "embeddings",
    "rerank": "embeddings",
    "images": "images",
    "audio": "audio",
    "moderations": "moderations",
    "batches": "batches",
    "files": "batches",
    "cachedContents": "batches",
}
_ADMINISTRATION: Final = frozenset({"accounts", "auth", "budgets", "clients", "metrics", "operation-logs", "usage"})
"""What the paths begin with of what is about accounts, and what they spend and do."""
_PAGE: Final = frozenset({"api", "ui"})
_FREE: Final = frozenset({"", "favicon.ico", "health", "ready", "version", "openapi.json"})
_WHO_ASKS: Final = frozenset({"/auth/me", "/auth/ways"})
"""Every key may ask whose it is."""


def check_key(request: web.Request, principal: Principal, limits: Limits) -> None:
    """Raise 403 ``client_api_key_restricted`` where the caller's key may not be used from here, or for this route."""
    check_address(principal, limits.address_of(request))
    resource = request.match_info.route.resource
    if resource is None:
        return  # what leads nowhere is told so
    family = _family_of(resource.canonical)
    if family == "chat" and resource.canonical.endswith(_METHOD) and _embeds(request.path):
        family = "embeddings"
    if family is not None:
        check_route(principal, family)


@lru_cache(maxsize=1000)
def _family_of(canonical: str) -> RouteFamily | None:
    """The family of a route as the router spells it; None for one that every key may ask: which models there are, who one is,
    and what needs no credentials. What nobody names here is the memory's."""
    path = split_prefix(canonical).path
    words = path.split("/")[1:]
    if path.startswith(_VENDORS):
        if words[1] == "models" and path != _METHOD:
            return None
        return next((_BY_WORD[word] for word in words[1:] if word in _BY_WORD), "chat")
    if words[0] in _FREE or path in _WHO_ASKS:
        return None
    if words[0] in _ADMINISTRATION:
        return "administration"
    return "page" if words[0] in _PAGE else "memory"


def _embeds(path: str) -> bool:
    """Whether a method of Gemini's makes embeddings (``embedContent``, ``batchEmbedContents``)."""
    return "embedcontent" in path.rpartition(":")[2].lower()
