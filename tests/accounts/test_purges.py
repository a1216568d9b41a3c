"""A purge removes an account with all that it has, in parts, whoever goes on with it; before that it can be exported."""

import asyncio
import json
from pathlib import Path
from typing import Any

from sqlalchemy import Table, func, insert, select, text, update
from sqlalchemy import types as sql

from agentui.accounts.purging import AT_ONCE, KIND, find_purge, request_purge, rows_by_table
from agentui.accounts.stored import create_account
from agentui.jsonio import Json
from agentui.store.base import Store
from agentui.store.beside import run_once
from agentui.store.tables import assets, jobs, metadata, purges
from tests.accounts.conftest import ALICE, TOKEN, Person, StartTeam, Team, bearer, eventually
from tests.accounts.test_shell import shell
from tests.api.test_wire import raw
from tests.campaigns.fork_server import forked
from tests.isolation.estate import SECRET, documents, make_estate
from tests.upstreams.server import Mock

OWNED = [table for table in metadata.sorted_tables if "account_id" in table.c]
SECRETS = {"sealed_key", "key_hash", "previous_hash", "token_hash"}


def fill(db: Any, account: str) -> None:
    """Give an account a row in each table of accounts where it has none: a table that is added later as well."""
    for table in OWNED:
        if not db.execute(select(func.count()).select_from(table).where(table.c.account_id == account)).scalar():
            db.execute(insert(table).values(row_for(db, table, account)))


def row_for(db: Any, table: Table, account: str) -> dict[str, Json]:
    """A row that fits a table, below rows of the account where it hangs from others."""
    row: dict[str, Any] = {}
    for key in table.foreign_key_constraints:
        parent, names = key.referred_table, [element.column.name for element in key.elements]
        found = db.execute(select(*(parent.c[name] for name in names)).where(parent.c.account_id == account).limit(1)).one()
        row |= dict(zip((column.name for column in key.columns), found, strict=True))
    for column in table.c:
        if column.name == "account_id":
            row[column.name] = account
        elif column.name not in row and not column.nullable and column.default is None and column.server_default is None:
            row[column.name] = value_of(column, f"{table.name[:20]}-{account}")
    return row


def value_of(column: Any, words: str) -> Any:
    if isinstance(column.type, sql.Boolean):
        return False
    if isinstance(column.type, sql.Integer | sql.Numeric | sql.Float):
        return 0
    if isinstance(column.type, sql.LargeBinary):
        return b"x"
    return "{}" if column.name.endswith("_json") else words[: getattr(column.type, "length", None) or 100]


async def keys_of(store: Store, account: str) -> dict[str, set[Any]]:
    """Which rows an account has, by table. What stands in them may change meanwhile: jobs work on a chat behind its turns."""

    def read(db: Any) -> dict[str, set[Any]]:
        return {
            table.name: set(map(tuple, db.execute(select(*table.primary_key.columns).where(table.c.account_id == account))))
            for table in OWNED
        }

    return await store.read(read)


async def counts(store: Store, account: str) -> dict[str, int]:
    return await store.read(rows_by_table, account)


async def purged(admin: Person, account: str = "alice") -> Json:
    """Wait until a purge is done."""

    async def is_done() -> bool:
        return (await admin.get(f"/accounts/{account}/purge")).body["data"]["status"] == "done"

    await eventually(is_done)
    return (await admin.get(f"/accounts/{account}/purge")).body["data"]


