"""Messages on pages: writing, reading, changing, hiding and removing them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, delete, select, update
from sqlalchemy.exc import IntegrityError

from agentui.chats.codes import failure
from agentui.chats.conversations import BatchResult
from agentui.chats.listing import Listed, Paging, list_rows
from agentui.chats.parts import with_text
from agentui.chats.records import ContentFormat, Message, Role, message_of
from agentui.chats.rows import check_content_open, check_contents_open, find_page, insert_new
from agentui.chats.text_index import index_text
from agentui.ids import new_short_id
from agentui.jsonio import Json
from agentui.search.index import renew_message
from agentui.store.kept import MESSAGE_IS_KEPT
from agentui.store.paging import MAX_PART_BYTES, length
from agentui.store.prepared import Prepared
from agentui.store.tables import floors, messages, pages


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message as a caller wants it."""

    page_id: str
    seq: int
    role: Role
    content: str
    content_format: ContentFormat = "text"
    token_count: int = 0
    is_hidden: bool = False
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """What became of one message that was to be hidden or shown; ``message`` is None where it is too large to be given back
    with the others."""

    index: int
    id: str
    is_known: bool
    message: Message | None


@dataclass(frozen=True, slots=True)
class MessageFilter:
    """Which messages; None wants any."""

    page_id: str | None = None
    floor_id: str | None = None
    session_id: str | None = None
    role: Role | None = None
    is_hidden: bool | None = None


def find_message(db: Connection, account: str, message_id: str, *, code: str = "not_found") -> Message:
    """A message. Raises 404."""
    row = _MESSAGE.row(db, {"message": message_id, "account": account})
    if row is None:
        raise failure(code, "There is no such message.", message_id=message_id)
    return message_of(row)


_SIZE = length(messages.c.content, messages.c.parts_json)
_MESSAGE = Prepared(
    select(messages).where(
        messages.c.id == bindparam("message"), messages.c.account_id == bindparam("account"), MESSAGE_IS_KEPT
    )
)


def create_message(db: Connection, account: str, new: NewMessage, now: int) -> Message:
    """Write a message. Raises 404, 409 ``content_target_locked``, ``active_run_in_progress``, and ``message_conflict`` for a
    seq that is there already."""
    check_content_open(db, account, find_page(db, account, new.page_id).floor_id, now)
    message_id = new_short_id()
    values = {
        "id": message_id,
        "account_id": account,
        "page_id": new.page_id,
        "seq": new.seq,
        "role": new.role,
        "content": new.content,
        "content_format": new.content_format,
        "token_count": new.token_count,
        "is_hidden": new.is_hidden,
        "source": new.source,
        "created_at": now,
    }
    # Now that the floor is held: the page may have been removed while we waited for it.
    find_page(db, account, new.page_id)
    if not insert_new(db, messages, values):
        raise _seq_taken(new.seq)
    index_text(db, account, new.page_id, new.role, new.content)
    renew_message(db, account, message_id)
    return find_message(db, account, message_id)


def update_message(db: Connection, account: str, message_id: str, fields: Mapping[str, Json], now: int) -> Message:
    """Change what ``fields`` name; a new content takes the place of the texts among the parts. Raises as ``create_message``
    does."""
    message = find_message(db, account, message_id)
    check_content_open(db, account, find_page(db, account, message.page_id).floor_id, now)
    if "content" in fields and message.parts is not None:
        fields = {**fields, "parts_json": with_text(message.parts, fields["content"])}
    try:
        db.execute(update(messages).where(messages.c.id == message_id).values(**fields))
    except IntegrityError as error:
        raise _seq_taken(fields.get("seq", message.seq)) from error
    changed = find_message(db, account, message_id)
    index_text(db, account, changed.page_id, changed.role, changed.content)
    renew_message(db, account, message_id)
    return changed


def list_messages(db: Connection, account: str, paging: Paging, wanted: MessageFilter) -> Listed[Message]:
    """The account's messages, sorted by ``seq`` or ``created_at``."""
    query = select(messages).where(messages.c.account_id == account)
    for column, value in (
        (messages.c.page_id, wanted.page_id),
        (messages.c.role, wanted.role),
        (messages.c.is_hidden, wanted.is_hidden),
    ):
        if value is not None:
            query = query.where(column == value)
    if wanted.floor_id is not None or wanted.session_id is not None:
        query = query.join(pages, pages.c.id == messages.c.page_id)
    if wanted.floor_id is not None:
        query = query.where(pages.c.floor_id == wanted.floor_id)
    if wanted.session_id is not None:
        query = query.join(floors, floors.c.id == pages.c.floor_id).where(
            floors.c.session_id == wanted.session_id, floors.c.superseded_at.is_(None)
        )
    listed = list_rows(db, query, paging, messages.c[paging.sort_by], messages.c.id, weight=_SIZE)
    return Listed([message_of(row) for row in listed.items], listed.total)


def remove_message(db: Connection, account: str, message_id: str, now: int) -> None:
    """Remove a message. Raises 404, 409 ``content_target_locked`` and ``active_run_in_progress``."""
    message = find_message(db, account, message_id)
    check_content_open(db, account, find_page(db, account, message.page_id).floor_id, now)
    db.execute(delete(messages).where(messages.c.id == message_id))


def hide_messages(db: Connection, account: str, ids: Sequence[str], is_hidden: bool, now: int) -> list[Shown]:
    """Hide or show many messages; unknown ones are reported. Raises 409 as ``create_message`` does if any is locked.

    The messages come back as far as one answer may hold them together.
    """
    _check_all_open(db, account, ids, now)
    wanted = (messages.c.account_id == account, messages.c.id.in_(ids), MESSAGE_IS_KEPT)
    sizes = {
        row.id: row.size
        for row in db.execute(
            update(messages).where(*wanted).values(is_hidden=is_hidden).returning(messages.c.id, _SIZE.label("size"))
        )
    }
    left, fitting = MAX_PART_BYTES, set()
    for id in ids:
        left -= sizes.get(id, 0)
        if id in sizes and left >= 0:
            fitting.add(id)
    shown = {row.id: message_of(row) for row in db.execute(select(messages).where(messages.c.id.in_(fitting)))}
    return [Shown(index, id, id in sizes, shown.get(id)) for index, id in enumerate(ids)]


def remove_messages(db: Connection, account: str, ids: Sequence[str], now: int) -> list[BatchResult]:
    """Remove many messages; unknown ones are reported. Raises 409 as ``create_message`` does if any is locked."""
    _check_all_open(db, account, ids, now)
    known = set(
        db.execute(
            delete(messages)
            .where(messages.c.account_id == account, messages.c.id.in_(ids), MESSAGE_IS_KEPT)
            .returning(messages.c.id)
        ).scalars()
    )
    return [BatchResult(index, id, "deleted" if id in known else "not_found") for index, id in enumerate(ids)]


def _check_all_open(db: Connection, account: str, ids: Sequence[str], now: int) -> None:
    """Hold every floor that the messages lie on, and raise if one is locked."""
    lying = (
        select(pages.c.floor_id)
        .join(messages, messages.c.page_id == pages.c.id)
        .where(messages.c.account_id == account, messages.c.id.in_(ids), MESSAGE_IS_KEPT)
    )
    check_contents_open(db, account, db.execute(lying).scalars(), now)


def _seq_taken(seq: Json) -> Exception:
    return failure("message_conflict", f"The page has a message with seq {seq} already.", seq=seq)
