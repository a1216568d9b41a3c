"""Where a client's turn belongs: the history that it sends, found again among the floors that are kept.

    sent:     A1 U2 A2 (note) U3          (the oldest dropped, something injected)
    floors:   U1>A1   U2>A2   U3>A3'      a branch, from its root to a floor
                               ^ the last that matches: U3 is asked again

The two sequences are aligned so that most of what was sent is found in order; what stands at the end of the alignment decides.
Pure: it gets the sent texts' numbers (``chat/fingerprints.py``) and the floors that may be meant.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, TypeAlias

Intent = Literal["normal", "swipe", "regenerate", "continue", "impersonate", "quiet"]
Kind = Literal["new", "regenerate", "continue", "fork", "background"]
Side = Literal["user", "assistant"]
Nudge = Literal["continue", "reply", "aside"]
"""To go on with the last answer, to give another one behind it, as characters of a group do, or to do something that is no
turn."""

MOST_ENTRIES = 96
"""What counts of a sent history, from its end."""
_MOST_REPEATS = 16
"""How often one text may stand on a path; more are no help to tell places apart."""
_OUTPUT, _INPUT, _JUMP, _ROOT = 2.0, 1.0, 1.5, 0.5
"""What an answer and a question that are found speak for a place; what floors left out between them speak against it; and that
both sequences begin together."""
_PART, _SHARED = 0.9, 0.7
"""What a question that is a part of the kept one, or holds it, speaks for a place; and one that has a part in common with it:
clients add the same texts to many."""
_GAP, _MORE_GAP = 0.25, 0.05
"""What an answer that the client sends and no floor gave speaks against a place behind it, and each further one: of the same
words, asked again and again, the nearest are meant."""


class Entry(NamedTuple):
    """One thing that a client says was said, by its numbers."""

    side: Side
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Sent:
    """The conversation that a client sent, without system messages and tools' results.

    ``is_cut``: there is more before the entries. ``is_tool_round``: tools' results are all that is new. ``nudge``: what the
    system messages behind the last words ask for, as far as clients have a set phrase for it. ``tells``: it tells what the
    chat's last floor said, within another text, as requests for titles and summaries do. ``texts`` are those of the entries.
    ``opening`` is the number of what stands before the first question, where nothing was answered yet, and ``perhaps`` are
    those of texts within the only message that may be the question. ``is_single``: all entries were one message.
    """

    entries: tuple[Entry, ...]
    is_cut: bool = False
    is_tool_round: bool = False
    ends_with_system: bool = False
    nudge: Nudge | None = None
    tells: bool = False
    texts: tuple[str, ...] = ()
    opening: int | None = None
    perhaps: tuple[int, ...] = ()
    is_single: bool = False

    @property
    def is_lone(self) -> bool:
        """Nothing was said before the question."""
        return not any(entry.side == "assistant" for entry in self.entries)

    def asked_around(self, entry: int) -> tuple[str, ...]:
        """The user's texts that stand together with this entry, or directly before it where it is an answer."""
        end = entry
        while end < len(self.entries) and self.entries[end].side == "user":
            end += 1
        begin = end
        while begin and self.entries[begin - 1].side == "user":
            begin -= 1
        return self.texts[begin:end]

    @property
    def asked_last(self) -> tuple[str, ...]:
        """The user's texts behind the model's last words."""
        return self.asked_around(len(self.entries))


class Version(NamedTuple):
    """One answer of a floor."""

    page_id: str
    number: int
    is_active: bool


@dataclass(frozen=True, slots=True)
class Stop:
    """One committed floor of a path. ``is_head``: nothing follows it on its branch. ``sent_past``: how many entries the client
    sent before its question, None where that is not known. ``beside`` are the texts that the client sent with its question, in
    the user's name too and that may be the question, ``added`` those that are none; ``opening`` is how its chat began, where
    it is the first, and ``parts`` are those of a question that may be joined of several texts."""

    floor_id: str
    branch_id: str
    parent_id: str | None
    is_head: bool
    asked: frozenset[int]
    answers: tuple[Version, ...]
    sent_past: int | None = None
    beside: frozenset[int] = frozenset()
    opening: int | None = None
    added: frozenset[int] = frozenset()
    parts: frozenset[int] = frozenset()

    @property
    def may_ask(self) -> frozenset[int]:
        """Everything that may be its question."""
        return self.asked | self.beside | self.parts


Path: TypeAlias = Sequence[Stop]
"""Floors one after the other, the oldest first."""


class Found(NamedTuple):
    """The end of an alignment: this entry is this side of this floor (``page_id`` where an answer)."""

    score: float
    entry: int
    stop: Stop
    page_id: str | None


