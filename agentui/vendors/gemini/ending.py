"""The end of Gemini's streams, which have no end marker: the finish reason is the end."""

from collections.abc import Sequence
from typing import Final

from agentui.chat.deltas import Delta, End, Finish
from agentui.vendors.sse import SseEvent

MAX_HELD: Final = 256 * 1024
"""Bytes of a forwarded stream that wait for its end; who says more after the finish has not finished."""
_FINISH: Final = b'"finishReason"'
"""In an event that may be the last. Inside a text its quotes are escaped."""
_BLANK_LINES: Final = (b"\n\n", b"\r\n\r\n", b"\r\r")


class GeminiEnd:
    """Finds the end of one stream. Older models say in every event that they have finished, so only the last such event
    waits, and what follows it."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._has_finish = False

    @property
    def held(self) -> bytes:
        """The last event that says it has finished, or the piece of one that may say so, and what came after it."""
        return bytes(self._held)

    def in_events(self, events: Sequence[SseEvent], deltas: Sequence[Delta]) -> int:
        """The event that holds a finish reason: its parser tells the finish only when the bytes are over."""
        return next((place for place, event in enumerate(events) if _FINISH in event.data), len(events))

    def in_deltas(self, deltas: Sequence[Delta]) -> int:
        """The place of the first ``Finish`` or ``End``."""
        return next((place for place, delta in enumerate(deltas) if isinstance(delta, Finish | End)), len(deltas))

    def hold(self, chunk: bytes) -> bytes:
        """The bytes before the last event that says it has finished."""
        held = self._held
        unsearched = max(0, len(held) - len(_FINISH) + 1)  # it may have begun before this chunk
        held += chunk
        said = held.rfind(_FINISH, unsearched)
        if said >= 0:
            self._has_finish = True
            blanks = ((held.rfind(blank, 0, said), len(blank)) for blank in _BLANK_LINES)
            at = max((place + size for place, size in blanks if place >= 0), default=0)
        elif self._has_finish:
            at = 0
        else:
            tail = range(max(0, len(held) - len(_FINISH) + 1), len(held))
            at = next((place for place in tail if _FINISH.startswith(bytes(held[place:]))), len(held))
        if self._has_finish and len(held) - at > MAX_HELD:
            at, self._has_finish = len(held), False
        free = bytes(held[:at])
        del held[:at]
        return free
