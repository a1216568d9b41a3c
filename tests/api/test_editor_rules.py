"""Skill rules over HTTP: listed, read, written, removed."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.api.editor_client import Editor, editing, say
from tests.conftest import Server, StartServer

RULE = "---\ndesc: How people talk\nwhen: Before a scene\nalwaysLoad: true\n---\nShort sentences.\n"
PATH = "/api/rules/style/Dialogue"


@pytest.fixture
async def server(start_server: StartServer) -> Server:
    return await start_server({"default": say("one")})


@pytest.fixture
async def editor(server: Server) -> AsyncIterator[Editor]:
    async with editing(server) as editor:
        yield editor


async def test_rules_that_come_with_the_server_are_read_and_not_changed(editor: Editor) -> None:
    listed = (await editor.get("/api/rules")).body
    assert [(each["group"], each["name"], each["shipped"]) for each in listed] == [
        ("Agent", "VarRef", True),
        ("Agent", "TODO", True),
    ]
    assert "$VAR_REF" in (await editor.get("/api/rules/Agent/VarRef")).body["text"]
    assert (await editor.put("/api/rules/Agent/VarRef", {"text": RULE})).status == 409
    assert (await editor.delete("/api/rules/Agent/VarRef")).status == 409


async def test_a_rule_is_written_read_and_removed(editor: Editor) -> None:
    made = await editor.put(PATH, {"text": RULE})
    assert (made.status, made.body["text"]) == (201, RULE)
    assert (editor.server.rules / "style" / "Dialogue.md").read_text() == RULE
    line = (await editor.get("/api/rules")).body[-1]
    assert line == {
        "group": "style", "name": "Dialogue", "desc": "How people talk", "when": "Before a scene",
        "always_load": True, "shipped": False, "problem": None,
    }  # fmt: skip
    changed = await editor.put(PATH, {"text": "Otherwise."}, if_match=f'"{made.body["version"]}"')
    assert changed.status == 200
    stale = await editor.put(PATH, {"text": "Late."}, if_match=f'"{made.body["version"]}"')
    assert stale.status == 412
    assert (await editor.get(PATH)).body["text"] == "Otherwise."
    read = f'"{changed.body["version"]}"'
    savers = [editor.put(PATH, {"text": f"Saver {number}."}, if_match=read) for number in range(8)]
    statuses = sorted(answer.status for answer in await asyncio.gather(*savers))
    assert statuses == [200] + [412] * 7
    assert (await editor.delete(PATH)).status == 204
    assert not (editor.server.rules / "style").exists()
    assert (await editor.get(PATH)).status == (await editor.delete(PATH)).status == 404


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (PATH, "---\nnonsense\n---\nText"),
        (PATH, "---\ndesc: x\n---\n"),
        (PATH, "A NUL\0."),
        (PATH, ""),
        ("/api/rules/style/..%2F..%2Fx", RULE),
        ("/api/rules/../x", RULE),
        ("/api/rules/style/.hidden", RULE),
        (f"/api/rules/style/{'x' * 61}", RULE),
        ("/api/rules/con%00/x", RULE),
    ],
)
async def test_what_is_no_rule_is_refused(editor: Editor, path: str, text: str) -> None:
    answer = await editor.put(path, {"text": text})
    assert answer.status in (400, 404, 422)
    assert not editor.server.rules.exists()


async def test_a_file_that_is_no_rule_is_listed_with_its_problem(editor: Editor) -> None:
    folder = editor.server.rules / "style"
    folder.mkdir(parents=True)
    (folder / "Odd.md").write_text("---\nwhat: x\n---\nText")
    line = (await editor.get("/api/rules")).body[-1]
    assert line["name"] == "Odd" and "none of desc, when and alwaysLoad" in line["problem"]


async def test_a_link_leads_nowhere(editor: Editor) -> None:
    outside = editor.server.rules.parent / "outside"
    outside.mkdir()
    (outside / "Secret.md").write_text("Outside.")
    editor.server.rules.mkdir()
    (editor.server.rules / "style").symlink_to(outside)
    path = "/api/rules/style/Secret"
    assert (await editor.get(path)).status == (await editor.delete(path)).status == 404
    assert (await editor.put(path, {"text": RULE})).status == 400
    assert (outside / "Secret.md").read_text() == "Outside."
