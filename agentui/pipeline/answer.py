"""Where the answering node speaks to the caller."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from agentui.chat.deltas import Delta
from agentui.chat.reply import Reply
from agentui.chat.request import VendorName
from agentui.jsonio import Json
from agentui.vendors.sse import SseEvent


class Answer(Protocol):
    """The caller's ear. Each method returns when the caller has room for more.

    One node calls one of ``send`` (repeatedly), ``reply``, ``raw`` (repeatedly), ``document`` or ``text``.
    """

    @property
    def wants_stream(self) -> bool:
        """True when the caller asked for a stream."""

    def note_dropped(self, names: Sequence[str]) -> None:
        """Name what could not be carried to the upstream's dialect (header ``x-agentui-dropped``)."""

    def note_headers(self, headers: Mapping[str, str]) -> None:
        """Headers of the upstream's answer that the caller may see (request ids, rate limits)."""

    async def send(self, vendor: VendorName, events: Sequence[SseEvent], deltas: Sequence[Delta]) -> None:
        """The next piece of a streamed answer: the events as they came, and what they mean."""

    async def reply(self, reply: Reply, body: bytes | None = None) -> None:
        """A whole answer; ``body`` is its wire form where nothing has to be changed for the same dialect."""

    async def document(self, body: Json) -> None:
        """A JSON document in the caller's own shape (embeddings, token counts)."""

    async def tokens(self, count: int, *, estimated: bool) -> None:
        """The answer to a token count."""

    async def raw(self, status: int, headers: Mapping[str, str], chunk: bytes) -> None:
        """The next bytes of a forwarded answer; status and headers count at the first call."""

    async def text(self, text: str) -> None:
        """Plain words from a node that called no model."""
