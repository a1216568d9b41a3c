"""Gemini's streams, understood: every event is a whole GenerateContentResponse that holds the next pieces.

There is no end marker: a stream is whole when each candidate has said why it finished and the bytes ended cleanly. With
``streamFunctionCallArguments`` a call's arguments come in pieces, each of which names its place with a JSON path such as
``$.place.streets[0].name`` (RFC 9535, names and indexes only); a string that ``willContinue`` is told in several pieces."""

import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from agentui.chat.deltas import (
    Delta,
    End,
    Failure,
    Finish,
    LogprobsDelta,
    MediaDelta,
    OpaqueDelta,
    Start,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    UsageDelta,
)
from agentui.chat.messages import Media, Opaque, Part, Text, Thinking, ToolCall
from agentui.errors import UpstreamInvalid
from agentui.jsonio import InvalidJson, Json, dumps, loads
from agentui.vendors.gemini.errors import refusal_of, status_of
from agentui.vendors.gemini.grounding import read_citations
from agentui.vendors.gemini.metadata import (
    block_reason,
    parse_finish,
    parse_logprobs,
    parse_usage,
)
from agentui.vendors.gemini.parts import (
    CANDIDATE_MEMBERS,
    GEMINI,
    parse_part,
)
from agentui.vendors.gemini.protojson import Malformed, flag, integer, items, member, number, obj, text
from agentui.vendors.sse import SseEvent

_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[(\d{1,9})\]|\['([^']*)'\]|\[\"([^\"]*)\"\]")
_Steps: TypeAlias = list[str | int]


class PartialCall:
    """One call while it grows: its first part carries the name, the last one says nothing of ``willContinue``."""

    def __init__(self) -> None:
        self.id: str | None = None
        self.name: str | None = None
        self.signature: str | None = None
        self.arguments: dict[str, Json] = {}
        self._growing: str | None = None

    def add(self, call: dict[str, Json], signature: str | None) -> bool:
        """Take the next part. True when the call is complete. Raises Malformed."""
        self.id = text(call, "id") or self.id
        self.name = text(call, "name") or self.name
        self.signature = signature or self.signature
        self.arguments.update(obj(call, "args"))
        for piece in items(call, "partialArgs"):
            if not isinstance(piece, dict):
                raise Malformed("Every partial argument must be an object.", "partialArgs")
            self._add_piece(piece)
        return flag(call, "willContinue") is not True

    def _add_piece(self, piece: dict[str, Json]) -> None:
        path = text(piece, "jsonPath") or ""
        _put(self.arguments, _steps(path), _value(piece), append=self._growing == path)
        self._growing = path if flag(piece, "willContinue") else None


def _value(piece: dict[str, Json]) -> Json:
    """The value that a piece carries; one without any is null."""
    words = text(piece, "stringValue")
    if words is not None:
        return words
    truth = flag(piece, "boolValue")
    if truth is not None:
        return truth
    value = number(piece, "numberValue")
    # JSON numbers arrive as doubles; a whole one was an integer before.
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _steps(path: str) -> _Steps:
    """The names and indexes of a JSON path. Raises Malformed for wildcards, filters and the root alone."""
    steps: _Steps = []
    position = 1
    while position < len(path):
        match = _STEP.match(path, position)
        if match is None:
            break
        dotted, index, single, double = match.groups()
        steps.append(int(index) if index is not None else next(n for n in (dotted, single, double) if n is not None))
        position = match.end()
    if not path.startswith("$") or not steps or position != len(path):
        raise Malformed("A partial argument's jsonPath must be made of names and indexes.", "jsonPath")
    return steps


def _put(root: dict[str, Json], steps: _Steps, value: Json, *, append: bool) -> None:
    """Set or lengthen the value at ``steps``, making what lies between. An index may go one past the end, not further."""
    place: Json = root
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        old = _old(place, step)
        if following is not None:
            new = old if old is not None else ([] if isinstance(following, int) else {})
        else:
            new = old + value if append and isinstance(old, str) and isinstance(value, str) else value
        if isinstance(place, list) and step == len(place):
            place.append(new)
        else:
            place[step] = new
        place = new


