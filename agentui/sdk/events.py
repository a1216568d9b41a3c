"""Server-sent events: how they are cut out of bytes, and the event that the client hands out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypedDict


class Event(TypedDict):
    """An event of a stream: its name, its data, and its id where it has one."""

    type: str
    payload: Any
    id: str | None


@dataclass(frozen=True, slots=True)
class RawEvent:
    """An event as it came."""

    name: str
    data: str
    id: str | None

    def as_event(self) -> Event:
        """The event with its data read; data that is no JSON stays a text."""
        try:
            payload: Any = json.loads(self.data)
        except (ValueError, RecursionError):
            payload = self.data
        return {"type": self.name, "payload": payload, "id": self.id}


class EventParser:
    """Understands a stream of events. Holds what has come of a line and of an event, touches no socket."""

    def __init__(self) -> None:
        self._line: list[bytes] = []
        self._after_return = False
        self._name = "message"
        self._data: list[str] = []
        self._id: str | None = None

    def feed(self, chunk: bytes) -> Iterator[RawEvent]:
        """The events that are whole with these bytes. What stands behind the last empty line waits for more."""
        if self._after_return and chunk:
            # The line ended with the last bytes already.
            chunk = chunk.removeprefix(b"\n")
            self._after_return = False
        if chunk:
            self._after_return = chunk.endswith(b"\r")
        # splitlines of bytes knows no line ends but those of the format.
        for line in chunk.splitlines(keepends=True):
            self._line.append(line.rstrip(b"\r\n"))
            if line.endswith((b"\n", b"\r")):
                text = b"".join(self._line).decode("utf-8", "replace")
                self._line.clear()
                event = self._end_line(text)
                if event is not None:
                    yield event

    def _end_line(self, line: str) -> RawEvent | None:
        """Take a line; an empty one ends an event."""
        if not line:
            whole = RawEvent(self._name, "\n".join(self._data), self._id) if self._data else None
            self._name, self._data = "message", []
            return whole
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            self._name = value
        elif field == "data":
            self._data.append(value)
        elif field == "id":
            self._id = value
        return None
