"""Gemini's streams: every event is a whole GenerateContentResponse that holds the next pieces.

There is no end marker: a stream is whole when each candidate has said why it finished and the bytes ended cleanly.
"""

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

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
from agentui.chat.messages import Media, Opaque, Part, Text, Thinking, ToolCall
from agentui.chat.request import WireRequest
from agentui.errors import AgentUIError, UpstreamInvalid
from agentui.jsonio import InvalidJson, Json, dumps, loads
from agentui.vendors.base import StreamFormat
from agentui.vendors.gemini.errors import refusal_of, render_error, status_of
from agentui.vendors.gemini.metadata import (
    block_reason,
    parse_finish,
    parse_logprobs,
    parse_usage,
    render_finish,
    render_logprobs,
    render_usage,
)
from agentui.vendors.gemini.partial import PartialCall
from agentui.vendors.gemini.parts import (
    CANDIDATE_MEMBERS,
    GEMINI,
    call_arguments,
    call_part,
    json_object,
    media_part,
    parse_part,
    thinking_part,
)
from agentui.vendors.gemini.protojson import Malformed, integer, items, member, obj, text
from agentui.vendors.sse import SseEvent

_FOREIGN_END: Final = b"[DONE]"
"""OpenAI's end marker, which gateways in front of Gemini sometimes add and google-genai cannot read."""


class GeminiStreamParser:
    """Understands one Gemini stream. ``Finish`` is held back until the bytes end: older models repeat STOP in every event."""

    def __init__(self) -> None:
        self._candidates: dict[int, _Candidate] = {}
        self._started = False
        self._blocked = False
        self._failed = False

    def feed(self, event: SseEvent) -> list[Delta]:
        """The deltas of one event. Raises UpstreamInvalid for what is not a GenerateContentResponse."""
        if event.data.strip() == _FOREIGN_END:
            return []
        try:
            return self.take(loads(event.data))
        except InvalidJson as error:
            raise UpstreamInvalid(f"The upstream's stream holds an event that is not JSON: {error}.") from error

    def take(self, body: Json) -> list[Delta]:
        """The deltas of one response object. Raises UpstreamInvalid."""
        if isinstance(body, list) and len(body) == 1:
            body = body[0]
        if not isinstance(body, dict):
            raise UpstreamInvalid("The upstream answered with JSON that is not a GenerateContentResponse object.")
        if body.get("error") is not None:
            self._failed = True
            return [Failure(refusal_of(status_of(body), body))]
        try:
            return list(self._response(body))
        except Malformed as error:
            raise UpstreamInvalid(f"The upstream's answer is not a GenerateContentResponse: {error.message}") from error

    def close(self) -> list[Delta]:
        """The finishes, and ``End`` when every candidate seen (or the prompt's block) said why it ended."""
        if self._failed:
            return []
        if self._blocked and not self._candidates:
            return [Finish("content_filter"), End()]
        deltas = [delta for _, one in sorted(self._candidates.items()) for delta in one.close()]
        whole = bool(self._candidates) and all(one.finish is not None for one in self._candidates.values())
        return [*deltas, End()] if whole else deltas

    def _response(self, body: dict[str, Json]) -> Iterator[Delta]:
        if not self._started:
            self._started = True
            yield Start(text(body, "responseId"), text(body, "modelVersion"))
        for raw in items(body, "candidates"):
            if not isinstance(raw, dict):
                raise Malformed("every candidate must be an object.")
            number = integer(raw, "index") or 0
            if number not in self._candidates:
                self._candidates[number] = _Candidate(number)
            yield from self._candidates[number].feed(raw)
        self._blocked = self._blocked or block_reason(body) is not None
        if member(body, "usageMetadata") is not None:
            yield UsageDelta(parse_usage(obj(body, "usageMetadata")))


