"""A turn while it happens: what ties a pipeline's run to a chat.

    desk = TurnDesk(store, ...)
    turn = await desk.begin("my chat", None, run_id, user_text)     floor open, branch locked, tiers read
    ... the run reads and stages through turn.staged() ...
    await turn.commit(answer, tokens_in, tokens_out)                 answer, variables and floor in one transaction
    await turn.fail(error)                                           or: a failed floor, and no variable

The branch's lock is a row with an expiry; the desk renews it while the turn lives, so that a process that dies frees its
branches by itself.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from sqlalchemy import Connection

from agentui.errors import AgentUIError, ApiError
from agentui.jsonio import Json
from agentui.sessions.codes import failure
from agentui.sessions.turns import (
    OpenedFloor,
    commit_floor,
    extend_generation,
    fail_floor,
    join_session,
    open_floor,
)
from agentui.store.lazy import LazyStore
from agentui.store.tables import DEFAULT_ACCOUNT
from agentui.variables.resolve import Layers, load_global, load_layers
from agentui.variables.scopes import Scope
from agentui.variables.snapshots import save_branch_snapshot
from agentui.variables.staging import Staged, Write, commit_staged

LEASE_MS = 120_000
RENEW_SECONDS = 40.0
POLL_SECONDS = 0.05
SHARED_AGE_SECONDS = 1.0


_GLOBAL_ONLY: tuple[Scope, ...] = ("global",)


def now_ms() -> int:
    """Wall-clock milliseconds since 1970."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class Place:
    """Where a turn happens."""

    session_id: str
    branch_id: str
    floor: OpenedFloor


class Turn:
    """One turn of a chat; the run's memory. Exactly one of ``commit`` and ``fail`` ends it."""

    def __init__(self, desk: "TurnDesk", place: Place, layers: Layers, run_id: str) -> None:
        self.place = place
        self._desk = desk
        self._run_id = run_id
        self._staged = Staged(layers, now=now_ms)
        self._renewal = asyncio.get_running_loop().create_task(self._renew())
        self._is_over = False

    def staged(self) -> Staged:
        """The buffer that the run reads and writes."""
        return self._staged

    async def commit(self, answer: str, tokens_in: int, tokens_out: int) -> None:
        """Make the turn durable: the answer, every variable, the snapshot and the floor, or nothing of it.

        Raises ApiError ``variable_conflict`` when somebody changed a variable that this run read and writes, and
        ``commit_conflict`` when the floor was taken away; the floor has failed then. Other errors of the store leave it
        to ``fail``.
        """
        writes = self._staged.writes()
        await self._desk.store.write(_commit, self.place, self._run_id, writes, answer, tokens_in, tokens_out, now_ms())
        self._end()

    async def fail(self, error: Mapping[str, Json], *, cancelled: bool = False) -> None:
        """Leave a failed floor and free the branch; nothing that was staged is kept. Does nothing after a commit."""
        if self._is_over:
            return
        self._end()
        await self._desk.store.write(
            fail_floor, DEFAULT_ACCOUNT, self.place.floor.floor_id, dict(error), now_ms(), cancelled=cancelled
        )

    def _end(self) -> None:
        self._is_over = True
        self._renewal.cancel()

    async def _renew(self) -> None:
        """Keep the branch's lock alive while the turn lasts."""
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            now = now_ms()
            floor_id = self.place.floor.floor_id
            try:
                await self._desk.store.write(
                    extend_generation, DEFAULT_ACCOUNT, floor_id, self._desk.owner, now, now + LEASE_MS
                )
            except AgentUIError:
                # The lease outlives two missed renewals; a store that is gone for longer fails the commit, which says so.
                continue


