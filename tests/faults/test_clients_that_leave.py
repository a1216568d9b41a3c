"""Callers who leave or do not read: the upstream is let go or held, nothing is tried again, nothing stays behind (C1, C2)."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from agentui.jsonio import dumps
from agentui.serving.application import create_app
from agentui.serving.listener import Listener
from agentui.settings import Settings
from tests.conftest import ServerState, call
from tests.faults.callers import Asked, Route, ask, asking, looks_finished, routes, talking
from tests.faults.conftest import KINDS, PATIENCE, House, StartHouse, until
from tests.faults.speech import PIECE, streamed
from tests.unit.upstream.conftest import Bytes, Visit
from tests.upstreams.server import Mock, Step


@asynccontextmanager
async def nothing_left_behind(house: House) -> AsyncIterator[None]:
    """What runs before runs after, and nothing else."""
    before = asyncio.all_tasks()
    yield
    await house.is_quiet()
    await no_task_beyond(before)


async def no_task_beyond(before: set["asyncio.Task[object]"]) -> None:
    """Wait until no other tasks run than before, but for those that wait for the next request on a kept connection."""
    await until(lambda: not [task for task in asyncio.all_tasks() - before if "RequestHandler.start" not in repr(task)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", ["hang", "hang-mid", "forever"])
async def test_who_leaves_takes_the_upstream_along(house: House, mock: Mock, model: str, kind: str) -> None:
    for number, route in enumerate(routes(kind), 1):
        async with nothing_left_behind(house):
            async with asking(house.origin, house.at(route, ask(route.caller, model, stream=route.stream))) as (reader, _):
                async with asyncio.timeout(PATIENCE):
                    await mock.was_asked(number)
                    if model == "forever" and route.stream:
                        await reader.readuntil(b"again")
            async with asyncio.timeout(PATIENCE):
                await mock.was_aborted(number)
                await mock.is_idle()
    assert len(mock.requests) == len(routes(kind))
    assert house.run_states() == {"cancelled"}


@pytest.mark.parametrize("kind", KINDS)
async def test_who_leaves_with_a_reset_takes_the_upstream_along(house: House, mock: Mock, kind: str) -> None:
    route = Route("claude", kind, stream=True)
    async with nothing_left_behind(house):
        async with asking(house.origin, house.at(route, ask("claude", "forever", stream=True))) as (reader, writer):
            await reader.readuntil(b"again")
            linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        async with asyncio.timeout(PATIENCE):
            await mock.was_aborted()
    assert house.run_states() == {"cancelled"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["reset", "half close"])
@pytest.mark.parametrize("model", ["hang", "hang-mid"])
async def test_however_one_leaves_in_whatever_silence_the_upstream_goes_along(
    house: House, mock: Mock, model: str, how: str, kind: str
) -> None:
    for number, route in enumerate(routes(kind), 1):
        async with nothing_left_behind(house):
            async with asking(house.origin, house.at(route, ask(route.caller, model, stream=route.stream))) as (_, writer):
                async with asyncio.timeout(PATIENCE):
                    await mock.was_asked(number)
                if how == "reset":
                    linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
                    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                else:
                    writer.write_eof()
                    async with asyncio.timeout(PATIENCE):
                        await mock.was_aborted(number)
            async with asyncio.timeout(PATIENCE):
                await mock.was_aborted(number)
                await mock.is_idle()
    assert len(mock.requests) == len(routes(kind))
    assert house.run_states() == {"cancelled"}


@pytest.mark.parametrize("kind", KINDS)
async def test_who_leaves_between_two_attempts_stops_the_next_one(house: House, mock: Mock, kind: str) -> None:
    mock.script([Step(status=429, retry_after=4)])
    route = Route("openai", kind, stream=False)
    async with nothing_left_behind(house):
        async with asking(house.origin, house.at(route, ask("openai"))), asyncio.timeout(PATIENCE):
            await mock.was_asked()
            await mock.is_idle()
        await house.is_quiet()
    assert len(mock.requests) == 1
    assert house.run_states() == {"cancelled"}


async def test_who_leaves_stops_every_node_of_the_pipeline(start_house: StartHouse, mock: Mock) -> None:
    config = {"provider": "openai", "base_url": mock.origin}
    nodes = [{"id": id, "type": "ProviderCall", "config": config} for id in ("one", "two", "three")]
    edges = [{"from": "one", "to": "three"}, {"from": "two", "to": "three"}]
    wide = {"format": 1, "name": "wide", "nodes": nodes, "edges": edges, "answer": "three"}
    house = await start_house(mock.origin, {"wide": wide})
    asked = ask("openai", "hang")
    async with nothing_left_behind(house):
        async with asking(house.origin, Asked(f"/p/wide{asked.path}", asked.headers, asked.body)), asyncio.timeout(PATIENCE):
            await mock.was_asked(2)
        async with asyncio.timeout(PATIENCE):
            await mock.was_aborted(2)
    assert len(mock.requests) == 2
    assert house.run_states() == {"cancelled"}


async def test_who_leaves_while_writing_a_question_leaves_nothing(house: House, mock: Mock) -> None:
    for framing in (b"Content-Length: 20000\r\n\r\n{", b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"):
        async with nothing_left_behind(house), talking(house.origin) as (_, writer):
            writer.write(b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + framing)
            await until(lambda: house.server.state.in_flight, PATIENCE)
    assert mock.requests == []


async def test_ninety_who_leave_at_any_moment_leave_nothing(house: House, mock: Mock, caplog: pytest.LogCaptureFixture) -> None:
    async def come_and_go(number: int) -> None:
        route = routes(KINDS[number % 3])[number % 8]
        model = ("forever", "hang", "hang-mid")[number % 5 % 3]
        async with asking(house.origin, house.at(route, ask(route.caller, model, stream=route.stream))) as (reader, _):
            if number % 7 == 0:
                return
            await mock.was_asked(1)
            if model == "forever" and route.stream:
                await reader.readexactly(number)

    async with nothing_left_behind(house):
        await asyncio.gather(*(come_and_go(number) for number in range(90)))
        await house.is_quiet()
        async with asyncio.timeout(PATIENCE):
            await mock.is_idle()
    assert house.run_states() <= {"cancelled"}
    assert [record.getMessage() for record in caplog.records if record.levelname != "DEBUG"] == []


@pytest.mark.parametrize("kind", ["same", "raw", "beside-another-node"])
async def test_a_caller_who_reads_nothing_for_too_long_is_dropped(start_house: StartHouse, wild: Bytes, kind: str) -> None:
    answering = {"id": "answers", "type": "ProviderCall", "config": {"base_url": wild.url}}
    nodes = [{"id": "sets", "type": "SetVars", "config": {}}, answering]
    beside = {"format": 1, "name": "beside", "nodes": nodes, "edges": [], "answer": "answers"}
    house = await start_house(wild.url, {"beside-another-node": beside}, write_timeout=0.2, heartbeat=0.1)
    chunk = b'data: {"choices":[{"index":0,"delta":{"content":"' + b"x" * 60_000 + b'"}}]}\n\n'

    async def script(visit: Visit) -> None:
        await visit.say(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        while True:
            await visit.say(chunk)

    wild.script = script
    asked = ask("openai", stream=True)
    headers = {**asked.headers, "x-agentui-pipeline": kind}
    async with asking(house.origin, Asked(asked.path, headers, asked.body)) as (reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.transport.pause_reading()  # type: ignore[attr-defined]  # a socket's transport can read
        async with asyncio.timeout(PATIENCE):
            await wild.aborted.wait()
        await house.is_quiet()
    assert house.run_states() == {"cancelled"}


def one_event_of(path: str) -> tuple[bytes, bytes]:
    """What comes before the words of a stream in this path's dialect, and a large event that may be said again and again."""
    before, _, rest = streamed(path, "#" * PIECE).partition(b"#" * PIECE)
    begin, gap, head = before.rpartition(b"\n\n")
    return begin + gap, head + b"x" * 60_000 + rest.partition(b"\n\n")[0] + b"\n\n"


