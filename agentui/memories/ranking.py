"""Which of the texts that were found a turn is reminded of, and why the others are not. Pure.

    found ──score──▶ above the threshold ──▶ not shown already, not said twice ──▶ within the budget

A text is worth what the lines that are asked find of it: each line's share of its best answer, by the line's weight; nudged by
its importance and by how near it was said. Whether it is good enough at all is asked of its best line alone and against what
the rarest word of these texts would weigh, so that a greeting brings nothing up. The names of reasons are the API's.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

from agentui.chat.estimates import text_tokens
from agentui.words.cutting import cut

RecallKind: TypeAlias = Literal["fact", "open_loop", "summary", "turn"]
RecallReason: TypeAlias = Literal["words", "keys", "edge"]
LeftOutReason: TypeAlias = Literal["shown", "duplicate", "threshold", "budget", "most"]
"""Why a text that was found is not recalled: it stands in the window; it says what another one says; it is not near enough to
what is asked; there is no room, or there are enough."""

_NUDGE: Final = 0.1
"""What importance and nearness may each change of a score, at most."""
_NEAR: Final = 200
"""Floors after which nearness is worth half."""
_ALIKE: Final = 0.8
"""Share of the words of the shorter of two texts that the other has, where they say the same."""
_EDGE: Final = 0.9
"""The share of a score that goes along an edge."""


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """How much is recalled, and how good it has to be: ``threshold`` is a share of the weight of the rarest word that there
    could be, ``nearest`` one of what the same line finds at best; 0 for all that was found. ``shares`` are shares of the budget
    by kind; what one leaves, others take."""

    budget: int = 500
    most: int = 24
    threshold: float = 0.4
    nearest: float = 0.3
    with_turns: bool = True
    shares: Mapping[RecallKind, float] = field(default_factory=dict)
    longest: int = 120
    """Tokens of one turn: the part of it that answers is recalled."""


@dataclass(frozen=True, slots=True)
class FoundText:
    """A text that was found. ``by_line`` is what each line that was asked found in it, by BM25, ``rarity`` the weight of the
    rarest word that it shares with one; ``key`` the key that brought it up, ``edge_from`` the item from which an edge led here.
    ``sources`` are the pages that say it, ``distance`` how many floors lie between."""

    id: str
    kind: RecallKind
    text: str
    by_line: tuple[float, ...] = ()
    rarity: float = 0.0
    key: str | None = None
    edge_from: str | None = None
    words: frozenset[str] = frozenset()
    importance: float = 0.5
    distance: int | None = None
    floor_id: str | None = None
    sources: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class RecalledText:
    """A text that the turn is reminded of, and why."""

    id: str
    kind: RecallKind
    text: str
    score: float
    reason: RecallReason
    detail: str
    tokens: int
    floor_id: str | None


@dataclass(frozen=True, slots=True)
class LeftOutText:
    """A text that was found and is not recalled, and why; ``detail`` is the text that says the same, where one does."""

    id: str
    kind: RecallKind
    score: float
    reason: LeftOutReason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Ranking:
    """What is recalled, the best first, and what is not."""

    recalled: Sequence[RecalledText] = ()
    left_out: Sequence[LeftOutText] = ()
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class _Scored:
    found: FoundText
    score: float
    strength: float
    share: float
    """Of what its best line finds at best."""


def rank(
    found: Sequence[FoundText],
    weights: Sequence[float],
    rarest: float,
    settings: RecallSettings,
    shown: Collection[str] = (),
    shortened: Callable[[FoundText], str] = lambda found: found.text,
) -> Ranking:
    """Choose among what was found. ``weights`` are those of the lines, ``rarest`` is what a word weighs that no text holds,
    ``shown`` the pages that the window shows. ``shortened`` is what is recalled of a text: to find the part of a long one that
    answers takes long, so it is asked for those alone that are chosen."""
    scored = sorted(_scored(found, weights, rarest), key=lambda one: (-one.score, one.found.id))
    recalled: list[RecalledText] = []
    left_out: list[LeftOutText] = []
    chosen: list[FoundText] = []
    room = _Room(settings)

    def leave(one: _Scored, reason: LeftOutReason, detail: str = "") -> None:
        left_out.append(LeftOutText(one.found.id, one.found.kind, one.score, reason, detail))

    waiting: list[tuple[_Scored, str, int]] = []
    for one in scored:
        text = one.found
        is_near = one.strength >= settings.threshold and one.share >= settings.nearest
        # What hangs on a text comes with it, and not without it; its score is lower, so that one was judged before.
        if not is_near and text.key is None and text.edge_from not in {other.id for other in chosen}:
            leave(one, "threshold")
        elif text.sources and text.sources <= frozenset(shown):
            leave(one, "shown")
        elif (twin := next((other for other in chosen if _says_the_same(text, other)), None)) is not None:
            leave(one, "duplicate", twin.id)
        elif len(chosen) >= settings.most:
            leave(one, "most")
        else:
            part = shortened(text)
            tokens = text_tokens(part) + _LINE
            if room.takes(text.kind, tokens):
                recalled.append(_recalled(one, part, tokens))
                chosen.append(text)
            else:
                waiting.append((one, part, tokens))
    for one, part, tokens in waiting:
        if len(chosen) < settings.most and room.takes_rest(tokens):
            recalled.append(_recalled(one, part, tokens))
            chosen.append(one.found)
        else:
            leave(one, "budget")
    recalled.sort(key=lambda one: (-one.score, one.id))
    return Ranking(recalled, left_out, room.used)


_LINE: Final = 2
"""Tokens of what stands before and behind a text in the prompt."""


class _Room:
    """The budget, with each kind's share of it."""

    def __init__(self, settings: RecallSettings) -> None:
        self._budget = settings.budget
        self._shares = settings.shares
        self._by_kind: dict[str, int] = {}
        self.used = 0

    def takes(self, kind: RecallKind, tokens: int) -> bool:
        """Whether there is room within the kind's share; the first of a kind may be larger than it. It is taken then."""
        taken = self._by_kind.get(kind, 0)
        share = self._budget * self._shares.get(kind, 0.0 if self._shares else 1.0)
        if (taken and taken + tokens > share) or not self.takes_rest(tokens):
            return False
        self._by_kind[kind] = taken + tokens
        return True

    def takes_rest(self, tokens: int) -> bool:
        """Whether there is room at all. It is taken then."""
        if self.used + tokens > self._budget:
            return False
        self.used += tokens
        return True


