"""The events of a turn while it happens, told apart by their ``type``.

They come in this order: ``start``, then ``run``, ``chunk`` and ``tool`` as things happen, ``summary`` where there are
summaries, and ``done``; or ``error`` in place of ``done``.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

from agentui.sdk.shapes.chats.common import Respond
from agentui.sdk.shapes.chats.floors import Run


class Started(TypedDict):
    """Where the turn takes place. A draft of the user's words (``impersonate``) has no floor."""

    floor_id: NotRequired[str]
    floor_no: NotRequired[int]
    branch_id: str


class Chunk(TypedDict):
    """More of the text, without summaries."""

    chunk: str


class ToolStep(TypedDict):
    """A tool starts (``phase`` is ``start``) or is done (``phase`` is how)."""

    execution_id: str
    tool_name: str
    provider_id: str
    provider_type: str
    side_effect_level: str
    phase: str
    message: str | None
    duration_ms: int | None
    replay_safety: str


class Summaries(TypedDict):
    """What the model wrote between ``<summary>`` and ``</summary>``."""

    summaries: list[str]


class Failure(TypedDict):
    """Why there is no answer."""

    code: str
    message: str
    details: Any


class StartEvent(TypedDict):
    """The turn has its floor."""

    type: Literal["start"]
    payload: Started


class RunEvent(TypedDict):
    """The run has come to another phase; ``pending_output`` holds all words so far."""

    type: Literal["run"]
    payload: Run


class ChunkEvent(TypedDict):
    """Words have come."""

    type: Literal["chunk"]
    payload: Chunk


class ToolEvent(TypedDict):
    """Something happened to a tool's call."""

    type: Literal["tool"]
    payload: ToolStep


class SummaryEvent(TypedDict):
    """The answer has summaries."""

    type: Literal["summary"]
    payload: Summaries


class DoneEvent(TypedDict):
    """The turn is durable; the payload is what the route without a stream answers."""

    type: Literal["done"]
    payload: Respond


class ErrorEvent(TypedDict):
    """The turn failed. Streams raise it; programs that record events may keep it."""

    type: Literal["error"]
    payload: Failure


TurnEvent: TypeAlias = StartEvent | RunEvent | ChunkEvent | ToolEvent | SummaryEvent | DoneEvent | ErrorEvent
