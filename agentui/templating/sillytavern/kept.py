"""Texts with macros as they were parsed, kept for the next time: presets and cards say the same in every turn."""

from collections import OrderedDict
from threading import Lock
from typing import Final

from agentui.templating.sillytavern.syntax import Pieces, parse_macros

MOST_BYTES: Final = 16 * 1024 * 1024
"""About how many bytes may be kept."""
_MACRO_BYTES: Final = 1024
"""What a macro takes with its parts."""


class KeptPieces:
    """What texts were parsed to; those are forgotten that were not asked for longest. Threads may share it."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._lock = Lock()
        self._kept: OrderedDict[str, tuple[Pieces, int]] = OrderedDict()
        self._size = 0

    def of(self, source: str) -> Pieces:
        """The pieces of a source, which nobody may change."""
        with self._lock:
            found = self._kept.get(source)
            if found is not None:
                self._kept.move_to_end(source)
                return found[0]
        pieces = parse_macros(source)
        size = _MACRO_BYTES * (1 + source.count("{{")) + 4 * len(source)
        if size > self._most // 4:  # one that would push out most others
            return pieces
        with self._lock:
            if source not in self._kept:
                self._kept[source] = pieces, size
                self._size += size
            while self._size > self._most:
                self._size -= self._kept.popitem(last=False)[1][1]
        return pieces


pieces_of: Final = KeptPieces().of
"""The pieces of a source, by all runs of this process."""
