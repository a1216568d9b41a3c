"""``Remembering``: does the jobs of memories (``memories/writing/jobs.py``), and what turns ask for in the mode sync.

    ticket -> take -> read floors -> ask the model -> decide -> write, with the end of the jobs, in one transaction

A process that dies leaves what it took to whoever gets its ticket next. What was asked of a model is asked again then; what was
written is not, for it was written together with the end of its jobs.
"""

import asyncio
import logging
from collections.abc import Sequence
from functools import partial

from sqlalchemy import Connection, select

from agentui.chats.memories import DROPPED, WRITING
from agentui.chats.records import MAIN
from agentui.errors import AgentUIError, BudgetExceeded, PriceUnknown
from agentui.ids import Clock
from agentui.jobs.runner import JobRunner
from agentui.jsonio import Json
from agentui.memories.hosts import Host, split_branch
from agentui.memories.items import find_items
from agentui.memories.reading import Spot
from agentui.memories.records import Item
from agentui.memories.sight import Sight
from agentui.memories.sights import Sights
from agentui.memories.writing.applying import apply_decision
from agentui.memories.writing.compaction import (
    MOST_MACRO,
    find_compaction,
    joined,
    queue_compaction,
    write_macro,
)
from agentui.memories.writing.deciding import Decision, decide
from agentui.memories.writing.jobs import LEASE_MS, MemoryJob, end, give_back, hold_running, renew, take, try_later
from agentui.memories.writing.maintenance import Ages, maintain
from agentui.memories.writing.material import FloorText, Material, Unreadable, pages_there, read_floors, read_known
from agentui.memories.writing.modes import WritingRules
from agentui.memories.writing.prompts import COMPACT, INGEST, compact_question, ingest_question
from agentui.memories.writing.proposals import read_answer
from agentui.memories.writing.turns import TurnFloor, store_summaries
from agentui.pipeline.walk.group import drop_frames
from agentui.principal import Principal
from agentui.store.base import Store
from agentui.store.tables import memory_scopes, sessions
from agentui.threads import apart
from agentui.turns.history import read_facts
from agentui.turns.live.memory_model import MemoryModel, MemoryQuestion
from agentui.turns.request import ChatFacts

TIDY_SECONDS = 3600.0
WAIT_MS = 60_000
"""How long a job waits at least that no budget is left for."""
INGEST_TOKENS, MORE_TOKENS, COMPACT_TOKENS = 1200, 300, 1400
"""What a model may say of a floor, of each further one, and of summaries."""

log = logging.getLogger("agentui.memories")


