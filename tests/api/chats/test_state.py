"""Session State over HTTP, on both engines: namespaces, writes, and what is refused."""

import pytest

from agentui.api.keys import STORE
from agentui.chats.state.limits import StateLimits
from agentui.chats.state.namespaces import NewNamespace, register_namespace
from agentui.chats.state.records import Key, Write
from agentui.chats.state.writing import write_direct
from agentui.errors import ApiError
from agentui.jsonio import Json
from agentui.principal import DEFAULT_ACCOUNT
from tests.api.chats.conftest import Reader

NEW: dict[str, Json] = {"namespace": "quest.main", "logical_owner_type": "plugin", "logical_owner_id": "quest@1"}


@pytest.fixture(params=["reader", "postgres_reader"])
def caller(request: pytest.FixtureRequest) -> Reader:
    """A caller of a fresh server on each engine."""
    reader: Reader = request.getfixturevalue(request.param)
    return reader


async def begin(caller: Reader) -> str:
    """The state's path of a session with a namespace."""
    id = await caller.session_id()
    await caller.make(f"/sessions/{id}/state/namespaces", **NEW)
    return f"/sessions/{id}/state"


def place(slot: str = "gold", **more: Json) -> dict[str, Json]:
    return {"branch_id": "main", "namespace": "quest.main", "slot": slot, **more}


async def test_a_session_has_the_servers_namespace_and_its_own(caller: Reader) -> None:
    path = await begin(caller)
    built_in, own = (await caller.get(f"{path}/namespaces")).body["data"]
    assert (built_in["namespace"], built_in["owner_kind"]) == ("game_state", "built_in")
    assert [(slot["slot"], slot["size_budget_bytes"]) for slot in built_in["slots"]] == [("scene", 262144), ("world", 524288)]
    assert not any(slot["capabilities"]["client_writable"] for slot in built_in["slots"])
    assert (own["namespace"], own["owner_kind"], own["slots"]) == ("quest.main", "custom", [])
    assert own["default_slot_template"]["allowed_write_modes"] == ["direct", "commit_bound"]
    await caller.post(f"{path}/values/write", place(value=1))
    [slot] = (await caller.get(f"{path}/namespaces")).body["data"][1]["slots"]
    assert (slot["slot"], slot["size_budget_bytes"], slot["default_write_mode"]) == ("gold", 1048576, "direct")


async def test_words_of_a_registration_are_trimmed_and_nothing_else(caller: Reader) -> None:
    path = f"/sessions/{await caller.session_id()}/state/namespaces"
    made = await caller.make(path, namespace=" quest ", logical_owner_type=" plugin", logical_owner_id="a/b:c@1 ")
    assert (made["namespace"], made["logical_owner_type"], made["logical_owner_id"]) == ("quest", "plugin", "a/b:c@1")
    for field, bad in (
        ("namespace", "Quest"),
        ("namespace", "quest..main"),
        ("namespace", "q" * 129),
        ("logical_owner_type", "Plugin"),
        ("logical_owner_id", "Quest"),
        ("logical_owner_id", ""),
    ):
        answer = await caller.post(path, {**NEW, field: bad})
        assert (answer.status, answer.code) == (400, "validation_error"), bad
    again = await caller.post(path, {**NEW, "namespace": "quest"})
    assert (again.status, again.code) == (409, "session_state_namespace_already_registered")
    for name in ("game_state", "game_state.scene"):
        answer = await caller.post(path, {**NEW, "namespace": name})
        assert (answer.status, answer.code) == (409, "session_state_namespace_reserved")
    answer = await caller.post(path.replace(path.split("/")[2], "nobody"), NEW)
    assert (answer.status, answer.code) == (404, "not_found")


@pytest.mark.parametrize("value", [None, 0, "", [], {"a": [1, {"b": None}]}, 1.5, "\u2028\U0001f5fa"], ids=repr)
async def test_any_json_comes_back_as_it_was_written(reader: Reader, value: Json) -> None:
    path = await begin(reader)
    answer = await reader.post(f"{path}/values/write", place(value=value))
    assert answer.status == 200, answer.text
    written = answer.body["data"]
    assert (written["present"], written["value"], written["source"], written["floor_id"]) == (True, value, "live_head", None)
    [found] = (await reader.get(f"{path}/resolve?branch_id=main&namespace=quest.main&slot=gold")).body["data"]
    assert found == written


async def test_long_numbers_keep_their_digits(reader: Reader) -> None:
    path = await begin(reader)
    body = b'{"branch_id": "main", "namespace": "quest.main", "slot": "gold", "value": 1180591620717411303424}'
    assert '"value":1180591620717411303424' in (await reader.post(f"{path}/values/write", body)).text
    assert '"value":1180591620717411303424' in (await reader.get(f"{path}/resolve?branch_id=main&namespace=quest.main")).text


async def test_a_value_is_taken_away_and_its_slot_stays(caller: Reader) -> None:
    path = await begin(caller)
    gone = await caller.call("DELETE", f"{path}/values", place(), {})
    assert (gone.status, gone.body["data"]["present"], gone.body["data"]["value"]) == (200, False, None)
    await caller.post(f"{path}/values/write", place(value=1))
    await caller.call("DELETE", f"{path}/values", place(), {})
    [found] = (await caller.get(f"{path}/resolve?branch_id=main&namespace=quest.main")).body["data"]
    assert (found["present"], found["source"], len(found["source_mutation_ids"])) == (False, "live_head", 1)


