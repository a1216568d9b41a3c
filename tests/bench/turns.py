"""``python -m tests.bench.turns [--seconds 1] [--floors 10 10000] [--variables 10 1000]``: durable turns per second, and
milliseconds of the server's processor time for each that goes over HTTP.

``--only memory`` prints what 800 turns on a chat of 2,000 floors leave: resident memory before and after, and the longest pause
of Python's search for circles.

In process: ``begin`` and ``commit`` with one variable read and written, two transactions a turn. Through the proxy: a
server process with one SetVars and one call to a local upstream. By respond: that call with a prompt that is made of the
history, and answered when all is kept. Beside the first two stands a bare number: the same rows in two transactions of plain
sqlite3 a turn (in process), and the same request without a session (through the proxy). Sessions take turns side by side; the
floors and variables are there before the clock starts. The folder is a temporary one: point TMPDIR at the disk that is meant.
"""

import argparse
import asyncio
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import Connection, insert

from agentui.chats.parts import Content
from agentui.jobs.runner import JobRunner
from agentui.principal import DEFAULT_ACCOUNT
from agentui.store.sqlite import SqliteStore
from agentui.store.tables import floors as floors_table
from agentui.store.tables import messages, pages
from agentui.turns.joining import join_session
from agentui.turns.request import Outcome, TurnRequest
from agentui.turns.service import TurnService
from agentui.variables.records import Put, upsert
from agentui.variables.scopes import GLOBAL, Target, branch_target
from tests.bench.__main__ import ROOT, Server, body, start
from tests.bench.load import request_bytes, whole_answers
from tests.variables.database import save_branch_snapshot

TEXT = "The quick brown fox jumps over the lazy dog. " * 10


def furnish(db: Connection, session: str, floors: int, variables: int) -> None:
    """A session with floors, and with variables in every tier that outlives a turn."""
    joined = join_session(db, DEFAULT_ACCOUNT, session, None, 1)
    targets = (GLOBAL, Target("chat", joined.session_id), branch_target(joined.session_id, "main"))
    puts = [Put(target, f"v{number}", f'"value {number}"') for target in targets for number in range(variables)]
    upsert(db, DEFAULT_ACCOUNT, puts, 1)
    # Written in bulk: ten thousand turns one by one would take longer than the rest.
    ids = [f"{session}-{number:06}" for number in range(floors)]
    mine = {"account_id": DEFAULT_ACCOUNT, "created_at": 1}
    place = {"session_id": joined.session_id, "branch_id": "main", "state": "committed", "updated_at": 1, **mine}
    kinds = list(enumerate(("input", "output")))
    page = {"is_active": True, "updated_at": 1, **mine}
    message = {"seq": 0, "role": "user", "content": TEXT, "is_hidden": False, **mine}
    parents = [None, *ids]
    db.execute(
        insert(floors_table), [{"id": id, "floor_no": no, "parent_floor_id": parents[no], **place} for no, id in enumerate(ids)]
    )
    db.execute(
        insert(pages),
        [{"id": f"{id}-{no}", "floor_id": id, "page_no": no, "page_kind": kind, **page} for id in ids for no, kind in kinds],
    )
    db.execute(insert(messages), [{"id": f"{id}-{no}", "page_id": f"{id}-{no}", **message} for id in ids for no, _ in kinds])
    save_branch_snapshot(db, DEFAULT_ACCOUNT, ids[-1], 1)


async def rate(sessions: int, seconds: float, once: Callable[[str], Awaitable[object]]) -> float:
    """Turns per second, of so many sessions side by side."""
    end = time.perf_counter() + seconds

    async def one(session: str) -> int:
        done = 0
        while time.perf_counter() < end:
            await once(session)
            done += 1
        return done

    began = time.perf_counter()
    done = await asyncio.gather(*(one(f"s{number}") for number in range(sessions)))
    return sum(done) / (time.perf_counter() - began)


