"""A character: who is spoken with, as its card tells.

Content is the ``data`` object of a character card (V3, which holds all that V2 and V1 have):
https://github.com/kwaroran/character-card-spec-v3/blob/main/SPEC_V3.md
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from agentui.assets.values import Role, members, role, text, texts, whole
from agentui.jsonio import Json

DEFAULT_DEPTH: Final = 4
"""Messages from the end of the chat at which a depth prompt stands that names no depth."""


@dataclass(frozen=True, slots=True)
class DepthPrompt:
    """A text of the character's that stands within the chat, ``depth`` messages from its end."""

    prompt: str
    depth: int
    role: Role

    @classmethod
    def of(cls, content: Json) -> Self | None:
        """The depth prompt out of ``extensions.depth_prompt``; None where it says nothing."""
        found = members(content)
        prompt = text(found.get("prompt"))
        if not prompt.strip():
            return None
        return cls(prompt, max(whole(found.get("depth"), DEFAULT_DEPTH), 0), role(found.get("role")))


@dataclass(frozen=True, slots=True)
class Character:
    """A character card, read. ``book`` is its lorebook as the card has it, None without one."""

    name: str = ""
    nickname: str = ""
    description: str = ""
    personality: str = ""
    scenario: str = ""
    first_mes: str = ""
    alternate_greetings: tuple[str, ...] = ()
    group_only_greetings: tuple[str, ...] = ()
    mes_example: str = ""
    system_prompt: str = ""
    post_history_instructions: str = ""
    depth_prompt: DepthPrompt | None = None
    creator: str = ""
    creator_notes: str = ""
    character_version: str = ""
    tags: tuple[str, ...] = ()
    book: Mapping[str, Json] | None = None
    extensions: Mapping[str, Json] | None = None

    @classmethod
    def of(cls, content: Mapping[str, Json]) -> Self:
        """The character that a card's ``data`` tells of."""
        extensions = members(content.get("extensions"))
        return cls(
            name=text(content.get("name")),
            nickname=text(content.get("nickname")),
            description=text(content.get("description")),
            personality=text(content.get("personality")),
            scenario=text(content.get("scenario")),
            first_mes=text(content.get("first_mes")),
            alternate_greetings=texts(content.get("alternate_greetings")),
            group_only_greetings=texts(content.get("group_only_greetings")),
            mes_example=text(content.get("mes_example")),
            system_prompt=text(content.get("system_prompt")),
            post_history_instructions=text(content.get("post_history_instructions")),
            depth_prompt=DepthPrompt.of(extensions.get("depth_prompt")),
            creator=text(content.get("creator")),
            creator_notes=text(content.get("creator_notes")),
            character_version=text(content.get("character_version")),
            tags=texts(content.get("tags")),
            book=members(content.get("character_book")) or None,
            extensions=extensions or None,
        )

    @property
    def spoken_name(self) -> str:
        """What ``{{char}}`` stands for: the nickname where there is one (card V3)."""
        return self.nickname.strip() or self.name

    @property
    def greetings(self) -> tuple[str, ...]:
        """What a chat with the character may begin with, the usual one first; none that is blank."""
        return tuple(said for said in (self.first_mes, *self.alternate_greetings) if said.strip())
