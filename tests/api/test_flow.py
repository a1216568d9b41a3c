"""Pipelines that decide, over HTTP: one of two models answers, a failure goes on to a third, a Return ends the run."""

from collections.abc import AsyncIterator

import pytest

from agentui.jsonio import Json
from tests.api.callers import DIALECTS, Caller, error_of, is_whole, streamed_text, text_of
from tests.api.editor_client import CALLER, Editor, editing
from tests.conftest import StartServer
from tests.upstreams.server import Call, Mock, Recorded
from tests.upstreams.step import Step

EVERY = pytest.mark.parametrize("dialect", DIALECTS)
STREAMS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


def calls(id: str, mock: Mock, model: str, provider: str = "openai") -> Json:
    return {"id": id, "type": "ProviderCall", "config": {"provider": provider, "base_url": mock.origin, "model": model}}


def flow(nodes: list[Json], edges: str, **more: Json) -> Json:
    """A pipeline whose edges are written ``a.port>b``."""
    wires = []
    for edge in edges.split():
        source, _, target = edge.partition(">")
        name, _, port = source.partition(".")
        wires.append({"from": name, "to": target, "from_port": port or "done"})
    return {"format": 1, "name": "flow", "nodes": nodes, "edges": wires, **more}


def returning(**config: Json) -> Json:
    return flow([{"id": "r", "type": "Return", "config": config}], "")


FIRST: Json = {"id": "m", "type": "Merge", "config": {"mode": "first"}}


def pipelines(mock: Mock) -> dict[str, Json]:
    decides = {"id": "if", "type": "If", "config": {"condition": 'chat.last_user contains "code"'}}
    says = {"id": "c", "type": "SetVars", "config": {"variables": [{"name": "SAY", "value": "C: {{ OUT.b.error.code }}"}]}}
    three = [decides, calls("a", mock, "text", "claude"), calls("b", mock, "text"), says]
    joined = [*three, {"id": "m", "type": "Merge", "config": {}}]
    return {
        "default": flow(three, "if.then>a if.else>b b.error>c"),
        "joined": flow(joined, "if.then>a if.else>b a>m b>m b.error>c c>m"),
        "natural": flow([*three[:3], calls("f", mock, "spare")], "if.then>a if.else>b a.error>f b.error>f"),
        "natural-joined": flow(
            [*joined[:3], calls("f", mock, "spare"), joined[-1]],
            "if.then>a if.else>b a.error>f b.error>f a>m b>m f>m",
        ),
        "raced": flow([calls("a", mock, "text"), calls("b", mock, "text"), FIRST], "a>m b>m"),
        "handed": flow(
            [calls("a", mock, "text"), {"id": "r", "type": "Return", "config": {"what": "node", "node": "a"}}], "a>r"
        ),
        "unasked": flow(
            [calls("a", mock, "text"), {"id": "s", "type": "Text", "config": {"text": "{{ OUT.a.tool_calls.0.name }}"}}], "a>s"
        ),
        "raw": flow([{"id": "b", "type": "RawForward", "config": {"base_url": mock.origin}}, says], "b.error>c"),
        "half": flow([decides, calls("a", mock, "text")], "if.then>a"),
        "guard": returning(text="Refused politely.", finish_reason="length", headers={"x-why": "{{ chat.last_user }}"}),
        "json": returning(what="json", body='{"said": {{ chat.last_user }}}'),
        "error": returning(text="Not for you.", status=403),
    }


@pytest.fixture
async def editor(start_server: StartServer, mock: Mock) -> AsyncIterator[Editor]:
    """A server that has them all, before a mock whose answers name the model's vendor."""

    def step(asked: Recorded) -> Step | None:
        return Step(text="A says this.") if asked.path.endswith("/messages") else Step(text="B says this.")

    mock.play(step)
    async with editing(await start_server(pipelines(mock))) as editor:
        yield editor


@EVERY
async def test_one_of_two_models_answers_and_streams(editor: Editor, mock: Mock, dialect: str) -> None:
    for prefix in ("", "/p/joined"):
        for question, words in (("some code", "A says this."), ("hello", "B says this.")):
            mock.requests.clear()
            caller = Caller(dialect, editor.server.origin, prefix=prefix)
            whole = await caller.ask(question)
            assert (whole.status, text_of(dialect, whole.json)) == (200, words)
            streamed = await caller.ask(question, stream=True)
            assert streamed_text(dialect, streamed.events) == words and is_whole(dialect, streamed.events)
            assert len(mock.requests) == 2
    run = (await editor.get(f"/api/runs/{streamed.headers['x-agentui-run']}")).body
    skipped = {event["node"]: event["data"] for event in run["events"] if event["type"] == "node.skipped"}
    assert skipped["a"] == {"reason": "not reached", "node": "if", "port": "then"}


@EVERY
async def test_one_fallback_of_two_models_streams_as_they_do(editor: Editor, mock: Mock, dialect: str) -> None:
    """As a person draws "A or B, and C where the one that was asked fails", with a Merge behind the three and without."""
    words = "One two three four five six seven eight nine ten."

    def step(asked: Recorded) -> Step:
        is_spare = asked.body.get("model") == "spare"
        return Step(text=words) if is_spare or question == "hello" else Step(status=503)

    mock.play(step)
    for prefix in ("/p/natural", "/p/natural-joined"):
        lengths = set()
        for question in ("hello", "some code that fails"):
            got = await Caller(dialect, editor.server.origin, prefix=prefix).ask(question, stream=True)
            assert (got.status, streamed_text(dialect, got.events)) == (200, words) and is_whole(dialect, got.events)
            lengths.add(len(got.events))
        assert len(lengths) == 1 and lengths.pop() > 10, "a piece for each word, and not one for all"


