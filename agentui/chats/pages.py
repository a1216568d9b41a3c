"""Pages: versions of what goes in and out of a floor."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select, update

from agentui.chats.codes import failure
from agentui.chats.conversations import BatchResult
from agentui.chats.listing import Listed, Paging, list_rows
from agentui.chats.memories import switch_jobs
from agentui.chats.records import Page, PageKind, page_of
from agentui.chats.rows import (
    check_content_open,
    check_contents_open,
    check_no_live_run,
    delete_page,
    find_page,
    hold_floor,
    insert_new,
    reshape,
)
from agentui.chats.versions import switch_variables
from agentui.chats.working.checkpoints import forget_checkpoints
from agentui.ids import new_short_id
from agentui.jsonio import Json
from agentui.store.kept import PAGE_IS_KEPT
from agentui.store.tables import floors, pages


@dataclass(frozen=True, slots=True)
class NewPage:
    """A page as a caller wants it."""

    floor_id: str
    page_no: int
    page_kind: PageKind
    version: int = 1
    checksum: str | None = None


def create_page(db: Connection, account: str, new: NewPage, now: int) -> Page:
    """Make a page; it is active if no other version of its number is.

    Raises 404, 409 ``content_target_locked``, ``active_run_in_progress``, and ``page_conflict`` for a version that is there
    already.
    """
    check_content_open(db, account, new.floor_id, now)
    slot = (pages.c.floor_id == new.floor_id, pages.c.page_no == new.page_no)
    taken = db.execute(select(pages.c.id).where(*slot, pages.c.is_active)).first() is not None
    page_id = new_short_id()
    values = {
        "id": page_id,
        "account_id": account,
        "floor_id": new.floor_id,
        "page_no": new.page_no,
        "page_kind": new.page_kind,
        "is_active": not taken,
        "version": new.version,
        "checksum": new.checksum,
        "created_at": now,
        "updated_at": now,
    }
    if not insert_new(db, pages, values):
        raise _version_taken(new.page_no, new.version)
    return find_page(db, account, page_id)


def update_page(db: Connection, account: str, page_id: str, fields: Mapping[str, Json], now: int) -> Page:
    """Change ``page_no``, ``page_kind``, ``version`` or ``checksum``.

    Raises as ``create_page`` does, and ``page_conflict`` for an active page whose new number has an active one already.
    """
    page = find_page(db, account, page_id)
    check_content_open(db, account, page.floor_id, now)
    # Again, now that the floor is held: somebody may have activated another version while we waited for it.
    page = find_page(db, account, page_id)
    page_no, version = fields.get("page_no", page.page_no), fields.get("version", page.version)
    slot = (pages.c.floor_id == page.floor_id, pages.c.page_no == page_no, pages.c.id != page_id)
    for other in db.execute(select(pages.c.version, pages.c.is_active).where(*slot)).all():
        if other.version == version:
            raise _version_taken(page_no, version)
        if page.is_active and other.is_active:
            raise failure(
                "page_conflict",
                f"Page {page_no} has an active version already, version {other.version}. Activate another version of the page "
                "that shall move, or choose another number.",
                page_no=page_no,
                version=other.version,
            )
    db.execute(update(pages).where(pages.c.id == page_id).values(updated_at=now, **fields))
    return find_page(db, account, page_id)


def activate_page(db: Connection, account: str, page_id: str, now: int) -> Page:
    """Make this the active version of its page number, in any state of the floor. What the version before changed of the
    branch's, the chat's and the global variables is taken back, and what this one changed brought back.

    Raises 404, 409 ``page_activation_not_allowed`` for input pages.
    """
    page = find_page(db, account, page_id)
    floor = hold_floor(db, account, page.floor_id)
    if page.page_kind == "input":
        raise failure("page_activation_not_allowed", "Input pages cannot be activated.", page_id=page_id)
    slot = (pages.c.floor_id == page.floor_id, pages.c.page_no == page.page_no)
    active = db.execute(select(pages.c.id).where(*slot, pages.c.is_active)).scalar_one_or_none()
    if active == page_id:
        return find_page(db, account, page_id)
    if floor.state == "committed" and floor.superseded_at is None:
        switch_variables(db, account, floor, active, page_id, now)
    forget_checkpoints(db, floor.session_id, floor.floor_no)
    # The old one first: at no moment may two be active.
    db.execute(update(pages).where(*slot, pages.c.is_active, pages.c.id != page_id).values(is_active=False, updated_at=now))
    db.execute(update(pages).where(pages.c.id == page_id).values(is_active=True, updated_at=now))
    reshape(db, floor.session_id)
    switch_jobs(db, account, active, page_id, now)
    return find_page(db, account, page_id)


def list_pages(
    db: Connection,
    account: str,
    paging: Paging,
    floor_id: str | None = None,
    page_kind: PageKind | None = None,
    is_active: bool | None = None,
) -> Listed[Page]:
    """The account's pages, sorted by ``created_at``, ``updated_at``, ``page_no`` or ``version``."""
    query = select(pages).where(pages.c.account_id == account)
    wanted = {"floor_id": floor_id, "page_kind": page_kind, "is_active": is_active}
    for name, value in wanted.items():
        if value is not None:
            query = query.where(pages.c[name] == value)
    listed = list_rows(db, query, paging, pages.c[paging.sort_by], pages.c.id)
    return Listed([page_of(row) for row in listed.items], listed.total)


