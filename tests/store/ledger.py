"""A tiny schema of the tests' own: accounts that hold numbers, and entries that belong to them."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    ForeignKey,
    MetaData,
    String,
    Table,
    Text,
    func,
    insert,
    select,
    update,
)

metadata = MetaData()

accounts = Table(
    "ledger_accounts", metadata, Column("name", String(40), primary_key=True), Column("n", BigInteger, nullable=False)
)

entries = Table(
    "ledger_entries",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("account", ForeignKey("ledger_accounts.name", ondelete="CASCADE"), nullable=False),
    Column("note", Text),
    Column("is_open", Boolean, nullable=False, default=True),
)


def make_ledger(db: Connection) -> None:
    """Make the tables and the accounts ``a`` and ``b``, each with 100."""
    metadata.create_all(db)
    db.execute(insert(accounts), [{"name": "a", "n": 100}, {"name": "b", "n": 100}])


def enter(db: Connection, id: str, note: str = "", account: str = "a") -> str:
    """Write an entry and return its id."""
    db.execute(insert(entries).values(id=id, account=account, note=note))
    return id


def enter_two_and_fail(db: Connection, id: str) -> None:
    """Write, and then think better of it."""
    enter(db, f"{id}-1")
    enter(db, f"{id}-2")
    raise LookupError(id)


def ids(db: Connection) -> set[str]:
    """Every entry's id."""
    return set(db.scalars(select(entries.c.id)))


def count(db: Connection) -> int:
    """How many entries there are."""
    return db.scalar(select(func.count()).select_from(entries)) or 0


def number(db: Connection, name: str = "a") -> int:
    """What an account holds."""
    return db.execute(select(accounts.c.n).where(accounts.c.name == name)).scalar_one()


def add_one(db: Connection, name: str = "a") -> None:
    """Add in the database."""
    db.execute(update(accounts).where(accounts.c.name == name).values(n=accounts.c.n + 1))


def read_add_one_and_write(db: Connection, name: str = "a") -> int:
    """Add in Python, on a row that is locked."""
    n = db.execute(select(accounts.c.n).where(accounts.c.name == name).with_for_update()).scalar_one() + 1
    db.execute(update(accounts).where(accounts.c.name == name).values(n=n))
    return n


def move(db: Connection, amount: int) -> None:
    """From ``a`` to ``b``, in two statements; together they hold 200 at every moment."""
    db.execute(update(accounts).where(accounts.c.name == "a").values(n=accounts.c.n - amount))
    db.execute(update(accounts).where(accounts.c.name == "b").values(n=accounts.c.n + amount))


def sums(db: Connection) -> set[int]:
    """What both hold together, asked for five times in ten statements."""
    return {number(db, "a") + number(db, "b") for _ in range(5)}
