"""``AnswerWriter``: what a pipeline answers becomes status, headers and bytes in the caller's dialect."""

import time
from collections.abc import Mapping, Sequence
from functools import cached_property

from agentui.api.proxy.targets import ByteTarget
from agentui.chat.deltas import Delta, End, Start
from agentui.chat.reply import Reply, ReplyBuilder
from agentui.chat.request import VendorName, WireRequest
from agentui.errors import AgentUIError, BudgetExceeded, NodeFailed
from agentui.http.errors import redacted, retry_hint
from agentui.jsonio import Json, dumps
from agentui.pipeline.run import Run
from agentui.vendors.base import StreamEnd, StreamRenderer, Vendor
from agentui.vendors.sse import SseEvent

MAX_DROPPED = 2000
"""Characters of ``x-agentui-dropped``; clients refuse headers that are too long."""
_CONTENT_TYPE = frozenset({"content-type"})
_CHARSETS = ("", "; charset=utf-8", "; charset=UTF-8")
_USUAL = frozenset({"", *(kind + charset for kind in ("application/json", "text/event-stream") for charset in _CHARSETS)})
"""Content types that hold no key, as most answers have."""
JSON_HEADERS = {"content-type": "application/json"}
STREAM_HEADERS = {"cache-control": "no-cache", "x-accel-buffering": "no"}


