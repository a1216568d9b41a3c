"""Streams of events: cutting them out of bytes, breaking off, going on, and leaving."""

import asyncio
import re
from typing import Any, NotRequired, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.jsonio import loads
from agentui.pipeline.events import EventType
from agentui.sdk import AsyncTavernClient, NotFound, StreamFailed, TavernClient, TavernConnectionError, feeds
from agentui.sdk.events import EventParser, RawEvent
from agentui.sdk.turnevents import ToolStep, TurnEvent
from tests.conftest import ROOT
from tests.sdk.scripted import CLOSE, END, SILENCE, STREAM, answer, event, part, refusal, scripted

STREAM_TEXT = (
    ': a comment\nid: 1\nevent: chunk\ndata: {"chunk": "a\u2028b"}\n\ndata: two\ndata:lines\n\nevent: nothing\n\n'
    "id: 2\ndata: last\nretry: 5\n\ndata: not ended"
)
EVENTS = [
    RawEvent("chunk", '{"chunk": "a\u2028b"}', "1"),
    RawEvent("message", "two\nlines", "1"),
    RawEvent("message", "last", "2"),
]


@given(st.sampled_from(["\n", "\r\n", "\r"]), st.lists(st.integers(1, 20), min_size=1))
def test_events_are_the_same_however_their_bytes_come(line_end: str, sizes: list[int]) -> None:
    data, parser, found, start = STREAM_TEXT.replace("\n", line_end).encode(), EventParser(), [], 0
    for number in range(len(data)):
        size = sizes[number % len(sizes)]
        found += list(parser.feed(data[start : start + size]))
        start += size
    assert found == EVENTS


def start_and_chunk() -> bytes:
    return event("start", '{"floor_id": "f"}') + event("chunk", '{"chunk": "Hel"}')


def test_a_turn_is_told_until_it_is_done() -> None:
    with scripted([STREAM, start_and_chunk(), event("done", '{"floor_id": "f"}'), SILENCE]) as server:
        with TavernClient(server.origin) as client:
            events = list(client.sessions.respond_stream("one", message="Hello!"))
        assert server.left.get()
    assert [each["type"] for each in events] == ["start", "chunk", "done"]
    assert server.asked[0].body == b'{"message":"Hello!"}'


def test_a_turn_that_fails_raises_what_the_server_says() -> None:
    failed = event("error", '{"code": "generation_conflict", "message": "Busy.", "details": {"branch_id": "main"}}')
    with (
        scripted([STREAM, start_and_chunk(), failed, END]) as server,
        TavernClient(server.origin) as client,
        pytest.raises(StreamFailed) as told,
    ):
        client.sessions.respond_stream("one", message="Hello!").result()
    assert (told.value.code, told.value.details) == ("generation_conflict", {"branch_id": "main"})
    assert told.value.event["type"] == "error"


@pytest.mark.parametrize("ending", [END, CLOSE], ids=["ended", "lost"])
def test_a_turn_that_breaks_off_is_no_answer(ending: bytes) -> None:
    with scripted([STREAM, start_and_chunk(), ending]) as server, TavernClient(server.origin) as client:
        stream = client.sessions.respond_stream("one", message="Hello!")
        with pytest.raises(TavernConnectionError):
            stream.result()
    assert len(server.asked) == 1


def test_leaving_a_stream_closes_its_connection() -> None:
    with scripted([STREAM, start_and_chunk(), SILENCE]) as server, TavernClient(server.origin) as client:
        with client.sessions.respond_stream("one", message="Hello!") as events:
            assert next(events)["type"] == "start"
        assert server.left.get()
        assert list(events) == []


async def test_leaving_a_stream_closes_its_connection_on_a_loop_too() -> None:
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    with scripted([STREAM, start_and_chunk(), SILENCE]) as server:
        async with AsyncTavernClient(server.origin) as client:
            async with client.sessions.respond_stream("one", message="Hello!") as events:
                assert (await anext(events))["type"] == "start"
            assert await asyncio.to_thread(server.left.get)
    assert complaints == []


