"""A request finds its pipeline, its model and its way back, in every dialect."""

import re
import shutil
from itertools import pairwise
from pathlib import Path

import aiohttp
import pytest

from agentui.http.pages import STATIC
from agentui.jsonio import Json, dumps
from tests.api.callers import DIALECTS, Caller, error_of, is_whole, streamed_text, text_of
from tests.conftest import Server, StartServer, call
from tests.upstreams.server import API_KEY, Mock
from tests.upstreams.step import Call, Step

TOKEN = "the-servers-own-token"
STREAMS = pytest.mark.parametrize("stream", [False, True])
EVERY = pytest.mark.parametrize("dialect", DIALECTS)


def saying(text: str) -> Json:
    """A pipeline without a model, that says this."""
    rows = [{"name": "FIRST", "value": "not this"}, {"name": "LAST", "value": text}]
    return {"format": 1, "name": f"says {text}", "nodes": [{"id": "n1", "type": "SetVars", "config": {"variables": rows}}]}


def chain(*nodes: Json) -> Json:
    ids = [one["id"] for one in nodes]
    edges = [{"from": before, "to": after} for before, after in pairwise(ids)]
    return {"format": 1, "name": "chain", "nodes": list(nodes), "edges": edges}


# --- which pipeline --------------------------------------------------------------------------------------------------


@EVERY
async def test_a_pipeline_is_chosen_by_prefix_header_model_or_because_it_is_active(
    start_server: StartServer, dialect: str
) -> None:
    server = await start_server({"default": saying("active"), "other": saying("other")})
    plain = Caller(dialect, server.origin)
    ways = [
        (plain, "some-model", "active"),
        (Caller(dialect, server.origin, prefix="/p/other"), "some-model", "other"),
        (Caller(dialect, server.origin, headers={"x-agentui-pipeline": "other"}), "some-model", "other"),
        (plain, "pipeline/other", "other"),
        (plain, "pipeline/other/some-model", "other"),
        # The nearest choice wins: prefix, then header, then model.
        (Caller(dialect, server.origin, prefix="/p/other"), "pipeline/default", "other"),
        (Caller(dialect, server.origin, prefix="/p/other", headers={"x-agentui-pipeline": "default"}), "m", "other"),
        (Caller(dialect, server.origin, headers={"x-agentui-pipeline": "other"}), "pipeline/default", "other"),
    ]
    for caller, model, expected in ways:
        got = await caller.ask(model=model)
        assert got.status == 200, got.body
        assert text_of(dialect, got.json) == expected, (caller, model)
        assert got.headers["x-agentui-pipeline"] == ("default" if expected == "active" else "other")


async def test_another_pipeline_serves_once_it_is_activated(start_server: StartServer) -> None:
    server = await start_server({"default": saying("first"), "other": saying("second")})
    server.state.pipelines.activate("other")
    assert text_of("openai", (await Caller("openai", server.origin).ask()).json) == "second"


@EVERY
@STREAMS
async def test_an_unknown_pipeline_is_404_in_the_callers_shape(start_server: StartServer, dialect: str, stream: bool) -> None:
    server = await start_server({"default": saying("x")})
    for caller, model in [
        (Caller(dialect, server.origin, prefix="/p/nope"), "m"),
        (Caller(dialect, server.origin, headers={"x-agentui-pipeline": "nope"}), "m"),
        (Caller(dialect, server.origin), "pipeline/nope/m"),
    ]:
        got = await caller.ask(model=model, stream=stream)
        assert got.status == 404
        assert "nope" in error_of(dialect, got.json)
        assert got.headers["content-type"].startswith("application/json")
        assert got.headers["x-request-id"].startswith("req_")


@EVERY
async def test_a_pipeline_that_does_not_compile_says_why(start_server: StartServer, dialect: str) -> None:
    server = await start_server({"default": chain({"id": "n1", "type": "Teleport"})})
    got = await Caller(dialect, server.origin).ask()
    assert got.status == 422
    assert "no node type 'Teleport'" in error_of(dialect, got.json)


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/models/text:frobnicate", "/v1beta/models/text:frobnicate"])
async def test_a_request_that_cannot_be_read_leaves_no_run_behind(start_server: StartServer, path: str) -> None:
    server = await start_server({"default": saying("x")})
    got = await Caller("openai", server.origin).post(path, {})
    assert 400 <= got.status < 500
    assert not server.state.history.list()


@EVERY
@pytest.mark.parametrize("model", ["pipeline/default/text", "text"])
async def test_the_upstream_never_hears_of_pipelines(start_server: StartServer, mock: Mock, dialect: str, model: str) -> None:
    server = await start_server({"default": call("caller", mock.origin)})
    got = await Caller(dialect, server.origin).ask(model=model)
    assert got.status == 200, got.body
    assert "pipeline" not in mock.last.raw.decode() + mock.last.path
    assert mock.last.body.get("model", "text") == "text"


@EVERY
@STREAMS
async def test_a_raw_forward_asks_for_the_model_behind_the_pipeline(
    start_server: StartServer, mock: Mock, dialect: str, stream: bool
) -> None:
    forward = chain(
        {"id": "n1", "type": "RawForward", "config": {"base_url": mock.origin, "override_path": "[[VAR:incoming.path]]"}}
    )
    server = await start_server({"fwd": forward})
    got = await Caller(dialect, server.origin).ask(model="pipeline/fwd/text", stream=stream)
    assert got.status == 200, got.body
    assert "pipeline" not in mock.last.raw.decode() + mock.last.path
    assert (streamed_text(dialect, got.events) if stream else text_of(dialect, got.json)) == "Hello from the mock."