def _scored(found: Sequence[FoundText], weights: Sequence[float], rarest: float) -> list[_Scored]:
    """What each text is worth. A line that says nothing leaves its weight to the others."""
    best = [max((one.by_line[at] for one in found if one.by_line), default=0.0) for at in range(len(weights))]
    total = sum(weight for weight, most in zip(weights, best, strict=True) if most > 0) or 1.0
    scored = []
    for one in found:
        worth = sum(
            weight / total * score / max(most, rarest)
            for weight, score, most in zip(weights, one.by_line, best, strict=False)
            if most > 0
        )
        # A long text is worth less for what it says of something else, but a rare word in it is no chance hit.
        strength = max(one.rarity, *one.by_line) / rarest if one.by_line else 0.0
        share = max((score / most for score, most in zip(one.by_line, best, strict=False) if most > 0), default=0.0)
        if one.key is not None:
            worth = max(worth, _KEY)
        near = 0.5 if one.distance is None else 2 ** (-one.distance / _NEAR)
        scored.append(_Scored(one, worth * (1 - 2 * _NUDGE + _NUDGE * one.importance + _NUDGE * near), strength, share))
    by_id = {one.found.id: one for one in scored}
    return [
        replace(one, score=max(one.score, _EDGE * by_id[one.found.edge_from].score)) if one.found.edge_from in by_id else one
        for one in scored
    ]


_KEY: Final = 0.9
"""What a key is worth: somebody said that it brings the memory up."""


def _says_the_same(one: FoundText, other: FoundText) -> bool:
    """Whether two texts have nearly the same words; a short one that a long one holds among much else is not said twice."""
    few, many = sorted((one.words, other.words), key=len)
    return len(few) > 0 and len(few) * 2 >= len(many) and len(few & many) >= _ALIKE * len(many)


def _recalled(one: _Scored, part: str, tokens: int) -> RecalledText:
    text = one.found
    reason: RecallReason
    if text.key is not None:
        reason, detail = "keys", text.key
    elif text.edge_from is not None:
        reason, detail = "edge", text.edge_from
    else:
        reason, detail = "words", ""
    return RecalledText(text.id, text.kind, part, round(one.score, 4), reason, detail, tokens, text.floor_id)


def excerpt(text: str, wanted: Mapping[str, float], longest: int) -> str:
    """The part of a long text, of at most so many tokens, that has most of the wanted words; whole sentences where they fit."""
    if text_tokens(text) <= longest:
        return text.strip()
    sentences = [sentence for sentence in _sentences(text) if sentence.strip()]
    sizes = [text_tokens(sentence) for sentence in sentences]
    points = [sum(wanted.get(word, 0.0) for word in set(cut(sentence))) for sentence in sentences]
    best, best_range, first, size, sum_of = -1.0, (0, 1), 0, 0, 0.0
    for at in range(len(sentences)):
        size, sum_of = size + sizes[at], sum_of + points[at]
        while size > longest and first < at:
            size, sum_of, first = size - sizes[first], sum_of - points[first], first + 1
        if sum_of > best:
            best, best_range = sum_of, (first, at + 1)
    part = "".join(sentences[slice(*best_range)]).strip()
    return part if text_tokens(part) <= longest else part[: longest * 2].rstrip() + "…"


def _sentences(text: str) -> list[str]:
    """The sentences of a text with what stands between them."""
    pieces, start = [], 0
    for at, character in enumerate(text):
        if character in _ENDS and (at + 1 == len(text) or text[at + 1] not in _ENDS):
            pieces.append(text[start : at + 1])
            start = at + 1
    return [*pieces, text[start:]]


_ENDS: Final = frozenset(".!?…。！？\n")
