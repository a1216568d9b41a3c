"""Callers who send or leave unread more than a server can hold: each is bounded, and everybody else is served."""

import asyncio
import gzip
import json
import sys
import time
import zlib
from contextlib import AsyncExitStack

import pytest

from agentui.http.limits import LIMITS
from agentui.jsonio import Json
from agentui.pipeline.run import Run
from tests.conftest import call
from tests.faults.callers import DIALECTS, Asked, ask, error_of, talking
from tests.faults.conftest import PATIENCE, House, StartHouse, forward, until
from tests.turns.house import chain, sets, text
from tests.unit.upstream.conftest import Bytes, Visit
from tests.upstreams.server import Mock

TOKEN = "let-me-in-0123456789"
JSON_TYPE = {"content-type": "application/json"}
MB = 1_000_000


def bomb(size: int) -> bytes:
    """About ``size`` compressed bytes that are a thousand times as many; they have no end."""
    machine = zlib.compressobj(9, zlib.DEFLATED, 31)
    head = machine.compress(b" ") + machine.flush(zlib.Z_FULL_FLUSH)
    block = machine.compress(bytes(MB)) + machine.flush(zlib.Z_FULL_FLUSH)  # stands for itself, however often
    return head + block * (size // len(block))


async def post(house: House, head: str, body: bytes, declared: int | None = None) -> tuple[int, bytes, bool]:
    """The status and the body of an answer to a request on a socket of its own, whose body is sent whatever is answered; and
    whether the connection was closed."""
    async with talking(house.origin) as (reader, writer), asyncio.timeout(PATIENCE):
        lines = f"POST {head}\r\nContent-Type: application/json\r\nContent-Length: {declared or len(body)}\r\n\r\n"
        writer.write(lines.encode())

        async def send() -> None:
            for start in range(0, len(body), 65536):
                writer.write(body[start : start + 65536])
                await writer.drain()

        sending = asyncio.ensure_future(send())
        answer = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next(int(line.split(":")[1]) for line in answer.split("\r\n") if line.lower().startswith("content-length"))
        said = await reader.readexactly(length)
        await asyncio.wait([sending])
        closes = "connection: close" in answer.lower()
        return int(answer.split(" ")[1]), said, closes


REFUSED = {
    "no token": ("/v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: gzip", 401),
    "a wrong token": ("/v1/messages HTTP/1.1\r\nHost: localhost\r\nx-api-key: wrong-token\r\nContent-Encoding: gzip", 401),
    "another name": ("/v1/messages HTTP/1.1\r\nHost: evil.example\r\nContent-Encoding: gzip", 421),
    "another origin": (
        "/v1/messages HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\nContent-Encoding: gzip",
        403,
    ),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_nothing_is_decompressed_for_who_may_not_come_in(start_house: StartHouse, mock: Mock, name: str) -> None:
    head, status = REFUSED[name]
    house = await start_house(mock.origin, token=TOKEN)
    data = bomb(2 * MB)
    refusals = []
    before = time.thread_time()
    for _ in range(3):
        told, body, closes = await post(house, head, data)
        assert told == status
        assert json.loads(body)["error"]
        refusals.append(closes)
    # Six gigabytes take a processor some six seconds.
    assert time.thread_time() - before < 1.5
    assert refusals == [True, True, True]
    assert house.server.app[LIMITS].body_bytes == 0


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "deflate", "identity", "GZIP"])
async def test_compressed_bodies_are_understood(house: House, mock: Mock, dialect: str, encoding: str) -> None:
    asked = ask(dialect)
    body = json.dumps(asked.body).encode()
    pack = {"identity": bytes, "deflate": zlib.compress}.get(encoding, gzip.compress)
    heard = await house.send(asked, data=pack(body), headers={**JSON_TYPE, "content-encoding": encoding})
    assert heard.status == 200, heard.body
    assert len(mock.requests) == 1


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "no such thing"])
async def test_an_encoding_that_cannot_be_undone_is_named(house: House, mock: Mock, encoding: str) -> None:
    heard = await house.send(ask("claude"), data=b"{}", headers={**JSON_TYPE, "content-encoding": encoding})
    assert heard.status == 415
    assert "content encoding" in error_of("claude", heard)["message"]
    assert mock.requests == []


async def test_a_body_of_many_small_files_is_refused(house: House) -> None:
    many = gzip.compress(b" ") * 20_000
    heard = await house.send(ask("openai"), data=many, headers={**JSON_TYPE, "content-encoding": "gzip"})
    assert heard.status == 400
    assert "files" in error_of("openai", heard)["message"]


async def test_uploads_that_stall_are_refused_together_and_given_up_one_by_one(start_house: StartHouse, mock: Mock) -> None:
    house = await start_house(mock.origin, max_bodies=4 * MB, body_timeout=1.5)
    head = b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9000000\r\n\r\n"
    limits = house.server.app[LIMITS]

    async def stall() -> int:
        async with talking(house.origin) as (reader, writer), asyncio.timeout(PATIENCE):
            writer.write(head + bytes(MB))
            answer = await reader.readuntil(b"\r\n")
            return int(answer.split(b" ")[1])

    statuses = sorted(await asyncio.gather(*(stall() for _ in range(8))))
    # Those that came in quickly bought no time for their silence.
    assert statuses.count(503) >= 4
    assert set(statuses) == {408, 503}
    await until(lambda: limits.body_bytes == 0)
    assert limits.hits["bodies"] == statuses.count(503)
    assert (await house.send(ask("claude"))).status == 200