class AnswerWriter:
    """The ``Sink`` of a request that came over HTTP. Headers go out with the first content, so that every earlier failure is a
    proper status. What looks like the end (see ``StreamEnd``) is held back until ``end``."""

    # What most answers never have stands here, where it costs an answer nothing.
    run: Run | None = None
    """The run that answers, once it has begun."""
    _has_begun = False
    _is_raw = False
    _is_settled = False
    _raw_end: StreamEnd | None = None
    _held_events: Sequence[SseEvent] = ()
    _held_deltas: Sequence[Delta] = ()
    _builder: ReplyBuilder | None = None
    _body: bytes | None = None
    _kind: Mapping[str, str] = JSON_HEADERS

    def __init__(self, vendor: Vendor, wire: WireRequest, target: ByteTarget) -> None:
        """Write to ``target`` in the dialect ``vendor`` of the request ``wire``."""
        self._vendor = vendor
        self._wire = wire
        self._target = target
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
    def _run(self) -> Run:
        assert self.run is not None  # nobody speaks before it has begun
        return self.run

    @property
    def wants_stream(self) -> bool:
        """True when the caller asked for a stream."""
        return self._wire.stream

    def note_dropped(self, names: Sequence[str]) -> None:
        """Name what could not be carried; shown in ``x-agentui-dropped``."""
        self._dropped.update(dict.fromkeys(names))

    def note_headers(self, headers: Mapping[str, str]) -> None:
        """Show these headers to the caller, as long as the answer's head has not left."""
        if headers.keys() <= _CONTENT_TYPE:
            return
        self._headers.update({name: value for name, value in self._clean(headers).items() if name != "content-type"})
        if self._is_settled and not self._has_begun:
            self._put_whole()

    async def send(self, vendor: VendorName | None, events: Sequence[SseEvent], deltas: Sequence[Delta]) -> None:
        """Pass on the next piece: the events themselves within one dialect, rendered deltas across."""
        if not self._wire.stream:
            if self._builder is None:
                self._builder = ReplyBuilder()
            self._builder.feed(deltas)
            return
        is_own = vendor == self._vendor.name and not self._wire.is_retold
        if is_own and not events:
            # The events have said it all; only what closes the framing is missing.
            self._held_deltas = [delta for delta in deltas if isinstance(delta, End)]
            return
        held = self._release_held() if self._held_events or self._held_deltas else b""
        data = held + (self._pass(events, deltas) if is_own else self._render(deltas))
        if data:
            await self._write(data)

    async def reply(self, reply: Reply, body: bytes | None = None) -> None:
        """A whole answer; a caller who wants a stream gets it as one."""
        if self.wants_stream:
            await self._write(self._render(list(reply.deltas())))
        elif body is not None and reply.raw_vendor == self._vendor.name and not self._wire.is_retold:
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
        if not self._has_begun:
            self._is_raw = True
            shown = {**self._all_headers(), **STREAM_HEADERS, **self._clean(headers)}
            # A lone node's answer is over when its run is; elsewhere a commit or another node may still fail.
            may_fail = self._run.memory is not None or len(self._run.plan.nodes) > 1
            if may_fail and shown.get("content-type", "").partition(";")[0].strip().lower() == "text/event-stream":
                self._raw_end = self._vendor.stream_end()
            await self._begin(status, shown, None)
        if self._raw_end is not None:
            chunk = self._raw_end.hold(chunk)
        if chunk:
            await self._send(chunk)

    def settle(self) -> None:
        """Put the last words together. Raises AgentUIError where there is no answer."""
        if self._builder is not None:
            self._body = dumps(self._vendor.render_reply(self._builder.reply(), self._wire))
        last = self._release_held() if self._raw_end is None else self._raw_end.held
        self._is_settled = True
        if self._has_begun:
            self._target.hold(last)
            return
        if self._body is None:
            if not last:
                raise AgentUIError("The pipeline ended without an answer.")
            # A stream of which nothing could leave before its end.
            shape = self._vendor.stream_format(self._wire)
            self._body, self._kind = last, {**STREAM_HEADERS, "content-type": shape.content_type}
            self._run.answer_began = time.monotonic()
        self._put_whole()

    async def end(self) -> None:
        """The run succeeded: send what was held back, and the end."""
        await self._target.end()

    async def fail(self, error: AgentUIError) -> None:
        """Say that the run failed: by a status, or inside the answer where that has begun.

        A forwarded answer has no words of ours; its connection is broken off instead.
        """
        error = redacted(error, self._run.redactor)
        if isinstance(error, NodeFailed) and "node" in error.details:
            # The vendors' shapes have no room for details.
            error.message = f"Node {error.details['node']!r}: {error.message}"
        if not self._has_begun and self.wants_stream and self._vendor.tells_in_stream(error):
            shape = self._vendor.stream_format(self._wire)
            told = self._renderer.feed(Start()) + self._renderer.fail(error)
            headers = {**self._all_headers(), **self._limits(error), **STREAM_HEADERS, "content-type": shape.content_type}
            self._target.whole(200, headers, told)
        elif not self._has_begun:
            reply = self._vendor.render_error(error)
            told_headers = {**retry_hint(error), **_lowered(reply.headers), **self._limits(error)}
            self._target.whole(reply.status, {**told_headers, **self._run_headers(), **JSON_HEADERS}, dumps(reply.body))
        elif self._is_raw:
            self._target.abort()
            return
        else:
            self._target.hold(self._renderer.fail(error))
        await self._target.end()

    def abort(self) -> None:
        """Break the connection, so that a cut answer cannot look finished."""
        self._target.abort()

    def _put_whole(self) -> None:
        """Hand over an answer in one piece, with the headers that are known by now."""
        assert self._body is not None
        self._target.whole(200, {**self._all_headers(), **self._kind}, self._body)

    def _pass(self, events: Sequence[SseEvent], deltas: Sequence[Delta]) -> bytes:
        """The events as they came; what looks like the end is held back."""
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

    def _release_held(self) -> bytes:
        """What was held back, because more came after it or because the run has succeeded."""
        if not self._held_events and not self._held_deltas:
            return b""
        pieces = [self._renderer.passthrough(event) for event in self._held_events]
        pieces += [self._renderer.feed(delta) for delta in self._held_deltas]
        self._held_events = self._held_deltas = ()
        return b"".join(pieces)

    async def _write(self, data: bytes) -> None:
        """Send a piece of an answer of ours, the head before the first."""
        if not self._has_begun:
            shape = self._vendor.stream_format(self._wire)
            headers = {**self._all_headers(), **STREAM_HEADERS, "content-type": shape.content_type}
            await self._begin(200, headers, shape.heartbeat)
        await self._send(data)

    async def _begin(self, status: int, headers: Mapping[str, str], heartbeat: bytes | None) -> None:
        """Send the head. From here on the answer's length has no limit, only its silence."""
        self._has_begun = True
        self._run.answer_began = time.monotonic()
        self._run.release_deadline()
        await self._target.begin(status, headers, heartbeat)

    async def _send(self, data: bytes) -> None:
        self._run.chunks += 1
        await self._target.write(data)

    def _all_headers(self) -> dict[str, str]:
        headers = {**self._run_headers(), **self._headers}
        if self._dropped:
            # Names may come from the caller's body: whatever no header may hold is escaped.
            shown = ", ".join(name.encode("unicode_escape").decode() for name in self._dropped)
            headers["x-agentui-dropped"] = shown[:MAX_DROPPED]
        return headers

    def _limits(self, error: AgentUIError) -> Mapping[str, str]:
        """What the caller has left of limits for a minute, where one of them refused the call."""
        return self._vendor.billing.limit_headers(error.limits) if isinstance(error, BudgetExceeded) else {}

    def _run_headers(self) -> dict[str, str]:
        """Which run answers, and in which chat."""
        run = self._run
        headers = {"x-agentui-run": run.id, "x-agentui-pipeline": run.plan.id}
        return headers if run.memory is None else {**headers, **self._clean(run.memory.headers)}

    def _clean(self, headers: Mapping[str, str]) -> Mapping[str, str]:
        """Headers without the keys of this run, should an upstream repeat one. One pass serves them all."""
        if headers.keys() <= _CONTENT_TYPE and headers.get("content-type", "") in _USUAL:
            return headers
        values = "\n".join(headers.values())
        shown = self._run.redactor.redact(values)
        return headers if shown == values else dict(zip(headers, shown.split("\n"), strict=True))


def _lowered(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
