"""What stands in the operation log, and that it is written with the change or not at all (TavernHeadless' contract, 9)."""

import asyncio
import re
from typing import Any

import pytest
from sqlalchemy import func, select

from agentui.api.keys import STORE
from agentui.api.operations.actions import ACTIONS
from agentui.api.ops.openapi import ROUTES_BY_PLACE
from agentui.jsonio import Json, loads
from agentui.operations.log import append, tidy_operations
from agentui.operations.operation import Actor, Operation, difference
from agentui.store.tables import operation_logs
from tests.accounts.conftest import ALICE, Person, StartTeam, Team, bearer
from tests.conftest import ROOT
from tests.isolation.estate import documents
from tests.isolation.walk import operations
from tests.upstreams.server import Mock

SECRET = "moonlit-harbour"
UNTOLD = {
    "floors": "made and moved by hand: the floor itself tells when",
    "messages": "texts, many in each chat",
    "pages": "the same",
    "variables": "values, many in each chat; turns keep a journal of theirs",
    "working-variables": "the same",
    "chat-transfer-jobs": "jobs, which have rows of their own",
    "export": "the same",
    "jobs": "the same",
    "auth": "signing in and out of one's own browsers",
    "respond": "turns, which are told by commit_floor",
    "regenerate": "the same",
    "retry": "the same",
    "edit-and-regenerate": "the same",
    "active-run": "the same",
    "hadtavern": "makes nothing: it answers with a pipeline",
    "connect": "reaches a server that is there",
    "disconnect": "the same",
    "test": "tries something and writes nothing",
}
"""Writes that the log leaves out, by a word of their path, and why."""


async def logged(person: Person, query: str = "", path: str = "/operation-logs") -> list[Json]:
    """The entries, the newest first."""
    answer = await person.get(f"{path}?limit=200{query}")
    assert answer.status == 200, answer.text
    entries: list[Json] = answer.body["data"]
    assert SECRET not in answer.text
    return entries


async def alice_of(team: Team, mock: Mock | None = None) -> Person:
    """Alice, on a server that answers her chats where there is a model."""
    for id, document in documents(mock).items() if mock is not None else ():
        team.server.put(id, document)
    await team.account("alice")
    return team.person(**bearer(ALICE))


def test_every_write_is_told_or_left_out_for_a_reason() -> None:
    assert ACTIONS.keys() <= ROUTES_BY_PLACE.keys()
    writes = {
        place
        for place in operations()
        if place[0] != "GET" and place in ROUTES_BY_PLACE and ROUTES_BY_PLACE[place].tag == "memory" and writes_at(place)
    }
    left = {(method, path) for method, path in writes - ACTIONS.keys() if not UNTOLD.keys() & set(path.split("/"))}
    assert left == set()


def test_the_page_has_words_for_every_action_in_every_language() -> None:
    """A verb (or a sentence of its own) and the kind of thing, by which the page's log can be narrowed, too."""
    kinds = re.search(r"TARGETS = \[(.*?)\]", (ROOT / "static/js/usage/Log.js").read_text(), re.DOTALL)
    assert kinds is not None
    assert {action.target for action in ACTIONS.values()} <= set(re.findall(r"'(\w+)'", kinds[1]))
    for locale in ("en", "ru", "zh"):
        words = loads((ROOT / f"static/locales/{locale}/usage.json").read_bytes())
        for name, target in ((action.name, action.target) for action in ACTIONS.values()):
            verb = name.rsplit(".", 1)[1] if "." in name else name.removeprefix("batch_").split("_")[0]
            assert f"usage.done.{name}" in words or f"usage.verb.{verb}" in words, f"{locale}: {name}"
            assert f"usage.target.{target}" in words, f"{locale}: {target}"


def writes_at(place: tuple[str, str]) -> bool:
    """Whether a route takes a key, so that it is done once: it writes."""
    return "Idempotency-Key" in ROUTES_BY_PLACE[place].headers