async def in_process(file: Path, sessions: int, floors: int, variables: int, seconds: float) -> float:
    """Turns per second of the service."""
    store = SqliteStore(file)
    service = TurnService(store, JobRunner(store, "bench"), "bench", queue_seconds=0, is_alone=True)
    for number in range(sessions):
        await store.write(furnish, f"s{number}", floors, variables)

    async def turn(session: str) -> None:
        turn = await service.begin(TurnRequest(DEFAULT_ACCOUNT, "run", session, user=Content(TEXT)))
        staged = turn.staged()
        gold = staged.view()[0].get("gold", 0)
        staged.stage("branch", "gold", gold + 1)
        await turn.commit(Outcome(Content(TEXT), 10, 20))

    try:
        await rate(sessions, 0.2, turn)
        return await rate(sessions, seconds, turn)
    finally:
        await service.close()
        await store.close()


def bare(file: Path, seconds: float) -> float:
    """The same rows by plain sqlite3: five in the first transaction of a turn; five rows, two changes in the second."""
    db = sqlite3.connect(file, isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=FULL")
    db.execute("CREATE TABLE rows (id TEXT PRIMARY KEY, parent TEXT, text TEXT)")
    db.execute("CREATE INDEX by_parent ON rows (parent)")
    turns, end, began = 0, time.perf_counter() + seconds, time.perf_counter()
    while time.perf_counter() < end:
        for half in ("in", "out"):
            db.execute("BEGIN IMMEDIATE")
            rows = [(f"{turns}-{half}-{row}", f"{turns}", TEXT if row == 0 else "{}") for row in range(5)]
            db.executemany("INSERT INTO rows VALUES (?, ?, ?)", rows)
            db.execute("UPDATE rows SET text = '' WHERE id = ?", (f"{turns}-in-1",))
            db.execute("COMMIT")
        turns += 1
    rate = turns / (time.perf_counter() - began)
    db.close()
    return rate


def start_proxy(folder: Path, upstream: int, module: str = "agentui") -> Server:
    """A server with the pipelines ``turn`` (one variable, one call) and ``plain`` (the call alone)."""
    (folder / "pipelines").mkdir()
    call = {"id": "n2", "type": "ProviderCall", "config": {"provider": "openai", "base_url": f"http://127.0.0.1:{upstream}"}}
    row = {"name": "gold", "tier": "branch", "mode": "json", "value": "{{ gold|default(0)|add(1) }}"}
    count = {"id": "n1", "type": "SetVars", "config": {"variables": [row]}}
    turn = {"format": 1, "name": "turn", "nodes": [count, call], "edges": [{"from": "n1", "to": "n2"}]}
    plain = {"format": 1, "name": "plain", "nodes": [call], "edges": []}
    named = {**call, "config": {**call["config"], "model": "bench-1-1-0"}}
    live = {"format": 1, "name": "live", "nodes": [named], "edges": []}
    for name, pipeline in (("turn", turn), ("plain", plain), ("live", live)):
        (folder / "pipelines" / f"{name}.json").write_bytes(orjson.dumps(pipeline))
    process = subprocess.Popen(
        [sys.executable, "-m", module, "serve", "--port", "0"]
        + [f"--{name}={folder / name}" for name in ("pipelines", "presets", "data")],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "AGENTUI_TURN_MATCHING": "false"},
    )
    assert process.stdout is not None
    return Server(process, int(process.stdout.readline().strip().rpartition(":")[2]))


