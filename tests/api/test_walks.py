"""Loops and called pipelines over the proxied routes, with models behind them."""

from agentui.jsonio import Json
from tests.api.callers import DIALECTS, Caller, is_whole, streamed_text, text_of
from tests.conftest import StartServer, call
from tests.upstreams.server import Mock, Step

COUNTING: Json = {
    "format": 1,
    "name": "counts",
    "nodes": [
        {"id": "zero", "type": "SetVars", "config": {"variables": [{"name": "n", "mode": "expr", "value": "0"}]}},
        {"id": "loop", "type": "Loop", "config": {"mode": "while", "condition": "n < 3", "join": " "}},
        {
            "id": "add",
            "type": "SetVars",
            "parent": "loop",
            "config": {"variables": [{"name": "n", "mode": "json", "value": "{{ n|add(1) }}"}]},
        },
    ],
    "edges": [{"from": "zero", "to": "loop"}],
}


def asking_each(mock: Mock) -> Json:
    """A pipeline that asks a model by each line of the question."""
    asks = {**call("openai", mock.origin, blocks=[{"role": "user", "text": "<{{ loop.item }}>"}])["nodes"][0], "parent": "each"}
    each = {"id": "each", "type": "Loop", "config": {"items": "chat.last_user", "join": "|"}}
    return {"format": 1, "name": "each", "nodes": [each, asks], "edges": []}


def calling(pipeline: str, **config: Json) -> Json:
    """A pipeline that calls another one."""
    node = {"id": "sub", "type": "SubPipeline", "config": {"pipeline": pipeline, **config}}
    return {"format": 1, "name": "calls", "nodes": [node], "edges": []}


async def test_loops_and_calls_answer_in_the_callers_dialect(start_server: StartServer, mock: Mock) -> None:
    server = await start_server(
        {
            "default": asking_each(mock),
            "counts": COUNTING,
            "model": call("openai", mock.origin),
            "calls": calling("model", message="Hear {{ chat.last_user }}"),
        }
    )
    caller = Caller("openai", server.origin)
    mock.script([Step(text="One"), Step(text="Two"), Step(text="Three")])
    got = await caller.ask("a\n\nb\nc")
    assert text_of("openai", got.json) == "One|Two|Three"
    assert [request.body["messages"][-1]["content"] for request in mock.requests] == ["<a>", "<b>", "<c>"]
    run = server.state.history.get(got.headers["x-agentui-run"])
    assert [event.node for event in run.events.items if event.type == "node.request"] == [f"each#{n}/n1" for n in (1, 2, 3)]
    counted = await Caller("claude", server.origin, prefix="/p/counts").ask()
    assert text_of("claude", counted.json) == "1 2 3"
    for dialect in DIALECTS:
        asks = Caller(dialect, server.origin, prefix="/p/calls")
        for stream in (True, False):
            mock.requests.clear()
            mock.script(Step(text=f"To {dialect}."))
            heard = await asks.ask("me", stream=stream)
            assert heard.status == 200, heard.body
            said = streamed_text(dialect, heard.events) if stream else text_of(dialect, heard.json)
            assert said == f"To {dialect}."
            assert not stream or is_whole(dialect, heard.events)
            (request,) = mock.requests
            assert request.body["messages"] == [{"role": "user", "content": "Hear me"}]
            assert bool(request.body.get("stream")) is stream
