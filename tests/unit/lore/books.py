"""Books and inputs for tests, written shortly."""

from collections.abc import Sequence
from typing import Any

from agentui.assets.lorebook import BoundBook, Lorebook, LoreScope
from agentui.lore.activation import activate
from agentui.lore.given import LoreInput, LoreMessage, LoreSettings
from agentui.lore.result import LoreResult


def book(*entries: dict[str, Any], name: str = "Book", scope: LoreScope = "global") -> BoundBook:
    """A bound book of these entries, numbered from 0."""
    numbered = {str(uid): {"uid": uid, **entry} for uid, entry in enumerate(entries)}
    return BoundBook(Lorebook.of({"name": name, "entries": numbered}), scope)


def always(content: str, **members: Any) -> dict[str, Any]:
    """An entry that joins in any case."""
    return {"constant": True, "content": content, **members}


def said(*texts: str) -> tuple[LoreMessage, ...]:
    """Messages, newest last."""
    return tuple(LoreMessage(text, "Ann") for text in texts)


def run(entries: Sequence[dict[str, Any]], *texts: str, settings: LoreSettings | None = None, **members: Any) -> LoreResult:
    """What comes of one book and a chat."""
    return activate(LoreInput([book(*entries)], settings or LoreSettings(), said(*texts), **members))


def contents(result: LoreResult) -> list[str]:
    """What joined, in the order in which it did."""
    return [one.content for one in result.activated]


def reasons(result: LoreResult) -> dict[int | str, str]:
    """Why the others did not, by uid."""
    return {one.entry.uid: one.reason for one in result.unused}
