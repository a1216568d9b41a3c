"""What was asked on a floor: its input page, which a floor that takes its place gets a copy of."""

from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import Connection, String, Table, bindparam, insert, literal_column, select, update

from agentui.chats.parts import with_text
from agentui.chats.records import shown_parts
from agentui.chats.text_index import index_text, renew_question
from agentui.ids import new_short_id
from agentui.jsonio import loads
from agentui.store.prepared import Prepared, named
from agentui.store.tables import message_blobs, message_extras, messages, pages, runs


def question_page(db: Connection, floor_id: str) -> str | None:
    """The page with what was asked; None where nothing was."""
    found = _QUESTION_PAGE.first(db, {"floor": floor_id})
    return None if found is None else str(found[0])


_OF_FLOOR = pages.c.floor_id == bindparam("floor"), pages.c.is_active
_QUESTION_PAGE = Prepared(select(pages.c.id).where(*_OF_FLOOR, pages.c.page_kind == "input").order_by(pages.c.page_no))


def has_answer(db: Connection, floor_id: str) -> bool:
    """Whether the floor answers: a user said something on it, or a turn made it without words. A greeting was made by no turn,
    and has no input page where a client that follows its own history went on with it."""
    return any(each.first(db, {"floor": floor_id}) is not None for each in (_ASKED, _ANSWERED_UNASKED))


_ASKED = Prepared(
    select(messages.c.id)
    .join(pages, pages.c.id == messages.c.page_id)
    .where(*_OF_FLOOR, pages.c.page_kind != "output", messages.c.role == "user")
    .limit(literal_column("1"))
)


_ANSWERED_UNASKED = Prepared(
    select(pages.c.id)
    .join(runs, runs.c.floor_id == pages.c.floor_id)
    .where(*_OF_FLOOR, pages.c.page_kind == "input")
    .limit(literal_column("1"))
)


def copy_question(
    db: Connection, account: str, floor_id: str, page_id: str, now: int, edited: tuple[str, str] | None = None
) -> None:
    """Write what was asked on a floor to another page, with its media. ``edited`` is a message's id, and the text that the copy
    says in its place."""
    for row in _ON_PAGE.rows(db, {"page": question_page(db, floor_id), "account": account}):
        copy = {**row._asdict(), "id": new_short_id(), "page_id": page_id, "created_at": now}
        if edited is not None and edited[0] == row.id:
            parts = shown_parts(row)
            copy |= {"content": edited[1], "token_count": 0}
            copy |= {"parts_json": None if parts is None else with_text(parts, edited[1])}
        _INSERT.run(db, copy)
        index_text(db, account, page_id, row.role, copy["content"])
        for beside in _COPY_BESIDE:
            beside.run(db, {"copy": copy["id"], "message": row.id})


_ON_PAGE = Prepared(
    select(messages)
    .where(messages.c.page_id == bindparam("page"), messages.c.account_id == bindparam("account"))
    .order_by(messages.c.seq)
)
_INSERT = Prepared(insert(messages).values(named(messages, *(column.name for column in messages.c))))


def _copying(table: Table) -> Prepared:
    """Gives a copy of a message what a table holds of the message."""
    others = [column for column in table.c if column.name != "message_id"]
    told = select(bindparam("copy", type_=String), *others).where(table.c.message_id == bindparam("message"))
    return Prepared(insert(table).from_select(["message_id", *(column.name for column in others)], told))


_COPY_BESIDE = (_copying(message_extras), _copying(message_blobs))


class Question(NamedTuple):
    """What was asked on a floor: its page, the message of the user, its text, and its parts as they are written."""

    page_id: str
    message_id: str
    text: str
    parts_json: str | None


def find_question(db: Connection, account: str, floor_id: str) -> Question | None:
    """What was asked on a floor; None where nobody asked anything."""
    asked = (pages.c.floor_id == floor_id, pages.c.page_kind == "input", pages.c.is_active, messages.c.role == "user")
    columns = (pages.c.id, messages.c.id, messages.c.content, messages.c.parts_json)
    query = select(*columns).join(messages, messages.c.page_id == pages.c.id).where(*asked, pages.c.account_id == account)
    row = db.execute(query.order_by(pages.c.page_no, messages.c.seq).limit(1)).one_or_none()
    return None if row is None else Question(*row)


def correct_question(db: Connection, account: str, floor_id: str, asked: Question, words: str, added: Collection[int]) -> None:
    """Have a floor ask what the person said: ``words``, without the texts that its client ``added``."""
    said = words.replace("\0", "\ufffd")  # PostgreSQL keeps no NUL in a text
    parts = None if asked.parts_json is None else with_text(loads(asked.parts_json), said)
    values = {"content": said, "parts_json": parts}
    db.execute(update(messages).where(messages.c.id == asked.message_id).values(values))
    renew_question(db, account, floor_id, asked.page_id, words, added)
