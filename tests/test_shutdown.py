"""A server that stops: what is under way may end, what takes too long is told so, and nobody else holds it up."""

import asyncio
import re
import signal
import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest

from agentui.api.keys import STOPPING
from agentui.jsonio import Json, dumps, loads
from agentui.serving.application import create_app
from agentui.serving.listener import Listener
from agentui.settings import Settings
from tests.api.callers import DIALECTS, Caller
from tests.campaigns.fork_server import Forked, forked
from tests.conftest import ServerState, StartServer, call
from tests.upstreams.server import API_KEY, Mock

PATIENCE = 20.0
"""Seconds after which a test that waits has failed."""
KEY = {"authorization": f"Bearer {API_KEY}"}


@dataclass
class House:
    """A server that its test stops."""

    listener: Listener
    origin: str
    state: ServerState
    folder: Path
    http: aiohttp.ClientSession

    async def stop(self, hurry: asyncio.Event | None = None) -> None:
        async with asyncio.timeout(PATIENCE):
            await self.listener.stop(hurry)

    def ask(self, model: str, *, stream: bool = True, **headers: str) -> "aiohttp.client._RequestContextManager":
        body = {"model": model, "stream": stream, "messages": [{"role": "user", "content": "Hello"}]}
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.http.post(f"{self.origin}/v1/chat/completions", json=body, headers={**KEY, **more})


@asynccontextmanager
async def house(folder: Path, mock: Mock, stop_seconds: float, **settings: Json) -> AsyncIterator[House]:
    (folder / "p").mkdir()
    (folder / "p" / "default.json").write_bytes(dumps(call("caller", mock.origin)))
    app = create_app(Settings(port=0, pipelines=folder / "p", presets=folder / "q", data=folder / "data", **settings))
    listener = Listener(app, stop_seconds=stop_seconds)
    origin = f"http://127.0.0.1:{await listener.start('127.0.0.1', 0)}"
    async with aiohttp.ClientSession() as http:
        try:
            yield House(listener, origin, ServerState(app), folder, http)
        finally:
            await listener.stop()


# --- what is under way -----------------------------------------------------------------------------------------------


async def test_a_stream_under_way_ends_whole_and_nobody_else_gets_in(tmp_path: Path, mock: Mock) -> None:
    async with house(tmp_path, mock, PATIENCE) as server:
        async with server.ask("hang-mid") as answer:
            first = await answer.content.readany()
            stopping = asyncio.create_task(server.stop())
            await refused(server.origin)
            assert not stopping.done()
            mock.release()
            rest = await answer.read()
        await stopping
    assert (first + rest).endswith(b"data: [DONE]\n\n")


