"""Streams read and written, and whole answers, which are streams told at once."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from agentui.chat.deltas import (
    Delta,
    End,
    Failure,
    Finish,
    FinishReason,
    LogprobsDelta,
    MediaDelta,
    OpaqueDelta,
    RefusalDelta,
    Start,
    TextDelta,
    ThinkingDelta,
    TokenLogprob,
    ToolCallDelta,
    UsageDelta,
)
from agentui.chat.messages import Media
from agentui.chat.reply import Reply, ReplyBuilder
from agentui.chat.request import WireRequest
from agentui.errors import AgentUIError, UpstreamInvalid
from agentui.jsonio import InvalidJson, Json, dumps, dumps_text, loads
from agentui.vendors.arguments import ArgumentPieces
from agentui.vendors.openai.citations import read_citations
from agentui.vendors.openai.reply import parse_logprobs
from agentui.vendors.openai_responses.cache import ItemCache
from agentui.vendors.openai_responses.errors import stream_failure
from agentui.vendors.openai_responses.events import ResponseEvents
from agentui.vendors.openai_responses.items import parse_reasoning
from agentui.vendors.openai_responses.sealed import VENDOR
from agentui.vendors.openai_responses.usage import parse_usage
from agentui.vendors.sse import SseEvent, encode_event

_CALLS = ("function_call", "custom_tool_call")


class ResponsesStreamParser:
    """Understands one stream: events in, deltas out.

    ``done`` events repeat what their deltas said. They are read too, for servers that send fewer deltas than OpenAI:
    whatever they hold beyond what was told already is told then, and nothing is told twice.
    """

    def __init__(self) -> None:
        self._started = False
        self._ended = False
        self._emitted: dict[tuple[int, str, int], int] = {}
        self._thinking: dict[int, tuple[str, int]] = {}
        self._calls: dict[int, int] = {}
        self._arguments: defaultdict[int, ArgumentPieces] = defaultdict(ArgumentPieces)
        self._settled: set[int] = set()
        self._refused = False
        self._said = 0
        self._before: dict[tuple[int, int], int] = {}
        """Characters of the answer before each text, by its item and part."""

    def feed(self, event: SseEvent) -> Sequence[Delta]:
        """The deltas of one event; unknown types mean nothing. Raises UpstreamInvalid for data that is no event."""
        if self._ended or event.data == b"[DONE]":
            return ()
        return self._understand(_payload(event))

    def close(self) -> Sequence[Delta]:
        """Nothing is held back, and only ``response.completed`` or ``response.incomplete`` makes an answer whole."""
        return ()

    def whole(self, response: dict[str, Json]) -> list[Delta]:
        """Everything that a finished response says and no event said before."""
        deltas = self._start(response)
        output = response.get("output")
        for index, item in enumerate(output if isinstance(output, list) else ()):
            deltas += self._item_done(index, item)
        if (usage := parse_usage(response.get("usage"))) is not None:
            deltas.append(UsageDelta(usage))
        if (reason := self._finish(response)) is not None:
            deltas += (Finish(reason), End())
            self._ended = True
        return deltas

    def _understand(self, event: dict[str, Json]) -> Sequence[Delta]:
        """Deltas by the event's type; the frequent ones first."""
        index, part = _index(event, "output_index"), _index(event, "content_index")
        match event["type"]:
            case "response.output_text.delta":
                logprobs = parse_logprobs(event.get("logprobs")) or ()
                return [*self._emit(index, "text", part, event.get("delta")), *self._emit_logprobs(index, part, logprobs)]
            case "response.function_call_arguments.delta":
                return self._emit(index, "arguments", 0, event.get("delta"))
            case "response.custom_tool_call_input.delta":
                return self._emit(index, "input", 0, event.get("delta"))
            case "response.reasoning_summary_text.delta":
                return self._emit(index, "summary", _index(event, "summary_index"), event.get("delta"))
            case "response.reasoning_text.delta":
                return self._emit(index, "content", part, event.get("delta"))
            case "response.refusal.delta":
                return self._emit(index, "refusal", part, event.get("delta"))
            case "response.output_item.added":
                return self._item_added(index, event.get("item"))
            case "response.output_item.done":
                return self._item_done(index, event.get("item"))
            case "response.output_text.annotation.added":
                return self._tell_annotations(index, part, [event.get("annotation")])
            case _:
                return self._lifecycle(event)

    def _lifecycle(self, event: dict[str, Json]) -> Sequence[Delta]:
        """Events about the response as a whole, and errors."""
        match event:
            case {"type": "response.created" | "response.in_progress" | "response.queued", "response": dict(response)}:
                return self._start(response)
            case {"type": "response.completed" | "response.incomplete", "response": dict(response)}:
                return self.whole(response)
            case {"type": "response.failed", "response": dict(response)}:
                self._ended = True
                return [Failure(stream_failure(response.get("error")))]
            case {"type": "error"}:
                self._ended = True
                nested = event.get("error")
                return [Failure(stream_failure(nested if isinstance(nested, dict) else event))]
            case {"type": "response.completed" | "response.incomplete" | "response.created" | "response.failed" as kind}:
                raise UpstreamInvalid(f"The upstream sent {kind} without a response.", vendor=VENDOR)
        return ()

    def _start(self, response: dict[str, Json]) -> list[Delta]:
        """``Start``, once."""
        if self._started:
            return []
        self._started = True
        id, model, created = (response.get(key) for key in ("id", "model", "created_at"))
        return [
            Start(
                id if isinstance(id, str) else None,
                model if isinstance(model, str) else None,
                int(created) if isinstance(created, int | float) else None,
            )
        ]

    def _emit(self, index: int, kind: str, part: int, text: Json) -> list[Delta]:
        """More text of one part of an output item."""
        if not isinstance(text, str) or not text:
            return []
        if kind in ("arguments", "input") and index not in self._calls:
            # The first delta of a call names it; a server that did not yet say the name says all when the item is done.
            return []
        key = (index, kind, part)
        self._emitted[key] = self._emitted.get(key, 0) + len(text)
        match kind:
            case "text":
                self._before.setdefault((index, part), self._said)
                self._said += len(text)
                return [TextDelta(text)]
            case "refusal":
                self._refused = True
                return [RefusalDelta(text)]
            case "input":
                return self._argue(index, dumps_text(text)[1:-1])
            case "arguments":
                return self._argue(index, self._arguments[index].feed(text))
        # Parts of one thought have an empty line between them, as in a whole reply.
        previous = self._thinking.get(index)
        self._thinking[index] = (kind, part)
        return [ThinkingDelta(text if previous in (None, (kind, part)) else "\n\n" + text, block=index)]

    def _argue(self, index: int, text: str) -> list[Delta]:
        """More of a call's arguments."""
        return [ToolCallDelta(self._calls[index], arguments=text)] if text else []

    def _settle(self, index: int, kind: str, part: int, whole: Json) -> list[Delta]:
        """What a finished text holds beyond what was told of it."""
        if not isinstance(whole, str):
            return []
        return self._emit(index, kind, part, whole[self._emitted.get((index, kind, part), 0) :])

    def _emit_logprobs(self, index: int, part: int, tokens: tuple[TokenLogprob, ...]) -> list[Delta]:
        """Log probabilities of the tokens just said."""
        key = (index, "logprobs", part)
        self._emitted[key] = self._emitted.get(key, 0) + len(tokens)
        return [LogprobsDelta(tokens)] if tokens else []

    def _tell_annotations(self, index: int, part: int, annotations: list[Json]) -> list[Delta]:
        """Citations of a text, and notes of other kinds, which only this dialect understands."""
        before = self._before.get((index, part), self._said)
        annotations = [annotation for annotation in annotations if isinstance(annotation, dict)]
        key = (index, "annotations", part)
        self._emitted[key] = self._emitted.get(key, 0) + len(annotations)
        return [OpaqueDelta(VENDOR, "annotation", one, 0, read_citations([one], before)) for one in annotations]

    def _item_added(self, index: int, item: Json) -> list[Delta]:
        """A tool call is named when it begins; its arguments are left to the deltas. Free text is told as the one string of an
        object, piece by piece."""
        if not isinstance(item, dict) or item.get("type") not in _CALLS or index in self._calls:
            return []
        id, name = item.get("call_id") or item.get("id"), item.get("name")
        if not isinstance(id, str) or not isinstance(name, str):
            raise UpstreamInvalid("The upstream sent a function call without a call_id or a name.", vendor=VENDOR)
        self._calls[index] = len(self._calls)
        return [ToolCallDelta(self._calls[index], id, name, '{"input":"' if item["type"] == "custom_tool_call" else "")]

    def _item_done(self, index: int, item: Json) -> list[Delta]:
        """What a finished item holds beyond what was told of it."""
        match item:
            case {"type": "message", "content": list(content)}:
                return [delta for part, value in enumerate(content) for delta in self._content_done(index, part, value)]
            case {"type": "function_call"}:
                added = self._item_added(index, item)
                told = self._settle(index, "arguments", 0, item.get("arguments"))
                return [*added, *told, *self._argue(index, self._arguments[index].close())]
            case {"type": "custom_tool_call"} if index not in self._settled:
                self._settled.add(index)
                added = self._item_added(index, item)
                return [*added, *self._settle(index, "input", 0, item.get("input")), *self._argue(index, '"}')]
            case {"type": "custom_tool_call"}:
                return []
            case {"type": str(kind)} if kind != "message" and index not in self._settled:
                self._settled.add(index)
                return self._indivisible_done(index, item)
        return []

    def _indivisible_done(self, index: int, item: dict[str, Json]) -> list[Delta]:
        """A finished item that is told as a whole, once."""
        match item:
            case {"type": "reasoning"}:
                return self._reasoning_done(index, item)
            case {"type": "image_generation_call", "result": str(data)} if data:
                return [MediaDelta(Media("image", f"image/{item.get('output_format') or 'png'}", data=data))]
        return [OpaqueDelta(VENDOR, item["type"], item)]

    def _content_done(self, index: int, number: int, part: Json) -> list[Delta]:
        """A finished content part of a message."""
        match part:
            case {"type": "output_text"}:
                deltas = self._settle(index, "text", number, part.get("text"))
                annotations = part.get("annotations")
                if isinstance(annotations, list):
                    told = self._emitted.get((index, "annotations", number), 0)
                    deltas += self._tell_annotations(index, number, annotations[told:])
                told = self._emitted.get((index, "logprobs", number), 0)
                return deltas + self._emit_logprobs(index, number, (parse_logprobs(part.get("logprobs")) or ())[told:])
            case {"type": "refusal"}:
                return self._settle(index, "refusal", number, part.get("refusal"))
        return []

    def _reasoning_done(self, index: int, item: dict[str, Json]) -> list[Delta]:
        """A finished thought: its text where none was streamed, and its token."""
        thinking = parse_reasoning(item)
        text = "" if index in self._thinking else thinking.text
        if not text and thinking.signature is None and thinking.redacted is None:
            return []
        return [ThinkingDelta(text, thinking.signature, thinking.redacted, thinking.signed_by, index)]

    def _finish(self, response: dict[str, Json]) -> FinishReason | None:
        """Why a response ended; None while it has not (a background job that is queued or runs)."""
        status = response.get("status", "completed")
        if status == "incomplete":
            details = response.get("incomplete_details")
            reasons: dict[Json, FinishReason] = {"max_output_tokens": "length", "content_filter": "content_filter"}
            return reasons.get(details.get("reason"), "other") if isinstance(details, dict) else "other"
        if status != "completed":
            return None
        return "tool_calls" if self._calls else "refusal" if self._refused else "stop"


