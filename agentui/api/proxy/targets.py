"""Where the bytes of an answer go: to the caller over HTTP, into a record, or both."""

import asyncio
from collections.abc import Mapping
from typing import Protocol

from aiohttp import web

from agentui.http.writing import begin_stream
from agentui.jsonio import dumps_text
from agentui.pipeline.run import Run
from agentui.pipeline.sink import ListenerGone
from agentui.settings import Settings
from agentui.turns.repeats import MAX_ANSWER, Saved, pack

_OF_THIS_TIME = frozenset({"connection", "content-length", "date", "server", "transfer-encoding", "x-request-id"})
"""Headers that are made anew whenever an answer is given."""
_SLOW_BYTES = 64 * 1024
"""A body beyond this is compressed in a thread."""


class ByteTarget(Protocol):
    """One answer as bytes: ``whole``, or ``begin`` and then ``write`` for every piece; ``end`` sends the rest."""

    def whole(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """The answer in one piece, in place of one that was put here before; ``end`` sends it."""

    async def begin(self, status: int, headers: Mapping[str, str], heartbeat: bytes | None) -> None:
        """The head of a stream, which leaves now. ``heartbeat`` is what keeps it alive while nothing is said."""

    async def write(self, data: bytes) -> None:
        """A piece of the stream; returns when there is room for more."""

    def hold(self, data: bytes) -> None:
        """The last words of the stream, in place of those that were held before; ``end`` sends them."""

    async def end(self) -> None:
        """Send what was held, and the end."""

    def abort(self) -> None:
        """Break off, so that a cut answer cannot look finished."""


class HttpTarget:
    """Answers one request. ``response`` is what its handler returns. Raises ListenerGone where the caller has left."""

    def __init__(self, request: web.Request, settings: Settings) -> None:
        self.response: web.StreamResponse | None = None
        self._request = request
        self._settings = settings
        self._watch: _StreamWatch | None = None
        self._held = b""

    def whole(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """The answer, which aiohttp sends when the handler returns it."""
        self.response = web.Response(status=status, body=body, headers=headers)

    async def begin(self, status: int, headers: Mapping[str, str], heartbeat: bytes | None) -> None:
        """Send the head of a stream; its first words follow at once."""
        self.response = response = web.StreamResponse(status=status, headers=headers)
        try:
            await begin_stream(self._request, response)
        except ConnectionError as error:
            raise ListenerGone("The caller has left.") from error
        self._watch = _StreamWatch(self._request, response, heartbeat, self._settings)

    async def write(self, data: bytes) -> None:
        """Send a piece of the stream."""
        assert self.response is not None and self._watch is not None
        self._watch.note(writing=True)
        try:
            await self.response.write(data)
            await self._request.writer.drain()  # aiohttp itself would wait only after every 64 KB
        except ConnectionError as error:
            raise ListenerGone("The caller has left.") from error
        self._watch.note(writing=False)

    def hold(self, data: bytes) -> None:
        """Keep the last words."""
        self._held = data

    async def end(self) -> None:
        """Send the last words and the end, under the same clock as all others: a caller may have stopped reading."""
        if self._watch is None:
            return
        assert self.response is not None
        self._watch.note(writing=True)
        try:
            await self.response.write_eof(self._held)
        except ConnectionError as error:
            raise ListenerGone("The caller has left.") from error
        finally:
            self.leave()

    def abort(self) -> None:
        """Break the connection where the answer has begun; else there is nothing that could look finished."""
        if self._watch is not None:
            self.leave()
            _break(self._request)

    def leave(self) -> None:
        """Watch over the stream no longer."""
        if self._watch is not None:
            self._watch.stop()


class Recorder:
    """Keeps an answer for the same request again, as far as it may be kept."""

    def __init__(self) -> None:
        self._status = 200
        self._headers: Mapping[str, str] = {}
        self._pieces: list[bytes] = []
        self._size = 0
        self._held = b""
        self._is_stream = False

    def whole(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """The answer in one piece."""
        self._status, self._headers, self._held = status, headers, body
        self._is_stream = headers["content-type"] != "application/json"

    async def begin(self, status: int, headers: Mapping[str, str], heartbeat: bytes | None) -> None:
        """A stream's head."""
        self._status, self._headers, self._is_stream = status, headers, True

    async def write(self, data: bytes) -> None:
        """Note a piece, as long as all of them together may be kept."""
        self._size += len(data)
        if self._size <= MAX_ANSWER:
            self._pieces.append(data)
        else:
            self._pieces.clear()

    def hold(self, data: bytes) -> None:
        """The last words."""
        self._held = data

    async def end(self) -> None:
        """Nothing."""

    def abort(self) -> None:
        """Nothing."""

    async def saved(self, run: Run) -> Saved:
        """The answer of this run with all that it says, without what is of this time alone, and without a key that an upstream
        repeated in it. A stream may bring a key in pieces, none of which can be masked: then it is not kept."""
        headers = {name.lower(): value for name, value in self._headers.items() if name.lower() not in _OF_THIS_TIME}
        is_too_large = self._size + len(self._held) > MAX_ANSWER
        if is_too_large or (self._is_stream and _repeats_a_key(run)):
            return Saved(self._status, headers, None)
        body = b"".join((*self._pieces, self._held))
        text = body.decode("utf-8", "surrogateescape")
        shown = run.redactor.redact(text)
        if shown != text:
            body = shown.encode("utf-8", "surrogateescape")
        packed = pack(body) if len(body) < _SLOW_BYTES else await asyncio.to_thread(pack, body)
        return Saved(self._status, headers, packed)


def _repeats_a_key(run: Run) -> bool:
    said = dumps_text(run.frame.answer)
    return run.redactor.redact(said) != said


class Tee:
    """Sends an answer to a caller and into a record, which goes on when the caller has left."""

    def __init__(self, caller: HttpTarget, record: Recorder) -> None:
        self._caller: HttpTarget | None = caller
        self._record = record

    def leave(self) -> None:
        """The caller is gone: from here on the answer is only recorded."""
        if self._caller is not None:
            self._caller.leave()
            self._caller = None

    def whole(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """As in ``ByteTarget``."""
        self._record.whole(status, headers, body)
        if self._caller is not None:
            self._caller.whole(status, headers, body)

    async def begin(self, status: int, headers: Mapping[str, str], heartbeat: bytes | None) -> None:
        """As in ``ByteTarget``."""
        await self._record.begin(status, headers, heartbeat)
        if self._caller is not None:
            try:
                await self._caller.begin(status, headers, heartbeat)
            except ListenerGone:
                self.leave()

    async def write(self, data: bytes) -> None:
        """As in ``ByteTarget``."""
        await self._record.write(data)
        if self._caller is not None:
            try:
                await self._caller.write(data)
            except ListenerGone:
                self.leave()

    def hold(self, data: bytes) -> None:
        """As in ``ByteTarget``."""
        self._record.hold(data)
        if self._caller is not None:
            self._caller.hold(data)

    async def end(self) -> None:
        """As in ``ByteTarget``."""
        if self._caller is not None:
            await self._caller.end()

    def abort(self) -> None:
        """As in ``ByteTarget``."""
        if self._caller is not None:
            self._caller.abort()


def _break(request: web.Request) -> None:
    """Break the connection that a request came on."""
    if request.transport is not None:
        request.transport.abort()


class _StreamWatch:
    """Keeps a silent stream alive and drops a caller that does not read.

    One timer per stream, re-armed by looking at the clock rather than at every chunk. It does not know the answer, which
    knows it: the two would wait for the garbage collector together.
    """

    def __init__(self, request: web.Request, response: web.StreamResponse, beat: bytes | None, settings: Settings) -> None:
        self._request = request
        self._response = response
        self._beat = beat
        self._settings = settings
        self._loop = asyncio.get_running_loop()
        self._since = self._loop.time()
        self._task: asyncio.Task[None] | None = None
        self._timer = self._loop.call_later(settings.heartbeat, self._look)
        self._writes = 0
        """How many wait for the caller: a heartbeat may wait beside a piece."""

    def note(self, *, writing: bool) -> None:
        """A write begins, or is done."""
        self._writes += 1 if writing else -1
        self._since = self._loop.time()

    def stop(self) -> None:
        """The stream is over."""
        self._timer.cancel()
        if self._task is not None:
            self._task.cancel()

    def _look(self) -> None:
        silent = self._loop.time() - self._since
        if self._writes and silent >= self._settings.write_timeout:
            self.stop()
            _break(self._request)
            return
        if not self._writes and self._beat is not None and silent >= self._settings.heartbeat:
            self.note(writing=True)
            self._task = self._loop.create_task(self._send(self._beat))
        self._timer = self._loop.call_later(self._settings.heartbeat, self._look)

    async def _send(self, beat: bytes) -> None:
        try:
            await self._response.write(beat)
        except ConnectionError:
            return
        finally:
            self.note(writing=False)
