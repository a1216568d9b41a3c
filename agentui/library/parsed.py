"""What a version of an asset says: its JSON, read into what prompts are made of."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from agentui.assets.character import Character
from agentui.assets.files.books import book_of_card
from agentui.assets.files.report import ImportReport
from agentui.assets.files.scripts import embedded_scripts, scripts_are_allowed
from agentui.assets.lorebook import Lorebook
from agentui.assets.preset import PromptPreset
from agentui.assets.script import BoundScript, RegexScript, ScriptOrigin
from agentui.jsonio import Json
from agentui.library.records import AssetKind


@dataclass(frozen=True, slots=True)
class Card:
    """A character with the lorebook and the scripts of its card. The scripts run where they are ``allowed``."""

    character: Character
    book: Lorebook | None
    scripts: tuple[BoundScript, ...]
    allowed: bool

    @classmethod
    def of(cls, content: Mapping[str, Json], *, allowed: bool = True) -> "Card":
        """The card of a character's content."""
        character = Character.of(content)
        book = None if character.book is None else Lorebook.of(book_of_card(character.book, ImportReport("character_book")))
        return cls(character, book, _bound(embedded_scripts(content), "character", allowed), allowed)


@dataclass(frozen=True, slots=True)
class PresetWithScripts:
    """A prompt preset with the scripts that came in it."""

    preset: PromptPreset
    scripts: tuple[BoundScript, ...]

    @classmethod
    def of(cls, content: Mapping[str, Json], *, allowed: bool = True) -> "PresetWithScripts":
        """The preset of a content."""
        preset = PromptPreset.of(content)
        return cls(preset, _bound(preset.scripts, "preset", allowed))


def _profile(content: Mapping[str, Json]) -> tuple[BoundScript, ...]:
    found = content.get("scripts")
    return _bound((each for each in (found if isinstance(found, list) else ()) if isinstance(each, Mapping)), "global", True)


def _bound(contents: Iterable[Mapping[str, Json]], origin: ScriptOrigin, allowed: bool) -> tuple[BoundScript, ...]:
    return tuple(BoundScript(RegexScript.of(content), origin, allowed) for content in contents)


READERS: Final[Mapping[AssetKind, Callable[[Mapping[str, Json], Json], Any]]] = {
    "character": lambda content, origin: Card.of(content, allowed=scripts_are_allowed(origin)),
    "preset": lambda content, origin: PresetWithScripts.of(content, allowed=scripts_are_allowed(origin)),
    "worldbook": lambda content, _: Lorebook.of(content),
    "regex": lambda content, _: _profile(content),
}
"""What becomes of a version's content and its origin."""
