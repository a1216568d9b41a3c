"""Sortable ids and the clock."""

import os
import time
from typing import Protocol

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id(prefix: str) -> str:
    """Make an id such as ``run_06f3k2…``: 48 bits of milliseconds and 80 random bits, sortable by time made."""
    number = (time.time_ns() // 1_000_000 << 80) | int.from_bytes(os.urandom(10))
    digits = []
    for _ in range(26):
        number, digit = divmod(number, 32)
        digits.append(_ALPHABET[digit])
    return f"{prefix}_{''.join(reversed(digits))}"


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
