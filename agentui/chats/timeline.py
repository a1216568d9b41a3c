"""The timeline: a branch's committed floors with their pages and messages, as a reader wants them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, func, select

from agentui.chats.lineage import committed_before, source_of
from agentui.chats.listing import Listed, Paging, count_rows, list_rows
from agentui.chats.records import AnyRow, ContentFormat, FloorState, PageKind, Role, shown_parts
from agentui.chats.rows import find_session, on_branch
from agentui.jsonio import Json
from agentui.store.paging import length
from agentui.store.prepared import OneOf, Prepared, texts
from agentui.store.tables import floors, messages, pages

_TOLD = 4
"""How often a message of an active page stands in its floor."""
_WEIGHT = (
    func.coalesce(
        select(func.sum(length(messages.c.content, messages.c.parts_json)))
        .join(pages, pages.c.id == messages.c.page_id)
        .where(pages.c.floor_id == floors.c.id)
        .correlate(floors)
        .scalar_subquery(),
        0,
    )
    * _TOLD
)
"""What a floor's texts come to in an answer."""


@dataclass(frozen=True, slots=True)
class TimelineMessage:
    """A message of the timeline; ``parts`` as ``Message`` has them."""

    id: str
    seq: int
    role: Role
    content: str
    content_format: ContentFormat
    is_hidden: bool
    parts: list[Json] | None = None


@dataclass(frozen=True, slots=True)
class TimelineActivePage:
    """An active page of the timeline."""

    id: str
    page_no: int
    page_kind: PageKind
    version: int
    messages: list[TimelineMessage]


@dataclass(frozen=True, slots=True)
class TimelinePage:
    """A page of the timeline, active or not."""

    id: str
    page_no: int
    page_kind: PageKind
    is_active: bool
    is_partial: bool
    version: int
    messages: list[TimelineMessage]


@dataclass(frozen=True, slots=True)
class TimelineFloor:
    """A floor of the timeline.

    ``active_page`` is there when exactly one page is active; ``messages`` are those of the active pages, in order.
    """

    id: str
    branch_id: str
    floor_no: int
    state: FloorState
    token_in: int
    token_out: int
    created_at: int
    pages: list[TimelinePage]
    active_pages: list[TimelineActivePage]
    active_page: TimelineActivePage | None
    messages: list[TimelineMessage]
    page_count: int


def read_timeline(
    db: Connection, account: str, session_id: str, branch_id: str, limit: int, offset: int, include_ancestors: bool = False
) -> Listed[TimelineFloor]:
    """The committed live floors that lie on the branch itself, by number; of an unknown branch there are none. Raises 404.

    ``include_ancestors`` puts those before them that the branch leads through: to count them, all of these are gone through.
    """
    find_session(db, account, session_id)
    query = select(floors).where(*on_branch(account, session_id, branch_id), floors.c.state == "committed")
    source = source_of(db, account, session_id, branch_id) if include_ancestors else None
    if source is None:
        return _told(db, query, Paging(limit, offset, "floor_no", "asc"))
    before = committed_before(db, account, source)
    part = before[offset : offset + limit]
    own = query.with_only_columns(floors.c.id).order_by(floors.c.floor_no)
    part += db.execute(own.limit(limit - len(part)).offset(max(0, offset - len(before)))).scalars()
    told = _told(db, select(floors).where(floors.c.id.in_(part)), Paging(limit, 0, "floor_no", "asc"))
    return Listed(told.items, len(before) + count_rows(db, query))


def _told(db: Connection, query: Select[Any], paging: Paging) -> Listed[TimelineFloor]:
    """Some floors with all that was said on them, as far as one answer holds it."""
    listed = list_rows(db, query, paging, floors.c.floor_no, weight=_WEIGHT)
    pages_by_floor = _pages(db, [row.id for row in listed.items])
    return Listed([_floor(row, pages_by_floor[row.id]) for row in listed.items], listed.total)


def _floor(row: AnyRow, its_pages: list[TimelinePage]) -> TimelineFloor:
    active = [
        TimelineActivePage(page.id, page.page_no, page.page_kind, page.version, page.messages)
        for page in its_pages
        if page.is_active
    ]
    return TimelineFloor(
        id=row.id,
        branch_id=row.branch_id,
        floor_no=row.floor_no,
        state=row.state,
        token_in=row.token_in,
        token_out=row.token_out,
        created_at=row.created_at,
        pages=its_pages,
        active_pages=active,
        active_page=active[0] if len(active) == 1 else None,
        messages=[message for page in active for message in page.messages],
        page_count=len(its_pages),
    )


def _pages(db: Connection, floor_ids: Sequence[str]) -> dict[str, list[TimelinePage]]:
    """The pages of some floors with their messages, by floor, in order."""
    rows = _PAGES.rows(db, {"floors": texts(floor_ids)})
    said = _MESSAGES.rows(db, {"floors": texts(floor_ids)})
    messages_by_page: dict[str, list[TimelineMessage]] = defaultdict(list)
    for row in said:
        messages_by_page[row.page_id].append(
            TimelineMessage(row.id, row.seq, row.role, row.content, row.content_format, row.is_hidden, shown_parts(row))
        )
    pages_by_floor: dict[str, list[TimelinePage]] = defaultdict(list)
    for row in rows:
        said_there = messages_by_page[row.id]
        page = TimelinePage(row.id, row.page_no, row.page_kind, row.is_active, row.is_partial, row.version, said_there)
        pages_by_floor[row.floor_id].append(page)
    return pages_by_floor


_PAGES = Prepared(select(pages).where(OneOf(pages.c.floor_id, "floors")).order_by(pages.c.page_no, pages.c.version))
_MESSAGES = Prepared(
    select(messages)
    .join(pages, pages.c.id == messages.c.page_id)
    .where(OneOf(pages.c.floor_id, "floors"))
    .order_by(messages.c.seq)
)
