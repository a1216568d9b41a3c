"""Server-sent events: bytes in, events out, and the only writer of events.

Lines end at LF, CR LF or CR and nowhere else (U+2028, U+2029 and U+0085 are ordinary characters here), and bytes are
decoded only when an event is whole, so any chunking of a stream gives the same events.
"""

import re
from dataclasses import dataclass

from agentui.errors import UpstreamInvalid

MAX_EVENT_BYTES = 16 * 1024 * 1024
_LINE_END = re.compile(rb"\r\n?|\n")
_LF, _CR = b"\n"[0], b"\r"[0]  # looked for as numbers: for bytes Python 3.11 first makes an exception and throws it away


@dataclass(slots=True, unsafe_hash=True)
class SseEvent:
    """One event: its name ("" where none was given) and its data, still bytes. A value that nobody changes; not frozen,
    because one is made for every chunk of a stream (see ``Message``)."""

    data: bytes
    event: str = ""


class SseDecoder:
    """Cuts a byte stream into events. ``feed`` returns the events that became whole."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max = max_event_bytes
        self._begun = bytearray()
        """A line whose end has not come yet."""
        self._lines: list[bytes] = []
        self._event = ""
        self._size = 0
        self._first = True
        self._skip_lf = False

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Take the next bytes. Raises UpstreamInvalid when one event grows past the cap."""
        if (whole := self._whole_events(chunk)) is not None:
            self._first = False
            return whole
        if self._skip_lf and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._skip_lf = False
        events: list[SseEvent] = []
        start = 0
        for end in _LINE_END.finditer(chunk):
            line = chunk[start : end.start()]
            if self._begun:
                line = bytes(self._begun) + line
                self._begun.clear()
            start = end.end()
            if (event := self._line(line)) is not None:
                events.append(event)
        if start < len(chunk):
            self._begun += chunk[start:] if start else chunk
        elif chunk:
            self._skip_lf = chunk[-1] == _CR
        if len(self._begun) + self._size > self._max:
            raise UpstreamInvalid(f"The upstream sent one event of more than {self._max} bytes.", limit=self._max)
        return events

    def close(self) -> list[SseEvent]:
        """The bytes are over: the end marker of OpenAI's streams, where a server leaves out the empty line behind it. Any other
        event that is not whole is none, as the standard says."""
        if bytes(self._begun).rstrip() == b"data: [DONE]" or self._lines == [b"[DONE]"]:
            return self.feed(b"\n\n")
        return []

    @property
    def held(self) -> int:
        """Bytes of an event whose end has not come."""
        return len(self._begun) + self._size

    @property
    def is_clean(self) -> bool:
        """True between events: nothing half-read is waiting."""
        return not self._begun and not self._lines and not self._event

    def _whole_events(self, chunk: bytes) -> list[SseEvent] | None:
        """The events of a chunk that holds whole ones only, each of one ``data: ...`` line with or without an
        ``event: ...`` line before it, where nothing waits: what most reads of a stream are. None for any other chunk."""
        if self._begun or self._lines or self._event or self._skip_lf or _CR in chunk or len(chunk) > self._max:
            return None
        if chunk[:6] == b"data: " and chunk.find(b"\n") == len(chunk) - 2 and chunk[-1] == _LF:
            return [SseEvent(chunk[6:-2])]
        blocks = chunk.split(b"\n\n")
        if blocks.pop():
            return None
        events: list[SseEvent] = []
        for block in blocks:
            name, has_name, data = block.partition(b"\n")
            if not has_name:
                name, data = b"event: ", block
            if data[:6] != b"data: " or name[:7] != b"event: " or _LF in data:
                return None
            events.append(SseEvent(data[6:], name[7:].decode("utf-8", "replace") if has_name else ""))
        return events

    def _line(self, line: bytes) -> SseEvent | None:
        """Take one line; the empty one ends an event."""
        if self._first:
            self._first = False
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line:
            return self._dispatch()
        name, colon, value = line.partition(b":")
        if colon:
            value = value.removeprefix(b" ")
        if name == b"data":
            self._lines.append(value)
            self._size += len(value)
        elif name == b"event":
            self._event = value.decode("utf-8", "replace")
        return None

    def _dispatch(self) -> SseEvent | None:
        """End the event; one without data is dropped, as the standard says."""
        lines, event = self._lines, self._event
        self._event = ""
        self._size = 0
        if not lines:
            return None
        self._lines = []
        return SseEvent(lines[0] if len(lines) == 1 else b"\n".join(lines), event)


def encode_event(data: bytes, event: str = "") -> bytes:
    """Write one event. Line breaks in ``data`` become further data lines; ``event`` is one of our constants or a name
    that holds no line break."""
    if _LF in data or _CR in data:
        body = b"\n".join(b"data: " + line for line in data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"))
    else:
        body = b"data: " + data
    if not event:
        return body + b"\n\n"
    name = event.replace("\r", " ").replace("\n", " ").encode()
    return b"event: " + name + b"\n" + body + b"\n\n"


def encode_comment(text: str = "") -> bytes:
    """Write a comment, which keeps a quiet connection alive."""
    return b": " + text.replace("\r", " ").replace("\n", " ").encode() + b"\n\n"
