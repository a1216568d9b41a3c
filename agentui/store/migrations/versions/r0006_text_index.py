"""Where each text was said, so that the history that a client sends tells where its turn belongs."""

import sqlalchemy as sa
from alembic.operations import Operations

from agentui.chat.fingerprints import fingerprint

revision = "0006"
down_revision = "0005"

_BATCH = 500
_EARLIER = sa.text(
    "SELECT messages.id, messages.content, messages.role, pages.id, floors.id, floors.session_id, floors.account_id"
    " FROM messages JOIN pages ON pages.id = messages.page_id JOIN floors ON floors.id = pages.floor_id"
    " WHERE messages.id > :last AND messages.role IN ('user', 'assistant') ORDER BY messages.id LIMIT :most"
)
_NAMES = ("floor_id", "page_id", "number", "account_id", "session_id", "side")


def ident(length: int) -> sa.String:
    """Ids that sort by their bytes on both engines."""
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade(op: Operations) -> None:
    """Make the table, and write into it what was said before."""
    table = op.create_table(
        "text_index",
        sa.Column("floor_id", ident(64), nullable=False),
        sa.Column("page_id", ident(64), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False, autoincrement=False, comment="The text's fingerprint."),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("session_id", ident(64), nullable=False),
        sa.Column("side", sa.String(16), nullable=False, comment="Who said it: user or assistant."),
        sa.Column("past", sa.Integer(), comment="How much the client sent before this question; null where that is not known."),
        sa.ForeignKeyConstraint(["floor_id"], ["floors.id"], name="fk_text_index_floor_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("floor_id", "page_id", "number", name="pk_text_index"),
        sqlite_with_rowid=False,
        comment="Where each text was said, so that a client's history is found again.",
    )
    op.create_index("ix_text_index_account_id_number_session_id", "text_index", ["account_id", "number", "session_id"])
    db, last = op.get_bind(), ""
    while rows := db.execute(_EARLIER, {"last": last, "most": _BATCH}).all():
        last = rows[-1][0]
        found: dict[tuple[str, str, int], dict[str, object]] = {}
        for _, content, role, page, floor, session, account in rows:
            number = fingerprint(content)
            if number is not None:
                found[floor, page, number] = dict(zip(_NAMES, (floor, page, number, account, session, role), strict=True))
        # A page of many messages may say one text twice, and they may be far apart.
        # The floors come first in the key: by the pages alone every batch would read the whole table.
        mine = sa.select(table.c.floor_id, table.c.page_id, table.c.number).where(
            table.c.floor_id.in_({at[0] for at in found}), table.c.page_id.in_({at[1] for at in found})
        )
        known = {(floor, page, number) for floor, page, number in db.execute(mine)}
        new = [values for place, values in found.items() if place not in known]
        if new:
            db.execute(sa.insert(table), new)
