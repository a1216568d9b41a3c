"""The rule of sight: which items are seen from a floor. Nothing else decides, and every reader asks here.

    an item with sources     every source page is the active version of its floor, and that floor lies on the path to there
    one without              its scope holds there: the account, the chat, the branch and its forks, a floor of the path
    superseded, compacted    an edge that is seen leads to it from another item that is seen

So what a dropped answer taught is hidden with it, and comes back with it; a branch knows what lies on its path, and nothing of
another's future. A status that is not active hides an item everywhere. Pure: ``reading.py`` brings what it asks for.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple

from agentui.memories.records import HIDING, HiddenReason, MemoryScope


class PageState(NamedTuple):
    """A source: a page, its floor, and whether it is the active version there; ``is_active`` None where the page is removed."""

    floor_id: str
    is_active: bool | None


class NamedFloor(NamedTuple):
    """The floor that an item without sources names, where it exists; set aside or not. ``is_replaced``: the message that the
    item names stands on a version that is not active."""

    floor_id: str | None
    is_set_aside: bool
    is_replaced: bool


class ItemFact(NamedTuple):
    """What the rule asks of an item. ``status`` is why it is hidden everywhere, None where it is active."""

    id: str
    scope: MemoryScope
    scope_id: str
    status: HiddenReason | None
    created_at: int
    sources: tuple[PageState, ...]
    named: NamedFloor


class EdgeFact(NamedTuple):
    """What the rule asks of an edge that may hide what it leads to."""

    id: str
    from_id: str
    to_id: str
    relation: str
    sources: tuple[PageState, ...]


class Hidden(NamedTuple):
    """Why an item is not seen, and which item hides it, where one does."""

    reason: HiddenReason
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """From where is looked: a branch of a chat and the floor at which the path to it ends, None before its first.

    ``branches`` are the branch (by its scope_id) and those that it was forked from; of each forked-from one what was written
    until the fork counts: until this time, in ms, None for the branch itself.
    """

    account: str
    session_id: str
    branch_id: str
    floor_id: str | None
    branches: Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class Sight:
    """What is seen from a place, of the items that it was told of. Immutable: ``extended`` gives a new one.

    ``shown`` are the items that their sources or scopes let be seen; of these, edges hide ``covered``. ``apart`` are the
    others, and ``later`` those of them to which a longer path may lead. Kept as ids: thousands of facts would be looked
    through again and again by the collector of garbage, which holds everybody up.
    """

    place: Place
    path: frozenset[str] = frozenset()
    shown: frozenset[str] = frozenset()
    apart: Mapping[str, HiddenReason] = field(default_factory=dict)
    later: Sequence[ItemFact] = ()
    edges: Mapping[str, EdgeFact] = field(default_factory=dict)
    covered: Mapping[str, Hidden] = field(default_factory=dict)

    def hidden(self, item_id: str) -> Hidden | None:
        """Why an item is not seen; None where it is. One that the sight was not told of belongs to another chat."""
        if item_id in self.shown:
            return self.covered.get(item_id)
        return Hidden(self.apart.get(item_id, "other_scope"))

    def sees(self, item_id: str) -> bool:
        """Whether an item is seen."""
        return item_id in self.shown and item_id not in self.covered

    @property
    def visible(self) -> Collection[str]:
        """The ids of all items that are seen."""
        return self.shown - self.covered.keys() if self.covered else self.shown

    @property
    def weight(self) -> int:
        """About how many things it holds."""
        return len(self.path) + len(self.shown) + len(self.apart) + len(self.edges)

    def extended(self, place: Place, floors: Iterable[str], items: Iterable[ItemFact], edges: Iterable[EdgeFact]) -> "Sight":
        """The sight from ``place``, whose path goes on by ``floors`` from this one's, with items and edges that are new.
        What it was told before is as it was."""
        path = self.path.union(floors)
        new, apart, later = list[str](), dict(self.apart), list[ItemFact]()
        for fact in chain(self.later, items):
            reason = _why_apart(fact, place, path)
            if reason is None:
                new.append(fact.id)
                apart.pop(fact.id, None)
                continue
            apart[fact.id] = reason
            if reason in ("off_path", "other_scope"):  # else no longer path leads there
                later.append(fact)
        shown = self.shown.union(new)
        every = {**self.edges, **{edge.id: edge for edge in edges}}
        covered = _covered(every.values(), shown, path)
        return Sight(place, path, shown, apart, later, every, covered)


def no_sight(place: Place) -> Sight:
    """The sight from a place that was told of nothing."""
    return Sight(place)


NOTHING_NAMED: Final = NamedFloor(None, is_set_aside=False, is_replaced=False)
"""Of an item that names no floor and no message, or none that exist."""


def _why_apart(fact: ItemFact, place: Place, path: frozenset[str]) -> HiddenReason | None:
    """Why an item is not seen by itself; None where it is."""
    if fact.status is not None:
        return fact.status
    if fact.sources:
        return _why_off(fact.sources, path)
    return _why_out_of_scope(fact, place, path)


def _why_off(sources: Sequence[PageState], path: frozenset[str]) -> HiddenReason | None:
    """What keeps sources from being seen; what no later floor can mend counts most."""
    found: HiddenReason | None = None
    for source in sources:
        if source.is_active is None:
            return "gone"
        if not source.is_active:
            found = "replaced"
        elif source.floor_id not in path and found is None:
            found = "off_path"
    return found


def _why_out_of_scope(fact: ItemFact, place: Place, path: frozenset[str]) -> HiddenReason | None:
    """The scope of an item that was written by hand. It may name a floor and a message: what comes from an answer that was
    dropped is dropped with it, and what a branch has on the path that it shares with its forks is theirs (contract, 3.5)."""
    named = fact.named
    if named.is_replaced:
        return "replaced"
    is_off = named.floor_id is not None and named.floor_id not in path
    if fact.scope == "branch":
        return _why_off_branch(fact, place, is_off=is_off)
    hosts = {"global": (place.account,), "chat": (place.session_id,), "floor": path}
    if fact.scope_id not in hosts[fact.scope]:
        return "other_scope"
    return "off_path" if is_off and named.is_set_aside else None


def _why_off_branch(fact: ItemFact, place: Place, *, is_off: bool) -> HiddenReason | None:
    if fact.scope_id not in place.branches:
        return "other_scope"
    if is_off:
        return "off_path"
    until = place.branches[fact.scope_id]
    is_inherited = until is None or fact.named.floor_id is not None or fact.created_at < until
    return None if is_inherited else "other_scope"


def _covered(edges: Iterable[EdgeFact], shown: Collection[str], path: frozenset[str]) -> dict[str, Hidden]:
    """What edges hide of the items that are shown. In a circle none is newer than another: its edges hide nothing."""
    seen = [
        edge
        for edge in edges
        if edge.from_id in shown and edge.to_id in shown and (not edge.sources or _why_off(edge.sources, path) is None)
    ]
    circle_of = _circles(seen)
    covered: dict[str, Hidden] = {}
    for edge in seen:
        is_straight = edge.from_id != edge.to_id and circle_of.get(edge.from_id, edge.from_id) != circle_of.get(
            edge.to_id, edge.to_id
        )
        if is_straight and (edge.to_id not in covered or edge.from_id > (covered[edge.to_id].by or "")):
            covered[edge.to_id] = Hidden(HIDING[edge.relation], edge.from_id)
    return covered


def _circles(edges: Sequence[EdgeFact]) -> dict[str, str]:
    """For each item that may lie in a circle of edges, one of that circle's items: Tarjan's strongly connected components,
    without recursion. Linear in the edges."""
    ends = {edge.to_id for edge in edges}
    after: dict[str, list[str]] = {}
    for edge in edges:
        if edge.from_id in ends:  # what no edge leads to is in no circle
            after.setdefault(edge.from_id, []).append(edge.to_id)
    found: dict[str, str] = {}
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    open_items: list[str] = []
    for start in after:
        if start in number:
            continue
        number[start] = low[start] = len(number)
        open_items.append(start)
        way = [(start, iter(after[start]))]
        while way:
            item, rest = way[-1]
            following = next(rest, None)
            if following is None:
                way.pop()
                if way:
                    before = way[-1][0]
                    low[before] = min(low[before], low[item])
                if low[item] == number[item]:
                    while (member := open_items.pop()) != item:
                        found[member] = item
                    found[item] = item
            elif following not in number:
                number[following] = low[following] = len(number)
                open_items.append(following)
                way.append((following, iter(after.get(following, ()))))
            elif following not in found:
                low[item] = min(low[item], number[following])
    return found
