"""What a dialect can do: ``Vendor``, which is ``Chat`` and the smaller protocols beside it.

A vendor is pure: JSON and bytes in, JSON and bytes out. It opens no socket, reads no clock and keeps no state but in the
two stream machines that it hands out, one per stream.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias
from urllib.parse import parse_qsl, urlencode

from agentui.chat.deltas import Delta, Usage
from agentui.chat.messages import Message
from agentui.chat.reply import Reply
from agentui.chat.request import ChatRequest, VendorName, WireRequest
from agentui.errors import AgentUIError, BadRequest, LimitLeft, Unsupported, UpstreamRefused
from agentui.jsonio import Json
from agentui.vendors.kept import Kept
from agentui.vendors.sse import SseEvent

# "." and ".." would climb in the path.
_SEGMENT = r"(?!\.\.?(?:/|\Z))[A-Za-z0-9._:-]{1,200}"
_MODEL = re.compile(rf"{_SEGMENT}(?:/{_SEGMENT})?")


@dataclass(frozen=True, slots=True)
class ErrorReply:
    """An error as a dialect writes it. Headers hold what the dialect adds (``retry-after`` ...), not the content type."""

    status: int
    headers: Mapping[str, str]
    body: Json


@dataclass(frozen=True, slots=True)
class Prompt:
    """Prompt Blocks in one dialect: ``pm`` for templates, ``members`` for ``[[PROMPT]]`` (seed 003 part 4)."""

    pm: Mapping[str, Json]
    members: Mapping[str, Json]
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model that a list names. ``created`` is seconds since 1970; ``raw`` the entry in dialect ``raw_vendor``."""

    id: str
    display_name: str | None = None
    created: int = 0
    owner: str = "agentui"
    raw: Json = None
    raw_vendor: str | None = None


@dataclass(frozen=True, slots=True)
class StreamFormat:
    """How a dialect streams to this caller: its content type, and what keeps a silent stream alive (None: nothing may)."""

    content_type: str
    heartbeat: bytes | None


class StreamParser(Protocol):
    """Understands one stream of this dialect."""

    def feed(self, event: SseEvent) -> Sequence[Delta]:
        """The deltas that this event means; unknown events mean nothing.

        Raises UpstreamInvalid for data that is not the dialect's. An in-stream error comes out as ``Failure``.
        """

    def close(self) -> Sequence[Delta]:
        """The bytes ended cleanly. Returns what was held back, and ``End`` if (and only if) the answer is whole and
        ``End`` was not given yet."""


class StreamRenderer(Protocol):
    """Writes one stream of this dialect to one caller. Every method returns bytes to send, possibly none."""

    def feed(self, delta: Delta) -> bytes:
        """What the caller reads for this delta. ``End`` writes everything that closes a whole stream, once."""

    def passthrough(self, event: SseEvent) -> bytes:
        """An event of the same dialect, untouched but for the framing that this caller asked for."""

    def fail(self, error: AgentUIError) -> bytes:
        """The dialect's own in-stream error; nothing that looks like a clean end follows.

        It may come after the ``End``, or after the last event that passed through, where their bytes were never sent.
        """


class StreamEnd(Protocol):
    """Finds what looks like the end of one stream of this dialect, so that it can wait until the whole run has succeeded.

    A stream passes by as events, as deltas or as bytes; one object serves one of these forms.
    """

    def in_events(self, events: Sequence[SseEvent], deltas: Sequence[Delta]) -> int:
        """The place of the first of these events that looks like the end; ``len(events)`` where none does. ``deltas`` are
        what the events mean."""

    def in_deltas(self, deltas: Sequence[Delta]) -> int:
        """The place of the first of these deltas that looks like the end; ``len(deltas)`` where none does."""

    def hold(self, chunk: bytes) -> bytes:
        """Take the next bytes of a forwarded stream; returns those that may go out now. The others are ``held``."""

    @property
    def held(self) -> bytes:
        """The bytes that look like the end and have not gone out."""


@dataclass(frozen=True, slots=True)
class TraceNames:
    """What OpenTelemetry's conventions call a dialect: ``gen_ai.provider.name``, and ``gen_ai.operation.name`` of a chat."""

    provider: str
    chat: str = "chat"


