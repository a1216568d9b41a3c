"""Power that fails: a program's writes and syncs are written down, and the disk is put together as it may be found after the
power failed at any point of them (reliability S2). kill -9 proves nothing of this: the kernel keeps what was not synced.

What was synced is there. Of what was not, nothing is there, or any part of it in any order, a write torn at a sector too. A new
file has its name once its folder was synced. Whatever was acknowledged before that point must be in the database, whole.
"""

import asyncio
import random
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from tests.campaigns.campaign import Campaign, Trial
from tests.campaigns.disk import build, compiler, preloaded
from tests.conftest import ROOT
from tests.store.turns import ROWS

HEAD = struct.Struct("=cHqq")
SECTOR = 512

WRITE = """
import asyncio, os, sys
from tests.store.test_migrations import FOLDER, open_with
from tests.store.turns import open_session, save_turn

async def write(store, branch, turns, told):
    for number in range(turns):
        id = await store.write(save_turn, branch, number)
        os.write(told, (id + chr(10)).encode())

async def main():
    told = os.open(sys.argv[1] + "/told", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    store = open_with(sys.argv[1] + "/agentui.db", FOLDER)
    await store.start()
    branches = ["a", "b", "c"]
    for branch in branches:
        await store.write(open_session, branch)
    await store.write(lambda db: db.exec_driver_sql("PRAGMA wal_autocheckpoint=40").scalar())
    async with asyncio.TaskGroup() as group:
        for branch in branches:
            group.create_task(write(store, branch, int(sys.argv[2]), told))
    os._exit(0) if sys.argv[3] == "cut" else await store.close()

asyncio.run(main())
"""


@dataclass(frozen=True)
class Step:
    """A change of a file, or a sync of it (or of its folder)."""

    kind: bytes
    path: str
    offset: int
    data: bytes


def steps(log: Path) -> Iterator[Step]:
    """What a program did, in its order."""
    written = log.read_bytes()
    place = 0
    while place < len(written):
        kind, path_length, offset, length = HEAD.unpack_from(written, place)
        place += HEAD.size
        path = written[place : place + path_length].decode()
        place += path_length
        yield Step(kind, path, offset, written[place : place + length])
        place += length


@dataclass
class Disk:
    """Files as they are for sure (``kept``), and what was done to them since they were synced."""

    kept: dict[str, bytearray] = field(default_factory=dict)
    pending: dict[str, list[Step]] = field(default_factory=dict)
    unnamed: set[str] = field(default_factory=set)
    """New files whose folder was not synced yet."""

    def do(self, step: Step) -> None:
        """One step further."""
        match step.kind:
            case b"c":
                self.kept.setdefault(step.path, bytearray())
                self.unnamed.add(step.path)
            case b"s":
                for done in self.pending.pop(step.path, ()):
                    _apply(self.kept.setdefault(step.path, bytearray()), done)
                self.unnamed -= {path for path in self.unnamed if path.rpartition("/")[0] == step.path.rstrip("/")}
            case b"r":
                to = step.data.decode()
                self.kept[to], self.pending[to] = self.kept.pop(step.path, bytearray()), self.pending.pop(step.path, [])
            case b"u":
                self.kept.pop(step.path, None)
                self.pending.pop(step.path, None)
            case _:
                self.pending.setdefault(step.path, []).append(step)

    def found(self, chance: random.Random | None) -> dict[str, bytes]:
        """The files after the power failed: without what was not synced, or with a random part of it."""
        files = {}
        for path, kept in self.kept.items():
            if path in self.unnamed and (chance is None or chance.random() < 0.5):
                continue
            content = bytearray(kept)
            if chance is not None:
                share = chance.choice((0.1, 0.5, 0.9, 1.0))
                for step in self.pending.get(path, ()):
                    if chance.random() < share:
                        _apply(content, _torn(step, chance))
            files[path] = bytes(content)
        return files


