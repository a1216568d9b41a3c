"""Who listens to a live turn."""

from typing import Protocol

from agentui.jsonio import Json
from agentui.pipeline.run import Run
from agentui.turns.repeats import Saved


class TurnListener(Protocol):
    """Who listens to a turn while it happens."""

    async def tell(self, event: str, data: Json) -> None:
        """Something happened: start, run, chunk or summary; done is told when the turn is durable. Returns when there is room
        for more. Raises ListenerGone."""

    async def save(self, done: Json) -> Saved | None:
        """What is kept of this answer for the same request again; None where it had no key."""

    def follow(self, run: Run) -> None:
        """A run of the turn begins."""
