"""Answers that nodes keep, to give them again to the same request."""

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agentui.chat.deltas import Delta

MAX_ANSWERS = 2000
MAX_CHARS = 64 * 1024 * 1024
"""Characters of all that is kept."""
MAX_ANSWER_CHARS = 4 * 1024 * 1024
"""A longer answer is not kept."""


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """A whole answer as a stream tells it, and when (on the cache's clock) it was given and ceases to count."""

    deltas: Sequence[Delta]
    since: float
    until: float
    size: int


class AnswerCache:
    """A bounded memory of one process, the answer that was not asked for longest out first. ``clock`` gives seconds that never
    go back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[str, KeptAnswer] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, key: str) -> tuple[KeptAnswer, float] | None:
        """An answer that still counts, and its age in seconds."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        now = self._clock()
        if now >= kept.until:
            self._forget(key)
            return None
        self._kept.move_to_end(key)
        return kept, now - kept.since

    def keep(self, key: str, deltas: Sequence[Delta], size: int, seconds: float) -> None:
        """Keep an answer of about ``size`` characters for so many seconds. One that is too long is not kept."""
        if size > MAX_ANSWER_CHARS:
            return
        if key in self._kept:
            self._forget(key)
        now = self._clock()
        self._kept[key] = KeptAnswer(tuple(deltas), now, now + seconds, size)
        self._size += size
        while len(self._kept) > MAX_ANSWERS or self._size > MAX_CHARS:
            self._size -= self._kept.popitem(last=False)[1].size

    def _forget(self, key: str) -> None:
        self._size -= self._kept.pop(key).size
