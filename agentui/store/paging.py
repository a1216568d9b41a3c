"""How much of a list goes into one answer: no more bytes than a caller, and this server, can be expected to hold."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Integer, Select, func, literal, select

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