@dataclass(frozen=True, slots=True)
class Placement:
    """What a request is.

    ``new``: a floor behind ``floor_id``, the head of ``branch_id`` (None: the chat is empty). ``regenerate`` and ``continue``:
    another version of ``floor_id``. ``fork``: a new branch behind ``floor_id``, None: before all floors. ``page_id`` is the
    version of that floor's answer that the client goes on from, where that is not the active one. ``background``: no turn.

    ``stop`` is the floor at which the client's history was found to end, and ``shown`` how the client shows what was asked on
    it; where none was found, ``stop`` is the branch's last floor and nothing is shown. ``again`` says that a fork makes that
    floor's answer anew: "continue" goes on with it.
    """

    kind: Kind
    floor_id: str | None = None
    branch_id: str | None = None
    page_id: str | None = None
    stop: Stop | None = field(default=None, compare=False, repr=False)
    shown: tuple[str, ...] = field(default=(), compare=False, repr=False)
    again: Literal["regenerate", "continue"] | None = field(default=None, compare=False, repr=False)


def place(sent: Sent, paths: Sequence[Path], head: Stop | None, intent: Intent | None = None) -> Placement:
    """Where the turn belongs. ``paths`` lead to the floors that may be meant, the likeliest first; ``head`` is the floor that
    the client's branch ends with, None for an empty chat. What the client says with its ``intent`` comes before what its
    history makes likely."""
    if intent in ("impersonate", "quiet"):
        return _background(head)
    found = find(sent, paths)
    if found is None or not _is_sure(found, intent) or _sends_no_history(sent, paths, head, intent):
        return replace(_unmatched(sent, head, found, intent), stop=head)
    return replace(_matched(sent, found, intent), stop=found.stop, shown=sent.asked_around(found.entry))


def find(sent: Sent, paths: Sequence[Path]) -> Found | None:
    """The best end of an alignment over some paths; of equal ones that of the first path, as late in the history as can be."""
    best: Found | None = None
    for path in paths:
        for found in _ends(sent, path):
            if best is None or (found.score, found.entry) > (best.score, best.entry):
                best = found
    return best


def _is_sure(found: Found, intent: Intent | None) -> bool:
    """One question that was also asked somewhere in the middle names no place; at the beginning it does. So does that of the
    head, unless the client says that it asks anew, behind an answer that is none of the chat's."""
    stop = found.stop
    if found.score > _INPUT or found.page_id is not None:
        return True
    return (stop.is_head or stop.parent_id is None) and (found.score == _INPUT or intent != "normal")


def _sends_no_history(sent: Sent, paths: Sequence[Path], head: Stop | None, intent: Intent | None) -> bool:
    """Whether the client is one that sends the newest message alone: it did so when it might have known an answer already, and
    does not say that it wants one made anew. A greeting, which nobody asked for, is none: many clients do not show it."""
    if not sent.is_lone or head is None or head.sent_past != 0 or intent not in (None, "normal"):
        return False
    before = next((path[-2] for path in paths if len(path) > 1 and path[-1].floor_id == head.floor_id), None)
    return head.parent_id is not None and (before is None or bool(before.asked))


def _matched(sent: Sent, found: Found, intent: Intent | None) -> Placement:
    stop, behind = found.stop, sent.entries[found.entry + 1 :]
    sides = [entry.side for entry in behind]
    is_answered = found.page_id is not None or "assistant" in sides
    asks = "user" in sides[sides.index("assistant") if found.page_id is None and "assistant" in sides else 0 :]
    if sent.is_tool_round or not is_answered:
        return _again(stop, "continue" if intent == "continue" else "regenerate")
    # A client that sends no system messages within a chat asks for it in the user's name.
    asked_for = sent.nudge if intent is None and not sent.ends_with_system else None
    if "continue" in (intent, asked_for) and "assistant" not in _behind_answer(sides, is_open=found.page_id is None):
        return _again(stop, "continue")
    if asked_for == "aside":
        return _background(stop)
    if asks:
        return _behind(stop, found.page_id)
    nudge = "continue" if intent == "continue" else sent.nudge
    if found.page_id is None:
        if intent == "normal":
            return _behind(stop, None)
        if intent is None and nudge is None and sent.ends_with_system:
            return _background(stop)
        # Words behind the question that are no answer of it: the client began one, or goes on with one that it changed.
        return _again(stop, "continue" if nudge == "continue" else "regenerate")
    if intent in ("swipe", "regenerate"):
        return _again(stop, "regenerate")
    if intent != "continue" and (intent == "normal" or nudge == "reply"):
        return _behind(stop, found.page_id)
    return _again(stop, "continue") if nudge == "continue" or not sent.ends_with_system else _background(stop)


def _behind_answer(sides: Sequence[Side], *, is_open: bool) -> Sequence[Side]:
    """What stands behind a floor's answer, of what stands behind the end of the alignment; ``is_open``: that is its question,
    and the answer is among it."""
    if not is_open:
        return sides
    answered = sides.index("assistant")
    return sides[next((at for at in range(answered, len(sides)) if sides[at] == "user"), len(sides)) :]


