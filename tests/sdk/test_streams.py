"""Streams of events: cutting them out of bytes, breaking off, going on, and leaving."""

import asyncio
import re
from typing import Any, NotRequired, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.sdk import AsyncTavernClient, NotFound, StreamFailed, TavernClient, TavernConnectionError
from agentui.sdk.events import EventParser, RawEvent
from agentui.sdk.turnevents import ToolStep, TurnEvent
from tests.conftest import ROOT
from tests.sdk.scripted import CLOSE, END, SILENCE, STREAM, event, part, refusal, scripted

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
        members = get_type_hints(kinds[each["type"]], include_extras=True)
        always = {name for name, member in members.items() if get_origin(member) is not NotRequired}
        assert always <= each["payload"].keys() <= members.keys(), each
    row = re.search(r"^\| `tool` \|(.*)$", (ROOT / "docs" / "chats.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert row is not None
    assert ToolStep.__annotations__.keys() <= set(re.findall(r"`(\w+)`", row[1]))


RUN = [event("run.started", "{}", "0") + event("node.started", "{}", "1"), event("run.finished", "{}", "2")]


def test_a_feed_goes_on_behind_its_last_event() -> None:
    with scripted([STREAM, RUN[0], part("id: 2\nevent: half"), CLOSE], [CLOSE], [STREAM, RUN[1], END]) as server:
        client = TavernClient(server.origin)
        found = [each["id"] for each in client.runs.stream_events("one", last_event_id="before")]
        client.close()
    assert found == ["0", "1", "2"]
    assert [asked.headers.get("last-event-id") for asked in server.asked] == ["before", "1", "1"]


async def test_a_feed_goes_on_behind_its_last_event_on_a_loop_too() -> None:
    with scripted([STREAM, RUN[0], CLOSE], [STREAM, RUN[1], END]) as server:
        async with AsyncTavernClient(server.origin) as client:
            found = [each["id"] async for each in client.runs.stream_events("one")]
    assert found == ["0", "1", "2"]


def test_a_feed_that_breaks_off_for_good_says_so() -> None:
    with scripted([CLOSE]) as server, TavernClient(server.origin, retries=0) as client, pytest.raises(TavernConnectionError):
        next(client.editor.stream_changes())
    assert len(server.asked) == 1


def test_a_feed_that_is_refused_is_not_opened_again() -> None:
    with scripted(refusal(404, "not_found")) as server, TavernClient(server.origin) as client, pytest.raises(NotFound):
        next(client.runs.stream_events("nobody"))
    assert len(server.asked) == 1