@EVERY
@pytest.mark.parametrize("type", ["ProviderCall", "RawForward"])
async def test_a_pipeline_without_a_model_of_its_own_needs_one(
    start_server: StartServer, mock: Mock, dialect: str, type: str
) -> None:
    server = await start_server({"bare": chain({"id": "n1", "type": type, "config": {"base_url": mock.origin}})})
    got = await Caller(dialect, server.origin).ask(model="pipeline/bare")
    assert got.status == 400
    assert "pipeline/<id>/<model>" in error_of(dialect, got.json)
    assert mock.requests == []


# --- answers ---------------------------------------------------------------------------------------------------------


@EVERY
async def test_words_without_a_model_are_a_whole_answer(start_server: StartServer, dialect: str) -> None:
    server = await start_server({"default": saying("Привет, \u2028 world")})
    got = await Caller(dialect, server.origin).ask(model="my-model")
    assert (got.status, text_of(dialect, got.json)) == (200, "Привет, \u2028 world")


@EVERY
async def test_words_without_a_model_are_a_whole_stream(start_server: StartServer, dialect: str) -> None:
    server = await start_server({"default": saying("Привет, \u2028 world")})
    got = await Caller(dialect, server.origin).ask(model="my-model", stream=True)
    assert got.status == 200
    assert got.headers["content-type"].startswith("text/event-stream")
    assert streamed_text(dialect, got.events) == "Привет, \u2028 world"
    assert is_whole(dialect, got.events)


@EVERY
@STREAMS
@pytest.mark.parametrize("provider", DIALECTS)
async def test_every_dialect_reaches_every_provider(
    start_server: StartServer, mock: Mock, dialect: str, stream: bool, provider: str
) -> None:
    server = await start_server({"default": call(provider, mock.origin)})
    got = await Caller(dialect, server.origin).ask(stream=stream)
    assert got.status == 200, got.body
    if stream:
        assert streamed_text(dialect, got.events) == "Hello from the mock."
        assert is_whole(dialect, got.events)
    else:
        assert text_of(dialect, got.json) == "Hello from the mock."


@EVERY
@pytest.mark.parametrize(("stream", "asks"), [(True, "false"), (False, "true")])
async def test_the_template_may_stream_when_the_caller_does_not_and_the_other_way_round(
    start_server: StartServer, mock: Mock, dialect: str, stream: bool, asks: str
) -> None:
    template = f'{{"model": "text", [[PROMPT]], "stream": {asks}}}'
    server = await start_server({"default": call("openai", mock.origin, template=template)})
    got = await Caller(dialect, server.origin).ask(stream=stream)
    assert got.status == 200, got.body
    assert mock.last.body["stream"] is (asks == "true")
    assert (streamed_text(dialect, got.events) if stream else text_of(dialect, got.json)) == "Hello from the mock."
    if stream:
        assert is_whole(dialect, got.events)


async def test_a_template_of_constants_stays_as_it_is_written(start_server: StartServer, mock: Mock) -> None:
    template = '{"model": "text", "messages": [{"role": "user", "content": "Hi"}]}'
    server = await start_server({"default": call("openai", mock.origin, template=template)})
    caller = Caller("openai", server.origin)
    for stream in (False, True, False):
        await caller.ask(stream=stream)
        assert ("stream" in mock.last.body) is stream


@pytest.mark.parametrize("stream", [False, True])
async def test_geminis_endpoint_may_stream_by_itself(start_server: StartServer, mock: Mock, stream: bool) -> None:
    endpoint = "/v1beta/models/{{ model }}:streamGenerateContent"
    server = await start_server({"default": call("gemini", mock.origin, endpoint=endpoint)})
    got = await Caller("openai", server.origin).ask(stream=stream)
    assert got.status == 200, got.body
    assert (mock.last.path.rpartition(":")[2], mock.last.query) == ("streamGenerateContent", {"alt": "sse"})
    assert (streamed_text("openai", got.events) if stream else text_of("openai", got.json)) == "Hello from the mock."


async def test_a_node_that_does_not_answer_goes_without_the_callers_tools(start_server: StartServer, mock: Mock) -> None:
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
    pipeline = chain(
        {"id": "n1", "type": "ProviderCall", "config": {"provider": "openai", "base_url": mock.origin}},
        {"id": "n2", "type": "ProviderCall", "config": {"provider": "claude", "base_url": mock.origin}},
    )
    server = await start_server({"default": pipeline})
    more = {"tools": [tool], "tool_choice": "required", "response_format": {"type": "text"}, "n": 1, "temperature": 0.5}
    mock.script([Step(), Step(text="", calls=(Call("look", "{}"),))])
    got = await Caller("openai", server.origin).ask(stream=True, **more)
    assert got.status == 200, got.body
    first, second = mock.requests
    assert not {"tools", "tool_choice", "response_format", "n"} & set(first.body)
    assert first.body["temperature"] == 0.5
    assert first.body.get("stream") is not True
    assert second.body["stream"] is True
    assert [tool["name"] for tool in second.body["tools"]] == ["look"]


