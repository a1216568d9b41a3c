"""The durable variables: written, listed, found, deleted; hidden without their host, locked with their floor."""

import pytest
from hypothesis import given
from sqlalchemy import delete

from agentui.jsonio import Json
from agentui.store.tables import branches, floors, sessions
from agentui.variables.errors import DuplicateTarget, HostNotFound, InvalidWrite, TargetLocked, ValueTooLarge, VariableNotFound
from agentui.variables.records import Filter, Put, Written, find, get, put, put_all, remove
from agentui.variables.scopes import GLOBAL, SCOPES, Scope, Target, branch_target
from agentui.variables.values import MAX_KEY_BYTES, MAX_VALUE_BYTES, check_key, parse, render
from tests.variables.database import ACCOUNT, Database
from tests.variables.values import json_values, same


def write(base: Database, target: Target, key: str, value: Json, account: str = ACCOUNT) -> Written:
    return base.run(put, account, Put(target, key, render(value)), base.now)


def keys(base: Database, wanted: Filter = Filter(), **how: object) -> list[str]:  # noqa: B008 - a frozen value
    return [variable.key for variable in base.run(find, ACCOUNT, wanted, **how)[0]]


def every_target(base: Database) -> dict[Scope, Target]:
    session = base.add_session()
    floor = base.add_floor(session)
    page = base.add_page(floor)
    return {
        "global": GLOBAL,
        "chat": Target("chat", session),
        "branch": branch_target(session, "main"),
        "floor": Target("floor", floor),
        "page": Target("page", page),
    }


@given(json_values)
def test_a_value_comes_back_exactly(value: Json) -> None:
    assert same(parse(render(value)), value)


@pytest.mark.parametrize("scope", SCOPES)
def test_a_second_write_changes_the_variable_and_keeps_its_id(base: Database, scope: Scope) -> None:
    target = every_target(base)[scope]
    first = write(base, target, "gold", {"n": 1})
    second = write(base, target, "gold", None)
    assert (first.is_new, second.is_new) == (True, False)
    assert second.variable.id == first.variable.id
    assert second.variable.updated_at > first.variable.updated_at
    assert base.run(get, ACCOUNT, first.variable.id) == second.variable
    assert second.variable.value is None


def test_every_account_has_its_own_global_variables(base: Database) -> None:
    mine = write(base, GLOBAL, "gold", 1).variable
    theirs = write(base, GLOBAL, "gold", 2, account="other").variable
    assert mine.id != theirs.id
    with pytest.raises(VariableNotFound):
        base.run(get, ACCOUNT, theirs.id)
    with pytest.raises(VariableNotFound):
        base.run(remove, ACCOUNT, theirs.id)
    assert keys(base) == ["gold"]


def test_another_accounts_hosts_are_missing(base: Database) -> None:
    foreign = base.add_session(account="other")
    for target in (Target("chat", foreign), branch_target(foreign, "main")):
        with pytest.raises(HostNotFound):
            write(base, target, "gold", 1)


@pytest.mark.parametrize("scope", [scope for scope in SCOPES if scope != "global"])
def test_a_host_must_exist(base: Database, scope: Scope) -> None:
    id = "branch:nobody:main" if scope == "branch" else "nobody"
    with pytest.raises(HostNotFound) as caught:
        write(base, Target(scope, id), "gold", 1)
    assert caught.value.status == 404
    assert caught.value.code == "variable_host_not_found"


def test_a_branch_needs_no_floor(base: Database) -> None:
    session = base.add_session()
    base.add_branch(session, "side:way")
    written = write(base, branch_target(session, "side:way"), "route", "campfire")
    assert written.variable.as_json()["scope_ref"] == {"session_id": session, "branch_id": "side:way"}


@pytest.mark.parametrize("state", ["generating", "committed"])
@pytest.mark.parametrize("scope", ["floor", "page"])
def test_a_floor_at_work_or_done_is_locked_with_its_pages(base: Database, state: str, scope: Scope) -> None:
    targets = every_target(base)
    variable = write(base, targets[scope], "mood", "calm").variable
    base.set_state(targets["floor"].scope_id, state)
    with pytest.raises(TargetLocked):
        write(base, targets[scope], "mood", "wild")
    with pytest.raises(TargetLocked):
        base.run(remove, ACCOUNT, variable.id)
    assert base.run(get, ACCOUNT, variable.id).value == "calm"
    for other in ("global", "chat", "branch"):
        assert write(base, targets[other], "mood", "free").is_new


@pytest.mark.parametrize("state", ["draft", "failed"])
def test_an_open_floor_takes_variables(base: Database, state: str) -> None:
    targets = every_target(base)
    base.set_state(targets["floor"].scope_id, state)
    for scope in ("floor", "page"):
        written = write(base, targets[scope], "mood", "calm")
        base.run(remove, ACCOUNT, written.variable.id)


def test_a_batch_is_written_whole_or_not_at_all(base: Database) -> None:
    targets = every_target(base)
    base.set_state(targets["floor"].scope_id, "committed")
    for bad, error in ((targets["page"], TargetLocked), (Target("chat", "nobody"), HostNotFound)):
        writes = [Put(GLOBAL, "a", "1"), Put(targets["chat"], "b", "2"), Put(bad, "c", "3")]
        with pytest.raises(error):
            base.run(put_all, ACCOUNT, writes, base.now)
    assert keys(base) == []


