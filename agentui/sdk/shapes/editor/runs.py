"""What the server speaks of: editor, runs."""

from __future__ import annotations

from typing import Literal, TypedDict

from agentui.sdk.endpoints import Json


class RunSummary(TypedDict):
    """A run in one line. ``started`` is milliseconds since 1970, ``duration_ms`` None while it runs. ``account`` is
    whose it is. ``origin`` is ``client`` or ``try``. ``session``, ``branch`` and ``floor`` name the chat that it is
    a turn of. ``client`` is the caller's program by its User-Agent. ``model`` is what the caller named, ``models``
    are those that were asked. The tokens are those of all calls, None where no provider told any.
    """

    id: str
    account: str
    pipeline: str
    pipeline_name: str
    version: str
    state: Literal["running", "finished", "failed", "cancelled"]
    started: int
    duration_ms: float | None
    method: str
    path: str
    vendor: str | None
    operation: str
    model: str | None
    models: list[str]
    stream: bool
    origin: Literal["client", "try"]
    session: str | None
    branch: str | None
    floor: str | None
    client: str | None
    input_tokens: int | None
    output_tokens: int | None
    event_count: int
    error: Json
