"""``Prepared``: a statement that every turn runs, built when its module is loaded and compiled once.

    _TOUCH = Prepared(update(sessions).where(sessions.c.id == bindparam("session")).values(updated_at=bindparam("now")))
    _TOUCH.run(db, {"session": session_id, "now": now})

Its text goes straight to the driver: what SQLAlchemy does around a statement costs several times what SQLite needs for the
row, and more than asyncpg does. Errors are those of an ordinary statement of the connection, and a caller who leaves in the
middle of one costs the connection, as there.
"""

import asyncio
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeAlias, cast

from sqlalchemy import BigInteger, Boolean, ColumnElement, Connection, Table, Text, bindparam
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql.asyncpg import PGDialect_asyncpg
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.base import Executable
from sqlalchemy.sql.compiler import SQLCompiler

from agentui.jsonio import Json, dumps_text

Values: TypeAlias = Mapping[str, Json]
Found: TypeAlias = Sequence[Any]
"""A row: its values in the order of the statement's columns."""

Row: TypeAlias = Any
"""A row whose values are read by the names of their columns."""

INSERT: Final[Mapping[str, Any]] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
"""Each engine's own INSERT, which knows ON CONFLICT."""

_IN_ORDER: Final[Mapping[str, Dialect]] = {
    "sqlite": sqlite.dialect(paramstyle="qmark"),
    "postgresql": PGDialect_asyncpg(),  # type: ignore[no-untyped-call]
}
"""How each engine's driver takes parameters: by their order."""


class OneOf(ColumnElement[bool]):
    """``OneOf(column, "ids")``: the column holds one of the texts of a list, which is given as the parameter ``ids`` by
    ``texts``. A statement with ``in_`` has another text for each length of its list."""

    inherit_cache = True
    type = Boolean()

    def __init__(self, column: ColumnElement[Any], name: str) -> None:
        self.column = column
        self.given = bindparam(name, type_=Text)

    def self_group(self, against: Any = None) -> "OneOf":
        """Itself: a boolean of any other kind is compared with 1 on SQLite, which finds no index then."""
        return self


@compiles(OneOf, "sqlite")
def _one_of_in_sqlite(one_of: OneOf, compiler: SQLCompiler, **how: Any) -> str:
    column, given = compiler.process(one_of.column, **how), compiler.process(one_of.given, **how)
    return f"{column} IN (SELECT value FROM json_each({given}))"


@compiles(OneOf, "postgresql")
def _one_of_in_postgresql(one_of: OneOf, compiler: SQLCompiler, **how: Any) -> str:
    column, given = compiler.process(one_of.column, **how), compiler.process(one_of.given, **how)
    return f"{column} = ANY (ARRAY(SELECT jsonb_array_elements_text(CAST({given} AS jsonb))))"


class DatabaseTime(ColumnElement[int]):
    """Milliseconds since 1970 by the clock of the machine that has the database: the same for all processes that share it."""

    inherit_cache = True
    type = BigInteger()


@compiles(DatabaseTime, "sqlite")
def _time_of_sqlite(_: DatabaseTime, compiler: SQLCompiler, **how: Any) -> str:
    return "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"


@compiles(DatabaseTime, "postgresql")
def _time_of_postgresql(_: DatabaseTime, compiler: SQLCompiler, **how: Any) -> str:
    return "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"


def texts(values: Sequence[str]) -> str:
    """The value of a parameter of ``OneOf``."""
    return dumps_text(list(values))


class _Text(NamedTuple):
    """What a driver gets: the words, the constants among the parameters, how many the caller has to give, and what puts
    all of them into the order of the words. ``flags`` are the places of the booleans among the columns, ``names`` a class for
    rows by name."""

    words: str
    constants: dict[str, Json]
    wanted: int
    in_order: Callable[[Values], tuple[Json, ...]]
    flags: tuple[int, ...]
    names: type[tuple[Any, ...]]


