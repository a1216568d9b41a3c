"""What the server speaks of: library, worldbooks."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.endpoints import Json


class LoreTestForm(TypedDict):
    """Lorebooks by their ids or as what they hold (``worldbooks``, in SillyTavern's members), and what was said:
    ``messages``, oldest first, or one ``text``. ``settings`` are SillyTavern's of world info (``world_info_depth``
    ...), ``trigger`` is the intent of the turn, ``max_context`` the tokens of which lore takes its share,
    ``macros`` are values of macros by name. What is drawn by chance is the same for the same ``seed``.
    """

    worldbook_ids: NotRequired[list[str]]
    worldbooks: NotRequired[list[dict[str, Json]]]
    text: NotRequired[str]
    messages: NotRequired[list[LoreTestMessage]]
    settings: NotRequired[dict[str, Json]]
    character_name: NotRequired[str]
    character_tags: NotRequired[list[str] | None]
    trigger: NotRequired[Literal["normal", "continue", "impersonate", "swipe", "regenerate", "quiet"]]
    max_context: NotRequired[int]
    macros: NotRequired[dict[str, str]]
    seed: NotRequired[str]


class LoreTestMessage(TypedDict):
    """A message of a chat; ``name`` is who said it."""

    text: str
    name: NotRequired[str]


class NewWorldbook(TypedDict):
    """A worldbook to be made."""

    name: str
    data: dict[str, Json]
    tags: NotRequired[list[str]]


class TriedEntry(TypedDict):
    """What became of one entry. ``book`` counts the books, those of ``worldbook_ids`` first; ``worldbook_id`` is null
    for one that was sent. ``cause`` is why it joins and ``reason`` why it does not, the other one null. ``tokens``
    is about what its text takes. ``first_match`` is the key that was found first, and where.
    """

    book: int
    worldbook_id: str | None
    uid: int | str
    comment: str
    position: Literal["before", "after", "note_top", "note_bottom", "at_depth", "examples_top", "examples_bottom", "outlet"]
    depth: int
    role: Literal["system", "user", "assistant"]
    outlet: str
    order: float
    tokens: int
    is_active: bool
    cause: Literal["constant", "decorator", "sticky", "keys"] | None
    recursion_level: int
    reason: (
        Literal[
            "disabled",
            "trigger",
            "character",
            "tag",
            "delay",
            "cooldown",
            "recursion_delay",
            "recursion_excluded",
            "decorator",
            "no_keys",
            "no_match",
            "secondary",
            "group",
            "probability",
            "budget",
        ]
        | None
    )
    detail: str
    first_match: dict[str, Json] | None
    content_preview: str


class TriedLore(TypedDict):
    """All entries, those that join first and in the order in which they joined. ``tokens`` is what they take of the
    ``budget``; ``is_cut``: it kept something out.
    """

    entries: list[TriedEntry]
    tokens: int
    budget: int
    is_cut: bool


class WorldbookPut(TypedDict):
    """What a worldbook shall be like from now on."""

    expected_version: NotRequired[int | None]
    expected_updated_at: NotRequired[int | None]
    name: str
    data: dict[str, Json]