async def test_a_session_is_told_from_its_making_to_its_end(team: Team) -> None:
    alice = await alice_of(team)
    session = (await alice.made("/sessions", title=SECRET))["data"]["id"]
    changed = await alice.call(
        "PATCH", f"/sessions/{session}", {"title": f"{SECRET} 2", "status": "archived", SECRET: 1}, {"x-request-id": "mine"}
    )
    assert changed.status == 200, changed.text
    newest, first = await logged(alice, path=f"/sessions/{session}/operation-logs")
    assert (first["action"], first["target_type"], first["target_id"]) == ("create_session", "session", session)
    assert first["metadata"] == {"route": "POST /sessions", "request_fields": ["title"]}
    assert (first["actor_type"], first["actor_id"], first["source_type"]) == ("account", "alice", "http")
    assert (first["workspace_id"], first["status"], first["session_id"]) == ("ws_default_alice", "succeeded", session)
    assert first["request_id"].startswith("req_") and first["diff"] is None
    assert newest["metadata"]["request_fields"] == ["title", "status"]
    by_path = {change["path"]: change for change in newest["diff"]["changes"]}
    assert by_path.keys() == {"/title", "/status"}
    told = by_path["/status"]
    assert (told["redacted"], told["before_preview"], told["after_preview"]) == (False, "active", "archived")
    hidden = by_path["/title"]
    assert (hidden["redacted"], hidden["before_preview"], hidden["after_preview"]) == (True, None, None)
    assert len(hidden["before_hash"]) == 64 and hidden["before_hash"] != hidden["after_hash"]
    await alice.call("DELETE", f"/sessions/{session}", None, {})
    assert (await alice.get(f"/sessions/{session}/operation-logs")).status == 404
    assert [entry["action"] for entry in await logged(alice, f"&session_id={session}")] == [
        "delete_session", "update_session", "create_session",
    ]  # fmt: skip


async def test_what_fails_is_not_told_and_what_is_asked_twice_is_told_once(team: Team) -> None:
    alice = await alice_of(team)
    assert (await alice.call("PATCH", "/sessions/none", {"title": "x"}, {})).status == 404
    assert (await alice.post("/sessions", {"name": "one"})).status == 201
    assert (await alice.post("/sessions", {"name": "one"})).status == 409
    for _ in range(2):
        assert (await alice.call("POST", "/sessions", {"name": "two"}, {"Idempotency-Key": "k"})).status == 201
    assert [entry["action"] for entry in await logged(alice)] == ["create_session"] * 2


async def test_a_batch_is_an_entry_for_each_that_it_changed(team: Team) -> None:
    alice = await alice_of(team)
    ids = [(await alice.made("/sessions"))["data"]["id"] for _ in range(2)]
    await alice.call("PATCH", "/sessions/batch/status", {"ids": [*ids, "none"], "status": "archived"}, {})
    entries = await logged(alice, "&action=batch_update_session_status")
    assert sorted(entry["session_id"] for entry in entries) == sorted(ids)
    [group] = {entry["operation_group_id"] for entry in entries}
    assert len(await logged(alice, f"&operation_group_id={group}")) == 2
    await alice.post("/sessions/batch/delete", {"ids": ids})
    assert len(await logged(alice, "&action=batch_delete_session")) == 2


async def test_assets_and_their_entries_are_told_by_their_versions(team: Team) -> None:
    alice = await alice_of(team)
    book = (await alice.made("/worldbooks", name=SECRET, data={"entries": {}}))["data"]
    entry = (await alice.made(f"/worldbooks/{book['id']}/entries", keys=[SECRET], content=SECRET))["data"]
    versions = (await alice.get(f"/worldbooks/{book['id']}/versions")).body["data"]
    assert (await alice.call("DELETE", f"/worldbooks/{book['id']}", None, {})).status == 204
    gone, added, made = await logged(alice)
    assert (made["action"], made["target_id"], made["after_ref"]) == ("create_worldbook", book["id"], versions[-1]["id"])
    assert (added["action"], added["target_type"]) == ("create_worldbook_entry", "worldbook_entry")
    assert (added["target_id"], added["metadata"]["parent_id"]) == (str(entry["id"]), book["id"])
    assert (added["before_ref"], added["after_ref"]) == (versions[-1]["id"], versions[0]["id"])
    assert {change["path"] for change in added["diff"]["changes"]} >= {"/content_hash", "/version_id"}
    assert (gone["action"], gone["before_ref"], gone["after_ref"]) == ("delete_worldbook", versions[0]["id"], None)


