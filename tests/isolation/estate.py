"""Alice's estate: one of everything that an account may have, made through the API, with the ids by which it is asked for."""

import base64
import re
from dataclasses import dataclass
from typing import Any

from aiohttp import FormData
from sqlalchemy import insert, select

from agentui.chat.messages import ToolCall
from agentui.chats.parts import Content
from agentui.jsonio import Json
from agentui.memories.hosts import Host
from agentui.memories.scopes import advance_scope
from agentui.principal import Principal
from agentui.store.base import Store
from agentui.store.tables import identities, memory_jobs, metadata, passkeys, sign_ins
from agentui.tools.catalog import Catalog
from agentui.tools.executor import Executor, Surroundings
from agentui.tools.permissions import Permissions
from agentui.tools.tool import CallPlace
from agentui.turns.request import Outcome, TurnRequest
from tests.accounts.conftest import ALICE, BOB, Person, Team, bearer, eventually
from tests.api.chats.forms import QUERIES, fitting, good, operation_body, resolved
from tests.api.test_tool_executions import tool
from tests.upstreams.server import API_KEY, Mock

SECRET = "moonlit-harbour"
"""What Alice says and writes everywhere; nobody else may read it."""
PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==")
OWNED = [table for table in metadata.sorted_tables if "account_id" in table.c]
COPY = "{{ diary|default('none') }}"
"""What a pipeline of the server's reads of whoever runs it."""
TIERS = ("page", "floor", "branch", "chat", "global")
PREFIXES = {
    "/api/runs": "run",
    "/tools/definitions": "definition",
    "/mcp/servers": "mcp",
    "/llm-profiles": "profile",
    "/vc-tags": "tag",
    "/memories": "memory",
    "/memory-edges": "memory_edge",
    "/memory/jobs": "memory_job",
}
"""What ``{id}`` is below paths whose first word does not say it."""


def documents(mock: Mock) -> dict[str, Json]:
    """Pipelines that answer by a key of their own, the active one with variables of every tier."""
    rows = [{"name": f"v_{name}", "tier": name, "value": name} for name in TIERS]
    config = {
        "provider": "openai",
        "base_url": mock.origin,
        "model": "text",
        "headers": {"Authorization": f"Bearer {API_KEY}"},
    }
    asks: Json = {"id": "n", "type": "ProviderCall", "config": config}
    sets: Json = {"id": "s", "type": "SetVars", "config": {"variables": rows}}
    plain = {"format": 1, "name": "plain", "nodes": [asks], "edges": [], "answer": "n"}
    copied: Json = {"id": "s", "type": "SetVars", "config": {"variables": [{"name": "copy", "tier": "global", "value": COPY}]}}
    reader = {**plain, "nodes": [copied, asks], "edges": [{"from": "s", "to": "n"}]}
    return {"reader": reader, "default": {**plain, "nodes": [sets, asks], "edges": [{"from": "s", "to": "n"}]}, "plain": plain}