@pytest.mark.parametrize("provider", ["openai", "claude", "gemini"])
async def test_a_node_that_does_not_answer_may_still_see_a_conversation_with_tools(
    start_server: StartServer, mock: Mock, provider: str
) -> None:
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
    asked = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Look"},
        {"role": "assistant", "content": None, "tool_calls": [asked]},
        {"role": "tool", "tool_call_id": "call_1", "content": "Seen"},
    ]
    pipeline = chain(
        {"id": "n1", "type": "ProviderCall", "config": {"provider": provider, "base_url": mock.origin}},
        {"id": "n2", "type": "ProviderCall", "config": {"provider": provider, "base_url": mock.origin}},
    )
    server = await start_server({"default": pipeline})
    got = await Caller("openai", server.origin).ask(messages=messages, tools=[tool])
    assert got.status == 200, got.body


# --- headers ---------------------------------------------------------------------------------------------------------


@STREAMS
async def test_every_answer_names_its_request_run_and_pipeline(start_server: StartServer, mock: Mock, stream: bool) -> None:
    server = await start_server({"default": call("claude", mock.origin)})
    got = await Caller("openai", server.origin).ask(stream=stream)
    assert got.headers["x-request-id"].startswith("req_")
    assert got.headers["x-agentui-pipeline"] == "default"
    assert server.state.history.get(got.headers["x-agentui-run"]).state == "finished"


@STREAMS
async def test_what_the_provider_could_not_be_told_is_named(start_server: StartServer, mock: Mock, stream: bool) -> None:
    server = await start_server({"default": call("claude", mock.origin)})
    got = await Caller("openai", server.origin).ask(stream=stream, seed=7, logit_bias={"1": 2})
    assert got.status == 200, got.body
    assert {"seed", "logit_bias"} <= set(got.headers["x-agentui-dropped"].split(", "))


async def test_nothing_dropped_leaves_no_header(start_server: StartServer, mock: Mock) -> None:
    server = await start_server({"default": call("openai", mock.origin)})
    assert "x-agentui-dropped" not in (await Caller("openai", server.origin).ask(seed=7)).headers


@EVERY
async def test_an_upstreams_refusal_keeps_its_status_and_names_its_run(
    start_server: StartServer, mock: Mock, dialect: str
) -> None:
    server = await start_server({"default": call("openai", mock.origin)})
    got = await Caller(dialect, server.origin).ask(model="error-418")
    assert got.status == 418
    assert error_of(dialect, got.json) == "The mock was told to fail."
    assert server.state.history.get(got.headers["x-agentui-run"]).state == "failed"


# --- counting and embedding ------------------------------------------------------------------------------------------


def count_of(dialect: str, body: Json) -> int:
    names = {"claude": "input_tokens", "gemini": "totalTokens", "openai_responses": "input_tokens"}
    count: int = body[names[dialect]]
    return count


COUNTS = [
    ("claude", "/v1/messages/count_tokens"),
    ("gemini", "/v1beta/models/text:countTokens"),
    ("openai_responses", "/v1/responses/input_tokens"),
]


def count_body(caller: Caller) -> Json:
    body = caller.body("Hello there", "text")
    return {name: value for name, value in body.items() if name != "max_tokens"}


@pytest.mark.parametrize(("dialect", "path"), COUNTS)
@pytest.mark.parametrize("provider", ["caller", "claude", "gemini", "openai"])
async def test_tokens_are_counted_by_the_provider_or_estimated(
    start_server: StartServer, mock: Mock, dialect: str, path: str, provider: str
) -> None:
    server = await start_server({"default": call(provider, mock.origin)})
    caller = Caller(dialect, server.origin)
    got = await caller.post(path, count_body(caller))
    assert got.status == 200, got.body
    assert count_of(dialect, got.json) > 0
    assert got.headers.get("x-agentui-estimated") == ("true" if provider == "openai" else None)
    assert len(mock.requests) == (0 if provider == "openai" else 1)


@pytest.mark.parametrize(("dialect", "path"), COUNTS)
async def test_what_the_blocks_add_is_counted(start_server: StartServer, mock: Mock, dialect: str, path: str) -> None:
    blocks = [{"role": "system", "text": "Be a pirate."}, {"kind": "history"}, {"role": "user", "text": "Ahoy!"}]
    server = await start_server({"default": call("caller", mock.origin, blocks=blocks)})
    caller = Caller(dialect, server.origin)
    got = await caller.post(path, count_body(caller))
    assert got.status == 200, got.body
    sent = str(mock.last.body)
    assert all(words in sent for words in ("Be a pirate.", "Hello there", "Ahoy!"))


@pytest.mark.parametrize(("dialect", "path"), COUNTS)
async def test_a_pipeline_without_a_model_estimates_tokens(start_server: StartServer, dialect: str, path: str) -> None:
    server = await start_server({"default": saying("x")})
    caller = Caller(dialect, server.origin)
    got = await caller.post(path, count_body(caller))
    assert (got.status, got.headers["x-agentui-estimated"]) == (200, "true")
    assert count_of(dialect, got.json) == 7


