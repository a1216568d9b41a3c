"""What a chat of SillyTavern's says of itself and prompts read: the author's note, texts that stand for the card's, injections.

A chat's file keeps these in its ``chat_metadata``, a session in its own metadata, by the same names.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from agentui.assets.values import Role, flag, members, role, text, texts, whole
from agentui.jsonio import Json

CHAT_METADATA: Final = "chat_metadata"
"""The member of a session's metadata that keeps what else a file told of its chat."""
SETTINGS: Final = (
    "note_prompt",
    "note_interval",
    "note_position",
    "note_depth",
    "note_role",
    "scenario",
    "mes_example",
    "system_prompt",
    "script_injects",
    "world_info",
)
"""The members that prompts read."""
_OF_TAVERN: Final = ("note_prompt", "scenario", "mes_example")
_DEPTH: Final = 4
MOST_BOOKS: Final = 20
"""Lorebooks that a session's metadata may bind."""

InjectPlace: TypeAlias = Literal["after_main", "in_chat", "before_main", "nowhere"]
_PLACES: Final[Mapping[int, InjectPlace]] = {-1: "nowhere", 0: "after_main", 1: "in_chat", 2: "before_main"}
"""By SillyTavern's numbers."""


@dataclass(frozen=True, slots=True)
class ScriptInject:
    """A text that the slash command ``/inject`` put into a chat. ``is_scanned``: lorebooks look through it. One with a
    ``filter``, which is a script, cannot be decided here."""

    id: str
    value: str
    place: InjectPlace
    depth: int
    role: Role
    is_scanned: bool
    has_filter: bool


def settings_in(metadata: Mapping[str, Json]) -> dict[str, Json]:
    """A session's metadata as prompts read it: what the file of its chat told counts where the session has none of its own."""
    told = members(metadata.get(CHAT_METADATA))
    return {**{name: told[name] for name in SETTINGS if name in told}, **metadata}


def books_in(metadata: Mapping[str, Json]) -> tuple[str, ...]:
    """The names of the lorebooks that a session's metadata binds beside its own one, as SillyTavern's settings have it
    (``world_info.globalSelect``)."""
    return tuple(dict.fromkeys(texts(metadata.get("world_info_global"))))[:MOST_BOOKS]


def character_books_in(metadata: Mapping[str, Json]) -> dict[str, list[str]]:
    """The names of the additional lorebooks of characters that a session's metadata binds, by the character's name in folded
    case: ``charLore``, as SillyTavern's settings have it (``world_info.charLore``: each has a ``name`` and ``extraBooks``)."""
    told = metadata.get("charLore")
    found: dict[str, list[str]] = {}
    for each in map(members, told[:MOST_BOOKS] if isinstance(told, list) else []):
        books = list(dict.fromkeys(texts(each.get("extraBooks"))))[:MOST_BOOKS]
        found.setdefault(text(each.get("name")).casefold(), books)  # SillyTavern takes the first of a name
    return found


def has_settings(metadata: Mapping[str, Json]) -> bool:
    """Whether a chat says something that only a prompt in SillyTavern's order has a place for."""
    return any(text(metadata.get(name)).strip() for name in _OF_TAVERN) or bool(injects_in(metadata))


def injects_in(metadata: Mapping[str, Json]) -> list[ScriptInject]:
    """The injections of a chat that say something, in the order in which they were made."""
    found = ((id, members(inject)) for id, inject in members(metadata.get("script_injects")).items())
    return [
        ScriptInject(
            id,
            value,
            _PLACES.get(whole(inject.get("position"), 0), "nowhere"),
            max(whole(inject.get("depth"), _DEPTH), 0),
            role(inject.get("role")),
            flag(inject.get("scan")),
            bool(text(inject.get("filter")).strip()),
        )
        for id, inject in found
        if (value := text(inject.get("value"))).strip()
    ]
