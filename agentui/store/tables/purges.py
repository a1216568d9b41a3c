"""The table of accounts that are removed with all that is theirs. It has no ``account_id``: a purge outlives its account."""

from sqlalchemy import BigInteger, Column, Index, String, Table

from agentui.store.tables.columns import ID, metadata

purges = Table(
    "purges",
    metadata,
    Column("id", ID, primary_key=True),
    Column("subject", String(120), nullable=False, comment="The account."),
    Column("status", String(12), nullable=False, comment="waiting, running, done or cancelled."),
    Column("begins_at", BigInteger, nullable=False, comment="Until then it can be cancelled."),
    Column("counted", BigInteger, nullable=False, comment="Rows of the account when the purge was asked for."),
    Column("removed", BigInteger, nullable=False, comment="Rows that are gone."),
    Column("created_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger, comment="When it was done or cancelled."),
    Index(None, "subject", "created_at"),
    comment="Accounts that go with everything, or went.",
)
