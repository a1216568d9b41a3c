"""Counts the values of messages in JSON as their bytes come, before anybody reads them.

The library reads a message and checks it on the event loop, and what that takes goes by values, not by bytes: eight megabytes
of one text are read in 40 ms, as many of empty lists in ten seconds.
"""

import re

MAX_VALUES = 30_000
"""Values of one message: some tenths of a second of the library's work at worst."""
_ESCAPE = re.compile(rb"\\.", re.DOTALL)


class TooManyValues(Exception):
    """A message holds more values than may be read."""


class Weighing:
    """Counts the commas and opening brackets that stand outside of texts, from one empty line to the next.

    A line ends with CR, LF or both, as in streams of events. No text of JSON goes over its end, so that what stands around it
    (events' names, comments) misleads nobody.
    """

    def __init__(self) -> None:
        self._count = 0
        self._is_in_text = self._is_escaped = False
        self._is_empty_line = True
        self._ends_with_return = False

    def feed(self, chunk: bytes) -> None:
        """Count what came. Raises TooManyValues."""
        if not chunk:
            return
        if self._ends_with_return:
            chunk = chunk.removeprefix(b"\n")  # one end of a line in two chunks
        self._ends_with_return = chunk.endswith(b"\r")
        first, *others = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._feed_line(first)
        for line in others:
            if self._is_empty_line:
                self._count = 0
            self._is_in_text = self._is_escaped = False
            self._is_empty_line = True
            self._feed_line(line)

    def _feed_line(self, piece: bytes) -> None:
        """Count a part of one line."""
        if not piece:
            return
        self._is_empty_line = False
        if self._is_escaped:
            piece = piece[1:]
        piece = _ESCAPE.sub(b"", piece)
        self._is_escaped = piece.endswith(b"\\")
        parts = piece.split(b'"')
        outside = parts[1 if self._is_in_text else 0 :: 2]
        self._count += sum(part.count(b",") + part.count(b"[") + part.count(b"{") for part in outside)
        self._is_in_text ^= len(parts) % 2 == 0
        if self._count > MAX_VALUES:
            raise TooManyValues(f"The server sent a message of more than {MAX_VALUES} values.")