class Remembering:
    """Does the jobs of memories in this process. ``rules`` are the server's."""

    def __init__(
        self, store: Store, jobs: JobRunner, sights: Sights, model: MemoryModel, rules: WritingRules, ages: Ages, clock: Clock
    ) -> None:
        self._store = store
        self._sights = sights
        self._model = model
        self._rules = rules
        self._ages = ages
        self._clock = clock
        jobs.handle(WRITING, self._work)
        jobs.handle("memories.tidy", self._tidy, every_seconds=TIDY_SECONDS)

    async def _work(self, payload: Json) -> None:
        """Do what is to be done in a scope, until nothing is. Raises the store's errors; the runner brings the ticket again."""
        account, ticket = payload["account"], payload["ticket"]
        host = await self._store.read(_host_of, account, payload["scope"], payload["scope_id"])
        while host is not None:
            jobs = await self._store.write(take, account, host, ticket, self._clock)
            if not jobs:
                return
            scope = _Scope(account, host, ticket)
            renewing = asyncio.get_running_loop().create_task(self._renew(scope))
            try:
                await self._do(scope, jobs)
            finally:
                renewing.cancel()
                await asyncio.gather(renewing, return_exceptions=True)

    async def _renew(self, scope: "_Scope") -> None:
        while True:
            await asyncio.sleep(LEASE_MS / 3000)
            try:
                await self._store.write(renew, scope.account, scope.host, scope.ticket, self._clock.now_ms())
            except AgentUIError as error:
                log.debug("A scope of memories could not be kept for longer: %s", error.message)

    async def _do(self, scope: "_Scope", jobs: Sequence[MemoryJob]) -> None:
        work = {"ingest_turn": self._ingest, "compact_macro": self._compact, "rebuild_scope": self._rebuild}
        try:
            await work[jobs[0].job_type](scope, jobs)
        except (BudgetExceeded, PriceUnknown) as error:
            drop_frames(error)
            # No try of the job's: it waits until there is money, or a price.
            pause = max(WAIT_MS, round((error.retry_after or 0) * 1000))
            await self._later(scope, jobs, f"It waits for a budget: {error.message}", pause)
        except AgentUIError as error:
            drop_frames(error)
            await self._later(scope, jobs, error.message, None)
        except Exception as error:
            # Else the job would stay running without a reason in its row, and only its ticket be tried again until the
            # runner gives that up. A fault is a try of the job's like any other, and after enough of them it is a dead letter.
            log.exception("A job of memories failed by a fault of agentui itself")
            await self._later(scope, jobs, f"{type(error).__name__}: something went wrong inside the server.", None)

    async def _later(self, scope: "_Scope", jobs: Sequence[MemoryJob], error: str, pause_ms: int | None) -> None:
        log.warning("%s is tried again later: %s", jobs[0].id, error)
        await self._store.write(_fail, scope, jobs, error, self._clock.now_ms(), pause_ms, waits=self._rules.needs_approval)

    async def _ingest(self, scope: "_Scope", jobs: Sequence[MemoryJob]) -> None:
        """Read floors that waited together, with one call."""
        session_id, branch_id = split_branch(scope.host.scope_id)
        floors, unreadable = await self._store.read(read_floors, scope.account, jobs)
        if not floors:
            await self._store.write(_end_ingest, scope, jobs, None, None, unreadable, self._clock.now_ms(), self._rules)
            return
        spot = Spot(session_id, branch_id, floors[-1].floor_id)
        chat = await self._store.read(read_facts, scope.account, session_id, branch_id)
        sight = await self._sights.at(scope.account, spot)
        known = await self._store.read(read_known, scope.account, session_id, sight, [_words(floor) for floor in floors])
        material = Material(scope.host, floors, known)
        if self._model.is_disabled(chat):
            decision = Decision(material)
        else:
            tokens = INGEST_TOKENS + MORE_TOKENS * (len(floors) - 1)
            key = next((floor.job.payload.get("keyId") for floor in floors if floor.job is not None), None)
            text = await self._ask(scope.account, key, chat, MemoryQuestion(INGEST, ingest_question(material), tokens))
            size = len(text) + sum(floor.length for floor in floors)
            decision = await apart(4 * size, partial(decide, material, text))
        sight = await self._sights.at(scope.account, spot)
        now = self._clock.now_ms()
        await self._store.write(_end_ingest, scope, jobs, decision, sight, unreadable, now, self._rules)
        if self._rules.compacts:
            await self._look_for_compaction(scope, spot, floors[-1])

    async def _look_for_compaction(self, scope: "_Scope", spot: Spot, last: FloorText) -> None:
        """Queue a compaction where there are many small summaries by now."""
        sight = await self._sights.at(scope.account, spot)
        place = scope.account, scope.host, sight, last.floor_no
        if await self._store.read(find_compaction, *place) is not None:
            await self._store.write(_plan_compaction, *place, last.floor_id, self._clock.now_ms())

    async def _ask(self, account: str, key: str | None, chat: ChatFacts, question: MemoryQuestion) -> str:
        """Ask in the name of the account; a key's budget holds for what its turns cause."""
        principal = Principal(account, "user", may_edit=False, key=key)
        return (await self._model.ask(principal, chat, question)).text

    async def _compact(self, scope: "_Scope", jobs: Sequence[MemoryJob]) -> None:
        """Make a large summary of small ones."""
        [job] = jobs
        found = await self._store.read(find_items, scope.account, job.payload["sourceMicroIds"])
        sources = [found[id] for id in job.payload["sourceMicroIds"] if id in found]
        chat = await self._store.read(_facts_of, scope)
        text = ""
        if sources and chat is not None and not self._model.is_disabled(chat):
            question = MemoryQuestion(COMPACT, compact_question(sources, None), COMPACT_TOKENS)
            said = read_answer(await self._ask(scope.account, None, chat, question))
            text = "" if said is None else (said.summary or "")[:MOST_MACRO]
        now = self._clock.now_ms()
        await self._store.write(_end_compact, scope, job, sources, text or joined(sources), now, self._rules)

    async def _rebuild(self, scope: "_Scope", jobs: Sequence[MemoryJob]) -> None:
        """Plan a compaction."""
        sight = None
        if scope.host.scope == "branch":
            sight = await self._sights.at(scope.account, Spot(*split_branch(scope.host.scope_id)))
        await self._store.write(_end_rebuild, scope, jobs[0], sight, self._clock.now_ms())

    async def _tidy(self, _: Json) -> None:
        """Let old items go, as far as the settings say so."""
        has_more = True
        while has_more:
            has_more = await self._store.write(maintain, self._ages, self._clock.now_ms())