async def through_proxy(port: int, pipeline: str, sessions: int, named: bool, count: int) -> float:
    """Requests per second by so many callers, each with a session of its own if ``named``."""
    plain = request_bytes(port, f"/p/{pipeline}/v1/chat/completions", body(1, "bench-1-1-0"))

    def message(number: int) -> bytes:
        if not named:
            return plain
        return plain.replace(b"\r\n\r\n", b"\r\nx-agentui-session: s%d\r\n\r\n" % number, 1)

    began = time.perf_counter()
    await asyncio.gather(*(whole_answers(port, message(number), count // sessions, 1) for number in range(sessions)))
    return count / (time.perf_counter() - began)


async def by_respond(port: int, sessions: int, count: int) -> float:
    """Live turns per second."""
    said = orjson.dumps({"message": "Go on."})
    messages = [request_bytes(port, f"/p/live/sessions/s{number}/respond", said) for number in range(sessions)]
    began = time.perf_counter()
    await asyncio.gather(*(whole_answers(port, message, count // sessions, 1) for message in messages))
    return count / (time.perf_counter() - began)


async def prepare(file: Path, sessions: int, floors: int, variables: int) -> None:
    """Furnish the database of a server that has not started."""
    store = SqliteStore(file, reserve=0)
    await store.start()
    for number in range(sessions):
        await store.write(furnish, f"s{number}", floors, variables)
    await store.close()


def row(what: str, sessions: int, floors: int | str, variables: int | str, value: float, cpu: float | None = None) -> None:
    """Print one line of the table; ``cpu`` is milliseconds of the server's processor time for each turn."""
    told = "" if cpu is None else f"{cpu:.2f}"
    print(f"| {what} | {sessions} | {floors} | {variables} | {value:,.0f} | {told} |", flush=True)


def measured(server: Server, count: int, asking: Callable[[int], Coroutine[Any, Any, float]]) -> tuple[float, float]:
    """Turns per second of so many, and the milliseconds of processor time of each, after forty that do not count."""
    asyncio.run(asking(40))
    before = server.cpu()
    value = asyncio.run(asking(count))
    return value, (server.cpu() - before) / count * 1000


def measure_memory(upstream: int, floors: int, turns: int) -> None:
    """Print what live turns on a long chat leave."""
    print("| live turns | floors before | MB before | MB after | longest pause of the collector |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(prepare(Path(folder) / "data" / "agentui.db", 8, floors, 10))
        server = start_proxy(Path(folder), upstream, "tests.bench.collected")
        try:
            asyncio.run(by_respond(server.port, 8, 80))
            before = server.memory()
            asyncio.run(by_respond(server.port, 8, turns))
            after = server.memory()
        finally:
            server.stop()
        assert server.process.stdout is not None
        pause = float(server.process.stdout.read().split()[-1])
    print(f"| {turns} | {floors} | {before:.0f} | {after:.0f} | {pause:.0f} ms |", flush=True)


def main() -> None:
    """Run everything and print Markdown tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=1.0, help="how long each case in process takes")
    parser.add_argument("--requests", type=int, default=240, help="requests of each case through the proxy")
    parser.add_argument("--floors", type=int, nargs="+", default=[10, 4_000, 10_000])
    parser.add_argument("--variables", type=int, nargs="+", default=[10, 1000])
    parser.add_argument("--only", choices=["speed", "memory"])
    parser.add_argument("--turns", type=int, default=800, help="turns of the case of memory")
    options = parser.parse_args()
    if options.only != "memory":
        measure_speed(options)
    if options.only != "speed":
        upstream = start("tests.bench.upstream")
        try:
            measure_memory(upstream.port, 2_000, options.turns)
        finally:
            upstream.stop()


def measure_speed(options: argparse.Namespace) -> None:
    """Print how fast turns are."""
    print("| durable turns per second | sessions | floors | variables a tier | turns/s | CPU ms a turn |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        row("bare sqlite3", 1, "-", "-", bare(Path(folder) / "bare.db", options.seconds))
    cases = [(floors, variables) for floors in options.floors for variables in options.variables]
    for floors, variables in cases:
        for sessions in (1, 8):
            with tempfile.TemporaryDirectory() as folder:
                # The floors of one session are what a turn meets; the others would only take their time to make.
                value = asyncio.run(in_process(Path(folder) / "t.db", sessions, floors // sessions, variables, options.seconds))
            row("in process", sessions, floors // sessions, variables, value)
    upstream = start("tests.bench.upstream")
    try:
        for floors, variables in cases:
            with tempfile.TemporaryDirectory() as folder:
                asyncio.run(prepare(Path(folder) / "data" / "agentui.db", 8, floors // 8, variables))
                proxy = start_proxy(Path(folder), upstream.port)
                try:
                    for sessions in (1, 8):
                        for pipeline, named in (("turn", True), ("plain", False)):
                            asking = partial(through_proxy, proxy.port, pipeline, sessions, named)
                            value, cpu = measured(proxy, options.requests, asking)
                            what = "through the proxy" if named else "through the proxy, no session"
                            row(what, sessions, floors // 8 if named else "-", variables if named else "-", value, cpu)
                        value, cpu = measured(proxy, options.requests, partial(by_respond, proxy.port, sessions))
                        row("by respond", sessions, floors // 8, variables, value, cpu)
                finally:
                    proxy.stop()
    finally:
        upstream.stop()


if __name__ == "__main__":
    main()
