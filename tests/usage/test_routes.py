"""The routes of usage and budgets: what each may see, and what admins set."""

from pathlib import Path

import pytest

from tests.accounts.conftest import ALICE, BOB, TOKEN, Person, StartTeam, Team, bearer, start_team, team
from tests.upstreams.server import API_KEY, Mock
from tests.usage.conftest import engine, prices, store_settings

__all__ = ["engine", "prices", "start_team", "store_settings", "team"]


async def asks(person: Person, key: str) -> int:
    """Ask a model with a client key of this server; the status."""
    headers = {**bearer(key), "x-provider-key": API_KEY}
    body = {"model": "text", "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 10}
    return (await person.call("POST", "/v1/chat/completions", body, headers)).status


@pytest.fixture
async def people(start_team: StartTeam, mock: Mock, prices: Path) -> Team:
    """Alice and Bob, whose calls are counted; the pipeline has a provider's key of its own."""
    team = await start_team(prices=prices)
    for name in ("alice", "bob"):
        await team.account(name)
    node = {"provider": "caller", "base_url": mock.origin, "headers": {"Authorization": f"Bearer {API_KEY}"}}
    document = {"format": 1, "name": "own", "nodes": [{"id": "n1", "type": "ProviderCall", "config": node}], "edges": []}
    team.server.put("default", document)
    return team


async def test_a_keys_budget_holds_and_each_sees_what_is_ones_own(people: Team, mock: Mock) -> None:
    alice, bob, admin = people.person(**bearer(ALICE)), people.person(**bearer(BOB)), people.operator
    tight = await people.key(alice, limits=[{"unit": "tokens", "period": "minute", "amount": 1}])
    assert await asks(alice, tight["secret"]) == 429
    (own,) = (await alice.get("/budgets")).body["data"]
    assert (own["level"], own["subject"], own["unit"], own["amount"]) == ("key", tight["item"]["id"], "tokens", 1)
    assert (await admin.delete(f"/budgets/{own['id']}")).status == 200
    made = await people.key(alice)
    key, id = made["secret"], made["item"]["id"]
    place = {"level": "key", "subject": id, "unit": "requests", "period": "day"}
    assert (await alice.put("/budgets", {**place, "amount": 2})).status == 403
    assert (await admin.put("/budgets", {**place, "subject": "none", "amount": 2})).status == 404
    budget = (await admin.put("/budgets", {**place, "amount": 2})).body["data"]
    assert [await asks(alice, key) for _ in range(3)] == [200, 200, 429]
    assert len(mock.requests) == 2

    (own,) = (await alice.get("/budgets")).body["data"]
    assert (own["spent"], own["reserved"], own["left"], own["id"]) == (2, 0, 0, budget["id"])
    assert (await bob.get("/budgets")).body["data"] == []
    rows = (await alice.get("/usage")).body["items"]
    assert [(row["key_id"], row["price_nano"]) for row in rows] == [(id, 11 * 1000 + 7 * 2000)] * 2
    assert (await bob.get("/usage")).body["items"] == []
    assert (await bob.get("/usage?account=alice")).status == 403
    page = (await admin.get("/usage?account=*&limit=1")).body
    rest = (await admin.get(f"/usage?account=*&limit=1&cursor={page['next_cursor']}")).body
    assert [page["items"][0]["id"], rest["items"][0]["id"]] == [row["id"] for row in rows]
    assert rest["next_cursor"] is None

    for by, name in (("key", id), ("model", "text"), ("pipeline", "default"), ("purpose", "answer")):
        (line,) = (await alice.get(f"/usage/sums?by={by}")).body["data"]
        assert (line["name"], line["calls"], line["price_nano"], line["input_tokens"]) == (name, 2, 50_000, 22)
    (day,) = (await alice.get("/usage/sums")).body["data"]
    assert len(day["name"]) == 10
    async with people.http.get(f"{people.server.origin}/usage/sums?by=model&format=csv", headers=bearer(ALICE)) as file:
        table = (await file.text()).splitlines()
    assert table[0].startswith("name,calls,input_tokens")
    assert table[1].startswith("text,2,22,14")

    async with people.http.get(f"{people.server.origin}/metrics", headers={"x-agentui-token": TOKEN}) as told:
        lines = (await told.text()).splitlines()
    assert {"agentui_cost_dollars_total 5e-05", "agentui_budget_refusals_total 2.0", "agentui_unpriced_calls_total 0.0"} <= {
        *lines
    }

    assert (await admin.delete(f"/budgets/{budget['id']}")).status == 200
    assert await asks(alice, key) == 200
    assert (await admin.delete(f"/budgets/{budget['id']}")).status == 404
