"""What the server's feeds tell: what happens in one run or in all, and which documents change; and the events of an answer in a
vendor's dialect."""

from __future__ import annotations

from typing import Literal, NotRequired, TypeAlias, TypedDict

from agentui.sdk.endpoints import Json
from agentui.sdk.shapes.editor.runs import RunSummary

StepType: TypeAlias = Literal[
    "run.started",
    "run.warning",
    "run.finished",
    "node.started",
    "node.attempt",
    "node.request",
    "node.chunk",
    "node.tool",
    "node.log",
    "node.finished",
    "node.skipped",
    "node.failed",
    "node.omitted",
]


class Step(TypedDict):
    """One thing that happened in a run: its number there, the milliseconds since the run began, and what is told of it."""

    run: str
    seq: int
    type: StepType
    at_ms: float
    node: NotRequired[str]
    pinned: NotRequired[bool]
    port: NotRequired[str]
    data: NotRequired[Json]


class StepEvent(TypedDict):
    """Something happened in the run that is followed; ``run.finished`` is the last."""

    type: StepType
    payload: Step
    id: str


class LiveStep(TypedDict):
    """As ``Step``; pieces of text come together, as ``node.chunks``."""

    run: str
    seq: int
    type: StepType | Literal["node.chunks"]
    at_ms: float
    node: NotRequired[str]
    pinned: NotRequired[bool]
    port: NotRequired[str]
    data: NotRequired[Json]


class LiveRun(TypedDict):
    """A run that began, or ended; ``summary`` is there where every event was asked for."""

    run: str
    pipeline: str
    summary: NotRequired[RunSummary]


class Missed(TypedDict):
    """This reader was too slow for so many pieces of a node's text."""

    run: str
    node: str
    count: int


class LiveRunEvent(TypedDict):
    """A run began, or ended."""

    type: Literal["run"]
    payload: LiveRun
    id: str


class LiveStepEvent(TypedDict):
    """Something happened in a run."""

    type: Literal["event"]
    payload: LiveStep
    id: str


class MissedEvent(TypedDict):
    """Some text was left out."""

    type: Literal["missed"]
    payload: Missed
    id: str


class ResetEvent(TypedDict):
    """The server began anew since the id that was named: read the list of runs."""

    type: Literal["reset"]
    payload: dict[str, Json]
    id: str


LiveEvent: TypeAlias = LiveRunEvent | LiveStepEvent | MissedEvent | ResetEvent


class DocumentChange(TypedDict):
    """What is another one now; ``etag`` and ``valid`` are None for a document that is gone.

    ``active``: ``id`` serves those who name no pipeline (None: none does). ``reset``: changes were missed, so read the lists.
    """

    kind: Literal["pipeline", "preset", "active", "reset"]
    id: str | None
    etag: str | None
    valid: bool | None


class ChangeEvent(TypedDict):
    """A document changed, came or went, or another pipeline is active."""

    type: Literal["change"]
    payload: DocumentChange
    id: str


ServerEvent: TypeAlias = ChangeEvent | LiveEvent
"""What the feed of changes and runs together tells."""


class AnswerEvent(TypedDict):
    """A piece of an answer as the dialect writes it: ``type`` is the event's name there, ``message`` where it has none."""

    type: str
    payload: dict[str, Json]
