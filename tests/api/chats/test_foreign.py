"""What belongs to another account is not there: for every route, by every id in path, query and body (T26).

There is one account so far, so the other one is made in the store: everything that was written through the API is given to
somebody else, and then asked for.
"""

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import ClientSession
from sqlalchemy import func, select, update

from agentui.api.chats import ROUTES
from agentui.http.route import Route
from agentui.jsonio import Json
from agentui.principal import DEFAULT_ACCOUNT
from agentui.store.base import Store
from agentui.store.tables import jobs, metadata
from tests.api.chats.conftest import Reader
from tests.api.chats.forms import QUERIES, fitting
from tests.api.editor_client import Answer
from tests.conftest import StartServer, call
from tests.faults.hygiene import check_hygiene
from tests.upstreams.server import API_KEY, Mock

ELSE = "somebody-else"
OWNED = [table for table in metadata.sorted_tables if "account_id" in table.c]
CHAT = {"x_agentui_session": "theirs"}


async def everything(store: Store) -> dict[str, list[Any]]:
    """Every row of every table, to see that nothing changed; of jobs what they are, because periodic ones go on meanwhile."""
    read = {table.name: select(table) for table in metadata.sorted_tables}
    read["jobs"] = select(jobs.c.id, jobs.c.kind, jobs.c.payload_json)
    return await store.read(
        lambda db: {name: sorted((tuple(row) for row in db.execute(rows).all()), key=repr) for name, rows in read.items()}
    )


async def give_away(store: Store, account: str = ELSE) -> None:
    """Let all that is there belong to another account."""
    ours = [(update(table).where(table.c.account_id == DEFAULT_ACCOUNT).values(account_id=account)) for table in OWNED]
    await store.write(lambda db: [db.execute(update) for update in ours])


class Foreign:
    """A chat with all that hangs on it, which belongs to somebody else, and a caller who knows every id."""

    def __init__(self, reader: Reader, ids: dict[str, str], rows: dict[str, list[Any]]) -> None:
        self.reader = reader
        self.ids = ids
        self.rows = rows

    def path(self, pattern: str) -> str:
        """A route's path with the foreign ids of its kind."""
        kind = pattern.split("/")[1]
        id = self.ids["branch" if kind == "branches" else kind.removesuffix("s")]
        known = pattern.replace("{id}", id).replace("{branch}", self.ids["branch"]).replace("{floor}", self.ids["floor"])
        return re.sub(r"{\w+}", "words", known)

    async def ask(self, method: str, path: str, body: Json = None) -> Answer:
        return await self.reader.call(method, path, body, {})

    async def is_untouched(self) -> None:
        assert await everything(self.reader.server.state.store) == self.rows


@pytest.fixture(params=["sqlite", "postgresql"])
async def foreign(request: pytest.FixtureRequest, start_server: StartServer, mock: Mock) -> AsyncIterator[Foreign]:
    settings: dict[str, Any] = {}
    if request.param == "postgresql":
        settings["database_url"] = request.getfixturevalue("database")
    rows = [{"name": name, "tier": name, "value": "1"} for name in ("page", "floor", "branch", "chat", "global")]
    nodes: Json = [
        {"id": "s", "type": "SetVars", "config": {"variables": [{**row, "name": f"v_{row['name']}"} for row in rows]}},
        {"id": "n", "type": "ProviderCall", "config": {"provider": "openai", "base_url": mock.origin}},
    ]
    document = {"format": 1, "name": "x", "nodes": nodes, "edges": [{"from": "s", "to": "n"}], "answer": "n"}
    server = await start_server({"default": document, "plain": call("openai", mock.origin)}, **settings)
    async with ClientSession() as session:
        reader = Reader(server, session)
        said = {"model": "text", "messages": [{"role": "user", "content": "Hello!"}]}
        answer = await reader.call("POST", "/v1/chat/completions", said, {**CHAT, "authorization": f"Bearer {API_KEY}"})
        assert answer.status == 200, answer.text
        chat = answer.headers["x-agentui-session"]
        ids = {"session": chat, "floor": answer.headers["x-agentui-floor"], "branch": "side"}
        assert (await reader.post(f"/floors/{ids['floor']}/branch", {"branch_id": "side"})).status in (200, 201)
        open_floor = await reader.floor_id(chat, 7)
        page = await reader.make("/pages", floor_id=open_floor, page_no=0, page_kind="mixed")
        message = await reader.make("/messages", page_id=page["id"], role="user", content="secret words", seq=0)
        ids |= {"page": page["id"], "message": message["id"], "open_floor": open_floor}
        stored = (await reader.get("/variables?limit=50")).body["data"]
        assert {line["scope"] for line in stored} == {"page", "floor", "branch", "chat", "global"}
        ids["variable"] = stored[0]["id"]
        ids["project"] = (await reader.get(f"/sessions/{chat}/scope")).body["project_id"]
        store = server.state.store
        await give_away(store)
        yield Foreign(reader, ids, await everything(store))