async def test_the_state_branches_and_policies_of_a_chat_are_told(team: Team, mock: Mock) -> None:
    alice = await alice_of(team, mock)
    said = {"model": "text", "messages": [{"role": "user", "content": SECRET}]}
    answer = await alice.post("/v1/chat/completions", said, x_agentui_session="story")
    session, floor = answer.headers["x-agentui-session"], answer.headers["x-agentui-floor"]
    place = f"/sessions/{session}"
    owner = {"logical_owner_type": "application", "logical_owner_id": "x"}
    await alice.made(f"{place}/state/namespaces", namespace="mine", **owner)
    slot = {"namespace": "mine", "slot": "main", "branch_id": "main"}
    assert (await alice.post(f"{place}/state/values/write", {**slot, "value": SECRET})).status in (200, 404)
    await alice.made(f"/floors/{floor}/branch", branch_id="side")
    policy = {"patch": {"deliveryMode": "no_assistant"}}
    await alice.call("PATCH", f"{place}/prompt-runtime/branches/side/policy", policy, {})
    await alice.post(f"{place}/branches/main/reset", {"target_floor_id": floor})
    assert (await alice.call("DELETE", f"/branches/side?session_id={session}", None, {})).status == 200
    entries = {entry["action"]: entry for entry in await logged(alice, path=f"{place}/operation-logs")}
    assert {"register_session_state_namespace", "checkout_branch", "reset_branch", "delete_branch"} <= entries.keys()
    assert (entries["checkout_branch"]["branch_id"], entries["checkout_branch"]["floor_id"]) == ("side", floor)
    assert (entries["delete_branch"]["branch_id"], entries["delete_branch"]["session_id"]) == ("side", session)
    assert [entry["action"] for entry in await logged(alice, path=f"/floors/{floor}/operation-logs")] == ["checkout_branch"]
    assert "commit_floor" not in entries, "turns are told where a setting says so"


async def test_committed_turns_are_told_where_a_setting_says_so(start_team: StartTeam, mock: Mock) -> None:
    alice = await alice_of(await start_team(operation_log_turns=True), mock)
    said = {"model": "text", "messages": [{"role": "user", "content": SECRET}]}
    answer = await alice.post("/v1/chat/completions", said, x_agentui_session="story")
    headers = answer.headers
    [entry] = await logged(alice, path=f"/floors/{headers['x-agentui-floor']}/operation-logs")
    assert (entry["action"], entry["actor_type"], entry["source_type"]) == ("commit_floor", "llm", "llm_run")
    assert (entry["run_id"], entry["session_id"]) == (headers["x-agentui-run"], headers["x-agentui-session"])
    assert await logged(alice, f"&run_id={entry['run_id']}&actor_type=llm") == [entry]


async def test_accounts_clients_and_keys_are_told_with_the_right_they_needed(team: Team) -> None:
    alice, operator = await alice_of(team), team.operator
    made = await team.key(alice, name=SECRET)
    client, key = made["item"]["client_id"], made["item"]["id"]
    assert (await alice.post(f"/clients/{client}/api-keys/{key}/rotate", {})).status == 201
    assert (await alice.post(f"/clients/{client}/api-keys/{key}/revoke", {})).status == 200
    assert (await alice.post(f"/clients/{client}/disable", {})).status == 200
    entries = await logged(alice, "&permission_action=clients.manage&result=allowed")
    assert [entry["action"] for entry in entries] == [
        "client.disable", "client.api_key.revoke", "client.api_key.rotate", "client.api_key.create", "client.create",
    ]  # fmt: skip
    assert [entry["target_id"] for entry in entries] == [client, key, key, key, client]
    assert "tvk_live" not in str(entries)
    assert (await operator.call("PATCH", "/accounts/alice", {"role": "admin"}, {})).status == 200
    [changed] = await logged(operator, "&action=account.update")
    assert changed["diff"]["changes"][-1]["after_preview"] == "admin"
    assert await logged(alice, "&action=account.update") == [], "it stands in the log of who did it"


