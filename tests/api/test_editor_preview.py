"""The dry run: everything is rendered, nothing is sent."""

from collections.abc import AsyncIterator

import pytest

from agentui.jsonio import Json
from tests.api.editor_client import CALLER, Editor, editing, say
from tests.conftest import StartServer, call
from tests.upstreams.server import API_KEY, Mock

REQUEST = {
    "path": "/v1/chat/completions",
    "headers": {"Authorization": f"Bearer {API_KEY}"},
    "body": {"model": "gpt-x", "messages": [{"role": "user", "content": "Hi"}], "temperature": 0.5},
}
SECRET = "sk-stored-secret-0123456789"


def three_nodes(origin: str) -> Json:
    """Words are set, a model is asked, and another one with what it said."""
    set_vars = {"variables": [{"name": "TONE", "value": "kind to [[VAR:chat.last_user]]"}]}
    first = {"provider": "openai", "base_url": origin, "blocks": [{"role": "user", "text": "Be [[TONE]]"}]}
    second = {
        "provider": "claude",
        "base_url": origin,
        "headers": {"x-api-key": "[[SECRET:claude]]", "x-tone": "[[TONE]]"},
        "template": '{"model": "c", "max_tokens": 9, "note": "[[OUT:n2.response_text]]", "gone": {{ nothing }}, [[PROMPT]]}',
        "blocks": [{"role": "user", "text": "Say it again: [[OUT2]]"}],
    }
    return {
        "format": 1,
        "name": "three",
        "nodes": [
            {"id": "n1", "type": "SetVars", "config": set_vars},
            {"id": "n2", "type": "ProviderCall", "config": first},
            {"id": "n3", "type": "ProviderCall", "config": second},
        ],
        "edges": [{"from": "n1", "to": "n2"}, {"from": "n2", "to": "n3"}],
    }


@pytest.fixture
async def editor(start_server: StartServer, mock: Mock) -> AsyncIterator[Editor]:
    """An editor of a server with one pipeline; whatever a test does, the preview itself reaches nobody."""
    env = {"AGENTUI_SECRET_CLAUDE": SECRET}
    async with editing(await start_server({"default": three_nodes(mock.origin)}, secret_env=env)) as editor:
        yield editor


async def test_a_model_call_is_shown_as_it_would_be_sent(editor: Editor, mock: Mock) -> None:
    answer = await editor.post("/api/preview", {"pipeline": "default", "node": "n2", "request": REQUEST})
    assert answer.status == 200
    shown = answer.body["preview"]
    assert (shown["method"], shown["url"]) == ("POST", f"{mock.origin}/v1/chat/completions")
    assert shown["body"]["messages"] == [{"role": "user", "content": "Be kind to Hi"}]
    assert shown["body"]["temperature"] == 0.5
    assert answer.body["bytes"] > 50
    assert answer.body["tokens"] == 4 + 4  # a message, and the 13 characters of "Be kind to Hi"
    assert "tokens" not in shown
    assert answer.body["missing"] == []
    assert mock.requests == []


async def test_set_vars_shows_its_values(editor: Editor) -> None:
    answer = await editor.post("/api/preview", {"pipeline": "default", "node": "n1", "request": REQUEST})
    assert answer.body["preview"] == {"vars": {"TONE": "kind to Hi"}}


async def test_no_key_is_shown_neither_the_callers_nor_a_stored_one(editor: Editor) -> None:
    for node in ("n2", "n3"):
        answer = await editor.post(
            "/api/preview", {"node": node, "request": REQUEST, "out": {"n2": {"response_text": f"I know {API_KEY}"}}}
        )
        assert answer.status == 200
        assert API_KEY not in answer.text
        assert SECRET not in answer.text
        assert "***" in answer.text


async def test_results_of_model_calls_are_given_or_named_as_missing(editor: Editor, mock: Mock) -> None:
    without = await editor.post("/api/preview", {"node": "n3", "request": REQUEST})
    assert without.body["missing"] == ["n2"]
    given = await editor.post(
        "/api/preview", {"node": "n3", "request": REQUEST, "out": {"n2": {"response_text": "Hello there"}}}
    )
    assert given.body["missing"] == []
    assert given.body["preview"]["body"]["note"] == "Hello there"
    assert given.body["preview"]["body"]["messages"][0]["content"] == [{"type": "text", "text": "Say it again: Hello there"}]
    assert mock.requests == []


