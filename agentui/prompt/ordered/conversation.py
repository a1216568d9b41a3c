"""The chat of an ordered prompt: its messages with the names of who speaks, and how much of it the window can hold."""

import re
from collections.abc import Sequence
from typing import Final

from agentui.assets.preset import NamesBehavior
from agentui.chat.messages import Message, Part, Text
from agentui.prompt.drafts import Draft
from agentui.prompt.history import HistoryEntry, unparted

_NOT_IN_NAMES: Final = re.compile(r"[^a-zA-Z0-9_]")
_LONGEST_NAME: Final = 64
"""OpenAI's rules for the name of a message: https://platform.openai.com/docs/api-reference/chat/create"""


def named(draft: Draft, behavior: NamesBehavior, char: str, user: str) -> None:
    """Let a message tell who speaks, as the preset wants it; a narrator's has no name."""
    message = draft.message
    if message.role == "system" or behavior in ("none", "default"):
        return
    name = user if message.role == "user" else char
    if behavior == "completion":
        draft.message = Message(message.role, message.parts, _NOT_IN_NAMES.sub("_", name)[:_LONGEST_NAME] or None)
    else:
        draft.message = Message(message.role, _prefixed(message.parts, f"{name}: "))
    draft.shaped = draft.message


def _prefixed(parts: Sequence[Part], prefix: str) -> tuple[Part, ...]:
    """The parts with the prefix before their first text; a message without a text says no name."""
    at = next((number for number, part in enumerate(parts) if isinstance(part, Text)), None)
    if at is None:
        return tuple(parts)
    first = parts[at]
    return (*parts[:at], Text(prefix + (first.text if isinstance(first, Text) else "")), *parts[at + 1 :])


def first_kept(chat: Sequence[Draft], left: int, needed: int, entries: Sequence[HistoryEntry], current: Sequence[Part]) -> int:
    """Where the part of the chat begins that fits into ``left`` tokens, counted from its end; from ``needed`` on all stays.

    A call of a tool and its result are not parted. ``entries`` are those of the chat, oldest first, and ``current`` is what
    the user says now.
    """
    start = min(needed, len(chat))
    while start > 0 and left >= chat[start - 1].tokens:
        start -= 1
        left -= chat[start].tokens
    places = [number for number, draft in enumerate(chat) if draft.entry is not None]
    dropped = sum(place < start for place in places)
    whole = unparted(entries, dropped, current)
    if whole == dropped:
        return start
    return places[whole] if whole < len(places) else start
