"""``/tools/definitions``: defining, listing, changing and removing tools, and what is refused."""

import pytest

from agentui.definitions.stored import MAX_DEFINITIONS
from agentui.jsonio import Json
from tests.definitions.conftest import Reader, Service, weather


@pytest.fixture(params=["reader", "postgres_reader"])
def caller(request: pytest.FixtureRequest) -> Reader:
    """A caller of a fresh server on each engine."""
    found: Reader = request.getfixturevalue(request.param)
    return found


async def refused(caller: Reader, method: str, path: str, body: Json) -> tuple[int, str, str]:
    """What must fail: status, code and where."""
    answer = await caller.call(method, path, body, {})
    error = answer.body["error"]
    details = error.get("details")
    return answer.status, error["code"], details[0]["path"] if isinstance(details, list) else ""


async def test_a_tool_is_defined_read_changed_switched_off_and_removed(caller: Reader, service: Service) -> None:
    made = await caller.make("/tools/definitions", **weather(service), source="character", source_id="c1")
    assert made | {"id": "", "created_at": 0, "updated_at": 0, "handler": {}} == {
        "id": "",
        "name": "weather",
        "description": "The weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        "side_effect_level": "none",
        "allowed_slots": [],
        "source": "character",
        "source_id": "c1",
        "enabled": True,
        "handler_type": "http",
        "handler": {},
        "created_at": 0,
        "updated_at": 0,
    }
    assert (made["handler"]["method"], made["handler"]["timeout_ms"]) == ("GET", 30_000)
    path = f"/tools/definitions/{made['id']}"
    assert (await caller.get(path)).body["data"] == made
    patched = (await caller.patch(path, {"description": "Rain or sun.", "allowed_slots": ["narrator"]})).body["data"]
    assert patched | {"description": made["description"], "allowed_slots": [], "updated_at": 0} == made | {"updated_at": 0}
    session = await caller.session_id()
    catalog = (await caller.get(f"/sessions/{session}/tool-catalog")).body["data"]
    (told,) = [tool for tool in catalog if tool["name"] == "weather"]
    assert (told["provider_type"], told["provider_id"], told["group"]) == ("preset", made["id"], "definitions")
    assert told["allowed_slots"] == ["narrator"]
    assert (await caller.patch(f"{path}/toggle", {"enabled": False})).body["data"]["enabled"] is False
    catalog = (await caller.get(f"/sessions/{session}/tool-catalog")).body["data"]
    assert [tool for tool in catalog if tool["name"] == "weather"] == []
    assert (await caller.delete(path)).body["data"] == {"id": made["id"], "deleted": True}
    assert await refused(caller, "GET", path, None) == (404, "tool_definition_not_found", "")


async def test_a_tool_is_tried_with_arguments(reader: Reader, service: Service) -> None:
    made = await reader.make("/tools/definitions", **weather(service), enabled=False)
    path = f"/tools/definitions/{made['id']}/test"
    tried = (await reader.post(path, {"arguments": {"city": "Oslo"}})).body["data"]
    assert (tried["status"], tried["error_code"], tried["result"]["body"]) == ("success", None, {"weather": "sunny"})
    assert "sunny" in tried["text"] and not tried["is_truncated"] and tried["duration_ms"] > 0
    assert [asked.path for asked in service.asked] == ["/weather/Oslo?units="]
    # Arguments that its schema does not allow, and a service that is out of order, are the trial's result.
    wrong = (await reader.post(path, {"arguments": {"city": 5}})).body["data"]
    assert wrong["status"] == "error" and "city" in wrong["text"] and len(service.asked) == 1
    assert (await reader.post(path, {})).body["data"]["status"] == "error"
    service.status = 500
    assert (await reader.post(path, {"arguments": {"city": "Oslo"}})).body["data"]["error_code"] == "tool_error"
    assert (await refused(reader, "POST", path, {"arguments": [1]}))[:2] == (400, "validation_error")
    assert (await refused(reader, "POST", "/tools/definitions/none/test", {}))[:2] == (404, "tool_definition_not_found")


async def test_a_trial_of_what_cannot_be_undone_has_to_be_agreed_to(reader: Reader, service: Service) -> None:
    made = await reader.make("/tools/definitions", **weather(service, method="POST"), allowed_slots=["director"])
    path, body = f"/tools/definitions/{made['id']}/test", {"arguments": {"city": "Oslo"}}
    denied = (await reader.post(path, body)).body["data"]
    assert (denied["status"], denied["error_code"], service.asked) == ("denied", "tool_denied", [])
    assert (await reader.post(path, {**body, "allow_irreversible": True})).body["data"]["status"] == "success"
    assert len(service.asked) == 1


async def test_a_list_is_of_what_is_asked_for(caller: Reader, service: Service) -> None:
    for name in ("b", "a", "c"):
        await caller.make("/tools/definitions", **{**weather(service), "name": name, "enabled": name != "c"})
    listed = (await caller.get("/tools/definitions?sort_by=name&sort_order=asc&limit=2")).body
    assert [definition["name"] for definition in listed["data"]] == ["a", "b"]
    assert (listed["meta"]["total"], listed["meta"]["has_more"]) == (3, True)
    off = (await caller.get("/tools/definitions?enabled=false&source=custom")).body["data"]
    assert [definition["name"] for definition in off] == ["c"]
    assert (await caller.get("/tools/definitions?source=preset")).body["data"] == []
    assert (await caller.get("/tools/definitions?source_id=none")).body["data"] == []


