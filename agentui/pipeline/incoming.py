"""The request as a pipeline sees it: with the dialect taken off, and what came over HTTP where it came so."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from typing import TypeVar
from urllib.parse import parse_qsl, urlencode

from agentui.chat.messages import Message
from agentui.chat.request import ChatRequest, Operation, VendorName, WireRequest
from agentui.errors import BadRequest
from agentui.jsonio import InvalidJson, Json, dumps, loads, work_of
from agentui.redaction import (
    MOST,
    Redactor,
    is_key_header,
    is_key_parameter,
    provider_keys,
    secret_headers,
    secret_members,
    secret_parameters,
)
from agentui.threads import LONG, apart
from agentui.upstream.http.request import BodyStream
from agentui.vendors.base import Vendors
from agentui.vendors.passed import read_passed

T = TypeVar("T")


class Incoming:
    """One request. A value that nobody changes.

    What came over HTTP stands in the fields; a request that did not (``of_chat``) has empty ones and no ``wire``.
    ``path`` has no ``/p/<pipeline>`` prefix and ``query`` is the raw text without ``?``; header names are lower case.
    ``body`` holds the bytes as they came. ``model`` is the model that the caller meant, without a ``pipeline/<id>`` choice,
    and None where only that choice was given. ``api_key`` is the caller's key, wherever it stood. ``vendor`` is the caller's
    dialect, None where none was recognised; ``operation`` is what is asked for, and ``wants_stream`` whether as a stream.
    ``upload`` is a body that is passed on while it comes; ``body`` is empty then.
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
        upload: BodyStream | None = None,
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
        self.upload = upload
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
        self._is_over = False
        self._work: int | None = None
        self._keys_in_body: Sequence[str] | None = None
        self._speakers: Sequence[Message] = ()
        """Messages of which a dialect's body says what they are and not who speaks (``Message.speaker``)."""
        self.is_made_here = chat is not None and chat.vendor == "agentui"
        """Whether what is asked was put together here, and no client wrote it."""

    @classmethod
    def of_chat(cls, chat: ChatRequest) -> "Incoming":
        """A request that nobody sent over HTTP: a turn of a chat, a job, a test."""
        return cls("", "", "", "", {}, {}, b"", None, None, chat.model or None, {}, chat=chat)

    def with_headers(self, headers: Mapping[str, str], api_key: str) -> "Incoming":
        """The same request with other headers (names in lower case), and the key that they hold."""
        changed = copy(self)
        changed.headers, changed.api_key, changed._is_over = headers, api_key, False
        changed.release()
        changed._wire = None
        return changed

    def asking(self, message: Message) -> "Incoming":
        """The same request with one message in place of its conversation. Raises UnsupportedFeature."""
        if self.wire is None:
            return Incoming.of_chat(self.chat.asking((message,), self.chat.model, stream=self.chat.stream))
        return self.saying((message,), lambda wire: wire)

    def saying(self, messages: Sequence[Message], finish: Callable[[WireRequest], WireRequest]) -> "Incoming":
        """The same request with another conversation, in its own dialect; ``finish`` has the last word on it. Takes long for a
        long one. Raises UnsupportedFeature."""
        chat, own = self.chat, self.wire
        assert own is not None  # it came in a dialect
        asked = chat.asking(messages, chat.model, stream=chat.stream)
        rendered = self.vendors[own.vendor].render_request(asked)
        wire = finish(rendered if own.is_retold else replace(own, body=rendered.body, dropped=rendered.dropped))
        changed = copy(self)
        changed.body, changed._json, changed._wire, changed._chat = dumps(wire.body), wire.body, wire, None
        changed._work = changed._keys_in_body = None
        changed._speakers = [message for message in messages if message.speaker is not None]
        changed.is_made_here = True
        if len(changed.body) > LONG:
            changed.find_keys()
        changed.path = wire.path if own.is_retold else self.path
        return changed

    def register_keys(self, redactor: Redactor) -> None:
        """Have the redactor know every key that the request holds; what tells the caller apart last, for the newest stay."""
        redactor.register_later(self._keys)

    def find_keys(self, within: Json = None) -> None:
        """Look for the keys in the body now, which takes long for a long one; else it is done when a text is redacted.
        ``within`` is what of it may hold keys, where that is known of a body that was made here."""
        self._keys_in_body = list(deque(secret_members(self.json if within is None else within), MOST))

    def _keys(self) -> Iterator[str]:
        yield from secret_members(self.json) if self._keys_in_body is None else self._keys_in_body
        yield from secret_parameters(self.query)
        yield from secret_headers(self.headers)
        yield from provider_keys(self.headers)
        yield self.api_key

    def without_keys(self, redactor: Redactor) -> "Incoming":
        """The same request for somebody else to send: without the headers and the parameters of the query that hold keys,
        and with what the redactor knows masked everywhere else. Takes long for a long body."""
        changed = copy(self)
        changed.api_key, changed._is_over = "", False
        changed.headers = {name: redactor.redact(value) for name, value in self.headers.items() if not is_key_header(name)}
        pairs = parse_qsl(self.query, keep_blank_values=True)
        kept = [(name, redactor.redact(value)) for name, value in pairs if not is_key_parameter(name)]
        if kept != pairs:
            changed.query = urlencode(kept, errors="replace")
            changed.query_params = dict(kept)
        changed.url = redactor.redact(self.url.partition("?")[0]) + (f"?{changed.query}" if changed.query else "")
        changed.path = redactor.redact(self.path)
        changed.model = None if self.model is None else redactor.redact(self.model)
        changed.body, changed._work = _masked(self.body, self.json, redactor), None
        changed.release()
        changed._wire = None
        changed.find_keys()
        return changed

    @property
    def json(self) -> Json:
        """The body parsed; None where it is empty or not JSON."""
        parsed = self._json
        if parsed is None and self.body:
            with suppress(InvalidJson):
                parsed = loads(self.body)
            if not self._is_over:
                self._json = parsed
        return parsed

    @property
    def wire(self) -> WireRequest | None:
        """The request as its dialect spells it; None where no dialect was recognised."""
        wire = self._wire
        if wire is None and self.vendor is not None:
            if self.operation == "forward":
                wire = read_passed(self.vendor, self.path, self.headers, self.json)
            else:
                wire = self.vendors[self.vendor].read_request(self.path, self.query_params, self.headers, self.json)
            if not self._is_over:
                self._wire = wire
        return wire

    async def worked_out(self, work: Callable[[], T]) -> T:
        """What ``work`` makes of this request; of a long one in a thread, so that others are served meanwhile."""
        if self._work is None:
            self._work = work_of(self.body)
        return await apart(self._work, work)

    def release(self) -> None:
        """Let go of what was parsed: whoever asks for it has the bytes parsed again."""
        self.upload = None
        if self.body:
            self._json = self._wire = self._chat = None

    def retire(self) -> None:
        """The request's run is over: keep the bytes alone, whoever asks for more. Copies may be run again."""
        self.release()
        self._is_over = bool(self.body)

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
        chat = self._chat
        if chat is None:
            chat = self._parsed()
            if not self._is_over:
                self._chat = chat
        return chat

    def _parsed(self) -> ChatRequest:
        """The request as every dialect means it."""
        if self.wire is None:
            raise BadRequest("This request is in none of the dialects that agentui speaks.")
        if self.wire.operation in ("embeddings", "forward"):
            raise BadRequest("This request holds no conversation.")
        chat = self.vendors[self.wire.vendor].parse_request(self.wire)
        return replace(chat, messages=_spoken(chat.messages, self._speakers)) if self._speakers else chat


def _spoken(messages: Sequence[Message], speakers: Sequence[Message]) -> Sequence[Message]:
    """The messages, of which those named and worded as one of ``speakers`` have its speaker, each once and in their order."""
    waiting: defaultdict[tuple[str | None, str], deque[str | None]] = defaultdict(deque)
    for message in speakers:
        waiting[message.name, message.text].append(message.speaker)
    return [
        replace(message, speaker=found.popleft())
        if message.name is not None and (found := waiting.get((message.name, message.text)))
        else message
        for message in messages
    ]


def _masked(body: bytes, document: Json, redactor: Redactor) -> bytes:
    """A body with what the redactor knows masked; the same bytes where it knows nothing in it."""
    if document is None:
        return redactor.redact(body.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    masked = redactor.redact_json(document)
    return body if masked == document else dumps(masked)
