"""Prompt Blocks that stand for assets: a lorebook's entries that the conversation calls for, and the texts of a character."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from agentui.assets.character import Character
from agentui.assets.lorebook import BoundBook, LorePosition
from agentui.chat.messages import Message, text_message
from agentui.lore.activation import activate
from agentui.lore.given import MAX_SCAN_DEPTH, LoreInput, LoreMessage, LoreSettings, SeededRolls
from agentui.lore.result import ActivatedEntry, LoreResult
from agentui.pipeline.node_context import NodeContext

BlockRole = Literal["system", "user", "assistant"]
CharacterField = Literal["description", "personality", "scenario", "system_prompt", "examples", "post_history", "first_message"]
"""A text of a character's."""
USUAL_FIELDS: Final[tuple[CharacterField, ...]] = ("description", "personality", "scenario")
"""Those of a block that names none."""
_USUAL_POSITIONS: Final[tuple[LorePosition, ...]] = (
    "before",
    "after",
    "examples_top",
    "examples_bottom",
    "note_top",
    "note_bottom",
    "at_depth",
)
"""Those of a block that names none, as they stand in a prompt. Outlets are for macros that name them."""
_TEXTS: Final[Mapping[CharacterField, Callable[[Character], str]]] = {
    "description": lambda one: one.description,
    "personality": lambda one: one.personality,
    "scenario": lambda one: one.scenario,
    "system_prompt": lambda one: one.system_prompt,
    "examples": lambda one: one.mes_example,
    "post_history": lambda one: one.post_history_instructions,
    "first_message": lambda one: one.first_mes,
}


@dataclass(frozen=True, slots=True)
class CharacterBlock:
    """Texts of the character ``asset``, as one message."""

    asset: str
    role: BlockRole
    fields: tuple[CharacterField, ...]

    def messages(self, ctx: NodeContext, character: Character) -> list[Message]:
        """The texts, a blank line between them; nothing where there is none."""
        names = _names(character)
        texts = (ctx.expand(_TEXTS[field](character).strip(), names) for field in self.fields)
        text = "\n\n".join(text for text in texts if text.strip())
        return [text_message(self.role, text)] if text else []


@dataclass(frozen=True, slots=True)
class LorebookBlock:
    """The entries of the worldbook ``asset`` that the conversation calls for: as one text, or ``apart``, each a message.

    ``depth`` counts messages that are looked through, ``budget`` tokens; None is the usual (``LoreSettings``).
    """

    asset: str
    role: BlockRole
    positions: tuple[LorePosition, ...]
    apart: bool
    depth: int | None
    budget: int | None

    def messages(self, ctx: NodeContext, book: BoundBook, character: Character | None) -> list[Message]:
        """The entries that join. ``character`` is who speaks, where that is known."""
        result = activate(self._input(ctx, book, character))
        entries = [each for position in self.positions or _USUAL_POSITIONS for each in _entries_at(result, position)]
        if not self.apart:
            text = "\n".join(each.content for each in entries)
            return [text_message(self.role, text)] if text.strip() else []
        return [text_message(self._role_of(each), each.content) for each in entries if each.content.strip()]

    def _role_of(self, each: ActivatedEntry) -> BlockRole:
        """An entry that stands within a chat says in which role."""
        return each.entry.role if each.entry.position == "at_depth" else self.role

    def _input(self, ctx: NodeContext, book: BoundBook, character: Character | None) -> LoreInput:
        names = _names(character)
        speakers = {"user": ctx.expand("{{user}}"), "assistant": ctx.expand("{{char}}", names)}
        said = [message for message in ctx.incoming.chat.messages if message.role in speakers][-MAX_SCAN_DEPTH:]
        settings = LoreSettings() if self.depth is None else LoreSettings(depth=self.depth)
        return LoreInput(
            books=(book,),
            settings=settings if self.budget is None else LoreSettings(depth=settings.depth, budget=100),
            messages=[LoreMessage(message.text, speakers[message.role]) for message in said],
            character_name=speakers["assistant"] if character is None else character.name,
            character_tags=None if character is None else character.tags,
            trigger=ctx.expand("{{lastGenerationType}}"),
            rolls=SeededRolls(ctx.run.id),
            max_context=LoreInput().max_context if self.budget is None else self.budget,
            expand=lambda text: ctx.expand(text, names),
        )


def _entries_at(result: LoreResult, position: LorePosition) -> Sequence[ActivatedEntry]:
    """The entries of a position: those within the chat with the deepest first, those of outlets by their names."""
    if position == "at_depth":
        return [each for found in sorted(result.depths(), key=lambda found: -found.depth) for each in found.entries]
    if position == "outlet":
        return [each for _, entries in sorted(result.outlets().items()) for each in entries]
    return result.at(position)


def _names(character: Character | None) -> Mapping[str, str]:
    """What macros are told of a character."""
    name = "" if character is None else character.spoken_name
    return dict.fromkeys(("char", "group", "groupNotMuted"), name) if name.strip() else {}
