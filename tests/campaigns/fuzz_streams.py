"""Streams of every dialect: whole ones whose words must come through in any framing and any chunking, and broken ones.

What is heard is written again for callers of all dialects: each event that goes out must be one event, and JSON.
"""

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final, cast

from agentui.chat.deltas import Delta, End, Failure, TextDelta, ToolCallDelta
from agentui.chat.reply import ReplyBuilder
from agentui.chat.request import VendorName, WireRequest
from agentui.errors import AgentUIError, UpstreamError, UpstreamInvalid
from agentui.jsonio import InvalidJson, Json, dumps, loads
from agentui.vendors.base import Vendor, Vendors
from agentui.vendors.registry import make_vendors
from agentui.vendors.sse import SseDecoder, SseEvent, encode_event
from tests.campaigns.campaign import Campaign, Trial
from tests.campaigns.fuzz import Fuzz
from tests.campaigns.fuzz_words import CANARIES, HOSTILE_NAMES, ODD_TEXTS, mutate_bytes, mutate_json
from tests.faults.callers import DIALECTS
from tests.upstreams.claude_mock import ClaudeMock
from tests.upstreams.exchange import Exchange, Vault
from tests.upstreams.gemini_mock import GeminiMock
from tests.upstreams.openai_mock import OpenAIMock
from tests.upstreams.responses_mock import ResponsesMock
from tests.upstreams.server import Dialect
from tests.upstreams.step import Call, Step, Tokens

_MOCKS: Final[dict[str, Dialect]] = {
    "openai": OpenAIMock(),
    "openai_responses": ResponsesMock(),
    "claude": ClaudeMock(),
    "gemini": GeminiMock(),
}
_POOL = 200
_CHANCE_ID = re.compile(r"call_[0-9a-f]{24}")
_EVENT_NAME = re.compile(r"[a-z0-9_.]*")

WORDS: Final[tuple[Json, ...]] = (
    *("error", "message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop", "ping"),
    *("text", "thinking"),
    *("tool_use", "input_json_delta", "text_delta", "signature_delta", "response.created", "response.output_text.delta"),
    *("response.completed",),
    *("response.output_item.added", "response.output_item.done", "response.failed", "function_call", "reasoning", "message"),
    *("refusal",),
    *("choices", "delta", "content", "tool_calls", "index", "finish_reason", "stop", "length", "tool_use", "usage"),
    *("logprobs", "role"),
    *("candidates", "parts", "functionCall", "finishReason", "STOP", "SAFETY", "usageMetadata", "promptFeedback"),
    *("inlineData", "thought"),
    *({"error": {"message": "x"}}, {"type": "error"}, {"index": -1}, {"index": 10**9}, {"index": "0"}, {"text": "x"}),
    *([{"text": "x"}],),
    *(1e308, 2**63, -(2**70), 1.5, "2026-01-01", [{}], [[]], {"choices": []}),
    *CANARIES,
    *HOSTILE_NAMES,
)


@dataclass(frozen=True, slots=True)
class Told:
    """A stream: its dialect, its events, and the words in it."""

    dialect: VendorName
    events: tuple[SseEvent, ...]
    text: str


def tell(random: Random) -> Told:
    """A whole stream as one of the strict mocks tells it."""
    dialect = random.choice(DIALECTS)
    pieces = tuple(random.choice((*CANARIES, *ODD_TEXTS, "word ")) or "-" for _ in range(random.randrange(1, 6)))
    calls = (Call("look", json.dumps({"city": random.choice(CANARIES)})), Call("look", "")) if random.random() < 0.3 else ()
    step = Step(
        text="".join(pieces),
        chunks=pieces,
        thinking=random.choice(CANARIES) if random.random() < 0.3 else None,
        calls=calls,
        extras=random.random() < 0.2,
        tokens=Tokens(random.randrange(100), 7, 3, 2, 1),
    )
    tools: list[Json] = [{"type": "function", "name": "look", "function": {"name": "look"}}]
    body: dict[str, Json] = {
        "model": "m",
        "messages": [],
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": tools,
    }
    if dialect == "gemini":
        body = {"contents": [], "tools": [{"functionDeclarations": [{"name": "look"}]}]}
    exchange = Exchange("m", body, {}, {"alt": "sse"}, "chat", True, step, Vault())
    decoder = SseDecoder()
    data = b"".join(_MOCKS[dialect].events(exchange))
    return Told(cast(VendorName, dialect), tuple(decoder.feed(data)), step.text)


