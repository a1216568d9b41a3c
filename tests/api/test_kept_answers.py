"""Answers that a node keeps: who gets them again, in which shape, and which are never kept."""

import pytest

from agentui.jsonio import Json
from tests.api.callers import DIALECTS, Caller, Got, is_whole, streamed_text, text_of
from tests.conftest import StartServer, call
from tests.upstreams.server import API_KEY, Call, Mock, Step
from tests.upstreams.step import Tokens


def kept(mock: Mock, provider: str = "caller", **config: Json) -> Json:
    """A pipeline of one node that keeps its answers for an hour."""
    return call(provider, mock.origin, **{"cache_s": 3600, **config})


def state(got: Got) -> str | None:
    assert got.status == 200, got.body
    return got.headers.get("x-agentui-cache")


async def test_a_kept_answer_is_given_to_the_same_request_streamed_or_not(start_server: StartServer, mock: Mock) -> None:
    server = await start_server({"default": kept(mock), "far": kept(mock, "claude"), "off": call("caller", mock.origin)})
    for dialect in DIALECTS:
        for pipeline in ("default", "far"):
            caller = Caller(dialect, server.origin, prefix=f"/p/{pipeline}")
            mock.requests.clear()
            mock.script(Step(text=f"First to {dialect}.", tokens=Tokens(11, 7)))
            first = await caller.ask(f"By {dialect} over {pipeline}", stream=True)
            assert (state(first), len(mock.requests)) == ("miss", 1)
            again = await caller.ask(f"By {dialect} over {pipeline}", stream=True)
            whole = await caller.ask(f"By {dialect} over {pipeline}")
            assert (state(again), state(whole), len(mock.requests)) == ("hit", "hit", 1)
            assert is_whole(dialect, again.events)
            assert streamed_text(dialect, again.events) == text_of(dialect, whole.json) == f"First to {dialect}."
            assert int(whole.headers["age"]) >= 0
            assert state(await caller.ask(f"Else by {dialect} over {pipeline}")) == "miss"
    run = server.state.history.get(whole.headers["x-agentui-run"])
    assert run.out["n1"]["cache"] == "hit" and run.out["n1"]["usage"]["cache_read_tokens"] == 11
    (asked,) = [event.data for event in run.events.items if event.type == "node.request"]
    assert asked["cache"] == "hit"
    assert state(await Caller("openai", server.origin, prefix="/p/off").ask("Hi")) is None


async def test_what_no_model_reads_makes_no_other_request(start_server: StartServer, mock: Mock) -> None:
    server = await start_server({"default": kept(mock)})
    caller = Caller("openai", server.origin)
    assert state(await caller.ask("Hi", user="one")) == "miss"
    assert state(await caller.ask("Hi", user="two", stream=True, stream_options={"include_usage": True})) == "hit"
    assert state(await caller.ask("Hi", temperature=0.5)) == "miss"
    assert state(await caller.ask("Hi", "gpt--text")) == "miss"


async def test_a_request_may_go_past_the_cache_or_renew_it(start_server: StartServer, mock: Mock) -> None:
    server = await start_server({"default": kept(mock)})

    async def ask(told: str) -> Got:
        headers = {"x-agentui-cache": told} if told else {}
        return await Caller("openai", server.origin, headers=headers).ask("Hi")

    mock.script([Step(text="One"), Step(text="Two"), Step(text="Three")])
    for told, expected, text in [
        ("", "miss", "One"),
        ("bypass", "bypass", "Two"),
        ("", "hit", "One"),
        ("refresh", "miss", "Three"),
        ("", "hit", "Three"),
    ]:
        got = await ask(told)
        assert (state(got), text_of("openai", got.json)) == (expected, text)
    wrong = await ask("never")
    assert (wrong.status, wrong.json["error"]["param"]) == (400, "x-agentui-cache")


async def test_others_get_only_what_is_kept_for_everybody(start_server: StartServer, mock: Mock) -> None:
    headers = {"authorization": "Bearer [[SECRET:own]]"}
    server = await start_server(
        {
            "caller": kept(mock, headers=headers),
            "global": kept(mock, headers=headers, cache_for="global"),
            "session": kept(mock, headers=headers, cache_for="session"),
        },
        secret_env={"AGENTUI_SECRET_OWN": API_KEY},
    )
    for pipeline, expected in [("caller", ["miss", "miss", "hit"]), ("global", ["miss", "hit", "hit"])]:
        callers = [Caller("openai", server.origin, key=key, prefix=f"/p/{pipeline}") for key in ("mine", "yours", "mine")]
        assert [state(await caller.ask("Hi")) for caller in callers] == expected
    for alone in [
        Caller("openai", server.origin, prefix="/p/session"),
        Caller("openai", server.origin, key="", prefix="/p/caller"),
    ]:
        assert [state(await alone.ask("Hi")) for _ in range(2)] == ["bypass", "bypass"]


async def test_headers_that_a_node_writes_tell_requests_apart(start_server: StartServer, mock: Mock) -> None:
    headers = {"x-variant": "[[VAR:incoming.headers.x-variant]]"}
    server = await start_server({"default": kept(mock, headers=headers, cache_for="global")})
    callers = [Caller("openai", server.origin, headers={"x-variant": variant}) for variant in ("a", "b", "a")]
    assert [state(await caller.ask("Hi")) for caller in callers] == ["miss", "miss", "hit"]


@pytest.mark.parametrize(
    "step",
    [
        Step(text="cut", finish="length"),
        Step(text="held", finish="content_filter"),
        Step(text="long enough to break off here", cut="reset", cut_after=4),
        Step(text="", calls=(Call("look"),)),
    ],
)
async def test_nothing_unfinished_is_kept(start_server: StartServer, mock: Mock, step: Step) -> None:
    server = await start_server({"default": kept(mock)})
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}]
    for _ in range(2):
        mock.script(step)
        got = await Caller("openai", server.origin).ask("Hi", stream=True, tools=tools)
        assert state(got) == "miss"
    assert len(mock.requests) == 2 and len(server.state.services.answers) == 0


async def test_calls_are_kept_where_a_node_says_so_and_targets_have_each_their_own(
    start_server: StartServer, mock: Mock
) -> None:
    rows: list[Json] = [{"name": "a", "model": "error-401"}, {"name": "b", "model": "text"}]
    server = await start_server(
        {"calls": kept(mock, cache_tool_calls=True, tools=["roll_dice"]), "targets": kept(mock, targets=rows)}
    )
    roll = Step(text="", calls=(Call("roll_dice", '{"notation": "1d1"}', "call_1"),))
    mock.script([roll, Step(text="You rolled.")])
    caller = Caller("claude", server.origin, prefix="/p/calls")
    for _ in range(2):
        assert text_of("claude", (await caller.ask("Roll")).json) == "You rolled."
    assert len(mock.requests) == 2
    mock.requests.clear()
    caller = Caller("claude", server.origin, prefix="/p/targets")
    found = [await caller.ask("Hi", stream=stream) for stream in (True, False, True)]
    assert [(state(got), got.headers["x-agentui-target"]) for got in found] == [("miss", "b"), ("hit", "b"), ("hit", "b")]
    assert [request.body["model"] for request in mock.requests] == ["error-401", "text", "error-401", "error-401"]
