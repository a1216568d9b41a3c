"""Sortable ids and the clock."""

import base64
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


_BY_BYTES = bytes.maketrans(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz",
)
"""Base 64 with the characters of URLs in the order of their bytes, so that texts sort as the numbers do."""

_made = itertools.count()


def new_short_id() -> str:
    """Make an id of 21 characters of ``A-Za-z0-9_-`` for a row of the memory.

    42 bits of milliseconds, 18 bits of this process's count, 66 random bits: rows made later sort later.
    """
    number = (_stamp() << 18 | next(_made) & 0x3FFFF) << 66
    number |= int.from_bytes(os.urandom(9)) >> 6
    # Two bits more make whole bytes; the digit that they end up in is left out.
    return base64.b64encode((number << 2).to_bytes(16))[:21].translate(_BY_BYTES).decode()


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