def _apply(content: bytearray, step: Step) -> None:
    if step.kind == b"t":
        del content[step.offset :]
        content.extend(bytes(step.offset - len(content)))
        return
    if len(content) < step.offset:
        content.extend(bytes(step.offset - len(content)))
    content[step.offset : step.offset + len(step.data)] = step.data


def _torn(step: Step, chance: random.Random) -> Step:
    """The step, or its first sectors."""
    if len(step.data) <= SECTOR or chance.random() < 0.8:
        return step
    return Step(step.kind, step.path, step.offset, step.data[: SECTOR * chance.randrange(1, len(step.data) // SECTOR + 1)])


def turns_in(folder: Path) -> dict[str, int]:
    """The turns in a database file and how many rows each has. Raises sqlite3.DatabaseError, and ValueError for damage."""
    with closing(sqlite3.connect(folder / "agentui.db")) as db:
        checked = db.execute("PRAGMA integrity_check").fetchall()
        if checked != [("ok",)]:
            raise ValueError(f"the file is damaged: {checked[:3]}")
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'floors'").fetchone():
            return {}
        found: dict[str, int] = {}
        for query in (
            "SELECT id FROM floors",
            "SELECT floor_id FROM runs",
            "SELECT floor_id FROM pages",
            "SELECT floor_id FROM pages JOIN messages ON messages.page_id = pages.id",
            "SELECT scope_id FROM variables",
        ):
            for (id,) in db.execute(query):
                found[id] = found.get(id, 0) + 1
        return found


def wrong_after(files: dict[str, bytes], data: Path, folder: Path, acknowledged: set[str]) -> str | None:
    """Put the files into a folder and open the database; what is wrong with it."""
    for old in folder.iterdir():
        old.unlink()
    for path, content in files.items():
        # Backups and the like lie in folders of their own; the database does not need them.
        if Path(path).parent == data and Path(path).name.startswith("agentui.db"):
            (folder / Path(path).name).write_bytes(content)
    try:
        found = turns_in(folder)
    except (sqlite3.Error, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    half = {id: rows for id, rows in found.items() if rows != ROWS}
    if half:
        return f"half: {half}"
    lost = acknowledged - found.keys()
    return f"lost: {sorted(lost)[:5]} of {len(acknowledged)}" if lost else None


async def run(trial: Trial) -> None:
    """Let a program write, then let the power fail at random points of what it did."""
    if compiler() is None:
        trial.figures["skipped"] = "there is no C compiler, or this is not Linux"
        trial.counts["power failures"] = trial.size
        return
    await asyncio.to_thread(fail_power, trial)


def fail_power(trial: Trial, program: str = WRITE) -> None:
    """The same, in a thread; ``program`` writes the turns."""
    data, restored, log = trial.folder / "data", trial.folder / "restored", trial.folder / "log"
    data.mkdir()
    restored.mkdir()
    turns = max(10, min(200, trial.size // 20))
    environment = preloaded(build(trial.folder), data, log=log)
    environment["PYTHONPATH"] = str(ROOT)
    command = [sys.executable, "-c", program, str(data), str(turns), trial.random.choice(("cut", "close"))]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, timeout=trial.seconds * 4)
    done = list(steps(log))
    points = sorted(trial.random.sample(range(1, len(done) + 1), min(trial.size // 2, len(done))))
    disk, place, acknowledged = Disk(), 0, set[str]()
    for point in points:
        if trial.is_over():
            break
        for step in done[place:point]:
            if step.path.endswith("/told"):
                if step.kind == b"w":
                    acknowledged.add(step.data.decode().strip())
            else:
                disk.do(step)
        place = point
        for chance in (None, trial.random):
            wrong = wrong_after(disk.found(chance), data, restored, acknowledged)
            trial.counts["power failures"] += 1
            if wrong is not None:
                trial.fail(f"step {point} of {len(done)}, {'with a part' if chance else 'without any'} of the rest: {wrong}")
    trial.counts["acknowledged turns"] = len(acknowledged)
    trial.counts["steps"] = len(done)


CAMPAIGNS = [Campaign("store.power", run, counted="power failures", short=120, long=10_000, short_seconds=40)]
