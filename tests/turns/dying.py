"""Turns whose process is killed inside their commit: ``python -m tests.turns.dying PLACE EVERY``.

``PLACE`` is SQLite's file or PostgreSQL's URL of an empty memory. For each kind of turn a child process plays one and kills
itself before the first of the steps of its commit, another child before one ``EVERY`` steps later, and so on until one commits.
After each kill the memory must hold what it held before, and after the commit the whole turn; it is said which was found wrong.
"""

import asyncio
import inspect
import itertools
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from agentui.chats.parts import Content
from agentui.jobs.runner import JobRunner
from agentui.store.base import Store
from agentui.store.postgres import PostgresStore
from agentui.store.sqlite import SqliteStore
from agentui.store.tables import floors, generations, messages, metadata, pages, runs
from agentui.turns import ending
from agentui.turns.repeats import Claim, Saved, pack
from agentui.turns.request import Outcome, TurnKind
from agentui.turns.service import TurnService
from tests.postgres import PATIENCE
from tests.turns.chat import Chat, count

SAVED = Saved(200, {"content-type": "application/json"}, pack(b"{}"))
OUTCOME = Outcome(Content("Well met."), 3, 5, summaries=("They met.",), explain='{"sections": []}', saved=SAVED)
CLAIM = Claim("key", "fingerprint")
COUNTED: Mapping[TurnKind, tuple[int, int | None]] = {
    "retry_turn": (2, None),
    "edit_and_regenerate": (2, 2),
    "respond": (3, 2),
    "regenerate_page": (3, 2),
}
"""What the branch's counter comes to by each kind of turn, played in this order, and that of the edit's branch."""


@asynccontextmanager
async def chat_at(place: str, name: str) -> AsyncIterator[Chat]:
    """The chat of a process of this name, on a store of its own."""
    is_alone = "://" not in place
    store: Store = SqliteStore(Path(place)) if is_alone else PostgresStore(place, pool_size=2, patience=PATIENCE)
    turns = TurnService(store, JobRunner(store, name), name, queue_seconds=0, is_alone=is_alone)
    try:
        yield Chat(turns, store)
    finally:
        await turns.close()
        await store.close()


async def play(place: str, name: str, kind: TurnKind, target: Mapping[str, Any], step: int) -> None:
    """One turn, in a process that is killed before this step of its commit."""
    async with chat_at(place, name) as chat:
        text = "Good day." if kind in ("respond", "edit_and_regenerate") else None
        turn = await chat.begin(kind, text, claim=CLAIM if kind == "respond" else None, **target)
        count(turn)
        die_before(step)
        await turn.commit(OUTCOME if kind == "respond" else replace(OUTCOME, saved=None))
        os._exit(0)  # nothing is tidied up: what was acknowledged is durable


def die_before(step: int) -> None:
    """Kill this process before the step of this number: a call of one of the functions that ``commit_turn`` is made of."""
    numbers = itertools.count()

    def dying(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            if next(numbers) == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*args, **kwargs)

        return called

    for name, value in list(vars(ending).items()):
        if (
            inspect.isfunction(value)
            and next(iter(inspect.signature(value).parameters), None) == "db"
            and name != "commit_turn"
        ):
            setattr(ending, name, dying(value))


def image(db: Connection) -> set[tuple[Any, ...]]:
    """Every row that says more than that a turn has failed, without its times, and without the counter by which those who
    read a chat's past see that it may have changed."""
    failed = set(db.execute(select(floors.c.id).where(floors.c.state == "failed")).scalars())
    failed |= set(db.execute(select(pages.c.id).where(pages.c.floor_id.in_(failed))).scalars())
    failed |= set(db.execute(select(messages.c.id).where(messages.c.page_id.in_(failed))).scalars())
    found: set[tuple[Any, ...]] = set()
    for table in metadata.sorted_tables:
        columns = [column for column in table.c if not column.name.endswith("_at") and column.name != "shape"]
        rows = [] if table.name in ("runs", "jobs", "staged_writes") else db.execute(select(*columns)).all()
        found |= {(table.name, *row) for row in rows if not failed.intersection(map(str, row))}
    return found


def under_way(db: Connection) -> list[str]:
    """The runs and the locks of turns that are not over."""
    query = select(runs.c.floor_id).where(runs.c.status == "running")
    return [*db.execute(query).scalars(), *db.execute(select(generations.c.floor_id)).scalars()]


async def prepare(place: str) -> tuple[str, str, set[tuple[Any, ...]]]:
    """Two turns, as they are found later: the floor and the question of the second, and the image."""
    async with chat_at(place, "first") as chat:
        await chat.play()
        floor = (await chat.play()).place.floor_id
        return floor, (await chat.question(floor))[0], await chat.store.read(image)


async def after(place: str, dead: str) -> tuple[set[tuple[Any, ...]], tuple[int, int | None]]:
    """The image when the turns of a dead process have failed, and the counters of main and of the edit's branch."""
    async with chat_at(place, f"after {dead}") as chat:
        await chat.turns.recovery.release(dead)
        left = await chat.store.read(under_way)
        assert not left, f"{dead} left {left}"
        chat.session_id = await chat.store.read(lambda db: db.execute(select(floors.c.session_id).limit(1)).scalar_one())
        main, alt = await chat.counters(), await chat.counters("alt")
        return await chat.store.read(image), (main["branch"], alt.get("branch"))


def main(place: str, every: int) -> None:
    """Kill, and look. Raises AssertionError for what is wrong."""
    floor, question, before = asyncio.run(prepare(place))
    targets: Mapping[TurnKind, Mapping[str, Any]] = {
        "retry_turn": {"target_floor_id": floor},
        "edit_and_regenerate": {"source_message_id": question, "branch": "alt"},
    }
    for kind, counted in COUNTED.items():
        for step in itertools.count(0, every):
            name = f"{kind} {step}"
            child = os.fork()
            if child == 0:
                asyncio.run(play(place, name, kind, targets.get(kind, {}), step))
            _, status = os.waitpid(child, 0)
            now, counters = asyncio.run(after(place, name))
            if not os.WIFSIGNALED(status):
                assert status == 0, f"{name} ended with {status}"
                assert counters == counted, f"{name}: {counters}"
                before = now
                break
            assert now == before, f"{name}: {now ^ before}"
        print(kind, step, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