async def test_all_that_an_account_has_goes_and_nothing_of_others(start_team: StartTeam, mock: Mock) -> None:
    team = await start_team()
    for id, document in documents(mock).items():
        team.server.put(id, document)
    estate = await make_estate(team)
    said = {"model": "text", "messages": [{"role": "user", "content": "mine"}]}
    assert (await estate.bob.post("/v1/chat/completions", said, x_agentui_session="mine")).status == 200
    store, admin = team.server.state.store, team.operator
    await store.write(lambda db: [fill(db, id) for id in ("alice", "bob")])
    before = await counts(store, "alice")
    assert before.keys() == {table.name for table in OWNED}, "each table of accounts has a row of Alice's"
    # More than fits in one part, below the rows that others have between them.
    many = [{**(await _asset(store)), "id": f"x{at}", "account_id": "alice"} for at in range(2 * AT_ONCE)]
    await store.write(lambda db: db.execute(insert(assets), many))

    kept = await export(team, admin, "alice")
    assert kept[0]["format"] == "agentui.account" and kept[0]["account"]["id"] == "alice"
    assert {"sessions", "messages", "assets", "usage", "variables"} < {line["table"] for line in kept[1:]}
    assert SECRET in str(kept) and not any(SECRETS & line["row"].keys() for line in kept[1:])
    own = await export(team, estate.alice, "alice")
    assert len(own) >= len(kept)
    for person in (estate.bob, estate.alice):
        for method, path, body in (("POST", "purge", {"confirm": "bob"}), ("GET", "purge", None), ("DELETE", "purge", None)):
            assert (await person.call(method, f"/accounts/bob/{path}", body, {})).code == "account_forbidden"
    assert (await estate.bob.get("/accounts/alice/export")).code == "account_forbidden"

    bobs = await keys_of(store, "bob")
    assert (await admin.post("/accounts/alice/purge", {"confirm": "bob"})).code == "validation_error"
    asked = await admin.post("/accounts/alice/purge", {"confirm": "alice", "delay_seconds": 0})
    assert asked.status == 202 and asked.body["data"]["counted"] >= sum(before.values())
    done = await purged(admin)
    assert done["removed"] > 2 * AT_ONCE and done["ended_at"] >= done["begins_at"]
    assert await counts(store, "alice") == {}
    after = await keys_of(store, "bob")
    assert {name for name, keys in bobs.items() if not keys <= after[name]} == set()
    assert (await admin.get("/accounts/alice")).code == "account_not_found"
    assert (await estate.alice.get("/sessions")).code == "auth_account_not_found"
    assert "alice" not in {line["account"] for line in (await admin.get("/api/runs")).body}
    assert (await admin.made("/accounts", id="alice", name="Another"))["data"]["id"] == "alice", "the id is free"


async def _asset(store: Store) -> dict[str, Any]:
    row = await store.read(lambda db: db.execute(select(assets).where(assets.c.account_id == "alice").limit(1)).one())
    return dict(row._mapping)


async def export(team: Team, person: Person, account: str) -> list[Json]:
    headers = {name.replace("_", "-"): value for name, value in person.shows.items()}
    async with team.http.get(f"{team.server.origin}/accounts/{account}/export", headers=headers) as answer:
        assert answer.status == 200, await answer.text()
        return [json.loads(line) for line in (await answer.text()).splitlines()]


async def test_the_connections_end_ends_an_export_for_http_1_0(team: Team) -> None:
    """As of every stream: a caller who keeps such a connection would wait for more."""
    await team.account("alice")
    head = f"HTTP/1.0\r\nConnection: keep-alive\r\nx-agentui-token: {TOKEN}\r\n"
    status, _, body = await raw(team.server, head, {}, path="/accounts/alice/export", method="GET")
    assert status == "HTTP/1.0 200 OK"
    assert json.loads(body.splitlines()[0])["account"]["id"] == "alice"


async def test_until_it_begins_a_purge_is_taken_back(team: Team) -> None:
    admin = team.operator
    await team.account("alice")
    alice = team.person(**bearer(ALICE))
    assert (await admin.get("/accounts/alice/purge")).code == "purge_not_found"
    assert (await admin.delete("/accounts/alice/purge")).code == "purge_not_found"
    assert (await admin.post("/accounts/nobody/purge", {"confirm": "nobody"})).code == "account_not_found"
    assert (await admin.post("/accounts/default-admin/purge", {"confirm": "default-admin"})).code == "account_protected"
    assert (await admin.post("/accounts/alice/purge", {"confirm": "alice"})).body["data"]["status"] == "waiting"
    assert (await admin.post("/accounts/alice/purge", {"confirm": "alice"})).code == "purge_exists"
    assert (await alice.get("/sessions")).status == 200, "until then the account goes on, and may take its things along"
    assert (await admin.delete("/accounts/alice/purge")).body["data"]["status"] == "cancelled"
    assert (await admin.post("/accounts/alice/purge", {"confirm": "alice"})).status == 202
    done = await shell(team, "cancel-purge", "alice")
    assert done.returncode == 0, done.stderr
    assert "cancelled" in (await shell(team, "purge-status", "alice")).stdout
    # One that has begun goes on, and is not taken back.
    assert (await admin.post("/accounts/alice/purge", {"confirm": "alice"})).status == 202
    begun = update(purges).where(purges.c.status == "waiting").values(status="running")
    await team.server.state.store.write(lambda db: db.execute(begun))
    assert (await admin.delete("/accounts/alice/purge")).code == "purge_under_way"


