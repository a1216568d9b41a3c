"""``UsageMeter``: counts the calls to models, holds budgets against them, and writes them into the ledger.

A call whose caller has no budget is only counted, where the ledger is kept. One with a budget is reserved in one transaction
before it goes out and settled beside the requests afterwards; should the process die in between, its reservation ends with a
lease and is booked at its bound by whoever meets it.
"""

import asyncio
import logging
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from sqlalchemy import Connection

from agentui.chat.deltas import Usage
from agentui.errors import AgentUIError, BudgetExceeded, Busy, PriceUnknown
from agentui.ids import Clock, new_id
from agentui.jsonio import Json
from agentui.pipeline.metering import OutgoingCall, Settled, Tally
from agentui.principal import Principal
from agentui.store.base import Store
from agentui.usage.budgets import (
    LOST_AT_ONCE,
    Bound,
    Reserved,
    Settlement,
    book_lost,
    chosen_unknown_price,
    foreseen,
    limited_units,
    limits_left,
    project_of,
    renew,
    reserve,
    reserve_at_once,
)
from agentui.usage.ledger import Basis, UsageRow
from agentui.usage.prices import FREE, Prices, Rates, per_call
from agentui.usage.records import MOST_PRICE, MOST_TOKENS, Amounts, Budget, Unit, UnknownPrice
from agentui.usage.writer import LedgerWriter

NOTHING: Final = Usage(0, 0)
"""The tokens of a call that nobody charges for."""
FREED: Final[Amounts] = {"money": 0, "tokens": 0, "requests": 0, "calls": 0}
"""What is booked for a call that never went out."""
RENEW_SECONDS: Final = 20.0
MOST_SEEN: Final = 1000
"""Callers whose budgets are remembered."""
REFRESH_SECONDS: Final = 5.0
"""After which a process knows of budgets that it was not told of."""
BUDGETS_CHANGED: Final = '{"budgets": "changed"}'
"""What processes that share the store tell each other."""

log = logging.getLogger("agentui.usage")


