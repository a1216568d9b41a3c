"""The rule of sight, word by word; that its work is linear; and what is kept of it between two turns."""

from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Connection, insert

from agentui.chats.listing import Paging
from agentui.chats.pages import activate_page
from agentui.memories.edges import create_edge, list_edges
from agentui.memories.hosts import branch_scope_id
from agentui.memories.items import NewItem, change_item, create_item, delete_item
from agentui.memories.reading import Spot, Stamp, look, read_facts
from agentui.memories.records import HiddenReason
from agentui.memories.sight import NOTHING_NAMED, EdgeFact, ItemFact, NamedFloor, PageState, Place, Sight, no_sight
from agentui.memories.sights import Sights
from agentui.store.tables import memory_edges, memory_items, pages
from tests.chats.conftest import Memory, make_store, memory
from tests.costs import counting
from tests.search.chat import add_floors, furnish
from tests.unit.work import assert_doubling

__all__ = ["make_store", "memory"]

HERE = branch_scope_id("s", "main")
THERE = branch_scope_id("s", "trunk")
PLACE = Place("me", "s", "main", "f2", {HERE: None, THERE: 100})


def fact(id: str = "i", *sources: PageState, scope: str = "branch", scope_id: str = HERE, **more: Any) -> ItemFact:
    """An item, written by hand on this branch unless said otherwise."""
    values: dict[str, Any] = {"status": None, "created_at": 50, "named": NOTHING_NAMED, **more}
    return ItemFact(id, scope, scope_id, values["status"], values["created_at"], sources, values["named"])  # type: ignore[arg-type]


def sight_of(*items: ItemFact, edges: tuple[EdgeFact, ...] = ()) -> Sight:
    """What is seen at the third floor."""
    return no_sight(PLACE).extended(PLACE, ("f0", "f1", "f2"), items, edges)


def edge(from_id: str, to_id: str, relation: str = "updates", *sources: PageState) -> EdgeFact:
    return EdgeFact(f"{from_id}-{to_id}-{relation}", from_id, to_id, relation, sources)


ASIDE = NamedFloor("f9", is_set_aside=True, is_replaced=False)
ELSEWHERE = NamedFloor("f9", is_set_aside=False, is_replaced=False)
DROPPED = NamedFloor("f1", is_set_aside=False, is_replaced=True)
ON_PATH = NamedFloor("f1", is_set_aside=True, is_replaced=False)


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (fact("i", PageState("f1", True)), None),
        (fact("i", PageState("f1", True), PageState("f3", True)), "off_path"),
        (fact("i", PageState("f1", True), PageState("f2", False)), "replaced"),
        (fact("i", PageState("f3", True), PageState("f1", None)), "gone"),
        (fact("i", PageState("f1", True), scope="chat", scope_id="another"), None),
        (fact("i", PageState("f1", True), status="waiting"), "waiting"),
        (fact("i", status="deprecated"), "deprecated"),
        (fact("i", status="compacted"), "compacted"),
        (fact("i", scope="global", scope_id="me"), None),
        (fact("i", scope="global", scope_id="somebody"), "other_scope"),
        (fact("i", scope="global", scope_id="me", named=ELSEWHERE), None),
        (fact("i", scope="chat", scope_id="s"), None),
        (fact("i", scope="chat", scope_id="t"), "other_scope"),
        (fact("i", scope="chat", scope_id="s", named=ASIDE), "off_path"),
        (fact("i", scope="chat", scope_id="s", named=ON_PATH), None),
        (fact("i", scope="chat", scope_id="s", named=DROPPED), "replaced"),
        (fact("i", scope="floor", scope_id="f1"), None),
        (fact("i", scope="floor", scope_id="f3"), "other_scope"),
        (fact("i"), None),
        (fact("i", named=ELSEWHERE), "off_path"),
        (fact("i", scope_id=branch_scope_id("s", "side")), "other_scope"),
        (fact("i", scope_id=THERE, created_at=99), None),
        (fact("i", scope_id=THERE, created_at=100), "other_scope"),
        (fact("i", scope_id=THERE, created_at=100, named=ON_PATH), None),
        (fact("i", scope_id=THERE, created_at=99, named=ELSEWHERE), "off_path"),
    ],
)
def test_why_an_item_is_hidden(item: ItemFact, reason: HiddenReason | None) -> None:
    sight = sight_of(item)
    hidden = sight.hidden("i")
    assert (None if hidden is None else hidden.reason) == reason
    assert sight.sees("i") is ("i" in sight.visible) is (reason is None)


def test_what_edges_hide() -> None:
    items = [fact(id) for id in "abcdefgh"] + [fact("off", PageState("f9", True)), fact("old", status="deprecated")]
    sight = sight_of(
        *items,
        edges=(
            edge("b", "a"),
            edge("c", "b", "compacts"),
            edge("d", "d"),  # itself
            edge("e", "f"),
            edge("f", "g", "resolves"),
            edge("g", "e"),  # in a circle none is newer
            edge("off", "h"),
            edge("old", "h", "resolves"),
            edge("a", "h", "updates", PageState("f9", True)),
        ),
    )
    assert {id: (hidden.reason, hidden.by) for id in "abcdefgh" if (hidden := sight.hidden(id))} == {
        "a": ("superseded", "b"),
        "b": ("compacted", "c"),
    }
    longer = sight.extended(PLACE, ["f9"], [], [edge("a", "c")])
    assert {id for id in "abcdefgh" if not longer.sees(id)} == {"h"}, "c, b and a are a circle; off is seen by now"
    assert sight.sees("h"), "a sight is not changed by what goes on from it"


