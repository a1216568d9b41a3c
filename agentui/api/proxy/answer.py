"""The caller's ear over HTTP: deltas, replies and raw bytes become one response in the caller's dialect."""

import asyncio
import socket
import time
from collections.abc import Mapping, Sequence
from functools import cached_property

from aiohttp import HttpVersion11, web

from agentui.chat.deltas import Delta, End
from agentui.chat.messages import Text
from agentui.chat.reply import Choice, Reply, ReplyBuilder
from agentui.chat.request import VendorName, WireRequest
from agentui.errors import AgentUIError, Unsupported
from agentui.ids import new_id
from agentui.jsonio import Json, dumps
from agentui.pipeline.estimate import estimate_tokens
from agentui.pipeline.run import Run
from agentui.settings import Settings
from agentui.turns.repeats import Claim, Saved
from agentui.vendors.base import StreamEnd, StreamRenderer, Vendor
from agentui.vendors.sse import SseEvent

MAX_DROPPED = 2000
"""Characters of ``x-agentui-dropped``; clients refuse headers that are too long."""
_CONTENT_TYPE = frozenset({"content-type"})
_CHARSETS = ("", "; charset=utf-8", "; charset=UTF-8")
_USUAL = frozenset({"", *(kind + charset for kind in ("application/json", "text/event-stream") for charset in _CHARSETS)})
"""Content types that hold no key, as most answers have."""
STREAM_HEADERS = {"cache-control": "no-cache", "x-accel-buffering": "no"}
MAX_WAITING = 4 * 1024
"""Bytes of a stream that wait here for a caller who does not read."""
MAX_UNSENT = 16 * 1024
"""Bytes that wait in the system's buffer."""
_NOTSENT_LOWAT: int | None = getattr(socket, "TCP_NOTSENT_LOWAT", None)
_UNIX: int | None = getattr(socket, "AF_UNIX", None)


async def begin_stream(request: web.Request, response: web.StreamResponse) -> None:
    """Send the head of a streamed answer; whoever writes to it waits whenever the caller does not read."""
    if request.version < HttpVersion11:
        # Only the connection's end tells the end of this body; aiohttp would wait for another request.
        response.force_close()
    await response.prepare(request)
    _limit_unsent(request.transport)


def _limit_unsent(transport: asyncio.Transport | None) -> None:
    """Let a stream's caller who does not read be noticed soon, so that the upstream is held instead of read and stored.

    Left alone, the system takes some 4 MB for each connection before it says that it is full. The limit (where the system has
    one: Linux, macOS) counts only what has not been sent yet, so a fast caller far away is served as fast as before.
    """
    if transport is None:
        return
    transport.set_write_buffer_limits(high=MAX_WAITING)
    connection = transport.get_extra_info("socket")
    if connection is not None and connection.family != _UNIX and _NOTSENT_LOWAT is not None:
        connection.setsockopt(socket.IPPROTO_TCP, _NOTSENT_LOWAT, MAX_UNSENT)