async def test_a_body_alone_may_be_larger_than_all_together(start_house: StartHouse, mock: Mock) -> None:
    house = await start_house(mock.origin, max_bodies=1000)
    heard = await house.send(ask("openai", text="x" * 500_000))
    assert heard.status == 200


async def test_a_whole_answer_that_nobody_reads_counts_and_is_dropped(start_house: StartHouse, mock: Mock) -> None:
    large = chain(sets(("run", "much", "string", "much " * 100_000)), sets(text("[[much]]" * 14), id="says"))
    # Long enough for four answers to be made, before the first of them is dropped.
    house = await start_house(mock.origin, {"large": large}, write_timeout=4.0, max_bodies=24 * MB)
    limits = house.server.app[LIMITS]
    async with AsyncExitStack() as connections:
        for asked in map(ask, DIALECTS):
            _, writer = await connections.enter_async_context(talking(house.origin))
            writer.transport.pause_reading()  # type: ignore[attr-defined]  # a socket's transport can read
            body = json.dumps(asked.body).encode()
            head = f"POST /p/large{asked.path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        await until(lambda: limits.body_bytes > 24 * MB, PATIENCE)
        assert house.server.state.in_flight == len(DIALECTS)
        late = await house.send(ask("openai"))
        assert late.status == 503
        assert late.headers["retry-after"] == "1"
        await until(lambda: house.server.state.in_flight == 0, PATIENCE)
    assert limits.body_bytes == 0
    for asked in map(ask, DIALECTS):
        heard = await house.send(Asked(f"/p/large{asked.path}", asked.headers, asked.body))
        assert heard.status == 200
        assert heard.body.count(b"much ") == 1_400_000
        assert not heard.broken


async def test_a_large_answer_of_any_route_waits_for_its_reader(start_house: StartHouse, mock: Mock) -> None:
    document: Json = {**chain(sets(text("much " * 300_000), id="says")), "name": "large"}
    house = await start_house(mock.origin, {"large": document}, write_timeout=1.0)
    limits = house.server.app[LIMITS]
    async with talking(house.origin) as (_, writer):
        writer.transport.pause_reading()  # type: ignore[attr-defined]  # a socket's transport can read
        for _ in range(8):
            writer.write(b"GET /api/pipelines/large HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await until(lambda: limits.body_bytes > MB, PATIENCE)
        await until(lambda: limits.body_bytes == 0, PATIENCE)
    async with house.session.get(f"{house.origin}/api/pipelines/large") as answer:
        assert (await answer.text()).count("much ") == 300_000


def held_by(run: Run) -> int:
    """What a run of the history holds, each object once, without what all runs share."""
    known: set[int] = set()
    waiting: list[object] = [run.incoming.__dict__, run.out, run.frame.run_vars, [event.data for event in run.events.items]]
    size = 0
    while waiting:
        item = waiting.pop()
        if id(item) in known or isinstance(item, type) or item is run.incoming.vendors:
            continue
        known.add(id(item))
        size += sys.getsizeof(item)
        if isinstance(item, dict):
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, list | tuple):
            waiting += item
        elif callable(item) and (cells := getattr(item, "__closure__", None)) is not None:
            waiting += [cell.cell_contents for cell in cells]
    return size


DENSE = {
    "empty objects": [{}] * 60_000,
    "empty lists": [[]] * 60_000,
    "small objects": [{"a": number, str(number): []} for number in range(8000)],
    "nested": [[[[[[]]]]]] * 10_000,
    "texts": ["ab"] * 60_000,
    "one text": ["word " * 40_000],
}


@pytest.mark.parametrize("what", DENSE)
@pytest.mark.parametrize("way", ["kept", "passed", "forwarded"])
async def test_the_history_counts_what_it_holds(start_house: StartHouse, wild: Bytes, what: str, way: str) -> None:
    """And goes on holding no more when somebody has looked at it."""
    reply = json.dumps({"id": "c", "object": "chat.completion", "choices": [], "more": DENSE[what]}).encode()

    async def script(visit: Visit) -> None:
        await visit.answer(200, reply, Content_Type="application/json")

    wild.script = script
    whole, item = "{{ incoming.json }}", "{{ incoming.json.more }}"
    keeping = chain(sets(("run", "all", "json", whole), ("run", "more", "json", item)), sets(text("Done."), id="says"))
    pipelines = {"kept": keeping, "passed": call("openai", wild.url), "forwarded": forward(wild.url)}
    house = await start_house(wild.url, pipelines, run_history_bytes=10**9)
    asked = ask("openai")
    body = {**asked.body, "more": DENSE[what]} if way == "kept" else asked.body
    heard = await house.send(Asked(f"/p/{way}{asked.path}", asked.headers, body))
    assert heard.status == 200, heard.body[:300]
    history = house.server.state.history
    [summary] = history.list()
    run = history.get(summary.id)
    for path in ("", "/request"):
        async with house.session.get(f"{house.origin}/api/runs/{run.id}{path}") as shown:
            assert shown.status == 200
            await shown.read()
    held = held_by(run)
    assert held > 100_000
    assert 0.8 * held < history.bytes < 8 * held, (held, history.bytes)