class _Scope:
    """A scope that is worked on."""

    __slots__ = ("account", "host", "ticket")

    def __init__(self, account: str, host: Host, ticket: str) -> None:
        self.account = account
        self.host = host
        self.ticket = ticket


def _words(floor: FloorText) -> str:
    return "\n".join(page.text for page in floor.pages)


def _host_of(db: Connection, account: str, scope: str, scope_id: str) -> Host | None:
    """The scope of a ticket, None where it is gone with its session."""
    own = memory_scopes.c.account_id == account, memory_scopes.c.scope == scope, memory_scopes.c.scope_id == scope_id
    row = db.execute(select(memory_scopes).where(*own)).one_or_none()
    return None if row is None else Host(row.scope, row.scope_id, row.session_id)


def _facts_of(db: Connection, scope: _Scope) -> ChatFacts | None:
    """What is known of the chat that a scope is in; None where it is in none."""
    host = scope.host
    own = sessions.c.id == host.session_id, sessions.c.account_id == scope.account
    if db.execute(select(sessions.c.id).where(*own)).first() is None:
        return None
    branch_id = split_branch(host.scope_id)[1] if host.scope == "branch" else MAIN
    return read_facts(db, scope.account, str(host.session_id), branch_id)


def _end_ingest(
    db: Connection,
    scope: _Scope,
    jobs: Sequence[MemoryJob],
    decision: Decision | None,
    sight: Sight | None,
    unreadable: Sequence[Unreadable],
    now: int,
    rules: WritingRules,
) -> None:
    """Write what was decided and end the jobs, or nothing where they are no longer this ticket's."""
    account = scope.account
    held = {job.id for job in hold_running(db, account, scope.host, scope.ticket, jobs)}
    if not held:
        return
    for each in unreadable:
        why = DROPPED if each.is_dropped else "What the user said there was changed since."
        end(db, account, [each.job], "cancelled" if each.is_dropped else "dead_letter", now, why)
    if decision is not None and sight is not None:
        branch_id = split_branch(scope.host.scope_id)[1]
        apply_decision(db, account, branch_id, decision, sight, now, waits=rules.needs_approval)
    read = [] if decision is None else [floor.job for floor in decision.material.floors if floor.job is not None]
    end(db, account, read, "succeeded", now)
    over = {job.id for job in read} | {each.job.id for each in unreadable}
    give_back(db, account, [job for job in jobs if job.id not in over], now)


def _plan_compaction(
    db: Connection, account: str, host: Host, sight: Sight, last_floor_no: int, trigger: str, now: int
) -> None:
    found = find_compaction(db, account, host, sight, last_floor_no)
    if found is not None:
        queue_compaction(db, account, host, found, now, trigger=trigger)


def _end_compact(
    db: Connection, scope: _Scope, job: MemoryJob, sources: Sequence[Item], text: str, now: int, rules: WritingRules
) -> None:
    if not hold_running(db, scope.account, scope.host, scope.ticket, [job]):
        return
    item = write_macro(db, scope.account, scope.host, job, sources, text, now, waits=rules.needs_approval)
    gone = "Too many of the summaries are gone."
    end(db, scope.account, [job], "dead_letter" if item is None else "succeeded", now, gone if item is None else None)


def _end_rebuild(db: Connection, scope: _Scope, job: MemoryJob, sight: Sight | None, now: int) -> None:
    if not hold_running(db, scope.account, scope.host, scope.ticket, [job]):
        return
    force = bool(job.payload.get("forceCompaction"))
    found = find_compaction(db, scope.account, scope.host, sight, None, is_forced=force)
    if found is not None:
        queue_compaction(db, scope.account, scope.host, found, now, trigger=job.payload.get("triggerFloorId"), force=force)
    end(db, scope.account, [job], "succeeded", now)


def _fail(
    db: Connection, scope: _Scope, jobs: Sequence[MemoryJob], error: str, now: int, pause_ms: int | None, *, waits: bool
) -> None:
    """Jobs failed. What their answers' own ``<summary>`` blocks held is kept when they are given up: that needs no model."""
    held = hold_running(db, scope.account, scope.host, scope.ticket, jobs)
    for job in try_later(db, scope.account, held, error, now, pause_ms=pause_ms):
        told, said = job.payload.get("summaries"), job.payload
        if job.job_type == "ingest_turn" and told and pages_there(db, scope.account, [said["pageId"]]):
            floor = TurnFloor(said["sessionId"], said["branchId"], said["floorId"], said["floorNo"], said["pageId"])
            store_summaries(db, scope.account, floor, told, now, job.id, waits=waits)
