"""Working variables over HTTP, on both engines."""

from urllib.parse import quote

import pytest

from agentui.jsonio import Json
from tests.api.chats.conftest import Reader

NAMES = ["plan", "变量", "a/b c", "TODO_1_read"]
RULE = "Rule%2FAgent%2FVarRef"


@pytest.fixture(params=["reader", "postgres_reader"])
def caller(request: pytest.FixtureRequest) -> Reader:
    """A caller of a server on each engine."""
    found: Reader = request.getfixturevalue(request.param)
    return found


async def place(caller: Reader) -> str:
    """The working variables of a new session."""
    return f"/sessions/{await caller.session_id()}/working-variables"


@pytest.mark.parametrize("name", NAMES)
async def test_a_variable_is_written_read_in_slices_and_removed(caller: Reader, name: str) -> None:
    all_of_them = await place(caller)
    path = f"{all_of_them}/{quote(name, safe='')}"
    made = await caller.put(path, {"value": "😀bcd", "desc": "what", "tags": ["t"]})
    assert made.status == 201
    facts = made.body["data"]
    assert (facts["name"], facts["type"], facts["length"], facts["keep"]) == (name, "USER_ADD", 4, False)
    assert (await caller.put(path, {"keep": True})).status == 200
    for query, text in (("", "😀bcd"), ("?start=1&length=2", "bc"), ("?start=1", "bcd"), ("?start=9", ""), ("?length=0", "")):
        got = await caller.get(path + query)
        assert (got.status, got.body["data"]["value"], got.body["data"]["length"]) == (200, text, 4)
    listed = await caller.get(f"{all_of_them}?tag=t")
    assert [item["name"] for item in listed.body["data"]] == [name]
    assert "value" not in listed.body["data"][0]
    assert (await caller.delete(path)).body["data"] == {"id": name, "deleted": True}
    assert (await caller.get(path)).status == 404
    assert (await caller.delete(path)).body["error"]["code"] == "variable_not_found"


async def test_null_is_a_value_and_stands_for_what_stays_elsewhere(reader: Reader) -> None:
    path = f"/sessions/{await reader.session_id()}/working-variables/mood"
    for body, value, desc in (
        ({"value": None, "desc": "How it is."}, "null", "How it is."),
        ({"value": "calm"}, "calm", "How it is."),
        ({"desc": None, "keep": True}, "calm", "How it is."),
        ({"value": None}, "null", "How it is."),
    ):
        await reader.call("PUT", path, body, {})
        told = (await reader.get(path)).body["data"]
        assert (told["value"], told["desc"]) == (value, desc)


async def test_lists_are_sorted_filtered_and_cut(caller: Reader) -> None:
    path = await place(caller)
    for name in "abc":
        await caller.put(f"{path}/{name}", {"value": name, "desc": f"The {name.upper()}"})
    got = await caller.get(f"{path}?type=USER_ADD&limit=2&sort_order=desc")
    assert [item["name"] for item in got.body["data"]] == ["c", "b"]
    assert (got.body["meta"]["total"], got.body["meta"]["has_more"]) == (3, True)
    assert [item["name"] for item in (await caller.get(f"{path}?search=the%20b")).body["data"]] == ["b"]
    names = [item["name"] for item in (await caller.get(path)).body["data"]]
    assert names == ["Rule/Agent/TODO", "Rule/Agent/VarRef", "a", "b", "c"]


async def test_rules_are_read_and_not_changed(caller: Reader) -> None:
    path = f"{await place(caller)}/{RULE}"
    got = await caller.get(path)
    assert (got.status, got.body["data"]["type"]) == (200, "RULE")
    assert "$VAR_REF{{name:start:length}}" in got.body["data"]["value"]
    for refused in (await caller.put(path, {"value": "x"}), await caller.delete(path)):
        assert (refused.status, refused.body["error"]["code"]) == (409, "skill_rule_locked")


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("new", {"desc": "no value"}),
        ("new", {}),
        ("a%3Ab", {"value": "x"}),
        ("new", {"value": "x", "desc": "d" * 501}),
        ("new", {"value": "x", "tags": ["t"] * 21}),
        ("new", {"value": "x", "tags": [""]}),
        ("new", {"value": "a\0b"}),
        ("new", {"value": "x", "keep": "perhaps"}),
    ],
)
async def test_what_does_not_fit_is_refused_and_leaves_nothing(reader: Reader, name: str, body: Json) -> None:
    path = await place(reader)
    got = await reader.put(f"{path}/{name}", body)
    assert (got.status, got.body["error"]["code"]) == (400, "validation_error")
    assert (await reader.get(f"{path}?type=USER_ADD")).body["data"] == []


async def test_a_value_that_is_too_long_is_413(reader: Reader) -> None:
    got = await reader.put(f"{await place(reader)}/long", {"value": "x" * (1024 * 1024 + 1)})
    assert (got.status, got.body["error"]["code"]) == (413, "payload_too_large")


async def test_sessions_and_branches_must_exist(reader: Reader) -> None:
    path = await place(reader)
    assert (await reader.get(f"{path}?branch_id=alt")).body["error"]["code"] == "branch_not_found"
    assert (await reader.put(f"{path}/a?branch_id=alt", {"value": "x"})).status == 404
    assert (await reader.get("/sessions/nobody/working-variables")).status == 404


async def test_a_persons_rule_file_is_seen_at_once(reader: Reader) -> None:
    path = await place(reader)
    folder = reader.server.rules / "style"
    folder.mkdir(parents=True)
    (folder / "Talk.md").write_text("---\ndesc: How people talk\n---\nShort.")
    got = await reader.get(f"{path}/Rule%2Fstyle%2FTalk")
    assert (got.body["data"]["value"], got.body["data"]["desc"]) == ("Short.", "Skill rule for style: How people talk")
