"""What holds for every kind of asset: making, listing, changing, deleting, versions, guards."""

import asyncio
from typing import Any

import pytest

from agentui.api.library import ROUTES
from agentui.chats.parts import tidy_blobs
from agentui.jsonio import Json
from agentui.library.assets import create_asset
from agentui.library.content import packed
from agentui.principal import DEFAULT_ACCOUNT
from tests.api.chats.conftest import Reader
from tests.api.chats.forms import fitting
from tests.api.chats.test_foreign import everything, give_away
from tests.api.editor_client import Answer

PATHS = ("/characters", "/users", "/presets", "/worldbooks", "/regex-profiles")
PROFILES = PATHS[2:]
EXPORTS = {
    "character": "/characters",
    "preset": "/presets",
    "worldbook": "/worldbooks",
    "regex": "/regex-profiles",
    "chat": "/sessions",
}
"""What is exported below ``/export``, and where it is kept."""


def body(path: str, name: str, **more: Json) -> dict[str, Any]:
    """What makes an asset of this name below a path."""
    if path in PROFILES:
        return {"name": name, "data": [] if path == "/regex-profiles" else {}, **more}
    return {"snapshot": {"name": name}, **more}


async def change(caller: Reader, path: str, id: str, name: str, **guard: Json) -> Answer:
    """Give an asset new content."""
    if path == "/characters":
        return await caller.post(f"{path}/{id}/versions", {"snapshot": {"name": name}, **guard})
    if path == "/users":
        return await caller.patch(f"{path}/{id}", {"snapshot": {"name": name}, **guard})
    if path == "/presets":
        guard["editor"] = {"entries": [], "order_contexts": [], "top_level": {"temperature": 1}}
    return await caller.put(f"{path}/{id}", {**body(path, name), **guard})


async def drop(caller: Reader, path: str, id: str) -> Answer:
    return await caller.call("DELETE", f"{path}/{id}", None, {})


@pytest.mark.parametrize("path", PATHS)
async def test_what_is_made_is_listed_by_name_word_and_tag(caller: Reader, path: str) -> None:
    names = ["Ärmel", "beta", "Alpha", "100% x_y"]
    made = [await caller.make(path, **body(path, name, tags=["one", name])) for name in names]
    assert {(each["revision"], each["version"], each["status"], each["source"]) for each in made} == {(0, 1, "active", "api")}

    async def listed(query: str) -> list[str]:
        return [each["name"] for each in (await caller.get(f"{path}?sort_by=name&sort_order=asc&{query}")).body["data"]]

    assert await listed("") == ["100% x_y", "Alpha", "beta", "Ärmel"]
    assert await listed("keyword=ÄRM") == ["Ärmel"]
    assert await listed("keyword=%25%20X_") == ["100% x_y"]
    assert await listed("keyword=_") == ["100% x_y"]
    assert await listed("tag=one&limit=2&offset=1") == ["Alpha", "beta"]
    assert await listed("tag=beta") == ["beta"]
    assert await listed("tag=Beta") == []
    newest = (await caller.get(path)).body
    assert [each["id"] for each in newest["data"]] == [each["id"] for each in reversed(made)]
    assert newest["meta"]["total"] == 4


@pytest.mark.parametrize("path", PATHS)
async def test_a_change_of_content_makes_a_version_and_a_rollback_another(caller: Reader, path: str) -> None:
    first = await caller.make(path, **body(path, "first"))
    place = f"{path}/{first['id']}"
    assert (await change(caller, path, first["id"], "second")).status in (200, 201)
    kept = (await caller.get(f"{place}/versions")).body["data"]
    assert [version["version_no"] for version in kept] == [2, 1]
    back = await caller.post(f"{place}/versions/{kept[1]['id']}/rollback", {})
    assert back.status == (201 if path == "/characters" else 200), back.text
    assert back.body["data"]["rolled_back_from_version_id"] == kept[1]["id"]
    now = (await caller.get(place)).body["data"]
    assert (now["version"], now["revision"], now["content_hash"]) == (3, 2, kept[1]["content_hash"])
    assert now["name"] == ("first" if path in ("/characters", "/users") else "second")
    newest = (await caller.get(f"{place}/versions?limit=1")).body
    assert (newest["data"][0]["version_no"], newest["meta"]["total"]) == (3, 3)
    unknown = await caller.post(f"{place}/versions/nobody/rollback", {})
    assert (unknown.status, unknown.code) == (404, "asset_version_not_found")


