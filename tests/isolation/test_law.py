"""The law of accounts: what belongs to another account is not there, by whichever route and whichever id (T26).

Every operation of the OpenAPI document is asked as Bob with the ids of what Alice has (``walk.py``), on both engines.
``python -m tests.campaigns.account_filters`` takes one filter by account after the other out of the statements and asks whether
this walk notices.
"""

import asyncio
import re
from collections.abc import AsyncIterator

import pytest

from agentui.api.ops.openapi import ROUTES_BY_PLACE
from agentui.jsonio import Json
from tests.accounts.conftest import StartTeam
from tests.isolation.estate import SECRET, Estate, documents, make_estate
from tests.isolation.walk import (
    AUTH,
    BATCHES,
    BY_ID,
    LISTS,
    NAMES_A_PLACE,
    NEW,
    SAYS_NOTHING,
    SERVERS,
    STREAMS,
    is_empty,
    operations,
    shown,
    written,
)
from tests.upstreams.server import Mock


@pytest.fixture
async def estate(start_team: StartTeam, mock: Mock) -> AsyncIterator[Estate]:
    """A server on which Alice has one of everything."""
    team = await start_team()
    for id, document in documents(mock).items():
        team.server.put(id, document)
    yield await make_estate(team)


async def test_what_is_anothers_is_not_there(estate: Estate) -> None:
    before = await estate.rows()
    assert await shown(estate) == {}
    assert await estate.rows() == before


async def test_nothing_is_written_to_what_is_anothers(estate: Estate) -> None:
    before = await estate.rows()
    assert await written(estate) == {}
    assert await estate.rows() == before


async def test_what_bob_could_not_see_is_there_for_alice_and_admins_see_every_run(estate: Estate) -> None:
    """Else the walk above would prove nothing."""
    absent = {}
    for method, pattern in BY_ID:
        if method == "GET" and not pattern.startswith("/accounts") and pattern not in ASKS_ELSEWHERE:
            url = estate.team.server.origin + estate.path(pattern)
            async with estate.team.http.get(url, headers=estate.alice.shows) as answer:
                if answer.status not in (200, 204):
                    absent[pattern] = answer.status, (await answer.text())[:200]
    assert absent == {}, "\n".join(map(str, absent.items()))
    for path in LISTS - NAMES_A_PLACE:
        assert not is_empty((await estate.alice.get(path)).body), path
    for path in NAMES_A_PLACE:
        assert not is_empty((await estate.alice.get(f"{path}?session_id={estate.ids['session']}")).body), path
    run = estate.ids["run"]
    operator = estate.team.operator
    assert run in [line["id"] for line in (await operator.get("/api/runs")).body]
    assert (await operator.get(f"/api/runs/{run}")).body["account"] == "alice"
    assert (await operator.get(f"/sessions/{estate.ids['session']}")).status == 404, "an admin's data are the admin's"


ASKS_ELSEWHERE = {
    "/mcp/servers/{id}/tools": "asks the server, which is switched off",
    "/sessions/{id}/prompt-runtime/assets": "of a session that is bound to assets",
}


async def test_streams_are_silent_about_others(estate: Estate) -> None:
    heard = {path: list[Json]() for path in ("/api/runs/live", "/api/runs/live?events=1", "/api/events")}
    opened, news = {path: asyncio.Event() for path in heard}, asyncio.Event()

    async def listen(path: str) -> None:
        async with estate.bob.stream(path, **estate.bob.shows) as events:
            opened[path].set()
            async for event in events:
                heard[path].append(event)
                news.set()

    said = {"model": "text", "messages": [{"role": "user", "content": SECRET}]}
    mine = {"model": "text", "messages": [{"role": "user", "content": "mine"}]}
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        listeners = [group.create_task(listen(path)) for path in heard]
        await asyncio.gather(*(each.wait() for each in opened.values()))
        alices = await estate.alice.post("/v1/chat/completions", said, x_agentui_session="story")
        own = await estate.bob.post("/v1/chat/completions", mine, x_agentui_session="mine")
        assert (alices.status, own.status) == (200, 200)
        while not all(own.headers["x-agentui-run"] in str(events) for events in heard.values()):
            news.clear()
            await news.wait()
        for listener in listeners:
            listener.cancel()
    for path, events in heard.items():
        assert alices.headers["x-agentui-run"] not in str(events), path
        assert SECRET not in str(events), path


async def test_an_answer_that_is_kept_for_a_key_is_kept_for_an_account(estate: Estate) -> None:
    said = {"model": "text", "messages": [{"role": "user", "content": SECRET}]}
    headers = {"x_agentui_session": "once", "idempotency_key": "same-key"}
    first = await estate.alice.post("/v1/chat/completions", said, **headers)
    again = await estate.alice.post("/v1/chat/completions", said, **headers)
    bobs = await estate.bob.post("/v1/chat/completions", said, **headers)
    assert (first.status, again.status, bobs.status) == (200, 200, 200)
    assert again.headers["x-agentui-floor"] == first.headers["x-agentui-floor"]
    assert bobs.headers["x-agentui-floor"] != first.headers["x-agentui-floor"]


def test_every_operation_is_asked_in_some_way() -> None:
    left = set()
    for method, path in operations():
        name = f"{method} {path}"
        known = (method, path) in BY_ID or (method, path) in BATCHES or SERVERS.match(path) or AUTH.match(path)
        known = known or path in SAYS_NOTHING | STREAMS or (method == "GET" and path in LISTS) or name in NEW
        if not known and name not in WRITES and not path.startswith("/accounts"):
            left.add(name)
    assert left == set()


WRITES = {"POST /floors", "POST /pages", "POST /messages", "PUT /variables", "PUT /variables/batch"}


async def test_what_is_the_servers_is_changed_by_who_may(estate: Estate) -> None:
    needed = {place: route.needs for place, route in ROUTES_BY_PLACE.items() if route.needs is not None}
    changing = {(method, path) for method, path in operations() if SERVERS.match(path) and method != "GET"}
    assert changing - needed.keys() == {("POST", "/api/validate")}
    for method, pattern in {*needed, ("GET", "/metrics")}:
        path = re.sub(r"{\w+}", "plain", pattern)
        answer = await estate.bob.call(method, path, {}, {})
        assert (answer.status, answer.code) == (403, "account_forbidden"), (method, pattern, answer.text)
        url, shows = estate.team.server.origin + re.sub(r"{\w+}", "none", pattern), estate.team.operator.shows
        headers = {name.replace("_", "-"): value for name, value in shows.items()}
        async with estate.team.http.request(method, url, json={}, headers=headers) as allowed:
            assert allowed.status != 403, (method, pattern)
    program = {"name": "x", "transport": "stdio", "stdio": {"command": "true"}}
    document = documents_of_bobs()
    for path, body in {"/mcp/servers": program, "/api/try": document, "/api/preview": {**document, "node": "n"}}.items():
        assert (await estate.bob.post(path, body)).code == "account_forbidden", path
    settings = (await estate.bob.get("/api/settings")).body
    assert (settings["settings"], settings["complaints"]) == ({}, [])


def documents_of_bobs() -> dict[str, Json]:
    """A pipeline of somebody's own, that would be run."""
    nodes: Json = [{"id": "n", "type": "ProviderCall", "config": {"base_url": "https://example.com"}}]
    sample = {"method": "POST", "path": "/v1/chat/completions", "body": {"model": "m", "messages": []}}
    return {"document": {"format": 1, "name": "x", "nodes": nodes, "edges": []}, "request": sample}
