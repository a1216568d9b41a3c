"""What comes of an activation: the entries that join by their places, why others do not, and the timed effects to keep."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from agentui.assets.lorebook import BoundBook, LoreEntry, LorePosition
from agentui.assets.values import Role
from agentui.jsonio import Json
from agentui.lore.buffer import Place, SourceKind

LoreCause: TypeAlias = Literal["constant", "decorator", "sticky", "keys"]
LoreReason: TypeAlias = Literal[
    "disabled",
    "trigger",
    "character",
    "tag",
    "delay",
    "cooldown",
    "recursion_delay",
    "recursion_excluded",
    "decorator",
    "no_keys",
    "no_match",
    "secondary",
    "group",
    "probability",
    "budget",
]
"""Why an entry does not join: the rule that kept it out in the last sweep that looked at it."""

_AROUND: Final = 30
"""Characters of an excerpt on either side of what was found."""


@dataclass(frozen=True, slots=True)
class LoreMatch:
    """The first key that was found, and where.

    ``start`` and ``end`` count characters of the text as it was said; a match in the name before it is at 0. ``message`` counts
    from the newest, None for other kinds.
    """

    key: str
    key_scope: Literal["primary", "secondary"]
    key_type: Literal["plain", "regex"]
    kind: SourceKind
    message: int | None
    start: int
    end: int
    excerpt: str

    @classmethod
    def of(
        cls, key: str, key_type: Literal["plain", "regex"], place: Place, key_scope: Literal["primary", "secondary"] = "primary"
    ) -> "LoreMatch":
        """The match of a key at a place."""
        segment = place.segment
        # Within a name the excerpt shows the name; else it is of the text alone.
        first = 1 if place.start < segment.shift else segment.shift
        excerpt = segment.text[max(place.start - _AROUND, first) : place.end + _AROUND]
        return cls(
            key,
            key_scope,
            key_type,
            segment.kind,
            segment.number if segment.kind == "message" else None,
            max(place.start - segment.shift, 0),
            max(place.end - segment.shift, 0),
            excerpt,
        )

    def as_json(self) -> dict[str, Json]:
        """The match as the API tells it."""
        told: dict[str, Json] = {"source_kind": self.kind}
        if self.message is not None:
            told["message_index_from_latest"] = self.message
        return told | {
            "matched_key": self.key,
            "matched_key_scope": self.key_scope,
            "matched_key_type": self.key_type,
            "char_start": self.start,
            "char_end": self.end,
            "excerpt": self.excerpt,
        }


@dataclass(frozen=True, slots=True)
class ActivatedEntry:
    """An entry that joins. ``content`` has its macros replaced; ``recursion_level`` counts sweeps over what joined before."""

    bound: BoundBook
    entry: LoreEntry
    content: str
    cause: LoreCause
    recursion_level: int
    match: LoreMatch | None

    @property
    def mode(self) -> Literal["constant", "triggered"]:
        """Whether it joins in any case, or because something called for it."""
        return "constant" if self.cause in ("constant", "decorator") else "triggered"


@dataclass(frozen=True, slots=True)
class UnusedEntry:
    """An entry that does not join, and why. ``detail`` is the group's name or the roll; ``match`` is its first key, if any."""

    bound: BoundBook
    entry: LoreEntry
    reason: LoreReason
    detail: str = ""
    match: LoreMatch | None = None


@dataclass(frozen=True, slots=True)
class DepthLore:
    """Entries that stand together within the chat, ``depth`` messages from its end."""

    depth: int
    role: Role
    entries: tuple[ActivatedEntry, ...]


@dataclass(frozen=True, slots=True)
class LoreResult:
    """What joins, in the order in which it joined, and the rest.

    ``tokens`` is about what the contents take; ``is_cut``: the budget kept something out. ``timed`` is to be given to the next
    turn on this chat. ``left_out`` are keys that were not looked for everywhere, for that takes too long.
    """

    activated: tuple[ActivatedEntry, ...]
    unused: tuple[UnusedEntry, ...]
    timed: Mapping[str, Json]
    tokens: int
    is_cut: bool
    left_out: tuple[str, ...] = ()

    def at(self, position: LorePosition) -> tuple[ActivatedEntry, ...]:
        """The entries of a position, as they stand in the prompt: ascending by order, so that a high one is nearer the end.
        Those of outlets and depths stand by their names and depths instead (``outlets``, ``depths``)."""
        return tuple(one for one in reversed(self._descending()) if one.entry.position == position)

    def depths(self) -> tuple[DepthLore, ...]:
        """The entries within the chat, those of one depth and role together."""
        groups: dict[tuple[int, Role], list[ActivatedEntry]] = {}
        for one in self._descending():
            if one.entry.position == "at_depth":
                groups.setdefault((one.entry.depth, one.entry.role), []).append(one)
        return tuple(DepthLore(depth, role, tuple(reversed(group))) for (depth, role), group in groups.items())

    def outlets(self) -> dict[str, tuple[ActivatedEntry, ...]]:
        """The entries of each outlet, descending by order, as SillyTavern joins them. Without a name there is no outlet."""
        outlets: dict[str, list[ActivatedEntry]] = {}
        for one in self._descending():
            if one.entry.position == "outlet" and one.entry.outlet:
                outlets.setdefault(one.entry.outlet, []).append(one)
        return {name: tuple(entries) for name, entries in outlets.items()}

    def _descending(self) -> list[ActivatedEntry]:
        """What says something, by descending order; among equals what joined first."""
        return sorted((one for one in self.activated if one.content), key=lambda one: -one.entry.order)
