"""What was said on a floor, as jobs know it again."""

from hashlib import sha256

from sqlalchemy import Connection, select

from agentui.store.tables import messages, pages


def user_text(db: Connection, account: str, floor_id: str) -> str:
    """What the user says on a floor: the messages of its active input pages that are not hidden."""
    said = (
        select(messages.c.content)
        .join(pages, pages.c.id == messages.c.page_id)
        .where(pages.c.floor_id == floor_id, pages.c.account_id == account, pages.c.is_active, pages.c.page_kind == "input")
        .where(messages.c.role == "user", messages.c.is_hidden.is_(False))
        .order_by(pages.c.page_no, messages.c.seq)
    )
    return "\n".join(db.execute(said).scalars())


def answer_id(db: Connection, account: str, page_id: str) -> str | None:
    """The last message of a page."""
    said = select(messages.c.id).where(messages.c.page_id == page_id, messages.c.account_id == account)
    return db.execute(said.order_by(messages.c.seq.desc()).limit(1)).scalar_one_or_none()


def digest(text: str) -> str:
    """By which a text is known again."""
    return f"sha256:{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"
