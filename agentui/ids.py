"""Sortable ids, fingerprints and the clock."""

import base64
import os
import time
from hashlib import sha256
from typing import Protocol

_COUNT_BITS = 16
_last = 0


def _stamp() -> int:
    """The wall clock's milliseconds, and behind them 16 bits that count what is made while the clock stands still, or is
    behind the last stamp because it went back: what one process makes sorts in the order in which it was made."""
    global _last
    _last = max(time.time_ns() // 1_000_000 << _COUNT_BITS, _last + 1)
    return _last


def new_id(prefix: str) -> str:
    """Make an id such as ``run_019c0c…`` in hex, sortable by time made: 48 bits of milliseconds, 16 bits of a count within
    them and 64 random bits."""
    return f"{prefix}_{_stamp():016x}{os.urandom(8).hex()}"


_BY_BYTES = bytes.maketrans(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz",
)
"""Base 64 with the characters of URLs in the order of their bytes, so that texts sort as the numbers do."""


def new_short_id() -> str:
    """Make an id of 21 characters of ``A-Za-z0-9_-`` for a row of the memory.

    42 bits of milliseconds, 16 bits of a count within them, 68 random bits: rows made later sort later.
    """
    number = _stamp() << 68 | int.from_bytes(os.urandom(9)) >> 4
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


def fingerprint(*parts: str | bytes) -> str:
    """A hash of the parts in their order, in hex; no two ways to cut the same bytes have the same one."""
    digest = sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(b"%d:" % len(data))
        digest.update(data)
    return digest.hexdigest()
