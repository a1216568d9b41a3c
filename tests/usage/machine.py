"""Random steps of callers, clocks, admins and deaths, in agentui's budgets and in ``PlainLedger`` at once."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sqlalchemy import Connection, create_engine, delete

from agentui.errors import BudgetExceeded
from agentui.principal import Principal
from agentui.store.postgres import PostgresStore
from agentui.store.tables import budgets, metadata, reservations
from agentui.usage.budgets import (
    Bound,
    Reserved,
    Settlement,
    book_lost,
    foreseen,
    list_budgets,
    remove_budget,
    renew,
    reserve,
    reserve_at_once,
    set_budget,
    settle,
)
from agentui.usage.prices import Rates, Step
from agentui.usage.records import Budget
from tests.usage.plain_ledger import Limit, PlainLedger, Price

RATES = (
    (Rates((Step(0, 1_000_000, 2_000_000, 100_000, 1_250_000, 2_000_000),)), Price(Fraction(2), Fraction(2))),
    (Rates((Step(0, 37, 111, 1, 37, 41),), call=7), Price(Fraction(41, 10**6), Fraction(111, 10**6), Fraction(7, 10**9))),
    (Rates((Step(0, 0, 0, 0, 0, 0),)), Price(Fraction(0), Fraction(0))),
)
"""Prices in pico-dollars for a token, and the same in dollars for a million."""
CALLERS = (("a", None), ("a", "k"), ("b", None), ("b", "l"))
PLACES = (("server", ""), ("account", "a"), ("account", "b"), ("key", "k"), ("key", "l"))
UNITS = (
    *((unit, period) for unit in ("money", "tokens", "requests") for period in ("minute", "day", "month", "ever")),
    ("calls", "ever"),
)
WORKERS = ("one", "two")
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
JUMPS = (1, 999, MINUTE, HOUR, DAY, 28 * DAY, 31 * DAY, 366 * DAY)
BEGIN = 1_709_164_799_000
"""A second before the 29th of February 2024."""
AMOUNTS = st.one_of(st.integers(0, 20), st.integers(0, 60_000), st.integers(0, 90_000_000))


class Machine(RuleBasedStateMachine):
    """Steps on SQLite, in transactions that are one after the other, as its one thread makes them."""

    def __init__(self) -> None:
        super().__init__()
        self.now = BEGIN
        self.number = 0
        self.plain = PlainLedger()
        self.workers: dict[str, list[str]] = {worker: [] for worker in WORKERS}
        self.ended: list[str] = []
        self.open()

    def open(self) -> None:
        """Have an empty database."""
        self.db = create_engine("sqlite://").connect()
        metadata.create_all(self.db, tables=[budgets, reservations])

    def run(self, transaction: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run a transaction."""
        return transaction(self.db, *args, **kwargs)

    def reserve(self, worker: str, who: tuple[str, str | None], bound: Bound, id: str) -> Reserved | None:
        """Reserve as a worker does. Raises BudgetExceeded."""
        found: Reserved | None = self.run(reserve, principal(who), bound, id, worker, {}, self.now)
        return found

    @initialize(first=AMOUNTS, second=AMOUNTS)
    def some_budgets(self, first: int, second: int) -> None:
        self.sets(PLACES[0], ("money", "day"), first)
        self.sets(PLACES[1], ("tokens", "minute"), second)

    @rule(place=st.sampled_from(PLACES), kind=st.sampled_from(UNITS), amount=AMOUNTS)
    def sets(self, place: tuple[str, str], kind: tuple[str, str], amount: int) -> None:
        self.run(set_budget, place[0], place[1], "", kind[0], kind[1], amount, self.now)
        self.plain.set(*place, *kind, amount, self.now)

    @precondition(lambda self: len(self.plain.limits) > 1)
    @rule(data=st.data())
    def removes(self, data: st.DataObject) -> None:
        at = data.draw(st.integers(0, len(self.plain.limits) - 1))
        limit = self.plain.limits[at]
        (found,) = [budget for budget in self.stands() if place_of(budget) == place_of(limit)]
        assert self.run(remove_budget, found.id)
        self.plain.remove(at)

    @rule(
        worker=st.sampled_from(WORKERS),
        who=st.sampled_from(CALLERS),
        input=st.integers(0, 9000),
        output=st.one_of(st.none(), st.integers(0, 9000)),
        answers=st.integers(1, 3),
        rates=st.sampled_from(RATES),
    )
    def call(
        self,
        worker: str,
        who: tuple[str, str | None],
        input: int,
        output: int | None,
        answers: int,
        rates: tuple[Rates, Price],
    ) -> None:
        self.number += 1
        id = f"u{self.number}"
        expected = self.plain.begin(id, who, input, output, answers, rates[1], self.now)
        try:
            reserved = self.reserve(worker, who, Bound(input, output, answers, rates[0]), id)
        except BudgetExceeded:
            assert expected == "refused"
            return
        assert (expected == "free") is (reserved is None)
        if reserved is not None:
            assert reserved.cap == expected
            self.workers[worker].append(id)

    @precondition(lambda self: any(self.workers.values()))
    @rule(share=st.sampled_from((0.0, 0.3, 1.0, 1.0, 1.5)), twice=st.booleans(), went_out=st.booleans(), data=st.data())
    def ends(self, share: float, twice: bool, went_out: bool, data: st.DataObject) -> None:
        worker = data.draw(st.sampled_from([worker for worker in WORKERS if self.workers[worker]]))
        id = data.draw(st.sampled_from(self.workers[worker]))
        self.workers[worker].remove(id)
        call = self.plain.calls[id]
        input, output = int(call.input * share), int(call.output * share)
        used = {"money": call.price.nano(input, output), "tokens": input + output, "requests": 1, "calls": 0}
        used = used if went_out else dict.fromkeys(used, 0)
        # A commit of which nobody heard is made again, and one of a call that had been booked as lost comes late.
        late = [Settlement(None, id, used) for id in self.ended[-1:]]  # type: ignore[arg-type]
        self.run(settle, [*late, *[Settlement(None, id, used)] * (1 + twice)], self.now)  # type: ignore[arg-type]
        self.plain.end(id, input, output, self.now, went_out=went_out)
        self.ended.append(id)

    @rule(worker=st.sampled_from(WORKERS))
    def dies(self, worker: str) -> None:
        """Killed; its lease ends, and the other one books what it had reserved."""
        (other,) = {*WORKERS} - {worker}
        self.run(renew, worker, -1)
        self.run(book_lost, self.now, keeps=False, owner=other)
        self.loses(worker)

    @rule(worker=st.sampled_from(WORKERS))
    def sleeps(self, worker: str) -> None:
        """Its lease is over, and it books nothing of its own; then it is renewed."""
        self.run(renew, worker, -1)
        self.run(book_lost, self.now, keeps=False, owner=worker)
        self.run(renew, worker)

    @rule()
    def all_die(self) -> None:
        self.run(book_lost, self.now, keeps=False)
        for worker in WORKERS:
            self.loses(worker)

    def loses(self, worker: str) -> None:
        """The plain ledger books what a worker had under way."""
        self.plain.lose(self.workers[worker], self.now)
        self.ended += self.workers[worker]
        self.workers[worker] = []

    @rule(jump=st.sampled_from(JUMPS), is_back=st.sampled_from((False, False, True)))
    def clock_jumps(self, jump: int, is_back: bool) -> None:
        self.now = max(self.now + (-jump if is_back else jump), DAY)

    def stands(self) -> list[Budget]:
        """The budgets as the database has them."""
        return list(self.run(list_budgets, self.now))

    @invariant()
    def both_say_the_same(self) -> None:
        # A period begins for good only with a call: who looks changes nothing.
        now = [replace(limit) for limit in self.plain.limits]
        for limit in now:
            limit.turn(self.now)
        expected = {place_of(limit): (limit.amount, limit.begun, limit.spent, limit.reserved) for limit in now}
        found = {place_of(each): (each.amount, each.window_start, each.spent, each.reserved) for each in self.stands()}
        assert found == expected

    @invariant()
    def nothing_is_overspent(self) -> None:
        over = {place_of(limit) for limit in self.plain.limits if limit.is_over}
        for each in self.stands():
            assert each.spent >= 0
            assert each.reserved >= 0
            assert place_of(each) in over or each.spent + each.reserved <= each.amount

    def teardown(self) -> None:
        self.db.close()