@pytest.mark.parametrize(("dialect", "path"), COUNTS)
async def test_counting_asks_no_model_that_does_not_answer(
    start_server: StartServer, mock: Mock, dialect: str, path: str
) -> None:
    pipeline = chain(
        {"id": "n1", "type": "ProviderCall", "config": {"base_url": mock.origin}},
        {"id": "n2", "type": "ProviderCall", "config": {"base_url": mock.origin}},
    )
    server = await start_server({"default": pipeline})
    caller = Caller(dialect, server.origin)
    assert (await caller.post(path, count_body(caller))).status == 200
    assert len(mock.requests) == 1


@pytest.mark.parametrize("provider", ["caller", "openai", "openai_responses", "gemini"])
async def test_embeddings_pass_through_a_pipeline(start_server: StartServer, mock: Mock, provider: str) -> None:
    server = await start_server({"default": call(provider, mock.origin)})
    got = await Caller("openai", server.origin).post("/v1/embeddings", {"model": "text", "input": ["a", "b"]})
    assert got.status == 200, got.body
    assert [item["index"] for item in got.json["data"]] == [0, 1]
    assert all(isinstance(number, float) for item in got.json["data"] for number in item["embedding"])


@pytest.mark.parametrize("pipeline", ["claude", "words"])
async def test_where_nobody_embeds_the_caller_hears_so(start_server: StartServer, mock: Mock, pipeline: str) -> None:
    server = await start_server({"claude": call("claude", mock.origin), "words": saying("x")})
    caller = Caller("openai", server.origin, prefix=f"/p/{pipeline}")
    got = await caller.post("/v1/embeddings", {"model": "text", "input": "a"})
    assert got.status == 501
    assert "embeddings" in error_of("openai", got.json)


# --- model lists -----------------------------------------------------------------------------------------------------


def ids_of(dialect: str, body: Json) -> list[str]:
    if dialect == "gemini":
        return [model["name"].removeprefix("models/") for model in body["models"]]
    return [model["id"] for model in body["data"]]


OWN_KEY = {"Authorization": "Bearer [[SECRET:main]]"}
LISTS = [("openai", "/v1/models"), ("claude", "/v1/models"), ("gemini", "/v1beta/models")]


@pytest.mark.parametrize(("dialect", "path"), LISTS)
@pytest.mark.parametrize("provider", ["caller", "openai", "claude", "gemini"])
async def test_models_are_the_pipelines_and_the_providers_own(
    start_server: StartServer, mock: Mock, dialect: str, path: str, provider: str
) -> None:
    server = await start_server({"default": call(provider, mock.origin), "other": saying("x"), "broken": {"format": 9}})
    got = await Caller(dialect, server.origin).get(path)
    assert got.status == 200
    assert ids_of(dialect, got.json) == ["pipeline/default", "pipeline/other", "text", "tool", "thinking"]


@pytest.mark.parametrize(("dialect", "path"), LISTS)
@pytest.mark.parametrize("model", ["pipeline/other", "text"])
async def test_one_model_can_be_asked_for(start_server: StartServer, mock: Mock, dialect: str, path: str, model: str) -> None:
    server = await start_server({"default": call("openai", mock.origin), "other": saying("x")})
    got = await Caller(dialect, server.origin).get(f"{path}/{model}")
    assert got.status == 200
    assert got.json["name" if dialect == "gemini" else "id"].removeprefix("models/") == model


@pytest.mark.parametrize(("dialect", "path"), LISTS)
async def test_a_model_that_is_not_there_is_404_in_shape(start_server: StartServer, dialect: str, path: str) -> None:
    server = await start_server({"default": saying("x")})
    got = await Caller(dialect, server.origin).get(f"{path}/nope")
    assert got.status == 404
    assert "nope" in error_of(dialect, got.json)


async def test_a_provider_that_gives_no_list_leaves_the_pipelines(start_server: StartServer, mock: Mock) -> None:
    server = await start_server({"default": call("openai", mock.origin)})
    got = await Caller("openai", server.origin, key="a-wrong-key-of-some-kind").get("/v1/models")
    assert ids_of("openai", got.json) == ["pipeline/default"]


@pytest.mark.parametrize(
    ("headers", "own"),
    [
        ({"x-api-key": "[[VAR:incoming.api_key]]"}, False),
        ({"x-api-key": "[[SECRET:main]]"}, True),
        ({"x-api-key": "[[KEY]]"}, True),
    ],
)
async def test_the_callers_key_asks_for_the_list_only_where_the_node_would_send_it(
    start_server: StartServer, mock: Mock, headers: Json, own: bool
) -> None:
    server = await start_server({"default": call("claude", mock.origin, headers=headers)})
    got = await Caller("openai", server.origin).get("/v1/models")
    assert ("text" in ids_of("openai", got.json)) is not own
    assert (API_KEY in said(mock)) is not own


@pytest.mark.parametrize(("dialect", "path"), LISTS)
async def test_a_raw_forwards_upstream_lists_its_models_in_the_callers_dialect(
    start_server: StartServer, mock: Mock, dialect: str, path: str
) -> None:
    node = {"id": "n1", "type": "RawForward", "config": {"base_url": mock.origin}}
    server = await start_server({"default": {"format": 1, "name": "raw", "nodes": [node]}})
    got = await Caller(dialect, server.origin).get(path)
    assert ids_of(dialect, got.json) == ["pipeline/default", "text", "tool", "thinking"]


