"""A tally of events over the last seconds."""

from collections import deque
from dataclasses import dataclass


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
        self._total = 0
        self._marked = 0

    def add(self, now: float, *, total: int = 0, marked: int = 0) -> None:
        """Count ``total`` events and ``marked`` marks at the moment ``now``."""
        slot = self._slots[-1] if self._slots else None
        if slot is None or now - slot.start >= self._slice:
            self._forget(now)
            slot = _Slot(now)
            self._slots.append(slot)
        slot.total += total
        slot.marked += marked
        self._total += total
        self._marked += marked

    def counts(self, now: float) -> tuple[int, int]:
        """Events and marks within the window that ends ``now``."""
        self._forget(now)
        return self._total, self._marked

    def clear(self) -> None:
        """Forget everything."""
        self._slots.clear()
        self._total = self._marked = 0

    def _forget(self, now: float) -> None:
        """Drop the slices that began before the window."""
        while self._slots and now - self._slots[0].start >= self._seconds:
            slot = self._slots.popleft()
            self._total -= slot.total
            self._marked -= slot.marked