async def test_a_recorded_run_lends_its_request_and_its_results(editor: Editor, mock: Mock) -> None:
    await editor.chat()
    run = await editor.only_run()
    asked = len(mock.requests)
    answer = await editor.post("/api/preview", {"node": "n3", "run_id": run["id"]})
    assert answer.body["missing"] == []
    assert answer.body["preview"]["body"]["note"] == "Hello from the mock."
    assert len(mock.requests) == asked
    assert API_KEY not in answer.text


async def test_a_drawing_that_is_not_saved_can_be_tried(editor: Editor, mock: Mock) -> None:
    document = three_nodes(mock.origin)
    document["nodes"][0]["config"]["variables"][0]["value"] = "stern"
    answer = await editor.post("/api/preview", {"document": document, "node": "n2", "request": REQUEST})
    assert answer.body["preview"]["body"]["messages"][0]["content"] == "Be stern"


async def test_the_trace_says_where_each_piece_came_from(editor: Editor) -> None:
    answer = await editor.post("/api/preview", {"node": "n3", "request": REQUEST, "out": {"n2": {"response_text": "x"}}})
    traces = {(trace["field"], trace["pointer"]): trace["segments"] for trace in answer.body["trace"]}
    assert traces[("headers.x-tone", None)] == [{"text": "kind to Hi", "macro": "[[TONE]]"}]
    assert traces[("headers.x-api-key", None)] == [{"text": "***", "macro": "[[SECRET:claude]]"}]
    assert traces[("template", "/note")] == [{"text": "x", "macro": "[[OUT:n2.response_text]]"}]
    assert {"field": "template", "macro": "{{ nothing }}"} in answer.body["empty"]


async def test_names_that_nobody_knows_are_warned_of(editor: Editor, mock: Mock) -> None:
    document = three_nodes(mock.origin)
    document["nodes"][0]["config"]["variables"][0]["value"] = "[[NOBODY]]"
    answer = await editor.post("/api/preview", {"document": document, "node": "n1", "request": REQUEST})
    assert answer.body["preview"] == {"vars": {"TONE": "[[NOBODY]]"}}
    assert any("[[NOBODY]]" in warning for warning in answer.body["warnings"])
    known = await editor.post(
        "/api/preview", {"document": document, "node": "n1", "request": REQUEST, "vars": {"NOBODY": "somebody"}}
    )
    assert known.body["preview"] == {"vars": {"TONE": "somebody"}}
    assert known.body["warnings"] == []


async def test_the_stream_switch_is_the_one_that_a_caller_would_get(editor: Editor) -> None:
    request = {**REQUEST, "body": {**REQUEST["body"], "stream": True}}
    out = {"n2": {"response_text": "x"}}
    answers = await editor.post("/api/preview", {"node": "n3", "request": request, "out": out})
    inner = await editor.post("/api/preview", {"node": "n2", "request": request})
    assert answers.body["preview"]["body"]["stream"] is True
    assert inner.body["preview"]["stream"] is False


async def test_a_secret_for_another_place_is_refused_in_the_preview_already(start_server: StartServer, mock: Mock) -> None:
    env = {"AGENTUI_SECRET_CLAUDE": SECRET, "AGENTUI_SECRET_CLAUDE_ORIGINS": "https://api.anthropic.com"}
    async with editing(await start_server({"default": three_nodes(mock.origin)}, secret_env=env)) as editor:
        answer = await editor.post("/api/preview", {"node": "n3", "request": REQUEST, "out": {"n2": {}}})
    assert (answer.status, answer.code) == (403, "forbidden")
    assert answer.body["error"]["details"]["node"] == "n3"
    assert SECRET not in answer.text


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({"node": "n1"}, 400),
        ({"node": "n9", "request": REQUEST}, 404),
        ({"node": "n1", "pipeline": "none", "request": REQUEST}, 404),
        ({"node": "n1", "run_id": "run_none"}, 404),
        ({"node": "n1", "document": {"format": 1}, "request": REQUEST}, 422),
        ({"node": "n1", "request": {**REQUEST, "path": "no-slash"}}, 400),
        ({"node": "n1", "request": REQUEST, "unknown": 1}, 400),
        ({"request": REQUEST}, 400),
    ],
)
async def test_what_cannot_be_previewed_says_why(editor: Editor, asked: Json, status: int) -> None:
    answer = await editor.post("/api/preview", asked)
    assert answer.status == status
    assert answer.body["error"]["message"]


