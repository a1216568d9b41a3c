"""Working variables: types, capacity, the order in which they make room, and what is to be stored of them."""

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.tools.vars.errors import InvalidVariable, RuleIsFixed, VariableTooLarge
from agentui.tools.vars.record import MAX_VALUE, VAR_TYPES, VarType, WorkingVariable
from agentui.tools.vars.system import VarFilter, VariableSystem
from tests.unit.tools.vars.clocks import system

NAMES = st.sampled_from("abcdef")
times = st.integers(0, 2)


def test_a_variable_is_made_changed_and_read() -> None:
    vars = system()
    made = vars.add("plan", "look", "LLMAdd", "what to do", ["todo", "todo"])
    assert (made.value, made.type, made.desc, made.tags, made.keep) == ("look", "LLMAdd", "what to do", ("todo",), False)
    changed = vars.update("plan", value="leap")
    assert (changed.value, changed.desc, changed.created) == ("leap", "what to do", made.created)
    assert changed.updated == changed.last_visited > made.updated
    read = vars.get("plan")
    assert read is not None and read.last_visited > changed.last_visited and read.reference_count == 1
    assert read.updated == changed.updated
    assert vars.get("other") is None


def test_lists_do_not_count_as_reads() -> None:
    vars = system()
    vars.add("plan", "x", "LLMAdd")
    before = vars.peek("plan")
    assert vars.listed() == [before] and vars.peek("plan") == before


def test_what_is_no_text_is_kept_as_json() -> None:
    assert system().add("n", {"b": [1, True, None]}, "USER_ADD").value == '{"b":[1,true,null]}'


def test_a_new_variable_needs_a_value() -> None:
    with pytest.raises(InvalidVariable):
        system().update("plan", desc="nothing yet")


@pytest.mark.parametrize("name", ["", "a{b", "a}b", "a:b", "a\nb", "a\0b", "\ud800", "x" * 201])
def test_names_that_no_reference_can_say_are_refused(name: str) -> None:
    with pytest.raises(InvalidVariable):
        system().add(name, "x", "LLMAdd")


def test_a_value_has_a_largest_size() -> None:
    vars = system()
    vars.add("a", "x" * MAX_VALUE, "LLMAdd")
    with pytest.raises(VariableTooLarge):
        vars.add("a", "x" * (MAX_VALUE + 1), "LLMAdd")


@pytest.mark.parametrize(
    ("chosen", "names"),
    [
        (VarFilter(type="RULE"), ["Rule/a/b"]),
        (VarFilter(tag="x"), ["one"]),
        (VarFilter(search="TW"), ["two"]),
        (VarFilter(search="first"), ["one"]),
        (VarFilter(type="LLMAdd", tag="x", search="zzz"), []),
        (VarFilter(), ["Rule/a/b", "one", "two"]),
    ],
)
def test_lists_are_filtered(chosen: VarFilter, names: list[str]) -> None:
    vars = system()
    vars.add("two", "2", "USER_ADD")
    vars.add("one", "1", "LLMAdd", "The First", ["x"])
    vars.add("Rule/a/b", "text", "RULE", keep=True)
    assert [variable.name for variable in vars.listed(chosen)] == names


def test_rules_are_neither_written_nor_removed_as_variables() -> None:
    vars = system()
    vars.add("Rule/a/b", "text", "RULE", keep=True)
    for name in ("Rule/a/b", "Rule/new/one"):
        with pytest.raises(RuleIsFixed):
            vars.update(name, value="other")
        with pytest.raises(RuleIsFixed):
            vars.add(name, "other", "LLMAdd")
    assert vars.remove(["Rule/a/b", "none"]) == ([], ["Rule/a/b", "none"])
    assert vars.changes() == ()


@given(st.lists(st.tuples(times, times, times, NAMES), unique_by=lambda item: item[3], min_size=1), st.integers(0, 6))
def test_the_oldest_makes_room_by_visit_update_creation_and_name(ages: list[tuple[int, int, int, str]], capacity: int) -> None:
    stored = [WorkingVariable(name, "x", "LLMAdd", created, updated, visited) for visited, updated, created, name in ages]
    vars = VariableSystem(stored, now=lambda: 9, capacity=capacity)
    assert {variable.name for variable in vars.listed()} == {name for *_, name in sorted(ages)[max(0, len(ages) - capacity) :]}


@given(st.lists(st.tuples(st.sampled_from(["add", "keep", "get", "remove"]), st.text("abcdefgh", min_size=1, max_size=1))))
def test_whatever_happens_the_capacity_holds_for_what_is_not_kept(steps: list[tuple[str, str]]) -> None:
    vars = system(capacity=3)
    for step, name in steps:
        if step == "add":
            vars.add(name, step, "LLMAdd")
            assert vars.peek(name) is not None
        elif step == "keep":
            vars.add(name, step, "USER_ADD", keep=True)
        elif step == "get":
            vars.get(name)
        else:
            vars.remove([name])
        kept = [variable for variable in vars.listed() if variable.keep]
        # A variable that was written just now stays, also where all others are kept.
        assert len(vars.listed()) <= max(3, len(kept) + 1)


def test_where_all_are_kept_the_system_grows_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    vars = system(capacity=2)
    with caplog.at_level(logging.WARNING, "agentui.tools"):
        for name in "abc":
            vars.add(name, name, "USER_ADD", keep=True)
    assert [variable.name for variable in vars.listed()] == ["a", "b", "c"]
    assert "more than the capacity of 2" in caplog.text


def test_a_read_saves_a_variable_from_making_room() -> None:
    vars = system(capacity=2)
    vars.add("a", "1", "LLMAdd")
    vars.add("b", "2", "LLMAdd")
    vars.get("a")
    vars.add("c", "3", "LLMAdd")
    assert [variable.name for variable in vars.listed()] == ["a", "c"]


def test_long_values_make_room_like_many() -> None:
    vars = system(total=10)
    for name in "abc":
        vars.add(name, "12345", "ToolCallResult")
    assert [variable.name for variable in vars.listed()] == ["b", "c"]
    vars.update("b", keep=True)
    vars.add("d", "12345", "LLMAdd")
    assert [variable.name for variable in vars.listed()] == ["b", "d"]
    with pytest.raises(VariableTooLarge):
        vars.add("e", "123456", "LLMAdd")


def test_changes_name_what_is_written_read_and_gone() -> None:
    stored = [WorkingVariable(name, "x", "LLMAdd", 1, 1, 1) for name in "abcd"]
    vars = VariableSystem(stored, now=lambda: 5)
    vars.get("a")
    vars.update("b", value="y")
    vars.remove(["c"])
    vars.add("e", "z", "LLMAdd")
    vars.add("gone", "z", "LLMAdd")
    vars.remove(["gone"])
    vars.add("Rule/x/y", "z", "RULE", keep=True)
    found = {change.name: (change.after is not None, change.has_new_value) for change in vars.changes()}
    assert found == {"a": (True, False), "b": (True, True), "c": (False, False), "e": (True, True)}


@pytest.mark.parametrize("type", VAR_TYPES)
def test_what_comes_from_outside_is_literal(type: VarType) -> None:
    name = "Rule/a/b" if type == "RULE" else "a"
    assert system().add(name, "x", type).is_literal == (type not in ("LLMAdd", "USER_ADD"))