ASKED = {**QUERIES, "/sessions/{id}/branches/diff": "?base_branch_id=main&target_branch_id=side"}


def named(route: Route) -> str:
    return f"{route.method} {route.path}"


async def test_every_route_below_an_id_finds_nothing_of_another_account(foreign: Foreign) -> None:
    asked = 0
    for route in ROUTES:
        if "{" not in route.path:
            continue
        path = foreign.path(route.path) + ASKED.get(route.path, "")
        if route.path == "/branches/{id}":
            path += f"?session_id={foreign.ids['session']}"
        answer = await foreign.ask(route.method, path, fitting(route.method, route.path))
        assert answer.status == 404, (named(route), answer.status, answer.text)
        check_hygiene(answer.status, answer.headers, answer.text.encode())
        assert "secret words" not in answer.text
        asked += 1
    assert asked > 25
    await foreign.is_untouched()


async def test_every_list_is_empty_whoever_s_ids_narrow_it(foreign: Foreign) -> None:
    ids = foreign.ids
    narrowed = {
        "/sessions": ["", "?keyword=theirs"],
        "/floors": ["", f"?session_id={ids['session']}", f"?session_id={ids['session']}&branch_id=main"],
        "/pages": ["", f"?floor_id={ids['floor']}", f"?floor_id={ids['open_floor']}"],
        "/messages": ["", f"?page_id={ids['page']}"],
        "/variables": ["", *(f"?scope={scope}" for scope in ("global", "chat", "branch", "floor", "page"))],
    }
    assert {route.path for route in ROUTES if route.method == "GET" and "{" not in route.path} == {
        *narrowed,
        "/variables/resolve",
        "/prompt-runtime/capabilities",  # says nothing of anybody
        "/projects",
    }
    assert (await foreign.ask("GET", "/projects")).body["items"] == []
    narrowed["/variables"] += [f"?scope=chat&scope_id={ids['session']}", f"?scope=page&scope_id={ids['page']}"]
    for path, queries in narrowed.items():
        for query in queries:
            answer = await foreign.ask("GET", path + query)
            assert answer.status in (200, 404), (path, query, answer.text)
            if answer.status == 200:
                assert answer.body["data"] == [], (path, query)
                assert answer.body["meta"]["total"] == 0, (path, query)
            assert "secret words" not in answer.text
    for place in ("", f"&floor_id={ids['floor']}", f"&page_id={ids['page']}", "&branch_id=main"):
        assert (await foreign.ask("GET", f"/variables/resolve?session_id={ids['session']}{place}")).status == 404, place
    await foreign.is_untouched()


