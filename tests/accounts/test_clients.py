"""``/clients`` and their keys as TavernHeadless' contract has them (part 5.4)."""

import pytest
from sqlalchemy import Connection, insert, select

from agentui.accounts.clients import MAX_ACCOUNT_KEYS
from agentui.jsonio import Json
from agentui.store.tables import client_keys
from tests.accounts.conftest import ALICE, BOB, Person, Team, bearer

CLIENT = {"id", "account_id", "name", "kind", "status", "is_default", "metadata", "created_at", "updated_at"}
KEY = {
    "id", "account_id", "client_id", "name", "key_prefix", "status", "last_used_at", "expires_at", "previous_until",
    "created_at", "updated_at", "restrictions",
}  # fmt: skip
HOUR = 3_600_000


@pytest.fixture
async def alice(team: Team) -> Person:
    await team.account("alice")
    await team.account("bob")
    return team.person(**bearer(ALICE))


async def test_clients_are_made_changed_disabled_and_listed(team: Team, alice: Person) -> None:
    made = await alice.made("/clients", name="  Laptop ", kind="worker", metadata={"os": "linux"})
    client = made["item"]
    assert made.keys() == {"item"} and client.keys() == CLIENT and client["id"].startswith("cli_")
    assert (client["name"], client["kind"], client["metadata"], client["status"]) == (
        "Laptop",
        "worker",
        {"os": "linux"},
        "active",
    )
    path = f"/clients/{client['id']}"
    changed = await alice.call("PATCH", path, {"name": "Desk", "metadata": {}}, {})
    assert (changed.body["item"]["name"], changed.body["item"]["metadata"], changed.body["item"]["kind"]) == (
        "Desk",
        {},
        "worker",
    )
    for word, status in (("disable", "disabled"), ("disable", "disabled"), ("enable", "active")):
        assert (await alice.post(f"{path}/{word}")).body["item"]["status"] == status
    assert (await alice.get(path)).body == {
        "item": {**changed.body["item"], "updated_at": (await alice.get(path)).body["item"]["updated_at"]}
    }
    default = "/clients/cli_default_alice"
    assert (await alice.get(default)).body["item"]["is_default"]
    assert (await alice.post(f"{default}/disable")).code == "client_default_disable_not_supported"
    # Another account's clients are not there.
    bob = team.person(**bearer(BOB))
    assert (await bob.get(path)).code == "client_not_found"
    assert [each["id"] for each in (await bob.get("/clients")).body["items"]] == ["cli_default_bob"]


async def test_a_list_goes_on_behind_its_cursor_whatever_is_made_meanwhile(alice: Person) -> None:
    made = [(await alice.made("/clients", name=f"c{number}"))["item"]["id"] for number in range(5)]
    wanted = [*reversed(made), "cli_default_alice"]
    seen, cursor = [], ""
    while cursor is not None:
        page = (await alice.get(f"/clients?limit=2{cursor and f'&cursor={cursor}'}")).body
        assert page.keys() == {"items", "next_cursor"}
        seen += [each["id"] for each in page["items"]]
        cursor = page["next_cursor"]
        if len(seen) == 2:
            await alice.made("/clients", name="later")
    assert seen == wanted
    await alice.post(f"/clients/{made[0]}/disable")
    assert [each["id"] for each in (await alice.get("/clients?status=disabled")).body["items"]] == [made[0]]
    assert (await alice.get("/clients?kind=deriver")).body == {"items": [], "next_cursor": None}


@pytest.mark.parametrize("cursor", ["x", "%00", "MTIz", "bm90aGluZw", "LTE6eA", "=" * 9, "é"])
async def test_a_cursor_that_is_none_is_told(alice: Person, cursor: str) -> None:
    refused = await alice.get(f"/clients?cursor={cursor}")
    assert (refused.status, refused.code) == (400, "invalid_cursor")


async def test_what_is_wrong_with_a_client_has_codes_of_its_own(alice: Person) -> None:
    wrong: dict[str, list[Json]] = {
        "client_name_required": [{}, {"name": ""}, {"name": "  "}, {"name": 7}, {"name": "x" * 121}, {"name": "a\0"}],
        "client_kind_invalid": [{"name": "x", "kind": "robot"}, {"name": "x", "kind": None}, {"name": "x", "kind": []}],
        "client_metadata_invalid": [
            {"name": "x", "metadata": []},
            {"name": "x", "metadata": "x"},
            {"name": "x", "metadata": None},
        ],
        "client_metadata_too_large": [{"name": "x", "metadata": {"a": "x" * 16 * 1024}}],
    }
    for code, bodies in wrong.items():
        for body in bodies:
            assert (await alice.post("/clients", body)).code == code, body
            if body.get("name") != "x":
                assert (
                    await alice.call("PATCH", "/clients/cli_default_alice", {"kind": "custom", "name": "", **body}, {})
                ).code == code
    assert (await alice.call("PATCH", "/clients/cli_default_alice", {}, {})).code == "validation_error"
    assert (await alice.get("/clients/nothing")).code == "client_not_found"


