"""Who speaks, where several nodes may: the first that has something to say, and nobody after it."""

import asyncio
from collections.abc import Mapping, Sequence

from agentui.chat.deltas import Delta
from agentui.chat.reply import Reply
from agentui.chat.request import VendorName
from agentui.errors import AgentUIError
from agentui.jsonio import Json
from agentui.pipeline.sink import Sink
from agentui.pipeline.walk.frame import Frame
from agentui.vendors.sse import SseEvent


class Speaker:
    """The sink of one node among several that may answer.

    Headers wait for its first words: of a node that fails before them nothing is told. A node that would speak while another
    one does waits: that one ends the run.
    """

    def __init__(self, sink: Sink, frame: Frame, node: str) -> None:
        self._sink = sink
        self._frame = frame
        self._node = node
        self._dropped: list[str] = []
        self._headers: dict[str, str] = {}
        self.has_spoken = False

    @property
    def wants_stream(self) -> bool:
        """True when pieces are wanted as they come."""
        return self._sink.wants_stream

    @property
    def may_speak(self) -> bool:
        """False once another node has begun to answer."""
        return self._frame.answered_by in (None, self._node)

    def note_dropped(self, names: Sequence[str]) -> None:
        """Keep the names for when the node speaks."""
        if self.has_spoken:
            self._sink.note_dropped(names)
        else:
            self._dropped.extend(names)

    def note_headers(self, headers: Mapping[str, str]) -> None:
        """Keep the headers for when the node speaks."""
        if self.has_spoken:
            self._sink.note_headers(headers)
        else:
            self._headers.update(headers)

    async def send(self, vendor: VendorName | None, events: Sequence[SseEvent], deltas: Sequence[Delta]) -> None:
        """The next piece of a streamed answer."""
        if not self.has_spoken:
            await self._begin()
        await self._sink.send(vendor, events, deltas)

    async def reply(self, reply: Reply, body: bytes | None = None) -> None:
        """A whole answer."""
        await self._begin()
        await self._sink.reply(reply, body)

    async def document(self, body: Json) -> None:
        """A JSON document."""
        await self._begin()
        await self._sink.document(body)

    async def tokens(self, count: int, *, estimated: bool) -> None:
        """The answer to a token count."""
        await self._begin()
        await self._sink.tokens(count, estimated=estimated)

    async def raw(self, status: int, headers: Mapping[str, str], chunk: bytes) -> None:
        """The next bytes of a forwarded answer."""
        if not self.has_spoken:
            await self._begin()
        await self._sink.raw(status, headers, chunk)

    def settle(self) -> None:
        """The run's matter, which knows the sink itself."""

    async def end(self) -> None:
        """The run's matter, which knows the sink itself."""

    async def fail(self, error: AgentUIError) -> None:
        """The run's matter, which knows the sink itself."""

    def abort(self) -> None:
        """The run's matter, which knows the sink itself."""

    async def _begin(self) -> None:
        """Take the word, and tell what was kept. Where another node has it, wait for the end that it makes."""
        if not self.may_speak:
            await asyncio.Event().wait()
        self.has_spoken = True
        self._frame.answered_by = self._node
        if self._dropped:
            self._sink.note_dropped(self._dropped)
        if self._headers:
            self._sink.note_headers(self._headers)
