"""kill -9 at any moment: every acknowledged turn is there, once and whole, and no turn is there in part (reliability S1)."""

import asyncio
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.store.test_migrations import FOLDER, open_with
from tests.store.turns import ROWS, rows_by_turn

ROOT = Path(__file__).parent.parent.parent
CALLERS = 4

WRITE = """
import asyncio, sys
from tests.store.test_migrations import FOLDER, open_with
from tests.store.turns import open_session, save_turn

async def write(store, branch):
    for number in range(1_000_000):
        sys.stdout.write(await store.write(save_turn, branch, number) + chr(10))
        sys.stdout.flush()

async def main():
    store = open_with(sys.argv[1], FOLDER)
    await store.start()
    branches = [sys.argv[2] + "." + str(caller) for caller in range(int(sys.argv[3]))]
    for branch in branches:
        await store.write(open_session, branch)
    async with asyncio.TaskGroup() as group:
        for branch in branches:
            group.create_task(write(store, branch))

asyncio.run(main())
"""


@pytest.mark.timeout(900)  # each kill takes two starts, on a machine that may be busy
@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
async def test_what_was_acknowledged_survives_a_kill_whole(request: pytest.FixtureRequest, tmp_path: Path, engine: str) -> None:
    place = str(tmp_path / "data" / "agentui.db") if engine == "sqlite" else request.getfixturevalue("database")
    chance = random.Random(engine)
    acknowledged: set[str] = set()
    for cycle in range(request.config.getoption("--kills", default=4)):
        acknowledged |= await asyncio.to_thread(write_until_killed, place, str(cycle), chance.randrange(4, 60))
        store = open_with(place, FOLDER)
        await store.start()
        found = await store.read(rows_by_turn)
        assert not store.status["read_only"]
        await store.close()
        assert set(found.values()) == {ROWS}
        assert acknowledged <= set(found)
        assert len(found) - len(acknowledged) <= CALLERS * (cycle + 1)
    assert len(acknowledged) > 10


def write_until_killed(place: str, cycle: str, turns: int) -> set[str]:
    """Let a process write turns, kill it when it has said so many, and return all that it said were written."""
    command = [sys.executable, "-c", WRITE, place, cycle, str(CALLERS)]
    with subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        first = "".join(process.stdout.readline() for _ in range(turns))
        assert first, "the process ended by itself"
        process.kill()
        lines = (first + process.stdout.read()).splitlines(keepends=True)
    return {line.strip() for line in lines if line.endswith("\n")}
