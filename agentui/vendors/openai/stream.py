"""A streamed chat completion: chunks understood, and chunks written.

data: {"id", "object": "chat.completion.chunk", "created", "model",
       "choices": [{"index", "delta": {...}, "logprobs", "finish_reason"}], "usage"}
data: [DONE]
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

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
from agentui.chat.request import WireRequest
from agentui.errors import AgentUIError
from agentui.jsonio import InvalidJson, Json, dumps, loads
from agentui.vendors.openai.citations import chat_annotations, listed_pages
from agentui.vendors.openai.errors import render_stream_error, reported_error
from agentui.vendors.openai.free_text import custom_names, free_text
from agentui.vendors.openai.message_writer import render_image
from agentui.vendors.openai.messages import VENDOR, invented_call_id, is_own_field, short_id
from agentui.vendors.openai.read_choice import ReadChoice, not_a_chunk
from agentui.vendors.openai.reply import (
    finish_of,
    finish_word,
    is_shown,
    parse_logprobs,
    parse_usage,
    render_logprobs,
    render_usage,
)
from agentui.vendors.sse import SseEvent, encode_event

_DONE = b"[DONE]"


class OpenAIStreamParser:
    """Understands one stream of the server ``origin``. Holds state, touches no socket."""

    def __init__(self, origin: str = "") -> None:
        self._origin = origin
        self._id: str | None = None
        self._is_started = False
        self._is_over = False
        self._choices: dict[int, ReadChoice] = {}
        self._pages: tuple[Citation, ...] = ()

    def feed(self, event: SseEvent) -> Sequence[Delta]:
        """The deltas of one chunk. Raises UpstreamInvalid for data that is no JSON object or no chunk.

        After ``[DONE]`` or an error nothing means anything any more.
        """
        if self._is_over:
            return ()
        data = event.data
        if data.startswith(_DONE):
            return self._end()
        chunk = _load(data)
        if event.event == "error" or chunk.get("error"):
            self._is_over = True
            return (Failure(reported_error(chunk)),)
        if "citations" in chunk or "search_results" in chunk:
            self._pages = listed_pages(chunk) or self._pages  # each chunk says all of them again, or none
        choices = chunk.get("choices")
        if (words := self._words(choices)) is not None and not chunk.get("usage"):
            return (words,)
        deltas: list[Delta] = []
        if not self._is_started and (choices or chunk.get("id")):
            deltas.append(self._start(chunk))
        if choices:
            self._read_choices(choices, deltas)
        usage = chunk.get("usage")
        if usage:
            report = parse_usage(usage)
            if report is not None:
                deltas.append(UsageDelta(report))
        return deltas

    def close(self) -> Sequence[Delta]:
        """``End`` when every choice that began has told its finish_reason: some servers send no ``[DONE]``."""
        if self._is_over or not self._choices or not all(state.is_finished for state in self._choices.values()):
            return ()
        return self._end()

    def _start(self, chunk: dict[str, Json]) -> Start:
        """The first chunk that says who is speaking; Azure sends one before that has neither id nor choices."""
        self._is_started = True
        id, model, created = chunk.get("id"), chunk.get("model"), chunk.get("created")
        self._id = id if isinstance(id, str) and id else None
        return Start(
            self._id,
            model if isinstance(model, str) and model else None,
            int(created) if isinstance(created, int | float) else None,
        )

    def _end(self) -> Sequence[Delta]:
        """The answer is whole; calls that never told a name are handed on without one."""
        self._is_over = True
        deltas: list[Delta] = []
        for number, state in self._choices.items():
            state.close_calls(number, deltas)
        deltas.append(End())
        return deltas

    def _words(self, choices: Json) -> TextDelta | None:
        """What nearly every chunk of a long answer says: more text of one choice that has begun, and nothing else."""
        if type(choices) is not list or len(choices) != 1 or type(choice := choices[0]) is not dict:
            return None
        number, delta = choice.get("index"), choice.get("delta")
        if type(number) is not int or type(delta) is not dict or len(delta) != 1:
            return None
        state = self._choices.get(number)
        if state is None or state.details.is_open:  # the token of a thought comes before the words behind it
            return None
        text = delta.get("content")
        if type(text) is not str or not text or choice.get("finish_reason") or choice.get("logprobs"):
            return None
        return TextDelta(text, number)

    def _read_choices(self, choices: Json, deltas: list[Delta]) -> None:
        """Every choice of a chunk."""
        if not isinstance(choices, list):
            raise not_a_chunk("choices is no list")
        for choice in choices:
            if not isinstance(choice, dict):
                raise not_a_chunk("a choice is no object")
            number = choice.get("index") or 0
            if not isinstance(number, int):
                raise not_a_chunk("a choice's index is no number")
            state = self._choices.get(number)
            if state is None:
                state = self._choices[number] = ReadChoice(self._id, self._origin)
            self._read_choice(choice, number, state, deltas)

    def _read_choice(self, choice: dict[str, Json], number: int, state: ReadChoice, deltas: list[Delta]) -> None:
        """One choice of a chunk: its delta, its log probabilities, its end."""
        delta = choice.get("delta")
        if delta:
            if not isinstance(delta, dict):
                raise not_a_chunk("a delta is no object")
            state.read(delta, number, deltas)
        words = choice.get("text")
        if words and isinstance(words, str):  # a text completion, forwarded as it came
            deltas.append(TextDelta(words, number))
        logprobs = choice.get("logprobs")
        if logprobs:
            tokens = parse_logprobs(logprobs.get("content")) if isinstance(logprobs, dict) else None
            if tokens:
                deltas.append(LogprobsDelta(tokens, number))
        word = choice.get("finish_reason")
        if word and not state.is_finished:
            state.is_finished = True
            state.close_thought(number, deltas)
            state.close_calls(number, deltas)
            if self._pages and number == 0 and not state.has_citations:
                deltas.append(OpaqueDelta(VENDOR, "citations", {"type": "citations"}, number, self._pages))
            reason = finish_of(word, has_calls=bool(state.calls), has_refusal=state.has_refusal)
            deltas.append(Finish(reason, None, number))


class OpenAIStreamRenderer:
    """Writes one stream to one caller. Holds state, touches no socket.

    ``id``, ``model`` and ``now`` (seconds since 1970) stand in for what the upstream does not say, so that all chunks carry
    the same ones. ``wire`` is the caller's request: it says whether usage was asked for.
    """

    def __init__(self, wire: WireRequest, *, id: str, now: int) -> None:
        options = wire.body.get("stream_options")
        self._wants_usage = isinstance(options, dict) and options.get("include_usage") is True
        self._id, self._model, self._now = id, wire.model, now
        self._custom = custom_names(wire.body)
        self._head = b""
        self._tail = b"]" + (b',"usage":null' if self._wants_usage else b"") + b"}"
        self._plain_tail = b',"logprobs":null,"finish_reason":null}' + self._tail
        self._written: dict[int, _WrittenChoice] = {}
        self._usage: Usage | None = None
        self._is_over = self._has_failed = False
        self._has_passed = False

    def feed(self, delta: Delta) -> bytes:
        """The chunks for one delta, possibly none."""
        match delta:
            case TextDelta(text, number):
                return self._emit(number, b'{"content":' + dumps(text) + b"}") if text else b""
            case ThinkingDelta(text=text, choice=number):
                return self._emit(number, b'{"reasoning_content":' + dumps(text) + b"}") if text else b""
            case ToolCallDelta():
                return self._call(delta)
            case Start():
                return self._open(delta) if not self._head else b""
            case RefusalDelta(text, number):
                lead = self._lead(number)
                self._written[number].has_refusal = True
                return lead + self._emit(number, dumps({"refusal": text}))
            case LogprobsDelta(tokens, number):
                return self._lead(number) + self._chunk(
                    number, b"{}", logprobs=dumps({"content": render_logprobs(tokens), "refusal": None})
                )
            case MediaDelta(media, number):
                return self._emit(number, dumps({"images": [render_image(media)]})) if is_shown(media) else b""
            case OpaqueDelta(vendor, _, raw, number, cited):
                if is_own_field(vendor, raw):
                    return self._emit(number, dumps(raw))
                return self._emit(number, dumps({"annotations": chat_annotations(cited)})) if cited else b""
            case Finish():
                return self._finish(delta)
            case UsageDelta(usage):
                self._usage = usage if self._usage is None else self._usage.updated(usage)
                return b""
            case Failure(error):
                return self.fail(error)
            case End():
                return self._end()

    def passthrough(self, event: SseEvent) -> bytes:
        """An event of the same dialect, as it came."""
        self._has_passed = True
        if event.data.startswith(_DONE):
            self._is_over = True
        return encode_event(event.data, event.event)

    def fail(self, error: AgentUIError) -> bytes:
        """``data: {"error": {...}}``; no ``[DONE]`` ever follows. Nothing the second time."""
        if self._has_failed:
            return b""
        self._is_over = self._has_failed = True
        return encode_event(dumps(render_stream_error(error)))

    def _open(self, start: Start) -> bytes:
        """Fix id, time and model for all chunks, and begin the first choice."""
        self._id = start.id or self._id
        envelope = {
            "id": self._id,
            "object": "chat.completion.chunk",
            "created": self._now if start.created is None else start.created,
            "model": start.model or self._model,
        }
        self._head = dumps(envelope)[:-1] + b',"choices":['
        return self._lead(0)

    def _lead(self, number: int) -> bytes:
        """The role, once, before anything else of a choice."""
        if number in self._written:
            return b""
        opening = b"" if self._head else self._open(Start())
        if number in self._written:
            return opening
        self._written[number] = _WrittenChoice()
        return opening + self._chunk(number, b'{"role":"assistant","content":""}')

    def _emit(self, number: int, delta: bytes) -> bytes:
        """A chunk of content."""
        lead = b"" if number in self._written else self._lead(number)
        event = encode_event(b'%b{"index":%d,"delta":%b%b' % (self._head, number, delta, self._plain_tail))
        return lead + event if lead else event

    def _chunk(self, number: int, delta: bytes, *, logprobs: bytes = b"null", finish: bytes = b"null") -> bytes:
        """A chunk with everything that a choice may have."""
        rest = b',"logprobs":%b,"finish_reason":%b}' % (logprobs, finish)
        return encode_event(b'%b{"index":%d,"delta":%b%b%b' % (self._head, number, delta, rest, self._tail))

    def _call(self, delta: ToolCallDelta) -> bytes:
        """More of a tool call; its id and name are told once."""
        lead = self._lead(delta.choice)
        calls = self._written[delta.choice].calls
        if delta.index in self._written[delta.choice].custom or delta.name in self._custom:
            return lead + self._custom_call(delta)
        function: dict[str, Json] = {"arguments": delta.arguments}
        call: dict[str, Json] = {"index": delta.index, "function": function}
        if delta.index not in calls:
            id = short_id(delta.id) if delta.id else invented_call_id(self._id, delta.choice, delta.index)
            call |= {"id": id, "type": "function"}
            function["name"] = delta.name or ""
        elif not delta.arguments:
            return lead
        calls[delta.index] = calls.get(delta.index, False) or bool(delta.arguments)
        return lead + self._emit(delta.choice, dumps({"tool_calls": [call]}))

    def _custom_call(self, delta: ToolCallDelta) -> bytes:
        """More of a custom tool's call: its free text is told once its arguments are whole."""
        custom = self._written[delta.choice].custom
        begun = delta.index in custom
        custom.setdefault(delta.index, []).append(delta.arguments)
        if begun:
            return b""
        id = short_id(delta.id) if delta.id else invented_call_id(self._id, delta.choice, delta.index)
        call = {"index": delta.index, "id": id, "type": "custom", "custom": {"name": delta.name, "input": ""}}
        return self._emit(delta.choice, dumps({"tool_calls": [call]}))

    def _finish(self, finish: Finish) -> bytes:
        """The end of a choice. Callers parse a call's arguments as JSON, so a call without any gets ``{}`` first."""
        pieces = [self._lead(finish.choice)]
        written = self._written[finish.choice]
        if written.is_finished:
            return pieces[0]
        written.is_finished = True
        for index, has_arguments in written.calls.items():
            if not has_arguments:
                nothing = {"tool_calls": [{"index": index, "function": {"arguments": "{}"}}]}
                pieces.append(self._emit(finish.choice, dumps(nothing)))
        for index, arguments in written.custom.items():
            whole = {"tool_calls": [{"index": index, "custom": {"input": free_text("".join(arguments))}}]}
            pieces.append(self._emit(finish.choice, dumps(whole)))
        word = finish_word(finish.reason, has_refusal=written.has_refusal)
        pieces.append(self._chunk(finish.choice, b"{}", finish=dumps(word)))
        return b"".join(pieces)

    def _end(self) -> bytes:
        """Everything that closes a whole stream: missing finishes, usage for who asked, ``[DONE]``. Once."""
        if self._is_over:
            return b""
        if self._has_passed:
            # The chunks came from an upstream that sends no end marker of its own.
            self._is_over = True
            return encode_event(_DONE)
        closing = [self._lead(0)]
        closing += [self._finish(Finish("stop", None, number)) for number in list(self._written)]
        if self._wants_usage and self._usage is not None:
            closing.append(encode_event(self._head + b'],"usage":' + dumps(render_usage(self._usage)) + b"}"))
        self._is_over = True
        return b"".join([*closing, encode_event(_DONE)])


@dataclass(slots=True)
class _WrittenChoice:
    """What a choice was told so far; ``calls`` says by index whether any arguments were, ``custom`` holds those of custom
    tools."""

    is_finished: bool = False
    has_refusal: bool = False
    calls: dict[int, bool] = field(default_factory=dict)
    custom: dict[int, list[str]] = field(default_factory=dict)


def _load(data: bytes) -> dict[str, Json]:
    """An event's data as an object."""
    try:
        chunk = loads(data)
    except InvalidJson as error:
        raise not_a_chunk("it is not JSON") from error
    if not isinstance(chunk, dict):
        raise not_a_chunk("it is no object")
    return chunk
