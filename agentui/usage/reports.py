"""What the ledger tells: its rows, and their sums by day, model, key, pipeline, account or chat."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import ColumnElement, Connection, case, func, literal, select, tuple_

from agentui.store.tables import usage

Grouping: TypeAlias = Literal["day", "model", "key", "pipeline", "account", "session", "purpose"]
DAY_MS: Final = 86_400_000
MOST_SUMS: Final = 1000


@dataclass(frozen=True, slots=True)
class UsageItem:
    """A request that went out to a model. ``price_nano`` is in billionths of a dollar, None where the price is not known;
    ``basis`` says whence the tokens are."""

    id: str
    account_id: str
    key_id: str | None
    session_id: str | None
    floor_id: str | None
    run_id: str
    pipeline_id: str
    node_id: str
    vendor: str
    host: str
    model: str
    operation: str
    purpose: str
    outcome: str
    status: int | None
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    reasoning_tokens: int | None
    price_nano: int | None
    basis: str
    latency_ms: int
    created_at: int


@dataclass(frozen=True, slots=True)
class UsageSum:
    """What calls of one day, model or the like came to. ``name`` is the day (YYYY-MM-DD) or the id or name, None for calls
    without one; ``unpriced`` are calls whose price nobody knows, ``estimated`` those whose tokens nobody told."""

    name: str | None
    calls: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    reasoning_tokens: int
    price_nano: int
    unpriced: int
    estimated: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows: of an account (None: of all), from a time on and before another, in milliseconds since 1970."""

    account: str | None
    start: int = 0
    end: int = 1 << 62
    session: str | None = None
    floor: str | None = None
    run: str | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        """The rows as the database looks for them."""
        exact = {"account_id": self.account, "session_id": self.session, "floor_id": self.floor, "run_id": self.run}
        named = [usage.c[name] == value for name, value in exact.items() if value is not None]
        return [usage.c.created_at >= self.start, usage.c.created_at < self.end, *named]


def list_usage(db: Connection, wanted: Wanted, limit: int, before: str | None) -> list[UsageItem]:
    """Rows, the newest first; those that follow the row ``before``, none where there is no such row. They are read along an
    index, so a page costs as much as it has rows, however many others there are."""
    query = select(usage)
    if before is not None:
        last = db.execute(select(usage.c.created_at).where(usage.c.id == before)).scalar()
        if last is None:
            return []
        query = query.where(tuple_(usage.c.created_at, usage.c.id) < tuple_(literal(last), literal(before)))
        wanted = replace(wanted, end=min(wanted.end, last + 1))
    query = query.where(*wanted.conditions())
    return [UsageItem(*row) for row in db.execute(query.order_by(usage.c.created_at.desc(), usage.c.id.desc()).limit(limit))]


def sum_usage(db: Connection, wanted: Wanted, by: Grouping) -> list[UsageSum]:
    """Sums, days in their order and all else by price, the dearest first; at most ``MOST_SUMS``."""
    name: Any = _day() if by == "day" else usage.c[{"model": "model", "purpose": "purpose"}.get(by, f"{by}_id")]
    price = func.coalesce(func.sum(usage.c.price_nano), 0)
    query = (
        select(
            name,
            func.count(),
            *(func.coalesce(func.sum(usage.c[f"{kind}_tokens"]), 0) for kind in ("input", "output", "cache_read", "reasoning")),
            price,
            func.sum(case((usage.c.price_nano.is_(None), 1), else_=0)),
            func.sum(case((usage.c.basis == "estimated", 1), else_=0)),
        )
        .where(*wanted.conditions())
        .group_by(name)
        .order_by(name.desc() if by == "day" else price.desc())
        .limit(MOST_SUMS)
    )
    return [_sum(row, by) for row in db.execute(query)]


def _day() -> ColumnElement[int]:
    """The moment at which a row's day began, in UTC."""
    return (usage.c.created_at - usage.c.created_at % DAY_MS).label("day")


def _sum(row: Sequence[Any], by: Grouping) -> UsageSum:
    name = f"{datetime.fromtimestamp(int(row[0]) / 1000, UTC):%Y-%m-%d}" if by == "day" else row[0]
    return UsageSum(name, *(int(count) for count in row[1:]))