async def test_every_kind_of_caller_who_does_not_read_holds_the_upstream_and_is_then_dropped(
    start_house: StartHouse, wild: Bytes
) -> None:
    house = await start_house(wild.url, write_timeout=0.8, heartbeat=0.1)
    took: list[int] = []

    async def script(visit: Visit) -> None:
        taken = 0
        visit.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 64 * 1024)
        begin, event = one_event_of(visit.head.split(b" ")[1].decode())
        await visit.say(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n", begin)
        try:
            while True:
                await visit.say(event)
                taken += len(event)
        finally:
            took.append(taken)

    wild.script = script
    ways = [route for kind in KINDS for route in routes(kind) if route.stream]
    async with AsyncExitStack() as callers:
        for route in ways:
            asked = house.at(route, ask(route.caller, stream=True))
            reader, writer = await callers.enter_async_context(asking(house.origin, asked))
            await reader.readuntil(b"\r\n\r\n")
            writer.transport.pause_reading()  # type: ignore[attr-defined]  # a socket's transport can read
        await until(lambda: len(took) == len(ways))
        await house.is_quiet()
    # What the kernel's buffers take, and no more, however long nobody reads. Towards the caller alone they would take 4 MB if
    # nobody limited them.
    assert max(took) < 3_000_000
    assert house.run_states() == {"cancelled"}


@pytest.mark.parametrize(
    ("dialect", "beat"),
    [("openai", b": keep-alive\n\n"), ("openai_responses", b": keep-alive\n\n"), ("claude", b"event: ping\n")],
)
async def test_a_silent_stream_is_kept_alive_and_then_goes_on(
    start_house: StartHouse, mock: Mock, dialect: str, beat: bytes
) -> None:
    house = await start_house(mock.origin, heartbeat=0.05)
    route = Route(dialect, "same", stream=True)
    mock.script(Step(hold=4))
    async with asking(house.origin, house.at(route, ask(dialect, stream=True))) as (reader, _), asyncio.timeout(PATIENCE):
        # Claude's upstream sends one of its own.
        await reader.readuntil(beat)
        await reader.readuntil(beat)
        mock.release()
        rest = b""
        while not looks_finished(dialect, rest):
            rest += await reader.read(2**16)
    await house.is_quiet()


async def test_a_server_that_stops_breaks_its_streams_off(mock: Mock, tmp_path: Path) -> None:
    (tmp_path / "default.json").write_bytes(dumps(call("caller", mock.origin)))
    app = create_app(Settings(port=0, pipelines=tmp_path, presets=tmp_path / "presets", data=tmp_path / "data"))
    listener = Listener(app, stop_seconds=0.05)
    origin = f"http://127.0.0.1:{await listener.start('127.0.0.1', 0)}"
    async with asking(origin, ask("openai", "forever", stream=True)) as (reader, _):
        await reader.readuntil(b"again")
        async with asyncio.timeout(PATIENCE):
            await listener.stop()
            await mock.was_aborted()
            with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
                while True:
                    await reader.readuntil(b"again")
    assert ServerState(app).in_flight == 0
