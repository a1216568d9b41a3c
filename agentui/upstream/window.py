"""Counts of events over the last seconds."""

from collections import deque
from dataclasses import dataclass
from math import inf


@dataclass(slots=True)
class _Slot:
    """One slice of the window, which began at ``start``."""

    start: float
    total: int = 0
    marked: int = 0


class Window:
    """Counts events, and those of them that were marked, over the last ``seconds``.

    Memory is bounded: the window is cut into ten slices, so that the past leaves a tenth at a time.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._slice = seconds / 10
        self._slots: deque[_Slot] = deque()
        self._slot = _Slot(0.0)
        self._until = -inf
        """When the newest slice ends."""
        self._total = 0
        self._marked = 0

    def add(self, now: float, *, marked: bool = False) -> None:
        """Count an event at the moment ``now``."""
        if now >= self._until:
            self._turn(now)
        self._slot.total += 1
        self._total += 1
        if marked:
            self.mark(now)

    def mark(self, now: float) -> None:
        """Mark one of the events, at the moment ``now``."""
        if now >= self._until:
            self._turn(now)
        self._slot.marked += 1
        self._marked += 1

    def counts(self, now: float) -> tuple[int, int]:
        """Events and marks within the window that ends ``now``."""
        self._forget(now)
        return self._total, self._marked

    def clear(self) -> None:
        """Forget everything."""
        self._slots.clear()
        self._until = -inf
        self._total = self._marked = 0

    def _turn(self, now: float) -> None:
        """Begin a slice."""
        self._forget(now)
        self._slot = _Slot(now)
        self._slots.append(self._slot)
        self._until = now + self._slice

    def _forget(self, now: float) -> None:
        """Drop the slices that began before the window."""
        while self._slots and now - self._slots[0].start >= self._seconds:
            slot = self._slots.popleft()
            self._total -= slot.total
            self._marked -= slot.marked