@pytest.mark.parametrize("written", [OWN_KEY, dumps(OWN_KEY).decode()], ids=["object", "text"])
async def test_a_raw_forward_with_a_key_of_its_own_is_not_sent_the_callers(
    start_server: StartServer, mock: Mock, written: Json
) -> None:
    node = {"id": "n1", "type": "RawForward", "config": {"base_url": mock.origin, "extra_headers": written}}
    server = await start_server({"default": {"format": 1, "name": "raw", "nodes": [node]}})
    await Caller("openai", server.origin).get("/v1/models")
    assert mock.requests and API_KEY not in said(mock)


async def test_a_providers_list_is_asked_for_once(start_server: StartServer, mock: Mock) -> None:
    server = await start_server({"default": call("openai", mock.origin)})
    for _ in range(3):
        await Caller("openai", server.origin).get("/v1/models")
    assert len(mock.requests) == 1


async def test_the_list_below_a_pipelines_prefix_is_its_providers(start_server: StartServer, mock: Mock) -> None:
    server = await start_server({"default": saying("x"), "real": call("openai", mock.origin)})
    assert "text" not in ids_of("openai", (await Caller("openai", server.origin).get("/v1/models")).json)
    assert "text" in ids_of("openai", (await Caller("openai", server.origin, prefix="/p/real").get("/v1/models")).json)


# --- the server's own token ------------------------------------------------------------------------------------------


@EVERY
@pytest.mark.parametrize("key", ["", "a-wrong-token"])
async def test_without_the_token_nobody_is_served(start_server: StartServer, mock: Mock, dialect: str, key: str) -> None:
    server = await start_server({"default": call("caller", mock.origin)}, token=TOKEN)
    got = await Caller(dialect, server.origin, key=key).ask()
    assert got.status == 401
    assert "access token" in error_of(dialect, got.json)
    assert mock.requests == []


def said(mock: Mock) -> str:
    """Everything that the upstream heard."""
    return "".join(f"{one.path} {one.query} {one.headers} {one.raw!r}" for one in mock.requests)


@EVERY
@pytest.mark.parametrize("type", ["ProviderCall", "RawForward"])
async def test_the_token_as_api_key_opens_the_server_and_goes_no_further(
    start_server: StartServer, mock: Mock, dialect: str, type: str
) -> None:
    server = await start_server(
        {"default": chain({"id": "n1", "type": type, "config": {"base_url": mock.origin}})}, token=TOKEN
    )
    got = await Caller(dialect, server.origin, key=TOKEN).ask()
    # The upstream, asked without any key, refuses; what matters is that it was asked and heard no token.
    assert got.status in (400, 401, 403)
    assert len(mock.requests) == 1
    assert TOKEN not in said(mock)


@pytest.mark.parametrize("type", ["ProviderCall", "RawForward"])
async def test_the_token_in_geminis_query_goes_no_further(start_server: StartServer, mock: Mock, type: str) -> None:
    server = await start_server(
        {"default": chain({"id": "n1", "type": type, "config": {"base_url": mock.origin}})}, token=TOKEN
    )
    got = await Caller("gemini", server.origin, key="", query=f"key={TOKEN}&a=1").ask()
    assert got.status == 403
    assert len(mock.requests) == 1
    assert TOKEN not in said(mock)


async def test_templates_cannot_read_the_token(start_server: StartServer) -> None:
    seen = saying(
        "{{ incoming.headers }} {{ incoming.query }} {{ incoming.query_params }} {{ incoming.api_keys }} {{ incoming.api_key }}"
    )
    server = await start_server({"default": seen}, token=TOKEN)
    for caller in (
        Caller("openai", server.origin, key=TOKEN),
        Caller("claude", server.origin, key=TOKEN),
        Caller("gemini", server.origin, key="", query=f"key={TOKEN}"),
        Caller("openai", server.origin, headers={"x-agentui-token": TOKEN, "authorization": f"bearer {TOKEN}"}),
    ):
        got = await caller.ask()
        assert got.status == 200, got.body
        assert TOKEN not in got.body.decode()


@EVERY
async def test_beside_the_token_a_providers_key_passes(start_server: StartServer, mock: Mock, dialect: str) -> None:
    server = await start_server({"default": call("caller", mock.origin)}, token=TOKEN)
    got = await Caller(dialect, server.origin, headers={"x-agentui-token": TOKEN}).ask()
    assert got.status == 200, got.body
    assert TOKEN not in said(mock)


@pytest.mark.parametrize(("dialect", "path"), LISTS)
async def test_model_lists_want_the_token_and_keep_it(start_server: StartServer, mock: Mock, dialect: str, path: str) -> None:
    server = await start_server({"default": call("caller", mock.origin)}, token=TOKEN)
    assert (await Caller(dialect, server.origin).get(path)).status == 401
    got = await Caller(dialect, server.origin, key=TOKEN).get(path)
    assert ids_of(dialect, got.json) == ["pipeline/default"]
    assert TOKEN not in said(mock)


async def test_health_needs_no_token(start_server: StartServer) -> None:
    server = await start_server({"default": saying("x")}, token=TOKEN)
    got = await Caller("openai", server.origin, key="").get("/health")
    assert (got.status, got.json["active_pipeline"]) == (200, "default")


# --- stored keys -----------------------------------------------------------------------------------------------------


