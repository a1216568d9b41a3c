"""What scripts made of texts, kept for the next prompt: a chat's messages are the same in every turn."""

import sys
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from threading import Lock
from typing import Final, Literal, TypeAlias

Skip: TypeAlias = Literal[
    "not_allowed", "channel_filtered", "depth_filtered", "invalid_regex", "no_match", "timed_out", "too_large"
]
"""Why a script did nothing to a text."""

MOST_BYTES: Final = 32 * 1024 * 1024
"""About how many bytes of results are kept: those of some hundred thousand messages that scripts leave as they are."""
_RESULT_BYTES: Final = 400
_NAME_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class LinkResult:
    """What some scripts made of a text: None where they left it. ``fates`` are, by their places among them, why a script was
    skipped, how often it matched and what was wrong, of those that did not merely find nothing. ``seconds`` is what it was
    counted for."""

    text: str | None
    fates: tuple[tuple[int, Skip | None, int, str], ...]
    seconds: float


class KeptResults:
    """Results by the names of the scripts and the text, which hold neither; those are forgotten that were not asked for
    longest. Threads may share it."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._lock = Lock()
        self._kept: OrderedDict[bytes, LinkResult] = OrderedDict()
        self._size = 0

    def get(self, link: bytes, text: bytes) -> LinkResult | None:
        """What was kept."""
        key = link + text
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def keep(self, link: bytes, text: bytes, result: LinkResult) -> None:
        """Keep a result."""
        key = link + text
        with self._lock:
            before = self._kept.pop(key, None)
            self._size += _size(result) - (0 if before is None else _size(before))
            self._kept[key] = result
            while self._size > self._most:
                self._size -= _size(self._kept.popitem(last=False)[1])

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._kept.clear()
            self._size = 0


def _size(result: LinkResult) -> int:
    fates = sum(100 + len(error) for _, _, _, error in result.fates)
    return _RESULT_BYTES + fates + (0 if result.text is None else sys.getsizeof(result.text))


def name_of_text(text: str) -> bytes:
    """What names a text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_NAME_BYTES).digest()


def name_of_link(texts: Iterable[str]) -> bytes:
    """What names scripts, by the texts that tell what they do."""
    name = blake2b(digest_size=_NAME_BYTES)
    for text in texts:
        told = text.encode("utf-8", "surrogatepass")
        name.update(b"%d:" % len(told) + told)
    return name.digest()
