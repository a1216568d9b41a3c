"""Where a client's turn belongs: the history that it sends, found again among the floors that are kept.

    sent:     A1 U2 A2 (note) U3          (the oldest dropped, something injected)
    floors:   U1>A1   U2>A2   U3>A3'      a branch, from its root to a floor
                               ^ the last that matches: U3 is asked again

The two sequences are aligned so that most of what was sent is found in order; what stands at the end of the alignment decides.
Pure: it gets the sent texts' numbers (``chat/fingerprints.py``) and the floors that may be meant.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

Intent = Literal["normal", "swipe", "regenerate", "continue", "impersonate", "quiet"]
Kind = Literal["new", "regenerate", "continue", "fork", "background"]
Side = Literal["user", "assistant"]
Nudge = Literal["continue", "reply"]
"""To go on with the last answer, or to give another one behind it, as characters of a group do."""

MOST_ENTRIES = 96
"""What counts of a sent history, from its end."""
_MOST_REPEATS = 16
"""How often one text may stand on a path; more are no help to tell places apart."""
_OUTPUT, _INPUT, _JUMP, _ROOT = 2.0, 1.0, 1.5, 0.5
"""What an answer and a question that are found speak for a place; what floors left out between them speak against it; and that
both sequences begin together."""


class Entry(NamedTuple):
    """One thing that a client says was said, by its numbers."""

    side: Side
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Sent:
    """The conversation that a client sent, without system messages and tools' results.

    ``is_cut``: there is more before the entries. ``is_tool_round``: tools' results are all that is new. ``nudge``: what the
    system messages behind the last words ask for, as far as clients have a set phrase for it. ``tells``: it tells what the
    chat's last floor said, within another text, as requests for titles and summaries do.
    """

    entries: tuple[Entry, ...]
    is_cut: bool = False
    is_tool_round: bool = False
    ends_with_system: bool = False
    nudge: Nudge | None = None
    tells: bool = False

    @property
    def is_lone(self) -> bool:
        """Nothing was said before the question."""
        return not any(entry.side == "assistant" for entry in self.entries)


class Version(NamedTuple):
    """One answer of a floor."""

    page_id: str
    number: int
    is_active: bool


@dataclass(frozen=True, slots=True)
class Stop:
    """One committed floor of a path. ``is_head``: nothing follows it on its branch. ``sent_past``: how many entries the client
    sent before its question, None where that is not known."""

    floor_id: str
    branch_id: str
    parent_id: str | None
    is_head: bool
    asked: frozenset[int]
    answers: tuple[Version, ...]
    sent_past: int | None = None


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
    """

    kind: Kind
    floor_id: str | None = None
    branch_id: str | None = None
    page_id: str | None = None


def place(sent: Sent, paths: Sequence[Path], head: Stop | None, intent: Intent | None = None) -> Placement:
    """Where the turn belongs. ``paths`` lead to the floors that may be meant, the likeliest first; ``head`` is the floor that
    the client's branch ends with, None for an empty chat."""
    if intent in ("impersonate", "quiet"):
        return _background(head)
    found = find(sent, paths)
    if found is None or not _is_sure(found) or _sends_no_history(sent, head):
        return _unmatched(sent, head, intent)
    return _matched(sent, found, intent)


def find(sent: Sent, paths: Sequence[Path]) -> Found | None:
    """The best end of an alignment over some paths; of equal ones that of the first path, as late in the history as can be."""
    best: Found | None = None
    for path in paths:
        for found in _ends(sent, path):
            if best is None or (found.score, found.entry) > (best.score, best.entry):
                best = found
    return best


def _is_sure(found: Found) -> bool:
    """One question that was also asked somewhere in the middle names no place; at the beginning it does."""
    stop = found.stop
    return found.score > _INPUT or found.page_id is not None or stop.is_head or stop.parent_id is None


def _sends_no_history(sent: Sent, head: Stop | None) -> bool:
    """Whether the client is one that sends the newest message alone: it did so when it might have known an answer already."""
    return sent.is_lone and head is not None and head.parent_id is not None and head.sent_past == 0