async def test_budgets_are_told_in_the_log_of_who_sets_them(team: Team) -> None:
    form = {"level": "server", "unit": "money", "period": "month", "amount": 5}
    made = await team.operator.call("PUT", "/budgets", form, {})
    assert made.status == 200, made.text
    id = made.body["data"]["id"]
    # One that is not there any more changes nothing, and is not told.
    answers = [(await team.operator.call("DELETE", f"/budgets/{id}", None, {})).status for _ in range(2)]
    assert answers == [200, 404]
    entries = await logged(team.operator, "&permission_action=budgets.manage")
    assert [(entry["action"], entry["target_id"]) for entry in entries] == [("budget.remove", id), ("budget.set", id)]


async def test_what_is_refused_for_want_of_a_right_is_told(team: Team) -> None:
    alice = await alice_of(team)
    key = (await team.key(alice))["secret"]
    program = team.person(**bearer(key))
    assert (await alice.post("/accounts", {"name": "x"})).status == 403
    assert (await program.post("/clients", {"name": "x"})).status == 403
    form = {"level": "server", "unit": "money", "period": "month", "amount": 5}
    budgets = [await alice.put("/budgets", form), await program.call("DELETE", "/budgets/x", None, {})]
    assert [answer.code for answer in budgets] == ["account_forbidden"] * 2
    *by_right, by_program, by_alice = await logged(alice, "&result=denied&status=denied")
    assert [(each["action"], each["reason"]) for each in by_right] == [
        ("budget.remove", "account_forbidden"),
        ("budget.set", "account_forbidden"),
    ]
    assert (by_alice["action"], by_alice["reason"]) == ("account.create", "account_forbidden")
    assert (by_program["action"], by_program["actor_type"]) == ("client.create", "client")
    assert by_program["reason"] == "client_management_actor_invalid"
    assert by_program["actor_client_id"] is not None
    assert by_program["actor_client_id"] == by_program["actor_id"]
    assert await logged(alice, f"&actor_client_id={by_program['actor_id']}") == [by_right[0], by_program]


async def test_what_is_done_to_keys_is_told_without_them(team: Team) -> None:
    alice = await alice_of(team)
    made = await team.key(alice, limits=[{"unit": "calls", "amount": 2}])
    path = f"/clients/{made['item']['client_id']}/api-keys/{made['item']['id']}"
    changed = await alice.call("PATCH", path, {"restrictions": {"addresses": ["192.0.2.7"]}, "limits": []}, {})
    assert changed.status == 200
    rotated = (await alice.post(f"{path}/rotate")).body["secret"]
    assert (await alice.post(f"{path}/revoke")).status == 200
    entries = [each for each in await logged(alice) if each["action"].startswith("client.api_key.")]
    assert [each["action"].rpartition(".")[2] for each in entries] == ["revoke", "rotate", "update", "create"]
    assert {(each["target_id"], each["result"]) for each in entries} == {(made["item"]["id"], "allowed")}
    assert entries[2]["metadata"]["request_fields"] == ["restrictions", "limits"] and entries[2]["diff"] is not None
    assert not [secret for secret in (made["secret"], rotated) if secret[20:] in str(entries)]


async def test_passwords_that_are_tried_too_often_are_told(team: Team) -> None:
    await team.account("alice")
    set_to = await team.operator.call("PUT", "/accounts/alice/password", {"password": "a long password"}, {})
    assert set_to.status == 200, set_to.text
    tried = {"way": "password", "account": "alice", "password": "wrong password"}
    nobody, alice = team.person(), team.person(**bearer(ALICE))
    answers = [await nobody.post("/auth/sign-in", tried) for _ in range(12)]
    assert answers[-1].status == 429
    entry, *_ = await logged(alice, "&action=account.sign_in")
    assert (entry["actor_type"], entry["actor_account_id"], entry["result"]) == ("system", None, "denied")
    assert (entry["target_id"], entry["reason"]) == ("alice", "rate_limited")
    assert (await nobody.post("/auth/sign-in", {**tried, "account": "ghost"})).status == 401


