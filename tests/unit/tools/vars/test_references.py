"""References in arguments: slices, recursion, cycles, limits, and texts from outside."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.jsonio import Json
from agentui.tools.vars.errors import BadReference
from agentui.tools.vars.record import LITERAL_TYPES, VarType
from agentui.tools.vars.references import MARK, MAX_INSERTED, References, resolve
from agentui.tools.vars.system import VariableSystem
from tests.unit.tools.vars.clocks import system

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
names = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n{}:"), min_size=1, max_size=20)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | texts, lambda inner: st.lists(inner) | st.dictionaries(texts, inner)
)


def ref(name: str, *slice: int) -> str:
    """A reference as a model writes it."""
    return f"{MARK}{':'.join((name, *map(str, slice)))}" + "}}"


def with_values(**values: str) -> VariableSystem:
    """A system with variables that a person wrote."""
    vars = system()
    for name, value in values.items():
        vars.add(name, value, "USER_ADD")
    return vars


@given(names, texts, texts, texts)
def test_a_reference_is_replaced_by_the_value(name: str, value: str, before: str, after: str) -> None:
    vars = system()
    vars.add("Rule" if name.startswith("Rule/") else name, value, "ToolCallResult")
    name = "Rule" if name.startswith("Rule/") else name
    before, after = before.replace("$", ""), after.replace("$", "")
    assert References(vars).resolve(f"{before}{ref(name)}{after}") == f"{before}{value}{after}"


@given(texts, st.integers(0, 40), st.integers(0, 40))
def test_slices_count_code_points(value: str, start: int, length: int) -> None:
    vars = system()
    vars.add("变量.a", value, "ToolCallResult")
    answer = References(vars).resolve([ref("变量.a", start, length), ref("变量.a", start)])
    assert answer == [value[start : start + length], value[start:]]


def test_a_slice_does_not_count_utf_16_units() -> None:
    assert References(with_values(a="😀😀b")).resolve(ref("a", 1, 2)) == "😀b"


@given(plain)
def test_what_has_no_reference_stays_as_it_is(arguments: Json) -> None:
    assert References(system()).resolve(arguments) == arguments


def test_lists_and_objects_are_walked_and_keys_are_not() -> None:
    arguments = {ref("a"): [ref("a"), {"deep": [ref("a"), 3, None, True]}]}
    assert References(with_values(a="1")).resolve(arguments) == {ref("a"): ["1", {"deep": ["1", 3, None, True]}]}


@pytest.mark.parametrize(
    "text", ["$VAR_REF{{}}", "$VAR_REF{{a:x}}", "$VAR_REF{{a:1:2:3}}", "$VAR_REF{{a:-1}}", "$VAR_REF{a}", "{{a}}"]
)
def test_what_is_no_reference_stays_text(text: str) -> None:
    assert References(with_values(a="1")).resolve(text) == text


def test_the_same_variable_twice_is_no_cycle() -> None:
    vars = with_values(a="x", b=ref("a") + ref("a"))
    arguments = {"one": [ref("b"), ref("b")], "two": ref("b") + ref("a")}
    assert References(vars).resolve(arguments) == {"one": ["xx", "xx"], "two": "xxx"}


@given(st.integers(1, 30))
def test_cycles_of_every_length_are_found(length: int) -> None:
    vars = with_values(**{f"v{number}": ref(f"v{(number + 1) % length}") for number in range(length)})
    with pytest.raises(BadReference, match=r"^Circular variable reference detected"):
        References(vars).resolve(ref("v0"))


def test_a_value_is_cut_before_its_references_are_followed() -> None:
    vars = with_values(a=ref("b") + ref("a"), b="x")
    assert References(vars).resolve(ref("a", 0, len(ref("b")))) == "x"


def test_a_missing_variable_is_named_and_nothing_else() -> None:
    vars = with_values(secret_key="hunter2")
    with pytest.raises(BadReference, match=r"^Variable 'nobody' not found$") as caught:
        References(vars).resolve({"a": ref("secret_key"), "b": ref("nobody")})
    assert "hunter2" not in str(caught.value)


def test_what_is_no_text_is_inserted_as_json_and_cannot_be_cut() -> None:
    def lookup(name: str) -> tuple[Json, bool]:
        return {"n": 1}, False

    assert resolve(ref("a"), lookup) == '{"n":1}'
    with pytest.raises(BadReference, match=r"^Cannot slice non-string variable 'a'"):
        resolve(ref("a", 0, 1), lookup)


@pytest.mark.parametrize("end", ["x", ""])
def test_chains_that_double_are_capped(end: str) -> None:
    """Of a text they would make gigabytes, of none they would take for ever."""
    vars = with_values(v0=end, **{f"v{number}": ref(f"v{number - 1}") * 2 for number in range(1, 31)})
    with pytest.raises(BadReference):
        References(vars).resolve(ref("v30"))


def test_deep_chains_are_capped() -> None:
    vars = with_values(v0="x", **{f"v{number}": ref(f"v{number - 1}") for number in range(1, 1000)})
    with pytest.raises(BadReference, match=r"100 values deep"):
        References(vars).resolve(ref("v999"))
    assert References(vars).resolve(ref("v99")) == "x"


def test_the_size_of_all_arguments_together_is_capped() -> None:
    vars = with_values(a="x" * (MAX_INSERTED // 4))
    assert len(References(vars).resolve(ref("a") * 4)) == MAX_INSERTED
    with pytest.raises(BadReference, match=r"refer to slices"):
        References(vars).resolve({"one": [ref("a")] * 3, "two": [ref("a")], "three": ref("a", 0, 1)})


@pytest.mark.parametrize("type", sorted(LITERAL_TYPES))
def test_text_from_outside_is_never_resolved(type: VarType) -> None:
    vars = with_values(secret="hunter2")
    name = "Rule/web/page" if type == "RULE" else "page"
    vars.add(name, f"see {ref('secret')}", type)
    vars.add("note", f"it says: {ref(name)}", "USER_ADD")
    assert References(vars).resolve([ref(name), ref("note")]) == [f"see {ref('secret')}", f"it says: see {ref('secret')}"]
    assert References(vars, follows_all=True).resolve(ref("note")) == "it says: see hunter2"


@given(st.integers(0, len(ref("secret"))))
def test_no_reference_comes_about_from_pieces(at: int) -> None:
    vars = with_values(secret="hunter2", first=ref("secret")[:at], second=ref("secret")[at:])
    answer = References(vars).resolve(ref("first") + ref("second"))
    assert answer == ("hunter2" if at in (0, len(ref("secret"))) else ref("secret"))


def test_a_reference_counts_as_a_read() -> None:
    vars = with_values(a="x")
    References(vars).resolve(ref("a"))
    variable = vars.peek("a")
    assert variable is not None and variable.reference_count == 1


async def test_references_are_replaced_apart_by_the_variables_of_when_it_began() -> None:
    vars = with_values(a="x", b="y")
    asked = asyncio.create_task(References(vars).resolve_apart({"text": ref("a") + ref("b")}))
    await asyncio.sleep(0)  # it has begun, and stands in its thread or behind it
    vars.remove(["b"])
    assert await asked == {"text": "xy"}
    assert [(variable.name, variable.reference_count) for variable in vars.listed()] == [("a", 1)]
    with pytest.raises(BadReference):
        await References(vars).resolve_apart({"text": ref("b")})
    same: dict[str, Json] = {"text": "plain", "more": [1, {"deep": None}]}
    assert await References(vars).resolve_apart(same) is same
