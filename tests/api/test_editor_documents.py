"""Pipelines and presets over HTTP."""

import asyncio
import stat
import sys

import pytest

from agentui.documents.document import MAX_FILE_BYTES
from agentui.errors import NotFound
from tests.api.editor_client import BROKEN, editing, say
from tests.conftest import StartServer

PRESET = {"format": 1, "name": "Local", "provider": "openai", "base_url": "http://127.0.0.1:1234"}


async def test_a_pipeline_is_made_read_changed_and_removed(start_server: StartServer) -> None:
    async with editing(await start_server()) as editor:
        made = await editor.put("/api/pipelines/p", say("one"), if_none_match="*")
        assert (made.status, made.body["valid"], made.body["document"]) == (201, True, say("one"))
        read = await editor.get("/api/pipelines/p")
        assert (read.status, read.etag, read.body) == (200, made.etag, made.body)
        changed = await editor.put("/api/pipelines/p", say("two"), if_match=read.etag)
        assert changed.status == 200
        assert changed.etag != read.etag
        removed = await editor.delete("/api/pipelines/p", if_match=changed.etag)
        assert (removed.status, removed.text) == (204, "")
        assert (await editor.get("/api/pipelines/p")).status == 404


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
async def test_what_is_saved_is_its_owners_alone_to_read_unless_somebody_opened_it(start_server: StartServer) -> None:
    server = await start_server({"shared": say("old")})
    (server.pipelines / "shared.json").chmod(0o644)
    async with editing(server) as editor:
        assert (await editor.put("/api/pipelines/p", say("one"), if_none_match="*")).status == 201
        etag = (await editor.get("/api/pipelines/shared")).etag
        assert (await editor.put("/api/pipelines/shared", say("new"), if_match=etag)).status == 200
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in server.pipelines.glob("*.json")}
    assert modes == {"p.json": 0o600, "shared.json": 0o644}
    kept = [path for path in server.data.rglob("*.json") if "versions" in path.parts]
    assert kept and {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o600}


async def test_the_list_tells_what_a_menu_needs(start_server: StartServer) -> None:
    described = {**say("one"), "description": "Says one."}
    async with editing(await start_server({"default": described, "bad": BROKEN})) as editor:
        bad, good = (await editor.get("/api/pipelines")).body
    assert good.pop("modified") > 1_600_000_000_000
    assert len(good.pop("etag")) == 18
    assert good == {
        "id": "default",
        "name": "one",
        "description": "Says one.",
        "valid": True,
        "active": True,
        "problem_count": 0,
        "owner": "server",
    }
    assert (bad["id"], bad["valid"], bad["active"], bad["problem_count"]) == ("bad", False, False, 1)


async def test_the_second_of_two_editors_gets_the_first_ones_work(start_server: StartServer) -> None:
    async with editing(await start_server({"p": say("old")})) as editor:
        etag = (await editor.get("/api/pipelines/p")).etag
        first = await editor.put("/api/pipelines/p", say("first"), if_match=etag)
        second = await editor.put("/api/pipelines/p", say("second"), if_match=etag)
    assert (second.status, second.code) == (412, "precondition_failed")
    assert second.body["error"]["details"] == {"current": say("first"), "etag": first.etag}


async def test_of_many_savers_at_once_exactly_one_wins(start_server: StartServer) -> None:
    async with editing(await start_server({"p": say("old")})) as editor:
        etag = (await editor.get("/api/pipelines/p")).etag
        saves = [editor.put("/api/pipelines/p", say(f"editor {number}"), if_match=etag) for number in range(20)]
        answers = await asyncio.gather(*saves)
        assert sorted(answer.status for answer in answers) == [200] + [412] * 19
        winner = next(answer for answer in answers if answer.status == 200)
        assert (await editor.get("/api/pipelines/p")).body["document"] == winner.body["document"]


async def test_a_save_that_says_nothing_is_refused(start_server: StartServer) -> None:
    async with editing(await start_server()) as editor:
        refused = await editor.put("/api/pipelines/p", say())
        assert (refused.status, refused.code) == (428, "precondition_required")
        assert (await editor.delete("/api/pipelines/p", if_match="*")).status == 404


async def test_problems_over_the_active_pipeline_are_saved_and_do_not_serve(start_server: StartServer) -> None:
    async with editing(await start_server({"default": say("good")})) as editor:
        etag = (await editor.get("/api/pipelines/default")).etag
        saved = await editor.put("/api/pipelines/default", BROKEN, if_match=etag)
        assert (saved.status, saved.body["valid"], saved.body["serving"]) == (200, False, etag)
        assert "goes on serving" in saved.body["notice"]
        assert saved.body["problems"][0]["code"] == "node.unknown_type"
        assert (await editor.chat()).body["choices"][0]["message"]["content"] == "good"


async def test_a_broken_file_is_shown_as_it_is_and_can_be_saved_over(start_server: StartServer) -> None:
    server = await start_server({"p": say("good")})
    async with editing(server) as editor:
        (server.pipelines / "p.json").write_text('{"format": 1,\n "name": oops}')
        server.state.pipelines.refresh()
        read = await editor.get("/api/pipelines/p")
        assert read.body["document"] is None
        assert read.body["text"] == '{"format": 1,\n "name": oops}'
        assert read.body["problems"][0]["line"] == 2
        assert (await editor.put("/api/pipelines/p", say("mended"), if_match=read.etag)).body["valid"] is True


