"""``python -m tests.bench.variables``: how often a second the five tiers are resolved in process, on SQLite.

The goal is 5,000/s with 10 variables a tier. Measured twice: the transaction alone (the place, the layers, the winners,
every value read), and awaited through the store, where a thread does it while the event loop turns.
"""

import asyncio
import tempfile
import time
from pathlib import Path

from sqlalchemy import Connection, insert

from agentui.principal import DEFAULT_ACCOUNT
from agentui.store.sqlite import SqliteStore
from agentui.store.tables import branches, floors, pages, sessions
from agentui.variables.places import find_place
from agentui.variables.records import Put, put_all
from agentui.variables.resolve import load_layers, resolve
from agentui.variables.scopes import GLOBAL, Target, branch_target

SECONDS = 2.0
AT_ONCE = 16
TIMES = {"account_id": DEFAULT_ACCOUNT, "created_at": 1, "updated_at": 1}


def fill(db: Connection, variables: int, floor_count: int) -> None:
    """One session whose last floor's page sees ``variables`` in each tier; every other floor has two of its own."""
    db.execute(insert(sessions).values(id="s", **TIMES))
    db.execute(insert(branches).values(session_id="s", branch_id="main", **TIMES))
    names = [f"f{number}" for number in range(floor_count)]
    common = {**TIMES, "session_id": "s", "branch_id": "main", "state": "draft"}
    db.execute(insert(floors), [{**common, "id": name, "floor_no": number} for number, name in enumerate(names)])
    page = {**TIMES, "page_no": 1, "page_kind": "output", "is_active": True}
    db.execute(insert(pages), [{**page, "id": f"p-{name}", "floor_id": name} for name in names])
    others = [Put(Target("floor", name), key, '"calm"') for name in names[:-1] for key in ("mood", "place")]
    for start in range(0, len(others), 1000):
        put_all(db, DEFAULT_ACCOUNT, others[start : start + 1000], 1)
    last = names[-1]
    targets = (GLOBAL, Target("chat", "s"), branch_target("s", "main"), Target("floor", last), Target("page", f"p-{last}"))
    for target in targets:
        put_all(db, DEFAULT_ACCOUNT, [Put(target, f"key {n}", f'{{"n": {n}}}') for n in range(variables)], 1)


def resolve_once(db: Connection, page: str) -> int:
    """What GET /variables/resolve does, without its JSON; returns how many keys there are."""
    place = find_place(db, DEFAULT_ACCOUNT, "s", None, None, page)
    layers = load_layers(db, DEFAULT_ACCOUNT, place.session_id, place.branch_id, place.floor_id, place.page_id)
    return len([winner.value.value for winner in resolve(layers).values()])


def rate_alone(db: Connection, page: str) -> float:
    """Transactions a second on one connection."""
    done, began = 0, time.perf_counter()
    while time.perf_counter() - began < SECONDS:
        resolve_once(db, page)
        done += 1
    return done / (time.perf_counter() - began)


async def rate_awaited(store: SqliteStore, page: str) -> float:
    """Transactions a second for many who await the store at once."""
    done, began = 0, time.perf_counter()

    async def ask() -> None:
        nonlocal done
        while time.perf_counter() - began < SECONDS:
            await store.read(resolve_once, page)
            done += 1

    await asyncio.gather(*(ask() for _ in range(AT_ONCE)))
    return done / (time.perf_counter() - began)


async def main() -> None:
    """Print the table."""
    print("variables a tier    floors    alone/s    awaited/s")
    for variables in (10, 1000):
        for floor_count in (10, 10_000):
            with tempfile.TemporaryDirectory() as folder:
                store = SqliteStore(Path(folder) / "agentui.db", reserve=0)
                await store.start()
                await store.write(fill, variables, floor_count)
                page = f"p-f{floor_count - 1}"
                alone, awaited = await store.read(rate_alone, page), await rate_awaited(store, page)
                print(f"{variables:16,}{floor_count:10,}{alone:11,.0f}{awaited:13,.0f}", flush=True)
                await store.close()


if __name__ == "__main__":
    asyncio.run(main())