@dataclass
class UsageMeter:
    """Counts calls. ``keeps`` says whether the ledger is kept of everybody's, ``is_alone`` that no other process has the store,
    ``unknown_price`` is what the operator said of a model whose price is not known, None where an admin chooses; ``owner``
    names this process."""

    store: Store
    writer: LedgerWriter
    prices: Prices
    clock: Clock
    owner: str
    keeps: bool
    is_alone: bool = True
    unknown_price: UnknownPrice | None = None
    _chosen: UnknownPrice | None = None
    _limited: Mapping[tuple[str, str], set[Unit]] = field(default_factory=dict)
    _limits_projects: bool = False
    """Whether a project has a budget: then each call for a chat asks in which project it is, for chats move."""
    spent_nano: int = 0
    """What all calls that were counted since this process began have cost, in nano-dollars."""
    unpriced: int = 0
    """How many of them have a price that nobody knows."""
    refused: int = 0
    """Calls that were refused for a budget."""
    _held: int = 0
    _seen: dict[tuple[str, str | None, str | None], Sequence[Budget]] = field(default_factory=dict)
    """The budgets of callers as they stood when something was last reserved from them here."""
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _renewing: asyncio.Task[None] | None = field(default=None, init=False)
    _refreshing: asyncio.Task[None] | None = field(default=None, init=False)
    _watching: asyncio.Task[None] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.store.at_open(self._opened)

    def covers(self, principal: Principal, session: str | None) -> bool:
        """Whether the ledger is kept, or a budget is set for this caller, or may be for the project of this chat."""
        if self.keeps or not self._limited:
            return self.keeps
        return bool(self._units(principal)) or (session is not None and self._limits_projects)

    async def begin(self, call: OutgoingCall) -> Tally:
        """Reserve what a call may take. Raises BudgetExceeded and PriceUnknown, and Busy where calls cannot be counted."""
        self.writer.check_room()
        if self.keeps and not self.store.opened.is_set():
            await self.store.start()  # which tells of the budgets
        project = None
        if call.session is not None and self._limits_projects:
            project = await self.store.read(project_of, call.principal.account, call.session)
        units = self._units(call.principal, project)
        rates = await self._rates(call)
        if not units:
            return Tally(call, partial(self._settle, rates, None), self._retried)
        is_uncountable = call.operation == "forward" and "tokens" in units
        if rates is None and ("money" in units or is_uncountable) and self.unknown_rule == "refuse":
            raise PriceUnknown(
                f"Nobody knows what {call.model or 'this call'!r} costs, so no budget could hold: an admin can name its price "
                "(AGENTUI_PRICES) or let what is not known be free (in the page's budgets, or by AGENTUI_UNKNOWN_PRICE).",
                model=call.model,
            )
        reserved = await self._reserve(call, project, _bound(call, rates or FREE))
        if reserved is None:
            return Tally(call, partial(self._settle, rates, None), self._retried)
        if reserved.cap is not None and call.limit is not None:
            # It goes out with this limit, and who leaves is charged up to it: thoughts are not heard as they are made.
            call = replace(call, limit=replace(call.limit, tokens=reserved.cap))
        over = partial(self._settle, rates, reserved.id)
        return Tally(call, over, self._retried, cap=reserved.cap, limits=limits_left(reserved.levels, self.clock.now_ms()))

    def start(self) -> None:
        """Look now and then for budgets that other processes set: what they tell is told once, and who has lost the database
        at that moment does not hear it."""
        if not self.is_alone:
            self._watching = asyncio.create_task(self._watch(), name="watching budgets")

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(REFRESH_SECONDS)
            await self._refresh_quietly()

    async def refresh(self) -> None:
        """Somebody changed budgets. They are read one after the other, or what was read first might count in the end."""
        async with self._reading:
            if self.store.opened.is_set():
                self._learn(*await self.store.read(_known))

    async def told(self) -> None:
        """Budgets were changed here: the processes that share the store are told."""
        await self.refresh()
        try:
            await self.store.tell_others(BUDGETS_CHANGED)
        except AgentUIError as error:
            log.warning("Others could not be told that budgets were changed: %s", error.code)

    def changed(self) -> None:
        """Another process changed budgets."""
        self._refreshing = asyncio.get_running_loop().create_task(self._refresh_quietly(), name="reading budgets")

    async def _refresh_quietly(self) -> None:
        try:
            await self.refresh()
        except AgentUIError as error:
            log.warning("Budgets that were changed could not be read: %s", error.message)

    async def book_lost(self) -> int:
        """Book the calls of processes that died; how many they were. Nobody can have died beside a process that is alone: what
        is reserved is of its own calls, however long its machine was asleep."""
        found = 0
        while not self.is_alone:
            booked = await self.store.write(book_lost, self.clock.now_ms(), keeps=self.keeps, owner=self.owner)
            found += booked
            if booked < LOST_AT_ONCE:
                break
        return found

    async def close(self) -> None:
        """Write what is counted."""
        await self.writer.close()
        for task in (self._renewing, self._refreshing, self._watching):
            if task is not None:
                task.cancel()

    @property
    def unknown_rule(self) -> UnknownPrice:
        """What becomes of a call whose price nobody knows, where its caller has a budget of money."""
        return self.unknown_price or self._chosen or "refuse"

    @property
    def is_limiting(self) -> bool:
        """Whether a budget is set, as far as this process knows."""
        return bool(self._limited)

    def _opened(self, db: Connection) -> None:
        """The store opens: no process has it beside this one, so every reservation is of one that died."""
        while self.is_alone and book_lost(db, self.clock.now_ms(), keeps=self.keeps) == LOST_AT_ONCE:
            pass
        self._learn(*_known(db))

    def _learn(self, limited: Mapping[tuple[str, str], set[Unit]], chosen: UnknownPrice | None) -> None:
        """Know which budgets there are, and what becomes of unknown prices."""
        self._limited, self._chosen = limited, chosen
        self._limits_projects = any(level == "project" for level, _ in limited)

    def _units(self, principal: Principal, project: str | None = None) -> set[Unit]:
        """What is limited for a caller, and for the project of a chat."""
        places = (("server", ""), ("account", principal.account), ("key", principal.key or ""), ("project", project or ""))
        return {unit for place in places for unit in self._limited.get(place, ())}

    async def _rates(self, call: OutgoingCall) -> Rates | None:
        """What the call costs; None where nobody knows. What passes through has no tokens that anybody could reckon with."""
        if call.is_free:
            return FREE
        rates = await self.prices.of(call.vendor, call.url, call.model)
        if call.operation != "forward" or rates is None:
            return rates
        return per_call(rates)

    async def _reserve(self, call: OutgoingCall, project: str | None, bound: Bound) -> Reserved | None:
        is_waiting = bool(self.writer.waiting)
        reserved = await self._tried(call, project, bound)
        # What is held may be over already: by a call that is not booked yet, or a process that died.
        if isinstance(reserved, BudgetExceeded) and (is_waiting or self.writer.waiting):
            await self.writer.flush()
            reserved = await self._tried(call, project, bound)
        if isinstance(reserved, BudgetExceeded) and await self.book_lost():
            reserved = await self._tried(call, project, bound)
        if not isinstance(reserved, BudgetExceeded):
            return reserved
        self.refused += 1
        try:
            raise reserved
        finally:
            del reserved  # its traceback holds this frame: the two would keep each other

    async def _tried(self, call: OutgoingCall, project: str | None, bound: Bound) -> Reserved | BudgetExceeded | None:
        """Reserve, or tell what stands against it.

        Where others share the database the first try is one statement, by what the caller's budgets were when they were last
        seen here; where that does not fit, they are looked at and locked.
        """
        now, who = self.clock.now_ms(), (call.principal.account, call.principal.key, project)
        reserved: Reserved | BudgetExceeded | None = None
        if not self.is_alone and (seen := self._seen.get(who)) and (wanted := foreseen(seen, bound, now)) is not None:
            row = _lost_row(call, now)
            one = self.store.write_one(reserve_at_once, call.principal, bound, wanted, row["id"], self.owner, row, project)
            with suppress(Busy):  # the connection was lost: nobody knows what became of that one
                reserved = await self._held_for(row["id"], one)
        if reserved is None:
            row = _lost_row(call, now)
            work = self.store.write(_reserve_or_refuse, call.principal, bound, row["id"], self.owner, row, now, project)
            reserved = await self._held_for(row["id"], work)
        if isinstance(reserved, Reserved):
            self._held += 1
            self._seen.pop(who, None)
            if not self.is_alone:
                self._seen[who] = reserved.levels
                if len(self._seen) > MOST_SEEN:
                    del self._seen[next(iter(self._seen))]
                if self._renewing is None or self._renewing.done():
                    self._renewing = asyncio.create_task(self._renew(), name="renewing reservations")
        return reserved

    async def _held_for(
        self, id: str, reserving: Coroutine[Any, Any, Reserved | BudgetExceeded | None]
    ) -> Reserved | BudgetExceeded | None:
        """What a write that reserves comes to. Who leaves meanwhile holds nothing."""
        work = asyncio.ensure_future(reserving)
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            work.add_done_callback(partial(self._left, id))
            raise
        except Exception:
            # A commit that nobody heard of may have been made: what it holds would be held as long as this process lives.
            self.writer.put(Settlement(None, id, FREED))
            raise

    def _left(self, id: str, work: "asyncio.Future[Reserved | BudgetExceeded | None]") -> None:
        """A call was reserved for a caller who had left: it never goes out. So with one of which nobody knows."""
        if work.cancelled() or work.exception() is not None or isinstance(work.result(), Reserved):
            self.writer.put(Settlement(None, id, FREED))

    async def _renew(self) -> None:
        while self._held:
            await asyncio.sleep(RENEW_SECONDS)
            try:
                await self.store.write(renew, self.owner)
            except AgentUIError as error:
                log.warning("Reservations could not be renewed: %s", error.message)

    def _settle(self, rates: Rates | None, reservation: str | None, settled: Settled) -> int | None:
        """Write down that a call is over; what it cost."""
        usage, basis = used(settled)
        price = _price(rates, usage, basis, settled)
        self.spent_nano += price or 0
        self.unpriced += price is None
        row = self._row(reservation or new_id("usage"), settled, usage, price, basis) if self.keeps else None
        if reservation is None:
            if row is not None:
                self.writer.put(Settlement(row))
            return price
        self._held -= 1
        # What passes through at a price for each call is not charged by tokens, and none were reserved for it.
        tokens = 0 if settled.call.operation == "forward" and rates is not None else usage.total
        taken: Amounts = {"money": price or 0, "tokens": tokens, "requests": 1, "calls": 0}
        if not settled.was_sent:
            taken = {**taken, "money": 0, "tokens": 0}
        self.writer.put(Settlement(row, reservation, taken))
        return price

    def _retried(self, settled: Settled) -> None:
        """An attempt was refused, or had no connection: it cost nothing, and is made again."""
        if self.keeps:
            self.writer.put(Settlement(self._row(new_id("usage"), settled, NOTHING, 0, "told")))

    def _row(self, id: str, settled: Settled, usage: Usage, price: int | None, basis: Basis) -> UsageRow:
        latency, now = round(settled.latency * 1000), self.clock.now_ms()
        return UsageRow(id, settled.call, settled.outcome, settled.status, usage, price, basis, latency, now)


