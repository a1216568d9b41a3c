"""Which floors a branch leads through: over HTTP, in timelines, comparisons and merges, also after floors were removed."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession

from agentui.jsonio import Json
from tests.api.chats.conftest import Reader
from tests.api.editor_client import say
from tests.conftest import StartServer


class Tree:
    """A session whose floors are called by letters."""

    def __init__(self, reader: Reader, session_id: str) -> None:
        self.reader = reader
        self.session_id = session_id
        self.ids: dict[str, str] = {}

    async def floor(self, name: str, number: int, branch: str = "main", parent: str | None = None, **fields: Json) -> None:
        above = {} if parent is None else {"parent_floor_id": self.ids[parent]}
        where: Json = {"branch_id": branch, "state": "committed", **above, **fields}
        self.ids[name] = await self.reader.floor_id(self.session_id, number, **where)

    async def fork(self, source: str, branch: str) -> None:
        forked = await self.reader.post(f"/floors/{self.ids[source]}/branch", {"branch_id": branch})
        assert forked.status == 201, forked.text

    async def reset(self, target: str) -> None:
        wanted = {"target_floor_id": self.ids[target]}
        assert (await self.reader.post(f"/sessions/{self.session_id}/branches/main/reset", wanted)).status == 200

    def names(self, floors: Json) -> str:
        """Floors, or their ids, by their letters."""
        by_id = {id: name for name, id in self.ids.items()}
        return "".join(by_id[floor if isinstance(floor, str) else floor["id"]] for floor in floors)

    async def path(self, branch: str, query: str = "") -> str:
        place = f"/sessions/{self.session_id}/timeline?branch_id={branch}&include_ancestors=true{query}"
        answer = await self.reader.get(place)
        assert answer.status == 200, answer.text
        return self.names(answer.body["data"]["floors"])

    async def remove(self, name: str) -> None:
        assert (await self.reader.delete(f"/floors/{self.ids[name]}")).status == 200

    async def check_that_nothing_hangs(self) -> None:
        """Every floor and every branch that is named, exists."""
        floors = [
            answer.body["data"] for id in self.ids.values() if (answer := await self.reader.get(f"/floors/{id}")).status == 200
        ]
        branches = (await self.reader.get(f"/sessions/{self.session_id}/branches")).body["data"]
        named = {floor[name] for floor in floors for name in ("parent_floor_id", "superseded_by_floor_id")}
        named |= {branch["source_floor_id"] for branch in branches}
        assert named - {None} <= {floor["id"] for floor in floors}
        lying = {(floor["id"], floor["branch_id"]) for floor in floors} | {(None, None)}
        assert {(branch["source_floor_id"], branch["source_branch_id"]) for branch in branches} <= lying


@pytest.fixture(params=["sqlite", "postgresql"])
async def tree(request: pytest.FixtureRequest, start_server: StartServer) -> AsyncIterator[Tree]:
    """main a-b-c-d, alt forked behind b: e, deep forked behind e: f."""
    settings = {"database_url": request.getfixturevalue("database")} if request.param == "postgresql" else {}
    server = await start_server({"default": say()}, **settings)
    async with ClientSession() as session:
        reader = Reader(server, session)
        tree = Tree(reader, await reader.session_id())
        for number, (name, parent) in enumerate(zip("abcd", (None, *"abc"), strict=True)):
            await tree.floor(name, number, parent=parent)
        await tree.fork("b", "alt")
        await tree.floor("e", 2, "alt", "b")
        await tree.fork("e", "deep")
        await tree.floor("f", 3, "deep", "e")
        yield tree


async def test_a_timeline_can_begin_before_the_fork(tree: Tree) -> None:
    own = await tree.reader.get(f"/sessions/{tree.session_id}/timeline?branch_id=deep")
    whole = await tree.reader.get(
        f"/sessions/{tree.session_id}/timeline?branch_id=deep&include_ancestors=true&limit=2&offset=1"
    )
    assert (tree.names(own.body["data"]["floors"]), own.body["meta"]["total"]) == ("f", 1)
    floors, meta = whole.body["data"]["floors"], whole.body["meta"]
    assert ([floor["branch_id"] for floor in floors], tree.names(floors)) == (["main", "alt"], "be")
    assert (meta["total"], meta["offset"], meta["limit"], meta["has_more"]) == (4, 1, 2, True)
    assert (await tree.path("main"), await tree.path("nowhere")) == ("abcd", "")
    await tree.fork("f", "empty")
    assert await tree.path("empty") == "abef"
    for branch, path in (("main", "abcd"), ("deep", "abef"), ("empty", "abef")):
        for offset in range(6):
            assert await tree.path(branch, f"&limit=2&offset={offset}") == path[offset : offset + 2]


async def test_what_became_of_the_source_does_not_change_a_fork(tree: Tree) -> None:
    await tree.fork("d", "late")
    await tree.reset("a")
    await tree.floor("x", 1, parent="a")
    await tree.floor("y", 2, "main", "x", state="failed")
    assert (await tree.path("main"), await tree.path("alt"), await tree.path("late")) == ("ax", "abe", "abcd")
    diff = (await tree.reader.get(f"/sessions/{tree.session_id}/branches/diff?target_branch_id=alt")).body["data"]
    shown = [tree.names(diff[name]) for name in ("base_only_floors", "target_only_floors")]
    assert (diff["fork_floor_no"], diff["shared_floor_nos"], shown) == (0, [0], ["xy", "be"])


async def test_a_merge_shows_where_the_branches_part(tree: Tree) -> None:
    async def preview(source: str, target: str) -> tuple[str, str, str, str, str]:
        place = f"/sessions/{tree.session_id}/branches/{source}/merge/preview"
        told = (await tree.reader.post(place, {"target_branch_id": target})).body["data"]
        lists = [tree.names(told[name]) for name in ("shared_floor_ids", "source_only_floors", "target_only_floors")]
        return told["strategy"], tree.names([told["fork_floor_id"]]), *lists

    assert await preview("alt", "main") == ("blocked", "b", "ba", "e", "dc")
    assert await preview("deep", "alt") == ("fast_forward", "e", "eba", "f", "")
    assert await preview("alt", "deep") == ("no_op", "e", "eba", "", "f")
    place = f"/sessions/{tree.session_id}/branches/main/merge/preview"
    itself = (await tree.reader.post(place, {"target_branch_id": "main"})).body["data"]
    assert (itself["strategy"], [conflict["code"] for conflict in itself["conflicts"]]) == ("blocked", ["same_branch"])
    other = Tree(tree.reader, await tree.reader.session_id())
    await other.floor("a", 0)
    await other.floor("b", 0, "alt")
    place = f"/sessions/{other.session_id}/branches/alt/merge/preview"
    apart = (await other.reader.post(place, {})).body["data"]
    assert (apart["fork_floor_id"], apart["shared_floor_ids"]) == (None, [])
    assert apart["source_only_floors"] == [
        {"id": other.ids["b"], "branch_id": "alt", "floor_no": 0, "state": "committed", "parent_floor_id": None}
    ]


@pytest.mark.parametrize(("removed", "paths"), [("a", "bcd be bef"), ("b", "acd ae aef"), ("e", "abcd ab abf")])
async def test_a_removed_floor_leaves_no_gap(tree: Tree, removed: str, paths: str) -> None:
    await tree.remove(removed)
    assert " ".join([await tree.path(branch) for branch in ("main", "alt", "deep")]) == paths
    await tree.check_that_nothing_hangs()


async def test_a_removed_branch_leaves_no_gap(tree: Tree) -> None:
    assert (await tree.reader.delete("/branches/alt")).body["data"]["deleted_floor_ids"] == [tree.ids["e"]]
    assert await tree.path("deep") == "abf"
    await tree.check_that_nothing_hangs()


async def test_floors_without_parents_stand_behind_their_neighbours(tree: Tree) -> None:
    other = Tree(tree.reader, await tree.reader.session_id())
    for number, name in enumerate("abc"):
        await other.floor(name, number)
    await other.floor("x", 3, state="failed")
    await other.fork("c", "alt")
    await other.floor("d", 3, "alt")
    assert await other.path("alt") == "abcd"
    await other.remove("c")
    assert await other.path("alt") == "abd"
    await other.check_that_nothing_hangs()


async def test_a_floor_whose_successor_is_removed_names_none(tree: Tree) -> None:
    await tree.reset("c")
    await tree.remove("c")
    gone = (await tree.reader.get(f"/floors/{tree.ids['d']}")).body["data"]
    assert (gone["superseded_by_floor_id"], gone["superseded_at"] is None, gone["parent_floor_id"]) == (
        None,
        False,
        tree.ids["b"],
    )
    await tree.check_that_nothing_hangs()


async def test_floors_that_became_each_others_parents_end_a_path(tree: Tree) -> None:
    await tree.reader.patch(f"/floors/{tree.ids['b']}", {"floor_no": 9, "parent_floor_id": None})
    await tree.reader.patch(f"/floors/{tree.ids['b']}", {"parent_floor_id": tree.ids["c"]})
    assert sorted(await tree.path("alt")) == ["b", "c", "e"]


async def test_a_floor_that_was_set_aside_goes_on_from_nothing_that_came_later(tree: Tree) -> None:
    """Its branch is emptied and begins anew: what was forked from the floor knows nothing of that."""
    await tree.reset("a")
    await tree.remove("a")
    assert await tree.path("deep") == "bef"
    await tree.floor("x", 0)
    assert (await tree.path("deep"), await tree.path("main")) == ("bef", "x")


async def test_a_branch_that_is_merged_into_its_own_fork_begins_where_it_began(tree: Tree) -> None:
    """Else its first floor went on from the one behind which was forked, and so from what came after it."""
    await tree.fork("c", "copy")
    merged = await tree.reader.post(f"/sessions/{tree.session_id}/branches/main/merge", {"target_branch_id": "copy"})
    assert (merged.status, tree.names(merged.body["data"]["merged_floor_ids"])) == (200, "abcd")
    found = (await tree.reader.get(f"/sessions/{tree.session_id}/branches")).body["data"]
    [copy] = [branch for branch in found if branch["branch_id"] == "copy"]
    assert (copy["source_floor_id"], copy["source_branch_id"]) == (None, None)
    assert (await tree.path("copy"), await tree.path("main"), await tree.path("deep")) == ("abcd", "abcd", "abef")
    await tree.fork("a", "first")
    assert await tree.path("first") == "a"


async def test_a_fork_of_a_floor_that_was_set_aside_takes_nothing_over(tree: Tree) -> None:
    await tree.fork("d", "copy")
    await tree.reset("c")
    await tree.floor("x", 3, parent="c")
    refused = await tree.reader.post(f"/sessions/{tree.session_id}/branches/main/merge", {"target_branch_id": "copy"})
    [conflict] = refused.body["error"]["details"]["conflicts"]
    assert (conflict["code"], conflict["target_floor_id"]) == ("target_diverged", tree.ids["d"])
    assert (await tree.path("copy"), await tree.path("main")) == ("abcd", "abcx")