async def test_what_was_never_written_on_a_branch_has_no_source(caller: Reader) -> None:
    path = await begin(caller)
    await caller.floor_id(path.split("/")[2], branch_id="alt")
    await caller.post(f"{path}/values/write", place(value=1))
    found = (await caller.get(f"{path}/resolve?branch_id=alt")).body["data"]
    assert [(each["namespace"], each["slot"], each["source"], each["updated_at"]) for each in found] == [
        ("game_state", "scene", "none", None),
        ("game_state", "world", "none", None),
        ("quest.main", "gold", "none", None),
    ]


async def test_what_is_wrong_is_told(caller: Reader) -> None:
    path = await begin(caller)
    for body, status, code in (
        (place(value=1, namespace="nobody"), 404, "session_state_namespace_not_registered"),
        (place(value=1, namespace="game_state", slot="scene"), 409, "session_state_public_write_forbidden"),
        (place(value=1, branch_id="nobody"), 404, "branch_not_found"),
        (place(value="x" * 1_048_575), 409, "session_state_payload_too_large"),
        (place(), 400, "validation_error"),
        (place(value=1, slot=""), 400, "validation_error"),
        (place(value=1, slot="s" * 257), 400, "validation_error"),
        (place(value=1, slot="\0"), 400, "validation_error"),
        (place(value=1, namespace="Quest"), 400, "validation_error"),
    ):
        answer = await caller.post(f"{path}/values/write", body)
        assert (answer.status, answer.code) == (status, code), body
    for query, status, code in (
        ("resolve", 400, "validation_error"),
        ("resolve?branch_id=main&slot=gold", 400, "validation_error"),
        ("resolve?branch_id=nobody", 404, "branch_not_found"),
        ("resolve?branch_id=main&source_floor_id=nobody", 404, "source_floor_not_found"),
        ("floors/nobody/snapshot", 404, "not_found"),
        ("diff?floor_id=x&against=live", 400, "validation_error"),
        ("diff?floor_id=x&against=floor:", 400, "validation_error"),
        ("diff?floor_id=x&against=dead", 400, "validation_error"),
        ("diff?floor_id=nobody&against=live&branch_id=main", 404, "not_found"),
    ):
        answer = await caller.get(f"{path}/{query}")
        assert (answer.status, answer.code) == (status, code), query


async def test_a_floor_of_another_session_is_not_found(caller: Reader) -> None:
    path, other = await begin(caller), await caller.session_id()
    foreign = await caller.floor_id(other, state="committed")
    for query in (
        f"floors/{foreign}/snapshot",
        f"diff?floor_id={foreign}&against=live&branch_id=main",
        f"resolve?branch_id=main&source_floor_id={foreign}",
    ):
        assert (await caller.get(f"{path}/{query}")).status == 404


async def test_a_floor_that_is_made_committed_keeps_what_holds(caller: Reader) -> None:
    path = await begin(caller)
    await caller.post(f"{path}/values/write", place(value=1))
    floor = await caller.floor_id(path.split("/")[2], state="committed")
    await caller.post(f"{path}/values/write", place(value=2))
    [kept] = (await caller.get(f"{path}/floors/{floor}/snapshot")).body["data"]
    assert (kept["value"], kept["floor_id"]) == (1, floor)


async def test_everything_has_an_end(caller: Reader) -> None:
    path = await begin(caller)
    session_id = path.split("/")[2]
    store = caller.server.app[STORE]
    few = StateLimits(namespaces=2, namespace_slots=2, namespace_bytes=100, account_slots=3, account_bytes=120)

    async def refused(slot: str, text: str, namespace: str = "quest.main") -> str | None:
        write = Write(Key(namespace, slot), f'"{text}"')
        try:
            await store.write(write_direct, DEFAULT_ACCOUNT, session_id, "main", write, 1, few)
        except ApiError as error:
            assert error.status == 409
            return error.code
        return None

    async def registered(name: str) -> str | None:
        new = NewNamespace(name, "plugin", "x")
        try:
            await store.write(register_namespace, DEFAULT_ACCOUNT, session_id, new, 1, few)
        except ApiError as error:
            assert error.status == 409
            return error.code
        return None

    assert [await registered("second"), await registered("third")] == [None, "session_state_namespace_count_limit_exceeded"]
    assert await refused("a", "x" * 80) is None
    assert await refused("b", "x" * 80) == "session_state_namespace_byte_limit_exceeded"
    assert await refused("b", "x") is None
    assert await refused("c", "x") == "session_state_namespace_item_limit_exceeded"
    assert await refused("a", "x" * 60, "second") == "session_state_account_byte_limit_exceeded"
    assert await refused("a", "x", "second") is None
    assert await refused("b", "x", "second") == "session_state_account_item_limit_exceeded"
    assert await refused("a", "y" * 80) is None
    assert await refused("a", "y") is None


async def test_an_archived_session_still_takes_values(caller: Reader) -> None:
    path = await begin(caller)
    await caller.patch(path.removesuffix("/state"), {"status": "archived"})
    assert (await caller.post(f"{path}/values/write", place(value=1))).status == 200


async def test_a_removed_session_and_branch_leave_nothing(caller: Reader) -> None:
    path = await begin(caller)
    session_id = path.split("/")[2]
    await caller.floor_id(session_id, branch_id="alt")
    await caller.post(f"{path}/values/write", place(value=1, branch_id="alt"))
    assert (await caller.delete(f"/branches/alt?session_id={session_id}")).status == 200
    assert (await caller.get(f"{path}/namespaces")).body["data"][1]["slots"] == []
    await caller.post(f"{path}/values/write", place(value=1))
    assert (await caller.delete(f"/sessions/{session_id}")).status == 200
    assert (await caller.get(f"{path}/namespaces")).status == 404
