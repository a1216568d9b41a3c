"""Continuity tokens of other dialects inside ``encrypted_content``.

A caller of the Responses API knows one place for such a token and sends it back as it came. Another vendor's signature
travels there under a mark (``vendors.thought_marks``), so that it finds its way home and never reaches OpenAI.

OpenAI's own token belongs to the item that it came in and is refused beside another id. A neutral thought has no place
for that id, so both are its signature: ``<id>:<encrypted_content>``. An item that was told to begin under another id, before
its token came, keeps that id to its end (clients refuse a change), so the token is marked there, too.
"""

from dataclasses import dataclass
from typing import Literal

from agentui.chat.messages import Thinking
from agentui.vendors.thought_marks import is_marked, mark_of, marked_thought

VENDOR: Literal["openai_responses"] = "openai_responses"


@dataclass(frozen=True, slots=True)
class Token:
    """A continuity token: which dialect gave it, and whether it signs a thought or is one that was redacted."""

    vendor: str
    field: Literal["signature", "redacted"]
    text: str


def seal(token: Token, id: str) -> str:
    """What goes into ``encrypted_content`` of the item ``id``; the API's own token of such an item stays as it is."""
    if token.vendor == VENDOR and token.field == "signature":
        own, encrypted_content = split_id(token.text)
        if own in (None, id):
            return encrypted_content
    thought = (
        Thinking("", None, token.text, token.vendor)
        if token.field == "redacted"
        else Thinking("", token.text, None, token.vendor)
    )
    return mark_of(thought)


def split_id(signature: str) -> tuple[str | None, str]:
    """The id of the item that an own signature came in (None where it had none), and its ``encrypted_content``."""
    id, colon, encrypted_content = signature.partition(":")
    return (id, encrypted_content) if colon else (None, signature)


def thought(text: str, encrypted_content: str | None, id: str | None = None) -> Thinking:
    """A thought with its token, whoever gave it; ``id`` is that of its item."""
    if not encrypted_content:
        return Thinking(text)
    if is_marked(encrypted_content):
        return marked_thought(text, encrypted_content)
    return Thinking(text, f"{id}:{encrypted_content}" if id else encrypted_content, None, VENDOR)