class Chat(Protocol):
    """Chat requests and their answers, which every dialect has."""

    def read_request(
        self, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: Mapping[str, Json]
    ) -> WireRequest:
        """Take in a caller's request with a light check of the fields that the proxy itself needs (model, stream and the
        container of the messages). ``path`` has no pipeline prefix; header names are lower case.

        Raises BadRequest naming ``param``.
        """

    def chat_endpoint(self, model: str, *, stream: bool) -> str:
        """Path and query below the base URL, e.g. ``/v1/chat/completions``; the model is quoted.

        Raises BadRequest when the model cannot stand in a path.
        """

    def fit_endpoint(self, endpoint: str, *, stream: bool) -> tuple[str, bool]:
        """A chat endpoint that a person wrote, fit for an answer that is streamed or not, and whether its answer is streamed
        (where the endpoint decides that, it may not be changed by what is wanted)."""

    def fit_body(self, body: dict[str, Json], *, model: str, stream: bool) -> WireRequest:
        """A chat body that a template rendered, as a request: a model and a stream switch in it count more than these, and
        members that the API refuses when they are empty are left out."""

    def takes_sampling(self, wire: WireRequest) -> bool:
        """Whether a caller's own request may be given the sampling parameters that it leaves open."""

    def patch_request(self, wire: WireRequest, *, model: str, stream: bool) -> WireRequest:
        """The same request with another model or stream switch; a shallow copy, nothing else changes."""

    def parse_request(self, wire: WireRequest) -> ChatRequest:
        """Take the dialect off. Raises BadRequest naming ``param`` for what cannot be understood."""

    def render_request(self, chat: ChatRequest) -> WireRequest:
        """Put this dialect on.

        From the same dialect: ``chat.wire.body`` with the messages replaced (their ``raw`` where they have one) and
        model and stream set; nothing is dropped. From another: everything modelled that this dialect can say, and the
        names of the rest in ``dropped``. Raises UnsupportedFeature where dropping would change the meaning.
        """

    def render_prompt(self, messages: Sequence[Message]) -> Prompt:
        """Prompt Blocks (system texts and conversation) as ``pm.*`` and ``[[PROMPT]]``."""

    def parse_reply(self, body: Json, origin: str = "") -> Reply:
        """A whole answer with the dialect taken off, its ``raw`` kept. ``origin`` names the server that gave it, for thoughts
        that nobody signed (see ``chat.origin``); "" leaves those without a token. Raises UpstreamInvalid for what is no
        answer."""

    def render_reply(self, reply: Reply, wire: WireRequest) -> Json:
        """A whole answer for the caller who sent ``wire``; ``reply.raw`` itself when it is of this dialect."""

    def stream_parser(self, origin: str = "") -> StreamParser:
        """A fresh machine for one stream of the server ``origin`` (as in ``parse_reply``)."""

    def stream_end(self) -> StreamEnd:
        """What finds the end of one stream of this dialect."""

    def stream_renderer(self, wire: WireRequest) -> StreamRenderer:
        """A fresh machine for one stream to the caller who sent ``wire``."""

    def stream_format(self, wire: WireRequest) -> StreamFormat:
        """Content type and heartbeat for this caller."""


class CountTokens(Protocol):
    """Asks how many tokens a chat request has."""

    def endpoint(self, model: str) -> str:
        """Path and query below the base URL. Raises BadRequest when the model cannot stand in a path."""

    def render_request(self, chat: ChatRequest) -> WireRequest:
        """The count of a chat request, as this dialect asks for it (from the same dialect: the caller's own body around
        this conversation)."""

    def parse_reply(self, body: Json) -> int:
        """The number in an answer. Raises UpstreamInvalid."""

    def render_reply(self, tokens: int) -> Json:
        """An answer to a caller."""


class Embeddings(Protocol):
    """Turns texts into vectors. OpenAI's request and answer are what all dialects understand of each other's."""

    def endpoint(self, wire: WireRequest) -> str:
        """Path and query below the base URL. Raises BadRequest when the model cannot stand in a path."""

    def parse_request(self, wire: WireRequest) -> WireRequest:
        """A caller's request with the body of OpenAI's. Raises BadRequest, and UnsupportedFeature for what that cannot say."""

    def render_request(self, wire: WireRequest) -> WireRequest:
        """An OpenAI embeddings request in this dialect."""

    def parse_reply(self, body: Json, wire: WireRequest) -> Json:
        """This dialect's embeddings as the OpenAI answer to ``wire`` (base64 little-endian float32 when it asked for that).
        Raises UpstreamInvalid."""

    def render_reply(self, answer: Json, wire: WireRequest) -> Json:
        """An OpenAI answer for the caller who sent ``wire``. Raises UpstreamInvalid for what is none."""


class Models(Protocol):
    """Lists the models that there are."""

    def endpoint(self) -> str:
        """Path and query below the base URL."""

    def parse_list(self, body: Json) -> list[ModelInfo]:
        """A list with the dialect taken off. Raises UpstreamInvalid."""

    def render_list(self, models: Sequence[ModelInfo]) -> Json:
        """A list for the caller."""

    def render_entry(self, model: ModelInfo) -> Json:
        """One entry, as the caller's GET of it expects."""


@dataclass(frozen=True, slots=True)
class OutputLimit:
    """The most tokens that each of the ``answers`` to a request may have; None where the request sets no limit."""

    tokens: int | None
    answers: int = 1


