"""A page of a list: how much of it, in which order, and how many there are in all."""

from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from sqlalchemy import ColumnElement, Connection, Select, func, select

from agentui.chats.records import AnyRow
from agentui.store.paging import fitting

T = TypeVar("T")

SortOrder: TypeAlias = Literal["asc", "desc"]


@dataclass(frozen=True, slots=True)
class Paging:
    """Which part of a list, sorted how; ``sort_by`` is a name that the list knows."""

    limit: int = 50
    offset: int = 0
    sort_by: str = "updated_at"
    sort_order: SortOrder = "desc"


@dataclass(frozen=True, slots=True)
class Listed(Generic[T]):
    """A part of a list, and how long the whole is."""

    items: list[T]
    total: int


def list_rows(
    db: Connection,
    query: Select[Any],
    paging: Paging,
    *order: ColumnElement[Any],
    weight: ColumnElement[int] | None = None,
) -> Listed[AnyRow]:
    """Run a query for one page of its rows and for their number; ``order`` are columns, the first counting most. Where rows may
    be large, ``weight`` is how large each is, and the page ends where they are too large together."""
    total = count_rows(db, query)
    # What lies in the further half is counted from the end: the engine goes through all rows that it leaves out.
    is_far = paging.offset > total // 2
    is_descending = (paging.sort_order == "desc") != is_far
    query = query.order_by(*(column.desc() if is_descending else column.asc() for column in order))
    limit = min(paging.limit, total - paging.offset)
    if limit <= 0:
        return Listed([], total)
    offset = total - paging.offset - limit if is_far else paging.offset
    if weight is not None:
        held = fitting(db, query, weight, limit, offset, from_end=is_far)
        limit, offset = held, offset + limit - held if is_far else offset
    rows = list(db.execute(query.limit(limit).offset(offset)).all())
    return Listed(rows[::-1] if is_far else rows, total)


def count_rows(db: Connection, query: Select[Any]) -> int:
    """How many rows a query would find."""
    return int(db.execute(select(func.count()).select_from(query.order_by(None).subquery())).scalar_one())
