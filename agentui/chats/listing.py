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
    total = db.execute(select(func.count()).select_from(query.order_by(None).subquery())).scalar_one()
    sorting = [column.desc() if paging.sort_order == "desc" else column.asc() for column in order]
    query, limit = query.order_by(*sorting), paging.limit
    if weight is not None:
        limit = fitting(db, query, weight, limit, paging.offset)
    rows = db.execute(query.limit(limit).offset(paging.offset)).all()
    return Listed(list(rows), total)
