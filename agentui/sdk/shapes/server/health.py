"""What the server speaks of: server, health."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.endpoints import Json


class Health(TypedDict):
    """What the server speaks of."""

    ok: Literal[True]
    status: Literal["ok"]
    service: Literal["agentui"]
    version: str
    database: Literal["ready", "read_only", "full", "unreachable"]
    active_pipeline: NotRequired[str | None]
    in_flight: NotRequired[int]
    """Proxied requests under way."""
    store: NotRequired[dict[str, Json]]
    """The memory. It opens when it is first needed."""


class Readiness(TypedDict):
    """What the server speaks of."""

    status: Literal["ready", "not_ready"]
    reasons: list[dict[str, Json]]
    """What speaks against sending requests here; empty when all is well."""


class ServerVersion(TypedDict):
    """What the server speaks of."""

    version: str
    service: Literal["agentui"]
