"""Parts for tests of prompts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Any

from agentui.chat.messages import Part
from agentui.jsonio import Json
from agentui.prompt.assembly import assemble
from agentui.prompt.history import HistoryEntry
from agentui.prompt.prepared import PreparedTurn, PromptInput, TurnMessage
from agentui.templating.sillytavern.scope import MacroScope

NOW = datetime(2026, 3, 2, 15, 4, tzinfo=UTC)


@dataclass(frozen=True)
class Facts:
    """A session as the assembly reads it."""

    character_snapshot: Mapping[str, Json] | None = None
    user_snapshot: Mapping[str, Json] | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)
    prompt_mode: str | None = None
    model_name: str | None = None


def entry(role: Any, text: str, floor: int, *parts: Part, **more: Any) -> HistoryEntry:
    """A message of the floor with this number."""
    return HistoryEntry(f"floor-{floor}", floor, f"message-{floor}-{role}", f"page-{floor}-{role}", role, text, parts, **more)


def question(text: str, floor: int, *parts: Part, **more: Any) -> HistoryEntry:
    """What the user said."""
    return entry("user", text, floor, *parts, **more)


def answer(text: str, floor: int, *parts: Part, **more: Any) -> HistoryEntry:
    """What the model said."""
    return entry("assistant", text, floor, *parts, **more)


def scope(phase: Any = "assemble", **more: Any) -> MacroScope:
    """What macros read."""
    return MacroScope(phase, NOW, random=Random(1), **more)


def prepared(message: str | TurnMessage | None, *history: HistoryEntry, facts: Facts = Facts(), **more: Any) -> PreparedTurn:
    """The prompt for a message."""
    more.setdefault("scope", scope())
    said = TurnMessage(message) if isinstance(message, str) else message
    return assemble(PromptInput(facts, history=history, message=said, **more))


def said(turn: PreparedTurn) -> list[tuple[str, str]]:
    """Roles and texts of the messages."""
    return [(message.role, message.text) for message in turn.messages]