def _known(db: Connection) -> tuple[Mapping[tuple[str, str], set[Unit]], UnknownPrice | None]:
    """What a process keeps in mind of budgets: who has some, and what an admin chose of unknown prices."""
    return limited_units(db), chosen_unknown_price(db)


def _lost_row(call: OutgoingCall, now: int) -> dict[str, Any]:
    """The row in the ledger of a call whose process dies, with an id of its own."""
    return dict(UsageRow(new_id("usage"), call, "lost", None, NOTHING, 0, "estimated", 0, now).values())


def _reserve_or_refuse(
    db: Connection,
    principal: Principal,
    bound: Bound,
    id: str,
    owner: str,
    row: Mapping[str, Json],
    now: int,
    project: str | None,
) -> Reserved | BudgetExceeded | None:
    """An error that is returned costs those who write at the same moment nothing; one that is raised lets all begin again."""
    try:
        return reserve(db, principal, bound, id, owner, row, now, project)
    except BudgetExceeded as error:
        error.__traceback__ = None
        return error


def _bound(call: OutgoingCall, rates: Rates) -> Bound:
    """What a call may take at most."""
    if call.is_free or call.operation == "forward":
        return Bound(0, 0, 1, rates)
    if call.limit is None:
        return Bound(call.most_input, 0, 1, rates)
    return Bound(call.most_input, call.limit.tokens, call.limit.answers, rates)


