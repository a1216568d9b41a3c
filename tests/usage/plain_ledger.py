"""A ledger with budgets as docs/budgets.md describes them, and nothing of agentui's own: what a machine of random steps is
held against. Every rule stands here once more, in the plainest words that Python has for it."""

import calendar
import math
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction

LARGEST_CAP = 32_768
SMALLEST_CAP = 16
HOUR = 3_600_000


@dataclass(frozen=True)
class Price:
    """Dollars for a million tokens of input (the dearest that a cache may make of it) and of output, and for a call."""

    input: Fraction
    output: Fraction
    call: Fraction = Fraction(0)

    def nano(self, input: int, output: int) -> int:
        """Billionths of a dollar, rounded up."""
        call = math.ceil(self.call * 10**9)
        return call + math.ceil((self.input * input + self.output * output) / 10**6 * 10**9)


@dataclass
class Limit:
    """A budget: what was spent since ``begun``, and what is held for calls by their ids."""

    level: str
    subject: str
    unit: str
    period: str
    amount: int
    begun: int
    spent: int = 0
    held: dict[str, int] = field(default_factory=dict)
    is_over: bool = False
    """Whether something may have made it more than its amount: the amount was lowered, or a provider charged more."""

    def turn(self, now: int) -> None:
        """A new period has spent nothing. A clock that goes back begins none; one that was hours ahead was wrong."""
        begins = start_of(self.period, now)
        if begins > self.begun:
            self.begun, self.spent, self.is_over = begins, 0, self.is_over and self.reserved > self.amount
        elif self.begun > now + HOUR:
            self.begun = begins

    @property
    def reserved(self) -> int:
        """What is held for all calls."""
        return sum(self.held.values())

    @property
    def left(self) -> int:
        """What a further call may take."""
        return max(self.amount - self.spent - self.reserved, 0)


def start_of(period: str, now: int) -> int:
    """When a period began: of the calendar, in UTC."""
    if period == "ever":
        return 0
    moment = datetime.fromtimestamp(now // 1000, UTC)
    moment = moment.replace(second=0)
    if period != "minute":
        moment = moment.replace(hour=0, minute=0)
    if period == "month":
        moment = moment.replace(day=1)
    return calendar.timegm(moment.timetuple()) * 1000


@dataclass
class Under:
    """A call under way."""

    who: tuple[str, str | None]
    input: int
    output: int
    price: Price
    limits: list[Limit]


@dataclass
class PlainLedger:
    """Budgets, and calls under way."""

    limits: list[Limit] = field(default_factory=list)
    calls: dict[str, Under] = field(default_factory=dict)

    def set(self, level: str, subject: str, unit: str, period: str, amount: int, now: int) -> None:
        """Set one, or change its amount."""
        for limit in self.limits:
            if (limit.level, limit.subject, limit.unit, limit.period) == (level, subject, unit, period):
                limit.is_over = limit.is_over or amount < limit.amount
                limit.amount = amount
                return
        self.limits.append(Limit(level, subject, unit, period, amount, start_of(period, now)))

    def of(self, who: tuple[str, str | None]) -> list[Limit]:
        """Those in which a caller needs room."""
        account, key = who
        places = {("server", ""), ("account", account), ("key", key)}
        return [limit for limit in self.limits if (limit.level, limit.subject) in places]

    def begin(
        self, id: str, who: tuple[str, str | None], input: int, output: int | None, answers: int, price: Price, now: int
    ) -> int | str | None:
        """Reserve: the cap of each answer, None where the request has its own, or "refused"."""
        limits = self.of(who)
        if not limits:
            return "free"
        stand = [replace(limit) for limit in limits]
        for limit in stand:
            limit.turn(now)
        cap = None
        if output is None:
            cap = max(self._cap(stand, input, answers, price), SMALLEST_CAP)
        total = (output if cap is None else cap or 0) * answers  # type: ignore[operator]
        if any(taken(limit.unit, input, total, price) > limit.left for limit in stand):
            return "refused"  # a period begins for good with a call that goes out
        for limit in limits:
            limit.turn(now)
            limit.held[id] = taken(limit.unit, input, total, price)
        self.calls[id] = Under(who, input, total, price, limits)
        return cap

    def _cap(self, limits: list[Limit], input: int, answers: int, price: Price) -> int:
        """The most tokens of each answer that all have left, found by looking for it."""
        fits, not_any_more = -1, LARGEST_CAP * answers + 1
        while not_any_more - fits > 1:
            middle = (fits + not_any_more) // 2
            tight = [each for each in limits if each.unit in ("money", "tokens")]
            if all(taken(each.unit, input, middle, price) <= each.left for each in tight):
                fits = middle
            else:
                not_any_more = middle
        return max(fits, 0) // answers

    def end(self, id: str, input: int, output: int, now: int, *, went_out: bool = True) -> None:
        """Settle: what it took takes the place of what was held. A call that never went out takes nothing."""
        call = self.calls.pop(id)
        for limit in call.limits:
            if limit not in self.limits:
                continue
            limit.turn(now)
            bound = limit.held.pop(id)
            took = (1 if limit.unit == "requests" else taken(limit.unit, input, output, call.price)) if went_out else 0
            took = 0 if limit.unit == "calls" else took
            limit.is_over = limit.is_over or took > bound
            limit.spent += took

    def lose(self, ids: list[str], now: int) -> None:
        """Their process died: they are booked at the most that they may have cost."""
        for id in ids:
            self.end(id, self.calls[id].input, self.calls[id].output, now)

    def remove(self, at: int) -> None:
        """Remove a budget."""
        del self.limits[at]


def taken(unit: str, input: int, output: int, price: Price) -> int:
    """What a call with so many tokens takes of a unit."""
    return {"money": price.nano(input, output), "tokens": input + output}.get(unit, 1)
