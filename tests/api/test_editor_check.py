"""Node types, checking, and the facts about the server."""

from itertools import pairwise

import pytest

from agentui import __version__
from agentui.jsonio import Json
from tests.api.editor_client import BROKEN, editing, say
from tests.conftest import StartServer, call
from tests.upstreams.server import Mock


def chain(*nodes: Json) -> Json:
    """Nodes one after the other."""
    ids = [node["id"] for node in nodes]
    edges = [{"from": one, "to": two} for one, two in pairwise(ids)]
    return {"format": 1, "name": "chain", "nodes": list(nodes), "edges": edges}


async def test_node_types_bring_their_forms(start_server: StartServer) -> None:
    async with editing(await start_server()) as editor:
        types = {kind["type"]: kind for kind in (await editor.get("/api/node-types")).body}
    assert {"SetVars", "ProviderCall", "RawForward"} <= types.keys()
    assert types["ProviderCall"]["calls_upstream"] is True
    assert types["ProviderCall"]["schema"]["properties"]["template"]["ui"] == "json"
    assert types["SetVars"]["ports"] == ["done"]
    assert types["SetVars"]["defaults"] == {"variables": []}
    fields = types["ProviderCall"]["schema"]["properties"]
    assert (fields["base_url"]["title"], types["RawForward"]["schema"]["properties"]["extra_headers"]["title"]) == (
        "Base URL",
        "Extra headers",
    )
    for kind in types.values():
        forms = [kind["schema"], *kind["schema"].get("$defs", {}).values()]
        for name, field in [item for form in forms for item in form["properties"].items()]:
            assert field["title"] and field["description"], (kind["type"], name)
            words = field.get("enumDescriptions")
            assert words is None or len(words) == len(field["enum"]), (kind["type"], name)
    assert fields["provider"]["enumDescriptions"][1] == "OpenAI Chat Completions"


async def test_a_good_document_is_explained(start_server: StartServer) -> None:
    first = call("openai", "http://127.0.0.1:1")["nodes"][0]
    second = {"id": "n2", "type": "SetVars", "config": {"variables": [{"name": "x", "value": "[[OUT:n1.response_text]]"}]}}
    caller = {"format": 1, "name": "own", "nodes": [{"id": "n1", "type": "SubPipeline", "config": {"pipeline": "own"}}]}
    async with editing(await start_server()) as editor:
        verdict = (await editor.post("/api/validate", {"document": chain(first, second)})).body
        unnamed = (await editor.post("/api/validate", {"document": caller})).body
        circle = (await editor.post("/api/validate", {"document": caller, "pipeline": "own"})).body
    assert (unnamed["valid"], circle["valid"]) == (True, False)
    assert [problem["code"] for problem in circle["problems"]] == ["pipeline.cycle"]
    assert verdict["valid"] is True
    assert verdict["order"] == ["n1", "n2"]
    assert verdict["reads"] == {"n1": [], "n2": ["n1"]}


async def test_a_bad_document_is_an_answer_and_no_error(start_server: StartServer) -> None:
    async with editing(await start_server()) as editor:
        answer = await editor.post("/api/validate", {"document": BROKEN})
        nothing = await editor.post("/api/validate", {"document": {}})
        assert (await editor.get("/api/pipelines")).body == []
    assert answer.status == 200
    assert (answer.body["valid"], answer.body["order"]) == (False, [])
    assert answer.body["problems"][0]["node"] == "n1"
    assert {problem["field"] for problem in nothing.body["problems"]} == {"format", "name", "nodes"}


@pytest.mark.parametrize(
    ("config", "host"),
    [
        ({"provider": "openai", "base_url": "https://evil.example/v1"}, "evil.example"),
        ({"provider": "openai", "base_url": "https://api.openai.com@evil.example:8443"}, "evil.example:8443"),
        ({"provider": "openai", "base_url": "http://[::1]:8080"}, "[::1]:8080"),
        ({"provider": "openai"}, "api.openai.com"),
        ({"provider": "claude", "base_url": "  "}, "api.anthropic.com"),
        ({"provider": "caller"}, "the caller's own provider"),
        ({"provider": "openai", "base_url": "[[VAR:incoming.headers.x-base]]"}, "[[VAR:incoming.headers.x-base]]"),
        ({"provider": "openai", "base_url": "https://{{ host }}/v1"}, "https://{{ host }}/v1"),
        ({"provider": "openai", "base_url": "nonsense"}, "nonsense"),
        ({"provider": "openai", "base_url": "http://[broken"}, "http://[broken"),
        ({"provider": "openai", "base_url": 7}, "api.openai.com"),
    ],
)
async def test_every_host_that_keys_would_go_to_is_named(start_server: StartServer, config: Json, host: str) -> None:
    document = {"nodes": [{"id": "n1", "type": "ProviderCall", "config": config}]}
    async with editing(await start_server()) as editor:
        assert (await editor.post("/api/validate", {"document": document})).body["hosts"] == [host]