@pytest.mark.parametrize("path", PATHS)
async def test_what_is_deleted_is_hidden_and_comes_back(caller: Reader, path: str) -> None:
    made = await caller.make(path, **body(path, "x"))
    place = f"{path}/{made['id']}"
    gone = await drop(caller, path, made["id"])
    assert (gone.status, gone.text == "") == ((204, True) if path in PROFILES else (200, False))
    assert (await caller.get(path)).body["data"] == []
    assert [each["id"] for each in (await caller.get(f"{path}?status=deleted")).body["data"]] == [made["id"]]
    assert (await caller.get(place)).status == (200 if path == "/characters" else 404)
    refused = await change(caller, path, made["id"], "y")
    assert (refused.status, refused.code) == ((409, "character_deleted") if path == "/characters" else (404, "not_found"))
    assert (await drop(caller, path, made["id"])).status == refused.status
    back = await caller.post(f"{place}/restore")
    assert (back.status, back.body["data"]["status"], back.body["data"]["revision"]) == (200, "active", 2)
    again = await caller.post(f"{place}/restore")
    assert again.body["data"]["revision"] == 2, "nothing happens to what is not deleted"
    assert (await caller.get(place)).status == 200


GUARDS = {
    "/characters": ("expected_revision", "character_revision_conflict"),
    "/users": ("expected_revision", "user_revision_conflict"),
    "/presets": ("expected_version", "preset_conflict"),
    "/worldbooks": ("expected_version", "worldbook_conflict"),
    "/regex-profiles": ("expected_version", "regex_profile_conflict"),
}


@pytest.mark.parametrize("path", PATHS)
async def test_of_many_at_once_who_expect_the_same_one_succeeds(caller: Reader, path: str) -> None:
    guard, code = GUARDS[path]
    made = await caller.make(path, **body(path, "x"))
    known = made[guard.removeprefix("expected_")]
    answers = await asyncio.gather(
        *(change(caller, path, made["id"], f"name {number}", **{guard: known}) for number in range(5))
    )
    statuses = sorted(answer.status for answer in answers)
    assert (statuses[0] in (200, 201), statuses[1:]) == (True, [409] * 4)
    assert {answer.code for answer in answers if answer.status == 409} == {code}
    assert (await caller.get(f"{path}/{made['id']}")).body["data"]["version"] == 2


@pytest.mark.parametrize("path", PROFILES)
async def test_the_time_of_the_last_change_is_a_guard_as_well(caller: Reader, path: str) -> None:
    made = await caller.make(path, **body(path, "x"))
    refused = await change(caller, path, made["id"], "y", expected_updated_at=made["updated_at"] - 1)
    assert (refused.status, refused.code) == (409, GUARDS[path][1])
    stale = await caller.call("DELETE", f"{path}/{made['id']}?expected_version=2", None, {})
    assert (stale.status, stale.code) == (409, GUARDS[path][1])
    assert (await change(caller, path, made["id"], "y", expected_updated_at=made["updated_at"])).status == 200


async def test_of_many_changes_at_once_without_a_guard_each_is_a_version(caller: Reader) -> None:
    made = await caller.make("/worldbooks", **body("/worldbooks", "x"))
    answers = await asyncio.gather(*(change(caller, "/worldbooks", made["id"], f"n{number}") for number in range(8)))
    assert {answer.status for answer in answers} == {200}
    kept = (await caller.get(f"/worldbooks/{made['id']}/versions")).body["data"]
    assert [version["version_no"] for version in kept] == list(range(9, 0, -1))


