"""``Prepared``: a statement that every turn runs, built when its module is loaded and compiled once.

    _TOUCH = Prepared(update(sessions).where(sessions.c.id == bindparam("session")).values(updated_at=bindparam("now")))
    _TOUCH.run(db, {"session": session_id, "now": now})

On SQLite its text goes straight to the driver: what SQLAlchemy does around a statement costs several times what SQLite needs
for the row. Everywhere else, and for errors, it is an ordinary statement of the connection.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeAlias, cast

from sqlalchemy import Boolean, Connection, Table, bindparam
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.base import Executable

from agentui.jsonio import Json

Values: TypeAlias = Mapping[str, Json]
Found: TypeAlias = Sequence[Any]
"""A row: its values in the order of the statement's columns."""

INSERT: Final[Mapping[str, Any]] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
"""Each engine's own INSERT, which knows ON CONFLICT."""

_COUNTED: Final[Mapping[str, Any]] = {"preserve_rowcount": True}
_QMARK = sqlite.dialect(paramstyle="qmark")


class _Text(NamedTuple):
    """What SQLite's driver gets: the words, the constants among the parameters, how many the caller has to give, and what puts
    all of them into the order of the words."""

    words: str
    constants: dict[str, Json]
    wanted: int
    in_order: Callable[[Values], tuple[Json, ...]]


class Prepared:
    """One statement, or one for each engine by its dialect's name.

    Its parameters are ``bindparam``s, given by name with every run. In an UPDATE, and in an INSERT from a SELECT, they must
    not be called like a column of the table: SQLAlchemy keeps those names. A column of the result must be one that both
    drivers hand over as it is; a boolean is not (TypeError).
    """

    def __init__(self, statement: Any) -> None:
        self._by_dialect: Mapping[str, Any] = statement if isinstance(statement, Mapping) else {}
        self._statement: Any = statement
        self._text: _Text | None = None

    def all(self, db: Connection, values: Values) -> Sequence[Found]:
        """Run it and return the rows; none for a statement that returns none."""
        if db.dialect.name != "sqlite":
            result = db.execute(self._of(db), values)
            return result.all() if result.returns_rows else []
        text, given = self._bound(values)
        try:
            return _driver(db).execute(text.words, given).fetchall()
        except sqlite3.Error as error:
            raise _wrapped(error, text.words) from error

    def first(self, db: Connection, values: Values) -> Found | None:
        """Run it and return the first row, or None."""
        rows = self.all(db, values)
        return rows[0] if rows else None

    def run(self, db: Connection, values: Values) -> int:
        """Run a write that returns no rows, and tell how many it wrote or removed. To learn that it wrote one this costs less
        than RETURNING, for whose rows SQLite makes a table in memory."""
        if db.dialect.name != "sqlite":
            return db.execute(self._of(db), values, execution_options=_COUNTED).rowcount
        text, given = self._bound(values)
        try:
            return _driver(db).execute(text.words, given).rowcount
        except sqlite3.Error as error:
            raise _wrapped(error, text.words) from error

    def each(self, db: Connection, many: Sequence[Values]) -> list[Found]:
        """Run it for each of some parameters and return all rows, in any order."""
        if db.dialect.name != "sqlite":
            result = db.execute(self._of(db), many)
            return list(result.all()) if result.returns_rows else []
        return [row for values in many for row in self.all(db, values)]

    def _bound(self, values: Values) -> tuple[_Text, tuple[Json, ...]]:
        """The words for SQLite, and the parameters in their order."""
        text = self._text or self._compiled()
        if len(values) != text.wanted:
            raise TypeError(f"The statement takes {text.wanted} parameters, not {len(values)}: {text.words}")
        return text, text.in_order({**text.constants, **values} if text.constants else values)

    def _of(self, db: Connection) -> Executable:
        """The statement for this connection's engine."""
        return cast(Executable, self._by_dialect[db.dialect.name] if self._by_dialect else self._statement)

    def _compiled(self) -> _Text:
        """Put it into SQLite's words; two threads that do so at once come to the same."""
        statement = self._by_dialect["sqlite"] if self._by_dialect else self._statement
        if any(isinstance(column.type, Boolean) for column in getattr(statement, "exported_columns", ())):
            raise TypeError("A boolean comes from SQLite's driver as a number: leave the column out.")
        compiled = statement.compile(dialect=_QMARK)
        given = compiled.params
        constants = {name: given[name] for bind, name in compiled.bind_names.items() if not bind.required}
        self._text = _Text(str(compiled), constants, len(given) - len(constants), _picker(compiled.positiontup or ()))
        return self._text


def named(table: Table, *columns: str) -> dict[str, Any]:
    """The values of an INSERT that takes these columns as parameters of the same names."""
    return {name: bindparam(name, type_=table.c[name].type) for name in columns}


def _picker(names: Sequence[str]) -> Callable[[Values], tuple[Json, ...]]:
    """What takes the values of these names out of a mapping, in this order."""
    if len(names) > 1:
        return cast(Callable[[Values], tuple[Json, ...]], itemgetter(*names))
    return lambda values: tuple(values[name] for name in names)


def _driver(db: Connection) -> sqlite3.Connection:
    return cast(sqlite3.Connection, db.connection.dbapi_connection)


def _wrapped(error: sqlite3.Error, words: str) -> BaseException:
    """The driver's error as SQLAlchemy raises it; the parameters are private and stay out of it."""
    return DBAPIError.instance(words, None, error, sqlite3.Error, hide_parameters=True)
