"""The words index: texts of chats and memories, found by their words."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0035"
down_revision = "0034"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

# Words are cut already: the tokenizer "ascii" leaves them as they are, where "unicode61" would cut the words of India at their
# vowel signs. No places are kept, for nobody looks for phrases.
_SQLITE = (
    "CREATE VIRTUAL TABLE search_words USING fts5(words, content='', detail='none', tokenize='ascii')",
    "CREATE TRIGGER search_texts_put AFTER INSERT ON search_texts BEGIN"
    " INSERT INTO search_words (rowid, words)"
    " VALUES (NEW.id, replace(' ' || NEW.words, ' ', ' ' || NEW.space_id || 'x')); END",
    # A table without contents has to be told what stood there.
    "CREATE TRIGGER search_texts_removed AFTER DELETE ON search_texts BEGIN"
    " INSERT INTO search_words (search_words, rowid, words)"
    " VALUES ('delete', OLD.id, replace(' ' || OLD.words, ' ', ' ' || OLD.space_id || 'x')); END",
)
# Without a list of what is yet to be put in: each search would go through it, and the planner would rather read the table.
_POSTGRESQL = (
    "CREATE INDEX search_words ON search_texts USING gin (array_to_tsvector(string_to_array("
    "CAST(space_id AS text) || 'x' || replace(words, ' ', ' ' || CAST(space_id AS text) || 'x'), ' '))) WITH (fastupdate = off)"
)


def ident(length: int) -> sa.String:
    """Ids that sort by their bytes on both engines."""
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade(op: Operations) -> None:
    """Make the tables, and each engine's own index."""
    op.create_table(
        "search_spaces",
        sa.Column("id", _NUMBER, nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("session_id", ident(64), comment="Null: of no chat."),
        sa.Column("place", ident(256), nullable=False, comment="The chat's id; of no chat: @ and the account's."),
        sa.Column("texts", sa.BigInteger(), nullable=False, server_default="0", comment="How many texts were ever put in."),
        sa.Column("words", sa.BigInteger(), nullable=False, server_default="0", comment="How many words those had together."),
        sa.Column("filled_to", ident(64), comment="The last floor of before that is in it; null: all are."),
        sa.PrimaryKeyConstraint("id", name="pk_search_spaces"),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], ondelete="CASCADE", name="fk_search_spaces_session_id"),
        sa.UniqueConstraint("place", name="uq_search_spaces_place"),
        comment="The texts that are searched together: those of a chat, and those of an account that belong to none.",
    )
    op.create_index("ix_search_spaces_session_id", "search_spaces", ["session_id"])
    op.create_table(
        "search_texts",
        sa.Column("id", _NUMBER, nullable=False),
        sa.Column("space_id", _NUMBER, nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("message_id", ident(64)),
        sa.Column("item_id", ident(64)),
        sa.Column("page_id", ident(64), comment="Of a message."),
        sa.Column("floor_id", ident(64), comment="Of a message."),
        sa.Column("length", sa.Integer(), nullable=False, comment="How many words it has."),
        sa.Column("words", sa.Text(), nullable=False, comment="What agentui/words made of the text, with blanks between."),
        sa.PrimaryKeyConstraint("id", name="pk_search_texts"),
        sa.ForeignKeyConstraint(["space_id"], ["search_spaces.id"], ondelete="CASCADE", name="fk_search_texts_space_id"),
        sa.ForeignKeyConstraint(["message_id"], ["messages.id"], ondelete="CASCADE", name="fk_search_texts_message_id"),
        sa.ForeignKeyConstraint(["item_id"], ["memory_items.id"], ondelete="CASCADE", name="fk_search_texts_item_id"),
        sa.UniqueConstraint("message_id", name="uq_search_texts_message_id"),
        sa.UniqueConstraint("item_id", name="uq_search_texts_item_id"),
        comment="Messages and memories by their words.",
    )
    op.create_index("ix_search_texts_space_id", "search_texts", ["space_id"])
    for statement in _SQLITE if op.get_bind().dialect.name == "sqlite" else (_POSTGRESQL,):
        op.execute(statement)
