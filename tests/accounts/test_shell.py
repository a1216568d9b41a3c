"""``agentui account`` works on the store itself, beside a server that runs or without one."""

import asyncio
import subprocess
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert

from agentui.store.tables import identities
from tests.accounts.conftest import StartTeam, Team, bearer, eventually
from tests.test_cli import agentui, assert_refused

PASSWORD = "correct horse battery"


async def shell(team: Team, *words: str, said: str = "", **env: str) -> "subprocess.CompletedProcess[str]":
    url = team.server.state.settings.database_url
    env |= {"AGENTUI_DATABASE_URL": url.get_secret_value()} if url is not None else {}
    run = ("account", *words, "--data", str(team.server.data))
    return await asyncio.to_thread(lambda: agentui(*run, said=said, **env))


async def test_the_shell_is_the_way_back_in(start_team: StartTeam) -> None:
    team = await start_team()
    made = await shell(team, "create", "alice", "--name", "Alice L.")
    assert made.returncode == 0, made.stderr
    key = (await shell(team, "new-key", "alice", "--name", "phone")).stdout.strip()
    alice = team.person(**bearer(key))
    assert (await alice.get("/auth/me")).body["data"]["name"] == "Alice L."
    assert (await alice.get("/accounts")).code == "account_forbidden"

    # What somebody else may have linked or added is gone with what was lost.
    links = "/accounts/alice/identities"
    person = {"account_id": "alice", "issuer": "https://id.example", "subject": "x", "created_at": 1}
    await team.server.state.store.write(lambda db: db.execute(insert(identities).values(id="link", **person)).rowcount)
    assert len((await team.operator.get(links)).body["data"]) == 1
    assert "another password" in (await shell(team, "reset-password", "alice", "--only", said=f"{PASSWORD}\n")).stdout
    assert (await team.operator.get(links)).body["data"] == []
    own = team.person(origin=team.server.origin)
    assert (await own.post("/auth/sign-in", {"account": "alice", "password": PASSWORD})).status == 200

    async def is_admin() -> bool:
        return (await alice.get("/accounts")).status == 200

    async def is_out() -> bool:
        return (await alice.get("/sessions")).status == 401

    async def is_in() -> bool:
        return (await alice.get("/sessions")).status == 200

    for word, holds in (("make-admin", is_admin), ("disable", is_out), ("enable", is_in)):
        done = await shell(team, word, "alice")
        assert done.returncode == 0, done.stderr
        await eventually(holds)
    listed = (await shell(team, "list")).stdout.splitlines()
    assert [line.split("\t") for line in listed] == [
        ["alice", "admin", "active", "Alice L."],
        ["default-admin", "admin", "active", "Default Admin"],
    ]


def test_without_a_server_it_makes_what_the_first_start_finds(tmp_path: Path) -> None:
    folder = ("--data", tmp_path / "data")
    assert agentui("account", "create", "alice", "--admin", *folder).returncode == 0
    done = agentui("account", "new-key", "alice", *folder)
    assert done.returncode == 0 and done.stdout.startswith("tvk_live_"), done.stderr
    assert "alice\tadmin\tactive\talice\n" in agentui("account", "list", *folder).stdout


@pytest.mark.parametrize(
    ("words", "said", "word"),
    [
        (("disable", "nobody"), "", "no account 'nobody'"),
        (("new-key", "nobody"), "", "no account 'nobody'"),
        (("reset-password", "nobody"), PASSWORD, "no account 'nobody'"),
        (("reset-password", "--only", "nobody"), PASSWORD, "no account 'nobody'"),
        (("reset-password", "default-admin"), "short", "8 to 1000"),
        (("disable", "default-admin"), "", "stays an active admin"),
        (("create", "default-admin"), "", "already"),
        (("create", "x" * 121), "", "1 to 120"),
    ],
)
def test_what_cannot_be_done_is_told_in_a_line(tmp_path: Path, words: tuple[str, ...], said: str, word: str) -> None:
    done: Any = agentui("account", *words, "--data", tmp_path, said=said)
    assert_refused(done, word)
