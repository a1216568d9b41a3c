"""Tools of a real MCP server in turns of a chat and in pipelines, whichever dialect their callers speak."""

import pytest

from agentui.jsonio import dumps_text
from tests.conftest import call
from tests.mcp.conftest import Served
from tests.turns.conftest import StartHouse, engine, start_house, store_settings
from tests.turns.house import House
from tests.turns.talk import begin_talk, named
from tests.upstreams.server import API_KEY
from tests.upstreams.step import Call, Step

__all__ = ["engine", "start_house", "store_settings"]

ADD = Call("add", '{"a": 2, "b": 3}', "call_1")


async def offer(house: House, served: Served, **said: object) -> None:
    """Configure the server and approve its tools."""
    body = {"name": "parts", "transport": "http", "http": {"url": served.url}, **said}
    status, made = await house.memory.call("POST", "/mcp/servers", body)
    assert status == 201, made
    status, answer = await house.memory.call("POST", f"/mcp/servers/{made['data']['id']}/connect", {})
    assert status == 200, answer


async def test_a_turn_calls_a_tool_of_an_mcp_server(start_house: StartHouse, served: Served) -> None:
    house = await start_house()
    rules = [
        {"name": "Sums", "desc": "How to add", "prompt": "Add *twice*.", "when": "Before a sum"},
        {"name": "Manners", "desc": "How to ask", "prompt": "Say please.", "always_load": True},
    ]
    await offer(house, served, skill_rules=rules)
    talk = await begin_talk(house)
    permissions = {"enabled": True, "allow_irreversible": True}
    assert (await house.memory.call("PUT", f"/sessions/{talk.session}/tool-permissions", permissions))[0] == 200
    read = Call("ReadVar", '{"name": "Rule/mcp_parts/Sums"}', "call_2")
    house.mock.script([Step(text="", calls=(ADD, read)), Step(text="It is 5.")])
    events = await talk.stream("How much?", config={"enableTools": True})
    assert [(event["provider_type"], event["phase"]) for event in named(events, "tool") if event["tool_name"] == "add"] == [
        ("mcp", "start"),
        ("mcp", "success"),
    ]
    first, second = (dumps_text(request.body["messages"]) for request in house.mock.requests)
    assert "| `Rule/mcp_parts/Sums` | How to add | Before a sum |" in first and "Say please." in first
    assert "Add *twice*." not in first and "Add *twice*." in second
    listed = await house.memory.get(f"/sessions/{talk.session}/working-variables?type=RULE&search=mcp_parts")
    assert [(each["name"], each["keep"]) for each in listed] == [
        ("Rule/mcp_parts/Manners", True),
        ("Rule/mcp_parts/Sums", True),
    ]
    (done,) = named(events, "done")
    records = await house.memory.get(f"/tool-executions?floor_id={done['floor_id']}")
    (record,) = (each for each in records if each["tool_name"] == "add")
    assert (record["result"], record["status"], record["side_effect_level"]) == ({"sum": 5}, "success", "irreversible")


async def test_what_a_session_does_not_allow_of_a_stranger_is_not_offered(start_house: StartHouse, served: Served) -> None:
    house = await start_house()
    await offer(house, served, skill_rules=[{"name": "Sums", "desc": "How to add", "prompt": "Add twice."}])
    talk = await begin_talk(house)
    assert (await house.memory.call("PUT", f"/sessions/{talk.session}/tool-permissions", {"enabled": True}))[0] == 200
    await talk.respond("Hi", config={"enableTools": True})
    offered = [tool["function"]["name"] for tool in house.mock.requests[0].body["tools"]]
    assert "add" not in offered
    assert "roll_dice" in offered
    # Nor is a model told of the rules of what it is not offered.
    assert "Rule/mcp_parts" not in dumps_text(house.mock.requests[0].body)


async def test_one_tool_that_cannot_be_undone_is_allowed_and_no_other(start_house: StartHouse, served: Served) -> None:
    house = await start_house()
    await offer(house, served)
    talk = await begin_talk(house)
    path, permissions = f"/sessions/{talk.session}/tool-permissions", {"enabled": True, "irreversible_allow_list": ["add"]}
    status, kept = await house.memory.call("PUT", path, permissions)
    assert (status, kept["data"]) == (200, permissions)
    house.mock.script([Step(text="", calls=(ADD,)), Step(text="It is 5.")])
    await talk.stream("How much?", config={"enableTools": True})
    offered = {tool["function"]["name"] for tool in house.mock.requests[0].body["tools"]}
    catalog = {tool["name"]: tool for tool in await house.memory.get(f"/sessions/{talk.session}/tool-catalog")}
    irreversible = {name for name, tool in catalog.items() if tool["side_effect_level"] == "irreversible"}
    assert irreversible & offered == {"add"} and {"greet", "delete_preset"} <= irreversible
    assert {name for name in irreversible if catalog[name]["is_allowed"]} == {"add"}
    (record,) = await house.memory.get(f"/tool-executions?session_id={talk.session}&tool_name=add")
    assert (record["result"], record["status"]) == ({"sum": 5}, "success")


async def test_a_defined_tool_has_its_name_before_a_strangers(start_house: StartHouse, served: Served) -> None:
    house = await start_house()
    await offer(house, served)
    handler = {"url": "https://a.example/"}
    body = {"name": "add", "handler_type": "http", "handler": handler}
    assert (await house.memory.call("POST", "/tools/definitions", body))[0] == 201
    (server,) = await house.memory.get("/mcp/servers")
    seen = {tool["name"]: tool for tool in await house.memory.get(f"/mcp/servers/{server['id']}/tools")}
    assert (seen["add"]["available"], seen["greet"]["available"]) == (False, True)
    talk = await begin_talk(house)
    catalog = await house.memory.get(f"/sessions/{talk.session}/tool-catalog")
    assert [tool["provider_type"] for tool in catalog if tool["name"] == "add"] == ["preset"]


@pytest.mark.parametrize("vendor", ["openai", "openai_responses", "claude", "gemini"])
async def test_a_pipeline_names_an_mcp_server(start_house: StartHouse, served: Served, vendor: str) -> None:
    house = await start_house()
    await offer(house, served, default_side_effect_level="none")
    house.server.put("adding", call(vendor, house.mock.origin, tools=["mcp:parts"]))
    house.mock.script([Step(text="", calls=(ADD,)), Step(text="It is 5.")])
    body = {"model": "pipeline/adding/text", "messages": [{"role": "user", "content": "How much?"}]}
    status, answer = await house.memory.call("POST", "/v1/chat/completions", body, authorization=f"Bearer {API_KEY}")
    assert status == 200, answer
    assert answer["choices"][0]["message"]["content"] == "It is 5."
    assert "5" in str(house.mock.requests[1].body)
