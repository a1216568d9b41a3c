"""A server on a disk that fails: ``python -m tests.campaigns.failing_disk FOLDER SEED MOST SECONDS``, run with ``disk.c``
preloaded; prints one JSON line: how many calls failed, and what was wrong then (reliability S3, S4, G4).

For every scenario and every kind of failure: the n-th call of that kind fails, for n = 0, 1, 2 ... until the scenario makes
fewer calls. Once with that one call, and, for a disk without room, with all calls from it on. Whatever fails: the answer is a
declared one; what was acknowledged is there; what was refused is not; when the disk works again, everything does.
"""

import asyncio
import json
import shutil
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import aiohttp

import agentui.turns.recovery
from agentui.errors import AgentUIError
from agentui.jsonio import dumps
from agentui.serving.application import create_app
from agentui.serving.listener import Listener
from agentui.settings import Settings
from agentui.store.migrations import FOLDER, current_revision, head_revision
from agentui.store.sqlite import SqliteStore
from tests.api.callers import Caller, is_whole
from tests.campaigns.disk import Control, Kind
from tests.campaigns.witness import ANSWER, File, Witness, counting, found_wrong
from tests.conftest import ServerState
from tests.store.turns import ROWS, open_session, rows_by_turn, save_turn
from tests.turns.house import Memory
from tests.upstreams.server import start_mock

DECLARED = {503, 507}
ORDERS = [*((kind, False) for kind in Kind), (Kind.NO_SPACE, True), (Kind.WRITE_FAILS, True)]
_PATIENCE = 40.0
"""Seconds after which something hangs; a locked database takes five."""


@dataclass
class House:
    """A server in this process, and what is asked of it."""

    control: Control
    state: ServerState
    memory: Memory
    tables: File
    number: int = 0
    said: int = 0

    async def turn(self, session: str, *, stream: bool) -> tuple[int, str | None, str]:
        """A turn: the status, the floor, and what became of it: saved, not saved, or cut."""
        self.said += 1
        caller = Caller("openai", self.memory.origin, prefix="/p/count", headers={"x-agentui-session": session})
        got = await caller.ask(f"Words {self.said}", stream=stream)
        floor = got.headers.get("x-agentui-floor")
        if got.status != 200:
            return got.status, floor, got.body.decode()[:300]
        if stream and not is_whole("openai", got.events):
            return got.status, floor, "cut"
        return got.status, floor, "not saved" if got.headers.get("x-agentui-not-saved") else "saved"

    def is_read_only(self) -> bool:
        """Whether the store takes the file for damaged."""
        return bool(self.state.store.status["read_only"])

    async def settled(self, session: str) -> list[str]:
        """What is wrong in a session when nothing fails any more and everything had its time."""
        query = f"SELECT count(*) FROM floors WHERE state = 'generating' AND session_id = '{session}'"
        end = time.monotonic() + _PATIENCE
        while (await self.tables.rows(query))[0][0]:
            if time.monotonic() > end:
                return ["a floor generates for ever"]
            await asyncio.sleep(0.01)
        return []


Act = Callable[[], Awaitable[list[str]]]
"""What happens while the disk fails; returns what to say of it when it is wrong, after the disk works again."""
Scenario = Callable[[House], AsyncIterator[Callable[[], Awaitable[Any]]]]


