"""Compressed answers, in pieces of a bounded size.

We ask for ``identity``; some upstreams compress all the same. A bomb costs no more memory than one piece.
"""

import zlib

from agentui.errors import UpstreamInvalid, UpstreamTruncated

ENCODINGS = frozenset({"gzip", "x-gzip", "deflate"})


class Inflater:
    """Undoes gzip or deflate: ``put`` what arrived, ``take`` until it gives nothing, ``finish`` at the end."""

    def __init__(self, encoding: str, host: str) -> None:
        self._gzip = encoding != "deflate"
        self._host = host
        self._pending = b""
        self._machine = zlib.decompressobj(31 if self._gzip else 15)
        self._begun = False
        self._filled = False

    def put(self, data: bytes) -> None:
        """Add bytes as they came."""
        self._pending += data

    def take(self, limit: int) -> bytes:
        """Up to ``limit`` decompressed bytes, b"" when more input is needed. Raises UpstreamInvalid for broken data."""
        while self._pending or self._filled:
            if self._machine.eof:
                if not self._gzip or not self._pending.strip(b"\0"):
                    self._pending, self._filled = b"", False
                    break
                self._machine = zlib.decompressobj(31)  # gzip files may follow each other (RFC 1952, 2.2)
            piece = self._inflate(self._pending, limit)
            self._pending = self._machine.unused_data or self._machine.unconsumed_tail
            # A full piece may have left output inside zlib although all input is used up.
            self._filled = len(piece) == limit
            if piece:
                return piece
        return b""

    def finish(self) -> None:
        """Raise UpstreamTruncated unless the compressed data came to its own end."""
        if self._begun and not self._machine.eof:
            raise UpstreamTruncated(f"The compressed answer of {self._host} broke off.", host=self._host)

    def _inflate(self, data: bytes, limit: int) -> bytes:
        """Feed the machine; a deflate without zlib's header (common, though wrong) is tried on the first bytes."""
        first, self._begun = not self._begun, True
        try:
            return self._machine.decompress(data, limit)
        except zlib.error as error:
            if first and not self._gzip:
                self._machine = zlib.decompressobj(-15)
                return self._inflate(data, limit)
            raise UpstreamInvalid(f"{self._host} sent compressed data that is damaged.", host=self._host) from error
