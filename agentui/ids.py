"""Sortable ids and the clock."""

import itertools
import os
import time
from typing import Protocol

_last = 0


def _stamp() -> int:
    """The wall clock's milliseconds, or one more than the last stamp where the clock stood still or went back: what one
    process makes sorts in the order in which it was made."""
    global _last
    _last = max(time.time_ns() // 1_000_000, _last + 1)
    return _last


def new_id(prefix: str) -> str:
    """Make an id such as ``run_019c0c…``: 48 bits of milliseconds and 80 random bits in hex, sortable by time made."""
    return f"{prefix}_{_stamp():012x}{os.urandom(10).hex()}"


_SHORT_ALPHABET = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
"""Of URLs, in the order of its bytes."""

_made = itertools.count()


def new_short_id() -> str:
    """Make an id of 21 characters of ``A-Za-z0-9_-`` for a row of the memory.

    42 bits of milliseconds, 18 bits of this process's count, 66 random bits: rows made later sort later.
    """
    number = (_stamp() << 18 | next(_made) & 0x3FFFF) << 66
    number |= int.from_bytes(os.urandom(9)) >> 6
    digits = []
    for _ in range(21):
        number, digit = divmod(number, 64)
        digits.append(_SHORT_ALPHABET[digit])
    return "".join(reversed(digits))


class Clock(Protocol):
    """Where time comes from; tests hand in one that they move."""

    def monotonic(self) -> float:
        """Seconds for measuring spans; never jumps."""

    def now_ms(self) -> int:
        """Wall-clock milliseconds since 1970, for people."""


class SystemClock:
    """The machine's own clock."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment."""
        return time.monotonic()

    def now_ms(self) -> int:
        """Milliseconds since 1970."""
        return time.time_ns() // 1_000_000