def secret_env(origin: str) -> dict[str, str]:
    return {"AGENTUI_SECRET_MAIN": API_KEY, "AGENTUI_SECRET_MAIN_ORIGINS": origin}


@EVERY
async def test_a_stored_key_goes_to_its_origin(start_server: StartServer, mock: Mock, dialect: str) -> None:
    headers = {"Authorization": "Bearer [[SECRET:main]]"}
    server = await start_server({"default": call("openai", mock.origin, headers=headers)}, secret_env=secret_env(mock.origin))
    got = await Caller(dialect, server.origin, key="").ask()
    assert got.status == 200, got.body
    assert mock.last.headers["authorization"] == f"Bearer {API_KEY}"


@pytest.mark.parametrize("type", ["ProviderCall", "RawForward"])
async def test_a_stored_key_goes_nowhere_else(start_server: StartServer, mock: Mock, type: str) -> None:
    name = "headers" if type == "ProviderCall" else "extra_headers"
    config = {"base_url": mock.origin, name: {"Authorization": "Bearer [[SECRET:main]]"}}
    pipeline = chain({"id": "n1", "type": type, "config": config})
    server = await start_server({"default": pipeline}, secret_env=secret_env("https://api.openai.com"))
    got = await Caller("openai", server.origin, key="").ask()
    assert got.status == 403
    assert "https://api.openai.com" in error_of("openai", got.json)
    assert API_KEY not in got.body.decode()
    assert mock.requests == []


async def test_a_key_that_is_not_stored_is_named(start_server: StartServer, mock: Mock) -> None:
    headers = {"Authorization": "Bearer [[SECRET:main]]"}
    server = await start_server({"default": call("openai", mock.origin, headers=headers)})
    got = await Caller("openai", server.origin).ask()
    assert got.status in (404, 422)
    assert "'main'" in error_of("openai", got.json)
    assert mock.requests == []


@pytest.mark.parametrize("where", ["base_url", "model", "template", "blocks"])
async def test_a_stored_key_stands_in_no_other_field(start_server: StartServer, mock: Mock, where: str) -> None:
    macro = "[[SECRET:main]]"
    config: dict[str, Json] = {
        "base_url": {"base_url": macro},
        "model": {"model": macro},
        "template": {"template": f'{{"user": "{macro}"}}'},
        "blocks": {"blocks": [{"kind": "text", "text": macro}]},
    }[where]
    server = await start_server(
        {"default": call("openai", **{"base_url": mock.origin, **config})}, secret_env=secret_env(mock.origin)
    )
    got = await Caller("openai", server.origin).ask()
    assert got.status == 422
    assert API_KEY not in got.body.decode()
    assert mock.requests == []


async def test_a_stored_key_that_the_upstream_repeats_is_masked(start_server: StartServer, mock: Mock) -> None:
    headers = {"Authorization": "Bearer [[SECRET:main]]"}
    server = await start_server({"default": call("openai", mock.origin, headers=headers)}, secret_env=secret_env(mock.origin))
    mock.script(Step(status=400, message=f"The key {API_KEY} is odd."))
    got = await Caller("openai", server.origin, key="").ask()
    assert got.status == 400
    assert API_KEY not in got.body.decode()
    assert error_of("openai", got.json).startswith("The key ***")
    run = server.state.history.get(got.headers["x-agentui-run"])
    shown = [event.as_json(run.id, number, run.redactor, whole=True) for number, event in enumerate(run.events.items)]
    assert API_KEY not in str(shown)


async def test_a_key_written_into_a_header_is_masked_in_events(start_server: StartServer, mock: Mock) -> None:
    server = await start_server({"default": call("openai", mock.origin, headers={"Authorization": f"Bearer {API_KEY}"})})
    got = await Caller("openai", server.origin, key="").ask()
    assert got.status == 200
    run = server.state.history.get(got.headers["x-agentui-run"])
    shown = [event.as_json(run.id, number, run.redactor, whole=True) for number, event in enumerate(run.events.items)]
    assert API_KEY not in str(shown)


# --- pages -----------------------------------------------------------------------------------------------------------


async def test_the_editors_page_is_served_with_its_guards(start_server: StartServer) -> None:
    server = await start_server({"default": saying("x")})
    caller = Caller("openai", server.origin, key="")
    got = await caller.get("/")
    assert got.status == 200
    assert got.headers["content-type"].startswith("text/html")
    assert "default-src 'self'" in got.headers["content-security-policy"]
    icon = await caller.get("/ui/icon.svg")
    assert icon.status == 200
    again = await Caller("openai", server.origin, key="", headers={"if-none-match": icon.headers["etag"]}).get("/ui/icon.svg")
    assert (again.status, again.body) == (304, b"")


