"""Where two documents differ."""

from copy import deepcopy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentui.jsonio import Json
from agentui.prompt.comparing import compare_prompts, differences

NAME = st.text("abc", min_size=1, max_size=2)
DOCUMENT = st.recursive(
    st.none() | st.integers(0, 3) | st.text(max_size=2),
    lambda inner: st.dictionaries(NAME, inner, max_size=3) | st.lists(inner, max_size=2),
    max_leaves=12,
)


def applied(document: Json, changes: list[dict[str, Json]]) -> Json:
    """A document after the changes, as somebody would make them by hand."""
    whole: dict[str, Any] = {"root": deepcopy(document)}
    for change in changes:
        *above, last = change["path"].split(".")
        place: Any = whole
        for name in above:
            place = place[name]
        if change["change_type"] == "removed":
            assert place.pop(last) == change["left"]
        else:
            assert (last in place) == (change["change_type"] == "changed")
            place[last] = change["right"]
    return whole["root"]


@given(DOCUMENT, DOCUMENT)
def test_the_differences_lead_from_one_to_the_other(left: Json, right: Json) -> None:
    assert applied(left, differences(left, right, "root")) == right


@given(DOCUMENT)
def test_what_is_alike_has_none(document: Json) -> None:
    assert differences(document, deepcopy(document), "root") == []


def test_paths_are_told_in_their_order_and_lists_whole() -> None:
    old, new = {"b": {"x": 1, "y": 2}, "c": [1], "d": 0}, {"b": {"x": 1, "y": 3}, "c": [1, 2], "a": None}
    assert differences(old, new, "p") == [
        {"path": "p.a", "change_type": "added", "right": None},
        {"path": "p.b.y", "change_type": "changed", "left": 2, "right": 3},
        {"path": "p.c", "change_type": "changed", "left": [1], "right": [1, 2]},
        {"path": "p.d", "change_type": "removed", "left": 0},
    ]


def test_a_very_deep_document_is_compared_without_recursion() -> None:
    deep: Json = 0
    for _ in range(5_000):
        deep = {"a": deep}
    assert differences(deep, {"a": 1}, "p")[0]["path"] == "p.a"


def kept(*sections: Json, **more: Json) -> dict[str, Json]:
    """What is kept of a prompt with these sections."""
    generation = {"pipeline_id": "chat", "model": "m", "params": {}, "tools": []}
    return {"sections": list(sections), "generation": generation, **more}


def section(name: str, text: str | None, group: str = "section", source: str = "preset", **more: Json) -> Json:
    told = {"name": name, "group": group, "source": source, "role": "system", "text": text, "is_cut": False, "tokens": 3}
    return {**told, "kept": True, "why": None, "first_floor_no": None, "last_floor_no": None, **more}


def history(first: int, last: int, *, is_kept: bool = True) -> Json:
    return section("history", None, "history", "history", first_floor_no=first, last_floor_no=last, kept=is_kept)


def paths(changes: Json) -> list[tuple[str, str]]:
    return [(change["path"], change["change_type"]) for change in changes]


def test_texts_are_compared_by_their_names_wherever_they_stand() -> None:
    old = kept(section("main", "You are calm."), section("jailbreak", "Stay."), section("gone", "Bye."))
    new = kept(section("note", "New."), section("main", "You are evil."), section("jailbreak", "Stay."))
    found = compare_prompts(old, new)["section_changes"]
    assert paths(found) == [("sections.note", "added"), ("sections.main", "changed"), ("sections.gone", "removed")]
    assert [found[1][side]["text"] for side in ("left", "right")] == ["You are calm.", "You are evil."]
    trimmed = kept(section("main", "You are calm.", kept=False, why="budget_exceeded"))
    [change] = compare_prompts(kept(section("main", "You are calm.")), trimmed)["section_changes"]
    assert (change["left"]["kept"], change["right"]["why"]) == (True, "budget_exceeded")


def test_messages_are_what_was_said_and_the_floors_of_the_history() -> None:
    said = {"source": "message", "group": "message"}
    old = kept(history(0, 3), history(4, 4, is_kept=False), section("message", "one", **said))
    new = kept(history(2, 3), history(5, 2_000_000_000), section("message", "two", **said))
    found = compare_prompts(old, new)
    assert found["section_changes"] == []
    assert paths(found["message_changes"]) == [
        ("messages.message", "changed"),
        ("messages.history.0-1", "removed"),
        ("messages.history.5-2000000000", "added"),
    ]