def test_a_batch_answers_in_its_own_order(base: Database) -> None:
    targets = every_target(base)
    write(base, targets["chat"], "b", 0)
    writes = [Put(targets["page"], "z", "1"), Put(targets["chat"], "b", "2"), Put(GLOBAL, "a", "3")]
    done = base.run(put_all, ACCOUNT, writes, base.now)
    assert [(item.variable.key, item.is_new) for item in done] == [("z", True), ("b", False), ("a", True)]


def test_a_batch_cannot_write_one_variable_twice(base: Database) -> None:
    with pytest.raises(DuplicateTarget) as caught:
        base.run(put_all, ACCOUNT, [Put(GLOBAL, "a", "1"), Put(GLOBAL, "b", "1"), Put(GLOBAL, "a", "2")], base.now)
    assert caught.value.details == {"index": 2, "first_index": 0}


def test_variables_of_one_moment_list_in_the_order_they_were_made(base: Database) -> None:
    names = [f"k{number}" for number in (5, 3, 9, 1, 7)]
    base.run(put_all, ACCOUNT, [Put(GLOBAL, name, "0") for name in names], base.now)
    assert keys(base) == names
    assert keys(base, descending=False) == names
    assert keys(base, sort_by="key", descending=False) == sorted(names)


def test_keys_sort_by_code_point_on_every_engine(base: Database) -> None:
    names = ["a", "B", "ä", "Z", "金", "_", "😀", "0"]
    base.run(put_all, ACCOUNT, [Put(GLOBAL, name, "0") for name in names], base.now)
    assert keys(base, sort_by="key", descending=False) == sorted(names)
    assert keys(base, sort_by="key") == sorted(names, reverse=True)


def test_pages_of_a_list_cover_it_without_overlap(base: Database) -> None:
    base.run(put_all, ACCOUNT, [Put(GLOBAL, f"k{number}", "0") for number in range(7)], base.now)
    pages = [base.run(find, ACCOUNT, Filter(), limit=3, offset=offset) for offset in (0, 3, 6, 9)]
    assert [total for _, total in pages] == [7, 7, 7, 7]
    assert [len(items) for items, _ in pages] == [3, 3, 1, 0]
    assert len({item.id for items, _ in pages for item in items}) == 7


def test_filters_are_equalities(base: Database) -> None:
    targets = every_target(base)
    for scope, target in targets.items():
        write(base, target, f"of {scope}", 1)
        write(base, target, "gold", 1)
    assert keys(base, Filter(scope="chat"), sort_by="key") == ["of chat", "gold"]
    assert keys(base, Filter(scope_id=targets["page"].scope_id), sort_by="key") == ["of page", "gold"]
    assert keys(base, Filter(key="gold")) == ["gold"] * 5
    assert keys(base, Filter(scope="branch", scope_id=targets["branch"].scope_id, key="gold")) == ["gold"]
    assert keys(base, Filter(key="Gold")) == []


def test_variables_without_their_host_are_hidden_and_can_be_deleted(base: Database) -> None:
    targets = every_target(base)
    made = {scope: write(base, target, "gold", 1).variable for scope, target in targets.items()}
    session = targets["chat"].scope_id
    base.run(lambda db: db.execute(delete(floors).where(floors.c.session_id == session)))
    assert sorted(variable.scope for variable in base.run(find, ACCOUNT, Filter())[0]) == ["branch", "chat", "global"]
    base.run(lambda db: db.execute(delete(branches).where(branches.c.session_id == session)))
    base.run(lambda db: db.execute(delete(sessions).where(sessions.c.id == session)))
    shown, total = base.run(find, ACCOUNT, Filter())
    assert ([variable.scope for variable in shown], total) == (["global"], 1)
    for scope in ("chat", "branch", "floor", "page"):
        with pytest.raises(VariableNotFound):
            base.run(get, ACCOUNT, made[scope].id)
        base.run(remove, ACCOUNT, made[scope].id)
        with pytest.raises(VariableNotFound):
            base.run(remove, ACCOUNT, made[scope].id)


@pytest.mark.parametrize("key", ["", "a\0b", "a\udea2", "k" * (MAX_KEY_BYTES + 1), "金" * (MAX_KEY_BYTES // 3 + 1)])
def test_a_key_that_no_index_can_hold_is_refused(key: str) -> None:
    with pytest.raises(InvalidWrite):
        check_key(key)


def test_the_longest_key_can_be_kept(base: Database) -> None:
    key = check_key("金" * (MAX_KEY_BYTES // 3))
    assert write(base, every_target(base)["page"], key, 1).is_new


def test_a_value_may_be_a_mebibyte_and_no_more(base: Database) -> None:
    largest = "x" * (MAX_VALUE_BYTES - 2)
    assert write(base, GLOBAL, "big", largest).variable.value == largest
    for larger in (largest + "x", "金" * (MAX_VALUE_BYTES // 3)):
        with pytest.raises(ValueTooLarge) as caught:
            render(larger)
        assert caught.value.status == 413
        assert caught.value.code == "payload_too_large"


def test_a_value_nested_too_deep_is_refused() -> None:
    value: Json = 0
    for _ in range(99):
        value = [value]
    assert same(parse(render(value)), value)
    for deeper in ([value], {"a": value}):
        with pytest.raises(InvalidWrite, match="nested deeper"):
            render(deeper)
    for _ in range(5000):
        value = [value]
    with pytest.raises(InvalidWrite):
        render(value)
