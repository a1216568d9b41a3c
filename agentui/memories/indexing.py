"""``ChatIndexing``: puts chats into the index of words when somebody first wants to be reminded of them.

A chat without a space in the index gets one, and a job that puts in what was said before, in parts, between which others write;
a process that dies leaves it where it was. From then on each recall puts in what the newest turns said.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Final

from sqlalchemy import Connection, bindparam, or_, select

from agentui.ids import Clock, SystemClock
from agentui.jobs.queue import add
from agentui.jobs.runner import JobRunner
from agentui.jsonio import Json
from agentui.search.index import fill, find_space, index_floors, open_space, reopen_space
from agentui.store.base import Store
from agentui.store.prepared import OneOf, Prepared, texts
from agentui.store.tables import messages, pages, search_texts

KIND: Final = "memories.index"
_NEWEST: Final = 8
"""Floors at the end of a path that are looked at; where the first of them is missing, others before it may be."""


class ChatIndexing:
    """Keeps chats in the index of words; ``jobs`` runs what takes long."""

    def __init__(self, store: Store, jobs: JobRunner, clock: Clock | None = None) -> None:
        self._store = store
        self._jobs = jobs
        self._clock = clock or SystemClock()
        jobs.handle(KIND, self._fill)

    async def begin(self, account: str, session_id: str) -> None:
        """Give a chat its place in the index, and have a job put in what it held before. Raises the store's errors."""
        await self._store.write(_begin, account, session_id, self._clock.now_ms())
        self._jobs.look()

    async def put_in(self, account: str, session_id: str, missing: "Missing") -> None:
        """Put in what the newest floors of a path said. Raises the store's errors."""
        if missing.floor_ids:
            await self._store.write(_put_in, account, session_id, missing.floor_ids)
        if missing.is_more:
            await self.begin(account, session_id)

    async def _fill(self, payload: Json) -> None:
        while await self._store.write(fill, payload["account"], payload["session"]):
            pass


class Missing:
    """What a path says and the index does not hold: floors among its newest, and whether there may be more."""

    def __init__(self, floor_ids: Sequence[str] = (), *, is_more: bool = False) -> None:
        self.floor_ids = floor_ids
        self.is_more = is_more


def missing_of(db: Connection, account: str, session_id: str, path: dict[str, int]) -> Missing:
    """What the index does not hold of a path, as far as its newest floors show it."""
    space = find_space(db, account, session_id)
    if space is None:
        return Missing(is_more=bool(path))
    newest = list(islice(reversed(path), _NEWEST))
    found = {row[0] for row in _MISSING.all(db, {"account": account, "ids": texts(newest)})} if newest else set()
    is_more = space.filled_to is None and len(newest) == _NEWEST and newest[-1] in found
    return Missing([id for id in newest if id in found], is_more=is_more)


_MISSING = Prepared(
    select(pages.c.floor_id)
    .join(messages, messages.c.page_id == pages.c.id)
    .outerjoin(search_texts, search_texts.c.message_id == messages.c.id)
    .where(OneOf(pages.c.floor_id, "ids"), messages.c.account_id == bindparam("account"), search_texts.c.id.is_(None))
    .where(or_(messages.c.role == "user", messages.c.role == "assistant"))
    .distinct()
)


def _begin(db: Connection, account: str, session_id: str, now: int) -> None:
    reopen_space(db, account, open_space(db, account, session_id))
    add(db, KIND, {"account": account, "session": session_id}, now, id=f"{KIND}:{session_id}")


def _put_in(db: Connection, account: str, session_id: str, floor_ids: Sequence[str]) -> None:
    space = find_space(db, account, session_id)
    if space is not None:
        index_floors(db, account, space, floor_ids)
