"""Many at once: no update is lost, nothing is half written, nobody writes to what is gone."""

import asyncio
from collections.abc import Awaitable

import pytest
from sqlalchemy import Connection, func, select

from agentui.chats.conversations import remove_session
from agentui.jsonio import Json
from agentui.store.tables import variables
from agentui.variables.committing import commit_staged
from agentui.variables.errors import HostNotFound, VariableChanged
from agentui.variables.records import Filter, Put, find, put, put_all
from agentui.variables.resolve import load_layers
from agentui.variables.scopes import GLOBAL, Scope, Target, branch_target
from agentui.variables.staging import Staged
from tests.variables.database import ACCOUNT, Database

AT_ONCE = 40


def together(base: Database, *work: Awaitable[object]) -> None:
    """Do all of it at once, on the store's loop."""

    async def all_of_it() -> None:
        await asyncio.gather(*work)

    base.finish(all_of_it())


async def turn(base: Database, session: str, branch: str, floor: str, path: str, scope: Scope, *, counts: bool) -> int:
    """One run after the other until one commits; returns how many it took."""
    tries = 0
    while True:
        tries += 1
        layers = await base.store.read(load_layers, ACCOUNT, session, branch, floor, None)
        staged = Staged(layers, now=lambda: base.now)
        staged.stage(scope, path, staged.view()[1][scope].get(path, 0) + 1 if counts else 1)
        try:
            ids = ("run", session, branch, floor, None)  # many turns of one floor: no page keeps what they changed
            await base.store.write(commit_staged, ACCOUNT, *ids, staged.writes(), base.now)
        except VariableChanged:
            continue
        return tries


@pytest.mark.parametrize("scope", ["global", "chat", "branch"])
def test_increments_from_many_turns_at_once_all_count(base: Database, scope: Scope) -> None:
    session = base.add_session()
    floor = base.add_floor(session, state="generating")
    together(base, *(turn(base, session, "main", floor, "gold", scope, counts=True) for _ in range(AT_ONCE)))
    (variable,), _ = base.read(find, ACCOUNT, Filter())
    assert (variable.scope, variable.value) == (scope, AT_ONCE)


def test_writes_to_different_paths_of_one_variable_all_count(base: Database) -> None:
    session = base.add_session()
    floor = base.add_floor(session, state="generating")
    turns = [turn(base, session, "main", floor, f"bag.k{number}", "chat", counts=False) for number in range(AT_ONCE)]
    together(base, *turns)
    (variable,), _ = base.read(find, ACCOUNT, Filter())
    assert variable.value == {f"k{number}": 1 for number in range(AT_ONCE)}


def test_batches_that_overlap_in_any_order_are_each_whole(base: Database) -> None:
    session = base.add_session()
    targets = [GLOBAL, Target("chat", session), branch_target(session, "main")]
    names = [(target, key) for target in targets for key in ("a", "b", "c")]

    def batch(number: int) -> Awaitable[object]:
        turned = names[number % 9 :] + names[: number % 9]
        puts = [Put(target, key, str(number)) for target, key in (turned if number % 2 else reversed(turned))]
        return base.store.write(put_all, ACCOUNT, puts, base.now)

    together(base, *(batch(number) for number in range(AT_ONCE)))
    found, total = base.read(find, ACCOUNT, Filter())
    assert total == 9
    assert len({variable.value for variable in found}) == 1
    assert {variable.version for variable in found} == {AT_ONCE}


def test_a_session_that_goes_takes_every_variable_with_it(base: Database) -> None:
    sessions = [base.add_session() for _ in range(10)]
    refused: list[str] = []

    async def write(session: str, number: int) -> None:
        target = Target("chat", session) if number % 2 else branch_target(session, "main")
        try:
            await base.store.write(put, ACCOUNT, Put(target, f"k{number}", "1"), base.now)
        except HostNotFound:
            refused.append(session)

    work: list[Awaitable[object]] = []
    for session in sessions:
        work += [write(session, number) for number in range(4)]
        work.append(base.store.write(remove_session, ACCOUNT, session, base.now))
        work += [write(session, number) for number in range(4, 8)]
    together(base, *work)
    assert base.read(_count) == 0


def test_reading_sees_a_batch_whole(base: Database) -> None:
    session = base.add_session()
    targets = [GLOBAL, Target("chat", session), branch_target(session, "main")]
    seen: list[set[Json]] = []

    async def read_once() -> None:
        layers = await base.store.read(load_layers, ACCOUNT, session, "main", None, None)
        seen.append({layer["gold"].value if "gold" in layer else None for layer in layers.values()})

    async def write_often() -> None:
        for number in range(AT_ONCE):
            await base.store.write(put_all, ACCOUNT, [Put(target, "gold", str(number)) for target in targets], base.now)

    async def read_meanwhile() -> None:
        await read_once()
        writing = asyncio.create_task(write_often())
        while not writing.done():
            await read_once()
        await writing
        await read_once()

    together(base, read_meanwhile())
    assert all(len(values) == 1 for values in seen)
    assert (seen[0], seen[-1]) == ({None}, {AT_ONCE - 1})


def _count(db: Connection) -> int:
    return db.execute(select(func.count()).select_from(variables)).scalar_one()