async def test_activating_changes_who_serves_at_once(start_server: StartServer) -> None:
    async with editing(await start_server({"default": say("one"), "other": say("two"), "bad": BROKEN})) as editor:
        assert (await editor.chat()).body["choices"][0]["message"]["content"] == "one"
        activated = await editor.post("/api/pipelines/other/activate")
        assert (activated.status, activated.body["active"]) == (200, True)
        assert (await editor.chat()).body["choices"][0]["message"]["content"] == "two"
        refused = await editor.post("/api/pipelines/bad/activate")
        assert (refused.status, refused.code) == (422, "invalid_pipeline")
        assert refused.body["error"]["details"]["problems"][0]["node"] == "n1"
        assert (await editor.post("/api/pipelines/none/activate")).status == 404
        assert (await editor.delete("/api/pipelines/other", if_match="*")).status == 409


async def test_versions_are_listed_read_and_named(start_server: StartServer) -> None:
    async with editing(await start_server({"p": say("one")})) as editor:
        await editor.put("/api/pipelines/p", say("two"), if_match="*")
        listed = (await editor.get("/api/pipelines/p/versions")).body
        assert [version["number"] for version in listed] == [2, 1]
        one = (await editor.get("/api/pipelines/p/versions/1")).body
        assert one["document"] == say("one")
        named = await editor.put("/api/pipelines/p/versions/1/name", {"name": " the first "})
        assert (named.status, named.body["name"]) == (200, "the first")
        restored = await editor.put("/api/pipelines/p", one["document"], if_match="*")
        assert restored.etag == one["etag"]
        assert (await editor.get("/api/pipelines/p/versions/99")).status == 404
        assert (await editor.get("/api/pipelines/p/versions/first")).status == 400
        assert (await editor.get("/api/pipelines/none/versions")).status == 404
        assert (await editor.put("/api/pipelines/p/versions/1/name", {"name": "x" * 300})).status == 400


async def test_presets_go_the_same_way(start_server: StartServer) -> None:
    async with editing(await start_server()) as editor:
        made = await editor.put("/api/presets/local", PRESET, if_none_match="*")
        assert (made.status, made.body["valid"]) == (201, True)
        assert [line["id"] for line in (await editor.get("/api/presets")).body] == ["local"]
        bad = await editor.put("/api/presets/local", {**PRESET, "format": 2}, if_match=made.etag)
        assert (bad.body["valid"], bad.body["serving"]) == (False, made.etag)
        assert len((await editor.get("/api/presets/local/versions")).body) == 2
        assert (await editor.get("/api/presets/local/versions/1")).body["document"] == PRESET
        assert (await editor.put("/api/presets/local/versions/1/name", {"name": "n"})).body["name"] == "n"
        assert (await editor.delete("/api/presets/local", if_match=bad.etag)).status == 204
        assert (await editor.get("/api/presets/local")).status == 404


@pytest.mark.parametrize(
    "id", ["..%2f..%2fstate", "%2e%2e", "..%5cx", "a%2fb", "%00", "p.json", ".hidden", "x" * 65, "%ff", "p%3fq"]
)
async def test_no_id_leads_out_of_the_folder(start_server: StartServer, id: str) -> None:
    server = await start_server({"p": say()})
    async with editing(server) as editor:
        for path in (f"/api/pipelines/{id}", f"/api/pipelines/{id}/versions", f"/api/pipelines/{id}/versions/1"):
            assert (await editor.get(path)).status in (400, 404)
        assert (await editor.put(f"/api/pipelines/{id}", say(), if_none_match="*")).status in (400, 404, 405)
    assert [path.name for path in server.pipelines.iterdir()] == ["p.json"]
    with pytest.raises(NotFound):
        server.state.pipelines.entry("state")


@pytest.mark.parametrize("body", [b"{", b"[]", b"1", b"null", b"\xff", b'{"a": NaN}', b"[" * 200])
async def test_what_is_no_object_is_not_saved(start_server: StartServer, body: bytes) -> None:
    async with editing(await start_server()) as editor:
        assert (await editor.put("/api/pipelines/p", body, if_none_match="*")).status == 400


async def test_size_and_type_are_checked(start_server: StartServer) -> None:
    async with editing(await start_server()) as editor:
        large = {**say(), "padding": "x" * MAX_FILE_BYTES}
        assert (await editor.put("/api/pipelines/p", large, if_none_match="*")).status == 413
        typed = await editor.put("/api/pipelines/p", say(), if_none_match="*", content_type="text/plain")
        assert typed.status == 415


async def test_a_disk_that_takes_nothing_is_said_and_loses_nothing(start_server: StartServer) -> None:
    server = await start_server({"p": say("old")})
    async with editing(server) as editor:
        server.pipelines.rename(server.pipelines.with_name("kept"))
        server.pipelines.write_text("a file where the folder was")
        failed = await editor.put("/api/pipelines/p", say("new"), if_match="*")
        assert (failed.status, failed.code) == (507, "not_saved")
        assert str(server.pipelines) not in failed.text
        assert (await editor.get("/api/pipelines/p")).body["document"] == say("old")
