"""One call of a tool as it is recorded, and who hears of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from agentui.jsonio import Json
from agentui.tools.tool import CallPlace, ProviderType, ReplaySafety, SideEffect

ExecutionStatus: TypeAlias = Literal["running", "queued", "success", "error", "denied", "timeout", "uncertain", "blocked"]
"""``denied`` is for want of a permission, ``blocked`` for want of calls; ``uncertain`` ended where nobody saw it."""
LifecycleState: TypeAlias = Literal["opened", "finished"]
CommitOutcome: TypeAlias = Literal["pending", "committed", "discarded", "replay_blocked", "uncertain"]
DeliveryMode: TypeAlias = Literal["inline", "standalone"]
"""Whether the model that called goes on with the result, or a later one is told of it."""

UNKNOWN_END = "Nobody saw the end of this call: it may have had its effect."


@dataclass(frozen=True, slots=True)
class Execution:
    """The record of one call (spec: tavern-api part 10), without secrets. A value: what happens next is another one.

    ``arguments`` and ``result`` are JSON; arguments that are none are the text that the model wrote. Moments are milliseconds
    since 1970.
    """

    id: str
    """A UUID."""
    place: CallPlace
    tool_name: str
    call_id: str
    """The model's id of the call."""
    step: int
    """Which of the generation's steps asked for it, from 1."""
    arguments: Json
    started_at: int
    provider_type: ProviderType = "unknown"
    provider_id: str = "unknown"
    side_effect: SideEffect = "none"
    replay_safety: ReplaySafety = "uncertain"
    replay_reason: str = ""
    delivery_mode: DeliveryMode = "inline"
    attempt_no: int = 1
    status: ExecutionStatus = "running"
    lifecycle_state: LifecycleState = "opened"
    commit_outcome: CommitOutcome = "pending"
    finished_at: int | None = None
    duration_ms: float | None = None
    result: Json = None
    result_text: str = ""
    """What the model was told."""
    error_code: str | None = None
    error_message: str | None = None
    is_truncated: bool = False
    """Whether the model was given a part of the result only."""
    policy: Mapping[str, Json] = field(default_factory=dict)
    """What was allowed when it was called."""


class ExecutionListener(Protocol):
    """Hears of calls: a store of records, the run's events, a client."""

    async def started(self, execution: Execution) -> None:
        """A tool is about to run; it does not run before this returns, and not at all where this raises."""

    async def finished(self, execution: Execution) -> None:
        """A call is over, also one that was refused and never started."""