def _payload(event: SseEvent) -> dict[str, Json]:
    """An event's data as an object with a type. Raises UpstreamInvalid."""
    try:
        payload = loads(event.data)
    except InvalidJson as error:
        raise UpstreamInvalid("The upstream sent an event that is not JSON.", vendor=VENDOR) from error
    if isinstance(payload, dict):
        if isinstance(payload.get("type"), str):
            return payload
        if isinstance(payload.get("error"), dict):
            return {**payload, "type": "error"}
    raise UpstreamInvalid("The upstream sent an event that the Responses API does not know: no type.", vendor=VENDOR)


def _index(event: dict[str, Json], key: str) -> int:
    """A position, 0 where none is given."""
    value = event.get(key)
    return value if isinstance(value, int) else 0


class ResponsesStreamRenderer:
    """Writes one stream to one caller; ``id`` and ``now`` are for an upstream that tells neither, and ``cache`` keeps the
    items of a whole answer."""

    def __init__(self, wire: WireRequest, *, id: str, now: int, cache: ItemCache) -> None:
        self._events = ResponseEvents(wire, id=id, now=now)
        self._cache = cache
        self._caller = wire.caller
        self._first: bytes | None = None
        self._passed = 0

    def feed(self, delta: Delta) -> bytes:
        """The events that a delta is, framed."""
        data = b"".join(_frame(event) for event in self._events.feed(delta))
        if data and isinstance(delta, End):
            self._cache.put(self._caller, self._events.response["output"])
        return data

    def passthrough(self, event: SseEvent) -> bytes:
        """An event of this dialect as it came. The first one is remembered: ``fail`` needs the response that it began."""
        if self._first is None:
            self._first = event.data
        self._passed += 1
        return encode_event(event.data, event.event)

    def fail(self, error: AgentUIError) -> bytes:
        """``error`` and then, where a response has begun, ``response.failed``; nothing follows.

        The error event carries the fields at its top, as documented, and again under ``error``, as the API's own servers
        do: openai-py raises for the second form and only reports the first.
        """
        if self._first is not None:
            self._events.resume(_response_of(self._first), self._passed)
        return b"".join(_frame(event) for event in self._events.fail(error))


