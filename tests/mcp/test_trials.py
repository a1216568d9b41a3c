"""``POST /tools/test``: any tool is tried by its name, outside of any turn, and nothing of it is kept."""

from agentui.jsonio import loads
from tests.mcp.conftest import Served
from tests.mcp.test_calls import offer
from tests.turns.conftest import StartHouse, engine, start_house, store_settings
from tests.turns.talk import begin_talk

__all__ = ["engine", "start_house", "store_settings"]


async def test_every_kind_of_tool_is_tried_by_its_name(start_house: StartHouse, served: Served) -> None:
    house = await start_house()
    await offer(house, served)
    talk = await begin_talk(house)

    async def tried(name: str, **body: object) -> dict[str, object]:
        status, answer = await talk.post("/tools/test", {"name": name, **body})
        assert status == 200, answer
        found: dict[str, object] = answer["data"]
        return found

    # Of an MCP server: it says nothing of what it does, so each call is agreed to.
    sum_of = {"arguments": {"a": 2, "b": 3}}
    assert (await tried("add", **sum_of))["status"] == "denied"
    added = await tried("add", **sum_of, allow_irreversible=True)
    assert (added["status"], added["result"]) == ("success", {"sum": 5})
    # The server's own, with arguments held against their schema.
    rolled = await tried("roll_dice", arguments={"notation": "2d6"})
    assert rolled["status"] == "success" and loads(str(rolled["text"]))["count"] == 2
    assert (await tried("roll_dice", arguments={"sides": "six"}))["status"] == "error"
    # With a chat it sees what the next turn would see, and leaves nothing there.
    written = {"scope": "chat", "scope_id": talk.session, "key": "gold", "value": 7}
    assert (await house.memory.call("PUT", "/variables", written))[0] in (200, 201)
    chat = {"session_id": talk.session}
    await tried("set_variable", arguments={"key": "gold", "value": 9})
    assert (await tried("get_variable", arguments={"key": "gold"}))["result"] == {"key": "gold", "found": False, "value": None}
    assert (await tried("get_variable", arguments={"key": "gold"}, **chat))["result"] == {
        "key": "gold",
        "found": True,
        "value": 7,
    }
    staged = await tried("set_variable", arguments={"key": "gold", "value": 8, "intent": "promote_to_branch_on_accept"}, **chat)
    assert staged["status"] == "success"
    assert (await tried("get_variable", arguments={"key": "gold"}, **chat))["result"] == {
        "key": "gold",
        "found": True,
        "value": 7,
    }
    assert await house.memory.get(f"/tool-executions?session_id={talk.session}") == []
    # The library's.
    made = await tried("create_character", arguments={"content": {"name": "Mira"}}, allow_irreversible=True)
    assert made["status"] == "success", made


async def test_what_cannot_be_tried_is_refused(start_house: StartHouse) -> None:
    talk = await begin_talk(await start_house())
    assert await talk.refused("/tools/test", {"name": "nothing"}) == (422, "unknown_tool")
    assert await talk.refused("/tools/test", {"name": "get_time", "session_id": "none"}) == (404, "session_not_found")
    assert await talk.refused("/tools/test", {"arguments": {}}) == (400, "validation_error")
