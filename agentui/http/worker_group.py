"""Which worker of a server a process is, and where it finds the others. The supervisor, which serves nobody, needs no more."""

from dataclasses import dataclass, field
from pathlib import Path

from agentui.ids import new_id

DIED = "/workers/died"
"""Where the supervisor POSTs the ``owner`` of a worker that has died."""


@dataclass(frozen=True, slots=True)
class WorkerGroup:
    """The workers of one server: ``size`` of them, this one being ``number`` (from 0; the supervisor is -1). ``folder`` holds
    their sockets. ``owner`` is this process's name in the database."""

    folder: Path
    size: int
    number: int
    owner: str = field(default_factory=lambda: new_id("server"))

    def socket_of(self, number: int) -> Path:
        """The socket of one worker."""
        return self.folder / f"{number}.sock"
