"""``/accounts`` as TavernHeadless' contract has it (part 5.3)."""

from sqlalchemy import delete

from agentui.accounts.stored import create_account, owned_tables
from agentui.jsonio import Json
from agentui.store.tables import accounts
from tests.accounts.conftest import ALICE, BOB, StartTeam, Team, bearer

FIELDS = {"id", "name", "role", "status", "is_default", "may_edit", "created_at", "updated_at"}


async def test_an_admin_makes_changes_and_removes_accounts(team: Team) -> None:
    admin = team.operator
    first = (await admin.get("/accounts")).body
    assert first.keys() == {"data"}
    (default,) = first["data"]
    assert default.keys() == FIELDS
    assert {name: default[name] for name in ("id", "name", "role", "status", "is_default")} == {
        "id": "default-admin",
        "name": "Default Admin",
        "role": "admin",
        "status": "active",
        "is_default": True,
    }
    alice = await team.account("alice")
    assert (alice["role"], alice["status"], alice["is_default"], alice["may_edit"]) == ("user", "active", False, False)
    made = (await admin.made("/accounts", name="Someone", role="admin"))["data"]
    assert made["id"] and made["role"] == "admin" and made["may_edit"]
    assert (await admin.post("/accounts", {"id": "alice", "name": "Again"})).code == "account_conflict"

    renamed = await admin.call("PATCH", "/accounts/alice", {"name": "Alice L."}, {})
    assert renamed.body["data"]["name"] == "Alice L." and renamed.body["data"]["updated_at"] >= alice["updated_at"]
    listed = [account["id"] for account in (await admin.get("/accounts")).body["data"]]
    assert set(listed) == {"alice", made["id"], "default-admin"} and listed[-1] == "default-admin"
    assert (await admin.get("/accounts/alice")).body["data"] == renamed.body["data"]

    assert (await admin.delete("/accounts/alice")).body == {"data": {"id": "alice", "deleted": True}}
    assert (await admin.get("/accounts/alice")).code == "account_not_found"
    assert (await admin.delete("/accounts/alice")).status == 404


async def test_what_is_wrong_is_told(team: Team) -> None:
    admin = team.operator
    wrong: list[Json] = [{}, {"name": ""}, {"name": "x" * 121}, {"name": "x", "role": "root"}, {"name": "x", "id": ""}]
    for body in [*wrong, {"name": "x", "id": "i" * 121}, {"name": "a\0b"}]:
        assert (await admin.post("/accounts", body)).code == "validation_error", body
    for body in ({}, {"role": "root"}, {"status": "gone"}):
        assert (await admin.call("PATCH", "/accounts/alice", body, {})).code == "validation_error", body
    assert (await admin.call("PATCH", "/accounts/alice", {"name": "x"}, {})).code == "account_not_found"


async def test_the_default_account_stays_an_active_admin(team: Team) -> None:
    admin = team.operator
    for change in ({"role": "user"}, {"status": "disabled"}, {"name": "x", "role": "admin"}):
        refused = await admin.call("PATCH", "/accounts/default-admin", change, {})
        assert (refused.status, refused.code) == (409, "account_protected")
    assert (await admin.delete("/accounts/default-admin")).code == "account_protected"
    assert (await admin.call("PATCH", "/accounts/default-admin", {"name": "Root"}, {})).body["data"]["name"] == "Root"


async def test_only_admins_see_accounts(team: Team) -> None:
    await team.account("alice")
    await team.account("bob", role="admin")
    alice, bob = team.person(**bearer(ALICE)), team.person(**bearer(BOB))
    for method, path in (("GET", ""), ("POST", ""), ("GET", "/bob"), ("PATCH", "/bob"), ("DELETE", "/bob")):
        refused = await alice.call(method, f"/accounts{path}", {"name": "x"} if method in ("POST", "PATCH") else None, {})
        assert (refused.status, refused.code) == (403, "account_forbidden")
    assert (await bob.get("/accounts")).status == 200
    # The last other admin may be demoted: the default one always stays.
    assert (await bob.call("PATCH", "/accounts/bob", {"role": "user"}, {})).status == 200
    assert (await bob.get("/accounts")).code == "account_forbidden"


async def test_an_account_for_which_something_is_stored_is_not_removed(team: Team) -> None:
    await team.account("alice")
    alice = team.person(**bearer(ALICE))
    await team.key(alice)
    session = (await alice.made("/sessions", title="Mine"))["data"]["id"]
    refused = await team.operator.delete("/accounts/alice")
    assert (refused.status, refused.code) == (409, "account_has_resources")
    assert refused.body["error"]["details"]["resources"] == ["projects", "sessions"]
    assert (await alice.delete(f"/sessions/{session}")).status == 200
    # A key is no reason.
    removed = await team.operator.delete("/accounts/alice")
    assert removed.status == 200, removed.text
    assert (await alice.get("/sessions")).code == "auth_account_not_found"


def test_what_an_account_has_is_found_by_an_index() -> None:
    for table in owned_tables():
        leading = [next(iter(index.columns)).name for index in table.indexes] + [next(iter(table.primary_key.columns)).name]
        assert "account_id" in leading, table.name


async def test_a_new_account_finds_nothing_of_one_that_was_called_so(team: Team) -> None:
    await team.account("alice")
    session = (await team.person(**bearer(ALICE)).made("/sessions", title="Mine"))["data"]["id"]
    # A request that was under way when its account was removed may have written something after that.
    await team.server.state.store.write(lambda db: db.execute(delete(accounts).where(accounts.c.id == "alice")).rowcount)
    refused = await team.operator.post("/accounts", {"id": "alice", "name": "Another"})
    assert (refused.status, refused.code) == (409, "account_conflict")
    assert session not in refused.text
    assert (await team.operator.post("/accounts", {"id": "..", "name": "Nobody reads this one"})).code == "validation_error"


async def test_with_one_account_others_are_neither_seen_nor_made(start_team: StartTeam) -> None:
    team = await start_team(account_mode="single")
    admin = team.operator
    assert [account["id"] for account in (await admin.get("/accounts")).body["data"]] == ["default-admin"]
    assert (await admin.get("/accounts/default-admin")).status == 200
    assert (await admin.get("/accounts/alice")).code == "account_not_found"
    # One from before is not there either.
    await team.server.state.store.write(create_account, "alice", "Alice", "user", 1)
    assert (await admin.put("/accounts/alice/password", {"password": "correct horse"})).code == "account_not_found"
    for method, path in (("POST", ""), ("PATCH", "/alice"), ("PATCH", "/default-admin"), ("DELETE", "/default-admin")):
        refused = await admin.call(method, f"/accounts{path}", {"name": "x"}, {})
        assert (refused.status, refused.code) == (409, "account_mode_restricted")