@dataclass
class Estate:
    """What Alice has, and who asks for it. ``ids`` are by the words that ``id_of`` gives."""

    team: Team
    alice: Person
    bob: Person
    ids: dict[str, str]

    def path(self, pattern: str) -> str:
        """A route's path with Alice's ids, and a query with more of them where the route asks for one."""
        ids = self.ids
        kind = kind_of(pattern)
        known = {**ids, "id": ids.get(kind, "none"), "version_id": ids.get(f"{kind}_version", "none"), "pipeline": "plain"}
        known |= {"number": "1", "sequence": "0", "variable": "words"}
        path = re.sub(r"{(\w+)}", lambda part: known.get(part[1], "words"), pattern)
        bare = pattern.removeprefix("/p/{pipeline}")
        query = QUERIES.get(bare, "").replace("=x", f"={ids['branch']}").replace("floor:y", f"floor:{ids['floor']}")
        query = query.replace(f"floor_id={ids['branch']}", f"floor_id={ids['floor']}")
        if bare == "/branches/{id}":
            query = f"?session_id={ids['session']}"
        return path + query

    def body(self, method: str, pattern: str) -> Json:
        """A body that fits the route, whose fields name what is Alice's."""
        if (method, pattern) == ("PATCH", "/clients/{id}"):
            return {"name": "mine"}
        schema = operation_body(method, pattern)
        if schema is None:
            return None
        fitted = fitting(method, pattern)
        fields = resolved(schema).get("properties", {})
        return {name: good(fields[name], name, self._known) if name in fields else value for name, value in fitted.items()}

    def _known(self, name: str) -> Json:
        named = {f"{word}_id": id for word, id in self.ids.items() if word != "branch"}
        lists = {"ids": None, "executions": None}
        if name in lists:
            return None
        library: dict[str, Json] = {
            "snapshot": {"name": "words"},
            "entries": [],
            "order_contexts": [],
            "fields": {"content": "x"},
        }
        return {**named, **library}.get(name)

    async def rows(self, account: str = "alice") -> dict[str, list[Any]]:
        """Every row of an account."""
        return await rows_of(self.team.server.state.store, account)


def kind_of(pattern: str) -> str:
    """What ``{id}`` is in a path: a word of ``Estate.ids``."""
    bare = pattern.removeprefix("/p/{pipeline}")
    for prefix, kind in PREFIXES.items():
        if bare.startswith(prefix):
            return kind
    words = bare.split("/")
    word = words[2] if words[1] == "export" else words[1]
    special = {"branches": "branch", "chat-transfer-jobs": "job", "tool-executions": "execution", "chat": "session"}
    special |= {"regex-profiles": "regex", "accounts": "account"}
    return special.get(word, word.removesuffix("s"))


async def rows_of(store: Store, account: str) -> dict[str, list[Any]]:
    """Every row of an account, by table."""
    read = {table.name: select(table).where(table.c.account_id == account) for table in OWNED}
    return await store.read(
        lambda db: {name: sorted((tuple(row) for row in db.execute(rows).all()), key=repr) for name, rows in read.items()}
    )


async def found(person: Person, path: str) -> Json:
    """What is at a path, under ``data`` where the route has it."""
    answer = await person.get(path)
    assert answer.status == 200, (path, answer.text)
    return answer.body.get("data", answer.body) if isinstance(answer.body, dict) else answer.body


