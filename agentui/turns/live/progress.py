"""What is known of the turns that this process generates: the phase of each, and the words that have arrived.

    preparing    input_recorded · semantic_resolved · prechecked · prompt_assembled
    generating   page_generating
    verifying    candidate_generated · verifier_checked
    committing   transaction_prepared

A turn's row in the database is written at its start and at its end; what lies between is kept here alone. Other processes see
the row.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from agentui.chats.records import Run, RunStatus
from agentui.jsonio import Json, members

Phase = Literal[
    "input_recorded",
    "semantic_resolved",
    "prechecked",
    "prompt_assembled",
    "page_generating",
    "candidate_generated",
    "verifier_checked",
    "transaction_prepared",
]

PUBLIC: Mapping[Phase, str] = {
    "input_recorded": "preparing",
    "semantic_resolved": "preparing",
    "prechecked": "preparing",
    "prompt_assembled": "preparing",
    "page_generating": "generating",
    "candidate_generated": "verifying",
    "verifier_checked": "verifying",
    "transaction_prepared": "committing",
}
"""A phase in the words that are shown to people."""


@dataclass(slots=True)
class Pending:
    """The words of one attempt that have arrived so far."""

    temp_id: str
    attempt_no: int
    started_at: int
    updated_at: int
    state: Literal["draft", "streaming", "generated", "failed"] = "draft"
    pieces: list[str] = field(default_factory=list)
    error: Json = None
    length: int = 0
    """Characters that have arrived."""
    told: int = 0
    """How many of them an event has told as ``text``."""

    def add(self, text: str) -> None:
        """More words have arrived."""
        self.pieces.append(text)
        self.length += len(text)

    @property
    def is_to_be_told(self) -> bool:
        """Whether an event should tell all words again, so that who lost some can go on (seed 002): at the first ones, and
        whenever twice as many are there, since telling all each time would be quadratic."""
        return self.length > 0 and self.length >= 2 * self.told

    @property
    def text(self) -> str:
        """All of them."""
        if len(self.pieces) > 1:
            self.pieces[:] = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""

    def as_json(self) -> Json:
        """As events show it."""
        self.told = self.length
        return {
            "temp_id": self.temp_id,
            "attempt_no": self.attempt_no,
            "state": self.state,
            "text": self.text,
            "started_at": self.started_at,
            "updated_at": self.updated_at,
            "error": self.error,
        }


@dataclass(slots=True, eq=False)
class Progress:
    """One turn under way. ``stop`` ends its generation; None where there is nothing that could be stopped (any more)."""

    session_id: str
    branch_id: str
    floor_id: str
    run_id: str
    run_type: str
    started_at: int
    updated_at: int
    status: RunStatus = "running"
    phase: Phase = "input_recorded"
    phase_seq: int = 1
    attempt_no: int = 1
    completed_at: int | None = None
    pending: Pending | None = None
    verifier: Json = None
    error: Json = None
    stop: Callable[[], None] | None = None

    def move(self, phase: Phase, now: int) -> None:
        """Go on to a phase, or note that something changed within one."""
        self.phase = phase
        self.phase_seq += 1
        self.updated_at = now

    def append(self, text: str, now: int) -> None:
        """More words have arrived."""
        if self.pending is not None:
            self.pending.add(text)
            self.pending.state = "streaming"
            self.pending.updated_at = self.updated_at = now

    def fail(self, error: Json, now: int, *, cancelled: bool) -> None:
        """The turn has failed."""
        self.status = "cancelled" if cancelled else "failed"
        self.error = error
        self.phase_seq += 1
        self.updated_at = self.completed_at = now
        if self.pending is not None and self.pending.state != "generated":
            self.pending.state, self.pending.error = "failed", error

    @property
    def public_phase(self) -> str:
        """The phase in the words that are shown to people."""
        return PUBLIC[self.phase]

    def as_json(self) -> dict[str, Json]:
        """The run as events show it."""
        return members(self.as_run())

    def as_run(self) -> Run:
        """The run as it is now."""
        return Run(
            floor_id=self.floor_id,
            run_id=self.run_id,
            run_type=self.run_type,
            status=self.status,
            phase=self.phase,
            public_phase=self.public_phase,
            phase_seq=self.phase_seq,
            started_at=self.started_at,
            updated_at=self.updated_at,
            completed_at=self.completed_at,
            error=self.error,
            attempt_no=self.attempt_no,
            pending_output=None if self.pending is None else self.pending.as_json(),
            verifier=self.verifier,
        )


class ActiveRuns:
    """The turns that this process generates, by floor. Each floor has one at most, for its branch is locked meanwhile."""

    def __init__(self) -> None:
        self._by_floor: dict[str, Progress] = {}

    def add(self, progress: Progress) -> None:
        """A turn begins."""
        self._by_floor[progress.floor_id] = progress

    def remove(self, progress: Progress) -> None:
        """It is over."""
        if self._by_floor.get(progress.floor_id) is progress:
            del self._by_floor[progress.floor_id]

    def of_floor(self, floor_id: str) -> Progress | None:
        """The turn that generates on this floor."""
        return self._by_floor.get(floor_id)

    def of_session(self, session_id: str, branch_id: str | None = None) -> list[Progress]:
        """The turns that generate in a session, on one branch or on any, the oldest first."""
        return [
            progress
            for progress in self._by_floor.values()
            if progress.session_id == session_id and branch_id in (None, progress.branch_id)
        ]
