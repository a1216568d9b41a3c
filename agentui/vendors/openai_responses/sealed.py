"""Continuity tokens of other dialects inside ``encrypted_content``.

A caller of the Responses API knows one place for such a token and sends it back as it came. Another vendor's signature
travels there under a mark, so that it finds its way home (``agentui:<vendor>:<field>:<token>``) and never reaches OpenAI.

OpenAI's own token belongs to the item that it came in and is refused beside another id. A neutral thought has no place
for that id, so both are its signature: ``<id>:<encrypted_content>``.
"""

from dataclasses import dataclass
from typing import Literal

from agentui.chat.messages import Thinking

VENDOR: Literal["openai_responses"] = "openai_responses"


@dataclass(frozen=True, slots=True)
class Token:
    """A continuity token: which dialect gave it, and whether it signs a thought or is one that was redacted."""

    vendor: str
    field: Literal["signature", "redacted"]
    text: str


def seal(token: Token) -> str:
    """What goes into ``encrypted_content``; the API's own token stays as it is."""
    if token.vendor == VENDOR and token.field == "signature":
        return split_id(token.text)[1]
    return f"agentui:{token.vendor}:{token.field}:{token.text}"


def split_id(signature: str) -> tuple[str | None, str]:
    """The id of the item that an own signature came in (None where it had none), and its ``encrypted_content``."""
    id, colon, encrypted_content = signature.partition(":")
    return (id, encrypted_content) if colon else (None, signature)


def unseal(encrypted_content: str, id: str | None = None) -> Token:
    """The token that an ``encrypted_content`` holds; ``id`` is that of its item."""
    match encrypted_content.split(":", 3):
        case ["agentui", vendor, ("signature" | "redacted") as field, text]:
            return Token(vendor, "signature" if field == "signature" else "redacted", text)
    return Token(VENDOR, "signature", f"{id}:{encrypted_content}" if id else encrypted_content)


def thought(text: str, encrypted_content: str | None, id: str | None = None) -> Thinking:
    """A thought with its token, whoever gave it; ``id`` is that of its item."""
    if not encrypted_content:
        return Thinking(text)
    token = unseal(encrypted_content, id)
    if token.field == "redacted":
        return Thinking(text, redacted=token.text, signed_by=token.vendor)
    return Thinking(text, signature=token.text, signed_by=token.vendor)