async def test_a_name_means_one_tool(caller: Reader, service: Service) -> None:
    await caller.make("/tools/definitions", **weather(service))
    other = await caller.make("/tools/definitions", **{**weather(service), "name": "other"})
    conflict = (409, "tool_definition_conflict", "")
    assert await refused(caller, "POST", "/tools/definitions", weather(service)) == conflict
    assert await refused(caller, "PATCH", f"/tools/definitions/{other['id']}", {"name": "weather"}) == conflict
    for taken in ("roll_dice", "set_variable", "list_characters", "ReadVar"):
        assert await refused(caller, "POST", "/tools/definitions", {**weather(service), "name": taken}) == conflict


async def test_there_is_an_end_to_defining(reader: Reader, service: Service) -> None:
    for number in range(MAX_DEFINITIONS):
        await reader.make("/tools/definitions", **{**weather(service), "name": f"tool_{number}"})
    assert (await refused(reader, "POST", "/tools/definitions", weather(service)))[:2] == (409, "tool_definition_conflict")


async def test_scripts_are_refused(caller: Reader, service: Service) -> None:
    made = await caller.make("/tools/definitions", **weather(service))
    forbidden = (403, "tool_script_handler_disabled", "")
    assert await refused(caller, "POST", "/tools/definitions", {"name": "x"}) == forbidden
    body = {"name": "x", "handler_type": "script", "handler": {"code": "1"}}
    assert await refused(caller, "POST", "/tools/definitions", body) == forbidden
    body = {"handler_type": "script", "handler": {"code": "1"}}
    assert await refused(caller, "PATCH", f"/tools/definitions/{made['id']}", body) == forbidden


@pytest.mark.parametrize(("said", "where"), [
    ({"name": "a b"}, "/name"),
    ({"parameters": {"type": "array"}}, "/parameters/type"),
    ({"parameters": {"properties": 5}}, "/parameters"),
    ({"handler": {}}, "/handler/url"),
    ({"handler": {"url": "https://{{ args.host }}/"}}, "/handler/url"),
    ({"handler": {"url": "{{ args.url }}"}}, "/handler/url"),
    ({"handler": {"url": "https://a.example{{ args.x }}/"}}, "/handler/url"),
    ({"handler": {"url": "https://me:password@a.example/"}}, "/handler/url"),
    ({"handler": {"url": "https://a.example/?api_key=0123456789"}}, "/handler/url"),
    ({"handler": {"url": "https://a.example/{{ model }}"}}, "/handler/url"),
    ({"handler": {"url": "https://a.example/{{ vars.chat.gold }}"}}, "/handler/url"),
    ({"handler": {"url": "https://a.example/{{ OUT.n1 }}"}}, "/handler/url"),
    ({"handler": {"url": "https://a.example/{{ args."}}, "/handler/url"),
    ({"handler": {"url": "https://a.example/", "headers": {"host": "b.example"}}}, "/handler/headers/host"),
    ({"handler": {"url": "https://a.example/", "headers": {"x y": "1"}}}, "/handler/headers/x y"),
    ({"handler": {"url": "https://a.example/", "headers": {"Cookie": "id=0123456789"}}}, "/handler/headers/Cookie"),
    ({"handler": {"url": "https://a.example/", "headers": {"x-api-key": "{{ args.key }}"}}}, "/handler/headers/x-api-key"),
    ({"handler": {"url": "https://a.example/", "body": "{}"}}, "/handler/body"),
    ({"handler": {"url": "https://a.example/", "method": "POST", "body": "{"}}, "/handler/body"),
    ({"handler": {"url": "https://a.example/", "method": "POST", "body": "{[[PROMPT]]}"}}, "/handler/body"),
    ({"handler": {"url": "https://a.example/", "method": "TRACE"}}, "/handler/method"),
    ({"handler": {"url": "https://a.example/", "timeout_ms": 1}}, "/handler/timeout_ms"),
    ({"handler_type": "pipeline", "handler": {"pipeline_id": "nobody"}}, "/handler/pipeline_id"),
    ({"handler_type": "pipeline", "handler": {"pipeline_id": "default", "input": "{{ system }}"}}, "/handler/input"),
])  # fmt: skip
async def test_what_is_wrong_is_refused_and_named(reader: Reader, service: Service, said: Json, where: str) -> None:
    wrong = (400, "validation_error", where)
    assert await refused(reader, "POST", "/tools/definitions", {**weather(service), **said}) == wrong
    made = await reader.make("/tools/definitions", **weather(service))
    assert await refused(reader, "PATCH", f"/tools/definitions/{made['id']}", said) == wrong
    assert (await reader.get(f"/tools/definitions/{made['id']}")).body["data"] == made


async def test_side_effects_are_what_the_request_does_where_nobody_says_more(reader: Reader, service: Service) -> None:
    made = await reader.make("/tools/definitions", **weather(service, method="DELETE"))
    assert made["side_effect_level"] == "irreversible"
    path = f"/tools/definitions/{made['id']}"
    handler = weather(service)["handler"]
    assert (await reader.patch(path, {"handler": handler})).body["data"]["side_effect_level"] == "none"
    posting = {**handler, "method": "POST"}
    assert (await reader.patch(path, {"handler": posting})).body["data"]["side_effect_level"] == "irreversible"
    assert (await reader.patch(path, {"side_effect_level": "none"})).body["data"]["side_effect_level"] == "none"
    assert (await reader.patch(path, {"handler": posting})).body["data"]["side_effect_level"] == "none"


async def test_another_kind_of_handler_has_to_be_said_whole(reader: Reader, service: Service) -> None:
    made = await reader.make("/tools/definitions", **weather(service))
    path = f"/tools/definitions/{made['id']}"
    assert (await refused(reader, "PATCH", path, {"handler_type": "pipeline"}))[:2] == (400, "validation_error")
    body = {"handler_type": "pipeline", "handler": {"pipeline_id": "default"}}
    assert (await reader.patch(path, body)).body["data"]["handler"]["pipeline_id"] == "default"
