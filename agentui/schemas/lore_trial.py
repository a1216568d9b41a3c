"""Shapes of trying lorebooks on a text."""

from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from agentui.assets.lorebook import LorePosition
from agentui.assets.values import Role
from agentui.jsonio import Json
from agentui.lore.result import LoreCause, LoreReason
from agentui.schemas.forms import NO_NUL, Form, Id, Line

_Words = Annotated[str, Field(max_length=262_144), NO_NUL]


class LoreTestMessage(Form):
    """A message of a chat; ``name`` is who said it."""

    text: _Words
    name: Line = ""


class LoreTestForm(Form):
    """
    Lorebooks by their ids or as what they hold (``worldbooks``, in SillyTavern's members), and what was said: ``messages``,
    oldest first, or one ``text``. ``settings`` are SillyTavern's of world info (``world_info_depth`` ...), ``trigger`` is the
    intent of the turn, ``max_context`` the tokens of which lore takes its share, ``macros`` are values of macros by name.
    What is drawn by chance is the same for the same ``seed``.
    """

    worldbook_ids: Annotated[list[Id], Field(max_length=20)] = Field(default_factory=list)
    worldbooks: Annotated[list[dict[str, Json]], Field(max_length=20)] = Field(default_factory=list)
    text: _Words = ""
    messages: Annotated[list[LoreTestMessage], Field(max_length=1000)] = Field(default_factory=list)
    settings: dict[str, Json] = Field(default_factory=dict)
    character_name: Line = ""
    character_tags: Annotated[list[Line], Field(max_length=100)] | None = None
    trigger: Literal["normal", "continue", "impersonate", "swipe", "regenerate", "quiet"] = "normal"
    max_context: Annotated[int, Field(ge=1, le=10_000_000)] = 8192
    macros: dict[str, Line] = Field(default_factory=dict)
    seed: Line = ""

    @model_validator(mode="after")
    def _has_a_book(self) -> Self:
        if not self.worldbook_ids and not self.worldbooks:
            raise ValueError("name at least one lorebook: worldbook_ids, or worldbooks with what they hold")
        return self


@dataclass(frozen=True, slots=True)
class TriedEntry:
    """What became of one entry.

    ``book`` counts the books, those of ``worldbook_ids`` first; ``worldbook_id`` is null for one that was sent. ``cause`` is
    why it joins and ``reason`` why it does not, the other one null. ``tokens`` is about what its text takes. ``first_match`` is
    the key that was found first, and where.
    """

    book: int
    worldbook_id: str | None
    uid: int | str
    comment: str
    position: LorePosition
    depth: int
    role: Role
    outlet: str
    order: float
    tokens: int
    is_active: bool
    cause: LoreCause | None
    recursion_level: int
    reason: LoreReason | None
    detail: str
    first_match: dict[str, Json] | None
    content_preview: str


@dataclass(frozen=True, slots=True)
class TriedLore:
    """All entries, those that join first and in the order in which they joined. ``tokens`` is what they take of the
    ``budget``; ``is_cut``: it kept something out."""

    entries: list[TriedEntry]
    tokens: int
    budget: int
    is_cut: bool
