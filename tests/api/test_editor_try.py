"""Trying a pipeline out: saved or not, with pins, in any dialect, with a chat; and whose shape an error has."""

from collections.abc import AsyncIterator

import pytest

from agentui.jsonio import Json
from tests.api.callers import DIALECTS
from tests.api.editor_client import BROKEN, CALLER, Editor, editing, say
from tests.conftest import StartServer, call
from tests.upstreams.server import API_KEY, Mock

ASK: dict[str, Json] = {"headers": CALLER, "body": {"model": "text", "messages": [{"role": "user", "content": "Hello!"}]}}
STREAMED: dict[str, Json] = {**ASK, "body": {**ASK["body"], "stream": True}}


def text_of(answer: Json) -> str:
    """The words of an OpenAI answer."""
    text: str = answer["choices"][0]["message"]["content"]
    return text


def two_calls(mock: Mock) -> dict[str, Json]:
    """A call whose words a second call is asked about, and which itself answers."""
    first = {"provider": "openai", "base_url": mock.origin, "model": "text"}
    block = {"role": "user", "text": "Translate: [[OUT1]]"}
    return {
        "format": 1,
        "name": "two",
        "nodes": [
            {"id": "n1", "type": "ProviderCall", "config": first},
            {"id": "n2", "type": "ProviderCall", "config": {**first, "blocks": [block]}},
        ],
        "edges": [{"from": "n1", "to": "n2"}],
    }


@pytest.fixture
async def editor(start_server: StartServer, mock: Mock) -> AsyncIterator[Editor]:
    server = await start_server({"default": say("saved"), "two": two_calls(mock), "broken": BROKEN})
    async with editing(server) as editor:
        yield editor


def shown(run: Json) -> list[tuple[str, str | None, bool]]:
    """A run's events by type, node, and whether the node was pinned."""
    return [(event["type"], event.get("node"), event.get("pinned", False)) for event in run["events"]]


async def test_an_unsaved_document_runs_and_is_in_the_history(editor: Editor) -> None:
    answer = await editor.post("/api/try", {"document": say("unsaved words"), "request": ASK})
    assert answer.status == 200 and text_of(answer.body) == "unsaved words"
    assert answer.headers["x-agentui-pipeline"] == "unsaved"
    run = (await editor.get(f"/api/runs/{answer.headers['x-agentui-run']}")).body
    assert run["origin"] == "try" and run["state"] == "finished" and run["pipeline"] == "unsaved"
    await editor.chat()
    assert [line["origin"] for line in (await editor.get("/api/runs")).body] == ["client", "try"]


async def test_a_document_runs_under_the_id_of_its_pipeline(editor: Editor) -> None:
    answer = await editor.post("/api/try", {"pipeline": "default", "document": say("edited"), "request": ASK})
    assert text_of(answer.body) == "edited" and answer.headers["x-agentui-pipeline"] == "default"
    assert text_of((await editor.post("/api/try", {"pipeline": "default", "request": ASK})).body) == "saved"
    assert text_of((await editor.post("/api/try", {"request": ASK})).body) == "saved"
    prefixed = {"request": {**ASK, "path": "/p/default/v1/chat/completions"}}
    assert (await editor.post("/api/try", prefixed)).headers["x-agentui-pipeline"] == "default"


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_the_answer_is_the_dialects_own_whole_and_streamed(editor: Editor, dialect: str) -> None:
    messages = [{"role": "user", "content": "Hello!"}]
    paths: dict[str, tuple[str, str, Json]] = {
        "openai": ("/v1/chat/completions", "/v1/chat/completions", {"model": "m", "messages": messages}),
        "openai_responses": ("/v1/responses", "/v1/responses", {"model": "m", "input": "Hello!"}),
        "claude": ("/v1/messages", "/v1/messages", {"model": "m", "max_tokens": 9, "messages": messages}),
        "gemini": (
            "/v1beta/models/m:generateContent",
            "/v1beta/models/m:streamGenerateContent?alt=sse",
            {"contents": [{"role": "user", "parts": [{"text": "Hello!"}]}]},
        ),
    }
    whole, streamed, body = paths[dialect]
    answer = await editor.post("/api/try", {"request": {"path": whole, "body": body}})
    assert answer.status == 200 and "saved" in answer.text and answer.headers["content-type"].startswith("application/json")
    more = {} if dialect == "gemini" else {"stream": True}
    asked = {"request": {"path": streamed, "body": {**body, **more}}}
    async with editor.session.post(f"{editor.server.origin}/api/try", json=asked) as stream:
        assert stream.content_type == "text/event-stream" and stream.headers["x-agentui-run"].startswith("run_")
        assert "saved" in await stream.text()


async def test_pinned_nodes_do_not_run_and_cost_nothing(editor: Editor, mock: Mock) -> None:
    pin = {"result": {}, "response_text": "Recorded words."}
    answer = await editor.post("/api/try", {"pipeline": "two", "request": ASK, "pins": {"n1": pin}})
    assert answer.status == 200
    [sent] = mock.requests
    assert sent.body["messages"][-1]["content"] == "Translate: Recorded words."
    run = (await editor.get(f"/api/runs/{answer.headers['x-agentui-run']}")).body
    assert ("node.finished", "n1", True) in shown(run) and ("node.started", "n1", False) not in shown(run)
    [pinned] = [event for event in run["events"] if event.get("pinned")]
    assert pinned["data"] == pin