@pytest.mark.parametrize("shape", ["chain", "star", "circle", "apart"])
def test_the_work_of_the_rule_doubles_with_what_it_is_told(shape: str) -> None:
    def work(size: int) -> Any:
        items = [fact(f"{number:06}", PageState("f1" if shape != "apart" else "f9", True)) for number in range(size)]
        ids = [item.id for item in items]
        later = {"chain": ids[1:], "circle": [*ids[1:], ids[0]], "star": [ids[0]] * size, "apart": ids[1:]}[shape]
        edges = tuple(edge(start, end) for start, end in zip(ids, later, strict=False))
        return partial(sight_of, *items, edges=edges)

    assert_doubling(work, 400)


def spread(db: Connection, account: str, count: int) -> list[str]:
    """Write a chat of some floors, each with an item that was made of its answer."""
    floors = furnish(db, account, "s", [("Hi?", "Hi.")] * count)
    return [learn(db, account, floor).id for floor in floors]


def learn(db: Connection, account: str, floor: str, **fields: Any) -> Any:
    new = NewItem("branch", HERE, "fact", f"said on {floor}", sources=[(f"{floor}-a", "Hi.")], **fields)
    return create_item(db, account, new, 5)


@pytest.fixture
async def sights(memory: Memory) -> AsyncIterator[Sights]:
    yield Sights(memory.store)


async def test_what_was_read_is_kept_and_goes_on_with_the_chat(memory: Memory, sights: Sights) -> None:
    ids = await memory.write(spread, 3)
    spot = Spot("s")
    first = await sights.at(memory.account, spot)
    assert set(first.visible) == set(ids)
    assert await sights.at(memory.account, spot) is first

    [floor] = await memory.write(add_floors, "s", [("And?", "So.")], 3)
    new = (await memory.write(learn, floor)).id
    known = Stamp("s-00002", 0, (3, 0), (0, 0))
    read = await memory.read(read_facts, spot, known)
    assert (read.is_new, list(read.floors), [item.id for item in read.items]) == (True, [floor], [new]), "only what is new"
    assert set((await sights.at(memory.account, spot)).visible) == {*ids, new}

    await memory.write(create_edge, new, ids[0], "updates", 6)
    assert (await sights.at(memory.account, spot)).hidden(ids[0]) == ("superseded", new)
    await memory.write(change_item, new, {"status": "deprecated"}, 7)
    assert set((await sights.at(memory.account, spot)).visible) == set(ids)
    await memory.write(delete_item, ids[2], 8)
    assert not (await sights.at(memory.account, spot)).sees(ids[2])

    await memory.write(_other_version)
    assert (await sights.at(memory.account, spot)).hidden(ids[1]) == ("replaced", None)
    await memory.write(activate_page, "s-00001-a", 9)
    assert set((await sights.at(memory.account, spot)).visible) == {ids[0], ids[1]}
    assert set((await sights.at(memory.account, Spot(floor_id="s-00000"))).visible) == {ids[0]}
    assert (await memory.read(look, spot)).visible == (await sights.at(memory.account, spot)).visible


def _other_version(db: Connection, account: str) -> None:
    values = {"floor_id": "s-00001", "page_no": 1, "page_kind": "output", "is_active": False, "version": 2}
    db.execute(insert(pages).values(id="other", account_id=account, created_at=1, updated_at=1, **values))
    activate_page(db, account, "other", 8)


async def test_where_nothing_is_remembered_nothing_is_read(memory: Memory) -> None:
    await memory.write(furnish, "s", [("Hi?", "Hi.")] * 200)
    with counting() as counted:
        sights = Sights(memory.store)
        spot = Spot("s")
        await sights.at(memory.account, spot)
        costs = await counted.least(lambda: sights.at(memory.account, spot))
    assert costs.statements <= 7, costs.largest()


async def test_twenty_thousand_items_and_edges_on_one_are_served(memory: Memory, sights: Sights) -> None:
    await memory.write(spread, 2)
    await memory.write(_crowd, 20_000)
    spot = Spot("s")
    sight = await sights.at(memory.account, spot)
    assert len(sight.visible) == 20_002 - 1
    assert sight.hidden("i00000") is not None
    with counting() as counted:
        costs = await counted.least(lambda: sights.at(memory.account, spot), 2)
    assert costs.lines < 400, costs.largest()
    listed = await memory.read(list_edges, Paging(200, 19_900, "created_at"), "i00001")
    assert (len(listed.items), listed.total) == (0, 1)
    assert (await memory.read(list_edges, Paging(200, 19_900, "created_at"), None, "i00000")).total == 19_999


def _crowd(db: Connection, account: str, count: int) -> None:
    """Write items by hand, and edges from all to the first of them; the next write is counted."""
    item = {
        "account_id": account, "session_id": "s", "scope": "branch", "scope_id": HERE, "type": "fact", "content": "x",
        "content_form": "text", "folded": "x", "importance": 0.5, "confidence": 1.0, "status": "active",
        "lifecycle_status": "active", "author": "model", "keys_json": "[]", "entities_json": "[]", "created_at": 1,
        "updated_at": 1, "revision": 3,
    }  # fmt: skip
    ids = [f"i{number:05}" for number in range(count)]
    db.execute(insert(memory_items), [{"id": id, **item} for id in ids])
    edge = {"account_id": account, "session_id": "s", "to_id": ids[0], "relation": "updates", "revision": 3, "created_at": 1}
    db.execute(insert(memory_edges), [{"id": f"e{id}", "from_id": id, **edge} for id in ids[1:]])
