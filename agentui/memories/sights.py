"""``Sights``: what is seen from the places that were asked for last, kept by branch and extended as the chat goes on.

What is kept is good for as long as the numbers say that its chat's past and its memories are as they were (``reading.Stamp``):
each caller reads these in the transaction that would read the rest. Where only floors, items and edges came, those are added.
"""

from collections import OrderedDict
from functools import partial
from typing import Final, NamedTuple

from agentui.memories.reading import Facts, Spot, Stamp, read_facts
from agentui.memories.sight import Sight, no_sight
from agentui.store.base import Store
from agentui.threads import in_thread

MOST_KEPT: Final = 64
"""Places that are kept."""
MOST_WEIGHT: Final = 300_000
"""Floors, items and edges that all kept sights hold together, some 100 MB; the newest is kept in any case."""
LIGHT: Final = 500
"""What so many floors and items come to is worked out at once: some milliseconds."""


class _Kept(NamedTuple):
    stamp: Stamp
    sight: Sight


class Sights:
    """Sights by place. Many may ask at once; two who find nothing kept both read."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[tuple[str, Spot], _Kept] = OrderedDict()
        self._weight = 0

    async def at(self, account: str, spot: Spot) -> Sight:
        """What is seen from a place. Raises 404 for a session, a branch or a floor that is not there."""
        key = account, spot
        kept = self._kept.get(key)
        facts = await self._store.read(read_facts, account, spot, None if kept is None else kept.stamp)
        if kept is not None and facts.stamp == kept.stamp:
            self._touch(key)
            return kept.sight
        base = kept.sight if kept is not None and facts.is_new else no_sight(facts.place)
        work = partial(base.extended, facts.place, facts.floors, facts.items, facts.edges)
        is_light = facts.weight + base.weight <= LIGHT
        sight = work() if is_light else await in_thread(work)
        self._keep(key, facts, sight)
        return sight

    def _touch(self, key: tuple[str, Spot]) -> None:
        if key in self._kept:
            self._kept.move_to_end(key)

    def _keep(self, key: tuple[str, Spot], facts: Facts, sight: Sight) -> None:
        if not any(facts.stamp.revision):
            return  # nothing was ever remembered: to find that out again costs less than keeping it
        old = self._kept.pop(key, None)
        self._weight += sight.weight - (0 if old is None else old.sight.weight)
        self._kept[key] = _Kept(facts.stamp, sight)
        while len(self._kept) > 1 and (len(self._kept) > MOST_KEPT or self._weight > MOST_WEIGHT):
            _, dropped = self._kept.popitem(last=False)
            self._weight -= dropped.sight.weight
