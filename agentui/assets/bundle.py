"""All that a prompt is made of beside its chat."""

from dataclasses import dataclass, field

from agentui.assets.character import Character
from agentui.assets.lorebook import BoundBook
from agentui.assets.persona import Persona
from agentui.assets.preset import PromptPreset
from agentui.assets.script import BoundScript


@dataclass(frozen=True, slots=True)
class PromptAssets:
    """The assets of one turn; None where there is none of a kind. ``scripts`` are in the order in which they run, and
    ``missing_books`` the names of lorebooks that something names and nobody has."""

    character: Character | None = None
    persona: Persona | None = None
    preset: PromptPreset | None = None
    lorebooks: tuple[BoundBook, ...] = ()
    scripts: tuple[BoundScript, ...] = ()
    missing_books: tuple[str, ...] = field(default=(), compare=False)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing: the prompt is what it would be without assets."""
        return self == PromptAssets()
