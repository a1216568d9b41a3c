"""What sessions allow models to do with tools, and the list of built-in tools, over HTTP."""

import pytest

from agentui.chats.tools.permissions import permissions_of
from agentui.jsonio import Json
from agentui.tools.permissions import Permissions
from tests.api.chats.conftest import Reader, postgres_reader, reader

__all__ = ["postgres_reader", "reader"]

ALL: dict[str, Json] = {
    "enabled": True,
    "max_calls_per_turn": 1000,
    "max_steps_per_generation": 50,
    "allow_irreversible": True,
    "slot_allow_list": {"director": ["get_variable"]},
    "slot_deny_list": {"narrator": ["*"]},
}


@pytest.fixture(params=["reader", "postgres_reader"])
def caller(request: pytest.FixtureRequest) -> Reader:
    """A caller of a fresh server on each engine."""
    found: Reader = request.getfixturevalue(request.param)
    return found


async def test_permissions_are_what_was_said(caller: Reader) -> None:
    path = f"/sessions/{await caller.session_id()}/tool-permissions"
    assert (await caller.get(path)).body == {"data": {}}
    assert (await caller.put(path, ALL)).body == {"data": ALL}
    assert (await caller.get(path)).body == {"data": ALL}
    patched = await caller.patch(path, {"max_calls_per_turn": 5, "slot_deny_list": None})
    kept = {name: value for name, value in ALL.items() if name != "slot_deny_list"} | {"max_calls_per_turn": 5}
    assert patched.body == {"data": kept}
    assert (await caller.put(path, {"enabled": False})).body == {"data": {"enabled": False}}
    assert (await caller.put(path, {})).body == {"data": {}} == (await caller.get(path)).body


@pytest.mark.parametrize(
    ("body", "path", "code"),
    [
        ({"max_calls_per_turn": 0}, "/max_calls_per_turn", "minimum"),
        ({"max_calls_per_turn": 1001}, "/max_calls_per_turn", "maximum"),
        ({"max_steps_per_generation": 0}, "/max_steps_per_generation", "minimum"),
        ({"max_steps_per_generation": 51}, "/max_steps_per_generation", "maximum"),
        ({"enabled": "perhaps"}, "/enabled", "type"),
        ({"slot_allow_list": {"nobody": []}}, "/slot_allow_list/nobody/[key]", "enum"),
        ({"slot_allow_list": {"narrator": [""]}}, "/slot_allow_list/narrator/0", "minLength"),
        ({"slot_deny_list": {"narrator": ["a"] * 1001}}, "/slot_deny_list/narrator", "maxItems"),
        ({"slot_deny_list": []}, "/slot_deny_list", "type"),
    ],
)
async def test_what_nobody_can_allow_is_refused_and_changes_nothing(reader: Reader, body: Json, path: str, code: str) -> None:
    address = f"/sessions/{await reader.session_id()}/tool-permissions"
    await reader.put(address, ALL)
    for answer in (await reader.put(address, body), await reader.patch(address, body)):
        assert answer.status == 400
        assert answer.body["error"]["code"] == "validation_error"
        assert [(each["path"], each["code"]) for each in answer.body["error"]["details"]] == [(path, code)]
    assert (await reader.get(address)).body == {"data": ALL}


async def test_there_are_no_permissions_of_what_is_no_session(reader: Reader) -> None:
    for answer in (
        await reader.get("/sessions/none/tool-permissions"),
        await reader.put("/sessions/none/tool-permissions", ALL),
        await reader.patch("/sessions/none/tool-permissions", ALL),
    ):
        assert (answer.status, answer.body["error"]["code"]) == (404, "not_found")
    session = await reader.session_id()
    assert (await reader.patch(f"/sessions/{session}/tool-permissions", {})).status == 400


def test_what_was_not_said_follows_the_defaults() -> None:
    assert permissions_of({}) == Permissions()
    said = permissions_of(ALL)
    assert said.enabled and said.max_calls_per_turn == 1000
    assert said.slot_allow_list == {"director": frozenset({"get_variable"})}


async def test_the_builtin_tools_are_listed(reader: Reader) -> None:
    tools = {tool["name"]: tool for tool in (await reader.get("/tools/builtin")).body["data"]}
    assert tools.keys() >= {
        "get_variable", "set_variable", "roll_dice", "random_choice", "get_time", "get_character_info", "list_characters",
        "delete_worldbook",
    }  # fmt: skip
    assert tools["set_variable"]["side_effect_level"] == "sandbox"
    assert tools["roll_dice"]["allowed_slots"] == ["director", "memory", "narrator", "verifier"]
    assert tools["get_variable"]["parameters"]["required"] == ["key"]


async def test_the_catalog_says_what_a_session_allows(reader: Reader) -> None:
    session = await reader.session_id()
    path = f"/sessions/{session}/tool-catalog"

    async def allowed(slot: str = "narrator") -> set[str]:
        tools = (await reader.get(f"{path}?caller_slot={slot}")).body["data"]
        assert all((tool["refusal"] is None) == tool["is_allowed"] for tool in tools)
        return {tool["name"] for tool in tools if tool["is_allowed"]}

    assert await allowed() == set()
    await reader.put(f"/sessions/{session}/tool-permissions", {"enabled": True, "slot_deny_list": {"director": ["*"]}})
    assert await allowed() >= {"roll_dice", "set_variable", "list_characters"}
    assert "delete_character" not in await allowed()
    assert await allowed("director") == set()
    await reader.patch(f"/sessions/{session}/tool-permissions", {"allow_irreversible": True})
    assert "delete_character" in await allowed()
    assert (await reader.get(f"{path}?caller_slot=nobody")).status == 400
    assert (await reader.get("/sessions/none/tool-catalog")).status == 404


async def test_the_runtime_catalog_says_why_a_tool_is_not_available(reader: Reader) -> None:
    session = await reader.session_id()
    path = f"/sessions/{session}/tools/runtime"
    await reader.put(f"/sessions/{session}/tool-permissions", {"enabled": True})
    catalog = (await reader.get(path)).body["data"]
    tools = {tool["name"]: tool for tool in catalog["tools"]}
    assert (catalog["session_id"], catalog["conflicts"]) == (session, [])
    assert (tools["roll_dice"]["availability"], tools["roll_dice"]["availability_reason"]) == ("available", None)
    assert (tools["roll_dice"]["source"], tools["get_worldbook"]["source"]) == ("builtin", "resource")
    assert tools["delete_worldbook"]["availability"] == "unavailable"
    assert tools["delete_worldbook"]["replay_safety"] == "confirm_on_replay"
    assert "cannot be undone" in tools["delete_worldbook"]["availability_reason"]
    assert {tool["async_capability"] for tool in tools.values()} == {"inline_only"}
    assert (await reader.get("/sessions/none/tools/runtime")).status == 404