async def a_turn(house: House, *, stream: bool) -> tuple[Act, Act]:
    """One turn in a session that has one already."""
    session = f"turn{house.number}"
    status, floor, what = await house.turn(session, stream=False)
    assert (status, what) == (200, "saved"), what
    id = (await house.memory.get(f"/floors/{floor}"))["session_id"]
    heard: list[tuple[int, str | None, str]] = []

    async def act() -> list[str]:
        heard.append(await house.turn(session, stream=stream))
        status, _, what = heard[0]
        return [] if status in {200, *DECLARED} else [f"the turn was answered {status}: {what}"]

    async def check() -> list[str]:
        status, _, what = heard[0]
        found = await house.settled(id)
        states = await house.memory.states(id)
        # A stream's headers are out before anybody knows whether it is saved.
        if what == "saved" and not stream and states != ["committed", "committed"]:
            found.append(f"an acknowledged turn is {states}")
        if what in ("not saved", "cut") and "committed" in states[1:]:
            found.append(f"a turn that was {what} is {states}")
        if status != 200 and "committed" in states[1:]:
            found.append(f"a turn that was refused with {status} is {states}")
        again = await house.turn(session, stream=False)
        if (again[0], again[2]) != (200, "saved"):
            found.append(f"the next turn is {again}")
        return found + await found_wrong(house.tables, Witness(Random(0)), session)

    return act, check


async def a_batch(house: House) -> tuple[Act, Act]:
    """Two variables at once."""
    _, floor, _ = await house.turn(f"batch{house.number}", stream=False)
    id = (await house.memory.get(f"/floors/{floor}"))["session_id"]
    items = [{"scope": "chat", "scope_id": id, "key": key, "value": house.number} for key in ("left", "right")]
    heard: list[int] = []

    async def act() -> list[str]:
        status, body = await house.memory.call("PUT", "/variables/batch", {"items": items})
        heard.append(status)
        return [] if status in {200, *DECLARED} else [f"the batch was answered {status}: {body}"]

    async def check() -> list[str]:
        kept = await house.memory.variables("chat", id)
        wanted = {"left": house.number, "right": house.number} if heard[0] == 200 else {}
        status, body = await house.memory.call("PUT", "/variables/batch", {"items": items})
        found = [] if kept == wanted else [f"a batch that was answered {heard[0]} left {kept}"]
        return found if status == 200 else [*found, f"the next batch is {status}: {body}"]

    return act, check


async def a_fork(house: House) -> tuple[Act, Act]:
    """A branch from a floor."""
    _, floor, _ = await house.turn(f"fork{house.number}", stream=False)
    id = (await house.memory.get(f"/floors/{floor}"))["session_id"]
    heard: list[int] = []

    async def act() -> list[str]:
        status, body = await house.memory.call("POST", f"/floors/{floor}/branch", {"branch_id": "side"})
        heard.append(status)
        return [] if status in {200, 201, *DECLARED} else [f"the fork was answered {status}: {body}"]

    async def check() -> list[str]:
        names = {branch["branch_id"] for branch in await house.memory.get(f"/sessions/{id}/branches")}
        variables = await house.memory.variables("branch", f"branch:{id}:side")
        is_there = heard[0] in (200, 201)
        found = []
        if ("side" in names, variables) != (is_there, {"gold": 1} if is_there else {}):
            found.append(f"a fork that was answered {heard[0]} left {names} and {variables}")
        status, body = await house.memory.call("POST", f"/floors/{floor}/branch", {"branch_id": "again"})
        return found if status in (200, 201) else [*found, f"the next fork is {status}: {body}"]

    return act, check


async def a_removal(house: House) -> tuple[Act, Act]:
    """A session with everything below it."""
    session = f"gone{house.number}"
    _, floor, _ = await house.turn(session, stream=False)
    await house.turn(session, stream=False)
    id = (await house.memory.get(f"/floors/{floor}"))["session_id"]
    heard: list[int] = []

    async def act() -> list[str]:
        status, body = await house.memory.call("DELETE", f"/sessions/{id}")
        heard.append(status)
        return [] if status in {200, 204, *DECLARED} else [f"the removal was answered {status}: {body}"]

    async def check() -> list[str]:
        found = []
        status, _ = await house.memory.call("GET", f"/sessions/{id}")
        is_there = heard[0] in DECLARED
        if (status == 200) != is_there:
            found.append(f"a removal that was answered {heard[0]} left a session that is {status}")
        orphans = await house.tables.rows(f"SELECT count(*) FROM variables WHERE scope_id LIKE '%{id}%'")
        if not is_there and orphans[0][0]:
            found.append(f"{orphans[0][0]} variables outlived their session")
        if is_there:
            found += await found_wrong(house.tables, Witness(Random(0)), session)
            status, body = await house.memory.call("DELETE", f"/sessions/{id}")
            if status not in (200, 204):
                found.append(f"the next removal is {status}: {body}")
        return found

    return act, check


