"""The routes of usage and budgets: what each may see, and what admins set."""

import csv
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as some

from agentui.api.keys import STORE
from agentui.jsonio import Json
from agentui.usage.ledger import add_values
from agentui.usage.reports import DAY_MS, _offsets
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
    assert table[0].startswith("name,label,calls,input_tokens")
    assert table[1].startswith("text,,2,22,14")

    async with people.http.get(f"{people.server.origin}/metrics", headers={"x-agentui-token": TOKEN}) as told:
        lines = (await told.text()).splitlines()
    assert {"agentui_cost_dollars_total 5e-05", "agentui_budget_refusals_total 2.0", "agentui_unpriced_calls_total 0.0"} <= {
        *lines
    }

    assert (await admin.delete(f"/budgets/{budget['id']}")).status == 200
    assert await asks(alice, key) == 200
    assert (await admin.delete(f"/budgets/{budget['id']}")).status == 404


async def test_a_projects_budget_holds_for_its_chats_alone(people: Team, mock: Mock) -> None:
    alice, bob, admin = people.person(**bearer(ALICE)), people.person(**bearer(BOB)), people.operator

    async def chat() -> tuple[str, str]:
        session = (await alice.made("/sessions", title="Harbour", model_name="text"))["data"]["id"]
        return session, (await alice.get(f"/sessions/{session}/scope")).body["project_id"]

    async def says(session: str, way: str) -> int:
        if way == "live":
            return (await alice.post(f"/sessions/{session}/respond", {"message": "Hi"})).status
        body = {"model": "text", "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 10}
        return (await alice.post("/v1/chat/completions", body, x_agentui_session=session)).status

    (first, project), (second, other) = await chat(), await chat()
    place = {"level": "project", "subject": project, "unit": "requests", "period": "ever"}
    assert (await admin.put("/budgets", {**place, "subject": "prj_none", "amount": 1})).code == "project_not_found"
    budget = (await admin.put("/budgets", {**place, "amount": 2})).body["data"]
    assert [await says(first, way) for way in ("proxied", "live", "proxied", "live")] == [200, 200, 429, 429]
    assert [await says(second, way) for way in ("proxied", "live")] == [200, 200]
    assert len(mock.requests) == 4
    (own,) = (await alice.get("/budgets")).body["data"]
    assert (own["id"], own["level"], own["subject"], own["spent"], own["left"]) == (budget["id"], "project", project, 2, 0)
    assert (await bob.get("/budgets")).body["data"] == []

    # A chat that comes into the project comes under its budget; money is refused where nobody knows the price.
    assert (await alice.call("PATCH", f"/sessions/{second}", {"project_id": project}, {})).status == 200
    assert await says(second, "proxied") == 429
    assert (await alice.call("DELETE", f"/sessions/{first}", None, {})).status == 200
    assert len((await admin.get("/budgets")).body["data"]) == 1
    assert (await alice.call("DELETE", f"/sessions/{second}", None, {})).status == 200
    assert (await admin.get("/budgets")).body["data"] == []
    assert other != project


ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/St_Johns",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "America/Sao_Paulo",
    "Pacific/Apia",
)


@given(some.sampled_from(ZONES), some.integers(0, 2**41), some.integers(0, 500), some.integers(0, DAY_MS))
def test_a_day_of_a_zone_is_the_one_that_its_clocks_show(zone: str, first: int, days: int, more: int) -> None:
    at = first + days * DAY_MS
    offset = [shift for since, shift in _offsets(ZoneInfo(zone), first, at + more) if since <= at][-1]
    shown = datetime.fromtimestamp(at / 1000, ZoneInfo(zone)).date()
    assert (at + offset) // DAY_MS == shown.toordinal() - datetime(1970, 1, 1).toordinal()