@dataclass(slots=True)
class _Candidate:
    """One candidate while it is told."""

    number: int
    finish: str | None = None
    calls: int = 0
    open_call: PartialCall | None = None
    block: int = -1
    in_thought: bool = False

    def feed(self, raw: dict[str, Json]) -> Iterator[Delta]:
        """The next pieces of this candidate."""
        for part in items(obj(raw, "content"), "parts"):
            yield from self._part(part)
        for name in CANDIDATE_MEMBERS:
            if member(raw, name) is not None:
                yield OpaqueDelta(GEMINI, name, {name: member(raw, name)}, self.number)
        if member(raw, "logprobsResult") is not None:
            yield LogprobsDelta(parse_logprobs(obj(raw, "logprobsResult")), self.number)
        self.finish = text(raw, "finishReason") or self.finish

    def _part(self, raw: Json) -> Iterator[Delta]:
        call = member(raw, "functionCall") if isinstance(raw, dict) else None
        if isinstance(call, dict) and (self.open_call or member(call, "willContinue") or member(call, "partialArgs")):
            yield from self._partial(call, text(raw, "thoughtSignature"))
            return
        for part in parse_part(raw):
            yield from self._delta(part)

    def _partial(self, call: dict[str, Json], signature: str | None) -> Iterator[Delta]:
        """A piece of a call whose arguments are streamed; the call goes on when it is whole."""
        growing = self.open_call = self.open_call or PartialCall()
        if growing.add(call, signature):
            yield from self._close_call()

    def _close_call(self) -> Iterator[Delta]:
        call, self.open_call = self.open_call, None
        if call is not None and call.name:
            signed_by = GEMINI if call.signature else None
            arguments = dumps(call.arguments).decode()
            yield from self._delta(ToolCall(call.id, call.name, arguments, call.signature, signed_by))

    def _delta(self, part: Part) -> Iterator[Delta]:
        """A part as a delta. Thoughts that follow each other are one block until a signature ends it."""
        if isinstance(part, Thinking):
            if not (self.in_thought and part.text):
                self.block += 1
            self.in_thought = part.signature is None
            yield ThinkingDelta(part.text, part.signature, None, part.signed_by, self.block, self.number)
            return
        self.in_thought = False
        match part:
            case Text(words):
                yield TextDelta(words, self.number)
            case ToolCall(id, name, arguments, signature, signed_by):
                id = id or f"call_{secrets.token_hex(12)}"
                yield ToolCallDelta(self.calls, id, name, arguments, signature, signed_by, self.number)
                self.calls += 1
            case Media():
                yield MediaDelta(part, self.number)
            case Opaque(vendor, label, raw):
                yield OpaqueDelta(vendor, label, raw, self.number)

    def close(self) -> Iterator[Delta]:
        """A call that was never finished is given as far as it came only when the candidate says that it ended."""
        if self.finish is not None:
            yield from self._close_call()
            yield Finish(parse_finish(self.finish, called=self.calls > 0), None, self.number)


@dataclass(slots=True)
class _OpenCall:
    """A tool call while its arguments arrive; Gemini wants it whole."""

    id: str | None = None
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    signature: str | None = None

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)


@dataclass(slots=True)
class _Rendering:
    """What is known of one choice while it is written."""

    calls: dict[int, _OpenCall] = field(default_factory=dict)
    finish: Finish | None = None
    refused: bool = False
    broken: str | None = None


class GeminiStreamRenderer:
    """Writes one Gemini stream: SSE with ``alt=sse``, else one JSON array, as Google's servers do.

    Finish reasons and usage go out together in one last response at ``End``, because usage may come after the finish. An
    array that fails gets an element ``{"error": ...}`` and no closing bracket, so it cannot be taken for a whole one.
    """

    def __init__(self, wire: WireRequest) -> None:
        self._frame = _SseFrame() if wire.query.get("alt") == "sse" else _ArrayFrame()
        self._model = wire.model
        self._id = secrets.token_urlsafe(16)
        self._choices: dict[int, _Rendering] = {}
        self._usage: Usage | None = None
        self._is_over = False

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
        if event.data.strip() == _FOREIGN_END:
            return b""
        # Line breaks in JSON text only stand between tokens.
        return self._frame.element(event.data.replace(b"\r", b" ").replace(b"\n", b" "))

    def fail(self, error: AgentUIError) -> bytes:
        """The error as the stream's last element."""
        if self._is_over:
            return b""
        self._is_over = True
        return self._frame.element(dumps(render_error(error).body))

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
            case OpaqueDelta(vendor, label, raw):
                if vendor == GEMINI and label in CANDIDATE_MEMBERS:
                    extra = raw
                elif vendor == GEMINI:
                    parts.append(raw)
        return self._parts(number, parts, extra)

    def _hold(self, delta: ToolCallDelta) -> None:
        call = self._choice(delta.choice).calls.setdefault(delta.index, _OpenCall())
        call.id = delta.id or call.id
        call.name = delta.name or call.name
        call.pieces.append(delta.arguments)
        if delta.signed_by == GEMINI:
            call.signature = delta.signature or call.signature

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
            parts.append(call_part(call.id, call.name, value, call.signature))
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
    """A candidate that only says why it ended."""
    ending = candidate_ending(choice.finish, refused=choice.refused, broken=choice.broken)
    return {"content": {"parts": [{"text": ""}], "role": "model"}, **ending, "index": number}


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


def deltas_of(body: Json) -> Iterable[Delta]:
    """A whole answer, read as a stream of one event. Raises UpstreamInvalid."""
    parser = GeminiStreamParser()
    return [*parser.take(body), *parser.close()]