async def refused(origin: str) -> None:
    """Wait until nobody is let in: of several workers the last one, too, has heard of the end."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                async with aiohttp.ClientSession() as http, http.get(f"{origin}/health"):
                    await asyncio.sleep(0.01)
            except aiohttp.ClientConnectorError:
                return
            except aiohttp.ClientConnectionError:
                continue  # one that stopped cut a connection that it had not taken yet


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_stream_that_takes_too_long_is_told_so_in_its_dialect(tmp_path: Path, mock: Mock, dialect: str) -> None:
    async with house(tmp_path, mock, 0.5) as server:
        caller = Caller(dialect, server.origin)
        url = server.origin + caller.path("forever", True)
        headers = {**caller.key_header()}
        body = caller.body("Hello", "forever", True)
        async with server.http.post(url, params={"alt": "sse"}, json=body, headers=headers) as answer:
            assert answer.status == 200
            text = await answer.content.readany()
            stopping = asyncio.create_task(server.stop())
            text += await answer.read()
        await stopping
        await mock.was_aborted()
        [run] = server.state.history.list()
    assert b"The server is stopping." in text
    assert not text.endswith(b"data: [DONE]\n\n")
    last = loads(text.decode().strip().rpartition("data: ")[2])
    assert "error" in dumps(last).decode()
    assert (run.state, run.error["code"]) == ("cancelled", "server_stopping")
    assert server.state.in_flight == 0


async def test_an_answer_that_has_not_begun_becomes_a_503(tmp_path: Path, mock: Mock) -> None:
    async with house(tmp_path, mock, 0.5) as server:
        asking = asyncio.create_task(whole(server.ask("hang", stream=False)))
        await mock.was_asked()
        await server.stop()
        status, headers, body = await asking
    assert (status, body["error"]["code"], headers["retry-after"]) == (503, "server_stopping", "1")


async def whole(asking: "aiohttp.client._RequestContextManager") -> tuple[int, Mapping[str, str], Json]:
    async with asking as answer:
        return answer.status, answer.headers.copy(), await answer.json()


async def test_the_turn_of_a_stream_that_is_cut_keeps_what_its_caller_heard(tmp_path: Path, mock: Mock) -> None:
    async with house(tmp_path, mock, 2.0) as server:
        async with server.ask("forever", x_agentui_session="s") as answer:
            await answer.content.readany()
            stopping = asyncio.create_task(server.stop())
            assert b"server_stopping" in await answer.read()
        await stopping
    with sqlite3.connect(tmp_path / "data" / "agentui.db") as db:
        assert db.execute("SELECT state FROM floors").fetchall() == [("committed",)]
        pages = db.execute("SELECT page_kind, is_partial FROM pages ORDER BY page_no").fetchall()
        assert pages == [("input", 0), ("output", 1)]
    db.close()


async def test_somebody_in_a_hurry_waits_for_nobody(tmp_path: Path, mock: Mock) -> None:
    hurry = asyncio.Event()
    async with house(tmp_path, mock, 1000.0) as server, server.ask("forever") as answer:
        await answer.content.readany()
        stopping = asyncio.create_task(server.stop(hurry))
        await refused(server.origin)
        assert not stopping.done()
        hurry.set()
        await stopping
        assert b"server_stopping" in await answer.read()


# --- what holds nobody up --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/api/runs/live", "/api/runs/live?events=1", "/api/changes", "/api/events"])
async def test_the_editors_live_streams_end_at_once(tmp_path: Path, mock: Mock, path: str) -> None:
    async with house(tmp_path, mock, 1000.0) as server, server.http.get(server.origin + path) as feed:
        assert feed.status == 200
        await server.stop()
        await feed.read()


async def test_idle_connections_close_at_once_while_a_stream_goes_on(tmp_path: Path, mock: Mock) -> None:
    async with house(tmp_path, mock, PATIENCE) as server, server.ask("hang-mid") as answer:
        await answer.content.readany()
        idle = []
        for request in (b"", b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"):
            reader, writer = await asyncio.open_connection("127.0.0.1", int(server.origin.rpartition(":")[2]))
            writer.write(request)
            if request:
                await reader.readuntil(b"\r\n\r\n")
            idle.append((reader, writer))
        # It is not only connected, but accepted.
        async with server.http.get(f"{server.origin}/health"):
            pass
        stopping = asyncio.create_task(server.stop())
        for reader, writer in idle:
            async with asyncio.timeout(PATIENCE):
                await reader.read()
            writer.close()
            await writer.wait_closed()
        assert not stopping.done()
        mock.release()
        await answer.read()
        await stopping


# --- readiness -------------------------------------------------------------------------------------------------------


async def readiness(origin: str) -> tuple[int, list[str], str]:
    """Status, the reasons' codes, and the whole text."""
    async with aiohttp.ClientSession() as http, http.get(f"{origin}/ready") as answer:
        text = await answer.text()
    body = loads(text)
    assert body["status"] == ("ready" if answer.status == 200 else "not_ready")
    return answer.status, [reason["code"] for reason in body["reasons"]], text


async def test_a_server_is_ready_and_says_so_without_a_token(start_server: StartServer, mock: Mock) -> None:
    server = await start_server({"default": call("openai", mock.origin)}, token="a-long-access-token")
    assert (await readiness(server.origin))[:2] == (200, [])


