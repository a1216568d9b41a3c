"""Whoever follows the changes hears of every one, whoever made it; renaming; and the gallery."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from agentui.api.editor.changes import FEED, KEPT
from agentui.api.editor.facts import GALLERY, SHIPPED
from agentui.jsonio import Json, dumps, loads
from tests.api.editor_client import BROKEN, Editor, editing, say
from tests.conftest import ROOT, Server, StartServer


@pytest.fixture
async def server(start_server: StartServer) -> Server:
    return await start_server({"default": say("one"), "other": say("two")})


@pytest.fixture
async def editor(server: Server) -> AsyncIterator[Editor]:
    async with editing(server) as editor:
        yield editor


async def heard(stream: AsyncIterator[tuple[str, Json]], count: int) -> list[Json]:
    """The next changes."""
    found = []
    async with asyncio.timeout(60):
        while len(found) < count:
            name, change = await anext(stream)
            assert name == "change" and change.keys() == {"kind", "id", "etag", "valid"}
            found.append(change)
    return found


async def ids_and_changes(editor: Editor, last: str | None, count: int) -> list[tuple[str, Json]]:
    """The next changes with the ids of their events, as a browser that connects now gets them."""
    headers = {"Last-Event-ID": last} if last is not None else {}
    found: list[tuple[str, Json]] = []
    async with editor.session.get(f"{editor.server.origin}/api/changes", headers=headers) as response:
        async with asyncio.timeout(60):
            id = ""
            async for line in response.content:
                if line.startswith(b"id: "):
                    id = line[4:].decode().strip()
                elif line.startswith(b"data: "):
                    found.append((id, loads(line[6:])))
                    if len(found) == count:
                        return found
    raise AssertionError("the stream ended")


async def test_every_change_is_heard_whoever_made_it(editor: Editor, server: Server) -> None:
    async with editor.stream("/api/changes") as stream:
        assert await heard(stream, 1) == [{"kind": "active", "id": "default", "etag": None, "valid": None}]
        saved = await editor.put("/api/pipelines/new", say(), If_None_Match="*")
        assert await heard(stream, 1) == [{"kind": "pipeline", "id": "new", "etag": saved.etag, "valid": True}]
        (server.pipelines / "new.json").write_bytes(dumps(BROKEN))
        [change] = await heard(stream, 1)
        assert (change["kind"], change["id"], change["valid"]) == ("pipeline", "new", False) and change["etag"] != saved.etag
        (server.pipelines / "new.json").unlink()
        assert await heard(stream, 1) == [{"kind": "pipeline", "id": "new", "etag": None, "valid": None}]
        preset = {"format": 1, "name": "mine"}
        made = await editor.put("/api/presets/mine", preset, If_None_Match="*")
        assert await heard(stream, 1) == [{"kind": "preset", "id": "mine", "etag": made.etag, "valid": True}]
        assert (await editor.delete("/api/presets/mine", If_Match="*")).status == 204
        assert await heard(stream, 1) == [{"kind": "preset", "id": "mine", "etag": None, "valid": None}]
        await editor.post("/api/pipelines/other/activate")
        assert await heard(stream, 1) == [{"kind": "active", "id": "other", "etag": None, "valid": None}]
        (server.pipelines / "other.json").unlink()
        gone = await heard(stream, 2)
        assert [(change["kind"], change["id"]) for change in gone] == [("pipeline", "other"), ("active", "default")]


async def test_a_reader_that_comes_back_hears_what_it_missed_once(editor: Editor) -> None:
    [(first, _)] = await ids_and_changes(editor, None, 1)
    await editor.put("/api/pipelines/a", say(), If_None_Match="*")
    await editor.put("/api/pipelines/b", say(), If_None_Match="*")
    missed = await ids_and_changes(editor, first, 2)
    assert [change["id"] for _, change in missed] == ["a", "b"]
    assert [change["id"] for _, change in await ids_and_changes(editor, missed[0][0], 1)] == ["b"]


async def test_a_reader_that_missed_too_much_is_told_to_read_anew(editor: Editor, server: Server) -> None:
    [(first, _)] = await ids_and_changes(editor, None, 1)
    for number in range(KEPT + 1):
        server.state.pipelines.notify(frozenset({f"gone{number}"}))
    for last in (first, "changes_of_another_start-3", "nonsense"):
        [(id, change)] = await ids_and_changes(editor, last, 1)
        assert (change["kind"], change["id"]) == ("reset", None)
        await editor.put("/api/pipelines/a", say(), If_Match="*")
    assert id.startswith(first.rpartition("-")[0])


async def test_a_stopping_server_lets_its_readers_go(editor: Editor, server: Server) -> None:
    async with editor.stream("/api/changes") as stream:
        await heard(stream, 1)
        server.app[FEED].close()
        async with asyncio.timeout(60):
            assert [event async for event in stream] == []


# Renaming


async def test_a_renamed_pipeline_keeps_its_versions_and_stays_active(editor: Editor, server: Server) -> None:
    await editor.put("/api/pipelines/default", say("newer"), If_Match="*")
    await editor.put("/api/pipelines/default/versions/1/name", {"name": "the first"})
    before = (await editor.get("/api/pipelines/default/versions")).body
    etag = (await editor.get("/api/pipelines/default")).etag
    async with editor.stream("/api/changes") as stream:
        await heard(stream, 1)
        answer = await editor.post("/api/pipelines/default/rename", {"id": "main"}, If_Match=etag)
        assert answer.status == 200 and answer.etag == etag
        assert (answer.body["id"], answer.body["active"], answer.body["valid"]) == ("main", True, True)
        told = await heard(stream, 3)
    assert [(change["kind"], change["id"]) for change in told] == [
        ("pipeline", "default"),
        ("pipeline", "main"),
        ("active", "main"),
    ]
    assert told[0]["etag"] is None and told[1]["etag"] == etag
    assert (await editor.get("/api/pipelines/default")).status == 404
    assert (await editor.get("/api/pipelines/main/versions")).body == before
    assert (await editor.get("/api/pipelines/main/versions/1")).body["name"] == "the first"
    assert not (server.pipelines / "default.json").exists() and (server.pipelines / "main.json").exists()
    chat = await editor.chat()
    assert chat.headers["x-agentui-pipeline"] == "main"


async def test_what_served_goes_on_serving_under_the_new_id(editor: Editor, start_server: StartServer) -> None:
    await editor.put("/api/pipelines/other", BROKEN, If_Match="*")
    answer = await editor.post("/api/pipelines/other/rename", {"id": "moved"}, If_Match="*")
    assert answer.body["valid"] is False and answer.body["serving"] is not None
    assert "two" in (await editor.chat(path="/p/moved/v1/chat/completions")).text


async def test_versions_of_a_removed_namesake_come_before(editor: Editor) -> None:
    await editor.delete("/api/pipelines/other", If_Match="*")
    await editor.put("/api/pipelines/mine", say("mine"), If_None_Match="*")
    await editor.post("/api/pipelines/mine/rename", {"id": "other"}, If_Match="*")
    versions = (await editor.get("/api/pipelines/other/versions")).body
    assert [version["number"] for version in versions] == [2, 1]
    names = [(await editor.get(f"/api/pipelines/other/versions/{number}")).body["document"]["name"] for number in (1, 2)]
    assert names == ["two", "mine"]


async def test_renaming_is_refused_with_the_reason(editor: Editor, server: Server) -> None:
    rename = "/api/pipelines/other/rename"
    (server.pipelines / "Taken.json").mkdir()
    refused = [
        (428, "precondition_required", {"id": "new"}, {}),
        (412, "precondition_failed", {"id": "new"}, {"If_Match": '"old"'}),
        (409, "conflict", {"id": "default"}, {"If_Match": "*"}),
        (409, "conflict", {"id": "OTHER"}, {"If_Match": "*"}),
        (409, "conflict", {"id": "Taken"}, {"If_Match": "*"}),
        (400, "bad_request", {"id": "../up"}, {"If_Match": "*"}),
        (400, "bad_request", {"id": "con"}, {"If_Match": "*"}),
        (400, "bad_request", {}, {"If_Match": "*"}),
    ]
    for status, code, body, headers in refused:
        answer = await editor.post(rename, body, **headers)
        assert (answer.status, answer.code) == (status, code), (body, answer.text)
    assert (await editor.post("/api/pipelines/none/rename", {"id": "new"}, If_Match="*")).status == 404
    assert (await editor.post(rename, {"id": "other"}, If_Match="*")).body["id"] == "other"
    assert sorted(line["id"] for line in (await editor.get("/api/pipelines")).body) == ["default", "other"]


# The gallery


async def test_the_gallery_is_what_ships(editor: Editor) -> None:
    templates = (await editor.get("/api/templates")).body
    assert {template["id"] for template in templates} == set(SHIPPED)
    assert all(template.keys() == {"id", "name", "description", "document"} for template in templates)
    for template in templates:
        assert template["name"] and template["description"], template["id"]
        verdict = (await editor.post("/api/validate", {"document": template["document"]})).body
        assert verdict["valid"], (template["id"], verdict["problems"])


def test_every_shipped_pipeline_is_in_the_gallery() -> None:
    assert GALLERY == ROOT / "pipelines"
    assert sorted(SHIPPED) == sorted(path.stem for path in GALLERY.glob("*.json"))