class PostgresMachine(Machine):
    """The same on PostgreSQL, where a worker foresees what it reserves. ``runner`` and ``store`` are given by the test."""

    runner: ClassVar[asyncio.Runner]
    store: ClassVar[PostgresStore]

    def open(self) -> None:
        """Have the database empty."""
        self.seen: dict[tuple[str, tuple[str, str | None]], Sequence[Budget]] = {}
        self.run(_empty)

    def run(self, transaction: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run a transaction."""
        return self.runner.run(self.store.write(transaction, *args, **kwargs))

    def reserve(self, worker: str, who: tuple[str, str | None], bound: Bound, id: str) -> Reserved | None:
        """Reserve as a worker does (``UsageMeter``). Raises BudgetExceeded."""
        reserved = None
        wanted = foreseen(self.seen.get((worker, who), ()), bound, self.now)
        if wanted is not None and wanted.levels:
            one = self.store.write_one(reserve_at_once, principal(who), bound, wanted, id, worker, {})
            reserved = self.runner.run(one)
        if reserved is None:
            reserved = super().reserve(worker, who, bound, id)
        if reserved is not None:
            self.seen[worker, who] = reserved.levels
        return reserved

    def teardown(self) -> None:
        """The database stays."""


def principal(who: tuple[str, str | None]) -> Principal:
    """A caller."""
    return Principal(who[0], "user", may_edit=False, key=who[1])


def place_of(each: Budget | Limit) -> tuple[str, str, str, str]:
    """Which budget it is."""
    return each.level, each.subject, each.unit, each.period


def _empty(db: Connection) -> None:
    db.execute(delete(budgets))
    db.execute(delete(reservations))
