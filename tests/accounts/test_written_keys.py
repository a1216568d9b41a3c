"""Keys that somebody wrote into a pipeline instead of storing them: they serve all, and are read by who may edit."""

from tests.accounts.conftest import ALICE, Team, bearer
from tests.api.callers import Caller
from tests.upstreams.server import Mock

KEYS = {name: f"sk-written-{name}-0123456789" for name in ("header", "query", "user", "pair", "text", "unreached")}


async def test_keys_that_stand_in_a_pipeline_are_shown_to_who_may_edit_alone(team: Team, mock: Mock) -> None:
    await team.account("alice")
    operator, alice = team.operator, team.person(**bearer(ALICE))
    state = (await operator.get("/api/pipelines/default")).body
    document = state["document"]
    (node,) = document["nodes"]
    node["config"]["headers"] = {"Authorization": f"Bearer {KEYS['header']}"}
    variables = [
        {"name": "api_key", "mode": "string", "value": KEYS["pair"]},
        {"name": "A", "mode": "string", "value": "[[VAR:x]]"},
    ]
    rest = [
        {"id": "n2", "type": "SetVars", "config": {"variables": variables}},
        {
            "id": "n3",
            "type": "ProviderCall",
            "config": {"base_url": f"https://bob:{KEYS['user']}@a.example/?key={KEYS['query']}"},
        },
        {"id": "n4", "type": "RawForward", "config": {"extra_headers": f'{{"x-api-key": "{KEYS["text"]}", "b": [[VAR:x]]}}'}},
        {"id": "n5", "type": "ProviderCall", "config": {"headers": {"x-api-key": KEYS["unreached"]}}},
    ]
    for place, nodes in (("default", [node]), ("other", [node, *rest])):
        saved = await operator.call("PUT", f"/api/pipelines/{place}", {**document, "nodes": nodes}, {"if-match": "*"})
        assert saved.status in (200, 201), saved.text
    preset = {"name": "P", "provider": "openai", "headers": {"x-api-key": KEYS["header"]}}
    await operator.call("PUT", "/api/presets/mine", preset, {"if-none-match": "*"})
    await Caller("openai", team.server.origin, key="", headers=bearer(ALICE)).ask()
    assert KEYS["header"] in mock.last.headers["authorization"]
    (run, *_) = (await alice.get("/api/runs")).body
    sample = {"method": "POST", "path": "/v1/chat/completions", "body": {"model": "text", "messages": []}}
    latest = len((await operator.get("/api/pipelines/other/versions")).body)
    for path in (
        "/api/pipelines/default",
        "/api/pipelines/other",
        f"/api/pipelines/other/versions/{latest}",
        "/api/presets/mine",
        f"/api/runs/{run['id']}",
    ):
        seen, whole = await alice.get(path), await operator.get(path)
        assert seen.status == whole.status == 200, (path, whole.text)
        assert not [name for name, key in KEYS.items() if key in seen.text], path
        assert "runs" in path or "sk-written" in whole.text
        assert "other" not in path or "[[VAR:" in seen.text  # macros stay
    previewed = await alice.post("/api/preview", {"pipeline": "default", "node": node["id"], "request": sample})
    assert previewed.status == 200 and KEYS["header"] not in previewed.text
    # Who may edit reads what is to be edited.
    await operator.call("PATCH", "/accounts/alice", {"may_edit": True}, {})
    whole = await alice.get("/api/pipelines/other")
    assert all(key in whole.text for key in KEYS.values())
