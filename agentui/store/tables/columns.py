"""What all tables share: where they are collected, and the types of ids, names and keys."""

from sqlalchemy import MetaData, String, Text

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


ID = String(64).with_variant(String(64, collation="C"), "postgresql")
BRANCH = String(100).with_variant(String(100, collation="C"), "postgresql")
NAME = String(256).with_variant(String(256, collation="C"), "postgresql")
KEY = Text().with_variant(Text(collation="C"), "postgresql")
