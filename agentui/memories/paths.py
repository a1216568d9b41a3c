"""``Paths``: the floors that lead to the places that were asked for last, with their distances, extended as a chat goes on.

A sight (``sights.py``) knows the path only where something was remembered; messages are searched where nothing ever was.
"""

from collections import OrderedDict
from typing import Final, NamedTuple

from sqlalchemy import Connection, bindparam, select

from agentui.chats.lineage import committed_since
from agentui.memories.reading import Spot, found_place
from agentui.store.base import Store
from agentui.store.prepared import Prepared
from agentui.store.tables import sessions

MOST_KEPT: Final = 64
MOST_FLOORS: Final = 500_000
"""Floors of all paths that are kept, some 60 MB; the newest is kept in any case."""


class _Path(NamedTuple):
    """A path as of a head and of its chat's shape, which counts what changes the past."""

    floor_id: str | None
    shape: int
    numbers: dict[str, int]


class _Read(NamedTuple):
    floor_id: str | None
    shape: int
    floors: list[str]
    is_new: bool


class Paths:
    """Paths by place."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[tuple[str, Spot], _Path] = OrderedDict()

    async def to(self, account: str, spot: Spot) -> dict[str, int]:
        """The committed floors on the path to a place, by id with their numbers on it, the first 0. Raises 404 as ``Sights.at``
        does."""
        key = account, spot
        kept = self._kept.pop(key, None)
        read = await self._store.read(_read, account, spot, kept and (kept.floor_id, kept.shape))
        numbers = kept.numbers if kept is not None and read.is_new else {}
        # Added to in place: whoever still reads the shorter path sees floors that lead on from it, and no other.
        for floor_id in read.floors:
            numbers.setdefault(floor_id, len(numbers))
        self._kept[key] = _Path(read.floor_id, read.shape, numbers)
        weight = sum(len(path.numbers) for path in self._kept.values())
        while len(self._kept) > 1 and (len(self._kept) > MOST_KEPT or weight > MOST_FLOORS):
            weight -= len(self._kept.popitem(last=False)[1].numbers)
        return numbers


def _read(db: Connection, account: str, spot: Spot, known: tuple[str | None, int] | None) -> _Read:
    """What is new of a path since a floor and a shape; all of it where the past has changed."""
    session_id, _, floor = found_place(db, account, spot)
    shape = (_SHAPE.first(db, {"account": account, "session": session_id}) or (0,))[0]
    if floor is None:
        return _Read(None, shape, [], is_new=False)
    if known is not None and known[1] == shape:
        more = committed_since(db, account, floor, known[0])
        if more is not None:
            return _Read(floor.id, shape, more, is_new=known[0] is not None)
    return _Read(floor.id, shape, committed_since(db, account, floor, None) or [], is_new=False)


_SHAPE = Prepared(
    select(sessions.c.shape).where(sessions.c.account_id == bindparam("account"), sessions.c.id == bindparam("session"))
)
