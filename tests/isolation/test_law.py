"""The law of accounts: what belongs to another account is not there, by whichever route and whichever id (T26).

Every operation of the OpenAPI document is asked as Bob with the ids of what Alice has. Each stands in one of the classes below,
so that a new route fails until somebody says which it is.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from agentui.api.ops.openapi import ROUTES_BY_PLACE
from agentui.jsonio import Json
from tests.accounts.conftest import StartTeam
from tests.api.chats.forms import DOCUMENT
from tests.isolation.estate import SECRET, Estate, documents, make_estate
from tests.upstreams.server import Mock

LISTS = {
    "/api/runs", "/characters", "/chat-transfer-jobs", "/floors", "/mcp/servers", "/mcp/statuses", "/messages",
    "/pages", "/presets", "/regex-profiles", "/sessions", "/tool-executions", "/tools/call-records",
    "/tools/definitions", "/users", "/variables", "/worldbooks",
}  # fmt: skip
"""What lists things of an account: nothing of another's."""
NARROWING = {
    "/floors": ["session_id={session}", "session_id={session}&branch_id={branch}"],
    "/pages": ["floor_id={floor}"],
    "/messages": ["page_id={page}"],
    "/variables": [
        "scope=chat&scope_id={session}",
        "scope=floor&scope_id={floor}",
        "scope=page&scope_id={page}",
        "scope=global",
    ],
    "/tool-executions": ["session_id={session}", "floor_id={floor}"],
    "/tools/call-records": ["session_id={session}", "floor_id={floor}", "page_id={page}"],
    "/sessions": ["keyword=story"],
    "/api/runs": ["pipeline=default", "q={secret}"],
    "/characters": ["keyword={secret}"],
}
"""Queries that name what is Alice's."""
NAMES_A_PLACE = {"/tool-executions", "/tools/call-records"}
"""Lists that are always narrowed."""
SERVERS = re.compile(
    r"/api/(pipelines|presets|changes|templates|node-types|settings|context-names|rules|validate|models|secrets)"
)
"""What belongs to the server: open to read, and to change for who may edit."""
STREAMS = {"/api/runs/live", "/api/events", "/api/changes"}
SAYS_NOTHING = {
    "/variables/resolve",  # is asked with ids below
    "/prompt-runtime/capabilities", "/worldbooks/test", "/presets/test", "/regex-profiles/test", "/tools/builtin",
    "/tools/test", "/metrics", "/health", "/ready", "/version", "/openapi.json", "/clients", "/api/preview", "/api/try",
}  # fmt: skip
"""Neither by an id in the path nor a list: what they may be told of in another way is asked below."""
NEW = {"POST /sessions", "POST /characters", "POST /users", "POST /presets", "POST /worldbooks", "POST /regex-profiles",
       "POST /tools/definitions", "POST /mcp/servers"}  # fmt: skip
"""What makes something anew, in the caller's own account."""
AUTH = re.compile(r"/auth/")


def operations() -> Iterator[tuple[str, str]]:
    """Every operation of the document, but the vendors' own: what those keep is at the vendor."""
    for path, methods in DOCUMENT["paths"].items():
        if re.match(r"(/p/{pipeline})?/(v1|v1beta|v1alpha|{version})/", path) or path.startswith("/import/"):
            continue
        for method in methods:
            yield method.upper(), path


BY_ID = [(method, path) for method, path in operations() if "{id}" in path and not SERVERS.match(path)]
BATCHES = [(method, path) for method, path in operations() if "/batch/" in path and "{id}" not in path]


@pytest.fixture
async def estate(start_team: StartTeam, mock: Mock) -> AsyncIterator[Estate]:
    """A server on which Alice has one of everything."""
    team = await start_team()
    for id, document in documents(mock).items():
        team.server.put(id, document)
    yield await make_estate(team)


def is_empty(body: Json) -> bool:
    """Whether a list's answer lists nothing."""
    if isinstance(body, list):
        return not body
    listed = body["data"] if "data" in body else body["items"]
    return listed == [] and body.get("meta", {}).get("total", 0) == 0