async def test_nodes_that_only_feed_a_pinned_one_are_skipped_and_a_pinned_answer_answers(editor: Editor, mock: Mock) -> None:
    pins = {"n2": {"text": "not this", "response_text": "The recorded answer."}}
    answer = await editor.post("/api/try", {"pipeline": "two", "request": ASK, "pins": pins})
    assert text_of(answer.body) == "The recorded answer." and mock.requests == []
    run = (await editor.get(f"/api/runs/{answer.headers['x-agentui-run']}")).body
    [skipped] = [event for event in run["events"] if event["type"] == "node.skipped"]
    assert (skipped["node"], skipped["data"]) == ("n1", {"reason": "pinned"})
    streamed = await editor.session.post(
        f"{editor.server.origin}/api/try", json={"pipeline": "two", "request": STREAMED, "pins": pins}
    )
    assert "The recorded answer." in await streamed.text()


async def test_a_pin_may_be_any_value(editor: Editor) -> None:
    answer = await editor.post("/api/try", {"pipeline": "two", "request": ASK, "pins": {"n2": "just words"}})
    assert text_of(answer.body) == "just words"


async def test_what_is_wrong_with_the_call_has_the_editors_shape(editor: Editor) -> None:
    before = len((await editor.get("/api/runs")).body)
    refused = [
        (400, "bad_request", {"request": ASK, "pins": {"none": {}}}),
        (400, "bad_request", {"request": {"body": [1]}}),
        (400, "bad_request", {"pipeline": "default"}),
        (404, "not_found", {"pipeline": "none", "request": ASK}),
        (404, "not_found", {"request": {**ASK, "path": "/nowhere"}}),
        (404, "not_found", {"request": {**ASK, "method": "GET"}}),
        (422, "invalid_pipeline", {"document": BROKEN, "request": ASK}),
        (422, "invalid_pipeline", {"pipeline": "broken", "request": ASK}),
    ]
    for status, code, asked in refused:
        answer = await editor.post("/api/try", asked)
        assert (answer.status, answer.body.get("error", {}).get("code")) == (status, code), (asked, answer.text)
        assert answer.body["error"].keys() == {"code", "message", "details"}
        assert "x-agentui-run" not in answer.headers
    assert len((await editor.get("/api/runs")).body) == before
    problems = (await editor.post("/api/try", {"document": BROKEN, "request": ASK})).body["error"]["details"]["problems"]
    assert problems[0]["node"] == "n1"


async def test_what_goes_wrong_in_the_run_has_the_dialects_shape(editor: Editor) -> None:
    document = call("openai", "http://127.0.0.1:9", model="m")
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello!"}]}
    answer = await editor.post("/api/try", {"document": document, "request": {"path": "/v1/messages", "body": body}})
    assert answer.status == 502 and answer.body["type"] == "error" and answer.headers["x-agentui-run"]
    assert (await editor.only_run())["state"] == "failed"


async def test_a_try_joins_a_chat_and_says_where(editor: Editor) -> None:
    asked = {"request": ASK, "session": "чат", "branch": "main"}
    answer = await editor.post("/api/try", asked)
    assert answer.status == 200 and answer.headers["x-agentui-session"] and answer.headers["x-agentui-branch"] == "main"
    line = await editor.only_run()
    assert (line["session"], line["branch"], line["floor"]) == tuple(
        answer.headers[f"x-agentui-{name}"] for name in ("session", "branch", "floor")
    )
    places = [("Hello!", True), ("And now?", False)]
    for words, is_same in places:
        body = {**ASK["body"], "messages": [{"role": "user", "content": words}]}
        again = await editor.post("/api/try", {**asked, "request": {**ASK, "body": body}})
        assert again.headers["x-agentui-session"] == answer.headers["x-agentui-session"]
        assert (again.headers["x-agentui-floor"] == answer.headers["x-agentui-floor"]) == is_same, words


async def test_the_request_of_a_run_is_answered_once_more_outside_its_chat(editor: Editor, mock: Mock) -> None:
    headers = {**CALLER, "x-agentui-session": "a chat"}
    before = await editor.call("POST", "/p/two/v1/chat/completions", ASK["body"], headers)
    run_id = before.headers["x-agentui-run"]
    own = {"headers": {"Authorization": f"Bearer {API_KEY}"}}
    again = await editor.post("/api/try", {"run_id": run_id, **own})
    assert again.status == 200 and again.headers["x-agentui-pipeline"] == "two" and "x-agentui-session" not in again.headers
    assert mock.last.headers["authorization"] == CALLER["authorization"]
    edited = await editor.post("/api/try", {"run_id": run_id, "document": say("edited"), "session": "a chat"})
    assert text_of(edited.body) == "edited"
    assert edited.headers["x-agentui-session"] == before.headers["x-agentui-session"]
    assert (await editor.post("/api/try", {"run_id": "run_none"})).status == 404


async def test_the_samples_headers_are_the_callers_and_the_token_stays_out(start_server: StartServer, mock: Mock) -> None:
    server = await start_server({"default": call("openai", mock.origin)}, token="a-long-enough-token")
    async with editing(server) as editor:
        assert (await editor.post("/api/try", {"request": ASK})).status == 401
        answer = await editor.post("/api/try", {"request": ASK}, x_agentui_token="a-long-enough-token")
        assert answer.status == 200
        [sent] = mock.requests
        assert sent.headers["authorization"] == CALLER["authorization"] and "x-agentui-token" not in sent.headers
        run = await editor.get(f"/api/runs/{answer.headers['x-agentui-run']}", x_agentui_token="a-long-enough-token")
        assert run.body["request"]["headers"]["authorization"].startswith("***")
        assert API_KEY not in run.text and "a-long-enough-token" not in run.text
