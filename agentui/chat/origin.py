"""Continuity tokens of thoughts that only the server that made them may see again.

Claude, Gemini and OpenAI's Responses API sign thoughts, and a signature proves itself to whoever has to check it. Servers that
are compatible with OpenAI or Claude sign nothing, yet many want a thought back beside its tool call (DeepSeek: "The
reasoning_content in the thinking mode must be passed back to the API"), and a server that did not make it refuses the field.
So such a thought gets a token here: which server made it, and where in a message it stood.

    @<origin>/<member>:<text>      @3f9c…/reasoning_content:      @3f9c…/google:<what Gemini signed>

The token is the ``signature`` of a ``Thinking`` or a ``ToolCall``, and travels wherever signatures do. No vendor's own begins
with "@".
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from agentui.chat.messages import Message, Part, Thinking, ToolCall
from agentui.ids import fingerprint

_TOKEN = re.compile(r"@([0-9a-f]{1,64})/([a-z_]{1,40}):(.*)", re.DOTALL)
_LENGTH = 16
"""Characters of an origin: enough to tell the servers of one installation apart."""


@dataclass(frozen=True, slots=True)
class OriginToken:
    """Which server made a thought, the member of a message that it stood in, and what the server signed ("" for nothing)."""

    origin: str
    member: str
    text: str = ""

    def __str__(self) -> str:
        """As it stands in ``signature``."""
        return f"@{self.origin}/{self.member}:{self.text}"


def origin_of(url: str) -> str:
    """What tells the server of a URL from every other: a hash of its scheme, host and port, for addresses are nobody's
    business who gets the token."""
    parts = urlsplit(url)
    return fingerprint(parts.scheme, parts.netloc.lower())[:_LENGTH]


def read_token(signature: str | None) -> OriginToken | None:
    """The token in a signature; None for a signature of another kind."""
    if signature is None or not signature.startswith("@"):
        return None
    found = _TOKEN.fullmatch(signature)
    return None if found is None else OriginToken(found[1], found[2], found[3])


def has_tokens(messages: Sequence[Message]) -> bool:
    """Whether any part carries a token of this kind."""
    return any(_token_of(part) is not None for message in messages if message.lone_text is None for part in message.parts)


def kept_for(origin: str, messages: Sequence[Message]) -> Sequence[Message]:
    """The messages as the server ``origin`` may see them: tokens of other servers are taken off (the words stay). Messages
    that change lose their ``raw``."""
    return [_kept(origin, message) for message in messages]


def _kept(origin: str, message: Message) -> Message:
    if message.lone_text is not None:
        return message
    parts: list[Part] = []
    for part in message.parts:
        token = _token_of(part)
        if token is None or token.origin == origin:
            parts.append(part)
        elif isinstance(part, Thinking | ToolCall):
            parts.append(replace(part, signature=None, signed_by=None))
    if all(new is old for new, old in zip(parts, message.parts, strict=True)):
        return message
    return Message(message.role, tuple(parts), message.name)


def _token_of(part: Part) -> OriginToken | None:
    return read_token(part.signature) if isinstance(part, Thinking | ToolCall) else None