def _response_of(data: bytes) -> dict[str, Json] | None:
    """The response object in the first event of a stream, None when it holds none."""
    try:
        payload = loads(data)
    except InvalidJson:
        # Passed on untouched; whatever it was, it began no response.
        return None
    response = payload.get("response") if isinstance(payload, dict) else None
    return response if isinstance(response, dict) else None


def _frame(event: dict[str, Json]) -> bytes:
    """An event whose SSE name is its type."""
    return encode_event(dumps(event), event["type"])


def parse_reply(body: Json) -> Reply:
    """A response with the dialect taken off, its ``raw`` kept.

    Raises UpstreamInvalid for what is no response, and what the upstream says went wrong for one that failed.
    """
    if not isinstance(body, dict) or not isinstance(body.get("output"), list):
        raise UpstreamInvalid("The upstream's answer is no Responses API response: it has no output.", vendor=VENDOR)
    if body.get("status") == "failed":
        raise stream_failure(body.get("error"))
    builder = ReplyBuilder()
    builder.feed(ResponsesStreamParser().whole(body))
    reply = builder.reply()
    return replace(reply, raw=body, raw_vendor=VENDOR)


def render_reply(reply: Reply, wire: WireRequest, *, id: str, now: int, cache: ItemCache) -> Json:
    """The response object for the caller who sent ``wire``; the upstream's own where it spoke this dialect.

    ``id`` and ``now`` are for an upstream that tells neither; ``cache`` keeps the items that are made here.
    """
    if reply.raw_vendor == VENDOR:
        return reply.raw
    events = ResponseEvents(wire, id=id, now=now)
    for delta in reply.deltas():
        events.feed(delta)
    cache.put(wire.caller, events.response["output"])
    return events.response
