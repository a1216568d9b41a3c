"""Claude's streams, understood and written: ``message_start``, content blocks strictly one after another (whatever order the
deltas come in), ``message_delta``, ``message_stop``."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

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
from agentui.chat.messages import Thinking
from agentui.chat.request import WireRequest
from agentui.errors import AgentUIError, UpstreamInvalid
from agentui.jsonio import InvalidJson, Json, dumps, dumps_text, loads
from agentui.vendors.arguments import ArgumentPieces
from agentui.vendors.claude.content import CITATION, call_input, cited_page, rendered_citation, written_signature
from agentui.vendors.claude.errors import error_in_stream, render_error
from agentui.vendors.claude.reply import (
    call_id,
    media_note,
    message_id,
    parse_finish,
    parse_usage,
    render_finish,
    render_usage,
    unsigned_token,
)
from agentui.vendors.sse import SseEvent, encode_event
from agentui.vendors.thought_marks import mark_of


@dataclass(slots=True)
class _Block:
    """A block while it streams: what it began as, its number among the tool calls (-1: none), the input's pieces, and where in
    the answer's words a text begins."""

    start: dict[str, Json]
    call: int = -1
    is_opaque: bool = False
    is_signed: bool = True
    begins: int = 0
    citations: list[Json] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    arguments: ArgumentPieces = field(default_factory=ArgumentPieces)


