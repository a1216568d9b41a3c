"""Several workers are one server, whichever of them a connection reaches."""

import asyncio
import os
import re
import shutil
import signal
import socket
import stat
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest

from agentui.api.keys import TURNS
from agentui.http.worker_group import WorkerGroup
from agentui.jsonio import Json, dumps, loads
from agentui.serving.application import create_app
from agentui.serving.stopping import CommandError
from agentui.serving.supervisor import FIRST_PAUSE, MAX_DEATHS, held_port
from agentui.settings import Settings
from tests.api.editor_client import say
from tests.campaigns.fork_server import Forked, forked
from tests.campaigns.process import serving as executing
from tests.conftest import call
from tests.test_cli import agentui, assert_refused
from tests.test_shutdown import refused
from tests.turns.house import Memory, chain, sets, target
from tests.upstreams.server import API_KEY, Mock

if not hasattr(socket, "SO_REUSEPORT"):
    pytest.skip("this system shares no ports", allow_module_level=True)

PATIENCE = 120.0
"""Seconds after which a test that waits has failed: starting several processes takes long on a busy machine."""
OFTEN = 12
"""So many new connections all reach the same one of two workers once in two thousand times."""
KEY = {"authorization": f"Bearer {API_KEY}"}
HELLO = [{"role": "user", "content": "Hello"}]

WORKERS = 3
"""Of the shared server."""

pytestmark = pytest.mark.timeout(300)


@dataclass
class Process:
    """``agentui serve --workers N``, ready."""

    supervisor: Forked
    origin: str
    folder: Path

    @property
    def log(self) -> list[str]:
        """The lines of its standard error so far."""
        return self.supervisor.err.splitlines()

    async def says(self, pattern: str, times: int = 1) -> list[re.Match[str]]:
        """Wait until so many lines of the log match."""
        async with asyncio.timeout(PATIENCE):
            while len(found := [match for line in self.log if (match := re.search(pattern, line))]) < times:  # noqa: ASYNC110  # a file tells nobody
                await asyncio.sleep(0.02)
        return found

    async def pids(self, workers: int = 2) -> dict[int, int]:
        """The newest process of each worker."""
        found = await self.says(r"Worker (\d+) serves as process (\d+)", workers)
        return {int(match[1]): int(match[2]) for match in found}

    async def ends(self) -> int:
        """Wait for the end: the exit code."""
        return await asyncio.to_thread(self.supervisor.wait, 2 * PATIENCE)


@contextmanager
def serving(
    folder: Path, *, workers: int = 2, first_pause: float = FIRST_PAUSE, max_deaths: int = MAX_DEATHS, **env: str
) -> Iterator[Process]:
    """Start a server with workers; its pipelines are in ``folder/p``. ``first_pause`` is in seconds, before a worker that died
    at once is started again, and ``max_deaths`` how often that is before it is hopeless."""
    for name in ("p", "tmp"):
        (folder / name).mkdir(exist_ok=True)
    folders = [f"--pipelines={folder / 'p'}", f"--presets={folder / 'q'}", f"--data={folder / 'data'}"]
    constants = {
        "agentui.serving.supervisor.FIRST_PAUSE": first_pause,
        "agentui.serving.supervisor.MAX_DEATHS": max_deaths,
    }
    command = ("serve", "--port", "0", f"--workers={workers}", *folders)
    with forked(*command, constants=constants, TMPDIR=str(folder / "tmp"), **env) as supervisor:
        hello = supervisor.hello(PATIENCE).splitlines()[0]
        try:
            yield Process(supervisor, hello.split()[-1], folder)
        finally:
            supervisor.send_signal(signal.SIGTERM)
            supervisor.wait(PATIENCE)


