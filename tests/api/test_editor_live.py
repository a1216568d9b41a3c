"""All runs over one connection: GET /api/runs/live?events=1."""

import asyncio
from collections.abc import AsyncIterator, Callable
from time import monotonic
from typing import TypeAlias

from aiohttp import StreamReader

from agentui.api.editor.live import MAX_PIECES, PROCESS, LiveEvents
from agentui.demo import DemoServer
from agentui.jsonio import Json, loads
from agentui.pipeline.history import RunHistory
from agentui.pipeline.run import Run
from agentui.principal import DEFAULT_PRINCIPAL
from agentui.vendors.sse import SseDecoder
from tests.api.editor_client import Editor, editing, say
from tests.conftest import StartServer, call
from tests.upstreams.server import Mock

PATH = "/api/runs/live?events=1"


async def until_ended(events: AsyncIterator[tuple[str, Json]], run: str | None = None) -> list[tuple[str, Json]]:
    """Everything up to the ``run`` behind the last event of a run (of this one)."""
    heard: list[tuple[str, Json]] = []
    async for name, data in events:
        heard.append((name, data))
        if name == "run" and run in (None, data["run"]) and any(each.get("type") == "run.finished" for _, each in heard):
            return heard
    return heard


def told(heard: list[tuple[str, Json]]) -> list[Json]:
    """The runs' events, pieces of text one by one again and everything in its order."""
    events: list[Json] = []
    for name, data in heard:
        if name != "event":
            continue
        if data["type"] != "node.chunks":
            events.append(data)
            continue
        for sequence, at, text in data["data"]["pieces"]:
            piece = {"seq": sequence, "type": "node.chunk", "at_ms": at, "node": data["node"], "data": {"text": text}}
            events.append({"run": data["run"], **piece})
    return sorted(events, key=lambda event: (event["run"], event["seq"]))


async def test_every_event_of_a_run_comes_over_the_one_connection(start_server: StartServer, demo: DemoServer) -> None:
    server = await start_server({"default": call("openai", "demo")}, named_origins={"demo": demo.origin})
    async with editing(server) as editor, editor.stream(PATH) as events:
        answer = await editor.start("demo-small")
        await answer.read()
        heard = await until_ended(events)
        run = (await editor.get(f"/api/runs/{heard[0][1]['run']}")).body
    assert told(heard) == run["events"]
    (first, begun), (last, ended) = heard[0], heard[-1]
    assert (first, begun["pipeline"], begun["summary"]["model"]) == ("run", "default", "demo-small")
    assert last == "run"
    assert ended["summary"]["state"] == "finished"
    assert ended["summary"]["event_count"] == run["event_count"]


async def test_it_begins_with_the_runs_under_way_and_goes_on_where_it_stopped(start_server: StartServer, mock: Mock) -> None:
    async with editing(await start_server({"default": call("openai", mock.origin)})) as editor:
        calling = asyncio.ensure_future(editor.start("hang"))
        await mock.was_asked()
        run = (await editor.only_run())["id"]
        async with editor.session.get(editor.server.origin + PATH) as response:
            before, ids = await _lines(response.content, b"node.request")
        mock.release()
        await calling
        async with editor.stream(PATH, last_event_id=ids[-1]) as events:
            after = await until_ended(events, run)
        whole = (await editor.get(f"/api/runs/{run}")).body["events"]
    assert b"run.started" in before
    assert ids[-1].startswith(PROCESS)
    resumed = told(after)
    assert resumed == whole[-len(resumed) :]
    assert 0 < len(resumed) < len(whole)


async def _lines(content: StreamReader, last: bytes) -> tuple[bytes, list[str]]:
    """The stream up to the event that holds ``last``, and the ids in it."""
    text, ids = b"", []
    while not (last in text and text.endswith(b"\n\n")):
        line = await content.readline()
        text += line
        if line.startswith(b"id: "):
            ids.append(line[4:].strip().decode())
    return text, ids


async def test_an_id_of_another_process_begins_anew(start_server: StartServer) -> None:
    server = await start_server({"default": say()})
    async with editing(server) as editor, editor.stream(PATH, last_event_id="live_x-1") as events:
        assert await anext(events) == ("reset", {})
        await editor.chat()
        assert (await anext(events))[0] == "run"


async def test_events_is_0_or_1(start_server: StartServer) -> None:
    async with editing(await start_server({"default": say()})) as editor:
        answer = await editor.get("/api/runs/live?events=yes")
    assert (answer.status, answer.code) == (400, "bad_request")


