"""Which events of a loop's iterations a run keeps: its log grows with what people can look at, not with the iterations."""

from collections import deque
from collections.abc import MutableMapping
from typing import Final

from agentui.pipeline.events import RunEvent
from agentui.pipeline.run import Run

FIRST: Final = 100
"""Iterations whose events are told as they happen."""
LAST: Final = 20
"""Iterations at the end whose events are told when the loop is over."""
MOST: Final = 5_000
"""Events of a run from which on iterations are told of at the end only."""
MOST_LAST: Final = 1_000
"""Events of the iterations at the end."""


class Folding:
    """The events of one loop's iterations: those of the first ones go to the run's log, later ones wait, and of those that
    wait the last ones follow when the loop is over. The event ``node.omitted`` says how many iterations were left out."""

    def __init__(self, run: Run, node: str) -> None:
        self._run = run
        self._node = node
        self._begun = 0
        self._omitted = 0
        self._size = 0
        self._last: deque[list[RunEvent]] = deque()

    @property
    def _waiting(self) -> MutableMapping[str, list[RunEvent]]:
        return self._run.folded

    def begin(self, path: str) -> None:
        """An iteration begins, whose nodes have this path before their ids."""
        self._begun += 1
        if self._begun > FIRST or len(self._run.events.items) >= MOST:
            self._waiting[path] = []

    def end(self, path: str) -> None:
        """An iteration is over; of many that waited the oldest are left out."""
        events = self._waiting.pop(path, None)
        if events is None:
            return
        self._last.append(events)
        self._size += len(events)
        while len(self._last) > LAST or (self._size > MOST_LAST and len(self._last) > 1):
            self._size -= len(self._last.popleft())
            self._omitted += 1

    def close(self) -> None:
        """The loop is over: tell of the last iterations, and how many were left out."""
        if self._omitted:
            self._run.emit("node.omitted", self._node, {"iterations": self._omitted})
        for events in self._last:
            for event in events:
                self._run.put(event)
        self._last.clear()