def called(id: int, at: str, **more: Json) -> dict[str, Json]:
    """A line of the ledger: a call of Alice's at a time in Berlin."""
    time = round(datetime.fromisoformat(at).replace(tzinfo=ZoneInfo("Europe/Berlin")).timestamp() * 1000)
    plain = {"vendor": "openai", "host": "h", "operation": "chat", "purpose": "answer", "outcome": "answered", "status": 200}
    tokens = {"input_tokens": 10, "output_tokens": 5, "cache_read_tokens": 4, "cache_write_tokens": 3, "reasoning_tokens": 2}
    place = {"key_id": None, "session_id": None, "floor_id": None, "run_id": "run", "pipeline_id": "default", "node_id": "n"}
    told = {"price_nano": 1500, "basis": "told", "latency_ms": 1, "model": "text", "account_id": "alice"}
    return {"id": f"usage_{id:06}", "created_at": time, **plain, **tokens, **place, **told, **more}


async def test_sums_say_what_they_do_not_know_and_a_file_has_every_line(people: Team) -> None:
    alice, bob, admin = people.person(**bearer(ALICE)), people.person(**bearer(BOB)), people.operator
    guess, blank = {"basis": "estimated", "floor_id": "f1"}, {"price_nano": None, "basis": "unknown", "floor_id": "f2"}
    nothing = {f"{kind}_tokens": None for kind in ("input", "output", "cache_read", "cache_write", "reasoning")}
    lines = [
        called(1, "2026-03-28 23:30"),
        called(2, "2026-03-29 00:30", **guess),
        called(3, "2026-03-29 23:30", **guess, model="=1+1", purpose="tool"),
        called(4, "2026-03-30 00:30", **blank, **nothing, node_id="inner/n"),
        called(5, "2026-03-30 00:30", account_id="bob", floor_id="f1"),
    ]
    many = [called(100 + count, "2020-01-01 00:00", pipeline_id="old") for count in range(1200)]
    store = people.server.app[STORE]
    await alice.get("/usage")  # the store is open
    await store.write(add_values, [*lines, *many])

    since = f"start={lines[0]['created_at']}"
    days = (await alice.get(f"/usage/sums?zone=Europe/Berlin&{since}")).body["data"]
    assert [(day["name"], day["calls"]) for day in days] == [("2026-03-30", 1), ("2026-03-29", 2), ("2026-03-28", 1)]
    last, middle, first = days
    assert (last["price_nano"], last["unpriced"], last["uncounted"]) == (0, 1, 1)
    assert (middle["price_nano"], middle["estimated_nano"], middle["estimated"], middle["uncounted"]) == (3000, 3000, 2, 0)
    assert (first["price_nano"], first["estimated_nano"], first["cache_write_tokens"]) == (1500, 0, 3)
    for query, names in (
        ("by=floor&floor_ids=f1,f2,f3", ["f1", "f2"]),
        ("by=node&run_id=run", ["n", "inner/n"]),
        ("by=model&purpose=tool", ["=1+1"]),
        ("by=pipeline&model=text&pipeline_id=default", ["default"]),
        ("by=session&key_id=none", []),
        ("zone=America/New_York", ["2026-03-29", "2026-03-28"]),
    ):
        found = (await alice.get(f"/usage/sums?{query}&{since}")).body["data"]
        assert [each["name"] for each in found] == names, query
    # A chat's title is words that somebody wrote: whose it is reads it, and no admin.
    session = (await alice.made("/sessions", title="Moonlit harbour"))["data"]["id"]
    made = await people.key(alice, name="phone")
    place = {"session_id": session, "key_id": made["item"]["id"], "purpose": "verifier"}
    await store.write(add_values, [called(50, "2021-01-01 00:00", **place)])
    for person, title in ((alice, "Moonlit harbour"), (admin, None)):
        (chat,) = (await person.get("/usage/sums?account=alice&by=session&purpose=verifier")).body["data"]
        assert (chat["name"], chat["label"]) == (session, title)
        (key,) = (await person.get(f"/usage/sums?account=alice&by=key&session_id={session}")).body["data"]
        assert (key["name"], key["label"]) == (made["item"]["id"], "phone")
    place = {"level": "project", "subject": f"prj_{session}", "unit": "requests", "period": "ever", "amount": 5}
    assert (await admin.put("/budgets", place)).body["data"]["subject_name"] is None
    (budget,) = (await alice.get("/budgets")).body["data"]
    assert budget["subject_name"] == "Moonlit harbour"
    everybody = (await admin.get("/usage/sums?account=*&by=floor&floor_ids=f1")).body["data"]
    assert [each["calls"] for each in everybody] == [3]
    assert (await bob.get("/usage/sums?account=*")).status == 403
    for wrong in ("zone=Nowhere/At_All", "zone=../../etc", f"floor_ids={',' * 100}", "by=title"):
        assert (await alice.get(f"/usage/sums?{wrong}")).status == 400, wrong
    assert (await alice.get("/usage?cursor=none")).body["error"]["code"] == "invalid_cursor"

    async def file(query: str, key: str) -> list[dict[str, str]]:
        async with people.http.get(f"{people.server.origin}/usage?format=csv{query}", headers=bearer(key)) as answer:
            assert answer.content_type == "text/csv" and "attachment" in answer.headers["content-disposition"]
            return list(csv.DictReader((await answer.text()).splitlines()))

    rows = await file("&zone=Europe/Berlin", ALICE)
    assert len(rows) == 1205 == len({row["id"] for row in rows})
    assert rows[0]["time"] == "2026-03-30T00:30:00+02:00" and rows[0]["price_usd"] == rows[0]["price_nano"] == ""
    assert rows[1]["model"] == "'=1+1" and rows[1]["price_usd"] == "0.000001500"
    assert [row["account_id"] for row in await file("", BOB)] == ["bob"]
    assert len(await file("&limit=7", ALICE)) == 7