async def test_pieces_travel_together_and_are_missed_when_there_are_too_many(start_server: StartServer) -> None:
    async with editing(await start_server({"default": say()})) as editor:
        run = await _silent_run(editor)
    history = RunHistory(10, 1 << 26)
    history.add(run)
    for number in range(2 * MAX_PIECES):
        run.emit("node.chunk", f"n{number % 2}", {"text": f"{number} "})
    for number in range(3 * MAX_PIECES):
        run.emit("node.chunk", "n3", {"text": f"{number} "})
    run.finish("finished")
    reading = LiveEvents(history, lambda run: {"state": run.state}).read(f"{PROCESS}-0")
    await anext(reading)
    heard = [(event.event, loads(event.data)) for event in SseDecoder().feed(await anext(reading))]
    await reading.aclose()
    chunks = [data for _, data in heard if data.get("type") == "node.chunks"]
    texts = {data["node"]: [piece[2] for piece in data["data"]["pieces"]] for data in chunks}
    missed = [data for name, data in heard if name == "missed"]
    assert missed == [{"run": run.id, "node": "n3", "count": 2 * MAX_PIECES}]
    assert {node: len(pieces) for node, pieces in texts.items()} == {"n0": MAX_PIECES, "n1": MAX_PIECES, "n3": MAX_PIECES}
    assert (texts["n1"][0], texts["n3"][-1]) == ("1 ", f"{3 * MAX_PIECES - 1} ")
    assert [name for name, _ in heard][-2:] == ["event", "run"]


async def test_a_reader_that_does_not_read_costs_a_run_nothing(start_server: StartServer) -> None:
    async with editing(await start_server({"default": say()})) as editor:
        run = await _silent_run(editor)
    history = RunHistory(10, 1 << 26)
    reading = LiveEvents(history, lambda run: {}).read(None)
    history.add(run)
    assert await anext(reading)
    tasks = len(asyncio.all_tasks())
    for number in range(10_000):
        run.emit("node.chunk", "n1", {"text": str(number)})
    assert len(asyncio.all_tasks()) == tasks
    await reading.aclose()


async def test_a_reader_that_is_cut_off_between_any_two_events_misses_none(start_server: StartServer) -> None:
    async with editing(await start_server({"default": say()})) as editor:
        runs = [await _silent_run(editor), await _silent_run(editor)]
    for run in runs:
        for _ in range(3):
            run.emit("node.log", "n1", {"text": "before"})
    for cut in range(1, 7):
        history = RunHistory(10, 1 << 26)
        for run in runs:
            history.add(run)
        whole = {(run.id, number) for run in runs for number in range(len(run.events.items))}
        reading = LiveEvents(history, lambda run: {}).read(None)
        heard: list[Event] = []
        async with asyncio.timeout(60):
            while len(heard) < cut:
                heard += _events(await anext(reading))
        await reading.aclose()
        heard = heard[:cut]
        resumed = LiveEvents(history, lambda run: {}).read(heard[-1][0] or None)
        async with asyncio.timeout(60):
            while _numbers(heard) != whole:
                heard += _events(await anext(resumed))
        await resumed.aclose()


Event: TypeAlias = tuple[str, str, Json]
"""The id, the name and the data of an event."""


def _events(piece: bytes) -> list[Event]:
    found = []
    for event in piece.decode().split("\n\n")[:-1]:
        fields = dict(line.split(": ", 1) for line in event.splitlines() if not line.startswith(":"))
        if "data" in fields:
            found.append((fields.get("id", ""), fields["event"], loads(fields["data"].encode())))
    return found


def _numbers(events: list[Event]) -> set[tuple[str, int]]:
    return {(data["run"], data["seq"]) for _, name, data in events if name == "event"}


async def test_changes_and_runs_come_over_one_connection_that_goes_on_with_both(start_server: StartServer) -> None:
    async with editing(await start_server({"default": say(), "other": say()})) as editor:

        async def read(last: str | None, wanted: Callable[[list[Event]], bool]) -> list[Event]:
            headers = {"Last-Event-ID": last} if last else {}
            heard: list[Event] = []
            async with asyncio.timeout(60), editor.session.get(f"{editor.server.origin}/api/events", headers=headers) as stream:
                while not wanted(heard):
                    heard += _events(await stream.content.readuntil(b"\n\n"))
            return heard

        def has_both(events: list[Event]) -> bool:
            names = {name for _, name, _ in events} | {data.get("type") for _, _, data in events}
            return {"change", "run.finished"} <= names and not events[-1][0].endswith(";")

        calling = asyncio.ensure_future(read(None, has_both))
        while not calling.done():
            await editor.chat()
        before = await calling
        await editor.post("/api/pipelines/other/activate")
        await editor.chat()
        after = await read(before[-1][0], has_both)
    [change] = [data for _, name, data in after if name == "change"]
    assert change == {"kind": "active", "id": "other", "etag": None, "valid": None}
    assert all(id.count(";") == 1 for id, _, _ in [*before, *after])


async def _silent_run(editor: Editor) -> Run:
    """A run that nobody executes."""
    await editor.chat()
    known = editor.server.state.history.get((await editor.only_run())["id"])
    return Run(DEFAULT_PRINCIPAL, known.plan, known.incoming, known.services, known.redactor, monotonic() + 60)