async def test_nothing_can_be_written_below_what_belongs_to_another_account(foreign: Foreign) -> None:
    ids = foreign.ids
    value = {"key": "mine", "value": 1}
    writes: list[tuple[str, str, Json]] = [
        ("POST", "/floors", {"session_id": ids["session"], "floor_no": 50}),
        ("POST", "/pages", {"floor_id": ids["open_floor"], "page_no": 1, "page_kind": "mixed"}),
        ("POST", "/messages", {"page_id": ids["page"], "role": "user", "content": "mine", "seq": 5}),
        ("PUT", "/variables", {**value, "scope": "chat", "scope_id": ids["session"]}),
        ("PUT", "/variables", {**value, "scope": "branch", "session_id": ids["session"], "branch_id": "main"}),
        ("PUT", "/variables", {**value, "scope": "floor", "scope_id": ids["open_floor"]}),
        ("PUT", "/variables", {**value, "scope": "page", "scope_id": ids["page"]}),
        ("PUT", "/variables/batch", {"items": [{**value, "scope": "page", "scope_id": ids["page"]}]}),
    ]
    batches: list[tuple[str, str, Json]] = [
        ("PATCH", "/sessions/batch/status", {"ids": [ids["session"]], "status": "archived"}),
        ("POST", "/sessions/batch/delete", {"ids": [ids["session"]]}),
        ("PATCH", "/messages/batch/visibility", {"ids": [ids["message"]], "is_hidden": True}),
        ("POST", "/messages/batch/delete", {"ids": [ids["message"]]}),
        ("POST", "/pages/batch/delete", {"ids": [ids["page"]]}),
    ]
    plain = {named(route) for route in ROUTES if "{" not in route.path and route.method != "GET"}
    assert plain == {f"{method} {path}" for method, path, _ in writes + batches} | {
        "POST /sessions",
        "POST /regex-profiles/test",  # keeps nothing
        "POST /worldbooks/test",  # nor does this
        "POST /presets/test",  # nor this
    }
    for method, path, body in writes:
        answer = await foreign.ask(method, path, body)
        assert answer.status == 404, (method, path, answer.text)
    for method, path, body in batches:
        answer = await foreign.ask(method, path, body)
        assert answer.status == 200, (method, path, answer.text)
        assert answer.body["data"]["meta"]["not_found"] == 1, (method, path, answer.text)
    await foreign.is_untouched()


@pytest.mark.parametrize("way", ["id", "name"])
async def test_a_turn_in_a_chat_of_another_account_is_a_turn_of_a_new_one(foreign: Foreign, mock: Mock, way: str) -> None:
    called = foreign.ids["session"] if way == "id" else "theirs"
    said = {"model": "text", "messages": [{"role": "user", "content": "mine"}]}
    headers = {"x_agentui_session": called, "authorization": f"Bearer {API_KEY}"}
    answer = await foreign.reader.call("POST", "/v1/chat/completions", said, headers)
    assert answer.status == 200, answer.text
    assert answer.headers["x-agentui-session"] != foreign.ids["session"]
    store = foreign.reader.server.state.store
    rows = await everything(store)
    for name, before in foreign.rows.items():
        assert [row for row in before if row not in rows[name]] == [], f"{name} of the other account changed"
    counted = await store.read(
        lambda db: {
            table.name: db.execute(
                select(func.count()).select_from(table).where(table.c.account_id == DEFAULT_ACCOUNT)
            ).scalar_one()
            for table in OWNED
        }
    )
    assert counted["sessions"] == 1
    assert counted["floors"] == 1
    # What the other account's global variable holds was neither read nor written.
    mine = (await foreign.ask("GET", "/variables?scope=global")).body["data"]
    assert [line["key"] for line in mine] == ["v_global"]


def test_every_table_of_peoples_things_names_its_account() -> None:
    assert {table.name for table in OWNED} >= {
        "sessions", "branches", "floors", "pages", "messages", "variables", "generations", "runs",
    }  # fmt: skip
    assert all(re.fullmatch(r"[a-z_]+", table.name) for table in OWNED)
