"""Undoing gzip and deflate piece by piece, so that a bomb costs no more than one piece."""

import zlib

ENCODINGS = frozenset({"gzip", "x-gzip", "deflate"})
"""The content encodings that can be undone."""
PIECE = 64 * 1024
MOST_FILES = 1000
"""Gzip files that may follow each other: each costs what is left of the input once more."""


class Damaged(ValueError):
    """The bytes are not what their encoding says, or break off."""


class Inflater:
    """Undoes one of ``ENCODINGS``: ``put`` what arrived, ``take`` until it gives nothing, ``finish`` at the end."""

    def __init__(self, encoding: str) -> None:
        self._gzip = encoding != "deflate"
        self._pending = b""
        self._machine = zlib.decompressobj(31 if self._gzip else 15)
        self._begun = False
        self._filled = False
        self._files = 1

    def put(self, data: bytes) -> None:
        """Add bytes as they came."""
        self._pending += data

    def take(self, limit: int) -> bytes:
        """Up to ``limit`` decompressed bytes, b"" when more input is needed. Raises Damaged."""
        while self._pending or self._filled:
            if self._machine.eof:
                if not self._gzip or not self._pending.strip(b"\0"):
                    self._pending, self._filled = b"", False
                    break
                self._files += 1
                if self._files > MOST_FILES:
                    raise Damaged(f"More than {MOST_FILES} compressed files follow each other.")
                self._machine = zlib.decompressobj(31)  # gzip files may follow each other (RFC 1952, 2.2)
            piece = self._inflate(self._pending, limit)
            self._pending = self._machine.unused_data or self._machine.unconsumed_tail
            # A full piece may have left output inside zlib although all input is used up.
            self._filled = len(piece) == limit
            if piece:
                return piece
        return b""

    @property
    def is_unfinished(self) -> bool:
        """True when the compressed data has begun and not come to its own end."""
        return self._begun and not self._machine.eof

    def _inflate(self, data: bytes, limit: int) -> bytes:
        """Feed the machine; a deflate without zlib's header (common, though wrong) is tried on the first bytes."""
        first, self._begun = not self._begun, True
        try:
            return self._machine.decompress(data, limit)
        except zlib.error as error:
            if first and not self._gzip:
                self._machine = zlib.decompressobj(-15)
                return self._inflate(data, limit)
            raise Damaged("The compressed data is damaged.") from error


def inflated(data: bytes, encoding: str, limit: int) -> bytes | None:
    """All of ``data`` decompressed; None where that is more than ``limit`` bytes. Raises Damaged."""
    inflater = Inflater(encoding)
    pieces: list[bytes] = []
    size = 0
    for start in range(0, len(data), PIECE):
        inflater.put(data[start : start + PIECE])
        while piece := inflater.take(PIECE):
            size += len(piece)
            if size > limit:
                return None
            pieces.append(piece)
    if inflater.is_unfinished:
        raise Damaged("The compressed data breaks off.")
    return b"".join(pieces)
