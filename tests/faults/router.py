"""Every route of a server, as a caller would ask for it, read off the router: a new route is in every matrix by itself."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.faults.callers import DIALECTS, ask

EXAMPLES = {
    "branch": "main",
    "floor": "same",
    "mutation": "same",
    "namespace": "same",
    "scope": "global",
    "scope_id": "same",
    "slot": "same",
    "hash": "0" * 64,
    "entry_id": "same",
    "id": "same",
    "identity": "same",
    "key": "same",
    "identifier": "same",
    "number": "1",
    "pipeline": "same",
    "group": "same",
    "rule": "same",
    "secret": "same",
    "session": "same",
    "variable": "same",
    "sequence": "0",
    "name": "js/main.js",
    "model": "text",
    "version": "v1beta",
    "version_id": "same",
    "call": "text:generateContent",
}
"""What stands for each part of a path. A new name must be added here, or every matrix fails."""
STREAMS = frozenset({"/api/changes", "/api/events", "/api/runs/live"})
"""GETs whose answers do not end."""


@dataclass(frozen=True)
class Door:
    """One method on one path, with the body of a request that would do something."""

    method: str
    pattern: str
    path: str
    body: dict[str, Any] | None = field(default=None, compare=False)

    @property
    def is_safe(self) -> bool:
        return self.method in ("GET", "HEAD", "OPTIONS")

    @property
    def is_page(self) -> bool:
        return self.path in ("/", "/favicon.ico") or self.path.startswith("/ui/")

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def doors(app: web.Application) -> list[Door]:
    """Every route, by one path of it."""
    found = {
        Door(route.method, route.resource.canonical, _path(route.resource.canonical), _body(route.resource.canonical))
        for route in app.router.routes()
        if route.resource is not None
    }
    return sorted(found, key=str)


def acting(app: web.Application) -> list[Door]:
    """The routes that change something or cost something."""
    return [door for door in doors(app) if not door.is_safe]


def _path(pattern: str) -> str:
    return re.sub(r"{(\w+)(?::[^{}]*)?}", lambda part: EXAMPLES[part[1]], pattern)


def _body(pattern: str) -> dict[str, Any]:
    """A body that this route would act on, where it is a model's; an empty object elsewhere."""
    for dialect in DIALECTS:
        if _path(pattern).endswith(ask(dialect).path):
            return ask(dialect).body
    return {}


def bodies_nobody_can_read() -> Iterator[bytes]:
    """Bodies that are no JSON, or JSON that no program should take in."""
    yield from (b"", b"{", b"null", b"[]", b'"x"', b"{}{}", b'{"a": NaN}', b'{"a": "\xff"}')
    yield from (b"[" * 100_000, b'{"a":' * 100_000, b'{"a": ' + b"[" * 200 + b"]" * 200 + b"}", b"\xff\xfe{\x00}\x00")
