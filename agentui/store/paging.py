"""How much of a list goes into one answer: no more bytes than a caller, and this server, can be expected to hold; and where
the next part begins."""

import base64
from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Integer, Row, Select, func, literal, select, tuple_

MAX_PART_BYTES = 8 * 1024 * 1024
"""About how much text one part of a list holds; a single item may be larger."""


def length(*columns: ColumnElement[Any]) -> ColumnElement[int]:
    """The characters of some texts together; null counts as none."""
    total: ColumnElement[int] = literal(0, Integer)
    for column in columns:
        total = total + func.coalesce(func.length(column), 0)
    return total


def total_length(*where: ColumnElement[bool], of: Sequence[ColumnElement[Any]]) -> Select[Any]:
    """What counts the characters of some texts in all rows that meet the conditions."""
    return select(func.coalesce(func.sum(length(*of)), 0)).where(*where)


def fitting(
    db: Connection, query: Select[Any], weight: ColumnElement[int], limit: int, offset: int, *, from_end: bool = False
) -> int:
    """How many rows of this part of a sorted query fit into one answer, each counting ``weight``; at least one. ``from_end``
    counts from the part's last row backward."""
    left = MAX_PART_BYTES
    count = 0
    part = query.with_only_columns(weight, maintain_column_froms=True).limit(limit).offset(offset)
    sizes = db.execute(part).scalars().all()
    for size in reversed(sizes) if from_end else sizes:
        left -= size
        if left < 0:
            break
        count += 1
    return max(count, 1)


class Place(NamedTuple):
    """Where a list by time goes on: behind the row of this time (milliseconds since 1970) and id."""

    time: int
    id: str

    @property
    def cursor(self) -> str:
        """The same as callers see it."""
        return base64.urlsafe_b64encode(f"{self.time}:{self.id}".encode()).decode().rstrip("=")

    @classmethod
    def of(cls, cursor: str) -> "Place":
        """The place of a cursor. Raises ValueError for what ``cursor`` never gave."""
        told = base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True).decode()
        time, colon, id = told.partition(":")
        if not colon or not time.isascii() or not time.isdigit() or len(time) > 15:
            raise ValueError(f"{cursor!r} is no cursor")
        return cls(int(time), id)


def newest(
    db: Connection, query: Select[Any], time: ColumnElement[int], id: ColumnElement[str], limit: int, place: Place | None
) -> tuple[Sequence[Row[Any]], str | None]:
    """The rows of a query from a place on, the newest first, and the cursor of those behind them, None where there are none.
    The query selects both columns."""
    if place is not None:
        query = query.where(tuple_(time, id) < tuple_(*map(literal, place)))
    rows = db.execute(query.order_by(time.desc(), id.desc()).limit(limit + 1)).all()
    shown = rows[:limit]
    if len(rows) <= limit:
        return shown, None
    last = shown[-1]._mapping
    return shown, Place(last[time], last[id]).cursor