async def test_the_events_of_a_turn_have_the_members_that_their_types_tell(origin: str) -> None:
    async with AsyncTavernClient(origin) as client:
        session = await client.sessions.create()
        events = [each async for each in client.sessions.respond_stream(session["id"], message="Hello!")]
    kinds = {get_args(get_type_hints(kind)["type"])[0]: get_type_hints(kind)["payload"] for kind in get_args(TurnEvent)}
    assert {each["type"] for each in events} == {"start", "run", "chunk", "done"}
    for each in events:
        always, ever = members(kinds[each["type"]])
        assert always <= each["payload"].keys() <= ever, each
    row = re.search(r"^\| `tool` \|(.*)$", (ROOT / "docs" / "chats.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert row is not None
    assert ToolStep.__annotations__.keys() <= set(re.findall(r"`(\w+)`", row[1]))


RUN = [event("run.started", "{}", "0") + event("node.started", "{}", "1"), event("run.finished", "{}", "2")]


@pytest.mark.parametrize("ending", [END, CLOSE], ids=["ended", "lost"])
def test_a_feed_goes_on_behind_its_last_event(ending: bytes) -> None:
    with scripted([STREAM, RUN[0], part("id: 2\nevent: half"), ending], [CLOSE], [STREAM, RUN[1], END]) as server:
        client = TavernClient(server.origin)
        found = [each["id"] for each in client.runs.stream_events("one", last_event_id="before")]
        client.close()
    assert found == ["0", "1", "2"]
    assert [asked.headers.get("last-event-id") for asked in server.asked] == ["before", "1", "1"]


@pytest.mark.parametrize("ending", [END, CLOSE], ids=["ended", "lost"])
async def test_a_feed_goes_on_behind_its_last_event_on_a_loop_too(ending: bytes) -> None:
    with scripted([STREAM, RUN[0], ending], [STREAM, RUN[1], END]) as server:
        async with AsyncTavernClient(server.origin) as client:
            found = [each["id"] async for each in client.runs.stream_events("one")]
    assert found == ["0", "1", "2"]


def test_a_feed_is_connected_as_soon_as_it_is_entered() -> None:
    with scripted([STREAM, RUN[0], CLOSE], [STREAM, RUN[1], END], refusal(404, "not_found")) as server:
        with TavernClient(server.origin) as client:
            stream = client.runs.stream_events("one")
            assert server.asked == []
            with stream:
                assert len(server.asked) == 1
                assert next(stream)["id"] == "0"
                with stream:  # which takes no event, and connects no second time
                    assert [each["id"] for each in stream] == ["1", "2"]
            with pytest.raises(NotFound), client.runs.stream_events("nobody"):
                pass
        assert len(server.asked) == 3


async def test_a_feed_is_connected_as_soon_as_it_is_entered_on_a_loop_too() -> None:
    with scripted([STREAM, RUN[0], CLOSE], [STREAM, RUN[1], END], refusal(404, "not_found")) as server:
        async with AsyncTavernClient(server.origin) as client:
            stream = client.runs.stream_events("one")
            assert server.asked == []
            async with stream:
                assert len(server.asked) == 1
                assert (await anext(stream))["id"] == "0"
                async with stream:
                    assert [each["id"] async for each in stream] == ["1", "2"]
            with pytest.raises(NotFound):
                async with client.runs.stream_events("nobody"):
                    pass
        assert len(server.asked) == 3


def test_a_feed_of_a_run_that_is_over_has_nothing_more() -> None:
    with scripted([b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n"]) as server, TavernClient(server.origin) as client:
        assert list(client.runs.stream_events("one", last_event_id="2")) == []


def test_a_feed_without_an_end_that_the_server_ends_says_so() -> None:
    change = event("change", "{}", "c-0")
    with scripted([STREAM, change, END], [CLOSE], [CLOSE]) as server, TavernClient(server.origin, retries=1) as client:
        changes = client.editor.stream_changes()
        assert next(changes)["type"] == "change"
        with pytest.raises(TavernConnectionError):
            next(changes)
    assert [asked.headers.get("last-event-id") for asked in server.asked] == [None, "c-0", "c-0"]


def test_a_feed_that_breaks_off_for_good_says_so() -> None:
    with scripted([CLOSE]) as server, TavernClient(server.origin, retries=0) as client, pytest.raises(TavernConnectionError):
        next(client.editor.stream_changes())
    assert len(server.asked) == 1


REQUEST: Any = {"path": "/v1/chat/completions", "body": {"stream": True}}
PIECE = '{"choices": [{"delta": {"content": "Hel"}}]}'
HEAD = STREAM.replace(b"connection:", b"x-agentui-run: run_1\r\nconnection:")


def test_an_answer_comes_in_the_events_of_its_dialect() -> None:
    with (
        scripted([HEAD, part(f"data: {PIECE}\n\n"), part("data: [DONE]\n\n"), END], answer(PIECE)) as server,
        TavernClient(server.origin) as client,
    ):
        stream = client.pipelines.run_stream(request=REQUEST, pipeline="mine")
        pieces = list(stream)
        assert (pieces, stream.run_id) == ([{"type": "message", "payload": loads(PIECE)}], "run_1")
        assert list(client.pipelines.run_stream(request=REQUEST)) == pieces
    assert loads(server.asked[0].body) == {"request": REQUEST, "pipeline": "mine"}


async def test_an_answer_comes_on_a_loop_too() -> None:
    with scripted([HEAD, event("message_start", '{"type": "message_start"}'), END], answer(PIECE)) as server:
        async with AsyncTavernClient(server.origin) as client:
            stream = client.pipelines.run_stream(request=REQUEST)
            assert [each["type"] async for each in stream] == ["message_start"]
            assert stream.run_id == "run_1"
            assert [each["payload"] async for each in client.pipelines.run_stream(request=REQUEST)] == [loads(PIECE)]


@pytest.mark.parametrize(
    "told",
    [
        'data: {"error": {"message": "Gone.", "type": "server_error", "code": "lost"}}',
        'event: error\ndata: {"type": "error", "error": {"type": "lost", "message": "Gone."}}',
        'data: {"type": "response.failed", "response": {"error": {"code": "lost", "message": "Gone."}}}',
        'data: {"error": {"code": "lost", "message": "Gone.", "status": "UNAVAILABLE"}}',
    ],
    ids=["openai", "claude", "responses", "gemini"],
)
def test_an_answer_that_fails_raises_what_its_dialect_says(told: str) -> None:
    with (
        scripted([HEAD, part(f"data: {PIECE}\n\n"), part(f"{told}\n\n"), END]) as server,
        TavernClient(server.origin) as client,
    ):
        stream = client.pipelines.run_stream(request=REQUEST)
        assert next(stream)["payload"]
        with pytest.raises(StreamFailed) as failed:
            next(stream)
    assert (failed.value.code, failed.value.message) == ("lost", "Gone.")


def test_an_answer_that_breaks_off_or_is_nobodys_says_so() -> None:
    with (
        scripted(
            [HEAD, part("data: words\n\n"), END],
            [HEAD, part('data: {"type": "response.failed", "response": 3}\n\n'), END],
            [HEAD, part(f"data: {PIECE}\n\n"), CLOSE],
            [HEAD, END],
        ) as server,
        TavernClient(server.origin) as client,
    ):
        for _ in range(3):
            with pytest.raises(TavernConnectionError):
                list(client.pipelines.run_stream(request=REQUEST))
        with pytest.raises(TavernConnectionError, match="is a stream"):
            client.pipelines.run(request=REQUEST)


def members(kind: Any) -> tuple[set[str], set[str]]:
    """The members that a TypedDict must have, and those that it may have."""
    hints = get_type_hints(kind, include_extras=True)
    return {name for name, member in hints.items() if get_origin(member) is not NotRequired}, set(hints)


async def test_the_events_of_feeds_have_the_members_that_their_types_tell(origin: str) -> None:
    assert get_args(feeds.StepType) == get_args(EventType)
    async with AsyncTavernClient(origin) as client:
        async with client.editor.stream_changes() as changes:
            first = await anext(changes)
        assert (first["type"], set(first["payload"])) == ("change", members(feeds.DocumentChange)[1])
        async with client.runs.stream_live(events="1") as live:
            asked = {"model": "demo-small", "messages": [{"role": "user", "content": "Hello!"}]}
            await client.pipelines.run(request={"path": "/v1/chat/completions", "body": asked})
            began = await anext(live)
        assert (began["type"], set(began["payload"])) == ("run", members(feeds.LiveRun)[1])
        steps = [each async for each in client.runs.stream_events(began["payload"]["run"])]
    always, ever = members(feeds.Step)
    for step in steps:
        assert step["type"] == step["payload"]["type"]
        assert always <= step["payload"].keys() <= ever


def test_a_feed_that_is_refused_is_not_opened_again() -> None:
    with scripted(refusal(404, "not_found")) as server, TavernClient(server.origin) as client, pytest.raises(NotFound):
        next(client.runs.stream_events("nobody"))
    assert len(server.asked) == 1
