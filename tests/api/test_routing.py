"""Several targets of one node: which answers when others fail, and what callers and upstreams see of it."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from google import genai
from google.genai import types
from openai import AsyncOpenAI

from agentui.jsonio import Json, dumps, dumps_text
from agentui.presets import Preset
from agentui.turns.live.choice import bound_document
from tests.api.callers import DIALECTS, Caller, Got, is_whole, streamed_text, text_of
from tests.api.editor_client import editing
from tests.conftest import Server, StartServer, call
from tests.upstreams.server import API_KEY, Call, Mock, Recorded, Step

HELLO = "Hello from the mock."
SECRETS = {f"AGENTUI_SECRET_{name}": f"sk-secret-{name.lower()}-0123456789" for name in ("ONE", "TWO", "THREE")}


def routed(mock: Mock, *targets: Json, **config: Json) -> Json:
    """A pipeline of one node with these targets, of the caller's dialect where they say none."""
    return call("caller", mock.origin, targets=[{"base_url": mock.origin, **target} for target in targets], **config)


def out(server: Server, got: Got) -> Mapping[str, Any]:
    """OUT of the node that answered."""
    result: Mapping[str, Any] = server.state.history.get(got.headers["x-agentui-run"]).out["n1"]
    return result


def states(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What became of each target."""
    return [(line["target"], line["state"]) for line in found["attempts"]]


def paths(mock: Mock) -> list[str]:
    return [request.path.rpartition("/")[2].partition(":")[0] for request in mock.requests]


def heard(dialect: str, got: Got, *, stream: bool) -> str:
    """The words of an answer that ended well."""
    assert got.status == 200, got.body
    if not stream:
        return text_of(dialect, got.json)
    assert is_whole(dialect, got.events), got.body
    return streamed_text(dialect, got.events)


@pytest.mark.parametrize("stream", [False, True])
async def test_the_first_healthy_of_three_dialects_answers_every_caller(
    start_server: StartServer, mock: Mock, stream: bool
) -> None:
    server = await start_server({})
    for dialect in DIALECTS:
        rows: list[Json] = [
            {"name": "first", "provider": "claude", "model": f"{dialect}--error-503"},
            {"name": "off", "provider": "openai", "model": "text", "enabled": False},
            {"name": "второй", "provider": "openai", "model": f"{dialect}--error-429"},
            {"name": "third", "provider": "gemini", "model": "text"},
            {"name": "fourth", "provider": "openai_responses", "model": "text"},
        ]
        server.put(dialect, routed(mock, *rows))
        mock.requests.clear()
        caller = Caller(dialect, server.origin, prefix=f"/p/{dialect}")
        got = await caller.ask("Hi", stream=stream)
        assert heard(dialect, got, stream=stream) == HELLO
        assert got.headers["x-agentui-target"] == "third"
        assert paths(mock) == ["messages", "completions", "text"]
        found = out(server, got)
        assert states(found) == [("first", "failed"), ("второй", "failed"), ("third", "answered")]
        assert (found["target"], found["attempts"][0]["error"]["status"]) == ("third", 503)
        # Both said when to come back: until then nobody asks them.
        got = await caller.ask("Hi", stream=stream)
        assert heard(dialect, got, stream=stream) == HELLO
        assert len(mock.requests) == 4
        assert states(out(server, got)) == [("first", "skipped"), ("второй", "skipped"), ("third", "answered")]
        warnings = [
            event.data["code"]
            for event in server.state.history.get(got.headers["x-agentui-run"]).events.items
            if event.type == "run.warning" and "code" in event.data
        ]
        assert warnings == ["target.skipped", "target.skipped"]


async def test_names_that_no_header_holds_are_quoted(start_server: StartServer, mock: Mock) -> None:
    server = await start_server({"default": routed(mock, {"name": "второй", "provider": "openai"})})
    got = await Caller("openai", server.origin).ask("Hi")
    assert got.headers["x-agentui-target"] == "%D0%B2%D1%82%D0%BE%D1%80%D0%BE%D0%B9"


LONG = "one two three four five six seven eight nine ten"


@pytest.mark.parametrize("step", [Step(text=LONG, fail_after=6), Step(text=LONG, cut="reset", cut_after=6)])
async def test_an_answer_that_breaks_off_is_no_reason_to_ask_another(start_server: StartServer, mock: Mock, step: Step) -> None:
    server = await start_server({"default": routed(mock, {"name": "a"}, {"name": "b"})})
    mock.play(lambda request: step)
    for dialect in DIALECTS:
        mock.requests.clear()
        got = await Caller(dialect, server.origin).ask("Hi", stream=True)
        assert got.headers["x-agentui-target"] == "a"
        assert streamed_text(dialect, got.events) and not is_whole(dialect, got.events)
        assert len(mock.requests) == 1, "what was said stays said"


async def test_a_stream_that_fails_before_its_first_words_is(start_server: StartServer, mock: Mock) -> None:
    server = await start_server({"default": routed(mock, {"name": "a", "model": "fail-first"}, {"name": "b", "model": "text"})})
    for dialect in DIALECTS:
        got = await Caller(dialect, server.origin).ask("Hi", stream=True)
        assert heard(dialect, got, stream=True) == HELLO
        assert got.headers["x-agentui-target"] == "b"


async def test_a_target_that_is_silent_for_too_long_is_left(start_server: StartServer, mock: Mock) -> None:
    rows: list[Json] = [{"name": "a", "model": "hang", "timeout_s": 0.05}, {"name": "b", "model": "text"}]
    server = await start_server({"default": routed(mock, *rows)})
    got = await Caller("claude", server.origin).ask("Hi", stream=True)
    assert heard("claude", got, stream=True) == HELLO
    await mock.was_aborted()
    assert out(server, got)["attempts"][0]["error"]["code"] == "upstream_timeout"


async def test_of_several_at_once_the_first_that_speaks_answers_and_the_others_are_hung_up(
    start_server: StartServer, mock: Mock
) -> None:
    rows: list[Json] = [
        {"name": "silent", "provider": "claude", "model": "hang"},
        {"name": "broken", "provider": "gemini", "model": "error-401"},
        {"name": "still", "provider": "openai", "model": "hang"},
        {"name": "quick", "provider": "openai_responses", "model": "text"},
    ]
    server = await start_server(
        {"default": routed(mock, *rows, strategy="race"), "two": routed(mock, *rows, strategy="race", at_once=2)}
    )
    for number, stream in enumerate((True, False), 1):
        got = await Caller("openai", server.origin).ask("Hi", stream=stream)
        assert heard("openai", got, stream=stream) == HELLO
        assert got.headers["x-agentui-target"] == "quick"
        await mock.was_aborted(2 * number)
        assert dict(states(out(server, got))) == {"silent": "lost", "broken": "failed", "still": "lost", "quick": "answered"}
    await mock.is_idle()
    mock.requests.clear()
    narrow = routed(mock, rows[1], rows[3], rows[0], strategy="race", at_once=1)
    server.put("narrow", narrow)
    got = await Caller("gemini", server.origin, prefix="/p/narrow").ask("Hi", stream=True)
    assert heard("gemini", got, stream=True) == HELLO
    assert paths(mock) == ["error-401", "responses"], "the next one begins where one failed, and no more at once"


async def test_when_all_fail_each_is_named_without_its_key(start_server: StartServer, mock: Mock) -> None:
    rows: list[Json] = [
        {"name": "a", "provider": "openai", "model": "text", "secret": "one"},
        {"name": "b", "provider": "claude", "model": "text", "secret": "missing"},
        {"name": "c", "provider": "gemini", "model": "text", "base_url": "http://127.0.0.1:9"},
    ]
    server = await start_server({"default": routed(mock, *rows)}, secret_env=SECRETS)
    mock.play(lambda request: Step(status=403, message=f"No {request.headers.get('authorization', '')}"))
    got = await Caller("openai", server.origin).ask("Hi")
    assert (got.status, got.json["error"]["code"]) == (502, "all_targets_failed")
    told = got.json["error"]["message"]
    assert all(f"{name}: " in told for name in "abc") and "missing" in told
    run = server.state.history.get(got.headers["x-agentui-run"])
    events = [dumps_text(event.as_json(run.id, 0, run.redactor, whole=True)) for event in run.events.items]
    assert all(secret not in text for secret in (*SECRETS.values(), API_KEY) for text in (told, *events))
    for dialect in DIALECTS:
        got = await Caller(dialect, server.origin).ask("Hi", stream=True)
        assert got.status == 502 and b"127.0.0.1:9" in got.body


async def test_what_a_node_does_not_choose_to_mend_ends_the_call(start_server: StartServer, mock: Mock) -> None:
    rows: list[Json] = [{"name": "a", "model": "error-400"}, {"name": "b", "model": "text"}]
    server = await start_server(
        {
            "default": routed(mock, *rows),
            "more": routed(mock, *rows, on_errors=["invalid_request"]),
            "less": routed(mock, {"name": "a", "model": "error-503"}, rows[1], on_errors=[]),
            "race": routed(mock, rows[0], {"name": "c", "model": "error-401"}, strategy="race"),
        }
    )
    got = await Caller("openai", server.origin).ask("Hi")
    assert (got.status, len(mock.requests)) == (400, 1)
    got = await Caller("openai", server.origin, prefix="/p/more").ask("Hi")
    assert (heard("openai", got, stream=False), len(mock.requests)) == (HELLO, 3)
    got = await Caller("openai", server.origin, prefix="/p/less").ask("Hi")
    assert (got.status, len(mock.requests)) == (503, 4)
    got = await Caller("openai", server.origin, prefix="/p/race").ask("Hi")
    assert got.status == 400


async def test_a_filtered_answer_is_a_failure_where_the_node_says_so(start_server: StartServer, mock: Mock) -> None:
    rows: list[Json] = [{"provider": "gemini", "model": "blocked"}, {"provider": "openai", "model": "text"}]
    server = await start_server({"default": routed(mock, *rows), "more": routed(mock, *rows, on_errors=["content_filter"])})
    for stream in (False, True):
        got = await Caller("openai", server.origin).ask("Hi", stream=stream)
        assert got.status == 200 and b"content_filter" in got.body
        got = await Caller("openai", server.origin, prefix="/p/more").ask("Hi", stream=stream)
        assert heard("openai", got, stream=stream) == HELLO


async def test_keys_have_their_share_and_sessions_keep_theirs(start_server: StartServer, mock: Mock) -> None:
    rows: list[Json] = [
        {"name": name, "model": f"{name}--text", "secret": name, "weight": weight}
        for name, weight in (("one", 1), ("two", 2), ("three", 0))
    ]
    server = await start_server(
        {
            # What the rows take over from the node has no part in the hash, and so the test no chance.
            "default": call("caller", mock.origin, targets=rows, strategy="weighted", sticky="session"),
            "caller": call("caller", mock.origin, targets=rows, strategy="weighted", sticky="caller"),
        },
        secret_env=dict.fromkeys(SECRETS, API_KEY),
    )
    used: Counter[str] = Counter()
    keyless = Caller("openai", server.origin, key="")
    for number in range(12):
        told = {(await keyless.ask(f"Talk {number}")).headers["x-agentui-target"] for _ in range(2)}
        assert len(told) == 1, "the same conversation, the same key"
        used[told.pop()] += 1
    assert set(used) == {"one", "two"}
    before = (await keyless.ask("Talk 11")).headers["x-agentui-target"]
    mock.play(lambda request: Step(status=401) if request.body["model"].startswith(before) else None)
    got = await keyless.ask("Talk 11")
    assert got.headers["x-agentui-target"] in {"one", "two"} - {before}
    kept = {
        (await Caller("openai", server.origin, prefix="/p/caller").ask(f"Other {n}")).headers["x-agentui-target"]
        for n in range(6)
    }
    assert len(kept) == 1


async def test_tools_stay_with_the_target_that_answered_first(start_server: StartServer, mock: Mock) -> None:
    rows: list[Json] = [
        {"name": "a", "provider": "openai", "model": "down--error-503"},
        {"name": "b", "provider": "claude", "model": "text"},
        {"name": "c", "provider": "gemini", "model": "text"},
    ]
    server = await start_server({"default": routed(mock, *rows, tools=["roll_dice"])})
    dice = Call("roll_dice", '{"notation": "1d1"}', "call_1")

    def answer(request: Recorded) -> Step | None:
        if request.path.endswith("messages"):
            return Step(text="", calls=(dice,)) if b"tool_result" not in request.raw else Step(status=529, retry_after=60)
        return None

    mock.play(answer)
    got = await Caller("openai", server.origin).ask("Roll", stream=True)
    assert heard("openai", got, stream=True) == HELLO
    assert paths(mock) == ["completions", "messages", "messages", "text"]
    assert b"functionResponse" in mock.last.raw, "the steps go along to the target that takes over"
    assert out(server, got)["target"] == "c"


async def test_token_counts_embeddings_presets_and_previews_know_targets(start_server: StartServer, mock: Mock) -> None:
    rows: list[Json] = [
        {"name": "a", "provider": "claude", "model": "down--error-503"},
        {"name": "b", "preset": "mine", "model": "text"},
        {"name": "c", "preset": "nowhere"},
    ]
    server = await start_server({"default": routed(mock, *rows)})
    preset = {"format": 1, "name": "Mine", "provider": "gemini", "base_url": mock.origin, "headers": {"x-own": "yes"}}
    (server.presets / "mine.json").write_bytes(dumps(preset))
    server.state.presets.refresh()
    async with editing(server) as editor:
        shown = await editor.post(
            "/api/preview",
            {
                "pipeline": "default",
                "node": "n1",
                "request": {
                    "path": "/v1/chat/completions",
                    "body": {"model": "x", "messages": [{"role": "user", "content": "Hi"}]},
                },
            },
        )
    assert [(line["target"], line["state"]) for line in shown.body["preview"]["targets"]] == [
        ("a", "asked"),
        ("b", "waits"),
        ("c", "failed"),
    ]
    assert shown.body["preview"]["url"] == f"{mock.origin}/v1/messages" and mock.requests == []
    body = {"model": "text", "messages": [{"role": "user", "content": "Hi"}]}
    counted = await Caller("claude", server.origin).post("/v1/messages/count_tokens", body)
    assert counted.status == 200 and mock.last.path.endswith(":countTokens") and mock.last.headers["x-own"] == "yes"
    made = await Caller("openai", server.origin).post("/v1/embeddings", {"model": "text", "input": "Hi"})
    assert made.status == 200 and made.headers["x-agentui-target"] == "b"
    checked = server.state.pipelines.good("default")
    assert checked.warnings == ()


async def test_a_check_names_the_hosts_of_all_targets_and_what_is_wrong_with_them(start_server: StartServer) -> None:
    server = await start_server({})
    rows: list[Json] = [
        {"name": "a", "provider": "claude", "proxy": "http://proxy.example:8080"},
        {"name": "a", "base_url": "https://own.example", "secret": "nope"},
    ]
    document = call("openai", "https://base.example", targets=rows, template='{"x": 1}', sticky="caller")
    async with editing(server) as editor:
        told = (await editor.post("/api/validate", {"document": document})).body
    assert {"api.anthropic.com", "own.example", "proxy.example:8080"} <= set(told["hosts"])
    assert {problem["code"] for problem in told["problems"]} == {
        "targets.name",
        "targets.template",
        "targets.sticky",
        "secret.unknown",
    }


@pytest.mark.sdk
@pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")
async def test_the_vendors_sdks_get_the_answer_of_the_target_that_works(start_server: StartServer, mock: Mock) -> None:
    rows: list[Json] = [{"provider": "gemini", "model": "error-503"}, {"provider": "claude", "model": "text"}]
    server = await start_server({"default": routed(mock, *rows)})
    async with AsyncOpenAI(base_url=f"{server.origin}/v1", api_key=API_KEY, max_retries=0) as client:
        chat = await client.chat.completions.create(model="x", messages=[{"role": "user", "content": "Hi"}])
        assert chat.choices[0].message.content == HELLO
        response = await client.responses.create(model="x", input="Hi")
        assert response.output_text == HELLO
    async with AsyncAnthropic(base_url=server.origin, api_key=API_KEY, max_retries=0) as claude:
        message = await claude.messages.create(model="x", max_tokens=9, messages=[{"role": "user", "content": "Hi"}])
        assert message.content[0].text == HELLO  # type: ignore[union-attr]  # it is a text
    google = genai.Client(api_key=API_KEY, http_options=types.HttpOptions(base_url=server.origin))
    found = await google.aio.models.generate_content(model="x", contents="Hi")
    assert found.text == HELLO
    await google.aio.aclose()


def test_the_preset_of_a_session_stands_for_the_targets_of_its_node() -> None:
    own = Preset.model_validate({"format": 1, "name": "Mine", "provider": "claude", "model": "mine"})
    document = call("openai", "https://x.example", session_model=True, targets=[{"model": "other"}])
    (node,) = bound_document(document, own, has_model=False)["nodes"]
    assert (node["config"]["targets"], node["config"]["model"]) == ([], "mine")


async def test_what_a_targets_model_takes_is_its_own(start_server: StartServer, mock: Mock) -> None:
    server = await start_server({})
    own: Json = {"provider": "openai", "model": "mine", "capabilities": dumps_text({"refused": ["top_p"]})}
    rows: list[Json] = [{"model": "theirs--error-503", "capabilities": dumps_text({"refused": ["temperature"]})}, {}]
    document = routed(mock, *rows)
    document["nodes"][0]["config"] |= own
    server.put("own", document)
    caller = Caller("claude", server.origin, prefix="/p/own")
    got = await caller.ask("Hi", temperature=0.5, top_p=0.5)
    assert got.status == 200, got.body
    assert [sorted(request.body.keys() & {"temperature", "top_p"}) for request in mock.requests] == [["top_p"], ["temperature"]]
    rows[0]["capabilities"] = "{"
    problems = await editing(server).problems(document) if hasattr(editing(server), "problems") else None
    assert problems is None or any(problem["field"] == "targets.0.capabilities" for problem in problems)