def _price(rates: Rates | None, usage: Usage, basis: Basis, settled: Settled) -> int | None:
    """What a call cost."""
    if not settled.was_sent or settled.outcome == "refused":
        return 0
    if rates is None:
        return None
    return min(rates.call if basis == "unknown" else rates.price(usage), MOST_PRICE)


def _believed(usage: Usage | None) -> Usage | None:
    """The tokens that a provider told, of which there are no fewer than none, and no more than any call has."""
    if usage is None:
        return None
    told = (usage.input, usage.output, usage.cache_read, usage.cache_write, usage.reasoning)
    return Usage(*(None if count is None else min(max(count, 0), MOST_TOKENS) for count in told))


def used(settled: Settled) -> tuple[Usage, Basis]:
    """The tokens that a call is charged for, and whence that is known.

    What did not go out, and what the upstream refused, costs nothing at any vendor. Where nobody told tokens they are those
    that there were at most: as many of input as the body has bytes, and of output as the request lets the model say, or else
    as many as the words have bytes that were heard. What is no chat has no such bound.
    """
    call, told = settled.call, _believed(settled.usage)
    if not settled.was_sent or settled.outcome == "refused" or call.is_free:
        return told or NOTHING, "told"
    is_told = told is not None and told.input is not None and (told.output is not None or call.limit is None)
    if told is not None and is_told and settled.outcome == "answered":
        return told, "told"
    if call.operation == "forward" or (call.limit is None and call.operation != "embeddings"):
        return told or Usage(), "unknown"
    known = told or Usage()
    limit = call.limit
    output = 0 if limit is None else settled.said if limit.tokens is None else limit.tokens * limit.answers
    estimated = Usage(
        min(call.most_input if known.input is None else known.input, MOST_TOKENS),
        min(max(output, known.output or 0), MOST_TOKENS),
        known.cache_read,
        known.cache_write,
        known.reasoning,
    )
    return estimated, "estimated"
