"""Texts within the chat: at a depth, which counts messages from the end of the chat.

Texts of one depth, order and role become one message. At one depth a lower order comes first, and of one order the
assistant's, then the user's, then the system's comes last.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from agentui.assets.preset import DEFAULT_ORDER
from agentui.chat.messages import Message, Role, Text
from agentui.prompt.drafts import JOINED, Draft
from agentui.templating.sillytavern.scope import MacroTrace

_RANKS: Final = {"assistant": 0, "user": 1, "system": 2}


@dataclass(frozen=True, slots=True)
class Injection:
    """A text on its way into the chat; its macros are replaced. Those of a preset are joined before those of others.
    ``group`` is what a budget counts it with, where that is not its section."""

    name: str
    source: str
    text: str
    role: Role
    depth: int
    order: int = DEFAULT_ORDER
    traces: tuple[MacroTrace, ...] = ()
    title: str = ""
    group: str = ""


def injected(chat: Sequence[Draft], injections: Iterable[Injection]) -> list[Draft]:
    """The chat, oldest first, with the texts in it; those that are deeper than the chat is long stand before it."""
    wanted = sorted(
        (each for each in injections if each.text.strip()),
        key=lambda each: (-each.depth, each.order, _RANKS[each.role], each.source != "preset"),
    )
    placed: list[Draft] = []
    at = 0
    for (depth, _, _), same in groupby(wanted, key=lambda each: (each.depth, each.order, each.role)):
        end = max(len(chat) - depth, 0)
        placed += chat[at:end]
        at = max(at, end)
        placed.append(_joined(list(same)))
    return [*placed, *chat[at:]]


def _joined(same: Sequence[Injection]) -> Draft:
    """One message of several texts."""
    first = same[0]
    name = "+".join(each.name for each in same)
    own = "\n".join(each.text for each in same if each.source == "preset").strip()
    others = "\n".join(each.text.strip() for each in same if each.source != "preset")
    message = Message(first.role, (Text("\n".join(text for text in (own, others) if text)),))
    traces = tuple(trace for each in same for trace in each.traces)
    title = JOINED.join(each.title or each.name for each in same) if any(each.title for each in same) else ""
    return Draft(name, first.group or f"section:{name}", first.source, message, macros=traces, title=title)