async def test_a_key_is_shown_once(team: Team, alice: Person) -> None:
    client = (await alice.made("/clients", name="Laptop"))["item"]["id"]
    path = f"/clients/{client}/api-keys"
    made = await alice.made(path, name="first")
    item, secret = made["item"], made["secret"]
    assert made.keys() == {"item", "secret"} and item.keys() == KEY
    assert secret.startswith("tvk_live_") and len(secret) > 40 and item["key_prefix"] == secret[:18]
    assert (item["status"], item["last_used_at"], item["expires_at"], item["name"]) == ("active", None, None, "first")
    listed = await alice.get(path)
    assert listed.body == {"items": [item], "next_cursor": None} and secret not in listed.text
    # Neither the key nor anything of which it could be computed is kept, also not where somebody asks for a repeatable answer.
    again = await alice.post(path, {}, idempotency_key="k1")
    repeated = await alice.post(path, {}, idempotency_key="k1")
    assert again.body["secret"] != repeated.body["secret"]
    revoked = await alice.post(f"{path}/{item['id']}/revoke")
    assert revoked.body["item"]["status"] == "revoked"
    assert (await alice.post(f"{path}/{item['id']}/revoke")).body == revoked.body
    assert [each["id"] for each in (await alice.get(f"{path}?status=revoked")).body["items"]] == [item["id"]]
    assert len((await alice.get(f"{path}?status=active")).body["items"]) == 2
    assert (await alice.post(f"{path}/{item['id']}/rotate")).code == "client_api_key_revoked"
    assert (await alice.post(f"{path}/nothing/revoke")).code == "client_api_key_not_found"
    bob = team.person(**bearer(BOB))
    assert (await bob.post(f"{path}/{item['id']}/revoke")).code in ("client_api_key_not_found", "client_not_found")
    assert (await bob.post(path, {})).code == "client_not_found"
    await alice.post(f"/clients/{client}/disable")
    assert (await alice.post(path, {})).code == "client_disabled"


@pytest.mark.parametrize("end", [0, -1, 1_000, "soon", True, 1.5, [], 2**60])
async def test_a_key_expires_in_the_future_or_never(alice: Person, end: Json) -> None:
    refused = await alice.post("/clients/cli_default_alice/api-keys", {"expires_at": end})
    assert (refused.status, refused.code) == (400, "client_api_key_expires_at_invalid")


async def test_a_clients_key_acts_as_its_account_and_manages_no_clients(team: Team, alice: Person) -> None:
    made = await team.key(alice)
    holder = team.person(**bearer(made["secret"]))
    session = (await alice.made("/sessions", title="Alice's"))["data"]["id"]
    assert [each["id"] for each in (await holder.get("/sessions")).body["data"]] == [session]
    for method, path in (("GET", "/clients"), ("POST", "/clients"), ("POST", "/clients/cli_default_alice/api-keys")):
        refused = await holder.call(method, path, {"name": "x"} if method == "POST" else None, {})
        assert (refused.status, refused.code) == (403, "client_management_actor_invalid")
    assert (await holder.get("/accounts")).code == "account_forbidden"
    admins = team.person(**bearer((await team.key(team.operator))["secret"]))
    assert (await admins.get("/accounts")).status == 200
    assert (await admins.get("/clients")).code == "client_management_actor_invalid"


async def test_an_account_has_as_many_keys_as_one_answer_lists(team: Team) -> None:
    made = await team.key(team.operator)

    def fill(db: Connection) -> int:
        row = dict(db.execute(select(client_keys).where(client_keys.c.id == made["item"]["id"])).mappings().one())
        rows = [{**row, "id": f"cak_{n}", "key_hash": f"{n}"} for n in range(MAX_ACCOUNT_KEYS - 1)]
        db.execute(insert(client_keys), rows)
        return len(rows)

    await team.server.state.store.write(fill)
    refused = await team.operator.post("/clients/cli_default_default-admin/api-keys", {})
    assert (refused.status, refused.code) == (409, "too_many_clients")
    assert len((await team.operator.get("/auth/keys")).body["items"]) == MAX_ACCOUNT_KEYS