@dataclass
class Crew:
    """A server with workers, and who asks it. Every request has a connection of its own: the system chooses a worker anew."""

    server: Process
    http: aiohttp.ClientSession

    @property
    def origin(self) -> str:
        return self.server.origin

    async def call(
        self, method: str, path: str, body: Json = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, Mapping[str, str], Json]:
        """Status, headers and JSON of one answer."""
        async with self.http.request(method, self.origin + path, json=body, headers=headers) as answer:
            raw = await answer.read()
            return answer.status, answer.headers.copy(), loads(raw) if raw else None

    async def get(self, path: str) -> Json:
        """What must be there."""
        status, _, body = await self.call("GET", path)
        assert status == 200, body
        return body

    async def put(self, document: Json, id: str = "default") -> None:
        """Save a pipeline, whatever was there."""
        is_there = (await self.call("GET", f"/api/pipelines/{id}"))[0] == 200
        condition = {"if-match": "*"} if is_there else {"if-none-match": "*"}
        status, _, body = await self.call("PUT", f"/api/pipelines/{id}", document, condition)
        assert status in (200, 201), body

    async def activate(self, id: str) -> None:
        assert (await self.call("POST", f"/api/pipelines/{id}/activate", {}))[0] == 200

    async def versions(self, id: str) -> list[int]:
        """The numbers of a pipeline's versions, newest first."""
        return [version["number"] for version in await self.get(f"/api/pipelines/{id}/versions")]

    async def chat(self, model: str = "text", **headers: str) -> str:
        """The id of a run that was answered."""
        given = {**KEY, **{name.replace("_", "-"): value for name, value in headers.items()}}
        status, got, body = await self.call("POST", "/v1/chat/completions", {"model": model, "messages": HELLO}, given)
        assert status == 200, body
        return got["x-agentui-run"]

    async def said(self) -> str:
        """What the active pipeline says."""
        status, _, body = await self.call("POST", "/v1/chat/completions", {"model": "m", "messages": HELLO})
        assert status == 200, body
        content: str = body["choices"][0]["message"]["content"]
        return content

    async def one_run_each(self, workers: int = 2) -> dict[int, str]:
        """A run of each worker, by its number."""
        runs: dict[int, str] = {}
        async with asyncio.timeout(PATIENCE):
            while len(runs) < workers:
                run = await self.chat()
                runs[worker_of(run)] = run
        return runs

    def start(self, model: str) -> "aiohttp.client._RequestContextManager":
        """A streamed request."""
        body = {"model": model, "stream": True, "messages": HELLO}
        return self.http.post(f"{self.origin}/v1/chat/completions", json=body, headers=KEY)


def worker_of(run: str) -> int:
    return int(run.rpartition("-")[2])


@asynccontextmanager
async def asking(server: Process, headers: Mapping[str, str] | None = None) -> AsyncIterator[Crew]:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True, limit=0), headers=headers) as http:
        yield Crew(server, http)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """A server with three workers that the tests share, without a database."""
    with serving(tmp_path_factory.mktemp("shared"), workers=WORKERS) as server:
        yield server


@pytest.fixture
async def crew(shared: Process, mock: Mock) -> AsyncIterator[Crew]:
    """The shared server, before this test's own mock."""
    async with asking(shared) as made:
        await made.put(call("caller", mock.origin))
        await made.activate("default")
        yield made


@asynccontextmanager
async def own_crew(
    folder: Path, document: Json, *, first_pause: float = FIRST_PAUSE, max_deaths: int = MAX_DEATHS, **env: str
) -> AsyncIterator[Crew]:
    """A server for one test."""
    (folder / "p").mkdir()
    (folder / "p" / "default.json").write_bytes(dumps(document))
    headers = {"x-agentui-token": env["AGENTUI_TOKEN"]} if "AGENTUI_TOKEN" in env else None
    starting = serving(folder, first_pause=first_pause, max_deaths=max_deaths, **env)
    # In a thread: the mock goes on meanwhile.
    server = await asyncio.to_thread(starting.__enter__)
    try:
        async with asking(server, headers) as made:
            yield made
    finally:
        await asyncio.to_thread(starting.__exit__, None, None, None)


# --- the editor ------------------------------------------------------------------------------------------------------


async def test_every_worker_answers_and_each_shows_the_runs_of_all(crew: Crew) -> None:
    runs = await crew.one_run_each(WORKERS)
    assert sorted(runs) == [0, 1, 2]
    for _ in range(OFTEN):
        listed = [line["id"] for line in await crew.get("/api/runs")]
        assert set(runs.values()) <= set(listed)
        assert listed == sorted(listed, reverse=True)
        assert [line["id"] for line in await crew.get("/api/runs?limit=2")] == listed[:2]
        for run in runs.values():
            shown = await crew.get(f"/api/runs/{run}")
            assert (shown["id"], shown["state"], shown["events"][0]["type"]) == (run, "finished", "run.started")
    assert (await crew.get(f"/api/runs/{runs[0]}/events/0"))["seq"] == 0
    assert (await crew.get(f"/api/runs/{runs[1]}/request"))["body"]["model"] == "text"
    for unknown in ("run_unknown", f"{runs[0]}x-1", "run_00-2", "run_00-7"):
        assert (await crew.call("GET", f"/api/runs/{unknown}"))[0] == 404


