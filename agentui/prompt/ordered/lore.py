"""What lorebooks put into an ordered prompt."""

from collections.abc import Sequence
from dataclasses import dataclass

from agentui.lore.activation import activate
from agentui.lore.given import LoreInput, LoreMessage, LoreSettings, SeededRolls
from agentui.lore.result import ActivatedEntry, LoreResult
from agentui.prompt.drafts import Draft
from agentui.prompt.macros import PromptMacros
from agentui.prompt.ordered.cast import Cast
from agentui.prompt.ordered.injections import Injection
from agentui.prompt.ordered.injects import injects_of
from agentui.prompt.ordered.scripts import PromptScripts
from agentui.prompt.prepared import PromptInput


@dataclass(frozen=True, slots=True)
class PlacedLore:
    """The texts of a turn's lore by their places: around the card, around the author's note, around the examples, and within
    the chat."""

    before: str = ""
    after: str = ""
    note_top: tuple[str, ...] = ()
    note_bottom: tuple[str, ...] = ()
    examples_top: tuple[str, ...] = ()
    examples_bottom: tuple[str, ...] = ()
    injections: tuple[Injection, ...] = ()
    result: LoreResult | None = None


def placed_lore(
    given: PromptInput, cast: Cast, chat: Sequence[Draft], limit: int, scripts: PromptScripts, macros: PromptMacros
) -> PlacedLore:
    """The lore of a turn, where it has books and its policy wants them. ``chat`` is all that was said, oldest first, and
    ``limit`` the tokens of a prompt, of which lore takes its share. What comes later reads outlets (``{{outlet::name}}``)."""
    if not given.assets.lorebooks or not given.policy.source_selection.worldbook.enabled:
        return PlacedLore()
    result = activate(_input(given, cast, chat, limit, macros))

    def texts(entries: Sequence[ActivatedEntry], depth: int | None = None) -> tuple[str, ...]:
        return tuple(scripts.run(each.content, "world_info", depth) for each in entries)

    def joined(entries: Sequence[ActivatedEntry], depth: int | None = None) -> str:
        return "\n".join(texts(entries, depth))

    macros.tell_outlets({name: joined(entries) for name, entries in result.outlets().items()})
    return PlacedLore(
        before=joined(result.at("before")),
        after=joined(result.at("after")),
        note_top=texts(result.at("note_top")),
        note_bottom=texts(result.at("note_bottom")),
        # Each is put before all that are there.
        examples_top=texts(result.at("examples_top"))[::-1],
        examples_bottom=texts(result.at("examples_bottom")),
        injections=tuple(
            Injection("worldInfoDepth", "worldbook", joined(each.entries, each.depth), each.role, each.depth)
            for each in result.depths()
        ),
        result=result,
    )


def _input(given: PromptInput, cast: Cast, chat: Sequence[Draft], limit: int, macros: PromptMacros) -> LoreInput:
    names = {"user": cast.user, "assistant": cast.char}
    length = _chat_length(given, len(chat))
    scanned = [macros.expand(each.value)[0] for each in injects_of(given.session.metadata) if each.is_scanned]
    aside = given.message.text if given.message is not None and given.intent == "quiet" else ""
    return LoreInput(
        books=given.assets.lorebooks,
        settings=LoreSettings.of(given.session.metadata),
        messages=[LoreMessage(draft.message.text, names.get(draft.message.role, "")) for draft in chat],
        sources={
            "persona_description": cast.persona_text,
            "character_description": cast.description,
            "character_personality": cast.personality,
            "character_depth_prompt": cast.depth_prompt.prompt if cast.depth_prompt is not None else "",
            "scenario": cast.scenario,
            "creator_notes": cast.character.creator_notes,
        },
        injections=(*scanned, *((aside,) if aside else ())),
        character_name=cast.character.name,
        character_tags=cast.character.tags,
        trigger=given.intent,
        chat_length=length,
        timed=given.timed,
        rolls=given.rolls or SeededRolls(f"{given.scope.seed}\0{length}"),
        max_context=limit,
        expand=lambda text: macros.expand(text)[0],
    )


def _chat_length(given: PromptInput, sent: int) -> int:
    """The messages of the whole chat, hidden ones too, by which timed effects count. Of floors that were not loaded each has
    two."""
    if not given.history:
        return sent
    unread = 2 * given.history[0].floor_no if given.is_cut else 0
    return unread + len(given.history) + (given.message is not None and given.intent != "quiet")
