"""A turn while it happens: what ties a pipeline's run to a chat.

    turns = TurnService(store, ...)
    turn = await turns.begin(TurnRequest(run_id, "my chat", user=said))   floor open, branch locked, tiers read
    ... the run reads and stages through turn.staged() ...
    await turn.commit(Outcome(answer))                          answer, variables and floor in one transaction
    await turn.fail(error)                                      or: a failed floor, and no variable

The branch's lock is a row (turns/locks.py); the service renews it while the turn lives. Branches of processes that died are
freed by turns/recovery.py, which also keeps the failures that the store cannot take at once.
"""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection

from agentui.chats.codes import failure
from agentui.chats.parts import Content, tidy_blobs
from agentui.chats.records import MAIN
from agentui.chats.rows import REMOVAL, has_branch, remove_part
from agentui.chats.state.reading import state_seen
from agentui.chats.working.journal import Loaded, asked_on, load_system
from agentui.errors import AgentUIError, ApiError, Busy, StoreReadOnly
from agentui.ids import SystemClock
from agentui.jobs.runner import JobRunner
from agentui.jsonio import Json
from agentui.memories.writing.modes import OFF, TurnMemories, WritingRules
from agentui.store.base import Store
from agentui.store.reserve import freeing
from agentui.tools.vars.kept import keep_message
from agentui.tools.vars.record import WorkingVariable
from agentui.tools.vars.system import VariableSystem
from agentui.tools.vars.working import WorkingVariables
from agentui.turns.ending import FailedTurn, commit_turn, was_kept
from agentui.turns.joining import session_called
from agentui.turns.locks import BranchQueue, Owner, extend_lock
from agentui.turns.opening import OpenedTurn, open_turn
from agentui.turns.placing.placed import AUTO
from agentui.turns.recovery import FailedTurns, Recovery
from agentui.turns.repeats import Claim, Saved, answer_to, once, tidy
from agentui.turns.request import Outcome, TurnPlace, TurnRequest
from agentui.turns.targets import TurnTarget, find_target
from agentui.turns.tool_calls import TurnCalls
from agentui.variables.committing import commit_staged
from agentui.variables.resolve import Layers, load_global, load_layers
from agentui.variables.scopes import Scope
from agentui.variables.staging import Staged

LEASE_SECONDS = 30.0
COMMIT_SECONDS = 30.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 2.0
"""Seconds between two tries to keep an answer; a store that is away refuses at once, a locked one has waited already."""
NEVER_MS = 2**53
"""Milliseconds since 1970 that no clock shows."""
TIDY_SECONDS = 60.0
"""Between two looks at the answers that are kept for requests with a key."""
TIDY_BLOBS_SECONDS = 3600.0
"""Between two looks for media that no message needs any more; they are kept for as long at least."""
SWEEP_SECONDS = 5.0
"""Between two looks for turns of dead processes that nobody waits for, where others share the database."""
SHARED_AGE_SECONDS = 1.0
MOST_SHARED = 1000
"""Accounts whose global variables are kept."""

_GLOBAL_ONLY: tuple[Scope, ...] = ("global",)
_LEFT: Mapping[str, Json] = {"code": "cancelled", "message": "The caller left."}

P = ParamSpec("P")
T = TypeVar("T")

now_ms = SystemClock().now_ms
"""Wall-clock milliseconds since 1970."""


