"""What every store promises, whatever the engine: one suite, run on SQLite and on PostgreSQL."""

import asyncio

import pytest
from sqlalchemy import Connection, delete, insert, select
from sqlalchemy.exc import DBAPIError, IntegrityError

from agentui.errors import Busy
from agentui.store.base import Store
from tests.store.conftest import MakeStore
from tests.store.ledger import (
    accounts,
    add_one,
    count,
    enter,
    enter_two_and_fail,
    entries,
    ids,
    move,
    number,
    read_add_one_and_write,
    sums,
)


async def test_a_transaction_gets_its_arguments_and_gives_its_result(store: Store) -> None:
    assert await store.write(enter, "one", note="n") == "one"
    assert await store.read(ids) == {"one"}


async def test_what_was_written_is_read_by_whoever_asks_next(store: Store) -> None:
    for n in range(30):
        await store.write(enter, str(n))
        assert await store.read(count) == n + 1


async def test_what_was_written_is_there_after_a_restart(store: Store, make_store: MakeStore) -> None:
    await store.write(enter, "kept", note="ünï 🜁 \\x00 'quotes' \"and\" %s :colons")
    await store.close()
    again = make_store()
    await again.start()
    try:
        note, is_open = await again.read(lambda db: tuple(db.execute(select(entries.c.note, entries.c.is_open)).one()))
        assert (note, is_open) == ("ünï 🜁 \\x00 'quotes' \"and\" %s :colons", True)
    finally:
        await again.close()


async def test_a_transaction_that_fails_leaves_nothing_and_raises_its_own_error(store: Store) -> None:
    with pytest.raises(LookupError, match="gone"):
        await store.write(enter_two_and_fail, "gone")
    assert await store.read(count) == 0


async def test_neighbours_of_a_failure_are_written(store: Store) -> None:
    work = [store.write(enter_two_and_fail, str(n)) if n % 3 == 0 else store.write(enter, str(n)) for n in range(40)]
    outcomes = await asyncio.gather(*work, return_exceptions=True)
    assert all(isinstance(outcome, LookupError) == (n % 3 == 0) for n, outcome in enumerate(outcomes))
    assert await store.read(ids) == {str(n) for n in range(40) if n % 3}


