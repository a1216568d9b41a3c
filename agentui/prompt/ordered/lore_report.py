"""What lorebooks did, as the API tells it (``runtime_trace.worldbook``)."""

from collections.abc import Mapping
from typing import Final

from agentui.assets.lorebook import BoundBook, LoreEntry, LoreScope
from agentui.jsonio import Json
from agentui.lore.result import ActivatedEntry, LoreResult, UnusedEntry

MOST_UNUSED: Final = 200
"""Entries that are not in the prompt of which the reason is told."""
_PREVIEW: Final = 200
"""Characters of an entry that are shown."""
_KINDS: Final[Mapping[LoreScope, str]] = {
    "chat": "session_worldbook",
    "global": "session_worldbook",
    "character": "character_worldbook",
    "persona": "persona_worldbook",
}


def lore_trace(lore: LoreResult | None, *, with_matches: bool, most: int | None = None) -> dict[str, Json]:
    """The number of entries that are in the prompt, and ``with_matches`` which they are, at ``most`` so many, and why others
    are not."""
    if lore is None:
        return {"hit_count": 0, **({"matches": []} if with_matches else {})}
    told: dict[str, Json] = {"hit_count": len(lore.activated), "tokens": lore.tokens, "is_cut": lore.is_cut}
    if with_matches:
        told["matches"] = [_match(each) for each in lore.activated[:most]]
        told["unused"] = [_unused(each) for each in lore.unused[: MOST_UNUSED if most is None else most]]
    return told


def _match(activated: ActivatedEntry) -> dict[str, Json]:
    """An entry that is in the prompt."""
    match = activated.match
    return {
        **_entry(activated.bound, activated.entry),
        "content_preview": activated.content[:_PREVIEW],
        "insertion": insertion(activated.entry),
        "activation": {
            "mode": activated.mode,
            "recursion_level": activated.recursion_level,
            "first_match": None if match is None else match.as_json(),
        },
    }


def _unused(unused: UnusedEntry) -> dict[str, Json]:
    """An entry that is not."""
    return {
        **_entry(unused.bound, unused.entry),
        "reason": unused.reason,
        "detail": unused.detail,
        "first_match": None if unused.match is None else unused.match.as_json(),
    }


def identity(bound: BoundBook, entry: LoreEntry) -> dict[str, Json]:
    """What tells an entry from all others, and which version of which book it is from (spec: tavern-api-2 part 1.14)."""
    scope_id = f"worldbook:{bound.key}:{bound.version}"
    source = {"kind": _KINDS[bound.scope], "worldbook_id": bound.id, "worldbook_name": bound.book.name}
    return {
        "uid": entry.uid,
        "activation_key": f"{scope_id}:entry:{entry.uid}",
        "asset_scope_id": scope_id,
        "source": {**source, "asset_scope_id": scope_id},
    }


def _entry(bound: BoundBook, entry: LoreEntry) -> dict[str, Json]:
    return {**identity(bound, entry), "comment": entry.comment, "order": entry.order}


def insertion(entry: LoreEntry) -> dict[str, Json]:
    """Where an entry stands."""
    told: dict[str, Json] = {"position": entry.position}
    if entry.position == "at_depth":
        return {**told, "depth": entry.depth, "role": entry.role}
    return {**told, "outlet": entry.outlet} if entry.position == "outlet" else told
