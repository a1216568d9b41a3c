"""Answers written, whole and streamed, and whole answers read: GenerateContentResponse.

Its machine for streams is the mirror of ``stream``; both ends of a candidate are told in one place."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from agentui.chat.citations import Citation
from agentui.chat.deltas import (
    Delta,
    End,
    Failure,
    Finish,
    LogprobsDelta,
    MediaDelta,
    OpaqueDelta,
    RefusalDelta,
    Start,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    Usage,
    UsageDelta,
)
from agentui.chat.messages import Media, Opaque, Refusal, Text, Thinking, ToolCall
from agentui.chat.reply import Choice, Reply, ReplyBuilder
from agentui.chat.request import WireRequest
from agentui.errors import AgentUIError, UpstreamInvalid
from agentui.jsonio import Json, dumps
from agentui.vendors.base import StreamFormat
from agentui.vendors.gemini.call_marks import call_mark
from agentui.vendors.gemini.errors import render_error
from agentui.vendors.gemini.grounding import grounding_metadata
from agentui.vendors.gemini.metadata import (
    render_finish,
    render_logprobs,
    render_usage,
)
from agentui.vendors.gemini.parts import (
    CANDIDATE_MEMBERS,
    GEMINI,
    call_arguments,
    call_part,
    json_object,
    media_part,
    thinking_part,
)
from agentui.vendors.gemini.stream import FOREIGN_END, deltas_of
from agentui.vendors.sse import SseEvent


def parse_reply(body: Json) -> Reply:
    """A whole answer with the dialect taken off; calls without an id get one.

    A blocked prompt is a choice without parts that finished as ``content_filter``. Raises UpstreamInvalid for what has
    neither candidates nor a block reason, and the upstream's own error for ``{"error": ...}``.
    """
    deltas = list(deltas_of(body))
    failure = next((delta for delta in deltas if isinstance(delta, Failure)), None)
    if failure is not None:
        raise failure.error
    builder = ReplyBuilder()
    builder.feed(deltas)
    reply = builder.reply()
    if not reply.choices:
        raise UpstreamInvalid("The upstream answered without a candidate and without saying that the prompt was blocked.")
    return replace(reply, raw=body, raw_vendor=GEMINI)


def render_reply(reply: Reply, wire: WireRequest) -> Json:
    """The answer for a Gemini caller: ``reply.raw`` itself where Gemini gave it."""
    if reply.raw is not None and reply.raw_vendor == GEMINI:
        return reply.raw
    body: dict[str, Json] = {
        "candidates": [_candidate(number, choice) for number, choice in enumerate(reply.choices or (Choice(),))],
        "modelVersion": reply.model or wire.model,
        "responseId": reply.id or secrets.token_urlsafe(16),
    }
    if reply.usage is not None:
        body["usageMetadata"] = render_usage(reply.usage)
    return body


def _candidate(number: int, choice: Choice) -> dict[str, Json]:
    """One candidate. A refusal is text that finished for SAFETY; a call whose arguments are unreadable is left out."""
    parts: list[Json] = []
    beside: dict[str, Json] = {}
    cited: list[Citation] = []
    broken: str | None = None
    for part in choice.parts:
        match part:
            case Text(words) | Refusal(words):
                parts += [{"text": words}] if words else []
            case Thinking(words, signature, _, signed_by):
                own = signature if signed_by == GEMINI else None
                parts += [thinking_part(words, own)] if words or own else []
            case ToolCall(id, name, arguments):
                value = call_arguments(arguments)
                if value is None:
                    broken = name
                else:
                    parts.append(call_part(id, name, value, _signature(part)))
            case Media():
                parts.append(media_part(part))
            case Opaque("gemini", label, raw):
                if label in CANDIDATE_MEMBERS:
                    beside.update(raw)
                else:
                    parts.append(raw)
            case Opaque(cited=pages):
                cited += pages
    if cited:
        beside.update(grounding_metadata(cited, choice.text))
    finish = None if choice.finish is None else Finish(choice.finish)
    refused = any(isinstance(part, Refusal) for part in choice.parts)
    if choice.logprobs:
        beside["logprobsResult"] = render_logprobs(choice.logprobs)
    ending = candidate_ending(finish, refused=refused, broken=broken)
    # The places of what is cited are counted in one text.
    parts = _joined(parts) if cited else parts
    return {"content": {"parts": parts or [{"text": ""}], "role": "model"}, **ending, "index": number, **beside}


def _signature(call: ToolCall) -> str | None:
    """What stands in a call's thoughtSignature: Gemini's own, else a mark."""
    return call.signature if call.signed_by == GEMINI else call_mark(call)


def _joined(parts: Sequence[Json]) -> list[Json]:
    """The parts, in which neighbouring texts are one."""
    joined: list[Json] = []
    for is_text, group in groupby(parts, lambda part: part.keys() == {"text"}):
        run = list(group)
        joined += [{"text": "".join(part["text"] for part in run)}] if is_text else run
    return joined


@dataclass(slots=True)
class _OpenCall:
    """A tool call while its arguments arrive; Gemini wants it whole."""

    id: str | None = None
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    signature: str | None = None
    signed_by: str | None = None

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)

    @property
    def whole(self) -> ToolCall:
        """The call as far as it came."""
        return ToolCall(self.id, self.name, self.arguments, self.signature, self.signed_by)


@dataclass(slots=True)
class _Rendering:
    """What is known of one choice while it is written."""

    calls: dict[int, _OpenCall] = field(default_factory=dict)
    finish: Finish | None = None
    refused: bool = False
    broken: str | None = None
    said: list[str] = field(default_factory=list)
    cited: list[Citation] = field(default_factory=list)


class GeminiStreamRenderer:
    """Writes one Gemini stream: SSE with ``alt=sse``, else one JSON array, as Google's servers do.

    Finish reasons and usage go out together in one last response at ``End``, because usage may come after the finish. An
    array that fails ends with an element ``{"error": ...}``, as Google's own do.
    """

    def __init__(self, wire: WireRequest) -> None:
        self._frame = _SseFrame() if wire.query.get("alt") == "sse" else _ArrayFrame()
        self._model = wire.model
        self._id = secrets.token_urlsafe(16)
        self._choices: dict[int, _Rendering] = {}
        self._usage: Usage | None = None
        self._is_over = self._has_failed = False

    def feed(self, delta: Delta) -> bytes:
        """What the caller reads for this delta."""
        if self._is_over:
            return b""
        match delta:
            case Start(id, model):
                self._id, self._model = id or self._id, model or self._model
                # A caller reads an answer that says nothing as a candidate that says nothing.
                self._choice(0)
            case UsageDelta(usage):
                self._usage = usage if self._usage is None else self._usage.updated(usage)
            case ToolCallDelta():
                self._hold(delta)
            case Finish(choice=number):
                choice = self._choice(number)
                choice.finish = delta
                return self._parts(number, self._release(choice, final=True))
            case Failure(error):
                return self.fail(error)
            case End():
                return self._end()
            case _:
                return self._content(delta)
        return b""

    def passthrough(self, event: SseEvent) -> bytes:
        """The event's own JSON in this caller's framing."""
        if event.data.strip() == FOREIGN_END:
            return b""
        # Line breaks in JSON text only stand between tokens.
        return self._frame.element(event.data.replace(b"\r", b" ").replace(b"\n", b" "))

    def fail(self, error: AgentUIError) -> bytes:
        """The error as the stream's last element. An array is closed behind it, so that a client can read what it says."""
        if self._has_failed:
            return b""
        self._is_over = self._has_failed = True
        return self._frame.element(dumps(render_error(error).body)) + self._frame.end()

    def _choice(self, number: int) -> _Rendering:
        return self._choices.setdefault(number, _Rendering())

    def _content(self, delta: TextDelta | ThinkingDelta | RefusalDelta | MediaDelta | LogprobsDelta | OpaqueDelta) -> bytes:
        """A piece of content, after the calls that are whole by now."""
        number = delta.choice
        choice = self._choice(number)
        parts = self._release(choice, final=False)
        extra: dict[str, Json] = {}
        match delta:
            case TextDelta(words):
                choice.said.append(words)
                parts += [{"text": words}] if words else []
            case RefusalDelta(words):
                choice.refused = True
                parts += [{"text": words}] if words else []
            case ThinkingDelta():
                parts += _thought(delta)
            case MediaDelta(media):
                parts.append(media_part(media))
            case LogprobsDelta(tokens):
                extra = {"logprobsResult": render_logprobs(tokens)}
            case OpaqueDelta("gemini", label, raw):
                if label in CANDIDATE_MEMBERS:
                    extra = raw
                else:
                    parts.append(raw)
            case OpaqueDelta(cited=cited):
                choice.cited += cited  # told at the end, when the words are whole whose bytes are counted
        return self._parts(number, parts, extra)

    def _hold(self, delta: ToolCallDelta) -> None:
        call = self._choice(delta.choice).calls.setdefault(delta.index, _OpenCall())
        call.id = delta.id or call.id
        call.name = delta.name or call.name
        call.pieces.append(delta.arguments)
        call.signature = delta.signature or call.signature
        call.signed_by = delta.signed_by or call.signed_by

    def _release(self, choice: _Rendering, *, final: bool) -> list[Json]:
        """The parts of the calls that are whole; at the end the rest is dropped and told by the finish reason."""
        parts: list[Json] = []
        for index, call in sorted(choice.calls.items()):
            value = call_arguments(call.arguments) if final else json_object(call.arguments)
            if value is None:
                if not final:
                    break
                choice.broken = call.name
                continue
            parts.append(call_part(call.id, call.name, value, _signature(call.whole)))
            del choice.calls[index]
        return parts

    def _parts(self, number: int, parts: list[Json], extra: dict[str, Json] | None = None) -> bytes:
        """One response with these parts, nothing when there are none."""
        if not parts and not extra:
            return b""
        candidate = {"content": {"parts": parts or [{"text": ""}], "role": "model"}, "index": number, **(extra or {})}
        return self._response({"candidates": [candidate]})

    def _response(self, members: dict[str, Json]) -> bytes:
        return self._frame.element(dumps({**members, "modelVersion": self._model, "responseId": self._id}))

    def _end(self) -> bytes:
        """The last response: why each choice ended, and the tokens."""
        released = b""
        for number, choice in sorted(self._choices.items()):
            released += self._parts(number, self._release(choice, final=True))
        last: dict[str, Json] = {}
        if self._choices:
            last["candidates"] = [_last_candidate(number, choice) for number, choice in sorted(self._choices.items())]
        if self._usage is not None:
            last["usageMetadata"] = render_usage(self._usage)
        self._is_over = True
        return released + (self._response(last) if last else b"") + self._frame.end()


