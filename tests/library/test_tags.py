"""``/vc-tags`` as TavernHeadless' contract has it (part 10)."""

import pytest

from tests.accounts.conftest import ALICE, Person, Team, bearer, start_team, team
from tests.turns.conftest import engine, store_settings

__all__ = ["engine", "start_team", "store_settings", "team"]

SAID = {"model": "text", "messages": [{"role": "user", "content": "Hello"}]}
FIELDS = {
    "id",
    "account_id",
    "name",
    "target_type",
    "target_id",
    "session_id",
    "metadata",
    "created_by_operation_id",
    "created_at",
}


@pytest.fixture
async def alice(team: Team) -> Person:
    await team.account("alice")
    return team.person(**bearer(ALICE))


async def test_floors_and_versions_have_names_that_go_with_them(alice: Person) -> None:
    turn = await alice.post("/v1/chat/completions", SAID, x_agentui_session="story")
    session, floor = turn.headers["x-agentui-session"], turn.headers["x-agentui-floor"]
    character = (await alice.made("/characters", snapshot={"name": "Rin"}))["data"]["id"]
    version = (await alice.get(f"/characters/{character}/versions")).body["data"][0]["id"]
    other = (await alice.made("/sessions", title="other"))["data"]["id"]

    named = {"name": "before the storm", "target_type": "floor", "target_id": floor}
    tag = (await alice.made("/vc-tags", **named, metadata={"why": ["x"]}))["data"]
    assert tag.keys() == FIELDS and (tag["session_id"], tag["metadata"]) == (session, {"why": ["x"]})
    [entry] = (await alice.get("/operation-logs?action=create_tag")).body["data"]
    assert (entry["id"], entry["target_id"]) == (tag["created_by_operation_id"], tag["id"])
    assert (await alice.get(f"/vc-tags/{tag['id']}")).body["data"] == tag
    of_version = {"name": "first draft", "target_type": "asset_version", "target_id": version, "session_id": other}
    second = (await alice.made("/vc-tags", **of_version))["data"]
    for query, found in (
        ("", [second, tag]),
        ("?sort_order=asc&limit=1", [tag]),
        ("?target_type=floor", [tag]),
        (f"?target_id={version}", [second]),
        (f"?session_id={session}", [tag]),
        ("?session_id=none", []),
    ):
        listed = (await alice.get(f"/vc-tags{query}")).body
        assert listed["data"] == found, query

    for body, code in (
        (named, "tag_exists"),
        ({**named, "name": "x", "session_id": other}, "invalid_tag_session"),
        ({**named, "name": "x", "target_id": "none"}, "floor_not_found"),
        ({**of_version, "name": "x", "target_id": "none"}, "asset_version_not_found"),
        ({**of_version, "name": "x", "session_id": "none"}, "session_not_found"),
        ({**named, "name": ""}, "validation_error"),
        ({**named, "name": "x", "metadata": "x" * 20_000}, "validation_error"),
    ):
        assert (await alice.post("/vc-tags", body)).code == code, body

    third = (await alice.made("/vc-tags", **{**named, "name": "again"}))["data"]
    assert (await alice.delete(f"/vc-tags/{third['id']}")).body["data"] == {"id": third["id"], "deleted": True}
    assert (await alice.delete(f"/vc-tags/{third['id']}")).code == "tag_not_found"
    assert (await alice.get(f"/floors/{floor}")).status == 200
    assert (await alice.delete(f"/sessions/{session}")).status == 200
    assert (await alice.get("/vc-tags")).body["data"] == [second], "a tag goes with its floor"
    assert (await alice.delete(f"/sessions/{other}")).status == 200
    assert (await alice.get("/vc-tags")).body["data"] == []
