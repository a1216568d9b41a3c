"""A branch's variables as a floor saw them."""

import pytest

from agentui.jsonio import Json
from agentui.variables.errors import SnapshotMissing
from agentui.variables.records import Put, put
from agentui.variables.resolve import load_layers
from agentui.variables.scopes import branch_target
from agentui.variables.snapshots import fork_branch_variables, load_branch_snapshot
from agentui.variables.values import render
from tests.variables.database import ACCOUNT, Database, save_branch_snapshot

ODD: Json = {"n": 2**200, "f": 1.0, "s": '\u2028"\\\0', "deep": [[[None]]], "": True}


def write(base: Database, session: str, branch: str, key: str, value: Json) -> None:
    base.run(put, ACCOUNT, Put(branch_target(session, branch), key, render(value)), base.now)


def held(base: Database, session: str, branch: str) -> dict[str, Json]:
    return {key: item.value for key, item in base.run(load_layers, ACCOUNT, session, branch, None, None)["branch"].items()}


def test_a_fork_begins_with_what_its_floor_saw_and_nothing_else(base: Database) -> None:
    session = base.add_session()
    write(base, session, "main", "gold", 1)
    write(base, session, "main", 'odd "key"', ODD)
    floor = base.add_floor(session, state="committed")
    base.run(save_branch_snapshot, ACCOUNT, floor, base.now)
    write(base, session, "main", "gold", 2)
    write(base, session, "main", "later", True)
    base.add_branch(session, "alt")
    write(base, session, "alt", "left over", 1)
    base.run(fork_branch_variables, ACCOUNT, session, floor, "alt", base.now)
    assert held(base, session, "alt") == {"gold": 1, 'odd "key"': ODD}
    assert held(base, session, "main") == {"gold": 2, 'odd "key"': ODD, "later": True}
    write(base, session, "alt", "gold", 7)
    assert held(base, session, "main")["gold"] == 2


def test_every_character_that_a_key_can_have_comes_through_a_fork(base: Database) -> None:
    session = base.add_session()
    characters = [chr(code) for code in (*range(1, 0x100), 0x2028, 0xFFFD, 0xFFFF, 0x1F5FF)]
    keys = [*characters, '{"a":1}', '\\"\\', "a,b", "12", "null"]
    for key in keys:
        write(base, session, "main", key, key)
    floor = base.add_floor(session, state="committed")
    base.run(save_branch_snapshot, ACCOUNT, floor, base.now)
    base.add_branch(session, "alt")
    base.run(fork_branch_variables, ACCOUNT, session, floor, "alt", base.now)
    assert held(base, session, "alt") == {key: key for key in keys}


def test_a_floor_on_an_empty_branch_has_an_empty_snapshot(base: Database) -> None:
    session = base.add_session()
    floor = base.add_floor(session)
    base.run(save_branch_snapshot, ACCOUNT, floor, base.now)
    assert base.run(load_branch_snapshot, ACCOUNT, floor) == {}
    base.add_branch(session, "alt")
    base.run(fork_branch_variables, ACCOUNT, session, floor, "alt", base.now)
    assert held(base, session, "alt") == {}


def test_a_floor_without_a_snapshot_cannot_be_forked_from(base: Database) -> None:
    session = base.add_session()
    write(base, session, "main", "gold", 1)
    floor = base.add_floor(session, state="committed")
    base.add_branch(session, "alt")
    with pytest.raises(SnapshotMissing) as caught:
        base.run(fork_branch_variables, ACCOUNT, session, floor, "alt", base.now)
    assert (caught.value.status, caught.value.code) == (409, "branch_local_snapshot_missing")
    assert held(base, session, "alt") == {}


def test_a_floor_committed_again_has_the_later_snapshot(base: Database) -> None:
    session = base.add_session()
    floor = base.add_floor(session)
    for gold in (1, 2):
        write(base, session, "main", "gold", gold)
        base.run(save_branch_snapshot, ACCOUNT, floor, base.now)
    assert base.run(load_branch_snapshot, ACCOUNT, floor) == {"gold": 2}


def test_another_accounts_floors_are_missing(base: Database) -> None:
    floor = base.add_floor(base.add_session(account="other"), account="other")
    base.run(save_branch_snapshot, "other", floor, base.now)
    with pytest.raises(SnapshotMissing):
        base.run(load_branch_snapshot, ACCOUNT, floor)


def test_the_deepest_value_survives_a_fork(base: Database) -> None:
    session = base.add_session()
    value: Json = 0
    for _ in range(99):
        value = [value]
    write(base, session, "main", "deep", value)
    floor = base.add_floor(session)
    base.run(save_branch_snapshot, ACCOUNT, floor, base.now)
    base.add_branch(session, "alt")
    base.run(fork_branch_variables, ACCOUNT, session, floor, "alt", base.now)
    assert held(base, session, "alt") == {"deep": value}