async def test_browsers_keep_the_editors_files_until_one_of_them_changes(
    start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    static = tmp_path / "static"
    shutil.copytree(STATIC, static)
    monkeypatch.setattr("agentui.http.pages.STATIC", static)
    caller = Caller("openai", (await start_server({"default": saying("x")})).origin, key="")

    async def named() -> list[str]:
        found = re.findall(r'(?:href|src)="([^"]+)"', (await caller.get("/")).body.decode())
        assert len(found) > 3 and all(re.fullmatch(r"/ui/@[0-9a-f]{16}/[\w./-]+", one) for one in found), found
        return found

    async def kept(path: str) -> bool:
        got = await caller.get(path)
        assert got.status == 200
        return "immutable" in got.headers["cache-control"]

    first = await named()
    assert first == await named()
    assert [await kept(one) for one in first] == [True] * len(first)
    # Modules import each other relatively; their addresses without a version are asked for again every time.
    module = first[0].rsplit("/", 1)[0] + "/js/core/doc.js"
    assert await kept(module) and not await kept("/ui/js/core/doc.js")

    (static / "js" / "core" / "doc.js").write_text("export {};\n")
    # A page of before the change gets the file as it is, and does not keep it under the old version.
    assert not await kept(module) and (await caller.get(module)).body == b"export {};\n"
    second = await named()
    assert set(second).isdisjoint(first)
    assert await kept(second[0]) and not await kept(first[0])
    assert (await caller.get(second[0].rsplit("/", 1)[0] + "/nope.js")).status == 404


async def test_files_outside_the_editor_are_not_served(start_server: StartServer) -> None:
    server = await start_server({"default": saying("x")})
    for path in (
        "/ui/../pyproject.toml",
        "/ui/%2e%2e/pyproject.toml",
        "/ui/..%2fpyproject.toml",
        "/ui//etc/passwd",
        "/ui/nope.js",
    ):
        assert (await Caller("openai", server.origin, key="").get(path)).status == 404


@pytest.mark.parametrize("type", ["ProviderCall", "RawForward"])
@pytest.mark.parametrize("name", ["Host", "Content-Length", "Transfer-Encoding", "Connection"])
async def test_headers_of_the_connection_itself_cannot_be_set(
    start_server: StartServer, mock: Mock, type: str, name: str
) -> None:
    field = "headers" if type == "ProviderCall" else "extra_headers"
    pipeline = chain({"id": "n1", "type": type, "config": {"base_url": mock.origin, field: {name: "1"}}})
    server = await start_server({"default": pipeline})
    got = await Caller("openai", server.origin).ask()
    assert got.status == 200 or name in error_of("openai", got.json)
    assert all(one.headers.get(name.lower()) != "1" for one in mock.requests)


@pytest.mark.parametrize("type", ["ProviderCall", "RawForward"])
@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\0b"])
async def test_a_value_of_the_caller_cannot_add_a_header(start_server: StartServer, mock: Mock, type: str, value: str) -> None:
    field = "headers" if type == "ProviderCall" else "extra_headers"
    config = {"base_url": mock.origin, field: {"X-Note": "{{ incoming.json.metadata.note }}"}}
    server = await start_server({"default": chain({"id": "n1", "type": type, "config": config})})
    got = await Caller("openai", server.origin).ask(metadata={"note": value})
    assert got.status == 422
    assert "X-Note" in error_of("openai", got.json)
    assert mock.requests == []


@pytest.mark.parametrize("extra", [{"Authorization": ""}, {"authorization": "{{ nothing }}"}, '{"Authorization": ""}'])
async def test_an_empty_header_takes_the_callers_own_away(start_server: StartServer, mock: Mock, extra: Json) -> None:
    config = {"base_url": mock.origin, "extra_headers": extra}
    server = await start_server({"default": chain({"id": "n1", "type": "RawForward", "config": config})})
    await Caller("openai", server.origin).ask()
    assert mock.requests
    assert all("authorization" not in one.headers for one in mock.requests)


# --- more than one turn ----------------------------------------------------------------------------------------------

LOOK: Json = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}


def assistant_of(events: list[Json]) -> Json:
    """The assistant's message with its tool calls, put together from an OpenAI stream."""
    calls: dict[int, Json] = {}
    for event in events:
        for choice in event["choices"] if event != "[DONE]" else []:
            for piece in choice["delta"].get("tool_calls", []):
                call = calls.setdefault(piece["index"], {"type": "function", "function": {"name": "", "arguments": ""}})
                call["id"] = piece.get("id", call.get("id"))
                call["function"]["name"] += piece["function"].get("name") or ""
                call["function"]["arguments"] += piece["function"].get("arguments") or ""
    return {"role": "assistant", "content": None, "tool_calls": list(calls.values())}


@STREAMS
@pytest.mark.parametrize(("provider", "model"), [("claude", "thinking-tools"), ("gemini", "gemini-3--thinking-tools")])
async def test_signed_thoughts_survive_a_caller_whose_dialect_has_no_place_for_them(
    start_server: StartServer, mock: Mock, provider: str, model: str, stream: bool
) -> None:
    server = await start_server({"default": call(provider, mock.origin)})
    caller = Caller("openai", server.origin)
    asked = {"role": "user", "content": "Look"}
    more: Json = {"tools": [LOOK], "max_tokens": 8000, "reasoning_effort": "low"}
    first = await caller.ask(model=model, stream=stream, messages=[asked], **more)
    assert first.status == 200, first.body
    said = assistant_of(first.events) if stream else first.json["choices"][0]["message"]
    results = [{"role": "tool", "tool_call_id": one["id"], "content": "Seen"} for one in said["tool_calls"]]
    assert len(results) == 2
    # The mock, like the vendor, refuses calls that come back without the signature that it gave out with them.
    second = await caller.ask(model=model, messages=[asked, said, *results], **more)
    assert second.status == 200, second.body
    assert "The tool said" in text_of("openai", second.json)