async def test_neighbours_of_a_broken_constraint_are_written(store: Store) -> None:
    outcomes = await asyncio.gather(*(store.write(enter, str(n // 2)) for n in range(20)), return_exceptions=True)
    assert sum(isinstance(outcome, IntegrityError) for outcome in outcomes) == 10
    assert await store.read(ids) == {str(n) for n in range(10)}


async def test_a_function_that_raises_what_no_future_can_carry_harms_nobody(store: Store) -> None:
    def exhausted(db: Connection) -> None:
        next(iter(()))

    outcomes = await asyncio.gather(
        store.write(enter, "1"), store.write(exhausted), store.write(enter, "2"), store.read(exhausted), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [str, RuntimeError, str, RuntimeError]
    assert await store.read(ids) == {"1", "2"}


async def test_a_read_sees_one_moment(store: Store) -> None:
    async def keep_moving() -> None:
        for n in range(60):
            await store.write(move, n)

    async def keep_looking() -> set[int]:
        return set().union(*[await store.read(sums) for _ in range(60)])

    _, *seen = await asyncio.gather(keep_moving(), *(keep_looking() for _ in range(3)))
    assert seen == [{200}] * 3
    assert await store.read(number) == 100 - sum(range(60))


async def test_a_hundred_callers_that_add_in_the_database_lose_nothing(store: Store) -> None:
    await asyncio.gather(*(store.write(add_one) for _ in range(100)))
    assert await store.read(number) == 200


async def test_a_hundred_callers_that_read_add_and_write_lose_nothing(store: Store) -> None:
    results = await asyncio.gather(*(store.write(read_add_one_and_write) for _ in range(100)))
    assert sorted(results) == list(range(101, 201))
    assert await store.read(number) == 200


async def test_two_transactions_that_lock_in_opposite_order_both_come_through(store: Store) -> None:
    def one_way(db: Connection) -> None:
        read_add_one_and_write(db, "a")
        read_add_one_and_write(db, "b")

    def other_way(db: Connection) -> None:
        read_add_one_and_write(db, "b")
        read_add_one_and_write(db, "a")

    await asyncio.gather(store.write(one_way), store.write(other_way))
    assert [await store.read(number, "a"), await store.read(number, "b")] == [102, 102]


async def test_a_read_cannot_write(store: Store) -> None:
    with pytest.raises(DBAPIError):
        await store.read(enter, "no")
    assert await store.write(ids) == set()


@pytest.mark.parametrize("ending", ["commit", "rollback"])
async def test_a_function_cannot_end_the_transaction_itself(store: Store, ending: str) -> None:
    def ends_it(db: Connection) -> None:
        enter(db, "half")
        getattr(db, ending)()

    outcomes = await asyncio.gather(
        store.write(enter, "1"), store.write(ends_it), store.write(enter, "2"), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [str, RuntimeError, str]
    assert await store.read(ids) == {"1", "2"}


async def test_a_function_goes_on_after_a_failure_inside_its_own_savepoint(store: Store) -> None:
    def tries_and_goes_on(db: Connection) -> None:
        enter(db, "before")
        with pytest.raises(IntegrityError), db.begin_nested():
            enter(db, "inside")
            enter(db, "before")
        enter(db, "after")

    await store.write(tries_and_goes_on)
    assert await store.read(ids) == {"before", "after"}


async def test_a_child_has_a_parent_and_goes_with_it(store: Store) -> None:
    with pytest.raises(IntegrityError):
        await store.write(enter, "orphan", account="nobody")
    await store.write(enter, "child", account="b")
    await store.write(lambda db: db.execute(delete(accounts).where(accounts.c.name == "b")) and None)
    assert await store.read(count) == 0


async def test_a_caller_that_leaves_does_not_stop_its_write(store: Store, make_store: MakeStore) -> None:
    writes = [asyncio.create_task(store.write(enter, str(n))) for n in range(10)]
    await asyncio.sleep(0)
    for write in writes:
        write.cancel()
    assert all(isinstance(outcome, asyncio.CancelledError) for outcome in await asyncio.gather(*writes, return_exceptions=True))
    await store.close()
    again = make_store()
    await again.start()
    try:
        assert await again.read(ids) == {str(n) for n in range(10)}
    finally:
        await again.close()


async def test_readers_that_leave_harm_nobody(store: Store) -> None:
    await store.write(enter, "1")
    for _ in range(5):
        reads = [asyncio.create_task(store.read(sums)) for _ in range(20)]
        await asyncio.sleep(0)
        for read in reads:
            read.cancel()
        await asyncio.gather(*reads, return_exceptions=True)
    assert await store.read(ids) == {"1"}
    await store.write(enter, "2")


async def test_closing_finishes_what_was_begun_and_refuses_what_comes_later(store: Store, make_store: MakeStore) -> None:
    writes = [asyncio.create_task(store.write(enter, str(n))) for n in range(50)]
    await asyncio.sleep(0)
    await store.close()
    assert await asyncio.gather(*writes) == [str(n) for n in range(50)]
    with pytest.raises(Busy):
        await store.write(enter, "late")
    with pytest.raises(Busy):
        await store.read(count)
    await store.close()
    again = make_store()
    await again.start()
    try:
        assert await again.read(count) == 50
    finally:
        await again.close()


async def test_a_large_value_comes_back_whole(store: Store) -> None:
    large = "word 🜁 " * 300_000
    await store.write(enter, "large", note=large)
    assert await store.read(lambda db: db.scalar(select(entries.c.note))) == large


async def test_many_rows_in_one_statement(store: Store) -> None:
    rows = [{"id": str(n), "account": "a", "note": None} for n in range(2000)]
    await store.write(lambda db: db.execute(insert(entries), rows) and None)
    assert await store.read(count) == 2000


async def test_the_status_names_the_engine_and_that_all_is_well(store: Store, request: pytest.FixtureRequest) -> None:
    assert store.status["engine"] in request.node.name
    assert (store.status["read_only"], store.status["reason"], store.status["full"]) == (False, None, False)
    assert store.status["place"]