async def test_an_admin_chooses_what_an_unknown_price_means_unless_the_operator_has(
    people: Team, start_team: StartTeam, mock: Mock
) -> None:
    alice, admin = people.person(**bearer(ALICE)), people.operator
    rules = (await alice.get("/budgets/settings")).body["data"]
    assert {"key", "account", "server"} <= set(rules["levels"]) and set(rules["periods"]) == {"minute", "day", "month", "ever"}
    assert (rules["unknown_price"], rules["is_unknown_price_fixed"], rules["keeps_usage"]) == ("refuse", False, True)
    made = await people.key(alice, name="phone", limits=[{"unit": "money", "period": "day", "amount": 10**9}])
    (own,) = (await alice.get("/budgets")).body["data"]
    assert (own["subject"], own["subject_name"]) == (made["item"]["id"], "phone")
    body = {"model": "tools", "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 10}
    headers = {**bearer(made["secret"]), "x-provider-key": API_KEY}
    refused = await alice.call("POST", "/v1/chat/completions", body, headers)
    assert refused.body["error"]["code"] == "price_unknown"
    assert (await alice.put("/budgets/settings", {"unknown_price": "free"})).status == 403
    assert (await admin.put("/budgets/settings", {"unknown_price": "sometimes"})).status == 400
    assert (await admin.put("/budgets/settings", {"unknown_price": "free"})).body["data"]["unknown_price"] == "free"
    assert (await alice.call("POST", "/v1/chat/completions", body, headers)).status == 200
    assert (await admin.get("/operation-logs?action=budget.configure")).body["meta"]["total"] == 1
    assert (await admin.put("/budgets/settings", {"unknown_price": "refuse"})).status == 200
    assert (await alice.call("POST", "/v1/chat/completions", body, headers)).status == 429

    other = await start_team(unknown_price="free")
    rules = (await other.operator.get("/budgets/settings")).body["data"]
    assert (rules["unknown_price"], rules["is_unknown_price_fixed"]) == ("free", True)
    assert (await other.operator.put("/budgets/settings", {"unknown_price": "refuse"})).status == 409
