"""The request as a pipeline sees it: with the dialect taken off, and what came over HTTP where it came so."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentui.chat.request import ChatRequest, Operation, VendorName, WireRequest
from agentui.errors import BadRequest
from agentui.jsonio import Json
from agentui.vendors.base import Vendors


@dataclass
class Incoming:
    """One request. A value that nobody changes; not frozen for speed alone (see ``Message``).

    What came over HTTP stands in the fields; a request that did not (``of_chat``) has empty ones and no ``wire``.
    ``path`` has no ``/p/<pipeline>`` prefix and ``query`` is the raw text without ``?``; header names are lower case.
    ``body`` holds the bytes as they came, ``json`` the same parsed (None where the body is empty or not JSON).
    ``wire`` is None when no dialect was recognised. ``model`` is the model that the caller meant, without a
    ``pipeline/<id>`` choice, and None where only that choice was given.
    """

    method: str
    url: str
    path: str
    query: str
    query_params: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    json: Json
    wire: WireRequest | None
    model: str | None
    vendors: Vendors
    api_key: str = ""
    """The caller's key, wherever it stood."""
    _chat: ChatRequest | None = field(default=None, init=False, repr=False, compare=False)

    @classmethod
    def of_chat(cls, chat: ChatRequest) -> "Incoming":
        """A request that nobody sent over HTTP: a turn of a chat, a job, a test."""
        incoming = cls("", "", "", "", {}, {}, b"", None, None, chat.model or None, {})
        incoming._chat = chat
        return incoming

    @property
    def vendor(self) -> VendorName | None:
        """The caller's dialect."""
        return self.wire.vendor if self.wire is not None else None

    @property
    def operation(self) -> Operation:
        """What is asked for."""
        return self.wire.operation if self.wire is not None else "chat"

    @property
    def wants_stream(self) -> bool:
        """True when the caller asked for a stream."""
        if self.wire is not None:
            return self.wire.stream
        return self._chat is not None and self._chat.stream

    @property
    def chat(self) -> ChatRequest:
        """The request with the dialect taken off; parsed when first needed.

        Raises BadRequest when the request is not a conversation or cannot be understood.
        """
        if self._chat is None:
            self._chat = self._parsed()
        return self._chat

    def _parsed(self) -> ChatRequest:
        """The request as every dialect means it."""
        if self.wire is None:
            raise BadRequest("This request is in none of the dialects that agentui speaks.")
        if self.wire.operation == "embeddings":
            raise BadRequest("An embeddings request holds no conversation.", param="input")
        return self.vendors[self.wire.vendor].parse_request(self.wire)
