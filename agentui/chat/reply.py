"""A whole answer, and how it is built from deltas and taken apart into deltas.

``Choice`` and ``Reply`` are values that nobody changes; they are not frozen for speed alone (see ``Message``).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agentui.chat.deltas import (
    Delta,
    End,
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
    Usage,
    UsageDelta,
)
from agentui.chat.messages import Media, Opaque, Part, Refusal, Text, Thinking, ToolCall
from agentui.errors import UpstreamInvalid
from agentui.jsonio import Json

MOST_PARTS = 10_000
"""Choices of an answer, and parts in all of them. No model has so much to say at once, and every step that an answer takes to
its caller goes over all of them."""


@dataclass(slots=True, unsafe_hash=True)
class Choice:
    """One candidate answer: its parts in order and why it ended (None: the upstream did not say)."""

    parts: tuple[Part, ...] = ()
    finish: FinishReason | None = None
    stop_sequence: str | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None

    @property
    def text(self) -> str:
        """The text parts joined without separator; thoughts never count."""
        if len(self.parts) == 1 and type(part := self.parts[0]) is Text:
            return part.text
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls asked for, in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))


@dataclass(slots=True, unsafe_hash=True)
class Reply:
    """An answer with the dialect taken off. ``raw`` is the wire body in the dialect ``raw_vendor``."""

    choices: tuple[Choice, ...]
    id: str | None = None
    model: str | None = None
    created: int | None = None
    usage: Usage | None = None
    raw: Json = None
    raw_vendor: str | None = None

    @property
    def text(self) -> str:
        """The first choice's text."""
        return self.choices[0].text if self.choices else ""

    def check_size(self) -> None:
        """Raises UpstreamInvalid for more than MOST_PARTS choices and parts."""
        if len(self.choices) + sum(len(choice.parts) for choice in self.choices) > MOST_PARTS:
            raise _too_many()

    def deltas(self) -> Iterator[Delta]:
        """The answer as a stream would have told it."""
        yield Start(self.id, self.model, self.created)
        for number, choice in enumerate(self.choices):
            yield from _choice_deltas(number, choice)
        if self.usage is not None:
            yield UsageDelta(self.usage)
        yield End()


def _choice_deltas(number: int, choice: Choice) -> Iterator[Delta]:
    """One choice's parts as deltas, its finish last."""
    calls = 0
    for position, part in enumerate(choice.parts):
        match part:
            case Text(text):
                yield TextDelta(text, number)
            case Thinking(text, signature, redacted, signed_by):
                yield ThinkingDelta(text, signature, redacted, signed_by, position, number)
            case Refusal(text):
                yield RefusalDelta(text, number)
            case ToolCall(id, name, arguments, signature, signed_by):
                yield ToolCallDelta(calls, id, name, arguments, signature, signed_by, number)
                calls += 1
            case Media():
                yield MediaDelta(part, number)
            case Opaque(vendor, label, raw, cited):
                yield OpaqueDelta(vendor, label, raw, number, cited)
    if choice.logprobs is not None:
        yield LogprobsDelta(choice.logprobs, number)
    if choice.finish is not None:
        yield Finish(choice.finish, choice.stop_sequence, number)


@dataclass(slots=True)
class _OpenPart:
    """A part while it grows: pieces are joined once, at the end."""

    kind: str
    key: int = 0
    pieces: list[str] = field(default_factory=list)
    id: str | None = None
    name: str | None = None
    signature: str | None = None
    redacted: str | None = None
    signed_by: str | None = None
    whole: Part | None = None

    def close(self) -> Part:
        """The finished part."""
        text = "".join(self.pieces)
        if self.whole is not None:
            return self.whole
        if self.kind == "thinking":
            return Thinking(text, self.signature, self.redacted, self.signed_by)
        if self.kind == "refusal":
            return Refusal(text)
        if self.kind == "call":
            return ToolCall(self.id, self.name or "", text or "{}", self.signature, self.signed_by)
        return Text(text)


@dataclass(slots=True)
class _OpenChoice:
    """A choice while it grows. ``count`` hears of every part that begins."""

    count: Callable[[], None]
    parts: list[_OpenPart] = field(default_factory=list)
    calls: dict[int, _OpenPart] = field(default_factory=dict)
    finish: FinishReason | None = None
    stop_sequence: str | None = None
    logprobs: list[TokenLogprob] | None = None

    def part(self, kind: str, key: int = 0) -> _OpenPart:
        """The last part when it is of this kind and key, else a new one."""
        if not self.parts or self.parts[-1].kind != kind or self.parts[-1].key != key:
            self.add(_OpenPart(kind, key))
        return self.parts[-1]

    def add(self, part: _OpenPart) -> None:
        """Begin a part. Raises UpstreamInvalid for one too many."""
        self.count()
        self.parts.append(part)

    def close(self) -> Choice:
        """The finished choice."""
        return Choice(
            tuple(part.close() for part in self.parts),
            self.finish,
            self.stop_sequence,
            None if self.logprobs is None else tuple(self.logprobs),
        )


