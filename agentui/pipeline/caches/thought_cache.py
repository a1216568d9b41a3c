"""Thoughts and signatures that a caller's dialect cannot carry, kept for the next request of the same conversation.

Claude wants the signed thinking block back before a tool call, Gemini the thoughtSignature on it; an OpenAI client has no
place for either. Servers that are compatible with OpenAI want the thought itself back (``chat.origin``), which most clients
drop. They are kept here by the caller, the conversation and the tool call's id, which every dialect returns (spec: vendors,
Thinking): an id alone is a word that anybody may say.
"""

import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Sequence, Set
from dataclasses import asdict, dataclass, replace

from agentui.chat.messages import Message, Part, Thinking, ToolCall, has_tool_parts
from agentui.chat.origin import read_token
from agentui.chat.reply import Reply
from agentui.chat.request import VendorName
from agentui.errors import BadRequest
from agentui.ids import fingerprint
from agentui.jsonio import Json, dumps
from agentui.pipeline.incoming import Incoming
from agentui.redaction import provider_keys

MAX_CALLS = 10_000
MAX_AGE_SECONDS = 3600.0
MAX_ENTRY_CHARS = 256 * 1024
MAX_CHARS = 32 * 1024 * 1024
"""Characters of all that is kept."""


@dataclass(frozen=True, slots=True)
class _Kept:
    vendor: VendorName
    since: float
    thoughts: tuple[Thinking, ...]
    signature: str | None

    @property
    def size(self) -> int:
        """Its characters."""
        tokens = (text for part in self.thoughts for text in (part.text, part.signature, part.redacted))
        return sum(len(text) for text in (self.signature, *tokens) if text)


