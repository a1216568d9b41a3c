"""Keys through the editor's API: stored, replaced, removed, and never given out."""

import asyncio
import logging

import pytest

from tests.api.callers import Caller
from tests.api.editor_client import editing
from tests.conftest import StartServer, call
from tests.upstreams.server import Mock

KEY = "sk-stored-from-the-editor-1234"


async def test_a_key_is_stored_used_replaced_and_removed_but_never_told(
    start_server: StartServer, mock: Mock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    pipeline = call("openai", mock.origin, headers={"Authorization": "Bearer [[SECRET:mine]]"})
    server = await start_server({"default": pipeline})
    async with editing(server) as editor:
        stored = await editor.put("/api/secrets/mine", {"value": f" {KEY}\n", "origins": [mock.origin + "/v1"]})
        assert (stored.status, stored.body) == (201, {"name": "mine", "source": "store", "origins": [mock.origin]})
        await Caller("openai", server.origin).ask()
        assert mock.requests[-1].headers["authorization"] == f"Bearer {KEY}"
        # To send it elsewhere, its value is needed again.
        moved = await editor.put("/api/secrets/mine", {"origins": ["https://evil.example"]})
        assert moved.status == 400 and "value" in moved.text
        replaced = await editor.put("/api/secrets/MINE", {"value": KEY[::-1], "origins": ["https://other.example"]})
        assert replaced.status == 200 and replaced.body["origins"] == ["https://other.example"]
        assert (await Caller("openai", server.origin).ask()).status == 403
        told = [stored.text, moved.text, replaced.text, (await editor.get("/api/secrets")).text]
        assert (await editor.delete("/api/secrets/mine")).status == 204
        assert (await editor.get("/api/secrets")).body == []
        assert (await editor.delete("/api/secrets/mine")).status == 404
    assert not [text for text in [*told, caplog.text] if KEY in text or KEY[::-1] in text]


async def test_a_key_that_cannot_be_stored_is_refused_with_the_reason(start_server: StartServer) -> None:
    server = await start_server({}, secret_env={"AGENTUI_SECRET_MY_OWN": "sk-from-the-environment"})
    async with editing(server) as editor:
        for name, body, status, reason in (
            ("9lives", {"value": KEY, "origins": ["https://x.example"]}, 400, "begins with a letter"),
            ("mine", {"value": "  ", "origins": ["https://x.example"]}, 400, "no value"),
            ("mine", {"value": KEY}, 400, "Say where"),
            ("mine", {"value": KEY, "origins": ["x.example"]}, 400, "origin"),
            ("mine", {"value": KEY, "origins": ["https://x.example"], "more": 1}, 400, "more"),
            ("my-own", {"value": KEY, "origins": ["https://x.example"]}, 409, "AGENTUI_SECRET_MY_OWN"),
        ):
            got = await editor.put(f"/api/secrets/{name}", body)
            assert got.status == status and reason in got.text and KEY not in got.text, (name, got.text)
        assert (await editor.delete("/api/secrets/my_own")).status == 409
        # A name that is known says itself where it may go.
        assert (await editor.put("/api/secrets/openai", {"value": KEY})).body["origins"] == ["https://api.openai.com"]


async def test_a_stored_key_is_not_taken_for_one_of_a_similar_name(start_server: StartServer) -> None:
    async with editing(await start_server({})) as editor:
        for name in ("my-key", "my_key"):
            stored = await editor.put(f"/api/secrets/{name}", {"value": KEY, "origins": ["https://x.example"]})
            assert (stored.status, stored.body["name"]) == (201, name), stored.text
        assert (await editor.delete("/api/secrets/my-key")).status == 204
        assert [known["name"] for known in (await editor.get("/api/secrets")).body] == ["my_key"]


async def test_keys_that_come_at_once_are_all_kept(start_server: StartServer) -> None:
    async with editing(await start_server({})) as editor:
        body = {"value": KEY, "origins": ["https://x.example"]}
        await asyncio.gather(*(editor.put(f"/api/secrets/key{number}", body) for number in range(12)))
        assert len((await editor.get("/api/secrets")).body) == 12


async def test_who_uses_a_key_is_told_also_of_keys_that_are_not_there(start_server: StartServer) -> None:
    one = call("openai", "https://api.example.com", headers={"x": "[[ SECRET : Mine ]]", "y": "[[SECRET:my-own]]"})
    two = call("openai", "https://a.example", endpoint="/v1?key=[[SECRET:mine]]")
    server = await start_server({"default": one, "two": two})
    (server.pipelines / "broken.json").write_text('{"nodes": "[[SECRET:mine]]"')
    server.state.pipelines.refresh()
    async with editing(server) as editor:
        uses = (await editor.get("/api/secrets/uses")).body
    assert uses == [
        {"name": "mine", "pipelines": ["broken", "default", "two"], "presets": []},
        {"name": "my-own", "pipelines": ["default"], "presets": []},
    ]