class ReplyBuilder:
    """Collects deltas into a ``Reply``. Holds state, touches nothing else."""

    def __init__(self) -> None:
        self._choices: dict[int, _OpenChoice] = {}
        self._opened = 0
        self._start = Start()
        self._usage: Usage | None = None
        # The text that grew last: nearly every delta of a stream is more of it.
        self._speaker = -1
        self._words: list[str] = []

    def feed(self, deltas: Iterable[Delta]) -> None:
        """Add deltas in the order they came. Raises UpstreamInvalid for more than MOST_PARTS choices and parts."""
        for delta in deltas:
            if type(delta) is TextDelta and delta.choice == self._speaker:
                self._words.append(delta.text)
            else:
                self._speaker = -1
                add = _ADDERS.get(type(delta))
                if add is not None:
                    add(self, delta)

    def _choice(self, number: int) -> _OpenChoice:
        choice = self._choices.get(number)
        if choice is None:
            self._count()
            choice = self._choices[number] = _OpenChoice(self._count)
        return choice

    def _count(self) -> None:
        self._opened += 1
        if self._opened > MOST_PARTS:
            raise _too_many()

    def _add_text(self, delta: TextDelta) -> None:
        self._speaker, self._words = delta.choice, self._choice(delta.choice).part("text").pieces
        self._words.append(delta.text)

    def _add_refusal(self, delta: RefusalDelta) -> None:
        self._choice(delta.choice).part("refusal").pieces.append(delta.text)

    def _add_finish(self, delta: Finish) -> None:
        choice = self._choice(delta.choice)
        choice.finish, choice.stop_sequence = delta.reason, delta.stop_sequence

    def _add_usage(self, delta: UsageDelta) -> None:
        self._usage = delta.usage if self._usage is None else self._usage.updated(delta.usage)

    def _add_start(self, delta: Start) -> None:
        self._start = delta

    def _add_logprobs(self, delta: LogprobsDelta) -> None:
        choice = self._choice(delta.choice)
        if choice.logprobs is None:
            choice.logprobs = []
        choice.logprobs += delta.tokens

    def _add_media(self, delta: MediaDelta) -> None:
        self._choice(delta.choice).add(_OpenPart("media", whole=delta.media))

    def _add_opaque(self, delta: OpaqueDelta) -> None:
        part = _OpenPart("opaque", whole=Opaque(delta.vendor, delta.label, delta.raw, delta.cited))
        self._choice(delta.choice).add(part)

    def _add_thinking(self, delta: ThinkingDelta) -> None:
        part = self._choice(delta.choice).part("thinking", delta.block)
        part.pieces.append(delta.text)
        part.signature = delta.signature or part.signature
        part.redacted = delta.redacted or part.redacted
        part.signed_by = delta.signed_by or part.signed_by

    def _add_call(self, delta: ToolCallDelta) -> None:
        choice = self._choice(delta.choice)
        part = choice.calls.get(delta.index)
        if part is None:
            part = choice.calls[delta.index] = _OpenPart("call", delta.index)
            choice.add(part)
        part.pieces.append(delta.arguments)
        part.id = delta.id or part.id
        part.name = delta.name or part.name
        part.signature = delta.signature or part.signature
        part.signed_by = delta.signed_by or part.signed_by

    def reply(self) -> Reply:
        """What was collected so far, as a reply without ``raw``."""
        return Reply(
            tuple(self._choices[number].close() for number in sorted(self._choices)),
            self._start.id,
            self._start.model,
            self._start.created,
            self._usage,
        )


def _too_many() -> UpstreamInvalid:
    return UpstreamInvalid(f"The upstream's answer has more than {MOST_PARTS} choices and parts.", limit=MOST_PARTS)


_ADDERS: Mapping[type, Callable[[ReplyBuilder, Any], None]] = {
    TextDelta: ReplyBuilder._add_text,
    ThinkingDelta: ReplyBuilder._add_thinking,
    ToolCallDelta: ReplyBuilder._add_call,
    RefusalDelta: ReplyBuilder._add_refusal,
    Finish: ReplyBuilder._add_finish,
    UsageDelta: ReplyBuilder._add_usage,
    Start: ReplyBuilder._add_start,
    LogprobsDelta: ReplyBuilder._add_logprobs,
    MediaDelta: ReplyBuilder._add_media,
    OpaqueDelta: ReplyBuilder._add_opaque,
}
"""What each kind of delta adds; ``End`` and ``Failure`` add nothing. (A ``match`` would ask one class after the other.)"""
