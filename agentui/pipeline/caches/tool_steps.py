"""What a model called here before it asked for a tool of its caller's, kept until the caller is back with the result.

The caller was told of its own calls alone and sends them back alone; the model must see what it did meanwhile.
"""

import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from agentui.chat.messages import (
    Media,
    Message,
    Opaque,
    Part,
    Refusal,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    has_tool_parts,
)
from agentui.jsonio import dumps
from agentui.pipeline.caches.thought_cache import conversation_of
from agentui.pipeline.incoming import Incoming

MAX_ANSWERS = 1000
MAX_AGE_SECONDS = 3600.0
MAX_CHARS = 32 * 1024 * 1024
"""Characters of all that is kept."""


@dataclass(frozen=True, slots=True)
class _Kept:
    since: float
    messages: tuple[Message, ...]
    size: int


class ToolSteps:
    """A bounded memory, oldest out first. Lives in one process; a miss only means that the model may call anew."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._size = 0

    def keep(self, account: str, incoming: Incoming, calls: Sequence[str], messages: Sequence[Message]) -> None:
        """Keep the messages of all steps of an account's answer that ended with these calls of the caller's tools."""
        size = sum(_size_of(message) for message in messages)
        if size > MAX_CHARS:
            return
        kept = _Kept(time.monotonic(), tuple(messages), size)
        conversation = conversation_of(account, incoming)
        for call in calls[:1]:
            key = conversation + call
            if key in self._kept:
                self._size -= self._kept.pop(key).size
            self._kept[key] = kept
            self._size += size
        while len(self._kept) > MAX_ANSWERS or self._size > MAX_CHARS:
            self._size -= self._kept.popitem(last=False)[1].size

    def restore(self, account: str, incoming: Incoming, messages: Sequence[Message]) -> tuple[Message, ...]:
        """The conversation with every answer whose steps are kept put back as the model gave it."""
        if not self._kept or not any(message.tool_calls for message in messages):
            return tuple(messages)
        conversation = conversation_of(account, incoming)
        whole: list[Message] = []
        known: set[str | None] = set()
        for message in messages:
            calls = {call.id for call in message.tool_calls}
            if calls and calls <= known and all(isinstance(part, ToolCall) for part in message.parts):
                continue  # a dialect that has an item for each call: they stand where the first stood
            kept = self._find(conversation, calls)
            if kept is None:
                if whole and whole[-1].role == "tool" and whole[-1].raw_vendor is None and has_tool_parts(message):
                    # Results of one answer's calls: written together, for some dialects have one message for all.
                    message = Message(message.role, message.parts, message.name)
                whole.append(message)
                continue
            while whole and whole[-1].role == "assistant":
                whole.pop()  # words of the same answer, which stand in its steps
            whole += kept.messages
            known |= {call.id for one in kept.messages for call in one.tool_calls}
        return tuple(whole)

    def _find(self, conversation: str, calls: set[str | None]) -> _Kept | None:
        """What is kept of the answer that made one of these calls."""
        for call in calls:
            kept = None if call is None else self._kept.get(conversation + call)
            if kept is not None and time.monotonic() - kept.since <= MAX_AGE_SECONDS:
                return kept
        return None


def _size_of(message: Message) -> int:
    """About how many characters a message keeps: pictures and signatures may be the most of it."""
    return sum(map(size_of_part, message.parts))


def size_of_part(part: Part) -> int:
    """About how many characters a part keeps."""
    match part:
        case Text() | Refusal():
            return len(part.text)
        case ToolCall():
            return len(part.arguments) + len(part.signature or "")
        case ToolResult():
            return sum(map(size_of_part, part.content))
        case Thinking():
            return len(part.text) + len(part.signature or "") + len(part.redacted or "")
        case Media():
            return len(part.data or "") + len(part.url or "")
        case Opaque():
            return len(dumps(part.raw))
