"""What a version of an asset says: its JSON, read into what prompts are made of."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from agentui.assets.character import Character
from agentui.assets.files.books import book_of_card
from agentui.assets.files.report import ImportReport
from agentui.assets.files.scripts import embedded_scripts, scripts_digest
from agentui.assets.lorebook import Lorebook
from agentui.assets.preset import PromptPreset
from agentui.assets.script import BoundScript, RegexScript, ScriptOrigin
from agentui.jsonio import Json
from agentui.library.records import AssetKind


@dataclass(frozen=True, slots=True)
class Card:
    """A character with the lorebook and the scripts of its card."""

    character: Character
    book: Lorebook | None
    scripts: "Embedded"

    @classmethod
    def of(cls, content: Mapping[str, Json]) -> "Card":
        """The card of a character's content."""
        character = Character.of(content)
        book = None if character.book is None else Lorebook.of(book_of_card(character.book, ImportReport("character_book")))
        return cls(character, book, Embedded.of(embedded_scripts(content), "character"))


@dataclass(frozen=True, slots=True)
class PresetWithScripts:
    """A prompt preset with the scripts that came in it."""

    preset: PromptPreset
    scripts: "Embedded"

    @classmethod
    def of(cls, content: Mapping[str, Json]) -> "PresetWithScripts":
        """The preset of a content."""
        preset = PromptPreset.of(content)
        return cls(preset, Embedded.of(preset.scripts, "preset"))


@dataclass(frozen=True, slots=True)
class Embedded:
    """The scripts inside a card or a preset, and the hash by which a consent names them."""

    scripts: tuple[RegexScript, ...]
    origin: ScriptOrigin
    digest: str

    @classmethod
    def of(cls, contents: Sequence[Mapping[str, Json]], origin: ScriptOrigin) -> "Embedded":
        """The scripts that these contents tell of."""
        return cls(tuple(RegexScript.of(content) for content in contents), origin, scripts_digest(contents))

    def bound(self, consent: str | None) -> tuple[BoundScript, ...]:
        """The scripts to run: those of the ``consent``, or whatever they are where none is needed (None)."""
        is_allowed = consent is None or consent == self.digest
        return tuple(BoundScript(script, self.origin, is_allowed) for script in self.scripts)


def _profile(content: Mapping[str, Json]) -> tuple[BoundScript, ...]:
    found = content.get("scripts")
    scripts = (each for each in (found if isinstance(found, list) else ()) if isinstance(each, Mapping))
    return tuple(BoundScript(RegexScript.of(content), "global") for content in scripts)


READERS: Final[Mapping[AssetKind, Callable[[Mapping[str, Json]], Any]]] = {
    "character": Card.of,
    "preset": PresetWithScripts.of,
    "worldbook": Lorebook.of,
    "regex": _profile,
}
"""What becomes of a version's content."""