async def test_a_run_is_followed_and_stopped_from_any_connection(crew: Crew, mock: Mock) -> None:
    for round in range(1, OFTEN // 2):
        async with crew.start("forever") as answer:
            run = answer.headers["x-agentui-run"]
            await answer.content.readany()
            async with crew.http.get(f"{crew.origin}/api/runs/{run}/events") as events:
                assert events.content_type == "text/event-stream"
                assert b"run.started" in await events.content.readuntil(b"\n\n")
                status, _, shown = await crew.call("POST", f"/api/runs/{run}/cancel", {})
                assert (status, shown["state"]) == (202, "cancelled")
                assert b"run.finished" in (await events.read()).rpartition(b"id: ")[2]
        await mock.was_aborted(round)
        assert (await crew.call("POST", f"/api/runs/{run}/cancel", {}))[0] == 409


async def test_one_live_stream_tells_the_runs_of_all_and_goes_on_where_it_stopped(crew: Crew) -> None:
    told: list[tuple[str, int]] = []
    missed: set[str] = set()
    last = ""
    for _ in range(4):
        headers = {"last-event-id": last} if last else {}
        async with crew.http.get(f"{crew.origin}/api/runs/live?events=1", headers=headers) as live, asyncio.timeout(PATIENCE):
            heard: set[str] = set()
            chatting = asyncio.create_task(keep_chatting(crew))
            # Until this round has heard of what it missed, and of every worker.
            while not (missed <= heard and len({worker_of(run) for run in heard}) == WORKERS):
                fields = await next_event(live)
                assert fields["event"] != "reset"
                last = fields["id"]
                if fields["event"] == "event":
                    told += places(loads(fields["data"]))
                    heard.add(told[-1][0])
            chatting.cancel()
            await asyncio.wait({chatting})
            # An id stands for all that one look found, so a reader who means to come back leaves when it is quiet.
            while (rest := await next_event_soon(live)) is not None:
                last = rest["id"]
                if rest["event"] == "event":
                    told += places(loads(rest["data"]))
        missed = set((await crew.one_run_each(WORKERS)).values())
    assert len(told) == len(set(told))
    for run in {run for run, _ in told}:
        seen = [seq for one, seq in told if one == run]
        assert seen == list(range(len(seen)))


async def keep_chatting(crew: Crew) -> None:
    while True:
        await crew.chat()
        await asyncio.sleep(0.1)


async def next_event(live: aiohttp.ClientResponse) -> dict[str, str]:
    """The fields of the next event of a stream; comments are none."""
    while True:
        lines = (await live.content.readuntil(b"\n\n")).decode().splitlines()
        fields = dict(line.split(": ", 1) for line in lines if line and not line.startswith(":"))
        if fields:
            return fields


async def next_event_soon(live: aiohttp.ClientResponse) -> dict[str, str] | None:
    """The same, or None when nothing comes for a while."""
    try:
        async with asyncio.timeout(1.5):
            return await next_event(live)
    except TimeoutError:
        return None


def places(data: Json) -> list[tuple[str, int]]:
    """The run and the numbers of what an event tells."""
    numbers = [piece[0] for piece in data["data"]["pieces"]] if data["type"] == "node.chunks" else [data["seq"]]
    return [(data["run"], number) for number in numbers]


async def test_a_run_is_tried_again_and_previewed_by_the_worker_that_has_it(crew: Crew, mock: Mock) -> None:
    run = await crew.chat("unicode")
    for _ in range(OFTEN):
        own = {"headers": {"authorization": f"Bearer {API_KEY}"}}
        status, headers, _ = await crew.call("POST", "/api/try", {"run_id": run, **own})
        assert (status, worker_of(headers["x-agentui-run"])) == (200, worker_of(run))
        status, _, shown = await crew.call("POST", "/api/preview", {"node": "n1", "run_id": run})
        assert (status, shown["preview"]["body"]["model"]) == (200, "unicode")
    # The key of the recorded request goes nowhere, whichever worker is asked.
    for _ in range(OFTEN):
        status, _, shown = await crew.call("POST", "/api/try", {"run_id": run, "document": say("[[VAR:incoming.headers]]")})
        assert status == 200 and API_KEY not in str(shown)
    assert API_KEY not in str(await crew.get(f"/api/runs/{run}"))
    status, _, shown = await crew.call("POST", "/api/try", {"run_id": run, "pins": {"nowhere": {}}})
    assert (status, shown["error"]["code"]) == (400, "bad_request")


async def test_what_one_worker_saves_the_others_serve_at_once(crew: Crew) -> None:
    await crew.put(say("zero"), "saved")
    await crew.activate("saved")
    for number in range(OFTEN):
        _, headers, _ = await crew.call("GET", "/api/pipelines/saved")
        status, _, shown = await crew.call("PUT", "/api/pipelines/saved", say(f"v{number}"), {"if-match": headers["etag"]})
        assert status == 200, shown
        assert await crew.said() == f"v{number}"
    assert await crew.versions("saved") == list(range(OFTEN + 1, 0, -1))


async def test_of_those_who_save_at_the_same_time_one_succeeds_and_the_others_are_told(crew: Crew) -> None:
    await crew.put(say("zero"), "wanted")
    for round in range(4):
        _, headers, _ = await crew.call("GET", "/api/pipelines/wanted")
        answers = await asyncio.gather(
            *(
                crew.call("PUT", "/api/pipelines/wanted", say(f"{round}.{number}"), {"if-match": headers["etag"]})
                for number in range(6)
            )
        )
        assert sorted(status for status, _, _ in answers) == [200, *[412] * 5]


async def test_what_one_worker_activates_is_active_in_all(crew: Crew) -> None:
    for name in ("one", "two"):
        await crew.put(say(name), name)
    async with crew.http.get(f"{crew.origin}/api/changes") as changes, asyncio.timeout(PATIENCE):
        assert b'"active"' in await changes.content.readany()
        for number in range(OFTEN):
            name = ("one", "two")[number % 2]
            await crew.activate(name)
            assert await crew.said() == name
            while f'"id":"{name}"'.encode() not in (event := await changes.content.readuntil(b"\n\n")):
                assert b'"kind":"active"' not in event


async def test_a_file_that_changes_on_the_disk_becomes_one_version(crew: Crew) -> None:
    await crew.put(say("v0"), "edited")
    await crew.activate("edited")
    for number in range(1, 4):
        (crew.server.folder / "p" / "edited.json").write_bytes(dumps(say(f"v{number}")))
        async with asyncio.timeout(PATIENCE):
            for _ in range(OFTEN):
                while await crew.said() != f"v{number}":
                    pass
    async with asyncio.timeout(PATIENCE):  # a document is served before its version is written
        while len(versions := await crew.get("/api/pipelines/edited/versions")) < 4:
            pass
    assert [version["number"] for version in versions] == [4, 3, 2, 1]


async def test_signed_thoughts_are_given_back_whichever_worker_the_conversation_reaches(crew: Crew, mock: Mock) -> None:
    await crew.put(call("claude", mock.origin), "thinking")
    await crew.activate("thinking")
    tools = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]
    asked = {"model": "thinking-tool", "messages": HELLO, "tools": tools, "reasoning_effort": "high"}
    status, _, body = await crew.call("POST", "/v1/chat/completions", asked, KEY)
    assert status == 200, body
    said = body["choices"][0]["message"]
    result = {"role": "tool", "tool_call_id": said["tool_calls"][0]["id"], "content": "sunny"}
    reached: set[int] = set()
    async with asyncio.timeout(PATIENCE):
        while len(reached) < WORKERS:
            status, headers, body = await crew.call(
                "POST", "/v1/chat/completions", {**asked, "messages": [*HELLO, said, result]}, KEY
            )
            assert status == 200, body
            reached.add(worker_of(headers["x-agentui-run"]))
            parts = mock.last.body["messages"][1]["content"]
            assert [part["type"] for part in parts] == ["thinking", "tool_use"]