async def a_look(house: House) -> tuple[Act, Act]:
    """Reading only."""
    _, floor, _ = await house.turn(f"look{house.number}", stream=False)

    async def act() -> list[str]:
        status, body = await house.memory.call("GET", f"/pages?floor_id={floor}")
        return [] if status in {200, *DECLARED} else [f"the look was answered {status}: {body}"]

    async def check() -> list[str]:
        said = await house.memory.said(str(floor))
        return [] if said[-1] == ("output", "assistant", ANSWER) else [f"the floor says {said}"]

    return act, check


SCENARIOS: dict[str, Callable[[House], Awaitable[tuple[Act, Act]]]] = {
    "turn": lambda house: a_turn(house, stream=False),
    "streamed turn": lambda house: a_turn(house, stream=True),
    "batch": a_batch,
    "fork": a_fork,
    "removal": a_removal,
    "look": a_look,
}


@asynccontextmanager
async def a_house(folder: Path, control: Control) -> AsyncIterator[House]:
    """A server with an empty memory."""
    for name in ("pipelines", "presets"):
        (folder / name).mkdir(parents=True)
    mock = await start_mock()
    (folder / "pipelines" / "count.json").write_bytes(dumps(counting(mock.origin)))
    data = folder / "data"
    app = create_app(Settings(port=0, pipelines=folder / "pipelines", presets=folder / "presets", data=data))
    listener = Listener(app)
    port = await listener.start("127.0.0.1", 0)
    try:
        async with aiohttp.ClientSession() as http:
            memory = Memory(f"http://127.0.0.1:{port}", http)
            house = House(control, ServerState(app), memory, File(data / "agentui.db"))
            await house.turn("first", stream=False)
            # The log goes into the file often, so that this fails too.
            await house.state.store.write(lambda db: db.exec_driver_sql("PRAGMA wal_autocheckpoint=12").scalar())
            yield house
    finally:
        control.stop()
        await listener.stop()
        await mock.close()


