"""The node Text: operations on a text, one after the other."""

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.chat.estimates import text_tokens
from agentui.errors import InvalidPipeline, NodeFailed, TemplateProblem
from agentui.jsonio import Json
from agentui.pipeline.nodes.text.operations import dedented, picked, truncated
from tests.unit.pipeline.parts import compiled, execute


def node(text: str, *operations: Json) -> Json:
    return {"id": "n1", "type": "Text", "config": {"text": text, "operations": list(operations)}}


async def texts(text: str, *operations: Json) -> list[str]:
    """What the operations make of a text."""
    run = await execute(compiled([node(text, *operations)]))
    out = run.out["n1"]
    assert out["text"] == "\n".join(out["texts"])
    made: list[str] = out["texts"]
    return made


@pytest.mark.parametrize(
    ("text", "operations", "made"),
    [
        ("{{ chat.last_user }}", [], ["Hi"]),
        ("", [], [""]),
        (" a ", [{"op": "trim"}], ["a"]),
        ("  a\n    b", [{"op": "dedent"}], ["a\n  b"]),
        ("Ä", [{"op": "lower"}], ["ä"]),
        ("ä", [{"op": "upper"}], ["Ä"]),
        ("a, b, c", [{"op": "split", "text": ", "}], ["a", "b", "c"]),
        ("a, b, c", [{"op": "split", "text": ", ", "limit": 2}], ["a", "b, c"]),
        (" a  b\nc ", [{"op": "split"}], ["a", "b", "c"]),
        ("a\nb\tc", [{"op": "split", "text": "\\n"}, {"op": "split", "text": "\\t"}], ["a", "b", "c"]),
        ("a b", [{"op": "split", "text": " "}, {"op": "join", "text": " {{ chat.last_user }} "}], ["a Hi b"]),
        ("1\n2\n3\n4", [{"op": "lines", "first": 2, "last": -2}], ["2\n3"]),
        ("1 2 3 4", [{"op": "split", "text": " "}, {"op": "pick", "first": -2}], ["3", "4"]),
        ("1 2", [{"op": "split", "text": " "}, {"op": "pick", "first": 3}], []),
        ("John Smith", [{"op": "replace", "pattern": r"(\w+) (?<last>\w+)", "text": "$<last>, $1"}], ["Smith, John"]),
        ("aAa", [{"op": "replace", "pattern": "a", "flags": "i", "text": "x"}], ["xAa"]),
        ("a b", [{"op": "replace", "pattern": " ", "text": "\\n"}], ["a\nb"]),
        (
            "a b",
            [{"op": "split"}, {"op": "template", "text": "{{ index }}/{{ texts|length }}: [[text]] {{ model }}"}],
            ["0/2: a gpt-4o-mini", "1/2: b gpt-4o-mini"],
        ),
        ("abcdef", [{"op": "truncate", "limit": 4, "text": "…"}], ["abc…"]),
        ("abcdef", [{"op": "truncate", "limit": 4, "keep": "end"}], ["cdef"]),
        ("abcdef", [{"op": "truncate"}], ["abcdef"]),
        ("abcdef", [{"op": "truncate", "limit": 0, "text": "…"}], [""]),
        ("four five", [{"op": "truncate", "limit": 1, "unit": "tokens"}], ["four"]),
        ("你好世界", [{"op": "truncate", "limit": 2, "unit": "tokens"}], ["你好世"]),
    ],
)
async def test_operations_work_in_their_order(text: str, operations: list[Json], made: list[str]) -> None:
    assert await texts(text, *operations) == made


@given(st.text(max_size=200), st.integers(0, 60), st.sampled_from(["characters", "tokens"]), st.sampled_from(["start", "end"]))
def test_a_truncated_text_fits_and_is_as_long_as_it_may_be(text: str, limit: int, unit: Json, keep: Json) -> None:
    size = text_tokens if unit == "tokens" else len
    kept = truncated(text, limit, unit, keep, "")
    assert size(kept) <= limit
    assert (text.startswith if keep == "start" else text.endswith)(kept)
    longer = text[: len(kept) + 1] if keep == "start" else text[max(len(text) - len(kept) - 1, 0) :]
    assert kept == text or size(longer) > limit
    assert truncated(kept, limit, unit, keep, "") == kept


@given(st.lists(st.text(max_size=3), max_size=12), st.integers(-15, 15), st.integers(-15, 15))
def test_what_is_picked_stands_between_first_and_last(items: list[str], first: int, last: int) -> None:
    places = [
        place
        for place in range(1, len(items) + 1)
        if (place >= first if first > 0 else place > len(items) + first)
        and (place <= last if last >= 0 else place <= len(items) + last + 1)
    ]
    if first != 0:
        assert picked(items, first, last) == [items[place - 1] for place in places]


@pytest.mark.parametrize(
    "operation", [{"op": "replace"}, {"op": "replace", "pattern": "("}, {"op": "replace", "pattern": "a", "flags": "q"}]
)
def test_an_expression_that_is_none_is_told_when_the_pipeline_is_saved(operation: Json) -> None:
    with pytest.raises(InvalidPipeline) as caught:
        compiled([node("a", operation)])
    assert [(problem.code, problem.field) for problem in caught.value.problems] == [("regex.syntax", "operations.0.pattern")]


async def test_an_expression_that_never_ends_ends_the_node() -> None:
    with pytest.raises(NodeFailed, match="takes too long"):
        await texts("a" * 40 + "b", {"op": "replace", "pattern": "^(a|aa)+$", "text": ""})


async def test_what_operations_make_has_bounds() -> None:
    many = ",".join("x" * 20 for _ in range(20_000))
    run = await execute(compiled([node(many, {"op": "split", "text": ","}, {"op": "upper"}, {"op": "join"})]))
    assert len(run.out["n1"]["text"]) == 400_000
    with pytest.raises(NodeFailed, match="characters come of"):
        await texts(many, {"op": "split", "text": ","}, {"op": "join", "text": "x" * 1000})
    with pytest.raises((NodeFailed, TemplateProblem)):
        await texts(many, {"op": "split", "text": ","}, {"op": "template", "text": "{{ texts }}"})
    with pytest.raises(NodeFailed, match="texts come of"):
        await texts("," * 200_000, {"op": "split", "text": ","})


def test_what_the_node_itself_names_is_no_variable_of_the_memory() -> None:
    plan = compiled([node("a", {"op": "template", "text": "{{ text }} {{ index }} {{ gold }}"})])
    assert plan.variables == {"gold"}


@given(st.text(" \t\r\na", max_size=30))
def test_what_is_dedented_is_what_pythons_own_gives(text: str) -> None:
    assert dedented(text) == textwrap.dedent(text)


def test_a_mark_longer_than_the_limit_is_put_nowhere() -> None:
    mark = "m" * 20_000_000
    assert {truncated("a" * 2000, 100, unit, "start", mark) for unit in ("characters", "tokens") for _ in range(5000)} == {""}