def frame(random: Random, events: Sequence[SseEvent]) -> bytes:
    """The events as bytes, with the freedoms that the standard leaves: line ends, comments, other fields, a byte order mark."""
    data = b"".join(encode_event(event.data, event.event) for event in events)
    if random.random() < 0.5:
        return data
    if random.random() < 0.5:
        data = data.replace(
            b"\n\n", random.choice((b"\n: ping\n\n", b"\nid: 1\nretry: 5\n\n", b"\n\n\n", b"\n\n:\n\n", b"\nunknown\n\n"))
        )
    if random.random() < 0.3:
        data = data.replace(b"data: ", b"data:")
    if random.random() < 0.5:
        data = data.replace(b"\n", random.choice((b"\r\n", b"\r")))
    return b"\xef\xbb\xbf" + data if random.random() < 0.2 else data


def cut(random: Random, data: bytes) -> list[bytes]:
    """The bytes in pieces: single bytes, a few large ones, or anything between."""
    size = random.choice((1, 2, 7, 64, 1024))
    if size == 1 and len(data) > 2000:
        size = 3
    pieces: list[bytes] = []
    at = 0
    while at < len(data):
        length = random.randrange(1, 2 * size)
        pieces.append(data[at : at + length])
        at += length
    return pieces


@dataclass(frozen=True, slots=True)
class Heard:
    """What a stream meant: its deltas, whether it was whole, and the error that ended it."""

    deltas: tuple[Delta, ...]
    is_clean: bool
    error: AgentUIError | None

    @property
    def shape(self) -> object:
        """The same as something that can be compared: errors have no equality, and calls that came without an id have one by
        chance. What was left half read tells nothing after an error."""
        deltas = [str(delta.error) if isinstance(delta, Failure) else _by_no_chance(delta) for delta in self.deltas]
        return deltas, self.is_clean or self.error is not None, type(self.error), str(self.error)


def _by_no_chance(delta: Delta) -> Delta:
    """The delta without an id made here."""
    is_made = isinstance(delta, ToolCallDelta) and delta.id is not None and _CHANCE_ID.fullmatch(delta.id)
    return replace(delta, id="made here") if is_made and isinstance(delta, ToolCallDelta) else delta


def hear(vendor: Vendor, pieces: Sequence[bytes]) -> Heard:
    """What the pieces mean, read as the pipeline's nodes read them."""
    decoder, parser = SseDecoder(), vendor.stream_parser()
    deltas: list[Delta] = []
    try:
        for piece in pieces:
            for event in decoder.feed(piece):
                deltas.extend(parser.feed(event))
        deltas.extend(parser.close())
    except AgentUIError as error:
        return Heard(tuple(deltas), decoder.is_clean, error)
    return Heard(tuple(deltas), decoder.is_clean, None)


def words_of(deltas: Sequence[Delta]) -> str:
    """The text of a stream's first choice."""
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta) and delta.choice == 0)


def callers(vendors: Vendors) -> dict[str, list[WireRequest]]:
    """A streaming caller of each dialect; of Gemini's two, for it has two framings."""
    said: list[Json] = [{"role": "user", "content": "x"}]
    usage = {"stream_options": {"include_usage": True}}
    gemini = {"contents": [{"role": "user", "parts": [{"text": "x"}]}]}
    path = "/v1beta/models/m:streamGenerateContent"
    return {
        "openai": [
            vendors["openai"].read_request(
                "/v1/chat/completions", {}, {}, {"model": "m", "messages": said, "stream": True, **usage}
            )
        ],
        "openai_responses": [
            vendors["openai_responses"].read_request("/v1/responses", {}, {}, {"model": "m", "input": "x", "stream": True})
        ],
        "claude": [
            vendors["claude"].read_request(
                "/v1/messages", {}, {}, {"model": "m", "max_tokens": 9, "messages": said, "stream": True}
            )
        ],
        "gemini": [vendors["gemini"].read_request(path, query, {}, gemini) for query in ({"alt": "sse"}, {})],
    }


