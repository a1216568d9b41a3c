"""A turn while it happens: what ties a pipeline's run to a chat.

    desk = TurnService(store, ...)
    turn = await desk.begin("my chat", None, run_id, user_text)     floor open, branch locked, tiers read
    ... the run reads and stages through turn.staged() ...
    await turn.commit(answer, tokens_in, tokens_out)                 answer, variables and floor in one transaction
    await turn.fail(error)                                           or: a failed floor, and no variable

The branch's lock is a row with an expiry; the desk renews it while the turn lives, so that a process that dies frees its
branches by itself. A failure that the store cannot take is kept and told again: in the background, and before the next turn.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence, Set
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection

from agentui.chats.codes import failure
from agentui.chats.hosts import has_branch
from agentui.chats.records import MAIN
from agentui.errors import AgentUIError, ApiError, Busy, StoreReadOnly
from agentui.jsonio import Json
from agentui.store.base import Store
from agentui.store.tables import DEFAULT_ACCOUNT
from agentui.turns.claims import answer_to, attach, hold, keep, once, tidy
from agentui.turns.repeats import Claim, Saved
from agentui.turns.transactions import (
    OpenedFloor,
    commit_floor,
    extend_generation,
    fail_floor,
    join_session,
    open_floor,
    recover,
    session_called,
)
from agentui.variables.resolve import Layers, load_global, load_layers
from agentui.variables.scopes import Scope
from agentui.variables.snapshots import save_snapshot_of
from agentui.variables.staging import Staged, Write, commit_staged

LEASE_SECONDS = 30.0
NEVER_MS = 2**53
"""Milliseconds since 1970 that no clock shows."""
POLL_SECONDS = 0.05
"""Between two looks at a branch that another process may free."""
RETRY_SECONDS = 1.0
TIDY_SECONDS = 60.0
"""Between two looks at the answers that are kept for requests with a key."""
SHARED_AGE_SECONDS = 1.0

_GLOBAL_ONLY: tuple[Scope, ...] = ("global",)
_LEFT: Mapping[str, Json] = {"code": "cancelled", "message": "The caller left."}

P = ParamSpec("P")
T = TypeVar("T")

log = logging.getLogger("agentui.chats")


def now_ms() -> int:
    """Wall-clock milliseconds since 1970."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class Place:
    """Where a turn happens."""

    session_id: str
    branch_id: str
    floor: OpenedFloor


@dataclass(frozen=True, slots=True)
class Lost:
    """A turn that failed: its place, and why."""

    place: Place
    error: Mapping[str, Json]
    is_cancelled: bool


class Turn:
    """One turn of a chat; the run's memory. Exactly one of ``commit`` and ``fail`` ends it."""

    def __init__(self, desk: "TurnService", place: Place, layers: Layers, run_id: str, claim: Claim | None) -> None:
        self.place = place
        self._claim = claim
        self._desk = desk
        self._run_id = run_id
        self._staged = Staged(layers, now=now_ms)
        self._is_over = False
        self._store_is_away = False
        self._renewal = self._renew_later()

    def staged(self) -> Staged:
        """The buffer that the run reads and writes."""
        return self._staged

    async def commit(self, answer: str, tokens_in: int, tokens_out: int, saved: Saved | None = None) -> None:
        """Make the turn durable: the answer, every variable, the snapshot and the floor, or nothing of it. With them goes
        ``saved``, which is what the caller gets, where the request had a key.

        Raises ApiError ``variable_conflict`` when somebody changed a variable that this run read and writes,
        ``commit_conflict`` when the floor was taken away, and the store's errors. All leave the rest to ``fail``.
        """
        writes = self._staged.writes()
        kept = None if self._claim is None or saved is None else (self._claim, saved)
        try:
            await self._desk.store.write(
                _commit, self.place, self._run_id, writes, answer, tokens_in, tokens_out, now_ms(), kept
            )
        except (Busy, StoreReadOnly):
            self._store_is_away = True
            raise
        self._end()
        self._desk.freed(self.place)

    async def fail(self, error: Mapping[str, Json], *, cancelled: bool = False) -> None:
        """Leave a failed floor and free the branch; nothing that was staged is kept. Does nothing after a commit.

        Where the store cannot take it now it is told later, and nobody waits: a caller has waited for the commit already.
        """
        if self._is_over:
            return
        self._end()
        await self._desk.lose(Lost(self.place, dict(error), cancelled), at_once=not self._store_is_away)

    def _end(self) -> None:
        self._is_over = True
        self._renewal.cancel()

    def _renew_later(self) -> asyncio.TimerHandle:
        """Keep the branch's lock alive while the turn lasts. Most turns end before the first time, so no task waits for it."""
        desk = self._desk
        return asyncio.get_running_loop().call_later(desk.lease_seconds / 3, lambda: desk.in_background(self._renew()))

    async def _renew(self) -> None:
        now, desk = now_ms(), self._desk
        expires_at = desk.expiry(now)
        # The lease outlives a missed renewal; a store that is gone for longer fails the commit, which says so.
        with suppress(AgentUIError):
            await desk.store.write(extend_generation, DEFAULT_ACCOUNT, self.place.floor.floor_id, desk.owner, now, expires_at)
        if not self._is_over:
            self._renewal = self._renew_later()


