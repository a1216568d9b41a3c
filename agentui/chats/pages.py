"""Pages: versions of what goes in and out of a floor."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, select, update

from agentui.chats.codes import failure
from agentui.chats.listing import Listed, Paging, list_rows
from agentui.chats.records import Page, PageKind, page_of
from agentui.chats.rows import check_content_open, delete_page, find_floor, find_page, insert_new
from agentui.ids import new_short_id
from agentui.jsonio import Json
from agentui.store.tables import pages


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

    Raises 404, 409 ``content_target_locked``, ``page_conflict`` for a version that is there already.
    """
    check_content_open(db, account, new.floor_id)
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
    check_content_open(db, account, page.floor_id)
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
    """Make this the active version of its page number, in any state of the floor.

    Raises 404, 409 ``page_activation_not_allowed`` for input pages.
    """
    page = find_page(db, account, page_id)
    find_floor(db, account, page.floor_id, hold=True)
    if page.page_kind == "input":
        raise failure("page_activation_not_allowed", "Input pages cannot be activated.", page_id=page_id)
    slot = (pages.c.floor_id == page.floor_id, pages.c.page_no == page.page_no)
    # The old one first: at no moment may two be active.
    db.execute(update(pages).where(*slot, pages.c.is_active, pages.c.id != page_id).values(is_active=False, updated_at=now))
    db.execute(update(pages).where(pages.c.id == page_id).values(is_active=True, updated_at=now))
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


def remove_page(db: Connection, account: str, page_id: str) -> None:
    """Remove a page with its messages and variables. Raises 404, 409 ``content_target_locked``."""
    page = find_page(db, account, page_id)
    check_content_open(db, account, page.floor_id)
    delete_page(db, account, page_id)


def _version_taken(page_no: Json, version: Json) -> Exception:
    return failure(
        "page_conflict", f"The floor has version {version} of page {page_no} already.", page_no=page_no, version=version
    )