async def test_what_is_anothers_is_not_there(estate: Estate) -> None:
    bob, before = estate.bob, await estate.rows()
    unlike: dict[str, Any] = {}
    for method, pattern in BY_ID:
        answer = await bob.call(method, estate.path(pattern), estate.body(method, pattern), {})
        expected = {403} if pattern.startswith("/accounts") else {404}
        if answer.status not in expected or SECRET in answer.text:
            unlike[f"{method} {pattern}"] = answer.status, answer.text[:200]
    assert unlike == {}
    for path in sorted(LISTS):
        for query in (*(() if path in NAMES_A_PLACE else ("",)), *NARROWING.get(path, ())):
            named = query.format(secret=SECRET, **estate.ids)
            answer = await bob.get(f"{path}?{named}")
            assert answer.status in (200, 404), (path, named, answer.text)
            assert answer.status == 404 or is_empty(answer.body), (path, named, answer.text)
            assert SECRET not in answer.text
    for place in ("", f"&floor_id={estate.ids['floor']}", f"&page_id={estate.ids['page']}", "&branch_id=side"):
        assert (await bob.get(f"/variables/resolve?session_id={estate.ids['session']}{place}")).status == 404
    clients = (await bob.get("/clients")).body["items"]
    assert [client["account_id"] for client in clients] == ["bob"]
    assert await estate.rows() == before


async def test_nothing_is_written_to_what_is_anothers(estate: Estate) -> None:
    bob, before, ids = estate.bob, await estate.rows(), estate.ids
    value = {"key": "mine", "value": 1}
    writes: list[tuple[str, str, Json]] = [
        ("POST", "/floors", {"session_id": ids["session"], "floor_no": 50}),
        ("POST", "/pages", {"floor_id": ids["floor"], "page_no": 1, "page_kind": "mixed"}),
        ("POST", "/messages", {"page_id": ids["page"], "role": "user", "content": "mine", "seq": 5}),
        ("PUT", "/variables", {**value, "scope": "chat", "scope_id": ids["session"]}),
        ("PUT", "/variables", {**value, "scope": "branch", "session_id": ids["session"], "branch_id": "main"}),
        ("PUT", "/variables", {**value, "scope": "floor", "scope_id": ids["floor"]}),
        ("PUT", "/variables", {**value, "scope": "page", "scope_id": ids["page"]}),
        ("PUT", "/variables/batch", {"items": [{**value, "scope": "page", "scope_id": ids["page"]}]}),
        ("POST", "/presets/test", {"preset": {}, "session_id": ids["session"], "message": "x"}),
        ("POST", "/worldbooks/test", {"worldbook_ids": [ids["worldbook"]], "text": "x"}),
        ("POST", "/tools/test", {"name": "roll_dice", "arguments": {}, "session_id": ids["session"]}),
        ("POST", "/api/preview", {"node": "n", "run_id": ids["run"]}),
        ("POST", "/api/try", {"pipeline": "plain", "run_id": ids["run"]}),
    ]
    for method, path, body in writes:
        answer = await bob.call(method, path, body, {})
        assert (answer.status, SECRET in answer.text) == (404, False), (method, path, answer.text)
    kinds = {"sessions": "session", "messages": "message", "pages": "page", "users": "user"}
    for method, path in BATCHES:
        kind = path.split("/")[1]
        if kind == "variables":
            continue
        body = {"ids": [ids[kinds[kind]]]} | (
            {"status": "archived" if kind == "sessions" else "disabled"} if "status" in path else {}
        )
        body |= {"is_hidden": True} if "visibility" in path else {}
        answer = await bob.call(method, path, body, {})
        assert answer.status == 200, (method, path, answer.text)
        assert answer.body["data"]["meta"]["not_found"] == 1, (method, path, answer.text)
    bound = {"character_id": ids["character"], "preset_id": ids["preset"], "worldbook_profile_id": ids["worldbook"]}
    for field, id in {**bound, "user_id": ids["user"], "regex_profile_id": ids["regex"]}.items():
        answer = await bob.post("/sessions", {"title": "mine", field: id})
        assert answer.status in (400, 404) and SECRET not in answer.text, (field, answer.text)
    # The same name is free for everybody: a chat of that name is one of Bob's own.
    for called in (ids["session"], "story"):
        said = {"model": "text", "messages": [{"role": "user", "content": "mine"}]}
        answer = await bob.post("/v1/chat/completions", said, x_agentui_session=called)
        assert answer.status == 200, answer.text
        assert answer.headers["x-agentui-session"] != ids["session"]
    assert {line["account"] for line in (await bob.get("/api/runs")).body} == {"bob"}
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
