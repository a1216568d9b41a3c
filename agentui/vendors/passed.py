"""The routes that pass through a pipeline to its upstream: what is no conversation and has no counterpart at other vendors.

One table. What a route needs beyond its row (the key, the address, the history) is the same for all of them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from agentui.chat.request import VendorName, WireRequest
from agentui.jsonio import Json

BodyKind = Literal["none", "json", "form"]
"""What a request carries: nothing, JSON, or a form with files (which may be JSON as well)."""

_ID = r"(?!\.\.?(?:/|\Z))[A-Za-z0-9._:-]{1,200}"
"""An id in a path; "." and ".." would climb."""
_FIELD = re.compile(r"\{(\w+)(?::([^{}]+))?\}")


@dataclass(frozen=True)
class PassedRoute:
    """One method on one path, as aiohttp's router spells it. ``vendor`` is None where several vendors have that path, and the
    request's headers tell whose it is. ``is_free`` is whether no vendor charges for a POST: it keeps a file, or stops what was
    begun. Nobody charges for reading and deleting either."""

    method: str
    path: str
    vendor: VendorName | None
    body: BodyKind = "none"
    is_free: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """What a path of this route looks like, decoded."""
        return re.compile(_FIELD.sub(lambda field: f"(?:{field[2] or _ID})", self.path))

    @property
    def name(self) -> str:
        """The path without what its fields may hold."""
        return _FIELD.sub(r"{\1}", self.path)


PASSED: tuple[PassedRoute, ...] = (
    PassedRoute("POST", "/v1/moderations", "openai", "json"),
    PassedRoute("POST", "/v1/images/generations", "openai", "json"),
    PassedRoute("POST", "/v1/images/edits", "openai", "form"),
    PassedRoute("POST", "/v1/images/variations", "openai", "form"),
    PassedRoute("POST", "/v1/audio/speech", "openai", "json"),
    PassedRoute("POST", "/v1/audio/transcriptions", "openai", "form"),
    PassedRoute("POST", "/v1/audio/translations", "openai", "form"),
    PassedRoute("POST", "/v1/rerank", "openai", "json"),
    PassedRoute("POST", "/v1/batches", "openai", "json"),
    PassedRoute("GET", "/v1/batches", "openai"),
    PassedRoute("GET", "/v1/batches/{id}", "openai"),
    PassedRoute("POST", "/v1/batches/{id}/cancel", "openai", is_free=True),
    PassedRoute("GET", "/v1/responses/{id}", "openai_responses"),
    PassedRoute("DELETE", "/v1/responses/{id}", "openai_responses"),
    PassedRoute("POST", "/v1/responses/{id}/cancel", "openai_responses", is_free=True),
    PassedRoute("GET", "/v1/responses/{id}/input_items", "openai_responses"),
    PassedRoute("POST", "/v1/messages/batches", "claude", "json"),
    PassedRoute("GET", "/v1/messages/batches", "claude"),
    PassedRoute("GET", "/v1/messages/batches/{id}", "claude"),
    PassedRoute("DELETE", "/v1/messages/batches/{id}", "claude"),
    PassedRoute("POST", "/v1/messages/batches/{id}/cancel", "claude", is_free=True),
    PassedRoute("GET", "/v1/messages/batches/{id}/results", "claude"),
    PassedRoute("POST", "/v1/files", None, "form", is_free=True),
    PassedRoute("GET", "/v1/files", None),
    PassedRoute("GET", "/v1/files/{id}", None),
    PassedRoute("DELETE", "/v1/files/{id}", None),
    PassedRoute("GET", "/v1/files/{id}/content", None),
    PassedRoute("GET", "/{version:v1beta|v1alpha}/files", "gemini"),
    PassedRoute("GET", "/{version:v1beta|v1alpha}/files/{id}", "gemini"),
    PassedRoute("DELETE", "/{version:v1beta|v1alpha}/files/{id}", "gemini"),
    PassedRoute("POST", "/{version:v1|v1beta|v1alpha}/cachedContents", "gemini", "json"),
    PassedRoute("GET", "/{version:v1|v1beta|v1alpha}/cachedContents", "gemini"),
    PassedRoute("GET", "/{version:v1|v1beta|v1alpha}/cachedContents/{id}", "gemini"),
    PassedRoute("PATCH", "/{version:v1|v1beta|v1alpha}/cachedContents/{id}", "gemini", "json"),
    PassedRoute("DELETE", "/{version:v1|v1beta|v1alpha}/cachedContents/{id}", "gemini"),
)


@lru_cache(maxsize=256)  # every request asks, and nearly all of them at few paths
def passed_route(path: str, method: str | None = None) -> PassedRoute | None:
    """The route of a decoded path without ``/p/{pipeline}`` (of any method, where none is given); None for any other path."""
    for route in PASSED:
        if method in (None, route.method) and route.pattern.fullmatch(path):
            return route
    return None


def read_passed(vendor: VendorName, path: str, headers: Mapping[str, str], body: Json) -> WireRequest:
    """A request that passes through. Its model is "" where its body names none; nothing else in it is looked at."""
    document = body if isinstance(body, dict) else {}
    model = document.get("model")
    stream = document.get("stream") is True
    return WireRequest(vendor, "forward", model if isinstance(model, str) else "", stream, path, document, headers=headers)
