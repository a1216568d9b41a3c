"""What was asked on a floor: its input page, which a floor that takes its place gets a copy of."""

from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import Connection, exists, insert, literal, select, update

from agentui.chats.parts import with_text
from agentui.chats.records import shown_parts
from agentui.chats.text_index import index_text, renew_question
from agentui.ids import new_short_id
from agentui.jsonio import loads
from agentui.store.tables import message_blobs, message_extras, messages, pages


def question_page(db: Connection, floor_id: str) -> str | None:
    """The page with what was asked; None where nothing was."""
    asked = (pages.c.floor_id == floor_id, pages.c.page_kind == "input", pages.c.is_active)
    query = select(pages.c.id).where(*asked).order_by(pages.c.page_no).limit(1)
    page_id: str | None = db.execute(query).scalar_one_or_none()
    return page_id


def has_question(db: Connection, floor_id: str) -> bool:
    """Whether a user said something on the floor; on a greeting's nobody did."""
    page = (pages.c.floor_id == floor_id, pages.c.page_kind != "output", pages.c.is_active)
    asked = select(messages.c.id).join(pages, pages.c.id == messages.c.page_id).where(*page, messages.c.role == "user")
    return bool(db.execute(select(exists(asked))).scalar_one())


def copy_question(
    db: Connection, account: str, floor_id: str, page_id: str, now: int, edited: tuple[str, str] | None = None
) -> None:
    """Write what was asked on a floor to another page, with its media. ``edited`` is a message's id, and the text that the copy
    says in its place."""
    query = select(messages).where(messages.c.page_id == question_page(db, floor_id), messages.c.account_id == account)
    for row in db.execute(query.order_by(messages.c.seq)).all():
        copy = {**row._asdict(), "id": new_short_id(), "page_id": page_id, "created_at": now}
        if edited is not None and edited[0] == row.id:
            parts = shown_parts(row)
            copy |= {"content": edited[1], "token_count": 0}
            copy |= {"parts_json": None if parts is None else with_text(parts, edited[1])}
        db.execute(insert(messages).values(copy))
        index_text(db, account, page_id, row.role, copy["content"])
        told = select(literal(copy["id"]), message_extras.c.account_id, message_extras.c.beside_json)
        db.execute(
            insert(message_extras).from_select(
                ["message_id", "account_id", "beside_json"], told.where(message_extras.c.message_id == row.id)
            )
        )
        media = select(literal(copy["id"]), message_blobs.c.hash, message_blobs.c.account_id)
        db.execute(
            insert(message_blobs).from_select(
                ["message_id", "hash", "account_id"], media.where(message_blobs.c.message_id == row.id)
            )
        )


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


def correct_question(db: Connection, account: str, floor_id: str, asked: Question, words: str, beside: Collection[int]) -> None:
    """Have a floor ask what the person said: ``words``, without the texts that its client sent ``beside`` them."""
    parts = None if asked.parts_json is None else with_text(loads(asked.parts_json), words)
    values = {"content": words, "parts_json": parts}
    db.execute(update(messages).where(messages.c.id == asked.message_id).values(values))
    renew_question(db, account, floor_id, asked.page_id, words, beside)