class ThoughtCache:
    """A bounded memory, oldest out first. Lives in one process; a miss only means that thinking starts anew.

    ``incoming`` is the caller's request that was answered, or that is being answered, and ``account`` whose it is.
    ``send`` lets other processes, which the conversation may reach next, take in what this one keeps.
    """

    def __init__(self, send: Callable[[bytes], Awaitable[None]] | None = None) -> None:
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._by_vendor: Counter[VendorName] = Counter()
        """How many are kept of each dialect; every request that may go as it came asks whether there are any."""
        self._size = 0
        self._send = send

    async def share(self, vendor: VendorName, account: str, incoming: Incoming, reply: Reply) -> None:
        """Keep the thoughts with tokens of an answer that asks for tools, here and in the other processes."""
        kept = self.remember(vendor, account, incoming, reply)
        if kept and self._send is not None:
            await self._send(dumps([{"key": key, **asdict(entry)} for key, entry in kept.items()]))

    def receive(self, sent: Json) -> None:
        """Keep what another process sent."""
        for entry in sent:
            thoughts = tuple(Thinking(**thought) for thought in entry["thoughts"])
            self._keep(entry["key"], _Kept(entry["vendor"], time.monotonic(), thoughts, entry["signature"]))

    def remember(self, vendor: VendorName, account: str, incoming: Incoming, reply: Reply) -> dict[str, _Kept]:
        """Keep the thoughts with tokens of an answer that asks for tools; what was kept, by its key."""
        told: dict[str, _Kept] = {}
        asking = [choice for choice in reply.choices if choice.tool_calls]
        conversation = conversation_of(account, incoming) if asking else ""
        for choice in asking:
            thoughts = tuple(
                part
                for part in choice.parts
                if isinstance(part, Thinking)
                and _token(part) is not None
                and max(len(part.text), len(part.signature or "")) <= MAX_ENTRY_CHARS
            )
            for number, call in enumerate(choice.tool_calls):
                if call.id and (call.signature or (thoughts and number == 0)):
                    key = conversation + call.id
                    told[key] = _Kept(vendor, time.monotonic(), thoughts if number == 0 else (), call.signature)
                    self._keep(key, told[key])
        return told

    def has_any(self, vendor: VendorName) -> bool:
        """Whether anything of this dialect may be kept."""
        return self._by_vendor[vendor] > 0

    def restore(self, vendor: VendorName, account: str, incoming: Incoming, messages: Sequence[Message]) -> Sequence[Message]:
        """The conversation with thoughts and signatures of ``vendor`` put back where its calls stand. Some servers number their
        calls anew in each answer: what is kept by such an id is that of the last message with it."""
        if not self._kept or not any(map(has_tool_parts, messages)):
            return messages
        # A Responses caller gives thoughts back itself, as items beside the call's.
        held = {_token(part) for message in messages for part in message.parts if isinstance(part, Thinking)}
        conversation = conversation_of(account, incoming)
        done: set[str] = set()
        restored = [self._restore(vendor, conversation, message, held, done) for message in reversed(messages)]
        return tuple(reversed(restored))

    def _restore(
        self, vendor: VendorName, conversation: str, message: Message, held: Set[str | None], done: set[str]
    ) -> Message:
        """A message with what is kept of its calls; ``done`` are the ids of those that were restored, which it adds to."""
        if message.role != "assistant" or not message.tool_calls:
            return message
        thoughts: list[Part] = []
        parts: list[Part] = []
        here = {_token(one) for one in message.parts if isinstance(one, Thinking)}
        for part in message.parts:
            kept = self._find(vendor, conversation, part)
            if kept is None or not isinstance(part, ToolCall) or part.id is None or part.id in done:
                parts.append(part)
                continue
            done.add(part.id)
            # Of several thoughts a caller may give some back here; all of them stand in their order then.
            if any(_token(thought) not in held for thought in kept.thoughts):
                thoughts.extend(one for one in kept.thoughts if _token(one) in here or _token(one) not in held)
            parts.append(replace(part, signature=kept.signature, signed_by=vendor) if kept.signature else part)
        if not thoughts and all(new is old for new, old in zip(parts, message.parts, strict=True)):
            return message
        if thoughts:
            parts = [part for part in parts if not isinstance(part, Thinking)]
        return replace(message, parts=(*thoughts, *parts), raw=None, raw_vendor=None)

    def _find(self, vendor: VendorName, conversation: str, part: Part) -> _Kept | None:
        if not isinstance(part, ToolCall) or part.id is None or part.signature:
            return None
        kept = self._kept.get(conversation + part.id)
        if kept is None or kept.vendor != vendor or time.monotonic() - kept.since > MAX_AGE_SECONDS:
            return None
        return kept

    def _keep(self, key: str, kept: _Kept) -> None:
        """Keep it as the newest, and let go of the oldest where there are too many, too large or too old ones."""
        if key in self._kept:
            self._count(self._kept.pop(key), -1)
        self._kept[key] = kept
        self._count(kept, 1)
        while self._is_full():
            self._count(self._kept.popitem(last=False)[1], -1)

    def _count(self, kept: _Kept, times: int) -> None:
        self._size += times * kept.size
        self._by_vendor[kept.vendor] += times

    def _is_full(self) -> bool:
        if len(self._kept) > MAX_CALLS or self._size > MAX_CHARS:
            return True
        oldest = next(iter(self._kept.values()), None)
        return oldest is not None and time.monotonic() - oldest.since > MAX_AGE_SECONDS


def conversation_of(account: str, incoming: Incoming) -> str:
    """What tells a caller's conversation from every other: a hash of the account, of the keys, of the chat where one is named,
    and of what the user said first."""
    try:
        first = next((message.text for message in incoming.chat.messages if message.role == "user" and message.text), "")
    except BadRequest:
        first = ""
    headers = incoming.headers
    named = [headers.get(f"x-agentui-{name}", "") for name in ("session", "branch")]
    return fingerprint(account, incoming.api_key, *named, first, *provider_keys(headers))


def _token(thought: Thinking) -> str | None:
    """What tells a thought with a token from every other; None for one without. The token of a server that signs nothing is the
    same for all of its thoughts."""
    if read_token(thought.signature) is not None:
        return f"{thought.signature}{thought.text}"
    return thought.signature or thought.redacted
