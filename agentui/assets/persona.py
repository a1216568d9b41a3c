"""A persona: who the user is in a chat.

Content is ``{"name", "description", "position", "depth", "role"}`` with SillyTavern's numbers, and whatever else came with it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, Self, TypeAlias

from agentui.assets.values import Role, role, text, whole
from agentui.jsonio import Json

PersonaPlace: TypeAlias = Literal["in_prompt", "note_top", "note_bottom", "at_depth", "none"]

DEFAULT_DEPTH: Final = 2
"""Messages from the end of the chat at which a description stands that names no depth."""
_PLACES: Final[Mapping[int, PersonaPlace]] = {
    0: "in_prompt",
    1: "in_prompt",
    2: "note_top",
    3: "note_bottom",
    4: "at_depth",
    9: "none",
}
"""By SillyTavern's number; 1 (after the character) is no longer made, and is read as SillyTavern reads it."""


@dataclass(frozen=True, slots=True)
class Persona:
    """A persona, read. ``place`` is where the description goes; ``depth`` and ``role`` count for ``at_depth`` alone."""

    name: str = ""
    description: str = ""
    place: PersonaPlace = "in_prompt"
    depth: int = DEFAULT_DEPTH
    role: Role = "system"

    @classmethod
    def of(cls, content: Mapping[str, Json]) -> Self:
        """The persona that the content tells of."""
        return cls(
            name=text(content.get("name")),
            description=text(content.get("description")),
            place=_place(content.get("position")),
            depth=max(whole(content.get("depth"), DEFAULT_DEPTH), 0),
            role=role(content.get("role")),
        )


def _place(value: Json) -> PersonaPlace:
    """The place of a number, or of its name."""
    named = next((place for place in _PLACES.values() if place == value), None)
    return named or _PLACES.get(whole(value, 0), "in_prompt")
