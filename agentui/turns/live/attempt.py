"""What the run of one attempt at a turn's answer has for its memory."""

from collections.abc import Callable, Mapping

from agentui.jsonio import Json
from agentui.pipeline.result import RunResult
from agentui.pipeline.run import Run
from agentui.variables.staging import Staged


class AttemptMemory:
    """The memory of one attempt's run: that of a turn, which is kept by whoever made the attempt and not by its run, or that of
    a draft, which is not kept at all. ``staged`` gives the buffer."""

    headers: Mapping[str, str] = {}

    def __init__(self, staged: Callable[[], Staged]) -> None:
        self._staged = staged
        self.refused: str | None = None
        """What an upstream said whose error was passed on."""
        self.words = ""
        """Those of an answer that broke off, as the run knows them."""

    async def open(self, run: Run) -> "AttemptMemory":
        """The memory, which is open."""
        return self

    def staged(self) -> Staged:
        """The buffer that the run reads and writes."""
        return self._staged()

    async def commit(self, result: RunResult) -> None:
        """Nothing: the turn is not over with its run."""

    async def fail(self, error: Mapping[str, Json], *, cancelled: bool, words: str) -> None:
        """Note what an upstream said, and how far it came."""
        self.refused, self.words = str(error.get("message")), words
