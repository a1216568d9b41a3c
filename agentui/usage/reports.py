"""What the ledger tells: its rows, and their sums by day, model, key, pipeline, account, chat and the like."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, Final, Literal, TypeAlias
from zoneinfo import ZoneInfo

from sqlalchemy import BigInteger, ColumnElement, Connection, and_, case, func, literal_column, select

from agentui.store.paging import Place, newest
from agentui.store.tables import client_keys, sessions, usage

Grouping: TypeAlias = Literal["day", "model", "key", "pipeline", "account", "session", "purpose", "floor", "node"]
DAY_MS: Final = 86_400_000
MOST_SUMS: Final = 1000
MOST_DAYS: Final = 36_525
"""Days before the last row for which clocks that were moved are looked for: a century."""
_TOKENS: Final = ("input", "output", "cache_read", "cache_write", "reasoning")


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
    without one; ``label`` is what people call it, where that is told. ``price_nano`` is the sum of the prices that are known,
    and ``estimated_nano`` the part of it that rests on estimated tokens. ``unpriced`` are calls whose price nobody knows,
    ``estimated`` those whose tokens nobody told, ``uncounted`` those without any count of tokens."""

    name: str | None
    label: str | None
    calls: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    price_nano: int
    estimated_nano: int
    unpriced: int
    estimated: int
    uncounted: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows: of an account (None: of all), from a time on and before another, in milliseconds since 1970. ``floors`` are
    several at once; None for any."""

    account: str | None
    start: int = 0
    end: int = 1 << 62
    session: str | None = None
    floor: str | None = None
    run: str | None = None
    key: str | None = None
    pipeline: str | None = None
    model: str | None = None
    purpose: str | None = None
    floors: Sequence[str] | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        """The rows as the database looks for them."""
        exact = {
            "account_id": self.account,
            "session_id": self.session,
            "floor_id": self.floor,
            "run_id": self.run,
            "key_id": self.key,
            "pipeline_id": self.pipeline,
            "model": self.model,
            "purpose": self.purpose,
        }
        named = [usage.c[name] == value for name, value in exact.items() if value is not None]
        several = [] if self.floors is None else [usage.c.floor_id.in_(self.floors)]
        return [usage.c.created_at >= self.start, usage.c.created_at < self.end, *named, *several]


def list_usage(db: Connection, wanted: Wanted, limit: int, place: Place | None) -> tuple[list[UsageItem], str | None]:
    """Rows from a place on, the newest first, and the cursor of those behind them, None where there are none."""
    time, id = usage.c.created_at, usage.c.id
    rows, cursor = newest(db, select(usage).where(*wanted.conditions()), time, id, limit, place)
    return [UsageItem(**row._mapping) for row in rows], cursor


def sum_usage(db: Connection, wanted: Wanted, by: Grouping, zone: ZoneInfo, reader: str) -> list[UsageSum]:
    """Sums, days (as they are in ``zone``) the newest first and all else by price, the dearest first; at most ``MOST_SUMS``.
    Chats are named for the ``reader`` whose they are alone: their titles are words that somebody wrote."""
    column = by if by in ("model", "purpose") else f"{by}_id"
    name: ColumnElement[Any] = _day(db, wanted, zone) if by == "day" else usage.c[column]
    price = func.coalesce(func.sum(usage.c.price_nano), 0)
    is_estimated = usage.c.basis == "estimated"
    query = (
        select(
            name,
            func.count(),
            *(func.coalesce(func.sum(usage.c[f"{kind}_tokens"]), 0) for kind in _TOKENS),
            price,
            func.coalesce(func.sum(case((is_estimated, usage.c.price_nano), else_=0)), 0),
            _count(usage.c.price_nano.is_(None)),
            _count(is_estimated),
            _count(and_(usage.c.input_tokens.is_(None), usage.c.output_tokens.is_(None))),
        )
        .where(*wanted.conditions())
        .group_by(name)
        .order_by(name.desc() if by == "day" else price.desc(), name)
        .limit(MOST_SUMS)
    )
    rows = db.execute(query).all()
    if by == "day":
        return [_sum(f"{datetime(1970, 1, 1) + timedelta(days=int(row[0])):%Y-%m-%d}", None, row) for row in rows]
    labels = _labels(db, by, [row[0] for row in rows if row[0] is not None], reader)
    return [_sum(row[0], labels.get(row[0]), row) for row in rows]


def _count(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.coalesce(func.sum(case((condition, 1), else_=0)), 0)


def _sum(name: str | None, label: str | None, row: Sequence[Any]) -> UsageSum:
    return UsageSum(name, label, *(int(count) for count in row[1:]))


def _labels(db: Connection, by: Grouping, ids: Sequence[str], reader: str) -> dict[str, str]:
    """What people call keys and chats, by their ids; those that are gone, or nobody named, are left out."""
    if by == "key":
        keys = select(client_keys.c.id, func.coalesce(client_keys.c.name, client_keys.c.key_prefix))
        return {row[0]: row[1] for row in db.execute(keys.where(client_keys.c.id.in_(ids)))}
    if by == "session":
        title = func.coalesce(sessions.c.title, sessions.c.name)
        own = select(sessions.c.id, title).where(sessions.c.id.in_(ids), sessions.c.account_id == reader)
        return {row[0]: row[1] for row in db.execute(own) if row[1] is not None}
    return {}


def _day(db: Connection, wanted: Wanted, zone: ZoneInfo) -> ColumnElement[int]:
    """How many days after 1970 a row's day is, as the days are in a zone. No engine of ours knows zones alike, so each time at
    which the zone's clocks were moved between the first row and the last becomes a case."""
    bounds = db.execute(select(func.min(usage.c.created_at), func.max(usage.c.created_at)).where(*wanted.conditions())).one()
    first, last = (0, 0) if bounds[0] is None else (int(bounds[0]), int(bounds[1]))
    changes = _offsets(zone, max(first, last - MOST_DAYS * DAY_MS), last)
    # Numbers of ours stand in the statement itself: to PostgreSQL, groupings with
    # parameters are others than what is selected.
    offset: ColumnElement[int] = _number(changes[-1][1])
    if len(changes) > 1:
        # Each lasts until the next one begins.
        spans = pairwise(changes)
        cases = [(usage.c.created_at < _number(after), _number(shift)) for (_, shift), (after, _) in spans]
        offset = case(*cases, else_=offset)
    return ((usage.c.created_at + offset) // _number(DAY_MS)).label("day")


def _number(value: int) -> ColumnElement[int]:
    return literal_column(str(value), BigInteger)


def _offsets(zone: ZoneInfo, first: int, last: int) -> list[tuple[int, int]]:
    """From when on how much is added to UTC, in milliseconds, between two times; the first entry holds at ``first``."""

    def shift(ms: int) -> int:
        offset = datetime.fromtimestamp(ms / 1000, UTC).astimezone(zone).utcoffset()
        return round((offset or timedelta()).total_seconds() * 1000)

    found = [(first, shift(first))]
    start = first - first % DAY_MS
    for day in range(start, last + DAY_MS, DAY_MS):
        before, after = found[-1][1], shift(day + DAY_MS)
        if after != before:
            # Clocks are moved at whole minutes: this is the first at which they show the new time.
            minutes = range(day, day + DAY_MS + 1, 60_000)
            found.append((minutes[bisect_left(minutes, True, key=lambda ms: shift(ms) != before)], after))
    return found
