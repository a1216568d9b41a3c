"""All that a prompt is made of beside its chat."""

from dataclasses import dataclass

from agentui.assets.character import Character
from agentui.assets.persona import Persona
from agentui.assets.preset import PromptPreset


@dataclass(frozen=True, slots=True)
class PromptAssets:
    """The assets of one turn; None where there is none of a kind."""

    character: Character | None = None
    persona: Persona | None = None
    preset: PromptPreset | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing: the prompt is what it would be without assets."""
        return self == PromptAssets()
