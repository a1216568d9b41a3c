"""A turn while it happens: what ties a pipeline's run to a chat.

    turns = TurnService(store, ...)
    turn = await turns.begin("my chat", None, run_id, user)          floor open, branch locked, tiers read
    ... the run reads and stages through turn.staged() ...
    await turn.commit(answer, tokens_in, tokens_out)                  answer, variables and floor in one transaction
    await turn.fail(error)                                            or: a failed floor, and no variable

The branch's lock is a row (turns/locks.py); the service renews it while the turn lives. Branches of processes that died are
freed by turns/recovery.py, which also keeps the failures that the store cannot take at once.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection

from agentui.chats.codes import failure
from agentui.chats.parts import Content, tidy_blobs
from agentui.chats.records import MAIN
from agentui.chats.rows import has_branch
from agentui.errors import AgentUIError, ApiError, Busy, StoreReadOnly
from agentui.ids import SystemClock
from agentui.jobs.runner import JobRunner
from agentui.jsonio import Json
from agentui.store.base import Store
from agentui.store.tables import DEFAULT_ACCOUNT
from agentui.turns.locks import BranchQueue, Owner, extend_lock
from agentui.turns.recovery import FailedTurn, FailedTurns, Recovery, TurnPlace, fail_all
from agentui.turns.repeats import Claim, Saved, answer_to, attach, hold, keep, once, tidy
from agentui.turns.transactions import commit_floor, join_session, open_floor, session_called
from agentui.variables.resolve import Layers, load_global, load_layers
from agentui.variables.scopes import Scope
from agentui.variables.snapshots import save_snapshot_of
from agentui.variables.staging import Staged, Write, commit_staged

LEASE_SECONDS = 30.0
NEVER_MS = 2**53
"""Milliseconds since 1970 that no clock shows."""
TIDY_SECONDS = 60.0
"""Between two looks at the answers that are kept for requests with a key."""
TIDY_BLOBS_SECONDS = 3600.0
"""Between two looks for media that no message needs any more; they are kept for as long at least."""
SWEEP_SECONDS = 5.0
"""Between two looks for turns of dead processes that nobody waits for, where others share the database."""
SHARED_AGE_SECONDS = 1.0

_GLOBAL_ONLY: tuple[Scope, ...] = ("global",)
_LEFT: Mapping[str, Json] = {"code": "cancelled", "message": "The caller left."}

P = ParamSpec("P")
T = TypeVar("T")

now_ms = SystemClock().now_ms
"""Wall-clock milliseconds since 1970."""


class Turn:
    """One turn of a chat; the run's memory. Exactly one of ``commit`` and ``fail`` ends it."""

    def __init__(self, service: "TurnService", place: TurnPlace, layers: Layers, run_id: str, claim: Claim | None) -> None:
        self.place = place
        self._claim = claim
        self._service = service
        self._run_id = run_id
        self._staged = Staged(layers, now=now_ms)
        self._is_over = False
        self._store_is_away = False
        self._renewal = self._renew_later()

    def staged(self) -> Staged:
        """The buffer that the run reads and writes."""
        return self._staged

    async def commit(self, answer: Content, tokens_in: int, tokens_out: int, saved: Saved | None = None) -> None:
        """Make the turn durable: the answer, every variable, the snapshot and the floor, or nothing of it. With them goes
        ``saved``, which is what the caller gets, where the request had a key.

        Raises ApiError ``variable_conflict`` when somebody changed a variable that this run read and writes,
        ``commit_conflict`` when the floor was taken away, and the store's errors. All leave the rest to ``fail``.
        """
        writes = self._staged.writes()
        kept = None if self._claim is None or saved is None else (self._claim, saved)
        try:
            await self._service.store.write(
                _commit, self.place, self._run_id, writes, answer, tokens_in, tokens_out, now_ms(), kept
            )
        except (Busy, StoreReadOnly):
            self._store_is_away = True
            raise
        self._end()
        self._service.queue.freed(self.place.session_id, self.place.branch_id)

    async def fail(self, error: Mapping[str, Json], *, cancelled: bool = False) -> None:
        """Leave a failed floor and free the branch; nothing that was staged is kept. Does nothing after a commit.

        Where the store cannot take it now it is recorded later, and nobody waits: a caller has waited for the commit already.
        """
        if self._is_over:
            return
        self._end()
        failed = FailedTurn(self.place, dict(error), cancelled)
        await self._service.failed.record(failed, at_once=not self._store_is_away)

    def _end(self) -> None:
        self._is_over = True
        self._renewal.cancel()

    def _renew_later(self) -> asyncio.TimerHandle:
        """Keep the branch's lock alive while the turn lasts. Most turns end before the first time, so no task waits for it."""
        service = self._service
        return asyncio.get_running_loop().call_later(service.lease_seconds / 3, lambda: service.in_background(self._renew()))

    async def _renew(self) -> None:
        now, service = now_ms(), self._service
        # The lease outlives a missed renewal; a store that is gone for longer fails the commit, which says so.
        with suppress(AgentUIError):
            floor_id = self.place.floor.floor_id
            await service.store.write(extend_lock, DEFAULT_ACCOUNT, floor_id, service.owner_at(now), now)
        if not self._is_over:
            self._renewal = self._renew_later()


