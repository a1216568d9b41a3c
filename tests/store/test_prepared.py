"""Prepared statements do on both engines what ordinary ones do, in rows and in errors."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, bindparam, delete, insert, literal, select, union_all, update
from sqlalchemy.exc import IntegrityError

from agentui.store.base import Store
from agentui.store.prepared import INSERT, OneOf, Prepared, named, texts
from agentui.store.sqlite import SqliteStore
from agentui.store.tables import branches, floors, pages, sessions
from tests.sqlite import RESERVE

TIMES = {"created_at": 1, "updated_at": 1}
MAKE = Prepared(insert(sessions).values(named(sessions, "id", "account_id", "name", "created_at", "updated_at")))
MAKE_NEW = Prepared(
    {
        engine: insert(sessions)
        .values(named(sessions, "id", "account_id", "created_at", "updated_at"))
        .on_conflict_do_nothing()
        .returning(sessions.c.id)
        for engine, insert in INSERT.items()
    }
)
NAMES = Prepared(
    union_all(
        *(
            select(literal(number).label("number"), sessions.c.id, sessions.c.name).where(
                sessions.c.account_id == bindparam("account"), sessions.c.id == bindparam(name), sessions.c.status == "active"
            )
            for number, name in enumerate(("first", "second"))
        )
    )
)
RENAME = Prepared(
    update(sessions)
    .where(sessions.c.id == bindparam("session"))
    .values(name=bindparam("new_name"))
    .returning(sessions.c.id, sessions.c.name)
)

KEEP = Prepared(
    {
        engine: insert(sessions)
        .values(named(sessions, "id", "account_id", "created_at", "updated_at"))
        .on_conflict_do_nothing()
        for engine, insert in INSERT.items()
    }
)
ARCHIVE = Prepared(update(sessions).where(sessions.c.account_id == bindparam("account")).values(status="archived"))
REMOVE = Prepared(delete(sessions).where(sessions.c.id == bindparam("session")))


def make(db: Connection, id: str, name: str | None = None) -> None:
    """A session of account ``a``."""
    MAKE.run(db, {"id": id, "account_id": "a", "name": name, **TIMES})


@pytest.fixture
async def on_sqlite(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    """A running store on a file."""
    store = SqliteStore(tmp_path / "data" / "agentui.db", reserve=RESERVE)
    await store.start()
    yield store
    await store.close()


async def test_parameters_go_in_by_name_and_rows_come_out_in_order(store: Store) -> None:
    await store.write(make, "1", "':x")
    await store.write(make, "2")
    both = {"account": "a", "first": "2", "second": "1"}
    rows = sorted(tuple(row) for row in await store.read(NAMES.all, both))
    assert rows == [(0, "2", None), (1, "1", "':x")]
    assert await store.read(NAMES.first, {**both, "account": "b"}) is None
    renamed = await store.write(RENAME.first, {"session": "2", "new_name": "two"})
    assert renamed is not None
    assert tuple(renamed) == ("2", "two")
    assert await store.write(RENAME.first, {"session": "3", "new_name": "three"}) is None


async def test_each_returns_what_every_run_returned(store: Store) -> None:
    await store.write(make, "2")
    many = [{"id": id, "account_id": "a", **TIMES} for id in ("1", "2", "3")]
    assert sorted(row[0] for row in await store.write(MAKE_NEW.each, many)) == ["1", "3"]


async def test_a_write_tells_how_many_rows_it_wrote(store: Store) -> None:
    row = {"id": "1", "account_id": "a", **TIMES}
    assert await store.write(MAKE.run, {**row, "name": "one"}) == 1
    assert await store.write(KEEP.run, {**row, "id": "2"}) == 1
    assert await store.write(KEEP.run, row) == 0
    assert await store.write(ARCHIVE.run, {"account": "a"}) == 2
    assert await store.write(ARCHIVE.run, {"account": "b"}) == 0
    assert await store.write(REMOVE.run, {"session": "1"}) == 1
    assert await store.write(REMOVE.run, {"session": "1"}) == 0


async def test_a_refused_row_is_sqlalchemys_error_and_shows_no_values(store: Store) -> None:
    await store.write(make, "1", "secret name")

    def again(db: Connection) -> str:
        with pytest.raises(IntegrityError) as refused, db.begin_nested():
            make(db, "2", "secret name")
        make(db, "3")
        return str(refused.value)

    told = await store.write(again)
    assert "secret name" not in told
    assert [row[1] for row in await store.read(NAMES.all, {"account": "a", "first": "2", "second": "3"})] == ["3"]


async def test_a_job_that_fails_in_a_prepared_statement_leaves_nothing(store: Store) -> None:
    def twice(db: Connection) -> None:
        make(db, "1")
        make(db, "1")

    with pytest.raises(IntegrityError):
        await store.write(twice)
    assert await store.read(NAMES.all, {"account": "a", "first": "1", "second": "1"}) == []


async def test_too_many_parameters_are_a_mistake(on_sqlite: SqliteStore) -> None:
    with pytest.raises(TypeError, match="3 parameters, not 4"):
        await on_sqlite.read(NAMES.all, {"account": "a", "first": "1", "second": "2", "third": "3"})


async def test_a_boolean_is_not_read(on_sqlite: SqliteStore) -> None:
    statement = Prepared(select(pages.c.is_active).where(pages.c.id == bindparam("page")))
    with pytest.raises(TypeError, match="boolean"):
        await on_sqlite.read(statement.all, {"page": "1"})


LISTED = Prepared(select(sessions.c.id, sessions.c.name).where(OneOf(sessions.c.id, "ids")).order_by(sessions.c.id))
PAGES = Prepared(select(pages).where(OneOf(pages.c.id, "ids")))


@pytest.mark.parametrize("ids", [[], ["1"], ["1", "3", "no", "1"], ["1", "2", "3", '"', "\\", "雪"]])
async def test_a_list_is_one_parameter(store: Store, ids: list[str]) -> None:
    for id in ("1", "2", "3", '"', "\\"):
        await store.write(make, id, f"name {id}")
    rows = await store.read(LISTED.rows, {"ids": texts(ids)})
    assert {row.id: row.name for row in rows} == {id: f"name {id}" for id in ids if id not in ("no", "雪")}


async def test_rows_by_name_have_their_booleans(store: Store) -> None:
    def write(db: Connection) -> None:
        make(db, "s")
        times = {"account_id": "a", **TIMES}
        db.execute(insert(branches).values(session_id="s", branch_id="main", **times))
        db.execute(insert(floors).values(id="f", session_id="s", branch_id="main", floor_no=0, state="committed", **times))
        own = {"floor_id": "f", "page_kind": "input", "is_partial": False, **times}
        db.execute(insert(pages), [{"id": "p", "page_no": 0, "is_active": True, **own}])

    await store.write(write)
    row = await store.read(PAGES.row, {"ids": texts(["p"])})
    assert row is not None
    assert (row.id, row.is_active, row.is_partial, row.checksum) == ("p", True, False, None)
    assert await store.read(PAGES.row, {"ids": texts(["q"])}) is None


async def test_a_list_is_looked_for_in_an_index(on_sqlite: SqliteStore) -> None:
    def plan(db: Connection) -> list[str]:
        compiled = select(pages.c.id).where(OneOf(pages.c.floor_id, "ids")).compile(db)
        return [row[3] for row in db.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}", ("[]",))]

    steps = await on_sqlite.read(plan)
    assert any("pages USING" in step for step in steps), steps