def _again(stop: Stop, kind: Literal["regenerate", "continue"]) -> Placement:
    """Another version of a floor; where others follow it, a branch in its place."""
    if stop.is_head:
        return Placement(kind, stop.floor_id, stop.branch_id)
    return Placement("fork", stop.parent_id, stop.branch_id, again=kind)


def _behind(stop: Stop, page_id: str | None) -> Placement:
    """The next floor behind this one."""
    active = any(version.page_id == page_id and version.is_active for version in stop.answers)
    return Placement("new" if stop.is_head else "fork", stop.floor_id, stop.branch_id, None if active else page_id)


def _background(stop: Stop | None) -> Placement:
    return Placement("background", None, None if stop is None else stop.branch_id)


def _unmatched(sent: Sent, head: Stop | None, weak: Found | None, intent: Intent | None) -> Placement:
    """A history that is none of the chat's, or of which too little was found: another chat, or no turn at all."""
    if sent.is_tool_round and head is not None and sent.is_lone:
        return _again(head, "regenerate")
    if not any(entry.side == "user" for entry in sent.entries):
        return _background(head)
    if head is None:
        return Placement("new")
    goes_on = Placement("new", head.floor_id, head.branch_id)
    if not sent.is_lone:
        # The same words behind an answer that the client changed, of a chat whose beginning no longer fits.
        is_here = intent == "normal" and weak is not None and weak.stop.floor_id == head.floor_id
        return goes_on if is_here else Placement("fork", None, head.branch_id)
    if sent.tells:
        return _background(head)
    if not head.sent_past:
        return goes_on
    # A client that sends the newest message alone goes on; one that sends histories begins another chat, if it says that this
    # is a turn at all.
    return _background(head) if intent is None else Placement("fork", None, head.branch_id)


def _ends(sent: Sent, path: Path) -> Iterable[Found]:
    """Every match of an entry with a place of the path, with the score of the best alignment that ends there.

    Places are numbered: the question of the path's floor ``n`` is ``2n``, its answer ``2n + 1``.
    """
    places = _places(path)
    # Scores with _MORE_GAP for every answer so far: what was reached long ago lacks it for those since, and is worth less.
    best = [0.0] * (2 * len(path))
    is_begin, begin, answers = not sent.is_cut, 0.0, 0
    # The places that were reached since the client's last answer: those before have paid for the gap.
    fresh: set[int] = set()
    for number, entry in enumerate(sent.entries):
        found = _matches(entry, places)
        reached: dict[int, float] = {}
        for at in found:
            floor, passed = at >> 1, _MORE_GAP * answers
            near = max(best[max(0, 2 * floor - 2) : at], default=0.0)
            far = max(best[:at], default=0.0)
            begun = _ROOT if is_begin and floor == 0 and path[0].parent_id is None else begin
            before = max(near - passed if near else begin, (far - passed if far else begin) - _JUMP, begun)
            gain = _OUTPUT if entry.side == "assistant" else _gain(entry, path[floor])
            reached[at] = before + gain
        if entry.side == "assistant":
            answers += 1
            for at in fresh:
                best[at] -= _GAP
            fresh.clear()
            begin = -_GAP
        for at, page_id in found.items():
            score = reached[at] + _MORE_GAP * answers
            if score > best[at]:
                best[at] = score
                fresh.add(at)
            yield Found(reached[at], number, path[at >> 1], page_id)
        is_begin = is_begin and entry.side == "assistant"


def _gain(entry: Entry, stop: Stop) -> float:
    """What a question that is found speaks for its place."""
    own, *parts = entry.numbers
    if own in stop.asked or own in stop.beside:
        return _INPUT
    return _SHARED if own not in stop.parts and stop.asked.isdisjoint(parts) and stop.beside.isdisjoint(parts) else _PART


def _places(path: Path) -> Mapping[tuple[Side, int], list[tuple[int, str | None]]]:
    """Where each text stands on a path: its places, and the version of an answer."""
    places: defaultdict[tuple[Side, int], list[tuple[int, str | None]]] = defaultdict(list)
    for number, stop in enumerate(path):
        for asked in stop.may_ask:
            places["user", asked].append((2 * number, None))
        for version in sorted(stop.answers, key=lambda version: version.is_active):
            places["assistant", version.number].append((2 * number + 1, version.page_id))
    return places


def _matches(entry: Entry, places: Mapping[tuple[Side, int], list[tuple[int, str | None]]]) -> dict[int, str | None]:
    """The places where an entry stands, by its likeliest spelling that stands anywhere; of equal versions the active one."""
    for number in entry.numbers:
        found = places.get((entry.side, number))
        if found is not None:
            return dict(found[-_MOST_REPEATS:])
    return {}