async def test_the_private_doors_are_private(crew: Crew) -> None:
    [folder] = (crew.server.folder / "tmp").glob("agentui-*")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert sorted(door.name for door in folder.iterdir()) == ["0.sock", "1.sock", "2.sock"]
    for path in ("/workers/refresh", "/workers/thoughts"):
        status, _, body = await crew.call("POST", path, {})
        assert (status, body["error"]["code"]) == (404, "not_found")


async def test_workers_behind_a_token_know_each_other_and_end_when_their_supervisor_dies(tmp_path: Path, mock: Mock) -> None:
    document = call("openai", mock.origin, headers={"Authorization": f"Bearer {API_KEY}"})
    async with own_crew(tmp_path, document, AGENTUI_TOKEN="a-long-access-token") as crew:
        pids = await crew.server.pids()
        # The token stands in the header that is its own.
        runs: dict[int, str] = {}
        while len(runs) < 2:
            status, headers, body = await crew.call("POST", "/v1/chat/completions", {"model": "text", "messages": HELLO})
            assert status == 200, body
            runs[worker_of(headers["x-agentui-run"])] = headers["x-agentui-run"]
        for _ in range(OFTEN):
            assert set(runs.values()) <= {line["id"] for line in await crew.get("/api/runs")}
            assert (await crew.get(f"/api/runs/{runs[0]}"))["id"] == runs[0]
        async with aiohttp.ClientSession() as stranger, stranger.get(f"{crew.origin}/api/runs/{runs[0]}") as answer:
            assert answer.status == 401
        async with aiohttp.ClientSession() as stranger, stranger.get(f"{crew.origin}/ready") as answer:
            assert answer.status == 200
        crew.server.supervisor.kill()
        await crew.server.says("The supervisor has died", 2)
        async with asyncio.timeout(PATIENCE):
            while any(is_alive(pid) for pid in pids.values()):  # noqa: ASYNC110  # they are nobody's children any more
                await asyncio.sleep(0.05)