def said_on(floor: str, **texts: str) -> dict[str, Json]:
    """What a floor of one side says."""
    return {"floor_id": floor, "texts": texts}


def test_texts_of_the_history_are_compared_where_they_differ() -> None:
    old = kept(history(0, 5), history_texts={"1": "aa", "2": "bb", "3": "cc", "5": "dd"})
    new = kept(history(1, 4), history_texts={"1": "aa", "2": "xx", "3": "yy", "5": "zz"})
    apart = {
        1: (said_on("a1", user="Hi", assistant="One."), said_on("b1", user="Ho", assistant="One.")),  # a script made them one
        2: (said_on("a2", user="Go left", assistant="x" * 3000), said_on("b2", user="Go right", assistant="x" * 3000)),
        4: (said_on("a4", assistant="Here."), said_on("b4", user="Why?", assistant="Here.")),  # older: without checksums
    }
    changes = [each for each in compare_prompts(old, new, apart)["message_changes"] if each["change_type"] == "changed"]
    assert [change["path"] for change in changes] == [
        "messages.history.2.user",
        "messages.history.3",
        "messages.history.4.user",
    ]
    left = {"first_floor_no": 2, "last_floor_no": 2, "floor_id": "a2", "role": "user", "text": "Go left", "is_cut": False}
    assert (changes[0]["left"], changes[0]["right"]["text"]) == (left, "Go right")
    # Of the floor that both have it is known that it was another one, and not how.
    assert changes[1]["left"] == changes[1]["right"] == {"first_floor_no": 3, "last_floor_no": 3, "text": None}
    assert (changes[2]["left"]["text"], changes[2]["right"]["text"]) == (None, "Why?")


RUNS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 6)), max_size=5)


@given(RUNS, RUNS)
def test_floors_that_came_and_went_are_those_of_one_side(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> None:
    one, other = ([history(first, first + more) for first, more in runs] for runs in (left, right))
    changes = compare_prompts(kept(*one), kept(*other))["message_changes"]
    floors = [{number for first, more in runs for number in range(first, first + more + 1)} for runs in (left, right)]
    for kind, side, wanted in (("removed", "left", floors[0] - floors[1]), ("added", "right", floors[1] - floors[0])):
        told = [change[side] for change in changes if change["change_type"] == kind]
        numbers = [no for run in told for no in range(run["first_floor_no"], run["last_floor_no"] + 1)]
        assert len(numbers) == len(set(numbers)) and set(numbers) == wanted


def test_macros_lore_tools_and_parameters_are_compared() -> None:
    def document(mood: str, state: str, **generation: Json) -> dict[str, Json]:
        entry = {"uid": 7, "comment": "Fire", "source": {"worldbook_id": "wb", "worldbook_name": "World"}}
        told = {"matches": [], "unused": [], state: [{**entry, "content_preview": "Hot."}]}
        trace = {"raw_text": "{{mood}}", "resolved_text": mood}
        write = {"kind": "set", "scope": "branch", "key": "gold", "value": mood}
        macro = {"traces": [trace, trace], "mutation_preview": [], "staged_mutations": [write], "warnings": []}
        kept_generation = {"pipeline_id": "chat", "model": "m", "params": {}, "tools": [], **generation}
        return kept(macro=macro, runtime_trace={"worldbook": told}, generation=kept_generation)

    old = document("calm", "matches", params={"temperature": 0.5}, tools=["roll_dice", "get_time"])
    new = document("evil", "unused", params={"temperature": 0.9}, tools=["get_time", "set_variable"])
    found = compare_prompts(old, new)
    assert [(change["path"], change["left"], change["right"]) for change in found["macro_changes"]] == [
        ("macro.values.{{mood}}", "calm", "evil"),
        ("macro.writes.branch.gold.value", "calm", "evil"),
    ]
    [change] = found["lore_changes"]
    assert (change["path"], change["left"]["state"], change["right"]["state"]) == ("lore.wb:7", "active", "unused")
    assert paths(found["tool_changes"]) == [("tools.set_variable", "added"), ("tools.roll_dice", "removed")]
    assert paths(found["parameter_changes"]) == [("parameters.temperature", "changed")]
    assert not any(compare_prompts(new, new).values())