def _old(place: Json, step: str | int) -> Json:
    """What stands at ``step`` so far. Raises Malformed when the step does not fit the place."""
    if isinstance(place, dict) and isinstance(step, str):
        return place.get(step)
    if isinstance(place, list) and isinstance(step, int) and step <= len(place):
        return place[step] if step < len(place) else None
    raise Malformed("A partial argument's jsonPath does not fit what came before it.", "jsonPath")


FOREIGN_END: Final = b"[DONE]"
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
        if event.data.strip() == FOREIGN_END:
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
    events: int = 0
    said: list[str] = field(default_factory=list)
    size: int = 0
    part_starts: list[int] = field(default_factory=list)
    """Where in the bytes of what was said each part of the first event begins."""
    beside: list[tuple[str, Json]] = field(default_factory=list)
    """What stood beside the content. It is told at the end, when the words are whole whose places it names."""

    def feed(self, raw: dict[str, Json]) -> Iterator[Delta]:
        """The next pieces of this candidate."""
        self.events += 1
        for part in items(obj(raw, "content"), "parts"):
            if self.events == 1:
                self.part_starts.append(self.size)
            yield from self._part(part)
        self.beside += [(name, member(raw, name)) for name in CANDIDATE_MEMBERS if member(raw, name) is not None]
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
                self.said.append(words)
                if self.events == 1:
                    self.size += len(words.encode("utf-8", "surrogatepass"))
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
        """What stands beside the content, and the finish. A call that was never finished is given as far as it came only when
        the candidate says that it ended."""
        if self.beside:
            starts = self.part_starts if self.events == 1 else ()
            every = read_citations(self.beside, "".join(self.said), starts)
            for (name, value), cited in zip(self.beside, every, strict=True):
                yield OpaqueDelta(GEMINI, name, {name: value}, self.number, cited)
        if self.finish is not None:
            yield from self._close_call()
            yield Finish(parse_finish(self.finish, called=self.calls > 0), None, self.number)


def deltas_of(body: Json) -> Iterable[Delta]:
    """A whole answer, read as a stream of one event. Raises UpstreamInvalid."""
    parser = GeminiStreamParser()
    return [*parser.take(body), *parser.close()]


MAX_HELD: Final = 256 * 1024
"""Bytes of a forwarded stream that wait for its end; who says more after the finish has not finished."""
_FINISH: Final = b'"finishReason"'
"""In an event that may be the last. Inside a text its quotes are escaped."""
_BLANK_LINES: Final = (b"\n\n", b"\r\n\r\n", b"\r\r")


class GeminiEnd:
    """Finds the end of one stream. Older models say in every event that they have finished, so only the last such event
    waits, and what follows it."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._has_finish = False

    @property
    def held(self) -> bytes:
        """The last event that says it has finished, or the piece of one that may say so, and what came after it."""
        return bytes(self._held)

    def in_events(self, events: Sequence[SseEvent], deltas: Sequence[Delta]) -> int:
        """The event that holds a finish reason: its parser tells the finish only when the bytes are over."""
        return next((place for place, event in enumerate(events) if _FINISH in event.data), len(events))

    def in_deltas(self, deltas: Sequence[Delta]) -> int:
        """The place of the first ``Finish`` or ``End``."""
        return next((place for place, delta in enumerate(deltas) if isinstance(delta, Finish | End)), len(deltas))

    def hold(self, chunk: bytes) -> bytes:
        """The bytes before the last event that says it has finished."""
        held = self._held
        unsearched = max(0, len(held) - len(_FINISH) + 1)  # it may have begun before this chunk
        held += chunk
        said = held.rfind(_FINISH, unsearched)
        if said >= 0:
            self._has_finish = True
            blanks = ((held.rfind(blank, 0, said), len(blank)) for blank in _BLANK_LINES)
            at = max((place + size for place, size in blanks if place >= 0), default=0)
        elif self._has_finish:
            at = 0
        else:
            tail = range(max(0, len(held) - len(_FINISH) + 1), len(held))
            at = next((place for place in tail if _FINISH.startswith(bytes(held[place:]))), len(held))
        if self._has_finish and len(held) - at > MAX_HELD:
            at, self._has_finish = len(held), False
        free = bytes(held[:at])
        del held[:at]
        return free