# --- the memory ------------------------------------------------------------------------------------------------------


async def test_without_a_database_there_are_pipelines_and_no_chats(crew: Crew, mock: Mock) -> None:
    await crew.put(chain(sets(("global", "count", "string", "1")), target("caller", mock.origin)), "stores")
    asked = {"model": "text", "messages": HELLO}
    for status, _, body in (
        await crew.call("GET", "/sessions"),
        await crew.call("GET", "/variables?key=x"),
        await crew.call("POST", "/v1/chat/completions", asked, {**KEY, "x-agentui-session": "s"}),
        await crew.call("POST", "/p/stores/v1/chat/completions", asked, KEY),
    ):
        assert (status, body["error"]["code"]) == (503, "store_not_shared")
        assert "AGENTUI_DATABASE_URL" in body["error"]["message"]
    assert (await crew.get("/health"))["store"]["engine"] == "none"
    assert (await crew.get("/ready"))["status"] == "ready"


async def test_the_data_folder_of_workers_is_theirs(crew: Crew) -> None:
    folder = crew.server.folder
    done = await asyncio.to_thread(agentui, "serve", "--port", "0", "--data", folder / "data", "--pipelines", folder / "p")
    assert_refused(done, "in use by process", str(crew.server.supervisor.pid))


async def test_workers_on_one_database_take_turns_stop_each_others_chats_and_free_what_a_dead_one_held(
    tmp_path: Path,
    mock: Mock,
    database: str,
) -> None:
    counts = chain(sets(("branch", "gold", "json", "{{ gold|default(0)|add(1) }}")), target("caller", mock.origin))
    # Who waits in the queue gets the branch of a dead worker because somebody frees it, and not because its lease ends.
    env = {"AGENTUI_DATABASE_URL": database, "AGENTUI_GENERATION_QUEUE": "100", "AGENTUI_GENERATION_LEASE": "3600"}
    async with own_crew(tmp_path, counts, **env) as crew:
        memory = Memory(crew.origin, crew.http)
        async with asyncio.timeout(PATIENCE):
            while (await crew.call("GET", "/ready"))[0] != 200:
                pass  # a worker is ready when it has opened the database
            await turns_of_one_chat_come_one_after_the_other(crew, memory)
            await a_chat_is_stopped_on_every_worker_that_generates_it(crew, memory, mock)
            await what_a_killed_worker_held_is_free_at_once(crew, memory)