class Prepared:
    """One statement, or one for each engine by its dialect's name.

    Its parameters are ``bindparam``s, given by name with every run. In an UPDATE, and in an INSERT from a SELECT, they must
    not be called like a column of the table: SQLAlchemy keeps those names. What ``all`` and ``first`` give has to be what both
    drivers hand over as it is; a boolean is not (TypeError), but ``rows`` and ``row`` take those, too.
    """

    def __init__(self, statement: Any) -> None:
        self._by_dialect: Mapping[str, Any] = statement if isinstance(statement, Mapping) else {}
        self._statement: Any = statement
        self._texts: dict[str, _Text] = {}

    def all(self, db: Connection, values: Values) -> Sequence[Found]:
        """Run it and return the rows; none for a statement that returns none."""
        text = self._text(db)
        if text.flags:
            raise TypeError("A boolean comes from SQLite's driver as a number: read it by rows, or leave the column out.")
        return cast(Sequence[Found], _run(db, text, values).fetchall())

    def rows(self, db: Connection, values: Values) -> Sequence[Row]:
        """Run it and return the rows, whose values are read by the names of their columns."""
        text = self._text(db)
        found = _run(db, text, values).fetchall()
        if text.flags and db.dialect.name == "sqlite":
            found = [_with_booleans(row, text.flags) for row in found]
        named = text.names
        return [tuple.__new__(named, row) for row in found]  # the class's own constructor takes several times as long

    def row(self, db: Connection, values: Values) -> Row | None:
        """Run it and return the first row, by the names of its columns, or None."""
        rows = self.rows(db, values)
        return rows[0] if rows else None

    def first(self, db: Connection, values: Values) -> Found | None:
        """Run it and return the first row, or None."""
        rows = self.all(db, values)
        return rows[0] if rows else None

    def run(self, db: Connection, values: Values) -> int:
        """Run a write that returns no rows, and tell how many it wrote or removed. To learn that it wrote one this costs less
        than RETURNING, for whose rows SQLite makes a table in memory."""
        return cast(int, _run(db, self._text(db), values).rowcount)

    def each(self, db: Connection, many: Sequence[Values]) -> list[Found]:
        """Run it for each of some parameters and return all rows, in any order."""
        if db.dialect.name == "sqlite" or len(many) == 1:
            return [row for values in many for row in self.all(db, values)]
        result = db.execute(self._of(db.dialect.name), many)  # in as few ways to the server as it takes
        return list(result.all()) if result.returns_rows else []

    def _of(self, engine: str) -> Executable:
        """The statement for an engine."""
        return cast(Executable, self._by_dialect[engine] if self._by_dialect else self._statement)

    def _text(self, db: Connection) -> _Text:
        """The words for this connection's engine; two threads that make them at once come to the same."""
        engine = db.dialect.name
        if engine not in self._texts:
            self._texts[engine] = _compiled(self._of(engine), _IN_ORDER[engine])
        return self._texts[engine]


def _compiled(statement: Any, dialect: Dialect) -> _Text:
    """A statement in a driver's words."""
    columns = list(getattr(statement, "exported_columns", ()))
    flags = tuple(at for at, column in enumerate(columns) if isinstance(column.type, Boolean))
    compiled = statement.compile(dialect=dialect)
    given = compiled.params
    constants = {name: given[name] for bind, name in compiled.bind_names.items() if not bind.required}
    names = namedtuple("Row", [column.key for column in columns], rename=True)  # type: ignore[misc]  # known when compiled
    wanted, in_order = len(given) - len(constants), _picker(compiled.positiontup or ())
    return _Text(str(compiled), constants, wanted, in_order, flags, names)


def _run(db: Connection, text: _Text, values: Values) -> Any:
    """Have the driver run the words; its cursor, which has all rows."""
    if len(values) != text.wanted:
        raise TypeError(f"The statement takes {text.wanted} parameters, not {len(values)}: {text.words}")
    given = text.in_order({**text.constants, **values} if text.constants else values)
    cursor = db.connection.cursor()
    try:
        cursor.execute(text.words, given)
    except db.dialect.loaded_dbapi.Error as error:
        if db.dialect.is_disconnect(error, db.connection.dbapi_connection, cursor):
            db.exec_driver_sql("SELECT 1")  # raises: so SQLAlchemy learns of it, and trusts no other connection of that time
        raise DBAPIError.instance(text.words, None, error, db.dialect.loaded_dbapi.Error, hide_parameters=True) from error
    except asyncio.CancelledError:
        # The caller left, maybe while asyncpg began the transaction: then SQLAlchemy knows of none, rolls nothing back, and the
        # next one to get the connection would find itself within it. SQLAlchemy drops connections so for its own statements.
        db.invalidate()
        raise
    return cursor


def named(table: Table, *columns: str) -> dict[str, Any]:
    """The values of an INSERT that takes these columns as parameters of the same names."""
    return {name: bindparam(name, type_=table.c[name].type) for name in columns}


def _with_booleans(row: Found, flags: Sequence[int]) -> list[Any]:
    """A row with its numbers at these places as booleans."""
    values = list(row)
    for at in flags:
        values[at] = None if values[at] is None else bool(values[at])
    return values


def _picker(names: Sequence[str]) -> Callable[[Values], tuple[Json, ...]]:
    """What takes the values of these names out of a mapping, in this order."""
    if len(names) > 1:
        return cast(Callable[[Values], tuple[Json, ...]], itemgetter(*names))
    return lambda values: tuple(values[name] for name in names)