async def test_every_filter_narrows_and_lists_come_in_parts(team: Team) -> None:
    alice = await alice_of(team)
    for _ in range(3):
        await alice.made("/sessions")
    entries = await logged(alice)
    for name in ("workspace_id", "actor_account_id", "session_id", "target_type", "target_id", "action", "actor_type",
                 "status", "request_id"):  # fmt: skip
        value = entries[0][name]
        expected = [entry for entry in entries if entry[name] == value]
        assert await logged(alice, f"&{name}={value}") == expected, name
    for name in ("workspace_id", "project_id", "actor_account_id", "actor_client_id", "permission_action", "session_id",
                 "floor_id", "run_id", "target_type", "target_id", "action", "operation_group_id", "request_id"):  # fmt: skip
        assert await logged(alice, f"&{name}=none") == [], name
    for name in ("result", "status", "actor_type"):
        assert (await alice.get(f"/operation-logs?{name}=none")).status == 400, name
    assert (await alice.get("/operation-logs?limit=201")).status == 400
    part = await alice.get("/operation-logs?limit=2&offset=1&sort_order=asc")
    assert part.body["data"] == entries[::-1][1:]
    assert part.body["meta"] == {
        "total": 3, "limit": 2, "offset": 1, "has_more": False, "sort_by": "created_at", "sort_order": "asc",
    }  # fmt: skip


async def test_no_log_is_kept_where_a_setting_says_so(start_team: StartTeam) -> None:
    alice = await alice_of(await start_team(operation_log=0))
    await alice.made("/sessions")
    assert (await alice.post("/accounts", {"name": "x"})).status == 403
    assert await logged(alice) == []


async def test_each_account_keeps_its_newest_entries(team: Team) -> None:
    store = team.server.app[STORE]
    told = Operation(Actor("account", "a", "a"), "create_session")
    await store.write(append, "noisy", [told] * 30, 2)
    await store.write(append, "quiet", [told] * 3, 1)
    assert await store.write(tidy_operations, 10) == 20
    counted = select(operation_logs.c.account_id, func.count()).group_by(operation_logs.c.account_id)
    counts: Any = dict(await store.read(lambda db: [tuple(row) for row in db.execute(counted)]))
    assert (counts["noisy"], counts["quiet"]) == (10, 3)


async def test_an_account_goes_with_its_log(team: Team) -> None:
    alice = await alice_of(team)
    session = (await alice.made("/sessions"))["data"]["id"]
    await alice.call("DELETE", f"/sessions/{session}", None, {})
    assert (await team.operator.call("DELETE", "/accounts/alice", None, {})).status == 200
    await team.account("alice")
    assert await logged(alice) == []


async def test_entries_of_many_at_once_are_all_there(team: Team) -> None:
    alice = await alice_of(team)
    await asyncio.gather(*(alice.made("/sessions") for _ in range(20)))
    entries = await logged(alice)
    assert len({entry["session_id"] for entry in entries}) == 20


@pytest.mark.parametrize("count", [1, 500])
def test_a_difference_is_as_long_as_it_may_be(count: int) -> None:
    found = difference({f"field_{number}": "x" * 1_000 for number in range(count)}, {})
    assert found is not None
    assert (found["total_changes"], found["truncated"]) == (count, count > 1)
    assert all(change["redacted"] and change["change_type"] == "removed" for change in found["changes"])
    assert difference({"a": 1, "updated_at": 1}, {"a": 1, "updated_at": 2}) is None


async def test_admins_read_what_all_did_and_others_what_is_their_own(team: Team) -> None:
    alice = await alice_of(team)
    await team.account("bob")
    await alice.made("/sessions", title=SECRET)
    admin = team.operator
    everybody = await logged(admin, "&account=*")
    assert {entry["account_id"] for entry in everybody} == {"alice", "default-admin"}
    assert {entry["account_id"] for entry in await logged(admin, "&account=*&workspace_id=ws_default_alice")} == {"alice"}
    (own,) = await logged(admin, "&account=alice&action=create_session")
    time = own["created_at"]
    assert await logged(admin, f"&account=*&end={time + 1}&start={time}&target_type=session") == [own]
    assert await logged(admin, f"&account=*&end={time}&target_type=session") == []
    assert await logged(alice, "&account=alice") == await logged(alice) == [own]
    for asked in ("*", "bob", "default-admin"):
        assert (await alice.get(f"/operation-logs?account={asked}")).status == 403