class ProxyAnswer:
    """One response on its way. Headers go out with the first content, so that every earlier failure is a proper status.

    What looks like the end (see ``StreamEnd``) is held back until ``finish``, which is called when the whole
    run has succeeded.
    """

    # What most answers never have stands here, where it costs an answer nothing.
    claim: Claim | None = None
    """What the request's key claims, where it has one that counts."""
    _response: web.StreamResponse | None = None
    _is_raw = False
    _raw_end: StreamEnd | None = None
    _held_events: Sequence[SseEvent] = ()
    _held_deltas: Sequence[Delta] = ()
    _passed_through = False
    _builder: ReplyBuilder | None = None
    _body: bytes | None = None
    _pulse: "_Pulse | None" = None

    def __init__(
        self,
        request: web.Request,
        vendor: Vendor,
        wire: WireRequest,
        run: Run,
        settings: Settings,
    ) -> None:
        self._request = request
        self._vendor = vendor
        self._wire = wire
        self._run = run
        self._settings = settings
        self._headers: dict[str, str] = {}
        self._dropped: dict[str, None] = {}

    @cached_property
    def _renderer(self) -> StreamRenderer:
        """What writes the stream; whole answers need none."""
        return self._vendor.stream_renderer(self._wire)

    @cached_property
    def _end_finder(self) -> StreamEnd:
        """What finds the end of the stream."""
        return self._vendor.stream_end()

    @property
    def wants_stream(self) -> bool:
        """True when the caller asked for a stream."""
        return self._wire.stream

    @property
    def has_begun(self) -> bool:
        """True when the status line is out and an error can only follow inside the answer."""
        return self._response is not None

    def note_dropped(self, names: Sequence[str]) -> None:
        """Name what could not be carried; shown in ``x-agentui-dropped``."""
        self._dropped.update(dict.fromkeys(names))

    def note_headers(self, headers: Mapping[str, str]) -> None:
        """Show these headers of the upstream's answer to the caller."""
        if headers.keys() <= _CONTENT_TYPE:
            return
        self._headers.update({name: value for name, value in self._clean(headers).items() if name != "content-type"})

    async def send(self, vendor: VendorName, events: Sequence[SseEvent], deltas: Sequence[Delta]) -> None:
        """Pass on the next piece: the events themselves within one dialect, rendered deltas across. Raises ConnectionError
        when the caller is gone."""
        if not self._wire.stream:
            if self._builder is None:
                self._builder = ReplyBuilder()
            self._builder.feed(deltas)
            return
        is_own = vendor == self._vendor.name
        if is_own and not events:
            # The events have said it all; only what closes the framing is missing.
            self._held_deltas = [delta for delta in deltas if isinstance(delta, End)]
            return
        held = self._release_held() if self._held_events or self._held_deltas else b""
        data = held + (self._pass(events, deltas) if is_own else self._render(deltas))
        if data:
            await self._write(data)

    async def reply(self, reply: Reply, body: bytes | None = None) -> None:
        """A whole answer; to a caller who wants a stream it is told as one."""
        if self.wants_stream:
            await self._write(self._render(list(reply.deltas())))
        elif body is not None and reply.raw_vendor == self._vendor.name:
            self._body = body
        else:
            self._body = dumps(self._vendor.render_reply(reply, self._wire))

    async def document(self, body: Json) -> None:
        """A JSON document in the caller's shape."""
        self._body = dumps(body)

    async def tokens(self, count: int, *, estimated: bool) -> None:
        """A token count; ``x-agentui-estimated: true`` says that it was guessed here."""
        if estimated:
            self._headers["x-agentui-estimated"] = "true"
        assert self._vendor.count_tokens is not None
        self._body = dumps(self._vendor.count_tokens.render_reply(count))

    async def raw(self, status: int, headers: Mapping[str, str], chunk: bytes) -> None:
        """The next bytes of a forwarded answer."""
        if self._response is None:
            self._is_raw = True
            self._response = web.StreamResponse(
                status=status, headers={**self._own_headers(), **STREAM_HEADERS, **self._clean(headers)}
            )
            # A lone node's answer is over when its run is; elsewhere a commit or another node may still fail.
            may_fail = self._run.conclude is not None or len(self._run.plan.nodes) > 1
            if may_fail and self._response.content_type == "text/event-stream":
                self._raw_end = self._vendor.stream_end()
            await self._open(self._response, None)
        if self._raw_end is not None:
            chunk = self._raw_end.hold(chunk)
        if chunk:
            await self._send(chunk)

    async def text(self, text: str) -> None:
        """Plain words of a node that called no model."""
        if self._wire.operation == "count_tokens":
            await self.tokens(estimate_tokens(self._run.incoming.chat), estimated=True)
            return
        if self._wire.operation == "embeddings":
            raise Unsupported("This pipeline answers with text and makes no embeddings: choose one that calls a provider.")
        model = self._run.incoming.model or f"pipeline/{self._run.plan.id}"
        choice = Choice((Text(text),), "stop")
        await self.reply(Reply((choice,), new_id("msg"), model, self._run.started_ms // 1000))

    async def settle(self) -> Saved | None:
        """The answer as it is kept for the same request again; None where that is not wanted."""
        return None

    async def finish(self) -> web.StreamResponse:
        """The run succeeded: send what was held back, and end."""
        if self._builder is not None:
            await self.reply(self._builder.reply())
        if self._response is None and self._body is not None:
            return web.Response(body=self._body, content_type="application/json", headers=self._own_headers())
        last = self._last_words()
        if self._response is None:
            if not last:
                raise AgentUIError("The pipeline ended without an answer.")
            await self._open_stream()
        return await self._end(last)

    async def fail(self, error: AgentUIError) -> web.StreamResponse:
        """The run failed after the answer began: say so inside it. Nothing that was held back is sent.

        A forwarded answer has no words of ours; its connection is broken off instead.
        """
        assert self._response is not None
        if self._is_raw:
            self.abort()
            return self._response
        return await self._end(self._renderer.fail(error))

    def abort(self) -> None:
        """Break the connection, so that a cut answer cannot look finished."""
        self._stop_pulse()
        _break(self._request)

    def _pass(self, events: Sequence[SseEvent], deltas: Sequence[Delta]) -> bytes:
        """The events as they came; what looks like the end is held back."""
        self._passed_through = True
        end = self._end_finder.in_events(events, deltas)
        self._held_events, events = events[end:], events[:end]
        passthrough = self._renderer.passthrough
        if len(events) == 1:
            return passthrough(events[0])
        return b"".join([passthrough(event) for event in events])

    def _render(self, deltas: Sequence[Delta]) -> bytes:
        """Deltas in the caller's dialect, up to what looks like the end."""
        end = self._end_finder.in_deltas(deltas)
        if end < len(deltas):
            self._held_deltas, deltas = deltas[end:], deltas[:end]
        feed = self._renderer.feed
        return b"".join([feed(delta) for delta in deltas])

    def _last_words(self) -> bytes:
        """What was held back until the run has succeeded."""
        return self._release_held() if self._raw_end is None else self._raw_end.held

    def _release_held(self) -> bytes:
        """What was held back, because more came after it or because the run has succeeded."""
        if not self._held_events and not self._held_deltas:
            return b""
        pieces = [self._renderer.passthrough(event) for event in self._held_events]
        pieces += [self._renderer.feed(delta) for delta in self._held_deltas]
        self._held_events = self._held_deltas = ()
        return b"".join(pieces)

    async def _write(self, data: bytes) -> None:
        """Send a piece of an answer of ours."""
        if self._response is None:
            await self._open_stream()
        await self._send(data)

    async def _send(self, data: bytes) -> None:
        """Send a piece, and wait until the caller has room for more."""
        assert self._response is not None and self._pulse is not None
        self._run.chunks += 1
        self._pulse.note(writing=True)
        try:
            await self._response.write(data)
            await self._request.writer.drain()  # aiohttp itself would wait only after every 64 KB
        except ConnectionError:
            self._lose()
            raise
        self._pulse.note(writing=False)

    def _lose(self) -> None:
        """The caller is gone. Its task is cancelled too, but a node's task may be woken first."""
        self._run.finish("cancelled")

    async def _end(self, last: bytes) -> web.StreamResponse:
        """Write the last words and the end, under the same clock as all others: a caller may have stopped reading."""
        assert self._response is not None and self._pulse is not None
        self._pulse.note(writing=True)
        try:
            await self._response.write_eof(last)
        finally:
            self._stop_pulse()
        return self._response

    async def _open_stream(self) -> None:
        """Begin an answer of ours, whose first words follow at once."""
        shape = self._vendor.stream_format(self._wire)
        headers = {**self._own_headers(), **STREAM_HEADERS, "content-type": shape.content_type}
        self._response = web.StreamResponse(headers=headers)
        await self._open(self._response, shape.heartbeat)

    async def _open(self, response: web.StreamResponse, heartbeat: bytes | None) -> None:
        """Send the head, and watch over what follows. From here on the answer's length has no limit, only its silence."""
        self._run.answer_began = time.monotonic()
        self._run.release_deadline()
        await begin_stream(self._request, response)
        self._pulse = _Pulse(self._request, response, heartbeat, self._settings)

    def _stop_pulse(self) -> None:
        if self._pulse is not None:
            self._pulse.stop()

    def _own_headers(self) -> dict[str, str]:
        run = self._run
        return {**self._headers, **self._dropped_header(), "x-agentui-run": run.id, "x-agentui-pipeline": run.plan.id}

    def _clean(self, headers: Mapping[str, str]) -> Mapping[str, str]:
        """An upstream's headers without the keys of this run, should it repeat one. One pass serves them all."""
        if headers.keys() <= _CONTENT_TYPE and headers.get("content-type", "") in _USUAL:
            return headers
        values = "\n".join(headers.values())
        shown = self._run.redactor.redact(values)
        return headers if shown == values else dict(zip(headers, shown.split("\n"), strict=True))

    def _dropped_header(self) -> dict[str, str]:
        if not self._dropped:
            return {}
        # Names may come from the caller's body: whatever no header may hold is escaped.
        shown = ", ".join(name.encode("unicode_escape").decode() for name in self._dropped)
        return {"x-agentui-dropped": shown[:MAX_DROPPED]}


def _break(request: web.Request) -> None:
    """Break the connection that a request came on."""
    if request.transport is not None:
        request.transport.abort()


class _Pulse:
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
        self.writing = False

    def note(self, *, writing: bool) -> None:
        """A write begins, or waits for the caller, or is done."""
        self.writing = writing
        self._since = self._loop.time()

    def stop(self) -> None:
        """The stream is over."""
        self._timer.cancel()
        if self._task is not None:
            self._task.cancel()

    def _look(self) -> None:
        silent = self._loop.time() - self._since
        if self.writing and silent >= self._settings.write_timeout:
            self.stop()
            _break(self._request)
            return
        if not self.writing and self._beat is not None and silent >= self._settings.heartbeat:
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
