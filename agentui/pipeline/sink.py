"""Who listens to the answering node while it works."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from agentui.chat.deltas import Delta
from agentui.chat.reply import Reply
from agentui.chat.request import VendorName
from agentui.errors import AgentUIError
from agentui.jsonio import Json
from agentui.vendors.sse import SseEvent


class ListenerGone(ConnectionResetError):
    """Nobody listens any more, so the run has no purpose. A sink raises it where it would send."""


class Sink(Protocol):
    """Where an answer goes. Each coroutine returns when there is room for more.

    one node calls one of send (repeatedly), reply, raw (repeatedly), document, tokens ──> settle ──> end
    or, whatever was called before: fail, or abort

    What looks like the end of an answer is held back until ``end``: only a run that has succeeded may look finished.
    """

    @property
    def wants_stream(self) -> bool:
        """True when pieces are wanted as they come, and not only the whole."""

    def note_dropped(self, names: Sequence[str]) -> None:
        """Name what could not be carried to the upstream's dialect (header ``x-agentui-dropped``)."""

    def note_headers(self, headers: Mapping[str, str]) -> None:
        """Headers of the upstream's answer that the caller may see (request ids, rate limits), names in lower case."""

    async def send(self, vendor: VendorName | None, events: Sequence[SseEvent], deltas: Sequence[Delta]) -> None:
        """The next piece of a streamed answer: the events as ``vendor`` wrote them, and what they mean. Without a vendor there
        are no events: several answers are told as one."""

    async def reply(self, reply: Reply, body: bytes | None = None) -> None:
        """A whole answer; ``body`` is its wire form where nothing has to be changed for the same dialect."""

    async def document(self, body: Json) -> None:
        """A JSON document in the caller's own shape (embeddings)."""

    async def tokens(self, count: int, *, estimated: bool) -> None:
        """The answer to a token count."""

    async def raw(self, status: int, headers: Mapping[str, str], chunk: bytes) -> None:
        """The next bytes of a forwarded answer; status and headers count at the first call."""

    def settle(self) -> None:
        """All nodes are done: put the last words together, which ``end`` sends.

        Raises AgentUIError where there is no answer."""

    async def end(self) -> None:
        """The run has succeeded: send what was held back."""

    async def fail(self, error: AgentUIError) -> None:
        """The run has failed: say so, inside the answer where it has begun. Nothing that was held back is sent."""

    def abort(self) -> None:
        """The run was cut: whatever was sent must not look finished."""


class NullSink:
    """Nobody listens; a node that answers knows that it does."""

    def __init__(self, *, wants_stream: bool = False) -> None:
        self.wants_stream = wants_stream

    def note_dropped(self, names: Sequence[str]) -> None:
        """Nothing."""

    def note_headers(self, headers: Mapping[str, str]) -> None:
        """Nothing."""

    async def send(self, vendor: VendorName | None, events: Sequence[SseEvent], deltas: Sequence[Delta]) -> None:
        """Nothing."""

    async def reply(self, reply: Reply, body: bytes | None = None) -> None:
        """Nothing."""

    async def document(self, body: Json) -> None:
        """Nothing."""

    async def tokens(self, count: int, *, estimated: bool) -> None:
        """Nothing."""

    async def raw(self, status: int, headers: Mapping[str, str], chunk: bytes) -> None:
        """Nothing."""

    def settle(self) -> None:
        """Nothing."""

    async def end(self) -> None:
        """Nothing."""

    async def fail(self, error: AgentUIError) -> None:
        """Nothing."""

    def abort(self) -> None:
        """Nothing."""