async def test_a_server_that_stops_is_alive_and_not_ready(start_server: StartServer, mock: Mock) -> None:
    server = await start_server({"default": call("openai", mock.origin)})
    server.app[STOPPING].set()
    assert (await readiness(server.origin))[:2] == (503, ["stopping"])
    async with aiohttp.ClientSession() as http, http.get(f"{server.origin}/health") as answer:
        assert answer.status == 200


@pytest.mark.parametrize("document", [None, {"format": 1, "name": "broken", "nodes": [{"id": "n1", "type": "Nonsense"}]}])
async def test_a_server_without_a_pipeline_that_serves_is_not_ready(start_server: StartServer, document: Json) -> None:
    server = await start_server({"default": document} if document else {})
    assert (await readiness(server.origin))[:2] == (503, ["no_active_pipeline"])


async def test_a_server_whose_database_is_away_is_not_ready_and_names_no_host(start_server: StartServer, mock: Mock) -> None:
    url = "postgresql://me:s3cret@127.0.0.1:9/nowhere"
    server = await start_server({"default": call("openai", mock.origin)}, database_url=url)
    for _ in range(2):
        status, reasons, text = await readiness(server.origin)
        assert (status, reasons) == (503, ["database_unreachable"])
        assert not re.search("s3cret|127\\.0|nowhere", text)
    async with aiohttp.ClientSession() as http, http.get(f"{server.origin}/health") as answer:
        assert (answer.status, (await answer.json())["database"]) == (200, "unreachable")


# --- processes -------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def process(folder: Path, mock: Mock, *options: str, **env: str) -> AsyncIterator[tuple[Forked, str]]:
    """``agentui serve``, and its origin."""
    (folder / "p").mkdir()
    (folder / "p" / "default.json").write_bytes(dumps(call("caller", mock.origin)))
    folders = [f"--{name}={folder / name[0]}" for name in ("pipelines", "data")] + [f"--presets={folder / 'q'}"]
    with forked("serve", "--port", "0", *folders, *options, **env) as running:
        hello = await asyncio.to_thread(running.hello, 4 * PATIENCE)
        yield running, hello.splitlines()[0].split()[-1]


def asking(http: aiohttp.ClientSession, origin: str, model: str) -> "aiohttp.client._RequestContextManager":
    body = {"model": model, "stream": True, "messages": [{"role": "user", "content": "Hello"}]}
    return http.post(f"{origin}/v1/chat/completions", json=body, headers=KEY)


@pytest.mark.parametrize(("name", "workers"), [("SIGTERM", "1"), ("SIGINT", "1"), ("SIGINT", "2")])
async def test_a_signal_waits_for_streams_and_a_second_one_does_not(
    tmp_path: Path, mock: Mock, name: str, workers: str
) -> None:
    stop = getattr(signal, name)
    async with (
        process(tmp_path, mock, f"--workers={workers}", AGENTUI_STOP_TIMEOUT="1000") as (server, origin),
        aiohttp.ClientSession() as http,
        asyncio.timeout(PATIENCE * 2),
        asking(http, origin, "forever") as answer,
    ):
        await answer.content.readany()
        server.send_signal(stop)
        if name == "SIGINT":
            while "Waiting for" not in server.err:  # noqa: ASYNC110  # a file tells nobody
                await asyncio.sleep(0.01)
            assert server.err.endswith("Waiting for 1 request to end; press Ctrl+C again to stop now.\n")
        await refused(origin)
        assert not server.is_over()
        server.send_signal(stop)
        assert b"server_stopping" in await answer.read()
        assert await asyncio.to_thread(server.wait, PATIENCE) == 0


async def test_a_process_cuts_what_takes_longer_than_it_was_told_to_wait(tmp_path: Path, mock: Mock) -> None:
    async with (
        process(tmp_path, mock, AGENTUI_STOP_TIMEOUT="0.1") as (server, origin),
        aiohttp.ClientSession() as http,
        asyncio.timeout(PATIENCE),
        asking(http, origin, "forever") as answer,
    ):
        await answer.content.readany()
        server.send_signal(signal.SIGTERM)
        assert b"server_stopping" in await answer.read()
        assert await asyncio.to_thread(server.wait, PATIENCE) == 0
