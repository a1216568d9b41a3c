"""The request as a pipeline sees it: with the dialect taken off, and what came over HTTP where it came so."""

from collections.abc import Mapping
from contextlib import suppress
from copy import copy

from agentui.chat.request import ChatRequest, Operation, VendorName, WireRequest
from agentui.errors import BadRequest
from agentui.jsonio import InvalidJson, Json, dumps, loads
from agentui.vendors.base import Vendors


class Incoming:
    """One request. A value that nobody changes.

    What came over HTTP stands in the fields; a request that did not (``of_chat``) has empty ones and no ``wire``.
    ``path`` has no ``/p/<pipeline>`` prefix and ``query`` is the raw text without ``?``; header names are lower case.
    ``body`` holds the bytes as they came. ``model`` is the model that the caller meant, without a ``pipeline/<id>`` choice,
    and None where only that choice was given. ``api_key`` is the caller's key, wherever it stood. ``vendor`` is the caller's
    dialect, None where none was recognised; ``operation`` is what is asked for, and ``wants_stream`` whether as a stream.
    """

    def __init__(
        self,
        method: str,
        url: str,
        path: str,
        query: str,
        query_params: Mapping[str, str],
        headers: Mapping[str, str],
        body: bytes,
        json: Json,
        wire: WireRequest | None,
        model: str | None,
        vendors: Vendors,
        api_key: str = "",
        chat: ChatRequest | None = None,
    ) -> None:
        """``json`` is ``body`` parsed, ``wire`` what its dialect reads in it; ``chat`` is for a request that has no body."""
        self.method = method
        self.url = url
        self.path = path
        self.query = query
        self.query_params = query_params
        self.headers = headers
        self.body = body
        self.model = model
        self.vendors = vendors
        self.api_key = api_key
        self.vendor: VendorName | None = None
        self.operation: Operation = "chat"
        self.wants_stream = False
        if wire is not None:
            self.vendor, self.operation, self.wants_stream = wire.vendor, wire.operation, wire.stream
        elif chat is not None:
            self.wants_stream = chat.stream
        self._json = json
        self._wire = wire
        self._chat = chat

    @classmethod
    def of_chat(cls, chat: ChatRequest) -> "Incoming":
        """A request that nobody sent over HTTP: a turn of a chat, a job, a test."""
        return cls("", "", "", "", {}, {}, b"", None, None, chat.model or None, {}, chat=chat)

    def with_headers(self, headers: Mapping[str, str]) -> "Incoming":
        """The same request with other headers (names in lower case)."""
        changed = copy(self)
        changed.headers = headers
        return changed

    @property
    def json(self) -> Json:
        """The body parsed; None where it is empty or not JSON."""
        if self._json is None and self.body:
            with suppress(InvalidJson):
                self._json = loads(self.body)
        return self._json

    @property
    def wire(self) -> WireRequest | None:
        """The request as its dialect spells it; None where no dialect was recognised."""
        if self._wire is None and self.vendor is not None:
            self._wire = self.vendors[self.vendor].read_request(self.path, self.query_params, self.headers, self.json)
        return self._wire

    def release(self) -> None:
        """Keep the bytes alone: whoever asks for what was parsed from them has them parsed again."""
        if self.body:
            self._json = self._wire = self._chat = None

    def body_of(self, wire: WireRequest) -> bytes:
        """A request's body as it goes out: the caller's own bytes where nothing in it was changed."""
        own = self.json
        if type(own) is dict and own.keys() == wire.body.keys():
            for name, value in wire.body.items():
                if value is not own[name] and not (type(value) is str and value == own[name]):
                    break
            else:
                return self.body
        return dumps(wire.body)

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
