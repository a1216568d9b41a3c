"""Who listens to a live turn."""

from typing import Protocol

from agentui.jsonio import Json
from agentui.pipeline.run import Run
from agentui.turns.live.progress import Progress
from agentui.turns.repeats import Saved


class TurnListener(Protocol):
    """Who listens to a turn while it happens."""

    async def tell(self, event: str, data: Json) -> None:
        """Something happened: start, chunk or summary; done is told when the turn is durable. Returns when there is room
        for more. Raises ListenerGone."""

    async def moved(self, progress: Progress) -> None:
        """The turn has come to another phase, or something changed within one. As ``tell``."""

    async def save(self, done: Json) -> Saved | None:
        """What is kept of this answer for the same request again; None where it had no key."""

    def follow(self, run: Run) -> None:
        """A run of the turn begins."""