def remove_page(db: Connection, account: str, page_id: str, now: int) -> None:
    """Remove a page with its messages and variables. The partial one of a committed floor can be removed too, where another
    version is left, which is active then. Raises 404, 409 ``content_target_locked``, ``active_run_in_progress``."""
    page = find_page(db, account, page_id)
    if page.is_partial and hold_floor(db, account, page.floor_id).state == "committed":
        check_no_live_run(db, account, now, floor_id=page.floor_id)
        _make_way(db, account, find_page(db, account, page_id), now)
        delete_page(db, account, page_id)
        return
    check_content_open(db, account, page.floor_id, now)
    delete_page(db, account, page_id)


def _make_way(db: Connection, account: str, page: Page, now: int) -> None:
    """Activate the newest other version of a page that is active, a whole one before those that broke off. Raises
    409 ``content_target_locked`` where there is none."""
    if not page.is_active:
        return
    others = (pages.c.floor_id == page.floor_id, pages.c.page_no == page.page_no, pages.c.id != page.id)
    newest = select(pages.c.id).where(*others).order_by(pages.c.is_partial, pages.c.version.desc()).limit(1)
    other = db.execute(newest).scalar_one_or_none()
    if other is None:
        raise failure(
            "content_target_locked",
            "These words are all that the floor answers: remove the floor, or go on from them.",
            page_id=page.id,
            floor_id=page.floor_id,
        )
    activate_page(db, account, other, now)


def remove_pages(db: Connection, account: str, ids: Sequence[str], now: int) -> list[BatchResult]:
    """Remove many pages; unknown ones are reported. Raises 409 as ``remove_page`` does if any is locked."""
    wanted = (pages.c.account_id == account, pages.c.id.in_(ids), PAGE_IS_KEPT)
    broken = (pages.c.is_partial, floors.c.state == "committed")
    of_floors = select(pages.c.id).join(floors, floors.c.id == pages.c.floor_id).where(*wanted, *broken)
    partial = set(db.execute(of_floors).scalars())
    others = (*wanted, pages.c.id.not_in(partial))
    check_contents_open(db, account, db.execute(select(pages.c.floor_id).where(*others)).scalars(), now)
    # Now that the floors are held: who waited with us may have removed some.
    known = set(db.execute(select(pages.c.id).where(*wanted)).scalars())
    for page_id in sorted(known):
        if page_id in partial:
            remove_page(db, account, page_id, now)
        else:
            delete_page(db, account, page_id)
    return [BatchResult(index, id, "deleted" if id in known else "not_found") for index, id in enumerate(ids)]


def _version_taken(page_no: Json, version: Json) -> Exception:
    return failure(
        "page_conflict", f"The floor has version {version} of page {page_no} already.", page_no=page_no, version=version
    )