class TurnService:
    """Opens turns on one store.

    ``owner`` names this process in the branches' locks. ``queue_seconds`` is how long a turn waits for its branch; 0
    refuses at once. ``is_alone`` says that no other process writes to the store. ``lease_seconds`` is how long a branch
    stays locked when this process dies (unless it was alone: then its locks die with it). ``answer_seconds`` is how long the
    answers to requests with a key are kept, ``answer_bytes`` how much of them.
    """

    def __init__(
        self,
        store: Store,
        owner: str,
        *,
        queue_seconds: float,
        is_alone: bool,
        lease_seconds: float = LEASE_SECONDS,
        answer_seconds: float = 86_400.0,
        answer_bytes: int = 256 * 1024 * 1024,
    ) -> None:
        self.store = store
        self.owner = owner
        self.lease_seconds = lease_seconds
        self._is_alone = is_alone
        self._answer_seconds = answer_seconds
        self._answer_bytes = answer_bytes
        self._queue_seconds = queue_seconds
        self._lines: dict[tuple[str, str | None], _Line] = {}
        self._ends: dict[tuple[str, str], asyncio.Event] = {}
        self._lost: dict[str, Lost] = {}
        self._chores: set[asyncio.Task[None]] = set()
        self._retrying: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._tidying: asyncio.Task[None] | None = None
        self._global: tuple[float, int, Layers] | None = None
        self._is_closed = False
        store.at_open(_recover_now, owner)

    def start(self) -> None:
        """Begin to forget old answers and, where others share the database, to look for dead turns, once the store is open."""
        self._tidying = self.in_background(self._keep_tidy())
        if not self._is_alone:
            self._watching = self.in_background(self._keep_recovering())

    async def answered(self, claim: Claim) -> Saved | None:
        """What was answered to this request; None where it was not. Raises ApiError ``idempotency_in_progress``,
        ``idempotency_key_reused`` and ``idempotency_answer_gone``, and the store's errors."""
        return await self.store.read(answer_to, DEFAULT_ACCOUNT, claim, self.owner, now_ms())

    async def once(
        self,
        claim: Claim,
        show: Callable[[T], Saved],
        transaction: Callable[Concatenate[Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> tuple[Saved, bool]:
        """Do a write that a request with a key asks for, together with its answer, or find what was answered; True when it
        was. Raises as ``answered`` does, and what the transaction raises."""
        return await self.store.write(once, DEFAULT_ACCOUNT, claim, now_ms(), show, transaction, *args, **kwargs)

    async def begin(
        self,
        session: str,
        branch: str | None,
        run_id: str,
        user_text: str | None,
        names: Set[str] | None = None,
        claim: Claim | None = None,
    ) -> Turn:
        """Open a floor in the session of this id or name (a new name makes a session) and read its tiers.

        ``names`` are the variables that the turn may read or write, by the beginning of their names (``load_layers``);
        what it does not name it must not touch. None reads all. A ``claim`` is taken together with the floor.

        Raises ApiError ``generation_conflict`` when the branch generates already, ``generation_queue_timeout`` when it
        still does after the wait, ``session_archived``, ``validation_error``; for a claim that somebody has
        ``idempotency_in_progress`` and ``idempotency_key_reused``; and the store's errors.
        """
        wanted = _Wanted(session, branch, run_id, user_text, names, claim)
        if self._queue_seconds <= 0:
            return await self._open(wanted)
        deadline = asyncio.get_running_loop().time() + self._queue_seconds
        try:
            async with self._in_line((session, branch), deadline):
                return await self._open_when_free(wanted, deadline)
        except TimeoutError as error:
            raise failure(
                "generation_queue_timeout",
                f"The branch was still generating another turn after {self._queue_seconds:g} seconds. Try again.",
                retry_after=1,
            ) from error

    def expiry(self, now: int) -> int:
        """When the lock of a turn runs out that is under way at ``now``. Where nobody else could find it dead it never does,
        so that a clock that jumps kills no turn."""
        return NEVER_MS if self._is_alone else now + round(self.lease_seconds * 1000)

    async def look(self, session: str, branch: str | None) -> Staged:
        """A buffer over what a turn would see here, for a request that is none; what it stages goes nowhere.

        Nothing is made: a session that is not there yet shows the global variables, a new branch those of main.
        """
        return Staged(await self.store.read(_look, session, branch), now=now_ms)

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

    async def lose(self, lost: Lost, *, at_once: bool = True) -> None:
        """Record a failed turn: now, or as soon as the store can. After ``close`` the next start finds it."""
        if self._is_closed:
            return
        if at_once:
            try:
                await self.store.write(_fail_all, (lost,), now_ms())
            except AgentUIError as error:
                log.warning("A failed turn is recorded later: %s", error.message)
            else:
                self.freed(lost.place)
                return
        self._lost[lost.place.floor.floor_id] = lost
        if self._retrying is None or self._retrying.done():
            self._retrying = self.in_background(self._record_until_done())

    def freed(self, place: Place) -> None:
        """Wake who waits for this branch."""
        event = self._ends.pop((place.session_id, place.branch_id), None)
        if event is not None:
            event.set()

    async def close(self) -> None:
        """End what is under way in the background. What could not be recorded is found by the next start."""
        self._is_closed = True
        for task in (self._retrying, self._watching, self._tidying):
            if task is not None:
                task.cancel()
        await asyncio.gather(*self._chores, return_exceptions=True)

    async def _record_until_done(self) -> None:
        while self._lost:
            every = tuple(self._lost.values())
            try:
                await self.store.write(_fail_all, every, now_ms())
            except AgentUIError:
                await asyncio.sleep(RETRY_SECONDS)
            else:
                self._were_recorded(every)

    def _were_recorded(self, every: Sequence[Lost]) -> None:
        for lost in every:
            self._lost.pop(lost.place.floor.floor_id, None)
            self.freed(lost.place)

    async def _keep_recovering(self) -> None:
        await self.store.opened.wait()
        while True:
            await asyncio.sleep(self.lease_seconds)
            try:
                await self.store.write(recover, self.owner, now_ms())
            except AgentUIError as error:
                log.warning("Turns of dead processes are looked for later: %s", error.message)

    async def _keep_tidy(self) -> None:
        await self.store.opened.wait()
        while True:
            await asyncio.sleep(TIDY_SECONDS)
            try:
                await self.store.write(tidy, now_ms(), round(self._answer_seconds * 1000), self._answer_bytes)
            except AgentUIError as error:
                log.warning("Old answers are forgotten later: %s", error.message)

    def in_background(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Start what nobody waits for but ``close``."""
        chore = asyncio.get_running_loop().create_task(work)
        self._chores.add(chore)
        chore.add_done_callback(self._chores.discard)
        return chore

    async def _global_layers(self) -> Layers:
        kept = self._global
        if kept is not None:
            since, writes, layers = kept
            if writes == self.store.writes and (self._is_alone or time.monotonic() - since < SHARED_AGE_SECONDS):
                return layers
        await self.store.start()  # opening writes, too: it looks for what dead processes left behind
        writes = self.store.writes
        layers = await self.store.read(load_global, DEFAULT_ACCOUNT)
        self._global = (time.monotonic(), writes, layers)
        return layers

    async def _open_when_free(self, wanted: "_Wanted", deadline: float) -> Turn:
        """Try until the branch is free. Raises TimeoutError where it is not by the deadline, on the loop's clock."""
        while True:
            try:
                return await self._open(wanted)
            except ApiError as error:
                if error.code != "generation_conflict":
                    raise
                key = str(error.details["session_id"]), str(error.details["branch_id"])
            async with asyncio.timeout_at(deadline):
                await self._until_freed(key)

    async def _until_freed(self, key: tuple[str, str]) -> None:
        """Wait for the end of the branch's turn. Another process may have it, so the wait is short."""
        event = self._ends.setdefault(key, asyncio.Event())
        try:
            async with asyncio.timeout(POLL_SECONDS):
                await event.wait()
        except TimeoutError:
            return
        finally:
            if self._ends.get(key) is event:
                del self._ends[key]

    async def _open(self, wanted: "_Wanted") -> Turn:
        """Open a turn. Who leaves meanwhile leaves a failed floor, for a transaction on its way is not stopped."""
        await self.store.start()
        now, lost = now_ms(), tuple(self._lost.values())
        opening = self.store.start_write(_open, wanted, self.owner, now, self.expiry(now), lost)
        try:
            place, layers = await asyncio.shield(opening)
        except asyncio.CancelledError:
            self.in_background(self._end_unwanted(opening, lost))
            raise
        self._were_recorded(lost)
        return Turn(self, place, layers, wanted.run_id, wanted.claim)

    async def _end_unwanted(self, opening: "asyncio.Future[tuple[Place, Layers]]", lost: Sequence[Lost]) -> None:
        """Let a turn fail that is opened for somebody who has left; where opening failed there is nothing to end."""
        await asyncio.wait([opening])
        if not opening.cancelled() and opening.exception() is None:
            self._were_recorded(lost)
            place, _ = opening.result()
            await self.lose(Lost(place, _LEFT, is_cancelled=True))

    @asynccontextmanager
    async def _in_line(self, key: tuple[str, str | None], deadline: float) -> AsyncIterator[None]:
        """Wait behind the turns of this process that came earlier for the same branch. Raises TimeoutError."""
        line = self._lines.setdefault(key, _Line())
        line.length += 1
        try:
            async with asyncio.timeout_at(deadline):
                await line.lock.acquire()
            try:
                yield
            finally:
                line.lock.release()
        finally:
            line.length -= 1
            if line.length == 0:
                del self._lines[key]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A turn that is to be opened (``TurnService.begin``)."""

    session: str
    branch: str | None
    run_id: str
    user_text: str | None
    names: Set[str] | None
    claim: Claim | None


@dataclass(slots=True, eq=False)
class _Line:
    """Those who wait for one branch, in their order."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    length: int = 0


def _open(db: Connection, wanted: _Wanted, owner: str, now: int, expires_at: int, lost: Sequence[Lost]) -> tuple[Place, Layers]:
    """Join, open and read in one transaction, so that the tiers are those at the moment the branch was locked."""
    claim = wanted.claim
    if claim is not None:
        hold(db, DEFAULT_ACCOUNT, claim, owner, now)
    _fail_all(db, lost, now)
    joined = join_session(db, DEFAULT_ACCOUNT, wanted.session, wanted.branch, now)
    floor = open_floor(
        db, DEFAULT_ACCOUNT, joined.session_id, joined.branch_id, wanted.run_id, owner, wanted.user_text, now, expires_at
    )
    if claim is not None:
        attach(db, DEFAULT_ACCOUNT, claim, floor.floor_id)
    # Nobody but this transaction knows the floor and its page: they have no variables yet.
    layers = load_layers(db, DEFAULT_ACCOUNT, joined.session_id, joined.branch_id, None, None, wanted.names)
    return Place(joined.session_id, joined.branch_id, floor), {**layers, "floor": {}, "page": {}}


def _recover_now(db: Connection, owner: str) -> None:
    """Let the turns fail that dead processes left behind."""
    recover(db, owner, now_ms())


def _look(db: Connection, session: str, branch: str | None) -> Layers:
    session_id = session_called(db, DEFAULT_ACCOUNT, session)
    if session_id is None:
        return load_global(db, DEFAULT_ACCOUNT)
    is_known = branch is not None and has_branch(db, DEFAULT_ACCOUNT, session_id, branch)
    return load_layers(db, DEFAULT_ACCOUNT, session_id, branch if is_known else MAIN, None, None)


def _fail_all(db: Connection, every: Sequence[Lost], now: int) -> None:
    """Record turns that failed. One whose floor is gone or over is no longer of interest."""
    for lost in every:
        fail_floor(db, DEFAULT_ACCOUNT, lost.place.floor.floor_id, dict(lost.error), now, cancelled=lost.is_cancelled)


def _commit(
    db: Connection,
    place: Place,
    run_id: str,
    writes: tuple[Write, ...],
    answer: str,
    tokens_in: int,
    tokens_out: int,
    now: int,
    kept: tuple[Claim, Saved] | None,
) -> None:
    """The whole turn, or nothing of it. The floor comes first: it is held from there on, and its session with it."""
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
        is_held=True,
    )
    save_snapshot_of(db, DEFAULT_ACCOUNT, floor.floor_id, place.session_id, place.branch_id, now)
    if kept is not None:
        keep(db, DEFAULT_ACCOUNT, *kept, now)
