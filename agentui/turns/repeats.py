"""A request that may come twice: what its Idempotency-Key claims, and the answer that is kept for it.

The rules are Stripe's: the same key with the same request gets the first answer again, with another request it is refused.
Nothing here needs the database, so that a server without chats does not load one.
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from agentui.chats.codes import failure

HEADER = "idempotency-key"
REPLAYED = "idempotent-replayed"
"""The header of an answer that was given before."""
MAX_KEY = 255
MAX_ANSWER = 16 * 1024 * 1024
"""Bytes of an answer that is kept; a larger one is not given a second time."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A request with a key, and the hash of what it asks for."""

    key: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Saved:
    """An answer as it is kept. ``packed`` is its compressed body; None where that was too large."""

    status: int
    headers: Mapping[str, str]
    packed: bytes | None

    def body(self) -> bytes:
        """The body as it was sent. Takes some milliseconds for a large one."""
        return zlib.decompress(self.packed or b"")


def claim(key: str, *parts: str | bytes) -> Claim:
    """What a request claims: ``parts`` are all that makes it another one.

    Raises 400 ``validation_error`` for a key that is none.
    """
    if not (0 < len(key) <= MAX_KEY and key.isascii() and key.isprintable()):
        raise failure("validation_error", f"An Idempotency-Key has 1 to {MAX_KEY} printable characters of ASCII.", param=HEADER)
    digest = sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        digest.update(b"%d:" % len(data))  # so that no two ways to cut the same bytes are the same
        digest.update(data)
    return Claim(key, digest.hexdigest())


def pack(body: bytes) -> bytes | None:
    """The body as it is kept; None where it is too large. Takes a millisecond for each 100 KB."""
    return zlib.compress(body, 1) if len(body) <= MAX_ANSWER else None