class TurnService:
    """Opens turns on one store, and registers its background work with ``jobs``.

    ``owner`` names this process in the branches' locks. ``queue_seconds`` is how long a turn waits for its branch; 0
    refuses at once. ``is_alone`` says that no other process writes to the store. ``lease_seconds`` is how long a branch
    stays locked when this process dies and nobody notices. ``answer_seconds`` is how long the answers to requests with a key
    are kept, ``answer_bytes`` how much of them.
    """

    def __init__(
        self,
        store: Store,
        jobs: JobRunner,
        owner: str,
        *,
        queue_seconds: float,
        is_alone: bool,
        lease_seconds: float = LEASE_SECONDS,
        answer_seconds: float = 86_400.0,
        answer_bytes: int = 256 * 1024 * 1024,
    ) -> None:
        self.store = store
        self.lease_seconds = lease_seconds
        self.queue = BranchQueue()
        self.failed = FailedTurns(store, self.queue)
        self.recovery = Recovery(store, owner, is_alone=is_alone)
        self._owner = owner
        self._is_alone = is_alone
        self._answer_seconds = answer_seconds
        self._answer_bytes = answer_bytes
        self._queue_seconds = queue_seconds
        self._background: set[asyncio.Task[None]] = set()
        self._global: tuple[float, int, Layers] | None = None
        jobs.handle("turns.tidy_answers", self._tidy_answers, every_seconds=TIDY_SECONDS)
        jobs.handle("chats.tidy_blobs", self._tidy_blobs, every_seconds=TIDY_BLOBS_SECONDS)
        if not is_alone:
            jobs.handle("turns.recover", self.recovery.sweep, every_seconds=min(SWEEP_SECONDS, lease_seconds))

    async def answered(self, claim: Claim) -> Saved | None:
        """What was answered to this request; None where it was not. Raises ApiError ``idempotency_in_progress``,
        ``idempotency_key_reused`` and ``idempotency_answer_gone``, and the store's errors."""
        return await self._unless_dead(
            lambda: self.store.read(answer_to, DEFAULT_ACCOUNT, claim, self._owner, now_ms()), "idempotency_in_progress"
        )

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
        user: Content | None,
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
        wanted = _Opening(session, branch, run_id, user, names, claim)
        if self._queue_seconds <= 0:
            return await self._open(wanted)
        deadline = asyncio.get_running_loop().time() + self._queue_seconds
        try:
            async with self.queue.first(session, branch, deadline):
                return await self._open_when_free(wanted, deadline)
        except TimeoutError as error:
            raise failure(
                "generation_queue_timeout",
                f"The branch was still generating another turn after {self._queue_seconds:g} seconds. Try again.",
                retry_after=1,
            ) from error

    def owner_at(self, now: int) -> Owner:
        """How this process signs a lock of a turn that is under way at ``now``. Where nobody else could find it dead the lock
        never runs out, so that a clock that jumps kills no turn."""
        expires_at = NEVER_MS if self._is_alone else now + round(self.lease_seconds * 1000)
        return Owner(self._owner, expires_at, self.store.lock_key)

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

    async def close(self) -> None:
        """End what is under way in the background. What could not be recorded is found by the next start."""
        await self.failed.close()
        await self.recovery.close()
        await asyncio.gather(*self._background, return_exceptions=True)

    def in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """Start what nobody waits for but ``close``."""
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _tidy_answers(self, _: Json) -> None:
        await self.store.write(tidy, now_ms(), round(self._answer_seconds * 1000), self._answer_bytes)

    async def _tidy_blobs(self, _: Json) -> None:
        await self.store.write(tidy_blobs, now_ms(), round(TIDY_BLOBS_SECONDS * 1000))

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

    async def _open_when_free(self, wanted: "_Opening", deadline: float) -> Turn:
        """Try until the branch is free. Raises TimeoutError where it is not by the deadline, on the loop's clock."""
        while True:
            try:
                return await self._open(wanted)
            except ApiError as error:
                if error.code != "generation_conflict":
                    raise
                key = str(error.details["session_id"]), str(error.details["branch_id"])
            async with asyncio.timeout_at(deadline):
                await self.queue.until_freed(*key)

    async def _unless_dead(self, work: Callable[[], Awaitable[T]], *codes: str) -> T:
        """Do something that may fail with one of ``codes`` because a turn is under way elsewhere; if that turn's process turns
        out to be dead, do it again."""
        while True:
            try:
                return await work()
            except ApiError as error:
                if error.code not in codes or not await self.recovery.bury_dead():
                    raise

    async def _open(self, wanted: "_Opening") -> Turn:
        """Open a turn. Who leaves meanwhile leaves a failed floor, for a transaction on its way is not stopped."""
        await self.store.start()
        return await self._unless_dead(lambda: self._open_once(wanted), "generation_conflict", "idempotency_in_progress")

    async def _open_once(self, wanted: "_Opening") -> Turn:
        now, unrecorded = now_ms(), self.failed.unrecorded
        opening = self.store.start_write(_open, wanted, self.owner_at(now), now, unrecorded)
        try:
            place, layers = await asyncio.shield(opening)
        except asyncio.CancelledError:
            self.in_background(self._end_unwanted(opening, unrecorded))
            raise
        self.failed.were_recorded(unrecorded)
        return Turn(self, place, layers, wanted.run_id, wanted.claim)

    async def _end_unwanted(
        self, opening: "asyncio.Future[tuple[TurnPlace, Layers]]", unrecorded: Sequence[FailedTurn]
    ) -> None:
        """Let a turn fail that is opened for somebody who has left; where opening failed there is nothing to end."""
        await asyncio.wait([opening])
        if not opening.cancelled() and opening.exception() is None:
            self.failed.were_recorded(unrecorded)
            place, _ = opening.result()
            await self.failed.record(FailedTurn(place, _LEFT, is_cancelled=True))