async def fuzz_streams(trial: Trial) -> None:
    """Streams from bytes to deltas and from deltas to bytes."""
    fuzz = Fuzz(trial, "streams", (AgentUIError,))
    vendors = make_vendors()
    asked = callers(vendors)
    pool = [tell(trial.random) for _ in range(_POOL)]

    def one(random: Random) -> None:
        told = random.choice(pool)
        if random.random() < 0.3:
            _whole(fuzz, vendors, asked, told, random)
        else:
            _broken(fuzz, vendors, asked, told, random)

    fuzz.warm_up(300, lambda: one(trial.random))
    with fuzz.watch:
        for number, random in enumerate(fuzz.inputs()):
            one(random)
            if number % 20 == 19:
                with fuzz.watch.aside():
                    pool[random.randrange(_POOL)] = tell(random)
            if number % 2000 == 0:
                await asyncio.sleep(0)


def _whole(fuzz: Fuzz, vendors: Vendors, asked: dict[str, list[WireRequest]], told: Told, random: Random) -> None:
    """A whole stream says its words, however it is framed and cut, and says them again in another dialect."""
    fuzz.trial.counts["whole streams"] += 1
    vendor = vendors[told.dialect]
    data = frame(random, told.events)
    heard = fuzz.try_out((told.dialect, data), lambda: hear(vendor, cut(random, data))).value
    if heard is None:
        return
    if (
        heard.error is not None
        or words_of(heard.deltas) != told.text
        or not any(isinstance(each, End) for each in heard.deltas)
    ):
        fuzz.fail("a whole stream is misheard", (told.dialect, data), heard, told.text)
        return
    target = random.choice(DIALECTS)
    wire = random.choice(asked[target])
    written = _write(fuzz, vendors[wire.vendor], wire, heard.deltas, (told.dialect, target, data))
    if written is None:
        return
    again = hear(vendors[wire.vendor], [b"".join(encode_event(event.data, event.event) for event in written)])
    if (
        again.error is not None
        or words_of(again.deltas) != told.text
        or not any(isinstance(each, End) for each in again.deltas)
    ):
        fuzz.fail(f"{target} says something else", (told.dialect, data), written, again)


def _broken(fuzz: Fuzz, vendors: Vendors, asked: dict[str, list[WireRequest]], told: Told, random: Random) -> None:
    """After accidents a stream means the same however it is cut; what it means can be written, or is the upstream's fault."""
    vendor = vendors[told.dialect if random.random() < 0.95 else cast(VendorName, random.choice(DIALECTS))]
    data = damaged(random, told)
    shown = (vendor.name, data)
    heard = fuzz.try_out(shown, lambda: hear(vendor, [data])).value
    if heard is None:
        return
    if heard.error is not None:
        fuzz.trial.counts["refused"] += 1
        if not isinstance(heard.error, UpstreamError):
            fuzz.fail("a broken stream is not the upstream's fault", shown, heard.error)
    again = fuzz.try_out(shown, lambda: hear(vendor, cut(random, data))).value
    if again is None or again.shape != heard.shape:
        fuzz.fail("another chunking means something else", shown, heard, again)
    _pass_on(fuzz, vendors, asked, heard, random, shown)


def _pass_on(
    fuzz: Fuzz, vendors: Vendors, asked: dict[str, list[WireRequest]], heard: Heard, random: Random, shown: object
) -> None:
    """Write what was heard for a caller of any dialect, as a stream and as a whole answer."""
    deltas = [delta for delta in heard.deltas if not isinstance(delta, Failure)]
    wire = random.choice(asked[random.choice(DIALECTS)])
    target = vendors[wire.vendor]
    _write(fuzz, target, wire, deltas, (wire.vendor, shown), heard.error or UpstreamInvalid("It broke."))
    builder = ReplyBuilder()
    if fuzz.try_out(shown, lambda: builder.feed(deltas)).error is None:
        fuzz.try_out((wire.vendor, shown), lambda: json.loads(dumps(target.render_reply(builder.reply(), wire))))


