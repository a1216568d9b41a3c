"""The tables of the words index: which chats are in it, and the words of each text (agentui/search/).

Each engine has an index of its own over ``search_texts.words``, which the migration makes: SQLite the FTS5 table
``search_words``, kept by triggers, PostgreSQL an index of the kind GIN. In both a word stands behind the number of its space.
"""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, String, Table, Text

from agentui.store.tables.columns import ID, NAME, metadata

_NUMBER = BigInteger().with_variant(Integer, "sqlite")
"""SQLite counts by itself where a key is an INTEGER."""

search_spaces = Table(
    "search_spaces",
    metadata,
    Column("id", _NUMBER, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("session_id", ID, ForeignKey("sessions.id", ondelete="CASCADE"), index=True, comment="Null: of no chat."),
    Column("place", NAME, nullable=False, unique=True, comment="The chat's id; of no chat: @ and the account's."),
    Column("texts", BigInteger, nullable=False, server_default="0", comment="How many texts were ever put in."),
    Column("words", BigInteger, nullable=False, server_default="0", comment="How many words those had together."),
    Column("filled_to", ID, comment="The last floor of before that is in it; null: all are."),
    comment="The texts that are searched together: those of a chat, and those of an account that belong to none.",
)

search_texts = Table(
    "search_texts",
    metadata,
    Column("id", _NUMBER, primary_key=True),
    Column("space_id", _NUMBER, ForeignKey("search_spaces.id", ondelete="CASCADE"), nullable=False),
    Column("account_id", String(120), nullable=False),
    Column("message_id", ID, ForeignKey("messages.id", ondelete="CASCADE"), unique=True),
    Column("item_id", ID, ForeignKey("memory_items.id", ondelete="CASCADE"), unique=True),
    Column("page_id", ID, comment="Of a message."),
    Column("floor_id", ID, comment="Of a message."),
    Column("length", Integer, nullable=False, comment="How many words it has."),
    # Last: what stands behind a long text is read through it.
    Column("words", Text, nullable=False, comment="What agentui/words made of the text, with blanks between."),
    Index(None, "space_id"),
    comment="Messages and memories by their words.",
)