class Turn:
    """One turn of a chat; the run's memory. Exactly one of ``commit`` and ``fail`` ends it.

    ``facts`` and ``past`` are what is known of the chat, where the request asked for its ``history``. ``calls`` hears of the
    calls of tools that its runs make, which are kept with it.
    """

    def __init__(self, service: "TurnService", opened: OpenedTurn, request: TurnRequest) -> None:
        self.place = opened.place
        self.facts = opened.facts
        self.past = opened.past
        self._claim = request.claim
        self._state_writes = request.state_writes
        self._service = service
        self._layers = opened.layers
        self._staged = Staged(opened.layers, now=now_ms)
        self.calls = TurnCalls(service.store, opened.place.account)
        self._stored_working = _StoredWorking(service.store, opened.place)
        self.working = WorkingVariables(self._stored_working.load)
        """The working variables of the turn's models."""
        self._is_over = False
        self._store_is_away = False
        self._renewal = self._renew_later()

    def memories(
        self, asks_model: bool | None, summaries: Sequence[str], key: str | None, *, is_live: bool
    ) -> TurnMemories | None:
        """What the turn writes of memories, where its session has them on; ``asks_model`` is what its request says of that.
        An answer that was streamed by a proxy is there before a model could be asked, so a job reads it; in the mode sync at
        once."""
        rules = self._service.memories
        mode = rules.mode_of(self.place.memory)
        if mode == "off":
            return None
        asks = rules.asks_model(mode, asks_model)
        is_queued = asks and (mode == "async" or not is_live)
        is_asked = asks and not is_queued
        return TurnMemories(mode, rules, tuple(summaries), is_queued, mode == "sync", is_asked, key=key)

    def staged(self) -> Staged:
        """The buffer that the run reads and writes."""
        return self._staged

    def begin_again(self) -> None:
        """Forget what was staged: another run makes the answer."""
        self.calls.begin_again()
        state = self._staged.state
        self._staged = Staged(self._layers, now=now_ms)
        self._staged.state = state
        self.working = WorkingVariables(self._stored_working.load)

    async def see_state(self) -> None:
        """Let the run's templates see the Session State. Raises 413 ``payload_too_large`` and the store's errors."""
        place = self.place
        ids = place.session_id, place.branch_id, place.floor.parent_floor_id, place.replaced_floor_id
        self._staged.state = await self._service.store.read(state_seen, place.account, *ids)

    async def commit(self, outcome: Outcome) -> None:
        """Make the turn durable: the answer, every variable and the Session State that it brings, the snapshots and the floor,
        or nothing of it. With them goes what
        the caller gets, where the request had a key.

        A store that is locked or away is tried again for ``commit_seconds``: the answer is there, and may have cost something.

        Raises ApiError ``variable_conflict`` when somebody changed a variable that this run read and writes,
        ``commit_conflict`` when the floor was taken away, and the store's errors. All leave the rest to ``fail``.
        """
        written = self._staged.writes(), self._state_writes
        if self.working.loaded is not None:
            keep_message(self.working.loaded, self.place.floor.floor_no, "assistant", outcome.answer.text)
        try:
            calls, working, is_long = self.calls.calls, self.working.changes(), self._stored_working.is_long
            kept = outcome
            if calls or working or is_long:  # few turns have any
                kept = replace(outcome, calls=calls, working=working, is_working_long=is_long)
            ended = (self.place, *written, kept, self._claim)
            is_logged = self._service.logs_turns
            await self._keep(lambda: self._service.store.write(commit_turn, *ended, now_ms(), is_logged=is_logged))
        except (Busy, StoreReadOnly):
            self._store_is_away = True
            raise
        self._end()
        self._service.queue.freed(self.place.session_id, self.place.branch_id)
        if outcome.memories is not None and outcome.memories.is_queued:
            self._service.jobs.look()

    async def _keep(self, commit: Callable[[], Awaitable[None]]) -> None:
        """Commit, and again while the store is busy. Raises as ``commit`` does."""
        now, service, pause = asyncio.get_running_loop().time, self._service, _FIRST_PAUSE
        deadline, is_again = now() + service.commit_seconds, False
        while True:
            try:
                await self._commit_once(commit, is_again=is_again)
                return
            except Busy:
                if now() + pause >= deadline or service.is_closing:
                    raise
            await asyncio.sleep(pause)
            pause, is_again = min(2 * pause, _LONGEST_PAUSE), True

    async def _commit_once(self, commit: Callable[[], Awaitable[None]], *, is_again: bool) -> None:
        """Commit, unless an earlier try has: where the connection was lost in the commit itself nobody knows of it."""
        try:
            await commit()
        except ApiError as error:
            place = self.place
            page = place.account, place.floor.output_page_id
            if not is_again or error.code != "commit_conflict" or not await self._service.store.read(was_kept, *page):
                raise

    async def fail(
        self,
        error: Mapping[str, Json],
        *,
        cancelled: bool = False,
        partial: Content | None = None,
        told_status: int | None = None,
    ) -> None:
        """Leave a failed floor and free the branch; nothing that was staged is kept. Does nothing after a commit.

        The words that came before are kept where ``partial`` holds them: a new floor is committed with them, a floor whose
        answer is made anew gets them as one more version, and its old answer stays. ``told_status`` keeps the key of a request
        that would make another turn behind them (``FailedTurn``).

        Where the store cannot take it now it is recorded later, and nobody waits: a caller has waited for the commit already.
        """
        if self._is_over:
            return
        self._end()
        failed = FailedTurn(self.place, dict(error), cancelled, partial, told_status, self.calls.calls)
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
            await service.store.write(extend_lock, self.place.account, self.place.floor_id, service.owner_at(now), now)
        if not self._is_over:
            self._renewal = self._renew_later()