class ClaudeStreamParser:
    """Understands one stream. Holds state, touches no socket. A thought that the server ``origin`` does not sign gets its
    token when its block ends."""

    def __init__(self, origin: str = "") -> None:
        self._origin = origin
        self._blocks: dict[int, _Block] = {}
        self._calls = 0
        self._usage: dict[str, Json] = {}
        self._ended = False
        self._said = 0

    def feed(self, event: SseEvent) -> Sequence[Delta]:
        """The deltas that this event means. Raises UpstreamInvalid for what is not Claude's."""
        if self._ended:
            return ()
        try:
            data = loads(event.data)
        except InvalidJson as error:
            raise UpstreamInvalid("The upstream sent an event that is not JSON.") from error
        if not isinstance(data, dict):
            raise UpstreamInvalid("The upstream sent an event that is not a JSON object.")
        return self._understand(data, event.event)

    def close(self) -> Sequence[Delta]:
        """Nothing is held back; without ``message_stop`` the answer is not whole, and ``End`` stays out."""
        return ()

    def _understand(self, data: dict[str, Json], name: str) -> Sequence[Delta]:
        """One event's meaning."""
        if data.get("type") == "content_block_delta":
            return self._piece(data)  # nearly every event of a long answer
        match data:
            case {"type": "content_block_start", "index": int(index), "content_block": {"type": str()} as block}:
                return self._open(index, block)
            case {"type": "content_block_stop", "index": int(index)}:
                return self._close(index)
            case {"type": "message_start", "message": dict(message)}:
                return self._start(message)
            case {"type": "message_delta", "delta": dict(ending)}:
                return self._message_delta(ending, data.get("usage"))
            case {"type": "message_stop"}:
                self._ended = True
                return (End(),)
            case {"type": "error"} | {"error": _}:
                return (Failure(error_in_stream(data)),)
            case {"type": "content_block_start" | "content_block_stop" | "message_start" as kind}:
                raise UpstreamInvalid(f"The upstream sent a {kind} event that is not Claude's.")
            case {"type": str()}:
                return ()
        if name == "ping":
            return ()
        raise UpstreamInvalid("The upstream sent an event without a type; this is not Claude's stream.")

    def _start(self, message: dict[str, Json]) -> list[Delta]:
        """The answer begins, with the tokens of the request."""
        id, model = message.get("id"), message.get("model")
        start = Start(id if isinstance(id, str) else None, model if isinstance(model, str) else None)
        return [start, *self._count(message.get("usage"))]

    def _count(self, usage: Json) -> list[Delta]:
        """Usage is cumulative and later values of a field overwrite earlier ones; input is the sum of three fields, so
        they are kept together here."""
        if not isinstance(usage, dict):
            return []
        self._usage |= {key: value for key, value in usage.items() if value is not None}
        counted = parse_usage(self._usage)
        return [] if counted is None else [UsageDelta(counted)]

    def _open(self, index: int, block: dict[str, Json]) -> Sequence[Delta]:
        """A block begins; some compatible servers put words into the beginning already."""
        opened = self._blocks[index] = _Block(block, begins=self._said)
        match block:
            case {"type": "text"}:
                text = block.get("text")
                return self._words(text) if isinstance(text, str) and text else ()
            case {"type": "thinking"}:
                opened.is_signed = False
                text, signature = block.get("thinking"), block.get("signature")
                return self._thought(index, text, signature)
            case {"type": "redacted_thinking", "data": str(data)}:
                return (ThinkingDelta("", None, data, "claude", index),)
            case {"type": "tool_use", "id": str(id), "name": str(name)}:
                opened.call = self._calls
                self._calls += 1
                return (ToolCallDelta(opened.call, id, name),)
            case {"type": "tool_use" | "redacted_thinking" as kind}:
                raise UpstreamInvalid(f"The upstream opened a {kind} block that is not Claude's.")
        opened.is_opaque = True
        return ()

    def _thought(self, index: int, text: Json, signature: Json) -> Sequence[Delta]:
        """A piece of thought, its signature, or neither."""
        said = text if isinstance(text, str) else ""
        if isinstance(signature, str) and signature:
            if block := self._blocks.get(index):
                block.is_signed = True
            return (ThinkingDelta(said, signature, None, "claude", index),)
        return (ThinkingDelta(said, block=index),) if said else ()

    def _piece(self, data: dict[str, Json]) -> Sequence[Delta]:
        """A ``content_block_delta``: mostly more text."""
        index, delta = data.get("index"), data.get("delta")
        if isinstance(index, int) and isinstance(delta, dict):
            kind = delta.get("type")
            if kind == "text_delta" and isinstance(text := delta.get("text"), str):
                return self._words(text)
            if isinstance(kind, str):
                return self._delta(index, kind, delta)
        raise UpstreamInvalid("The upstream sent a content_block_delta event that is not Claude's.")

    def _words(self, text: str) -> Sequence[Delta]:
        """More of the answer."""
        self._said += len(text)
        return (TextDelta(text),)

    def _delta(self, index: int, kind: str, delta: dict[str, Json]) -> Sequence[Delta]:
        """A piece of a block."""
        match kind, delta:
            case "thinking_delta", {"thinking": str(text)}:
                return self._thought(index, text, None)
            case "signature_delta", {"signature": str(signature)}:
                return self._thought(index, None, signature)
            case "input_json_delta", {"partial_json": str(text)}:
                return self._arguments(index, text)
            case "citations_delta", {"citation": citation}:
                if block := self._blocks.get(index):
                    block.citations.append(citation)  # told when the words are whole that rest on it
                return ()
            case "text_delta" | "thinking_delta" | "signature_delta" | "input_json_delta", _:
                raise UpstreamInvalid(f"The upstream sent a {kind} that is not Claude's.")
        return ()

    def _arguments(self, index: int, text: str) -> Sequence[Delta]:
        """A piece of a call's input."""
        block = self._blocks.get(index)
        if block is None:
            raise UpstreamInvalid(f"The upstream sent input for block {index}, which it never opened.")
        if not text:
            return ()
        block.pieces.append(text)
        return self._argue(block, block.arguments.feed(text))

    def _argue(self, block: _Block, text: str) -> Sequence[Delta]:
        """More of a call's arguments; server tools' are told when they are whole."""
        return (ToolCallDelta(block.call, arguments=text),) if text and block.call >= 0 else ()

    def _close(self, index: int) -> Sequence[Delta]:
        """A block ends: server tools' blocks are told now, and input that came in one piece with the beginning."""
        block = self._blocks.pop(index, None)
        if block is None:
            return ()
        if block.citations:
            return [self._cite(citation, block.begins) for citation in block.citations]
        if block.is_opaque:
            raw = {**block.start, "input": call_input("".join(block.pieces))} if block.pieces else block.start
            return (OpaqueDelta("claude", block.start["type"], raw),)
        if not block.is_signed:
            return (ThinkingDelta("", unsigned_token(self._origin), None, "claude", index),) if self._origin else ()
        if block.call >= 0 and not block.pieces and (given := block.start.get("input")):
            return self._argue(block, dumps_text(given))
        return self._argue(block, block.arguments.close())

    def _cite(self, citation: Json, begins: int) -> Delta:
        """A citation of the words that were said since."""
        raw: Json = {"type": "citations_delta", "citation": citation}
        return OpaqueDelta("claude", CITATION, raw, 0, cited_page(citation, begins, self._said))

    def _message_delta(self, delta: dict[str, Json], usage: Json) -> list[Delta]:
        """Why the answer ends, and its tokens."""
        deltas = self._count(usage)
        reason = parse_finish(delta.get("stop_reason"))
        stop_sequence = delta.get("stop_sequence")
        if reason is not None:
            deltas.append(Finish(reason, stop_sequence if isinstance(stop_sequence, str) else None))
        return deltas


