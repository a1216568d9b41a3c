"""Texts are found by what is left of them without the blocks that clients take out."""

import sqlalchemy as sa
from alembic.operations import Operations

from agentui.chat.fingerprints import fingerprint

revision = "0021"
down_revision = "0020"

_BATCH = 500
_WITH_BLOCKS = sa.text(
    "SELECT messages.id, messages.content, messages.role, pages.id, floors.id, floors.session_id, floors.account_id"
    " FROM messages JOIN pages ON pages.id = messages.page_id JOIN floors ON floors.id = pages.floor_id"
    " WHERE messages.id > :last AND messages.role IN ('user', 'assistant') AND messages.content LIKE '%<%'"
    " ORDER BY messages.id LIMIT :most"
)
_NAMES = ("floor_id", "page_id", "number", "account_id", "session_id", "side")
_INSERT = sa.text(
    "INSERT INTO text_index (floor_id, page_id, number, account_id, session_id, side)"
    " VALUES (:floor_id, :page_id, :number, :account_id, :session_id, :side) ON CONFLICT DO NOTHING"
)
_SIDE = "Who said it: user, assistant; else as note_sent."


def upgrade(op: Operations) -> None:
    """Write the numbers of texts with such blocks. What was found by another number before still is."""
    db, last = op.get_bind(), ""
    if db.dialect.name == "postgresql":
        op.alter_column("text_index", "side", comment=_SIDE, existing_type=sa.String(16), existing_nullable=False)
    while rows := db.execute(_WITH_BLOCKS, {"last": last, "most": _BATCH}).all():
        last = rows[-1][0]
        found = [
            dict(zip(_NAMES, (floor, page, number, account, session, role), strict=True))
            for _, content, role, page, floor, session, account in rows
            if (number := fingerprint(content)) is not None
        ]
        if found:
            db.execute(_INSERT, found)
