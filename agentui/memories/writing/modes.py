"""Whether and how turns write memories: the server's rules, what a session says, and what a turn's caller asks for."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from agentui.chats.records import SessionMemory
from agentui.memories.sight import Sight
from agentui.memories.writing.deciding import Decision

HouseMode: TypeAlias = Literal["off", "sync", "async"]
MOST_SUMMARIES: Final = 16
"""``<summary>`` blocks of one answer that become items."""


@dataclass(frozen=True, slots=True)
class WritingRules:
    """How a server writes memories.

    ``mode`` is that of sessions that say nothing of it. ``consolidates`` is whether a model is asked where a request does not
    say; None: in async. ``behind`` is how many floors stay between the head of a branch and what is read, so that swipes and
    edits cost nothing; a floor that is read by nobody for ``wait_ms`` is read all the same. ``needs_approval``: what a model
    proposes waits for a person. ``compacts``: many small summaries become a large one.
    """

    mode: HouseMode = "off"
    consolidates: bool | None = None
    behind: int = 2
    wait_ms: int = 600_000
    needs_approval: bool = False
    compacts: bool = True

    def mode_of(self, session: SessionMemory | None) -> HouseMode:
        """The mode of a session. One that has memories on where the server has none writes them behind its turns."""
        if session in ("off", "incognito"):
            return "off"
        return "async" if session == "on" and self.mode == "off" else self.mode

    def asks_model(self, mode: HouseMode, asked: bool | None) -> bool:
        """Whether a model is asked what a turn taught, where the turn's request ``asked`` for it or said nothing."""
        wanted = self.consolidates if asked is None else asked
        return mode == "async" if wanted is None else wanted


OFF: Final = WritingRules()
"""Nothing is written."""


@dataclass(frozen=True, slots=True)
class TurnMemories:
    """What a turn writes of memories with its commit: its ``summaries`` as items, where no job does; what was decided of a
    model's answer that ``is_asked`` before, with what was seen then; or a job that ``is_queued``, and is due at once where
    ``is_due`` says so. ``key`` is the client key that is charged for the job's calls."""

    mode: Literal["sync", "async"]
    rules: WritingRules
    summaries: tuple[str, ...] = ()
    is_queued: bool = False
    is_due: bool = False
    is_asked: bool = False
    decision: Decision | None = None
    sight: Sight | None = None
    key: str | None = None


def ingest_id(page_id: str) -> str:
    """The id of the job that reads an answer's page (contract, 3.5)."""
    return f"memory-job:ingest_turn:{page_id}"