async def make_estate(team: Team) -> Estate:
    """Make one of everything for Alice. Bob has an account and nothing in it."""
    await team.account("alice")
    await team.account("bob")
    alice, bob = team.person(**bearer(ALICE)), team.person(**bearer(BOB))

    async def made(path: str, pattern: str | None = None, method: str = "POST", **fields: Json) -> Json:
        body = {**(fitting(method, pattern or path) or {}), **fields}
        answer = await alice.call(method, path, body, {})
        assert answer.status in (200, 201, 202), (path, answer.text)
        return answer.body.get("data", answer.body)

    picture = "data:image/png;base64," + base64.b64encode(PIXEL).decode()
    parts = [{"type": "text", "text": SECRET}, {"type": "image_url", "image_url": {"url": picture}}]
    said = {"model": "text", "messages": [{"role": "user", "content": parts}]}
    answer = await alice.post("/v1/chat/completions", said, x_agentui_session="story")
    assert answer.status == 200, answer.text
    session = answer.headers["x-agentui-session"]
    ids = {"session": session, "branch": "side", "account": "alice"}
    await made(f"/sessions/{session}/state/namespaces", "/sessions/{id}/state/namespaces")
    await made(f"/sessions/{session}/state/values/write", "/sessions/{id}/state/values/write", value=SECRET)
    # One more turn, whose floor has a snapshot of the state, and a branch with a turn of its own.
    answer = await alice.post("/v1/chat/completions", said, x_agentui_session="story")
    ids |= {"floor": answer.headers["x-agentui-floor"], "run": answer.headers["x-agentui-run"]}
    floor = ids["floor"]
    await made(f"/floors/{floor}/branch", "/floors/{id}/branch", branch_id="side")
    aside = {"model": "text", "messages": [{"role": "user", "content": f"{SECRET}, aside"}]}
    answer = await alice.post(
        "/v1/chat/completions", aside, x_agentui_session="story", x_agentui_branch="side", x_agentui_turn="new"
    )
    assert answer.status == 200, answer.text
    pages = await found(alice, f"/pages?floor_id={floor}")
    ids["page"] = next(page["id"] for page in pages if page["page_kind"] == "output")
    asked = next(page["id"] for page in pages if page["page_kind"] == "input")
    [message] = await found(alice, f"/messages?page_id={asked}")
    ids["message"] = message["id"]
    [blob] = re.findall(r'"blob":"([0-9a-f]{64})"', (await alice.get(f"/messages/{message['id']}")).text)
    ids["hash"] = blob
    ids["variable"] = (await found(alice, "/variables?limit=50"))[0]["id"]
    for kind, path in (("character", "/characters"), ("user", "/users"), ("preset", "/presets"), ("worldbook", "/worldbooks"),
                       ("regex", "/regex-profiles")):  # fmt: skip
        content = {"snapshot": {"name": SECRET}} if kind in ("character", "user") else {"name": SECRET}
        ids[kind] = (await made(path, **content))["id"]
        ids[f"{kind}_version"] = (await found(alice, f"{path}/{ids[kind]}/versions"))[0]["id"]
        if kind in ("character", "user"):
            form = FormData()
            form.add_field("file", PIXEL, filename="x.png", content_type="image/png")
            url = f"{team.server.origin}{path}/{ids[kind]}/image"
            async with team.http.put(url, data=form, headers=alice.shows) as image:
                assert image.status == 200, await image.text()
    await made(f"/presets/{ids['preset']}/entries", "/presets/{id}/entries", identifier="words")
    entry = await made(f"/worldbooks/{ids['worldbook']}/entries", "/worldbooks/{id}/entries")
    ids["entry_id"] = entry["id"] if isinstance(entry["id"], str) else str(entry["id"])
    ids["identifier"] = "words"
    [mutation] = await found(alice, f"/sessions/{session}/session-state/mutations")
    ids["mutation"] = mutation["id"]
    place = f"/sessions/{session}/working-variables/words"
    await made(place, "/sessions/{id}/working-variables/{variable}", "PUT", value=SECRET)
    ids["project"] = (await alice.get(f"/sessions/{session}/scope")).body["project_id"]
    ids["job"] = (await made(f"/export/chat/{session}/jobs", "/export/chat/{id}/jobs"))["id"]

    async def is_done() -> bool:
        return bool((await found(alice, f"/chat-transfer-jobs/{ids['job']}"))["status"] == "succeeded")

    await eventually(is_done)
    handler = {"method": "GET", "url": "http://127.0.0.1:9/x"}
    ids["definition"] = (await made("/tools/definitions", name=SECRET.replace("-", "_"), description=SECRET, parameters={},
                                    handler_type="http", handler=handler, source="custom"))["id"]  # fmt: skip
    reached = {"url": "http://127.0.0.1:9/mcp"}
    ids["mcp"] = (await made("/mcp/servers", name=SECRET, transport="http", http=reached, enabled=False))["id"]
    ids["profile"] = (await made("/llm-profiles", preset_name=SECRET, provider="openai", api_key=SECRET))["id"]
    await made(f"/llm-profiles/{ids['profile']}/activate", "/llm-profiles/{id}/activate", scope="session", session_id=session)
    await made("/llm-instances/narrator", "/llm-instances/{slot}", "PUT", params={"temperature": 1})
    await made("/llm-instances/narrator", "/llm-instances/{slot}", "PUT", scope="session", session_id=session)
    memory = {"scope": "chat", "scope_id": session, "type": "fact", "content": SECRET, "sources": [{"page_id": ids["page"]}]}
    ids["memory"] = (await made("/memories", **memory))["id"]
    assert (await alice.call("PATCH", f"/memories/{ids['memory']}", {"importance": 1}, {})).status == 200
    edge = {"from_id": ids["memory"], "to_id": ids["memory"], "relation": "supports"}
    ids["memory_edge"] = (await made("/memory-edges", **edge))["id"]
    await team.server.state.store.write(advance_scope, "alice", Host("chat", session, session), 1, floor_no=1)
    ids["memory_job"] = "memory-job:ingest_turn:alice"
    job = {"id": ids["memory_job"], "account_id": "alice", "scope": "chat", "scope_id": session, "session_id": session}
    state = {"job_type": "ingest_turn", "status": "pending", "floor_id": ids["floor"], "last_error": SECRET}
    rest = {"payload_json": "{}", "max_attempts": 5, "available_at": 2**53, "created_at": 1, "updated_at": 1}
    await team.server.state.store.write(lambda db: db.execute(insert(memory_jobs).values({**job, **state, **rest})))
    budget = {"level": "account", "subject": "alice", "unit": "requests", "amount": 10**9}
    assert (await team.operator.put("/budgets", budget)).status == 200
    client = (await alice.made("/clients", name=SECRET))["item"]["id"]
    ids["client"] = client
    ids["key"] = (await alice.made(f"/clients/{client}/api-keys", name=SECRET))["item"]["id"]
    await _call_of_a_tool(team, ids)
    named: dict[str, Json] = {"name": SECRET, "target_type": "floor", "target_id": floor}
    ids["tag"] = (await made("/vc-tags", **named))["id"]
    for key in ("diary", "copy"):
        await made("/variables", method="PUT", scope="global", scope_id="global", key=key, value=SECRET)
    ids["auth"] = "sign-in-of-alice"
    times = {"created_at": 1, "last_used_at": 1, "expires_at": 2**53}
    row = {"id": ids["auth"], "account_id": "alice", "token_hash": "0" * 64, "method": "password", "device": SECRET, **times}
    await team.server.state.store.write(lambda db: db.execute(insert(sign_ins).values(row)))
    # All of them are asked for by the same id.
    used = {"id": ids["auth"], "account_id": "alice", "created_at": 1, "last_used_at": 1}
    key = {**used, "credential_id": "x", "user_handle": "x", "public_key": "x", "sign_count": 0, "is_backed_up": False}
    await team.server.state.store.write(lambda db: db.execute(insert(passkeys).values({**key, "name": SECRET})))
    person = {**used, "issuer": "https://id.example", "subject": "x", "email": SECRET}
    await team.server.state.store.write(lambda db: db.execute(insert(identities).values(person)))
    return Estate(team, alice, bob, ids)


async def _call_of_a_tool(team: Team, ids: dict[str, str]) -> None:
    """Record a call that a model made in a turn on a branch of its own; its id, its floor and its page are among ``ids``
    then."""
    principal = Principal("alice", "user", may_edit=False)
    turns = team.server.state.turns
    turn = await turns.begin(TurnRequest("alice", "run_of_tools", ids["session"], "tools", user=Content(SECRET)))
    place = turn.place
    where = CallPlace(principal, place.run_id, place.session_id, place.branch_id, place.floor_id, place.floor.input_page_id)
    around = Surroundings(listeners=(turn.calls,))
    await Executor(Catalog.of([tool("echo")]), Permissions(enabled=True), where, around).execute(
        ToolCall("call_1", "echo", f'{{"text": "{SECRET}"}}')
    )
    await turn.commit(Outcome(Content(SECRET), 1, 1))
    [call] = turn.calls.calls
    ids |= {"execution": call.execution.id, "call_floor": place.floor_id, "call_page": place.floor.input_page_id}
