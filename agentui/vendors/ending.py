"""The end of a stream whose dialect has an end marker."""

from collections.abc import Sequence

from agentui.chat.deltas import Delta, End
from agentui.errors import AgentUIError
from agentui.vendors.base import StreamParser
from agentui.vendors.sse import SseDecoder, SseEvent


class MarkedEnd:
    """Finds the end marker of one stream, by what the dialect's parser makes of it. Where forwarded bytes are not of the
    dialect, nothing is known of their end."""

    def __init__(self, parser: StreamParser) -> None:
        """``parser`` is a fresh one of the dialect."""
        self._decoder = SseDecoder()
        self._parser = parser
        self._held = bytearray()
        self._is_over = False

    @property
    def held(self) -> bytes:
        """The chunk with the end marker, and all that came after it."""
        return bytes(self._held)

    def in_events(self, events: Sequence[SseEvent], deltas: Sequence[Delta]) -> int:
        """The last event, where it means ``End``."""
        return len(events) - (bool(events) and bool(deltas) and type(deltas[-1]) is End)

    def in_deltas(self, deltas: Sequence[Delta]) -> int:
        """The place of ``End``."""
        return next((place for place, delta in enumerate(deltas) if type(delta) is End), len(deltas))

    def hold(self, chunk: bytes) -> bytes:
        """The chunk itself until one holds the end marker."""
        self._is_over = self._is_over or self._ends_in(chunk)
        if not self._is_over:
            return chunk
        self._held += chunk
        return b""

    def _ends_in(self, chunk: bytes) -> bool:
        try:
            deltas = [delta for event in self._decoder.feed(chunk) for delta in self._parser.feed(event)]
        except AgentUIError:
            return False  # not in this dialect
        return any(type(delta) is End for delta in deltas)
