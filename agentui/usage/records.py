"""Budgets as they stand, and the periods that they are for. Plain data and no database."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, TypeAlias, get_args

Level: TypeAlias = Literal["key", "project", "account", "server"]
Unit: TypeAlias = Literal["money", "tokens", "requests", "calls"]
Period: TypeAlias = Literal["minute", "day", "month", "ever"]
UnknownPrice: TypeAlias = Literal["refuse", "free"]
"""What becomes of a call whose price nobody knows where its caller has a budget of money."""
UNITS: Final[tuple[Unit, ...]] = get_args(Unit)
Amounts: TypeAlias = Mapping[Unit, int]
MOST: Final = 2**62
"""More than anybody has. What a request asks for is counted no further, for a column holds no more."""
MOST_TOKENS: Final = 10**12
"""Tokens of a call that a provider is believed, and with them the sums of millions of rows stay numbers of 64 bits."""
MOST_PRICE: Final = 10**15
"""Nano-dollars that a call may cost, a million dollars."""
WRONG_CLOCK_MS: Final = 3_600_000
"""Clocks of machines that share a database differ by less than this. One that is further ahead was wrong."""


@dataclass(frozen=True, slots=True)
class Budget:
    """A budget and what became of it. Amounts of money are nano-dollars, times milliseconds since 1970."""

    id: str
    level: Level
    subject: str
    unit: Unit
    period: Period
    amount: int
    window_start: int
    spent: int
    reserved: int

    @property
    def left(self) -> int:
        """What a further call may take."""
        return max(self.amount - self.spent - self.reserved, 0)

    def at(self, now: int) -> "Budget":
        """The budget as it stands now: a new period has spent nothing.

        A clock that goes back begins no period anew, or two machines at midnight could each forget what the other's callers
        spent. Where the period lies hours ahead a clock had been wrong, and it would not end for as long: what was spent
        goes into the period that is now.
        """
        start = window_start(self.period, now)
        if start > self.window_start:
            return replace(self, window_start=start, spent=0)
        if self.window_start > now + WRONG_CLOCK_MS:
            return replace(self, window_start=start)
        return self


def window_start(period: Period, now: int) -> int:
    """When the period began that is now."""
    match period:
        case "minute":
            return now - now % 60_000
        case "day":
            return now - now % 86_400_000
        case "month":
            return _ms(_month(now))
        case "ever":
            return 0


def window_end(period: Period, now: int) -> int | None:
    """When the next one begins; None where none does."""
    match period:
        case "minute" | "day":
            return window_start(period, now) + (60_000 if period == "minute" else 86_400_000)
        case "month":
            return _ms((_month(now) + timedelta(days=32)).replace(day=1))
        case "ever":
            return None


def _month(now: int) -> datetime:
    return datetime.fromtimestamp(now / 1000, UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
