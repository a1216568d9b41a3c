"""Projects: made with sessions and gone with their last one, listed in parts, and each account's own (contract, 11)."""

import asyncio

import pytest
from sqlalchemy import func, select, update

from agentui.api.keys import STORE
from agentui.jsonio import Json
from agentui.store.tables import projects
from tests.accounts.conftest import ALICE, BOB, Person, Team, bearer


@pytest.fixture
async def alice(team: Team) -> Person:
    await team.account("alice")
    await team.account("bob")
    return team.person(**bearer(ALICE))


async def made(person: Person, **fields: Json) -> tuple[str, str]:
    """A new session, and the project that it is in."""
    session = (await person.made("/sessions", **fields))["data"]["id"]
    scope = (await person.get(f"/sessions/{session}/scope")).body
    assert scope["workspace_id"] == "ws_default_alice"
    return session, scope["project_id"]


async def gone(person: Person, project: str) -> bool:
    answer = await person.get(f"/projects/{project}")
    if answer.status == 200:
        return False
    assert (answer.status, answer.code) == (404, "project_not_found")
    return True


async def test_a_project_lives_as_long_as_a_session_is_in_it(alice: Person) -> None:
    first, project = await made(alice, title="Harbour")
    shown = (await alice.get(f"/projects/{project}")).body
    created, updated = shown.pop("created_at"), shown.pop("updated_at")
    assert created <= updated
    assert shown == {
        "id": project, "workspace_id": "ws_default_alice", "account_id": "alice", "name": "Harbour", "description": None,
        "kind": "session_default", "status": "active", "role": "owner", "settings_override": {},
    }  # fmt: skip
    second, joined = await made(alice, project_id=project)
    assert joined == project
    within = (await alice.get(f"/projects/{project}/sessions")).body
    assert {item["id"] for item in within["items"]} == {first, second}
    assert within["items"][0].keys() == {
        "id", "workspace_id", "project_id", "title", "status", "created_at", "updated_at",
    }  # fmt: skip
    assert (await alice.call("DELETE", f"/sessions/{first}", None, {})).status == 200
    assert not await gone(alice, project)
    logs = (await alice.get(f"/operation-logs?project_id={project}")).body["data"]
    assert [entry["action"] for entry in logs] == ["delete_session", "create_session", "create_session"]
    assert (await alice.post("/sessions/batch/delete", {"ids": [second]})).status == 200
    assert await gone(alice, project)


async def test_a_session_may_change_its_project(alice: Person) -> None:
    (first, old), (_, new) = await made(alice), await made(alice)
    assert (await alice.call("PATCH", f"/sessions/{first}", {"project_id": new}, {})).status == 200
    assert (await alice.get(f"/sessions/{first}/scope")).body["project_id"] == new
    assert await gone(alice, old)
    assert (await alice.call("PATCH", f"/sessions/{first}", {"project_id": old}, {})).code == "project_not_found"


async def test_chats_that_clients_begin_and_files_bring_are_in_projects_too(team: Team, alice: Person) -> None:
    said = {"model": "text", "messages": [{"role": "user", "content": "Hello!"}]}
    named = await alice.post("/v1/chat/completions", said, x_agentui_session="story")
    lines = '{"user_name": "A", "character_name": "B"}\n{"name": "A", "is_user": true, "mes": "Hi"}'
    imported = await alice.post("/import/chat", {"data": lines})
    assert imported.status == 201, imported.text
    ids = {named.headers["x-agentui-session"], *(s["id"] for s in (await alice.get("/sessions")).body["data"])}
    assert len(ids) == 2
    scopes = {(await alice.get(f"/sessions/{id}/scope")).body["project_id"] for id in ids}
    listed = {item["id"] for item in (await alice.get("/projects")).body["items"]}
    assert scopes == listed and len(listed) == 2


async def test_lists_come_in_parts_by_a_cursor(alice: Person) -> None:
    ids = [(await made(alice))[1] for _ in range(5)]
    found: list[str] = []
    cursor = ""
    while True:
        page = (await alice.get(f"/projects?limit=2{cursor}")).body
        found += [item["id"] for item in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert found == ids[::-1]
    for path in ("/projects", f"/projects/{ids[0]}/sessions"):
        answer = await alice.get(f"{path}?cursor=none")
        assert (answer.status, answer.code) == (400, "invalid_cursor")
        assert (await alice.get(f"{path}?limit=201")).status == 400
    assert (await alice.get("/projects?role=observer")).body == {"items": [], "next_cursor": None}
    assert (await alice.get("/projects?role=owner&status=archived")).body["items"] == []
    assert (await alice.get("/projects?role=king")).status == 400


async def test_an_archived_project_shows_nothing_but_itself(team: Team, alice: Person) -> None:
    _, project = await made(alice)
    archive = update(projects).where(projects.c.id == project).values(status="archived")
    await team.server.app[STORE].write(lambda db: db.execute(archive).rowcount)
    assert (await alice.get(f"/projects/{project}")).body["status"] == "archived"
    for answer in (
        await alice.get(f"/projects/{project}/sessions"),
        await alice.get(f"/projects/{project}/effective-config"),
        await alice.post("/sessions", {"project_id": project}),
    ):
        assert (answer.status, answer.code) == (409, "project_archived")


async def test_a_project_is_its_accounts(team: Team, alice: Person) -> None:
    _, project = await made(alice)
    bob = team.person(**bearer(BOB))
    for answer in (
        await bob.get(f"/projects/{project}"),
        await bob.get(f"/projects/{project}/sessions"),
        await bob.get(f"/projects/{project}/effective-config"),
        await bob.post("/sessions", {"project_id": project}),
    ):
        assert (answer.status, answer.code) == (404, "project_not_found")
    assert (await bob.get("/projects")).body["items"] == []


async def test_what_holds_in_a_session_and_its_project(alice: Person) -> None:
    session, project = await made(alice)
    inherited = {
        "projectId": project,
        "workspaceId": "ws_default_alice",
        "llmProfile": {"source": "workspace", "profileId": None, "override": None},
        "toolPolicies": {"overrides": []},
        "mcp": {"source": "workspace", "bindings": []},
    }
    assert (await alice.get(f"/projects/{project}/effective-config")).body == inherited
    config = (await alice.get(f"/sessions/{session}/effective-config")).body
    assert {name: config[name] for name in inherited} == inherited
    assert config["sessionId"] == session
    answer = await alice.get("/sessions/none/effective-config")
    assert (answer.status, answer.code) == (404, "session_not_found")


async def test_whoever_joins_while_the_last_session_goes_is_in_a_project(team: Team, alice: Person) -> None:
    for _ in range(5):
        session, project = await made(alice)
        joined, _ = await asyncio.gather(
            alice.post("/sessions", {"project_id": project}), alice.call("DELETE", f"/sessions/{session}", None, {})
        )
        assert joined.status in (201, 404), joined.text
        assert await gone(alice, project) == (joined.status == 404)
    left = select(func.count()).select_from(projects)
    sessions = (await alice.get("/sessions")).body["meta"]["total"]
    assert await team.server.app[STORE].read(lambda db: db.execute(left).scalar_one()) == sessions