def _thought(delta: ThinkingDelta) -> list[Json]:
    """A thought as a part; another vendor's signature stays out."""
    signature = delta.signature if delta.signed_by == GEMINI else None
    return [thinking_part(delta.text, signature)] if delta.text or signature else []


def _last_candidate(number: int, choice: _Rendering) -> dict[str, Json]:
    """A candidate that only says why it ended, and which pages it cites."""
    ending = candidate_ending(choice.finish, refused=choice.refused, broken=choice.broken)
    beside = grounding_metadata(choice.cited, "".join(choice.said)) if choice.cited else {}
    return {"content": {"parts": [{"text": ""}], "role": "model"}, **ending, "index": number, **beside}


def candidate_ending(finish: Finish | None, *, refused: bool, broken: str | None) -> dict[str, Json]:
    """``finishReason``, and ``finishMessage`` for a call ``broken`` off or unreadable, which is not passed on."""
    reason = finish.reason if finish else None
    if broken is None:
        return {"finishReason": render_finish(reason, refused=refused)}
    message = f"The model's call of {broken} was left out: its arguments are not a JSON object."
    name = render_finish("length" if reason == "length" else "malformed_call")
    return {"finishReason": name, "finishMessage": message}


class _SseFrame:
    """One event a response, ended as Google ends it; google-genai reads neither comments nor an end marker."""

    def element(self, data: bytes) -> bytes:
        return b"data: " + data + b"\r\n\r\n"

    def end(self) -> bytes:
        return b""


class _ArrayFrame:
    """One array for the whole stream."""

    def __init__(self) -> None:
        self._opened = False

    def element(self, data: bytes) -> bytes:
        before, self._opened = (b",\n" if self._opened else b"["), True
        return before + data

    def end(self) -> bytes:
        return b"]" if self._opened else b"[]"


def stream_format(wire: WireRequest) -> StreamFormat:
    """SSE or an array, as the caller's ``alt`` asked. Nothing may be sent while the model is silent."""
    return StreamFormat("text/event-stream" if wire.query.get("alt") == "sse" else "application/json", None)