@pytest.mark.parametrize("path", PATHS)
async def test_tags_are_changed_without_a_version(caller: Reader, path: str) -> None:
    made = await caller.make(path, **body(path, "x", tags=["b", "a", "b"]))
    assert made["tags"] == ["a", "b"]
    changed = (await caller.patch(f"{path}/{made['id']}", {"tags": ["c"], "expected_revision": 0})).body["data"]
    assert (changed["tags"], changed["version"], changed["revision"]) == (["c"], 1, 1)
    assert (await caller.patch(f"{path}/{made['id']}", {"tags": [], "expected_revision": 0})).status == 409


async def test_no_two_users_have_one_name(caller: Reader) -> None:
    first = await caller.make("/users", snapshot={"name": "Me"})
    taken = await caller.post("/users", {"snapshot": {"name": "Me"}})
    assert (taken.status, taken.code) == (409, "user_conflict")
    other = await caller.make("/users", snapshot={"name": "You"})
    assert (await caller.patch(f"/users/{other['id']}", {"snapshot": {"name": "Me"}})).code == "user_conflict"
    gone = (await drop(caller, "/users", first["id"])).body["data"]
    assert gone == {"id": first["id"], "revision": 1, "deleted": True}
    assert (await caller.patch(f"/users/{other['id']}", {"snapshot": {"name": "Me"}})).status == 200
    assert (await caller.post(f"/users/{first['id']}/restore")).code == "user_conflict"
    assert len((await caller.get("/users?include_deleted=true")).body["data"]) == 2


async def test_batches_of_users_tell_what_became_of_each(caller: Reader) -> None:
    ids = [(await caller.make("/users", snapshot={"name": str(number)}))["id"] for number in range(2)]
    disabled = await caller.patch("/users/batch/status", {"ids": [*ids, "nobody"], "status": "disabled"})
    assert [each["action"] for each in disabled.body["data"]["results"]] == ["updated", "updated", "not_found"]
    assert disabled.body["data"]["meta"] == {"total": 3, "updated": 2, "not_found": 1, "status": "disabled"}
    assert {user["status"] for user in (await caller.get("/users")).body["data"]} == {"disabled"}
    gone = await caller.post("/users/batch/delete", {"ids": [ids[0], "nobody"]})
    assert [each["action"] for each in gone.body["data"]["results"]] == ["deleted", "not_found"]
    assert [user["id"] for user in (await caller.get("/users")).body["data"]] == [ids[1]]


async def test_a_picture_comes_out_as_it_came_in_and_is_not_tidied_away(caller: Reader) -> None:
    picture = b"\x89PNG\r\n\x1a\n" + b"x" * 100
    made = packed({"name": "Ada"}, {"format": "png"}, picture)
    store = caller.server.state.store
    asset = await store.write(create_asset, DEFAULT_ACCOUNT, "character", "Ada", made, 1, source="png")
    assert await store.write(tidy_blobs, 10**13, 0) == 0
    place = f"/characters/{asset.id}"
    assert (await change(caller, "/characters", asset.id, "Ada II")).body["data"]["image"] == made.image_hash
    async with caller.session.get(f"{caller.server.origin}{place}/image") as answer:
        assert (answer.status, answer.content_type, await answer.read()) == (200, "image/png", picture)
    other = await caller.make("/characters", snapshot={"name": "Bob"})
    assert (await caller.get(f"/characters/{other['id']}/image")).status == 404


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        ("/characters", {"snapshot": {}}),
        ("/characters", {"snapshot": {"name": "x" * 201}}),
        ("/users", {"snapshot": {"name": ""}}),
        ("/presets", {"name": "x", "data": {"prompts": {}}}),
        ("/presets", {"name": "x", "data": {"prompts": [{"identifier": "a"}, {"identifier": "a"}]}}),
        ("/presets", {"name": "x", "data": {"prompt_order": [{"order": 5}]}}),
        ("/worldbooks", {"name": "x", "data": {"entries": []}}),
        ("/regex-profiles", {"name": "x", "data": [5]}),
    ],
)
async def test_a_content_that_is_none_is_refused(reader: Reader, path: str, wrong: Json) -> None:
    refused = await reader.post(path, wrong)
    assert (refused.status, refused.code) == (400, "validation_error")
    assert (await reader.get(path)).body["data"] == []