def _matched(sent: Sent, found: Found, intent: Intent | None) -> Placement:
    stop, behind = found.stop, sent.entries[found.entry + 1 :]
    sides = [entry.side for entry in behind]
    is_answered = found.page_id is not None or "assistant" in sides
    asks = "user" in sides[sides.index("assistant") if found.page_id is None and "assistant" in sides else 0 :]
    if sent.is_tool_round or not is_answered:
        return _again(stop, "continue" if intent == "continue" else "regenerate")
    if asks:
        return _behind(stop, found.page_id)
    nudge = "continue" if intent == "continue" else sent.nudge
    if found.page_id is None:
        if intent is None and nudge is None and sent.ends_with_system:
            return _background(stop)
        # Words behind the question that are no answer of it: the client began one, or goes on with one that it changed.
        return _again(stop, "continue" if nudge == "continue" else "regenerate")
    if intent in ("swipe", "regenerate"):
        return _again(stop, "regenerate")
    if intent != "continue" and (intent == "normal" or nudge == "reply"):
        return _behind(stop, found.page_id)
    return _again(stop, "continue") if nudge == "continue" or not sent.ends_with_system else _background(stop)


def _again(stop: Stop, kind: Literal["regenerate", "continue"]) -> Placement:
    """Another version of a floor; where others follow it, a branch in its place."""
    if stop.is_head:
        return Placement(kind, stop.floor_id, stop.branch_id)
    return Placement("fork", stop.parent_id, stop.branch_id)


def _behind(stop: Stop, page_id: str | None) -> Placement:
    """The next floor behind this one."""
    active = any(version.page_id == page_id and version.is_active for version in stop.answers)
    return Placement("new" if stop.is_head else "fork", stop.floor_id, stop.branch_id, None if active else page_id)


def _background(stop: Stop | None) -> Placement:
    return Placement("background", None, None if stop is None else stop.branch_id)


def _unmatched(sent: Sent, head: Stop | None, intent: Intent | None) -> Placement:
    """A history that is none of the chat's: another chat, or no turn at all."""
    if sent.is_tool_round and head is not None and sent.is_lone:
        return _again(head, "regenerate")
    if not any(entry.side == "user" for entry in sent.entries):
        return _background(head)
    if head is None:
        return Placement("new")
    goes_on = Placement("new", head.floor_id, head.branch_id)
    if not sent.is_lone:
        return Placement("fork", None, head.branch_id)
    # A client that sends the newest message alone goes on; one that sends histories wants something else.
    return _background(head) if sent.tells or head.sent_past else goes_on


def _ends(sent: Sent, path: Path) -> Iterable[Found]:
    """Every match of an entry with a place of the path, with the score of the best alignment that ends there.

    Places are numbered: the question of the path's floor ``n`` is ``2n``, its answer ``2n + 1``.
    """
    places = _places(path)
    best = [0.0] * (2 * len(path))
    reached = [0.0] * (2 * len(path))
    is_begin = not sent.is_cut
    for number, entry in enumerate(sent.entries):
        found = _matches(entry, places)
        for at in found:
            floor = at >> 1
            near = max(best[max(0, 2 * floor - 2) : at], default=0.0)
            far = max(best[:at], default=0.0) - _JUMP
            begun = _ROOT if is_begin and floor == 0 and path[0].parent_id is None else 0.0
            reached[at] = max(near, far, begun) + (_INPUT if entry.side == "user" else _OUTPUT)
        for at, page_id in found.items():
            best[at] = max(best[at], reached[at])
            yield Found(reached[at], number, path[at >> 1], page_id)
        is_begin = is_begin and entry.side == "assistant"


def _places(path: Path) -> Mapping[tuple[Side, int], list[tuple[int, str | None]]]:
    """Where each text stands on a path: its places, and the version of an answer."""
    places: defaultdict[tuple[Side, int], list[tuple[int, str | None]]] = defaultdict(list)
    for number, stop in enumerate(path):
        for asked in stop.asked:
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