async def test_hosts_are_told_even_of_broken_documents_and_only_of_callers(start_server: StartServer) -> None:
    nodes = [
        {"id": "a", "type": "RawForward", "config": {"base_url": "https://one.example"}},
        {"id": "a", "type": "RawForward", "config": {"base_url": "https://one.example/again"}},
        {"id": "b", "type": "SetVars", "config": {"base_url": "https://two.example"}},
        {"id": "c", "type": "Nonsense", "config": {"base_url": "https://three.example"}},
        "nonsense",
    ]
    async with editing(await start_server()) as editor:
        assert (await editor.post("/api/validate", {"document": {"nodes": nodes}})).body["hosts"] == ["one.example"]
        assert (await editor.post("/api/validate", {"document": {"nodes": 1}})).body["hosts"] == []


async def test_checking_calls_nobody_and_saves_nothing(start_server: StartServer, mock: Mock) -> None:
    server = await start_server()
    async with editing(server) as editor:
        await editor.post("/api/validate", {"document": call("openai", mock.origin)})
    assert mock.requests == []
    assert list(server.pipelines.iterdir()) == []


@pytest.mark.parametrize("body", [{}, {"document": 1}, {"document": {}, "more": 1}, []])
async def test_a_request_of_another_shape_is_refused(start_server: StartServer, body: Json) -> None:
    async with editing(await start_server()) as editor:
        assert (await editor.post("/api/validate", body)).status == 400


async def test_settings_show_no_secret(start_server: StartServer) -> None:
    server = await start_server({"a b": say()}, token="a-long-access-token", secret_key=None)
    async with editing(server) as editor:
        refused = await editor.get("/api/settings")
        answer = await editor.get("/api/settings", x_agentui_token="a-long-access-token")
    assert refused.status == 401
    assert "a-long-access-token" not in answer.text
    assert answer.body["has_token"] is True
    assert answer.body["version"] == __version__
    assert answer.body["settings"]["max_in_flight"] == 1000
    assert not {"token", "secret_key"} & answer.body["settings"].keys()
    assert "'a b.json'" in answer.body["complaints"][0]


async def test_secrets_are_names_and_never_values(start_server: StartServer) -> None:
    env = {
        "AGENTUI_SECRET_OPENAI": "sk-very-secret-value-1234",
        "AGENTUI_SECRET_LOCAL": "another-secret-value",
        "AGENTUI_SECRET_LOCAL_ORIGINS": "http://127.0.0.1:1234",
    }
    async with editing(await start_server(secret_env=env)) as editor:
        answer = await editor.get("/api/secrets")
    assert answer.body == [
        {"name": "local", "source": "environment", "origins": ["http://127.0.0.1:1234"]},
        {"name": "openai", "source": "environment", "origins": None},
    ]
    assert "secret-value" not in answer.text


@pytest.mark.parametrize(
    ("type", "field", "config"),
    [
        ("ProviderCall", "headers.x-api-key", {"headers": {"x-api-key": "[[ SECRET:Typo ]]"}}),
        ("ProviderCall", "endpoint", {"endpoint": "/v1/x?key=[[SECRET:Typo]]"}),
        ("RawForward", "override_path", {"override_path": "/v1/x?key=[[SECRET:Typo]]"}),
        ("RawForward", "extra_headers", {"extra_headers": '{"x-api-key": "[[SECRET:Typo]]"}'}),
        ("RawForward", "extra_headers.x-api-key", {"extra_headers": {"x-api-key": "[[SECRET:Typo]]"}}),
    ],
)
async def test_a_secret_that_is_not_there_is_told_with_its_place(
    start_server: StartServer, type: str, field: str, config: Json
) -> None:
    document = chain({"id": "n1", "type": type, "config": config})
    async with editing(await start_server()) as editor:
        verdict = (await editor.post("/api/validate", {"document": document})).body
        [problem] = verdict["problems"]
        assert verdict["valid"] is True
        assert (problem["code"], problem["severity"]) == ("secret.unknown", "warning")
        assert (problem["node"], problem["field"]) == ("n1", field) and "'Typo'" in problem["message"] and problem["line"] == 1
        editor.server.state.services.secrets.set("typo", "a-long-value", None)
        assert (await editor.post("/api/validate", {"document": document})).body["problems"] == []


async def test_a_mistake_in_a_formula_names_the_variable_and_its_row(start_server: StartServer) -> None:
    rows = [{"name": "A", "mode": "expr", "value": "1"}, {"name": "B", "mode": "expr", "value": "1 +"}]
    document = chain({"id": "n1", "type": "SetVars", "config": {"variables": rows}})
    async with editing(await start_server()) as editor:
        [problem] = (await editor.post("/api/validate", {"document": document})).body["problems"]
        assert problem["message"].startswith("Variable 'B' (row 2): ") and problem["field"] == "variables.1.value"
        rows[1]["value"] = "1 // 0"
        asked = {"document": document, "node": "n1", "request": {"body": {"model": "m", "messages": []}}}
        error = (await editor.post("/api/preview", asked)).body["error"]
        assert error["message"].startswith("Variable 'B' (row 2): ") and error["details"]["field"] == "variables.1.value"


async def test_context_names_go_as_deep_as_every_request(start_server: StartServer) -> None:
    async with editing(await start_server()) as editor:
        names = (await editor.get("/api/context-names")).body
    assert names["names"] == ["model", "vendor_format", "system", "params", "chat", "incoming"]
    assert {"chat.last_user", "params.temperature", "incoming.api_keys.authorization"} <= set(names["paths"])
    assert names["filters"].items() >= {"default": 1, "upper": 0, "replace": 2}.items()
