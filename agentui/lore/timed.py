"""Effects that last for some messages: entries that stay (sticky), rest (cooldown), or wait for a chat to grow (delay).

What is kept between turns has SillyTavern's shape, ``{"sticky": {name: effect}, "cooldown": {name: effect}}`` with an effect
``{"hash", "start", "end", "protected"}`` in messages.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from agentui.assets.values import flag, members, text, whole
from agentui.jsonio import Json
from agentui.lore.compiled import CompiledEntry

TimedKind: TypeAlias = Literal["sticky", "cooldown"]

MOST_KEPT: Final = 640 * 1024
"""Characters of effects that a chat keeps: beyond that goes what ends first. A variable holds a
megabyte."""
_EFFECT: Final = 80
"""Characters of an effect beside its name and its digest."""
_KINDS: Final[tuple[TimedKind, ...]] = ("sticky", "cooldown")


@dataclass(frozen=True, slots=True)
class TimedEffect:
    """An effect from one length of the chat to another. One that is not protected ends when the chat has not grown since."""

    digest: str
    start: int
    end: int
    is_protected: bool

    @classmethod
    def of(cls, content: Json) -> "TimedEffect":
        """The effect that is kept as this."""
        kept = members(content)
        return cls(text(kept.get("hash")), whole(kept.get("start"), 0), whole(kept.get("end"), 0), flag(kept.get("protected")))

    def as_json(self) -> dict[str, Json]:
        """The effect as it is kept."""
        return {"hash": self.digest, "start": self.start, "end": self.end, "protected": self.is_protected}


class TimedEffects:
    """The effects of one turn: those of before that still hold, and those that begin."""

    def __init__(self, kept: Mapping[str, Json], entries: Sequence[CompiledEntry], length: int) -> None:
        self._length = length
        self._entries = entries
        self._effects = {
            kind: {
                name: TimedEffect.of(effect) for name, effect in members(kept.get(kind)).items() if isinstance(effect, Mapping)
            }
            for kind in _KINDS
        }
        self._active: dict[TimedKind, set[int]] = {"sticky": set(), "cooldown": set()}
        if any(self._effects.values()):
            by_name = {one.name: one for one in entries}
            for kind in _KINDS:
                self._renew(kind, by_name)

    def is_sticky(self, one: CompiledEntry) -> bool:
        """True for an entry that stays because it joined before."""
        return one.index in self._active["sticky"]

    def is_cooling(self, one: CompiledEntry) -> bool:
        """True for an entry that rests."""
        return one.index in self._active["cooldown"]

    def is_delayed(self, one: CompiledEntry) -> bool:
        """True for an entry for which the chat is too short."""
        return self._length < one.entry.delay

    @property
    def sticky(self) -> set[int]:
        """The indexes of all entries that stay."""
        return self._active["sticky"]

    def begin(self, activated: Iterable[CompiledEntry]) -> None:
        """Begin the effects of entries that join, where they do not last already."""
        for one in activated:
            for kind in _KINDS:
                if _span(one, kind) and one.name not in self._effects[kind]:
                    self._effects[kind][one.name] = self._effect(one, kind, is_protected=False)

    def as_json(self) -> dict[str, Json]:
        """What to keep until the next turn: at most MOST_KEPT characters, of those that last longest."""
        left = MOST_KEPT - sum(_weight(*pair) for kind in _KINDS for pair in self._effects[kind].items())
        if left < 0:
            every = [(effect.end, kind, name) for kind in _KINDS for name, effect in self._effects[kind].items()]
            for _, kind, name in sorted(every):
                if left >= 0:
                    break
                left += _weight(name, self._effects[kind].pop(name))
        return {kind: {name: effect.as_json() for name, effect in self._effects[kind].items()} for kind in _KINDS}

    def _effect(self, one: CompiledEntry, kind: TimedKind, *, is_protected: bool) -> TimedEffect:
        return TimedEffect(one.entry.digest, self._length, self._length + _span(one, kind), is_protected)

    def _renew(self, kind: TimedKind, by_name: Mapping[str, CompiledEntry]) -> None:
        """Drop the effects of a kind that have ended, and tell which entries the others are on."""
        for name, effect in list(self._effects[kind].items()):
            found = by_name.get(name)
            one = found if found is not None and found.entry.digest == effect.digest else None
            has_ended = self._length >= effect.end
            if self._length <= effect.start and not effect.is_protected:
                del self._effects[kind][name]
            elif one is None:
                # Its book may be away for a while, so it is kept until it ends.
                if has_ended:
                    del self._effects[kind][name]
            elif has_ended or not _span(one, kind):
                del self._effects[kind][name]
                if kind == "sticky" and has_ended and one.entry.cooldown and one.entry.sticky:
                    self._effects["cooldown"][name] = self._effect(one, "cooldown", is_protected=True)
            else:
                self._active[kind].add(one.index)


def _weight(name: str, effect: TimedEffect) -> int:
    return len(name) + len(effect.digest) + _EFFECT


def _span(one: CompiledEntry, kind: TimedKind) -> int:
    """How many messages an effect of an entry lasts, 0 for none."""
    return one.entry.sticky if kind == "sticky" else one.entry.cooldown