class _StoredWorking:
    """Loads the working variables of a turn. It knows the turn's place and not the turn, which would wait for the search for
    circles with all that it has read. ``is_long`` as in ``Loaded``."""

    def __init__(self, store: Store, place: TurnPlace) -> None:
        self._store = store
        self._place = place
        self.is_long = False

    async def load(self, rules: Sequence[WorkingVariable]) -> VariableSystem:
        """Those of the branch before the turn."""
        loaded = await self._store.read(_load_working, self._place, rules)
        self.is_long = loaded.is_long
        return loaded.system


class TurnService:
    """Opens turns on one store, and registers its background work with ``jobs``.

    ``owner`` names this process in the branches' locks. ``queue_seconds`` is how long a turn waits for its branch; 0
    refuses at once. ``is_alone`` says that no other process writes to the store. ``lease_seconds`` is how long a branch
    stays locked when this process dies and nobody notices, ``commit_seconds`` how long an answer that is there is tried to be
    kept. ``answer_seconds`` is how long the answers to requests with a key
    are kept, ``answer_bytes`` how much of them. ``logs_turns``: the operation log tells of each turn that is committed.
    ``memories`` is how turns write these.
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
        commit_seconds: float = COMMIT_SECONDS,
        answer_seconds: float = 86_400.0,
        answer_bytes: int = 256 * 1024 * 1024,
        logs_turns: bool = False,
        memories: WritingRules = OFF,
    ) -> None:
        self.store = store
        self.jobs = jobs
        self.memories = memories
        self.logs_turns = logs_turns
        self.lease_seconds = lease_seconds
        self.commit_seconds = commit_seconds
        self.is_closing = False
        """True when nobody should wait for the store any more."""
        self.queue = BranchQueue()
        self.failed = FailedTurns(store, self.queue)
        self.recovery = Recovery(store, owner, is_alone=is_alone)
        self._owner = owner
        self._is_alone = is_alone
        self._answer_seconds = answer_seconds
        self._answer_bytes = answer_bytes
        self._queue_seconds = queue_seconds
        self._background: set[asyncio.Task[None]] = set()
        self._global: dict[str, tuple[float, int, Layers]] = {}
        """The global variables of accounts: when they were read, after how many writes of this process, and what they were."""
        jobs.handle("turns.tidy_answers", self._tidy_answers, every_seconds=TIDY_SECONDS)
        jobs.handle("chats.tidy_blobs", self._tidy_blobs, every_seconds=TIDY_BLOBS_SECONDS)
        jobs.handle(REMOVAL, self.remove_rest)
        if not is_alone:
            jobs.handle("turns.recover", self.recovery.sweep, every_seconds=min(SWEEP_SECONDS, lease_seconds))

    async def answered(self, account: str, claim: Claim) -> Saved | None:
        """What was answered to this request of an account; None where it was not. Raises ApiError ``idempotency_in_progress``,
        ``idempotency_key_reused`` and ``idempotency_answer_gone``, and the store's errors."""
        return await self._unless_dead(
            lambda: self.store.read(answer_to, account, claim, self._owner, now_ms()), "idempotency_in_progress"
        )

    async def once(
        self,
        claim: Claim,
        show: Callable[[T], Saved],
        transaction: Callable[Concatenate[Connection, str, P], T],
        account: str,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> tuple[Saved, bool]:
        """Do a write to an account that a request with a key asks for, together with its answer, or find what was answered;
        True when it was. Raises as ``answered`` does, and what the transaction raises."""
        return await self.store.write(once, account, claim, now_ms(), show, transaction, account, *args, **kwargs)

    async def begin(self, request: TurnRequest) -> Turn:
        """Open the turn that is wanted: its floor, its branch's lock, and its tiers as they are (``TurnRequest``).

        Raises ApiError ``generation_conflict`` when the branch generates already, ``generation_queue_timeout`` when it
        still does after the wait, ``session_archived``, ``session_not_found``, ``source_floor_not_found``,
        ``validation_error``; for a claim that somebody has ``idempotency_in_progress`` and ``idempotency_key_reused``; and the
        store's errors.
        """
        if self._queue_seconds <= 0:
            return await self._open(request, None)
        deadline = asyncio.get_running_loop().time() + self._queue_seconds
        target = None
        if request.kind != "respond":
            target = await self.store.read(find_target, request.account, request)
        session, branch = (target.floor.session_id, target.floor.branch_id) if target else (request.session, request.branch)
        if session == AUTO:
            # Which chat it is shows when it is opened: it must not wait behind those of other chats.
            session = request.run_id
        try:
            async with self.queue.first(request.account, session or "", branch, deadline):
                return await self._open_when_free(request, target, deadline)
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

    async def look(self, account: str, session: str, branch: str | None) -> Staged:
        """A buffer over what a turn would see here, for a request that is none; what it stages goes nowhere.

        Nothing is made: a session that is not there yet shows the global variables, a new branch those of main.
        """
        return Staged(await self.store.read(_look, account, session, branch), now=now_ms)

    async def shared(self, account: str) -> Staged:
        """A buffer over the global variables of an account alone, for a run without a session.

        They are read once and kept until this process writes again (on PostgreSQL, where others write too, for a second).
        """
        return Staged(await self._global_layers(account), writable=_GLOBAL_ONLY, now=now_ms)

    async def commit_shared(self, account: str, run_id: str, staged: Staged) -> None:
        """Make the global writes of an account's run without a session durable. Raises ApiError ``variable_conflict``."""
        writes = staged.writes()
        if writes:
            await self.store.write(commit_staged, account, run_id, None, None, None, None, writes, now_ms())

    async def close(self) -> None:
        """End what is under way in the background. What could not be recorded is found by the next start."""
        self.is_closing = True
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

    async def remove_rest(self, removed: Json) -> None:
        """Remove what is left of a session or a branch, in transactions between which others write; ``removed`` are the words
        of ``remove_part``. Raises the store's errors."""
        with freeing():
            while await self.store.write(remove_part, *removed):
                continue

    async def _global_layers(self, account: str) -> Layers:
        kept = self._global.get(account)
        if kept is not None:
            since, writes, layers = kept
            if writes == self.store.writes and (self._is_alone or time.monotonic() - since < SHARED_AGE_SECONDS):
                return layers
        await self.store.start()  # opening writes, too: it looks for what dead processes left behind
        writes = self.store.writes
        layers = await self.store.read(load_global, account)
        if len(self._global) >= MOST_SHARED:
            self._global.clear()
        self._global[account] = (time.monotonic(), writes, layers)
        return layers

    async def _open_when_free(self, request: TurnRequest, target: TurnTarget | None, deadline: float) -> Turn:
        """Try until the branch is free. Raises TimeoutError where it is not by the deadline, on the loop's clock."""
        while True:
            try:
                return await self._open(request, target, is_queued=True)
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
                if error.code not in codes or not await self.recovery.release_dead():
                    raise

    async def _open(self, request: TurnRequest, target: TurnTarget | None, *, is_queued: bool = False) -> Turn:
        """Open a turn. Who leaves meanwhile leaves a failed floor, for a transaction on its way is not stopped; who leaves the
        queue leaves nothing, unless the branch was his already."""
        await self.store.start()
        codes = "generation_conflict", "idempotency_in_progress"
        return await self._unless_dead(lambda: self._open_once(request, target, is_queued), *codes)

    async def _open_once(self, request: TurnRequest, target: TurnTarget | None, is_queued: bool) -> Turn:
        now, unrecorded = now_ms(), self.failed.unrecorded
        left = threading.Event()
        opening = self.store.start_write(open_turn, request, target, self.owner_at(now), now, unrecorded, left.is_set)
        try:
            opened = await asyncio.shield(opening)
        except asyncio.CancelledError:
            if is_queued:
                left.set()
            self.in_background(self._end_unwanted(opening, unrecorded))
            raise
        self.failed.were_recorded(unrecorded)
        return Turn(self, opened, request)

    async def _end_unwanted(self, opening: "asyncio.Future[OpenedTurn]", unrecorded: Sequence[FailedTurn]) -> None:
        """Let a turn fail that is opened for somebody who has left; where opening failed there is nothing to end."""
        await asyncio.wait([opening])
        if not opening.cancelled() and opening.exception() is None:
            self.failed.were_recorded(unrecorded)
            await self.failed.record(FailedTurn(opening.result().place, _LEFT, is_cancelled=True))


def _load_working(db: Connection, place: TurnPlace, rules: Sequence[WorkingVariable]) -> Loaded:
    """The working variables that a turn begins with, and what its user says."""
    until = place.replaced_floor_id or place.floor_id
    loaded = load_system(db, place.account, place.session_id, place.branch_id, now_ms, rules, until)
    keep_message(loaded.system, place.floor.floor_no, "user", asked_on(db, place.floor.input_page_id))
    return loaded


def _look(db: Connection, account: str, session: str, branch: str | None) -> Layers:
    session_id = session_called(db, account, session)
    if session_id is None:
        return load_global(db, account)
    is_known = branch is not None and has_branch(db, account, session_id, branch)
    return load_layers(db, account, session_id, branch if is_known else MAIN, None, None)
