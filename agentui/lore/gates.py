"""What keeps an entry out whatever is said in the chat."""

from agentui.lore.compiled import CompiledEntry
from agentui.lore.given import LoreInput
from agentui.lore.result import LoreReason
from agentui.lore.timed import TimedEffects


def gate(one: CompiledEntry, given: LoreInput, timed: TimedEffects) -> LoreReason | None:
    """The first rule that keeps an entry out of the whole turn; None where nothing does."""
    entry = one.entry
    if entry.is_disabled:
        return "disabled"
    if entry.triggers and given.trigger not in entry.triggers:
        return "trigger"
    characters = entry.characters
    if characters.names and (given.character_name in characters.names) is characters.is_exclude:
        return "character"
    if characters.tags and given.character_tags is not None:
        has_tag = any(tag in characters.tags for tag in given.character_tags)
        if has_tag is characters.is_exclude:
            return "tag"
    if timed.is_delayed(one):
        return "delay"
    if timed.is_cooling(one) and not timed.is_sticky(one):
        return "cooldown"
    return None