class Billing(Protocol):
    """What a call may cost, and what it has cost."""

    @property
    def price_list(self) -> str:
        """Whose prices count at a server that no list of prices knows and that speaks the dialect: a name of genai-prices."""

    def output_limit(self, wire: WireRequest) -> OutputLimit:
        """How much a chat request lets the model say."""

    def with_output_limit(self, wire: WireRequest, tokens: int) -> WireRequest:
        """The request with a limit for each of its answers."""

    def limit_headers(self, limits: Sequence[LimitLeft]) -> dict[str, str]:
        """How the vendor's answers tell what is left, names in lower case; nothing where they do not."""

    def usage_of(self, body: Json) -> Usage | None:
        """The tokens that an answer in JSON tells of, whatever it answers (embeddings, pictures); None where it tells none."""

    def telling_usage(self, wire: WireRequest) -> WireRequest:
        """The request, asking for its tokens to be told; itself where they are told anyway, or the request forbids it."""

    def without_usage(self, events: Sequence[SseEvent]) -> Sequence[SseEvent]:
        """The events of a stream as they would be had nobody asked for the tokens by ``telling_usage``."""


class Vendor(Chat, Protocol):
    """One dialect: chat, what it can do beside (None where it cannot), errors and headers."""

    @property
    def name(self) -> VendorName:
        """The word for this dialect in files and templates."""

    @property
    def title(self) -> str:
        """Its name for people."""

    @property
    def default_base_url(self) -> str:
        """Where the vendor's own API lives."""

    @property
    def request_id_header(self) -> str:
        """The header in which its clients look for the id of a request."""

    @property
    def trace_names(self) -> TraceNames:
        """How traces name calls in this dialect."""

    @property
    def keeps_thoughts(self) -> bool:
        """Whether its clients give thoughts and their tokens back to an upstream of the same dialect."""

    @property
    def keeps_answers(self) -> bool:
        """Whether its servers keep answers under the ids that they have, unless a request forbids it."""

    @property
    def takes_cache_marks(self) -> bool:
        """Whether its servers cache what a request marks; others cache by themselves."""

    @property
    def ends_in_malformed_calls(self) -> bool:
        """Whether its models' answers may end with what was meant as a call and is none, which asking again mends."""

    @property
    def models(self) -> Models:
        """Its list of models, in which the pipelines stand too."""

    @property
    def count_tokens(self) -> CountTokens | None:
        """Its token counts."""

    @property
    def embeddings(self) -> Embeddings | None:
        """Its embeddings."""

    @property
    def billing(self) -> Billing:
        """What its calls may cost."""

    def parse_error(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamRefused:
        """What an upstream's error answer means (status 400 and up); any bytes are understood somehow."""

    def not_found(self, kept: Kept) -> UpstreamRefused:
        """What its servers answer to an id that they do not know."""

    def render_error(self, error: AgentUIError) -> ErrorReply:
        """An error in the caller's shape. An ``UpstreamRefused`` of the same dialect keeps its body."""

    def tells_in_stream(self, error: AgentUIError) -> bool:
        """Whether a caller who asked for a stream understands this error only inside one, also where nothing was said yet."""

    def auth_headers(self, key: str) -> dict[str, str]:
        """How this dialect's API takes a key."""

    def version_headers(self, wire: WireRequest | None) -> dict[str, str]:
        """Headers beside the key for this request (None: one without a body): what the API requires, and what a caller of
        this dialect said itself."""


Vendors: TypeAlias = Mapping[VendorName, Vendor]


def endpoint_of(vendor: Vendor, wire: WireRequest) -> str:
    """Where a request in the vendor's dialect goes, below the base URL, with the query that the request has.

    Raises Unsupported when the dialect has no such operation, BadRequest when the model cannot stand in a path.
    """
    match wire.operation:
        case "chat":
            return _with_query(vendor.chat_endpoint(wire.model, stream=wire.stream), wire.query)
        case "count_tokens" if vendor.count_tokens is not None:
            return _with_query(vendor.count_tokens.endpoint(wire.model), wire.query)
        case "embeddings" if vendor.embeddings is not None:
            return vendor.embeddings.endpoint(wire)
    raise Unsupported(f"{vendor.title} has no {wire.operation}; choose a provider of another kind.")


def _with_query(endpoint: str, query: Mapping[str, str]) -> str:
    """The endpoint with the members of ``query`` that it does not hold already."""
    if not query:
        return endpoint
    path, _, own = endpoint.partition("?")
    pairs = urlencode({**query, **dict(parse_qsl(own))}, errors="replace")
    return f"{path}?{pairs}"


def named_model(body: Mapping[str, Json], model: str) -> str:
    """The model that a body names, else this one."""
    named = body.get("model")
    return named if isinstance(named, str) and named else model


def switch_stream(body: dict[str, Json], *, stream: bool) -> bool:
    """Ask for a stream in a body whose dialect has the switch there, unless the body says something; whether it is on then."""
    if stream and "stream" not in body:
        body["stream"] = True
    return body.get("stream") is True


def model_path_segment(model: str) -> str:
    """A model name fit for a URL path. Raises BadRequest unless it is ``[A-Za-z0-9._:-]{1,200}`` with at most one ``/``."""
    if not _MODEL.fullmatch(model):
        raise BadRequest(
            "The model's name cannot stand in a URL: use letters, digits, '.', '_', ':', '-' and at most one '/'.",
            param="model",
        )
    return model