async def test_unknown_members_come_back_as_they_were(caller: Reader) -> None:
    content = {"name": "Ada", "x": [1, 2.5, None, {"deep": "\u0000"}], "extensions": {"a/b": {}}}
    made = await caller.make("/characters", snapshot=content)
    assert (await caller.get(f"/characters/{made['id']}")).body["data"]["latest_version"]["snapshot"] == content


async def test_the_library_of_another_account_is_not_there(caller: Reader) -> None:
    ids = {path: (await caller.make(path, **body(path, "theirs"))) for path in PATHS}
    ids["/sessions"] = await caller.make("/sessions", title="theirs")
    version = {"target_type": "asset_version", "target_id": ids["/characters"]["version_id"]}
    ids["/vc-tags"] = await caller.make("/vc-tags", name="theirs", **version)
    store = caller.server.state.store
    await caller.server.state.jobs.close()  # the chat waits to go out
    ids["/chat-transfer-jobs"] = (await caller.post(f"/export/chat/{ids['/sessions']['id']}/jobs")).body["data"]
    await give_away(store)
    before = await everything(store)
    for route in ROUTES:
        _, first, second, *_ = f"{route.path}/".split("/")
        if "{" in route.path:
            owned = ids[EXPORTS[second] if first == "export" else f"/{first}"]
            found = route.path.replace("{id}", owned["id"]).replace("{version_id}", owned.get("version_id", "none"))
            answer = await caller.call(route.method, found, fitting(route.method, route.path), {})
            assert (answer.status, "theirs" in answer.text) == (404, False), (route.method, route.path, answer.text)
        elif route.method == "GET":
            assert (await caller.get(route.path)).body["data"] == []
    assert await everything(store) == before


async def test_a_session_is_bound_only_to_what_is_there_and_active(caller: Reader) -> None:
    ids = {path: (await caller.make(path, **body(path, "x")))["id"] for path in PATHS}
    names = ("character_id", "user_id", "preset_id", "worldbook_profile_id", "regex_profile_id")
    missing = ("character", "user", "preset", "worldbook", "regex_profile")
    fields: dict[str, Json] = dict(zip(names, ids.values(), strict=True))
    bound = await caller.make("/sessions", **fields)
    assert (bound["character_binding"]["character_id"], bound["user_binding"]["user_id"]) == tuple(ids.values())[:2]
    assert {name: bound[name] for name in names[2:]} == {name: fields[name] for name in names[2:]}
    for name, kind in zip(names, missing, strict=True):
        refused = await caller.patch(f"/sessions/{bound['id']}", {name: "nobody"})
        assert (refused.status, refused.code) == (404, f"{kind}_not_found")
    await caller.patch(f"/users/{ids['/users']}", {"status": "disabled"})
    for refused in (
        await caller.post("/sessions", {"user_id": ids["/users"]}),
        await caller.patch(f"/sessions/{bound['id']}", {"user_id": ids["/users"]}),
    ):
        assert (refused.status, refused.code) == (409, "user_not_active")
    assert (await caller.get(f"/sessions/{bound['id']}")).body["data"] == bound


async def test_a_character_is_synchronised_as_the_session_says(caller: Reader) -> None:
    made = await caller.make("/characters", snapshot={"name": "first"})
    sessions = {
        policy: await caller.session_id(character_id=made["id"], character_sync_policy=policy)
        for policy in ("pin", "manual", "force")
    }
    newest = (await change(caller, "/characters", made["id"], "second")).body["data"]["id"]
    refused = await caller.post(f"/sessions/{sessions['pin']}/character/sync", {})
    assert (refused.status, refused.code) == (409, "character_sync_blocked")
    for policy, is_forced in (("pin", True), ("manual", False), ("force", False)):
        done = await caller.post(f"/sessions/{sessions[policy]}/character/sync", {"force": is_forced})
        assert done.status == 200, done.text
        binding = (await caller.get(f"/sessions/{sessions[policy]}")).body["data"]["character_binding"]
        assert (binding["character_version_id"], binding["snapshot_summary"]["name"]) == (newest, "second")