async def test_the_request_itself_chooses_the_pipeline_as_a_caller_would(editor: Editor, mock: Mock) -> None:
    other = three_nodes(mock.origin)
    other["nodes"][0]["config"]["variables"][0]["value"] = "other"
    editor.server.put("other", other)
    request = {**REQUEST, "path": "/p/other/v1/chat/completions"}
    answer = await editor.post("/api/preview", {"node": "n1", "request": request})
    assert answer.body["preview"] == {"vars": {"TONE": "other"}}
    named = {**REQUEST, "headers": {**CALLER, "X-Agentui-Pipeline": "other"}}
    assert (await editor.post("/api/preview", {"node": "n1", "request": named})).body["preview"] == {"vars": {"TONE": "other"}}


def gold(origin: str) -> Json:
    """A chat that counts."""
    rows = [{"name": "gold", "mode": "json", "value": "{{ gold|default(0)|add(1) }}", "tier": "branch"}]
    blocks = [{"role": "system", "text": "You have {{ gold }} gold."}, {"kind": "history"}]
    return {
        "format": 1,
        "name": "gold",
        "nodes": [
            {"id": "n1", "type": "SetVars", "config": {"variables": rows}},
            {"id": "n2", "type": "ProviderCall", "config": {"provider": "openai", "base_url": origin, "blocks": blocks}},
        ],
        "edges": [{"from": "n1", "to": "n2"}],
    }


async def test_a_preview_of_a_chat_sees_its_variables_and_stores_nothing(start_server: StartServer, mock: Mock) -> None:
    server = await start_server({"default": gold(mock.origin)})
    async with editing(server) as editor:
        in_chat = {**REQUEST, "headers": {**REQUEST["headers"], "x-agentui-session": "a chat of its own"}}
        for _ in range(2):
            got = await editor.post("/api/preview", {"pipeline": "default", "node": "n2", "request": in_chat})
            assert got.status == 200, got.body
            assert got.body["preview"]["body"]["messages"][0]["content"] == "You have 1 gold."
        sessions = await editor.get("/sessions")
        assert sessions.body["data"] == []
    assert mock.requests == []


async def test_a_preview_without_a_chat_fails_as_the_run_would(start_server: StartServer, mock: Mock) -> None:
    server = await start_server({"default": gold(mock.origin)})
    async with editing(server) as editor:
        got = await editor.post("/api/preview", {"pipeline": "default", "node": "n2", "request": REQUEST})
        assert got.status == 422
        assert "names no session" in got.body["error"]["message"]


async def test_a_template_that_fails_says_where(start_server: StartServer, mock: Mock) -> None:
    fails = "Words.\n{{ chat.last_user|add(1) }}"
    blocks = [{"role": "user", "text": "Hi"}, {"role": "system", "text": fails}]
    server = await start_server({"default": call("openai", mock.origin, blocks=blocks)})
    async with editing(server) as editor:
        answer = await editor.post("/api/preview", {"node": "n1", "request": REQUEST})
    assert (answer.status, answer.code) == (422, "template_error")
    [problem] = answer.body["error"]["details"]["problems"]
    assert problem.keys() == {"code", "message", "severity", "node", "field", "line", "column", "facts"}
    where = (problem["node"], problem["field"], problem["line"], problem["column"])
    assert (problem["code"], where) == ("template.render", ("n1", "blocks.1.text", 2, 1))


async def test_a_forwarded_request_has_an_estimate_and_words_have_none(start_server: StartServer, mock: Mock) -> None:
    forward = {"format": 1, "name": "raw", "nodes": [{"id": "n1", "type": "RawForward", "config": {"base_url": mock.origin}}]}
    async with editing(await start_server({"default": forward, "words": say()})) as editor:
        raw = (await editor.post("/api/preview", {"node": "n1", "request": REQUEST})).body
        words = (await editor.post("/api/preview", {"pipeline": "words", "node": "n1", "request": REQUEST})).body
    assert raw["tokens"] > 4 and words["tokens"] is None