async def test_who_hands_an_answer_on_asks_with_the_tools_of_the_caller(editor: Editor, mock: Mock) -> None:
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}]
    for prefix, offered in (("/p/raced", True), ("/p/handed", True), ("/p/unasked", False)):
        mock.requests.clear()
        mock.play(lambda asked: Step(text="", calls=(Call("look"),)) if "tools" in asked.body else Step(text="No tools."))
        got = await Caller("openai", editor.server.origin, prefix=prefix).ask("Hi", tools=tools)
        assert [asked.body.get("tools") == tools for asked in mock.requests] == [offered] * len(mock.requests)
        message, finish = got.json["choices"][0]["message"], got.json["choices"][0]["finish_reason"]
        assert [call["function"]["name"] for call in message.get("tool_calls", [])] == ["look"] * offered
        assert finish == ("tool_calls" if offered else "stop")


@EVERY
@STREAMS
async def test_a_failure_goes_on_by_the_error_port(editor: Editor, mock: Mock, dialect: str, stream: bool) -> None:
    mock.play(lambda _: Step(status=400))
    for prefix in ("/p/joined", "/p/raw"):
        got = await Caller(dialect, editor.server.origin, prefix=prefix).ask("hello", stream=stream)
        words = streamed_text(dialect, got.events) if stream else text_of(dialect, got.json)
        assert (got.status, words) == (200, "C: upstream_refused")


async def test_a_stream_that_breaks_in_the_middle_is_no_way_on(editor: Editor, mock: Mock) -> None:
    mock.play(lambda _: Step(text="One two three four.", fail_after=3))
    got = await Caller("openai", editor.server.origin).ask("hello", stream=True)
    assert got.status == 200 and "C:" not in streamed_text("openai", [event for event in got.events if "choices" in event])
    run = (await editor.get(f"/api/runs/{got.headers['x-agentui-run']}")).body
    assert run["state"] == "failed"


@EVERY
@STREAMS
async def test_a_way_without_an_answer_is_an_error_of_the_dialect(editor: Editor, dialect: str, stream: bool) -> None:
    got = await Caller(dialect, editor.server.origin, prefix="/p/half").ask("hello", stream=stream)
    assert got.status == 422
    assert "node if left by its port 'else', which leads nowhere" in error_of(dialect, got.json)


@EVERY
@STREAMS
async def test_a_return_answers_in_every_dialect(editor: Editor, dialect: str, stream: bool) -> None:
    guard = Caller(dialect, editor.server.origin, prefix="/p/guard")
    got = await guard.ask("because", stream=stream)
    words = streamed_text(dialect, got.events) if stream else text_of(dialect, got.json)
    assert (got.status, words, got.headers["x-why"]) == (200, "Refused politely.", "because")
    json = await Caller(dialect, editor.server.origin, prefix="/p/json").ask("Hi", stream=stream)
    assert (streamed_text(dialect, json.events) if stream else text_of(dialect, json.json)) == '{"said":"Hi"}'
    error = await Caller(dialect, editor.server.origin, prefix="/p/error").ask("Hi", stream=stream)
    assert (error.status, error_of(dialect, error.json)) == (403, "Not for you.")


async def test_a_reason_to_end_is_told_in_the_callers_words(editor: Editor) -> None:
    whole = await Caller("openai", editor.server.origin, prefix="/p/guard").ask()
    assert whole.json["choices"][0]["finish_reason"] == "length"
    whole = await Caller("claude", editor.server.origin, prefix="/p/guard").ask()
    assert whole.json["stop_reason"] == "max_tokens"


async def test_a_header_that_holds_a_line_break_fails_without_its_value(editor: Editor) -> None:
    got = await Caller("openai", editor.server.origin, prefix="/p/guard").ask("a\r\nset-cookie: b")
    assert got.status == 422 and "x-why" not in got.headers
    assert "set-cookie" not in got.headers and "set-cookie" not in error_of("openai", got.json)


async def test_a_try_pins_a_branch_and_a_preview_shows_its_way(editor: Editor, mock: Mock) -> None:
    asked = {"headers": CALLER, "body": {"model": "m", "messages": [{"role": "user", "content": "some code"}]}}
    tried = await editor.post("/api/try", {"pipeline": "default", "request": asked, "pins": {"a": {"text": "pinned"}}})
    assert tried.body["choices"][0]["message"]["content"] == "pinned" and mock.requests == []
    tried = await editor.post("/api/try", {"pipeline": "default", "request": asked, "pins": {"if": {"port": "else"}}})
    assert tried.body["choices"][0]["message"]["content"] == "B says this."
    shown = await editor.post("/api/preview", {"pipeline": "default", "node": "if", "request": asked})
    operands = [{"name": "chat.last_user", "value": "some code", "is_missing": False}]
    assert shown.body["preview"] == {"port": "then", "result": True, "operands": operands}


async def test_a_token_count_asks_the_branch_that_would_answer(editor: Editor, mock: Mock) -> None:
    caller = Caller("claude", editor.server.origin)
    body = {"model": "text", "messages": [{"role": "user", "content": "some code"}]}
    counted = await caller.post("/v1/messages/count_tokens", body)
    assert counted.status == 200 and counted.json["input_tokens"] > 0
    assert [asked.path for asked in mock.requests] == ["/v1/messages/count_tokens"]