async def turns_of_one_chat_come_one_after_the_other(crew: Crew, memory: Memory) -> None:
    runs = await asyncio.gather(*(crew.chat(x_agentui_session="one chat") for _ in range(30)))
    assert {worker_of(run) for run in runs} == {0, 1}
    [session] = await memory.get("/sessions")
    floors = await memory.floors(session["id"])
    assert [floor["floor_no"] for floor in floors] == list(range(30))
    assert {floor["state"] for floor in floors} == {"committed"}
    assert (await memory.seen(session["id"]))["gold"] == 30


async def a_chat_is_stopped_on_every_worker_that_generates_it(crew: Crew, memory: Memory, mock: Mock) -> None:
    async with AsyncExitStack() as all_open:
        answers: list[aiohttp.ClientResponse] = []
        while len({worker_of(answer.headers["x-agentui-run"]) for answer in answers}) < 2:
            there = {**KEY, "x-agentui-session": "stopped", "x-agentui-branch": f"b{len(answers)}"}
            body = {"model": "forever", "stream": True, "messages": HELLO}
            asked = crew.http.post(f"{crew.origin}/v1/chat/completions", json=body, headers=there)
            answer = await all_open.enter_async_context(asked)
            assert answer.status == 200
            await answer.content.readany()
            answers.append(answer)
        session = answers[0].headers["x-agentui-session"]
        status, told = await memory.call("POST", f"/sessions/{session}/active-run/cancel", {})
        assert status == 200
        runs = {answer.headers["x-agentui-run"] for answer in answers}
        assert {each["run_id"] for each in told["data"]["stopped"]} == runs
        for answer in answers:
            assert b"generation_cancelled" in await answer.read()
        await mock.was_aborted(len(answers))


async def what_a_killed_worker_held_is_free_at_once(crew: Crew, memory: Memory) -> None:
    headers = {**KEY, "x-agentui-session": "held"}
    body = {"model": "forever", "stream": True, "messages": HELLO}
    async with crew.http.post(f"{crew.origin}/v1/chat/completions", json=body, headers=headers) as answer:
        session, owner = answer.headers["x-agentui-session"], worker_of(answer.headers["x-agentui-run"])
        os.kill((await crew.server.pids())[owner], signal.SIGKILL)
        with pytest.raises(aiohttp.ClientError):
            await answer.read()
    await crew.server.says("died with 1 turns under way")
    await crew.chat(x_agentui_session="held")  # by whichever worker: the dead one may have been started again
    assert await memory.states(session) == ["failed", "committed"]


# --- processes -------------------------------------------------------------------------------------------------------


async def test_workers_serve_where_nobody_has_read_the_code_before(tmp_path: Path, mock: Mock) -> None:
    document = call("caller", mock.origin)
    async with (
        executing(tmp_path / "server", {"default": document}, workers="2") as server,
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True), headers=KEY) as http,
        asyncio.timeout(PATIENCE),
    ):
        workers: set[int] = set()
        while len(workers) < 2:
            body = {"model": "text", "messages": HELLO}
            async with http.post(f"{server.origin}/v1/chat/completions", json=body) as answer:
                assert answer.status == 200, await answer.text()
                workers.add(worker_of(answer.headers["x-agentui-run"]))


