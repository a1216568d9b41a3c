"""``Keyed``: the memories whose keys a question says, found by themselves, whatever the words find.

A memory with keys is an entry of a lorebook that nobody wrote, and is looked for as one (``lore/``). The keys of a chat
and of no chat are read once, and added to as memories come; one that changed or went has them read anew.
"""

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

from sqlalchemy import BigInteger, Connection, Integer, String, bindparam, select, tuple_

from agentui.assets.lorebook import BoundBook, Lorebook
from agentui.jsonio import loads
from agentui.lore.activation import activate
from agentui.lore.given import LoreInput, LoreMessage, LoreSettings
from agentui.memories.revisions import NO_SESSION
from agentui.store.base import Store
from agentui.store.prepared import Prepared
from agentui.store.tables import memory_items, memory_revisions
from agentui.threads import in_thread

MOST_KEPT: Final = 64
"""Chats whose keys are kept."""
MOST_ITEMS: Final = 100_000
"""Memories with keys of all that is kept; the newest chat is kept in any case."""
MOST_HITS: Final = 60
"""Memories that keys bring up at once: of more the newest, for a key that so many have says little."""
_AT_ONCE: Final = 1000
"""Items that one statement reads."""
_ENTRY: Final = "entry"


class KeyHit(NamedTuple):
    """A memory that a key brought up."""

    item_id: str
    key: str


@dataclass(frozen=True, slots=True)
class _Block:
    """Some memories with their keys, in the order in which they were written, as a lorebook."""

    items: Sequence[tuple[str, Sequence[str]]]
    book: BoundBook


class _Stamp(NamedTuple):
    """How far memories had come: the writes, and the last that changed something, of the chat's and of the global ones."""

    revision: tuple[int, int]
    rewritten: tuple[int, int]


class _Kept(NamedTuple):
    stamp: _Stamp
    blocks: Sequence[_Block]

    @property
    def size(self) -> int:
        return sum(len(block.items) for block in self.blocks)


class _Read(NamedTuple):
    stamp: _Stamp
    is_new: bool
    items: Sequence[tuple[str, Sequence[str]]]


class Keyed:
    """The keys of memories, by chat. Many may ask at once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[tuple[str, str], _Kept] = OrderedDict()

    async def said(self, account: str, session_id: str, lines: Sequence[str]) -> Sequence[KeyHit]:
        """The memories of a chat and of none whose keys these lines say, the newest first, seen or not, each with the first key
        that matched. The newest line stands last. Raises the store's errors."""
        key = account, session_id
        kept = self._kept.get(key, _Kept(_Stamp((0, 0), (0, 0)), ()))
        read = await self._store.read(_read, account, session_id, kept.stamp)
        if read.stamp != kept.stamp:
            kept = _Kept(read.stamp, await in_thread(partial(_joined, kept.blocks if read.is_new else (), read.items)))
            self._kept[key] = kept
        if not kept.blocks:
            return ()
        self._kept.move_to_end(key)
        size = sum(each.size for each in self._kept.values())
        while len(self._kept) > 1 and (len(self._kept) > MOST_KEPT or size > MOST_ITEMS):
            size -= self._kept.popitem(last=False)[1].size
        return await in_thread(partial(_hits, kept.blocks, lines))


def _read(db: Connection, account: str, session_id: str, known: _Stamp) -> _Read:
    """The memories with keys that came since ``known``; all of them where one that was there has changed."""
    numbers = {row[0]: row[1:] for row in _REVISIONS.all(db, {"account": account, "session": session_id})}
    own, common = (numbers.get(of, (0, 0)) for of in (session_id, NO_SESSION))
    stamp = _Stamp((own[0], common[0]), (own[1], common[1]))
    if stamp == known:
        return _Read(stamp, True, ())
    is_new = all(changed <= read for changed, read in zip(stamp.rewritten, known.revision, strict=True))
    since = known.revision if is_new else (0, 0)
    items = [item for of, after in zip((session_id, None), since, strict=True) for item in _keyed(db, account, of, after)]
    return _Read(stamp, is_new, items)


_REVISIONS = Prepared(
    select(memory_revisions.c.session_id, memory_revisions.c.revision, memory_revisions.c.rewritten).where(
        memory_revisions.c.account_id == bindparam("account"),
        (memory_revisions.c.session_id == bindparam("session")) | (memory_revisions.c.session_id == NO_SESSION),
    )
)


def _reading(*, is_of_session: bool) -> Prepared:
    columns = memory_items.c
    own = columns.session_id == bindparam("session", type_=String) if is_of_session else columns.session_id.is_(None)
    later = tuple_(columns.revision, columns.id) > tuple_(
        bindparam("revision", type_=BigInteger), bindparam("after", type_=String)
    )
    return Prepared(
        select(columns.id, columns.keys_json, columns.revision)
        .where(columns.account_id == bindparam("account", type_=String), own, later, columns.keys_json != "[]")
        .order_by(columns.revision, columns.id)
        .limit(bindparam("most", type_=Integer))
    )


_KEYED: Final = {True: _reading(is_of_session=True), False: _reading(is_of_session=False)}
_LAST_ID: Final = "\x7f"
"""Behind all ids."""


def _keyed(db: Connection, account: str, session_id: str | None, revision: int) -> Iterator[tuple[str, Sequence[str]]]:
    """The memories with keys of a chat, or of none, written after a revision, in the order in which they were written."""
    values = {"account": account, "revision": revision, "after": _LAST_ID, "most": _AT_ONCE}
    if session_id is not None:
        values["session"] = session_id
    while True:
        rows = _KEYED[session_id is not None].all(db, values)
        for id, keys, _ in rows:
            yield id, loads(keys)
        if len(rows) < _AT_ONCE:
            return
        values |= {"revision": rows[-1][2], "after": rows[-1][0]}


def _joined(blocks: Sequence[_Block], new: Sequence[tuple[str, Sequence[str]]]) -> Sequence[_Block]:
    """The blocks with more memories. A block joins the one behind it that is as large, so that each memory is compiled a few
    times alone, however many come one by one."""
    if not new:
        return blocks
    kept, last = list(blocks), list(new)
    while kept and len(kept[-1].items) <= len(last):
        last = [*kept.pop().items, *last]
    entries = {str(at): {"uid": at, "key": list(keys), "content": _ENTRY} for at, (_, keys) in enumerate(last)}
    return [*kept, _Block(last, BoundBook(Lorebook.of({"name": "memories", "entries": entries})))]


def _hits(blocks: Sequence[_Block], lines: Sequence[str]) -> list[KeyHit]:
    said = [LoreMessage(line) for line in lines if line]
    hits: list[KeyHit] = []
    for block in reversed(blocks):
        given = LoreInput([block.book], _settings(len(said)), said, max_context=10**9)
        found: Mapping[int, str] = {
            int(one.entry.uid): one.match.key for one in activate(given).activated if one.match is not None
        }
        hits += [KeyHit(block.items[at][0], found[at]) for at in sorted(found, reverse=True)]
    return hits[:MOST_HITS]


def _settings(depth: int) -> LoreSettings:
    return LoreSettings(depth=depth, budget=100, is_whole_words=True)