def damaged(random: Random, told: Told) -> bytes:
    """The stream's bytes after accidents to its bytes, to one event, to their order, or all of its own making."""
    events = list(told.events)
    kind = random.randrange(10)
    if kind < 2:
        return mutate_bytes(random, frame(random, events))
    if kind == 2:
        return mutate_bytes(random, random.randbytes(random.randrange(200)) + frame(random, events[:3]))
    if kind < 5:
        return frame(random, list(_disordered(random, events)))
    for _ in range(random.choice((1, 1, 2, 4))):
        at = random.randrange(len(events))
        try:
            body: Any = loads(events[at].data)
        except InvalidJson:
            continue
        events[at] = SseEvent(dumps(mutate_json(random, body, WORDS)), events[at].event if random.random() < 0.9 else "error")
    return frame(random, events)


def _disordered(random: Random, events: Sequence[SseEvent]) -> Iterator[SseEvent]:
    """The events, some of them lost, told twice, late or renamed."""
    late: list[SseEvent] = []
    for event in events:
        match random.randrange(12):
            case 0:
                continue
            case 1:
                yield event
            case 2:
                late.append(event)
                continue
            case 3 if late:
                yield late.pop()
            case 4:
                yield SseEvent(
                    random.choice((b"[DONE]", b"", b"{}", b"null", b"[]", b'"x"', b"1e999", b"\xff", b"{" * 200, b"[DONE] "))
                )
        yield event


def _write(
    fuzz: Fuzz, vendor: Vendor, wire: WireRequest, deltas: Sequence[Delta], shown: object, error: AgentUIError | None = None
) -> list[SseEvent] | None:
    """Write deltas for a caller, and at last an error where there is one; returns the events, None where that failed.

    Every piece that goes out is whole events of JSON with a name of the dialect's own: nobody's text makes an event. An end is
    held back until the run has succeeded, so before an error it was written and never sent.
    """
    renderer = vendor.stream_renderer(wire)

    def write() -> bytes:
        pieces = [(delta, renderer.feed(delta)) for delta in deltas]
        if error is None:
            return b"".join(piece for _, piece in pieces)
        return b"".join(piece for delta, piece in pieces if not isinstance(delta, End)) + renderer.fail(error)

    data = fuzz.try_out(shown, write).value
    if data is None:
        return None
    if vendor.name == "gemini" and not wire.query:
        return _array(fuzz, data, shown)
    decoder = SseDecoder()
    events = decoder.feed(data)
    if not decoder.is_clean:
        fuzz.fail("half an event goes out", shown, data)
    for event in events:
        is_end = event.data == b"[DONE]" and vendor.name == "openai"
        if not _EVENT_NAME.fullmatch(event.event) or not (is_end or _is_object(event.data)):
            fuzz.fail("an event goes out that is none of the dialect's", shown, event)
            return None
    return events


def _array(fuzz: Fuzz, data: bytes, shown: object) -> list[SseEvent] | None:
    """Gemini's other framing: one JSON list, whole or (where the stream has no end) without its last bracket."""
    text = data.decode()
    try:
        items = json.loads(text if text.rstrip().endswith("]") or not text.strip() else text + "]") if text.strip() else []
    except ValueError as broken:
        fuzz.fail("the list that goes out is no JSON", shown, text, broken)
        return None
    return [SseEvent(dumps(item)) for item in items]


def _is_object(data: bytes) -> bool:
    """Whether a caller's parser reads an object. (Ours stops at 100 levels, and what came in with so many goes out with a few
    more.)"""
    try:
        return isinstance(json.loads(data), dict)
    except ValueError:
        return False


CAMPAIGNS = [
    Campaign("fuzz.streams", fuzz_streams, counted="streams", short=1_000, long=1_000_000, short_seconds=40.0, least=0.05)
]