async def test_a_worker_that_dies_is_started_again_while_the_others_serve_and_all_end_after_their_streams_when_told(
    tmp_path: Path, mock: Mock
) -> None:
    async with own_crew(tmp_path, call("caller", mock.origin), AGENTUI_STOP_TIMEOUT="1000") as crew:
        before = await crew.one_run_each()
        pids = await crew.server.pids()
        # A connection that stays open stays with its worker, and says which one that is.
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=1)) as http:
            body = {"model": "text", "messages": HELLO}
            async with http.post(f"{crew.origin}/v1/chat/completions", json=body, headers=KEY) as answer:
                own = worker_of(answer.headers["x-agentui-run"])
                await answer.read()
            other = 1 - own
            async with http.get(f"{crew.origin}/api/runs/live") as live, asyncio.timeout(PATIENCE):
                os.kill(pids[other], signal.SIGKILL)
                died = rf"Worker {other} \(process (\d+)\) was killed by signal 9. It is started again in [\d.]+ s"
                [match] = await crew.server.says(died)
                assert int(match[1]) == pids[other]
                assert worker_of(await crew.chat()) == own
                await crew.server.says(f"Worker {other} serves as process", 2)
                assert sorted(await crew.one_run_each()) == [0, 1]
                # Its runs went with it, and the others' did not.
                assert (await crew.call("GET", f"/api/runs/{before[other]}"))[0] == 404
                assert (await crew.get(f"/api/runs/{before[own]}"))["id"] == before[own]
                # A live stream of the one that lived tells of the new one.
                heard = ""
                while f'-{other}"' not in heard:
                    await crew.one_run_each()
                    heard += (await live.content.readany()).decode()
        pids = await crew.server.pids()
        async with crew.start("hang-mid") as answer, asyncio.timeout(PATIENCE):
            begun = await answer.content.readany()
            crew.server.supervisor.send_signal(signal.SIGTERM)
            await refused(crew.origin)
            assert not crew.server.supervisor.is_over()
            mock.release()
            assert (begun + await answer.read()).endswith(b"data: [DONE]\n\n")
        assert await crew.server.ends() == 0
        assert not any(is_alive(pid) for pid in pids.values())
        assert list((tmp_path / "tmp").glob("agentui-*")) == []
        assert [line for line in crew.server.log if "level=info" not in line and "signal 9" not in line] == []


async def test_a_worker_that_keeps_dying_is_tried_again_while_the_others_serve_and_the_last_ends_the_server(
    tmp_path: Path, mock: Mock
) -> None:
    async with own_crew(tmp_path, call("caller", mock.origin), first_pause=0.05, max_deaths=2) as crew:
        [folder] = (tmp_path / "tmp").glob("agentui-*")
        shutil.rmtree(folder)  # no socket can be made any more
        pids = await crew.server.pids()
        os.kill(pids[1], signal.SIGKILL)
        await crew.server.says(r"Worker 1 \(process \d+\) ended with exit code 1. It is started again in 0.1 seconds", 1)
        assert worker_of(await crew.chat()) == 0
        assert is_alive(pids[0])
        os.kill(pids[0], signal.SIGKILL)
        assert await crew.server.ends() == 1
        lines = [line for line in crew.server.log if line.startswith("agentui: ")]
        assert lines == ["agentui: a worker died at once again and again; the lines above say how."]
        assert any("Worker 1 cannot serve" in line for line in crew.server.log)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be asked how does not."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.mark.parametrize("workers", ["1", "2"])
async def test_nobody_joins_the_port_of_a_server_with_workers(crew: Crew, tmp_path: Path, workers: str) -> None:
    port = crew.origin.rpartition(":")[2]
    folders = ("--data", tmp_path / "d", "--pipelines", tmp_path / "p", "--presets", tmp_path / "q")
    done = await asyncio.to_thread(agentui, "serve", "--port", port, "--workers", workers, *folders)
    assert_refused(done, "cannot listen", port, "--port")


def test_a_port_that_somebody_else_shares_is_refused(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = agentui("serve", "--port", port, "--workers", "2", "--data", tmp_path, AGENTUI_PIPELINES=str(tmp_path / "p"))
    assert_refused(done, "cannot listen", port, "--port")


def test_a_system_that_cannot_share_a_port_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delattr(socket, "SO_REUSEPORT")
    with pytest.raises(CommandError, match="leave --workers out"), held_port(Settings(port=0, data=tmp_path)):
        pass


@pytest.mark.parametrize("value", ["0", "257"])
def test_a_number_of_workers_that_makes_no_sense_is_refused(tmp_path: Path, value: str) -> None:
    assert_refused(agentui("serve", "--workers", value, "--data", tmp_path), "AGENTUI_WORKERS")


def test_a_worker_signs_with_the_name_that_its_supervisor_releases(tmp_path: Path) -> None:
    group = WorkerGroup(tmp_path, 2, 0)
    app = create_app(Settings(data=tmp_path / "data", pipelines=tmp_path, presets=tmp_path), group=group)
    assert app[TURNS].owner_at(0).id == group.owner