@dataclass
class Search:
    """How far it came, and what it found."""

    most: int
    end: float
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def is_over(self) -> bool:
        """Whether size or time is used up. A quarter of the injections are for starts."""
        served = self.counts["injections"] - self.counts["starts"]
        return served >= self.most - self.most // 4 or time.monotonic() > self.end

    def has_started_enough(self) -> bool:
        """The same for starts."""
        return self.counts["starts"] >= self.most // 4 or time.monotonic() > self.end

    async def of_house(self, folder: Path, control: Control, chance: Random, steps: range) -> None:
        """Every scenario, every kind of failure, every call."""
        cases = [(name, order) for name in SCENARIOS for order in ORDERS]
        chance.shuffle(cases)
        while cases:
            async with a_house(folder / str(len(cases)), control) as house:
                while cases and not house.is_read_only():
                    name, (kind, is_sticky) = cases.pop()
                    await self._of_case(house, name, kind, steps, is_sticky=is_sticky)
                for wrong in await house.tables.rows("PRAGMA integrity_check"):
                    if tuple(wrong) != ("ok",):
                        self.failures.append(f"the file is damaged: {wrong}")

    async def _of_case(self, house: House, name: str, kind: Kind, steps: range, *, is_sticky: bool) -> None:
        for after in steps:
            if self.is_over():
                return
            house.number += 1
            where = f"{name}, {kind.name}{' and all later ones' if is_sticky else ''}, call {after}"
            try:
                async with asyncio.timeout(_PATIENCE):
                    act, check = await SCENARIOS[name](house)
                    house.control.order(kind, after, is_sticky=is_sticky)
                    found = await act()
                    fired = house.control.stop()
                    found += await check()
            except Exception as error:  # noqa: BLE001 - whatever it is, it came of the failing disk
                fired, found = house.control.stop(), [f"{type(error).__name__}: {error}"]
            if house.is_read_only():
                # What SQLite cannot read it may take for damage. Then nothing is written until the next start; the file is
                # looked at when the house is left.
                self.counts["injections"] += 1
                self.counts["read only until the next start"] += 1
                return
            self.failures += [f"{where}: {wrong}" for wrong in found]
            if not fired:
                return
            self.counts["injections"] += 1
            self.counts[f"{kind.name.lower().replace('_', ' ')}"] += 1

    async def of_start(self, folder: Path, control: Control, chance: Random, steps: range) -> None:
        """A start that has to migrate a file of the first schema."""
        first = folder / "first"
        shutil.copytree(FOLDER, folder / "revisions", ignore=shutil.ignore_patterns("__pycache__", "r000[2-9]*", "r00[1-9]*"))
        old = SqliteStore(first / "agentui.db", reserve=65536, migrations_folder=folder / "revisions")
        await old.start()
        await old.write(open_session, "b")
        id = await old.write(save_turn, "b", 1)
        await old.close()
        orders = list(ORDERS)
        chance.shuffle(orders)
        for kind, is_sticky in orders:
            for after in steps:
                if self.has_started_enough():
                    return
                data = folder / "data"
                shutil.rmtree(data, ignore_errors=True)
                shutil.copytree(first, data)
                where = f"start, {kind.name}{' and all later ones' if is_sticky else ''}, call {after}"
                fired, found = await self._start(data, control, kind, after, id, is_sticky=is_sticky)
                self.failures += [f"{where}: {wrong}" for wrong in found]
                if not fired:
                    break
                self.counts["injections"] += 1
                self.counts["starts"] += 1

    async def _start(
        self, data: Path, control: Control, kind: Kind, after: int, id: str, *, is_sticky: bool
    ) -> tuple[int, list[str]]:
        found = []
        store = SqliteStore(data / "agentui.db", reserve=65536, busy_timeout=0.5)
        control.order(kind, after, is_sticky=is_sticky)
        try:
            await store.start()
        except AgentUIError as error:
            if error.status not in DECLARED:
                found.append(f"the start is refused with {error.status}: {error}")
        except Exception as error:  # noqa: BLE001 - whatever else comes is the fault that is looked for
            found.append(f"the start ended with {type(error).__name__}: {error}")
        fired = control.stop()
        await store.close()
        again = SqliteStore(data / "agentui.db", reserve=65536)
        await again.start()
        if again.status["read_only"]:
            found.append(f"afterwards it is read only: {again.status['reason']}")
        elif (await again.read(current_revision), await again.read(rows_by_turn)) != (head_revision(), {id: ROWS}):
            found.append(f"afterwards it holds {await again.read(rows_by_turn)}")
        await again.close()
        return fired, found


async def main(folder: Path, seed: int, most: int, seconds: float, *, every: int) -> None:
    """Search, and print the report."""
    agentui.turns.recovery.RETRY_SECONDS = 0.02  # a failed turn that could not be recorded is tried again this soon
    chance, control = Random(seed), Control(folder / "control")
    search = Search(most, time.monotonic() + seconds)
    steps = range(seed % every, 2000, every)
    await search.of_house(folder / "house", control, chance, steps)
    await search.of_start(folder / "start", control, chance, steps)
    print(json.dumps({"counts": dict(search.counts), "failures": search.failures}), flush=True)


if __name__ == "__main__":
    place, seed, most, seconds, every = sys.argv[1:]
    asyncio.run(main(Path(place), int(seed), int(most), float(seconds), every=int(every)))
