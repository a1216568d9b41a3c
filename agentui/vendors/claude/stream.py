"""Claude's stream, understood: ``message_start``, content blocks one after another, ``message_delta``, ``message_stop``."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from agentui.chat.deltas import (
    Delta,
    End,
    Failure,
    Finish,
    OpaqueDelta,
    Start,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    UsageDelta,
)
from agentui.errors import UpstreamInvalid
from agentui.jsonio import InvalidJson, Json, dumps_text, loads
from agentui.vendors.claude.blocks import CITATION
from agentui.vendors.claude.errors import error_in_stream
from agentui.vendors.claude.parts import call_input
from agentui.vendors.claude.reply import parse_finish, parse_usage
from agentui.vendors.sse import SseEvent


@dataclass(slots=True)
class _Block:
    """A block while it streams: what it began as, its number among the tool calls (-1: none), and the input's pieces."""

    start: dict[str, Json]
    call: int = -1
    is_opaque: bool = False
    pieces: list[str] = field(default_factory=list)


class ClaudeStreamParser:
    """Understands one stream. Holds state, touches no socket."""

    def __init__(self) -> None:
        self._blocks: dict[int, _Block] = {}
        self._calls = 0
        self._usage: dict[str, Json] = {}
        self._ended = False

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
        opened = self._blocks[index] = _Block(block)
        match block:
            case {"type": "text"}:
                text = block.get("text")
                return (TextDelta(text),) if isinstance(text, str) and text else ()
            case {"type": "thinking"}:
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
            return (ThinkingDelta(said, signature, None, "claude", index),)
        return (ThinkingDelta(said, block=index),) if said else ()

    def _piece(self, data: dict[str, Json]) -> Sequence[Delta]:
        """A ``content_block_delta``: mostly more text."""
        index, delta = data.get("index"), data.get("delta")
        if isinstance(index, int) and isinstance(delta, dict):
            kind = delta.get("type")
            if kind == "text_delta" and isinstance(text := delta.get("text"), str):
                return (TextDelta(text),)
            if isinstance(kind, str):
                return self._delta(index, kind, delta)
        raise UpstreamInvalid("The upstream sent a content_block_delta event that is not Claude's.")

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
                return (OpaqueDelta("claude", CITATION, {"type": "citations_delta", "citation": citation}),)
            case "text_delta" | "thinking_delta" | "signature_delta" | "input_json_delta", _:
                raise UpstreamInvalid(f"The upstream sent a {kind} that is not Claude's.")
        return ()

    def _arguments(self, index: int, text: str) -> Sequence[Delta]:
        """A piece of a call's input; server tools' input is told when it is whole."""
        block = self._blocks.get(index)
        if block is None:
            raise UpstreamInvalid(f"The upstream sent input for block {index}, which it never opened.")
        if not text:
            return ()
        block.pieces.append(text)
        return (ToolCallDelta(block.call, arguments=text),) if block.call >= 0 else ()

    def _close(self, index: int) -> Sequence[Delta]:
        """A block ends: server tools' blocks are told now, and input that came in one piece with the beginning."""
        block = self._blocks.pop(index, None)
        if block is None:
            return ()
        if block.is_opaque:
            raw = {**block.start, "input": call_input("".join(block.pieces))} if block.pieces else block.start
            return (OpaqueDelta("claude", block.start["type"], raw),)
        if block.call >= 0 and not block.pieces and (given := block.start.get("input")):
            return (ToolCallDelta(block.call, arguments=dumps_text(given)),)
        return ()

    def _message_delta(self, delta: dict[str, Json], usage: Json) -> list[Delta]:
        """Why the answer ends, and its tokens."""
        deltas = self._count(usage)
        reason = parse_finish(delta.get("stop_reason"))
        stop_sequence = delta.get("stop_sequence")
        if reason is not None:
            deltas.append(Finish(reason, stop_sequence if isinstance(stop_sequence, str) else None))
        return deltas