@EVERY
@STREAMS
async def test_a_raw_forward_before_the_answer_keeps_what_a_stream_adds_up_to(
    start_server: StartServer, mock: Mock, dialect: str, stream: bool
) -> None:
    pipeline = chain(
        {"id": "n1", "type": "RawForward", "config": {"base_url": mock.origin}},
        {"id": "n2", "type": "SetVars", "config": {"variables": [{"name": "A", "value": "It said: [[OUT1]]"}]}},
    )
    server = await start_server({"default": pipeline})
    got = await Caller(dialect, server.origin).ask(stream=stream)
    assert got.status == 200, got.body
    text = streamed_text(dialect, got.events) if stream else text_of(dialect, got.json)
    assert text == "It said: Hello from the mock."


@EVERY
@STREAMS
async def test_a_raw_forward_passes_an_upstreams_error_on_as_it_is(
    start_server: StartServer, mock: Mock, dialect: str, stream: bool
) -> None:
    server = await start_server({"default": chain({"id": "n1", "type": "RawForward", "config": {"base_url": mock.origin}})})
    got = await Caller(dialect, server.origin).ask(model="error-429", stream=stream)
    assert got.status == 429
    # Google says when to come back inside the body, the others in a header.
    assert got.headers.get("retry-after") == (None if dialect == "gemini" else "7")
    assert error_of(dialect, got.json) == "The mock was told to fail."


@EVERY
@STREAMS
async def test_a_failure_before_the_answer_is_a_proper_status(
    start_server: StartServer, mock: Mock, dialect: str, stream: bool
) -> None:
    pipeline = chain(
        {"id": "n1", "type": "ProviderCall", "config": {"provider": "openai", "base_url": mock.origin, "model": "error-404"}},
        {"id": "n2", "type": "ProviderCall", "config": {"provider": "openai", "base_url": mock.origin}},
    )
    server = await start_server({"default": pipeline})
    got = await Caller(dialect, server.origin).ask(stream=stream)
    assert got.status == 404
    assert error_of(dialect, got.json) == "The mock was told to fail."
    assert len(mock.requests) == 1


@EVERY
@STREAMS
async def test_an_optional_step_that_fails_does_not_stop_the_answer(
    start_server: StartServer, mock: Mock, dialect: str, stream: bool
) -> None:
    blocks = [
        {"kind": "text", "role": "system", "text": "Failed: {{ OUT.n1.error.status }}"},
        {"kind": "history"},
    ]
    failing = {"id": "n1", "type": "ProviderCall", "on_error": "continue"}
    pipeline = chain(
        {**failing, "config": {"provider": "openai", "base_url": mock.origin, "model": "error-404"}},
        {"id": "n2", "type": "ProviderCall", "config": {"provider": "openai", "base_url": mock.origin, "blocks": blocks}},
    )
    server = await start_server({"default": pipeline})
    got = await Caller(dialect, server.origin).ask(stream=stream)
    assert got.status == 200, got.body
    assert mock.last.body["messages"][0] == {"role": "system", "content": "Failed: 404"}


@EVERY
@STREAMS
@pytest.mark.parametrize("provider", ["openai", "claude", "gemini"])
async def test_out_and_answer_hold_for_odd_answers_too(
    start_server: StartServer, mock: Mock, dialect: str, stream: bool, provider: str
) -> None:
    server = await start_server({"default": call(provider, mock.origin)})
    for model in ("unicode", "tool", "tools", "refusal", "length", "usage", "extras", "empty-text"):
        await holds(server, dialect, provider, model, stream=stream)


async def holds(server: Server, dialect: str, provider: str, model: str, *, stream: bool) -> None:
    """Fail unless an answer of the mock's model and what its run kept of it belong together."""
    tools: Json = {
        "openai": [LOOK],
        "openai_responses": [{"type": "function", "name": "look", "parameters": {"type": "object"}}],
        "claude": [{"name": "look", "input_schema": {"type": "object"}}],
        "gemini": [{"functionDeclarations": [{"name": "look"}]}],
    }[dialect]
    got = await Caller(dialect, server.origin).ask(model=model, stream=stream, tools=tools)
    assert got.status == 200, got.body
    out = server.state.history.get(got.headers["x-agentui-run"]).out["n1"]
    assert set(out) == {"result", "response_text", "usage", "finish_reason", "tool_calls"}
    assert [one["name"] for one in out["tool_calls"]] == ["look"] * {"tool": 1, "tools": 2}.get(model, 0)
    if dialect == provider == "openai" and stream:
        # This caller did not ask for usage, and within one dialect nobody asks in its name.
        assert out["usage"] is None
    else:
        assert out["usage"]["total_tokens"] == out["usage"]["input_tokens"] + out["usage"]["output_tokens"]
    assert isinstance(out["result"], dict)


@pytest.mark.parametrize("upstream", ["openai", "openai_responses", "claude"])
async def test_cached_content_is_refused_where_another_vendor_answers(
    start_server: StartServer, mock: Mock, upstream: str
) -> None:
    server = await start_server({"default": call(upstream, mock.origin)})
    body = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}], "cachedContent": "cachedContents/1"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(
            f"{server.origin}/v1beta/models/m:generateContent", json=body, headers={"x-goog-api-key": API_KEY}
        ) as answer,
    ):
        assert answer.status == 400
        assert "cachedContent" in (await answer.json())["error"]["message"]