@dataclass(frozen=True, slots=True)
class _Opening:
    """A turn that is to be opened (``TurnService.begin``)."""

    session: str
    branch: str | None
    run_id: str
    user: Content | None
    names: Set[str] | None
    claim: Claim | None


def _open(
    db: Connection, wanted: _Opening, owner: Owner, now: int, unrecorded: Sequence[FailedTurn]
) -> tuple[TurnPlace, Layers]:
    """Join, open and read in one transaction, so that the tiers are those at the moment the branch was locked."""
    claim = wanted.claim
    if claim is not None:
        hold(db, DEFAULT_ACCOUNT, claim, owner.id, now)
    fail_all(db, unrecorded, now)
    joined = join_session(db, DEFAULT_ACCOUNT, wanted.session, wanted.branch, now)
    floor = open_floor(db, DEFAULT_ACCOUNT, joined.session_id, joined.branch_id, wanted.run_id, owner, wanted.user, now)
    if claim is not None:
        attach(db, DEFAULT_ACCOUNT, claim, floor.floor_id)
    # Nobody but this transaction knows the floor and its page: they have no variables yet.
    layers = load_layers(db, DEFAULT_ACCOUNT, joined.session_id, joined.branch_id, None, None, wanted.names)
    return TurnPlace(joined.session_id, joined.branch_id, floor), {**layers, "floor": {}, "page": {}}


def _look(db: Connection, session: str, branch: str | None) -> Layers:
    session_id = session_called(db, DEFAULT_ACCOUNT, session)
    if session_id is None:
        return load_global(db, DEFAULT_ACCOUNT)
    is_known = branch is not None and has_branch(db, DEFAULT_ACCOUNT, session_id, branch)
    return load_layers(db, DEFAULT_ACCOUNT, session_id, branch if is_known else MAIN, None, None)


def _commit(
    db: Connection,
    place: TurnPlace,
    run_id: str,
    writes: tuple[Write, ...],
    answer: Content,
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
