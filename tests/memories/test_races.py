"""Whoever writes memories beside others waits for them, and for nobody who waits for him; a sight that is kept stays true."""

import asyncio
from collections.abc import Awaitable
from random import Random

from sqlalchemy import Connection, text

from agentui.errors import ApiError
from agentui.memories.edges import change_edge, create_edge, delete_edge
from agentui.memories.hosts import branch_scope_id
from agentui.memories.items import NewItem, change_item, create_item, delete_item, delete_items, set_status, undo_change
from agentui.memories.reading import Spot, look
from agentui.memories.records import Edge, Item, MemoryScope
from agentui.memories.sights import Sights
from tests.chats.conftest import Memory, make_store, memory
from tests.search.chat import furnish

__all__ = ["make_store", "memory"]

ROUNDS, AT_ONCE = 6, 24


async def test_many_write_at_once(memory: Memory) -> None:
    await memory.write(furnish, "s", [("Hi?", "Hi.")] * 3)
    sights, spot, random = Sights(memory.store), Spot("s"), Random(7)
    items: list[str] = []
    edges: list[str] = []
    places: list[tuple[MemoryScope, str]] = [
        ("branch", branch_scope_id("s", "main")),
        ("chat", "s"),
        ("global", memory.account),
    ]

    async def made(writing: Awaitable[Item | Edge], into: list[str]) -> None:
        into.append((await writing).id)

    def another() -> Awaitable[object]:
        scope, scope_id = random.choice(places)
        sources = [(f"s-0000{random.randrange(3)}-a", None)] if random.random() < 0.5 else []
        new = NewItem(scope, scope_id, "fact", "words", sources=sources)
        return made(memory.write(create_item, new, 5), items)

    def change() -> Awaitable[object]:
        one, other = random.choices(items, k=2)
        edge = random.choice(edges or [""])
        relation = random.choice(("updates", "resolves", "supports"))
        return random.choice(
            (
                another,
                lambda: made(memory.write(create_edge, one, other, relation, 6), edges),
                lambda: memory.write(change_edge, edge, relation),
                lambda: memory.write(delete_edge, edge),
                lambda: memory.write(change_item, one, {"scope": "chat", "scope_id": "s", "sources": []}, 6),
                lambda: memory.write(set_status, [one, other], random.choice(("active", "deprecated")), 6),
                lambda: memory.write(delete_item, one, 6),
                lambda: memory.write(delete_items, [one, other], 6),
                lambda: memory.write(undo_change, one, 6),
                lambda: sights.at(memory.account, spot),
            )
        )()

    await asyncio.gather(*(another() for _ in range(8)))
    for _ in range(ROUNDS):
        done = await asyncio.gather(*(change() for _ in range(AT_ONCE)), return_exceptions=True)
        failed = [each for each in done if isinstance(each, BaseException)]
        assert all(isinstance(each, ApiError) and each.status in (404, 409) for each in failed), failed
        kept, fresh = await sights.at(memory.account, spot), await memory.read(look, spot)
        assert kept.visible == fresh.visible
        assert {id: kept.hidden(id) for id in items} == {id: fresh.hidden(id) for id in items}
    assert await memory.store.read(deadlocks) == 0


def deadlocks(db: Connection) -> int:
    """How often PostgreSQL had to end two who waited for each other."""
    if db.dialect.name == "sqlite":
        return 0
    query = text("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
    return int(db.execute(query).scalar_one())
