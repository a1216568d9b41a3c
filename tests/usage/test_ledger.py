"""Every request that an upstream gets is a row of the ledger, whichever way it went out."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

import pytest
from aiohttp import ClientSession

from agentui.api.keys import METER, STORE
from agentui.jsonio import Json, loads
from agentui.pipeline.metering import FRAME_TOKENS, Outcome, Purpose
from agentui.usage.ledger import Basis
from tests.api.callers import DIALECTS, streamed_text
from tests.conftest import ROOT, StartServer, call
from tests.turns.house import House, chain, target
from tests.upstreams.server import API_KEY, Mock, Step
from tests.upstreams.step import Call, Tokens
from tests.usage.conftest import StartHouse, ledger

TOLD = Tokens(input=100, output=20, cache_read=40, reasoning=5)


def routed(mock: Mock, *rows: Json, **config: Json) -> Json:
    """A node with these targets."""
    return call("caller", mock.origin, targets=[{"base_url": mock.origin, **row} for row in rows], **config)


def ways(mock: Mock) -> Mapping[str, Json]:
    """Pipelines that call more than once, or in another way than ``plain``."""
    return {
        "falls": routed(mock, {"name": "one"}, {"name": "two"}),
        "races": routed(mock, {"name": "one"}, {"name": "two"}, strategy="race"),
        "tools": call("openai", mock.origin, tools=["roll_dice"]),
        "twice": chain(target("openai", mock.origin), {**target("claude", mock.origin), "id": "second"}),
    }


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"], indirect=True)
async def test_every_request_that_goes_out_is_a_row(start_house: StartHouse, mock: Mock, prices: Path) -> None:
    house = await start_house(dict(ways(mock)), usage=True, prices=prices)
    for dialect in DIALECTS:
        for pipeline in ("plain", "claude", "raw"):
            for stream in (False, True):
                if pipeline != "claude" or dialect != "claude":
                    await house.turn(dialect=dialect, pipeline=pipeline, stream=stream)
    await house.turn(pipeline="twice")
    mock.script([Step(status=500), Step()])
    await house.turn(pipeline="plain")  # an attempt that is made again
    mock.script([Step(status=401), Step()])
    await house.turn(pipeline="falls")
    await house.turn(pipeline="races", stream=True)
    mock.script([Step(calls=(Call("roll_dice", "{}"),)), Step()])
    await house.turn(pipeline="tools")
    mock.script(Step(status=400))
    assert (await house.ask()).status == 400
    caller = house.caller()
    assert (await caller.post("/v1/embeddings", {"model": "text", "input": "Hello"})).status == 200
    claude = house.caller("claude")
    counted = {"model": "text", "messages": [{"role": "user", "content": "Hello"}]}
    assert (await claude.post("/v1/messages/count_tokens", counted)).status == 200
    await caller.get("/v1/files")
    await caller.post("/v1/moderations", {"input": "Hello"})
    await house.turn(session="chat")
    await mock.is_idle()

    rows = await ledger(house)
    assert len(rows) == len(mock.requests) > 30
    assert {row.account_id for row in rows} == {"default-admin"}
    assert {row.vendor for row in rows} == set(DIALECTS)
    assert {row.operation for row in rows} == {"chat", "embeddings", "count_tokens", "forward"}
    assert [row.session_id is not None for row in rows].count(True) == 1
    assert {row.outcome for row in rows} >= {"answered", "refused"}
    assert all(row.price_nano == 0 for row in rows if row.outcome == "refused" or row.operation == "count_tokens")
    assert all(row.host == mock.origin.removeprefix("http://") for row in rows)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_tokens_are_those_that_the_provider_told(start_house: StartHouse, mock: Mock, prices: Path) -> None:
    house = await start_house(usage=True, prices=prices)
    mock.play(lambda _: Step(tokens=TOLD))
    for dialect in DIALECTS:
        for pipeline in ("plain", "claude"):
            for stream in (False, True):
                await house.turn(dialect=dialect, pipeline=pipeline, stream=stream)
    rows = await ledger(house)
    assert {(row.input_tokens, row.output_tokens, row.cache_read_tokens) for row in rows} == {(100, 20, 40)}
    assert {row.price_nano for row in rows} == {100 * 1000 + 20 * 2000}
    assert {(row.basis, row.outcome, row.purpose, row.status) for row in rows} == {("told", "answered", "answer", 200)}


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_stream_is_asked_for_its_tokens_and_its_caller_does_not_see_it(
    start_house: StartHouse, mock: Mock, prices: Path
) -> None:
    counted = await start_house(usage=True, prices=prices)
    mock.script([Step("One two three", tokens=TOLD)] * 2)
    got = await counted.turn(stream=True)
    assert mock.last.body["stream_options"] == {"include_usage": True}
    assert all(event == "[DONE]" or (event["choices"] and not event.get("usage")) for event in got.events)
    assert streamed_text("openai", got.events) == "One two three"
    asked = await counted.caller().ask(stream=True, stream_options={"include_usage": True})
    assert [event["usage"]["prompt_tokens"] for event in asked.events if event != "[DONE]" and event.get("usage")] == [100]
    assert [row.basis for row in await ledger(counted)] == ["told", "told"]


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_what_nobody_told_is_estimated_from_above(start_house: StartHouse, mock: Mock, prices: Path) -> None:
    house = await start_house(usage=True, prices=prices)
    untold = await house.caller().ask(stream=True, stream_options={"include_usage": False}, max_tokens=50)
    assert untold.status == 200
    mock.script(Step(forever=True, pause=0.001))
    caller = house.caller()
    body = caller.body("Hello", "text", stream=True, max_tokens=50)
    url = f"{house.server.origin}/p/plain/v1/chat/completions"
    async with ClientSession(headers=caller.key_header()) as http, http.post(url, json=body) as answer:
        await answer.content.readany()
    await mock.was_aborted()
    await asyncio.wait_for(_ends(house, 2), 30)
    whole, left = await ledger(house)
    assert (whole.basis, whole.outcome, left.basis, left.outcome) == ("estimated", "answered", "estimated", "left")
    for row, sent in zip((whole, left), mock.requests, strict=True):
        assert (row.input_tokens, row.output_tokens) == (len(sent.raw) + FRAME_TOKENS, 50)
        assert row.price_nano == (len(sent.raw) + FRAME_TOKENS) * 1000 + 50 * 2000


async def _ends(house: House, rows: int) -> None:
    while len(await ledger(house)) < rows:  # noqa: ASYNC110  # the server tells nobody
        await asyncio.sleep(0.01)


async def test_nothing_is_counted_or_opened_where_nobody_asked(start_server: StartServer, mock: Mock) -> None:
    server = await start_server({"default": call("caller", mock.origin)})
    caller = House(server, mock, None).caller(pipeline="default")  # type: ignore[arg-type]  # it has no memory
    assert (await caller.ask(stream=True)).status == 200
    assert "stream_options" not in mock.last.body
    assert not server.app[STORE].opened.is_set()
    assert not (server.data / "agentui.db").exists()


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_server_that_stops_loses_no_row(start_house: StartHouse, mock: Mock, prices: Path) -> None:
    house = await start_house(usage=True, prices=prices)
    await house.turn()
    meter = house.server.app[METER]
    await meter.close()
    assert not meter.writer.waiting
    assert len(await ledger(house)) == len(mock.requests) == 1


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_director_verifier_and_tools_are_told_apart(start_house: StartHouse, mock: Mock, prices: Path) -> None:
    chat = chain(target("openai", mock.origin, model="text", headers={"Authorization": f"Bearer {API_KEY}"}))
    house = await start_house({"chat": chat}, usage=True, prices=prices, director_pipeline="chat", verifier_pipeline="chat")
    _, made = await house.memory.call("POST", "/sessions", {"title": "Chat", "pipeline_id": "chat"})
    session = made["data"]["id"]
    body = {"message": "Hello", "config": {"enableDirector": True, "enableVerifier": True}}
    status, answered = await house.memory.call("POST", f"/sessions/{session}/respond", body)
    assert status == 200, answered
    rows = await ledger(house)
    assert {row.purpose for row in rows} == {"director", "answer", "verifier"}
    assert {row.session_id for row in rows} == {session}


def test_the_page_has_words_for_what_a_row_says_in_every_language() -> None:
    """What a call was for, what came of it where that is not an answer, and whence its tokens are known."""
    said = {"purpose": get_args(Purpose), "outcome": {*get_args(Outcome), "lost"} - {"answered"}, "basis": get_args(Basis)}
    for locale in ("en", "ru", "zh"):
        words = loads((ROOT / f"static/locales/{locale}/usage.json").read_bytes())
        for field, values in said.items():
            assert {f"usage.{field}.{value}" for value in values} == {
                name for name in words if name.startswith(f"usage.{field}.")
            }
