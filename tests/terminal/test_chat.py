"""A person chats in a real terminal with a real server, whose model is the demo's."""

import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agentui.assets.files.png import write_png
from agentui.cli import main
from agentui.demo import DemoServer, DemoSettings, start_demo
from agentui.jsonio import dumps
from agentui.sdk import AsyncTavernClient
from agentui.terminal.chat import chat
from tests.conftest import Server, StartServer, call
from tests.terminal.pty import running

Json = Any

PROGRAM = """
import sys
from agentui.terminal.chat import chat
url, token, session, pipeline = sys.argv[1:]
sys.exit(chat(url, token=token, session=session, character=None, pipeline=pipeline))
"""
"""The chat without the rest of the command line, which takes longer to begin."""

GEARS = {"keys": ["gears"], "content": "The gears are brass.", "comment": "Gears", "enabled": True, "insertion_order": 1}
CARD = {
    "spec": "chara_card_v3",
    "spec_version": "3.0",
    "data": {
        "name": "Ada",
        "description": "A clockmaker.",
        "first_mes": "Mind the gears!",
        "character_book": {"entries": [GEARS]},
    },
}


@pytest.fixture
async def slow_demo() -> AsyncIterator[DemoServer]:
    """A model that begins to answer, and then is silent for an hour."""
    server = await start_demo(settings=DemoSettings(delay=3600))
    yield server
    await server.close()


async def test_a_chat_from_its_first_word_to_its_last(
    start_server: StartServer, demo: DemoServer, slow_demo: DemoServer, tmp_path: Path
) -> None:
    quick, slow = (call("openai", f"{each.origin}/v1", model="demo-small") for each in (demo, slow_demo))
    server = await start_server({"default": quick, "slow": slow}, token="hush-hush")
    card = tmp_path / "ada.png"
    card.write_bytes(write_png(None, dumps(CARD), dumps(CARD)))
    place = ("-m", "agentui", "chat", "--url", server.origin, "--session", "tower", "--character", str(card))
    async with (
        AsyncTavernClient(server.origin, get_headers=lambda: {"authorization": "Bearer hush-hush"}) as client,
        running(*place, AGENTUI_TOKEN="hush-hush") as terminal,
    ):
        await terminal.until(r"Ada:\nMind the gears!\n[\s\S]*main>")
        terminal.enter("Hello, brass gears")
        await terminal.until(r"You said: Hello, brass gears[\s\S]*main>")
        terminal.enter("/why")
        shown = await terminal.until(r"[\s\S]*tokens were sent[\s\S]*main>")
        assert "Lorebook entries: Gears" in shown
        assert "charDescription" in shown
        terminal.enter("/swipe")
        await terminal.until(r"You said: Hello, brass gears[\s\S]*main>")
        terminal.enter("/swipe 1")
        await terminal.until(r"You said: Hello, brass gears[\s\S]*main>")
        terminal.enter("/swipe 9")
        await terminal.until(r"There are 2 versions[\s\S]*main>")
        terminal.enter("/regenerate")
        await terminal.until(r"You said: Hello, brass gears[\s\S]*main>")
        terminal.enter("/edit Good evening")
        await terminal.until(r"You said: Good evening[\s\S]*branch-[\w-]+>")
        terminal.enter("/branch main")
        await terminal.until(r"Branch main\.[\s\S]*main>")
        terminal.enter("/branch attic")
        await terminal.until(r"A new branch attic\.[\s\S]*attic>")
        terminal.enter("/branches")
        await terminal.until(r"\* +attic[\s\S]*main[\s\S]*attic>")
        session = (await client.sessions.list(name="tower"))["data"][0]["id"]
        await client.variables.put(scope="branch", session_id=session, branch_id="attic", key="gold", value=500)
        await client.variables.put(scope="chat", scope_id=session, key="gold", value=1)
        terminal.enter("/vars")
        await terminal.until(r"gold +500 +branch +chat 1[\s\S]*attic>")
        terminal.enter("/dance")
        await terminal.until(r"There is no command /dance[\s\S]*attic>")
        terminal.enter("/help")
        await terminal.until(r"/regenerate[\s\S]*attic>")
        terminal.enter("/quit")
        assert await terminal.ended() == 0
        said = (await client.sessions.get_timeline(session))["data"]["floors"]
        assert [floor["messages"][0]["content"] for floor in said] == ["Mind the gears!", "Hello, brass gears"]

        async with (
            running("-c", PROGRAM, server.origin, "hush-hush", "tower", "slow") as again,
            client.sessions.respond_stream(session, message="Wait", branch_id="attic", pipeline="slow") as elsewhere,
        ):
            await again.until(r"Mind the gears!\n[\s\S]*Hello, brass gears\n[\s\S]*main>")
            assert (await anext(elsewhere))["type"] == "start"
            again.enter("On")
            await again.until(r"Ada:\n")
            again.type("\x03")
            await again.until(r"Stopped\.[\s\S]*main>")
            assert (await client.sessions.get_active_run(session, branch_id="main"))["active_run"] is None
            assert (await client.sessions.get_active_run(session, branch_id="attic"))["active_run"] is not None
            again.type("\x04")
            assert await again.ended() == 0


async def test_what_cannot_begin_is_told_in_a_line(start_server: StartServer, tmp_path: Path) -> None:
    server: Server = await start_server({"default": call("caller", "http://127.0.0.1:9")}, token="hush-hush")
    async with running("-c", PROGRAM, server.origin, "guessed", "tower", "slow") as terminal:
        await terminal.until(r"agentui: [^\n]*token[^\n]*AGENTUI_TOKEN")
        assert await terminal.ended() == 1


@pytest.mark.parametrize(
    ("url", "character", "told"),
    [
        ("http://127.0.0.1:9", None, r"GET http://127\.0\.0\.1:9/sessions failed: .*\. It may be tried again\.$"),
        ("127.0.0.1:7860", None, "address begins with http"),
        ("http://127.0.0.1:9", Path("nowhere.png"), "No such file"),
    ],
)
def test_what_cannot_begin_is_told_without_a_server_too(
    url: str, character: Path | None, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    session = None if character else "tower"
    assert chat(url, token=None, session=session, character=character, pipeline=None) == 1
    assert re.search(f"agentui: .*{told}", capsys.readouterr().err)


def test_a_chat_needs_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chat"]) == 1
    assert "agentui chat needs a terminal" in capsys.readouterr().err


def test_a_chat_says_which_packages_it_needs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.delitem(sys.modules, "agentui.terminal.chat", raising=False)
    monkeypatch.setitem(sys.modules, "prompt_toolkit", None)
    assert main(["chat"]) == 1
    assert "pip install -e '.[chat]'" in capsys.readouterr().err