class TurnDesk:
    """Opens turns on one store.

    ``owner`` names this process in the branches' locks. ``queue_seconds`` is how long a turn waits for its branch; 0
    refuses at once. ``is_alone`` says that no other process writes to the store.
    """

    def __init__(self, store: LazyStore, owner: str, *, queue_seconds: float, is_alone: bool) -> None:
        self.store = store
        self.owner = owner
        self._is_alone = is_alone
        self._queue_seconds = queue_seconds
        self._waiting: dict[tuple[str, str | None], asyncio.Lock] = {}
        self._global: tuple[float, int, Layers] | None = None

    async def begin(self, session: str, branch: str | None, run_id: str, user_text: str | None) -> Turn:
        """Open a floor in the session of this id or name (a new name makes a session) and read its tiers.

        Raises ApiError ``generation_conflict`` when the branch generates already, ``generation_queue_timeout`` when it
        still does after the wait, ``session_archived``, ``validation_error``.
        """
        if self._queue_seconds <= 0:
            return await self._open(session, branch, run_id, user_text)
        try:
            async with asyncio.timeout(self._queue_seconds), self._in_line((session, branch)):
                return await self._open_when_free(session, branch, run_id, user_text)
        except TimeoutError as error:
            raise failure(
                "generation_queue_timeout",
                f"The branch was still generating another turn after {self._queue_seconds:g} seconds. Try again.",
            ) from error

    async def shared(self) -> Staged:
        """A buffer over the global variables alone, for a run without a session.

        They are read once and kept until this process writes again (on PostgreSQL, where others write too, for a second).
        """
        return Staged(await self._global_layers(), writable=_GLOBAL_ONLY, now=now_ms)

    async def commit_shared(self, run_id: str, staged: Staged) -> None:
        """Make the global writes of a run without a session durable. Raises ApiError ``variable_conflict``."""
        writes = staged.writes()
        if writes:
            await self.store.write(commit_staged, DEFAULT_ACCOUNT, run_id, None, None, None, None, writes, now_ms())

    async def _global_layers(self) -> Layers:
        kept = self._global
        if kept is not None:
            since, writes, layers = kept
            if writes == self.store.writes and (self._is_alone or time.monotonic() - since < SHARED_AGE_SECONDS):
                return layers
        writes = self.store.writes
        layers = await self.store.read(load_global, DEFAULT_ACCOUNT)
        self._global = (time.monotonic(), writes, layers)
        return layers

    async def _open_when_free(self, session: str, branch: str | None, run_id: str, user_text: str | None) -> Turn:
        """Try until the branch is free; the caller's timeout ends it."""
        while True:
            try:
                return await self._open(session, branch, run_id, user_text)
            except ApiError as error:
                if error.code != "generation_conflict":
                    raise
            # Another process may hold the branch, so there is nothing here that could be awaited.
            await asyncio.sleep(POLL_SECONDS)

    async def _open(self, session: str, branch: str | None, run_id: str, user_text: str | None) -> Turn:
        now = now_ms()
        place, layers = await self.store.write(_open, session, branch, run_id, self.owner, user_text, now)
        return Turn(self, place, layers, run_id)

    @asynccontextmanager
    async def _in_line(self, key: tuple[str, str | None]) -> AsyncIterator[None]:
        """Wait behind the turns of this process that came earlier for the same branch."""
        lock = self._waiting.setdefault(key, asyncio.Lock())
        try:
            async with lock:
                yield
        finally:
            if not lock.locked():
                self._waiting.pop(key, None)


def _open(
    db: Connection, session: str, branch: str | None, run_id: str, owner: str, user_text: str | None, now: int
) -> tuple[Place, Layers]:
    """Join, open and read in one transaction, so that the tiers are those at the moment the branch was locked."""
    joined = join_session(db, DEFAULT_ACCOUNT, session, branch, now)
    floor = open_floor(db, DEFAULT_ACCOUNT, joined.session_id, joined.branch_id, run_id, owner, user_text, now, now + LEASE_MS)
    layers = load_layers(db, DEFAULT_ACCOUNT, joined.session_id, joined.branch_id, floor.floor_id, floor.output_page_id)
    return Place(joined.session_id, joined.branch_id, floor), layers


def _commit(
    db: Connection,
    place: Place,
    run_id: str,
    writes: tuple[Write, ...],
    answer: str,
    tokens_in: int,
    tokens_out: int,
    now: int,
) -> None:
    """The whole turn, or nothing of it."""
    floor = place.floor
    commit_floor(db, DEFAULT_ACCOUNT, floor.floor_id, answer, tokens_in, tokens_out, now, output_page_id=floor.output_page_id)
    commit_staged(
        db,
        DEFAULT_ACCOUNT,
        run_id,
        place.session_id,
        place.branch_id,
        floor.floor_id,
        floor.output_page_id,
        writes,
        now,
    )
    save_branch_snapshot(db, DEFAULT_ACCOUNT, floor.floor_id, now)