async def test_the_shell_exports_and_purges_beside_a_server(team: Team) -> None:
    await team.account("alice")
    alice = team.person(**bearer(ALICE))
    await alice.made("/sessions", title=SECRET)
    lines = [json.loads(line) for line in (await shell(team, "export", "alice")).stdout.splitlines()]
    assert [line["row"]["title"] for line in lines if line.get("table") == "sessions"] == [SECRET]
    refused = await shell(team, "purge", "alice", "--delay", "0", said="bob\n")
    assert refused.returncode != 0 and "nothing is removed" in refused.stderr
    asked = await shell(team, "purge", "alice", "--delay", "0", said="alice\n")
    assert asked.returncode == 0, asked.stderr
    team.server.state.jobs.look()  # a server that is alone looks once a minute
    await purged(team.operator)
    assert await counts(team.server.state.store, "alice") == {}


async def test_a_purge_goes_on_where_a_killed_process_left_off(tmp_path: Path, engine: str, request: Any) -> None:
    """A row that cannot be removed yet keeps the purge from ending before its process is killed."""
    url = str(request.getfixturevalue("database")) if engine == "postgresql" else None
    settings = {"AGENTUI_TOKEN": TOKEN, "AGENTUI_AUTH_MODE": "api_key", "AGENTUI_ACCOUNT_MODE": "multi"}
    settings |= {"AGENTUI_DATABASE_URL": url} if url is not None else {}
    for name in ("pipelines", "presets", "data"):
        (tmp_path / name).mkdir()
    command = ["serve", "--port", "0", *(f"--{name}={tmp_path / name}" for name in ("pipelines", "presets", "data"))]

    async def on_store(transaction: Any) -> Any:
        return await run_once(url, tmp_path / "data", 10, transaction)

    def prepare(db: Any) -> None:
        create_account(db, "alice", "Alice", "user", 1)
        rows = [row_for(db, assets, "alice") | {"id": f"a{at:03}"} for at in range(200)]
        db.execute(insert(assets), rows)
        for statement in STOPS[engine]:
            db.execute(text(statement))
        request_purge(db, "alice", 1, 0)

    await on_store(prepare)

    async def has_begun() -> bool:
        return bool(await on_store(lambda db: find_purge(db, "alice").removed >= 3))

    with forked(*command, constants={"agentui.accounts.purging.AT_ONCE": 1}, **settings) as process:
        await asyncio.to_thread(process.hello, 150.0)
        await eventually(has_begun)
        process.kill()
    half = await on_store(lambda db: find_purge(db, "alice"))
    assert half.status == "running" and 3 <= half.removed < half.counted

    def let_go(db: Any) -> None:
        db.execute(text("DROP TRIGGER stop" + (" ON assets" if engine == "postgresql" else "")))
        # As when the time of the one that died has run out.
        db.execute(update(jobs).where(jobs.c.kind == KIND).values(owner=None, expires_at=None, due_at=1))

    await on_store(let_go)

    async def is_done() -> bool:
        return bool(await on_store(lambda db: find_purge(db, "alice").status == "done"))

    with forked(*command, **settings) as process:
        await asyncio.to_thread(process.hello, 150.0)
        await eventually(is_done)
    assert await on_store(lambda db: rows_by_table(db, "alice")) == {}


STOPS = {
    "sqlite": (
        "CREATE TRIGGER stop BEFORE DELETE ON assets WHEN old.id = 'a199' BEGIN SELECT RAISE(ABORT, 'not yet'); END",
    ),
    "postgresql": (
        "CREATE FUNCTION not_yet() RETURNS trigger AS $$ BEGIN RAISE EXCEPTION 'not yet'; END $$ LANGUAGE plpgsql",
        "CREATE TRIGGER stop BEFORE DELETE ON assets FOR EACH ROW WHEN (old.id = 'a199') EXECUTE FUNCTION not_yet()",
    ),
}  # fmt: skip
