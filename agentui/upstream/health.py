"""What is remembered of targets that failed: whether to ask them, and when again.

A target is an origin with a key and a model, named by a hash. Only those that failed are remembered, until they answer:

    fails (3 times in a row, or once with a Retry-After) ──> left alone ──> one probe ──> it answered: forgotten
                                                                 ^              │
                                                                 └── it failed ─┘
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from agentui.upstream.breaker import Breaker

FAILURES = 3
"""Failures in a row after which a target is left alone."""
LONGEST_REST = 3600.0
"""Seconds. A Retry-After beyond this counts as this."""
KEPT = 4096
"""Targets remembered at most; the one that failed longest ago is forgotten first."""


class Away(NamedTuple):
    """Why a target is not asked: ``seconds`` until it may be, and whether it asked for that itself (Retry-After)."""

    seconds: float
    is_asked: bool


@dataclass(slots=True)
class _Record:
    """A target that failed, ``failures`` times in a row. ``is_asked`` says that the pause is one that it asked for."""

    breaker: Breaker = field(default_factory=Breaker)
    failures: int = 0
    is_asked: bool = False


class TargetHealth:
    """The targets of one process that failed lately. ``clock`` gives seconds that never go back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failed: OrderedDict[str, _Record] = OrderedDict()

    def __len__(self) -> int:
        return len(self._failed)

    def away(self, target: str) -> Away | None:
        """Why the target would not be asked now; None where it would. Changes nothing."""
        record = self._failed.get(target)
        seconds = None if record is None else record.breaker.away(self._clock())
        return None if record is None or not seconds else Away(seconds, record.is_asked)

    def admit(self, target: str) -> Away | None:
        """None lets a call go ahead, of which ``succeeded``, ``failed`` or ``left`` is told afterwards; else why not."""
        record = self._failed.get(target)
        seconds = None if record is None else record.breaker.admit(self._clock())
        return None if record is None or seconds is None else Away(seconds, record.is_asked)

    def succeeded(self, target: str) -> None:
        """It answered. One that asked to be left alone meanwhile stays so."""
        record = self._failed.get(target)
        if record is not None and not (record.is_asked and record.breaker.away(self._clock())):
            del self._failed[target]

    def failed(self, target: str, cooldown: float, retry_after: float | None = None) -> None:
        """It failed. After ``FAILURES`` in a row it is left alone for ``cooldown`` seconds (0: not for that reason), and as
        long as it asks for itself."""
        now = self._clock()
        record = self._failed.pop(target, None) or _Record()
        self._failed[target] = record
        record.failures += 1
        asked = min(retry_after or 0.0, LONGEST_REST)
        own = cooldown if record.failures >= FAILURES else 0.0
        if asked or own:
            if max(asked, own) >= (record.breaker.away(now) or 0.0):
                record.is_asked = asked >= own
            record.breaker.open(now + max(asked, own))
        elif not record.breaker.away(now):
            record.breaker = Breaker()
        if len(self._failed) > KEPT:
            self._failed.popitem(last=False)

    def left(self, target: str) -> None:
        """The call was given up and says nothing."""
        record = self._failed.get(target)
        if record is not None:
            record.breaker.left()