PING = encode_event(b'{"type": "ping"}', "ping")
"""What keeps a quiet stream alive."""


@dataclass(slots=True)
class _OpenBlock:
    """A content block that is being written or waits its turn. ``waiting`` are deltas not yet sent."""

    kind: Literal["text", "thinking", "call", "whole"]
    key: int
    start: dict[str, Json]
    waiting: list[dict[str, Json]] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    mark: Thinking | None = None
    is_open: bool = False
    is_closed: bool = False
    _checked: int = 0
    _is_object: bool = False

    @property
    def can_close(self) -> bool:
        """Whether nothing more can come once another block has begun. A call may go on after that (OpenAI may interleave
        calls), until its arguments are a whole JSON object."""
        if self.kind != "call":
            return True
        if self._checked < len(self.arguments):
            self._checked = len(self.arguments)
            self._is_object = self.arguments[-1].rstrip().endswith("}") and _is_json("".join(self.arguments))
        return self._is_object


def _is_json(text: str) -> bool:
    """Whether the text is a whole JSON value."""
    try:
        loads(text)
    except InvalidJson:
        return False
    return True


class ClaudeStreamRenderer:
    """Writes one stream to the caller who sent ``wire``.

    Only the first choice is told. The block in front streams; whatever belongs to a later block waits until the one in
    front can be closed. A thought of another dialect ends with a mark in place of the signature.
    """

    def __init__(self, wire: WireRequest) -> None:
        self._wire = wire
        self._id = ""
        self._blocks: deque[_OpenBlock] = deque()
        self._index = 0
        self._calls: dict[int, _OpenBlock] = {}
        self._usage: Usage | None = None
        self._finish = Finish("stop")
        self._refused = False
        self._done = self._has_failed = False

    def feed(self, delta: Delta) -> bytes:
        """What the caller reads for this delta."""
        if self._done or getattr(delta, "choice", 0) != 0:
            return b""
        match delta:
            case Start():
                return self._begin(delta)
            case UsageDelta(usage):
                self._usage = usage if self._usage is None else self._usage.updated(usage)
                return b""
            case Finish():
                self._finish = delta
                return b""
            case Failure(error):
                return self.fail(error)
            case End():
                return self._end()
            case LogprobsDelta():
                return b""
        self._take(delta)
        return self._begin(Start()) + b"".join(self._flush()) if self._blocks else b""

    def passthrough(self, event: SseEvent) -> bytes:
        """Claude's own event as it came. One without a name gets the name that its data says, for clients look at it."""
        name = event.event
        if not name:
            try:
                data = loads(event.data)
            except InvalidJson:
                data = None
            kind = data.get("type") if isinstance(data, dict) else None
            name = kind if isinstance(kind, str) else ""
        return encode_event(event.data, name)

    def fail(self, error: AgentUIError) -> bytes:
        """An ``error`` event, after which the stream says nothing more."""
        if self._has_failed:
            return b""
        self._done = self._has_failed = True
        return encode_event(dumps(render_error(error).body), "error")

    def _begin(self, start: Start) -> bytes:
        """``message_start`` and a ping, once. Tokens that are not known yet are 0 here and told at the end, where the
        clients overwrite them."""
        if self._id:
            return b""
        self._id = message_id(start.id, self._wire)
        message: dict[str, Json] = {
            "id": self._id,
            "type": "message",
            "role": "assistant",
            "model": start.model or self._wire.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": render_usage(self._usage),
        }
        return _event("message_start", message=message) + PING

    def _end(self) -> bytes:
        """Everything that closes a whole stream."""
        written = self._begin(Start()) + b"".join(self._flush(is_last=True))
        self._done = True
        reason = render_finish(self._finish.reason, has_calls=bool(self._calls), refused=self._refused)
        delta = {
            "stop_reason": reason,
            "stop_sequence": self._finish.stop_sequence if reason == "stop_sequence" else None,
        }
        return written + _event("message_delta", delta=delta, usage=render_usage(self._usage)) + _event("message_stop")

    def _flush(self, *, is_last: bool = False) -> Iterator[bytes]:
        """Write what can be written: the block in front, and as many after it as can be closed."""
        while self._blocks:
            block = self._blocks[0]
            if not block.is_open:
                block.is_open = True
                yield _event("content_block_start", index=self._index, content_block=block.start)
            for delta in block.waiting:
                yield _event("content_block_delta", index=self._index, delta=delta)
            block.waiting.clear()
            is_over = is_last or block.kind == "whole" or (len(self._blocks) > 1 and block.can_close)
            if not is_over:
                return
            if block.mark is not None:
                signed: Json = {"type": "signature_delta", "signature": mark_of(block.mark)}
                yield _event("content_block_delta", index=self._index, delta=signed)
            yield _event("content_block_stop", index=self._index)
            block.is_closed = True
            self._index += 1
            self._blocks.popleft()

    def _take(self, delta: Delta) -> None:
        """Put a content delta into its block."""
        match delta:
            case TextDelta(text):
                self._emit_text(text)
            case RefusalDelta(text):
                self._refused = True
                self._emit_text(text)
            case MediaDelta(media):
                self._emit_text(media_note(media))
            case ThinkingDelta():
                self._think(delta)
            case ToolCallDelta():
                self._call(delta)
            case OpaqueDelta("claude", label, raw):
                self._opaque(label, raw)
            case OpaqueDelta(cited=cited):
                for page in cited:
                    self._opaque(CITATION, {"type": "citations_delta", "citation": rendered_citation(page)})

    def _block(self, kind: Literal["text", "thinking", "whole"], key: int, start: dict[str, Json]) -> _OpenBlock:
        """The last block when it is of this kind and key, else a new one."""
        last = self._blocks[-1] if self._blocks else None
        if last is None or last.kind != kind or last.key != key or kind == "whole":
            last = _OpenBlock(kind, key, start)
            self._blocks.append(last)
        return last

    def _emit_text(self, text: str) -> None:
        """More text; nothing is no reason to open a block."""
        if text:
            block = self._block("text", 0, {"type": "text", "text": ""})
            block.waiting.append({"type": "text_delta", "text": text})

    def _think(self, delta: ThinkingDelta) -> None:
        """More thought. What another vendor signed is the mark's, which is told when the block ends."""
        own = delta.signed_by == "claude"
        if own and delta.redacted is not None:
            self._block("whole", 0, {"type": "redacted_thinking", "data": delta.redacted})
            return
        last = self._blocks[-1] if self._blocks else None
        goes_on = last is not None and last.kind == "thinking" and last.key == delta.block
        if not delta.text and not (own and delta.signature) and not goes_on:
            return
        block = self._block("thinking", delta.block, {"type": "thinking", "thinking": "", "signature": ""})
        if delta.text:
            block.waiting.append({"type": "thinking_delta", "thinking": delta.text})
        if not own:
            token = delta.signed_by is not None
            block.mark = Thinking("", delta.signature, delta.redacted, delta.signed_by) if token else block.mark or Thinking()
            return
        block.mark = None  # the words came before the signature, which says whose they are
        if signature := written_signature(Thinking("", delta.signature, None, "claude")):
            block.waiting.append({"type": "signature_delta", "signature": signature})

    def _call(self, delta: ToolCallDelta) -> None:
        """More of a call, wherever it stands. What follows a closed call's whole JSON cannot mean anything."""
        block = self._calls.get(delta.index)
        if block is None:
            id = call_id(delta.id, self._id or message_id(None, self._wire), delta.index)
            start = {"type": "tool_use", "id": id, "name": delta.name or "", "input": {}}
            block = self._calls[delta.index] = _OpenBlock("call", delta.index, start)
            self._blocks.append(block)
        if delta.arguments and not block.is_closed:
            block.arguments.append(delta.arguments)
            block.waiting.append({"type": "input_json_delta", "partial_json": delta.arguments})

    def _opaque(self, label: str, raw: Json) -> None:
        """A citation belongs to the text before it; any other part of Claude's own is a block, its input told as a delta."""
        if label == CITATION:
            if self._blocks and self._blocks[-1].kind == "text":
                self._blocks[-1].waiting.append(raw)
            return
        given = raw.get("input")
        if isinstance(given, dict) and given:
            self._block("whole", 0, {**raw, "input": {}}).waiting.append(
                {"type": "input_json_delta", "partial_json": dumps_text(given)}
            )
        else:
            self._block("whole", 0, raw)


def _event(kind: str, **members: Json) -> bytes:
    """One event: its name is its type."""
    return encode_event(dumps({"type": kind, **members}), kind)
