"""The walk over every operation of the OpenAPI document in somebody else's name; what it finds is against the law.

Each operation stands in one of the classes below, so that a new route fails until somebody says which it is.
"""

import re
from collections.abc import Iterator

from agentui.jsonio import Json, dumps_text
from tests.api.chats.forms import DOCUMENT
from tests.isolation.estate import SECRET, Estate

LISTS = {
    "/memories", "/memory-edges", "/memory/jobs", "/memory/scopes",
    "/api/runs", "/characters", "/chat-transfer-jobs", "/floors", "/llm-instances", "/llm-profiles",
    "/mcp/servers", "/mcp/statuses", "/messages", "/operation-logs",
    "/pages", "/presets", "/projects", "/regex-profiles", "/sessions", "/tool-executions", "/tools/call-records",
    "/tools/definitions", "/vc-tags", "/usage", "/usage/sums", "/users", "/variables", "/worldbooks", "/budgets",
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
        "scope=global&key=diary",
    ],
    "/tool-executions": ["session_id={session}", "floor_id={call_floor}"],
    "/tools/call-records": ["session_id={session}", "floor_id={call_floor}", "page_id={call_page}"],
    "/llm-instances": ["scope=session&session_id={session}"],
    "/llm-profiles": ["include_deleted=true"],
    "/sessions": ["keyword=story"],
    "/api/runs": ["pipeline=default", "q={secret}"],
    "/characters": ["keyword={secret}"],
    "/memories": [
        "q={secret}",
        "session_id={session}",
        "floor_id={floor}",
        "scope=chat&scope_id={session}",
        "visible=true&session_id={session}",
    ],
    "/memory-edges": ["from_id={memory}"],
    "/memory/jobs": ["floor_id={floor}", "scope=chat&scope_id={session}"],
    "/usage": ["session_id={session}", "floor_ids={floor},{call_floor}", "run_id={run}"],
    "/usage/sums": ["by=floor&floor_ids={floor},{call_floor}", "by=session&session_id={session}", "by=node&run_id={run}"],
    "/operation-logs": [
        "session_id={session}",
        "actor_account_id=alice",
        "workspace_id=ws_default_alice",
        "action=create_character",
    ],
}
"""Queries that name what is Alice's."""
NAMES_A_PLACE = {"/operation-logs", "/tool-executions", "/tools/call-records"}
"""Lists that are always narrowed; what somebody was refused stands in the own log."""
SERVERS = re.compile(
    r"/api/(pipelines|presets|changes|templates|node-types|settings|context-names|rules|validate|models|secrets)"
    r"|/budgets/"
)
"""What belongs to the server: open to read, and to change for who may edit."""
STREAMS = {"/api/runs/live", "/api/events", "/api/changes"}
SAYS_NOTHING = {
    "/variables/resolve", "/memories/stats",  # are asked with ids below
    "/memory/scopes/{scope}/{scope_id}/compact", "/memory/scopes/{scope}/{scope_id}/rebuild",
    "/prompt-runtime/capabilities", "/worldbooks/test", "/presets/test", "/regex-profiles/test", "/tools/builtin",
    "/llm-profiles/runtime", "/llm-instances/resolved", "/llm-instances/{slot}", "/llm-profiles/bindings/{slot}",
    "/llm-profiles/models/discover", "/llm-profiles/models/test",
    "/tools/test", "/metrics", "/health", "/ready", "/version", "/openapi.json", "/clients", "/api/preview", "/api/try",
}  # fmt: skip
"""Neither by an id in the path nor a list: what they may be told of in another way is asked below."""
NEW = {"POST /memories", "POST /memory-edges",
       "POST /sessions", "POST /characters", "POST /users", "POST /presets", "POST /worldbooks", "POST /regex-profiles",
       "POST /tools/definitions", "POST /mcp/servers", "POST /llm-profiles", "PUT /budgets", "POST /vc-tags"}  # fmt: skip
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


Faults = dict[str, tuple[int, str]]
"""What was answered that should not have been, by what was asked."""


def is_empty(body: Json) -> bool:
    """Whether a list's answer lists nothing."""
    if isinstance(body, list):
        return not body
    listed = body["data"] if "data" in body else body["items"]
    return listed == [] and body.get("meta", {}).get("total", 0) == 0


async def shown(estate: Estate) -> Faults:
    """What Bob is shown of Alice's by her ids, in lists, and where they are narrowed."""
    bob, faults = estate.bob, Faults()
    for method, pattern in BY_ID:
        answer = await bob.call(method, estate.path(pattern), estate.body(method, pattern), {})
        if answer.status != (403 if pattern.startswith("/accounts") else 404) or SECRET in answer.text:
            faults[f"{method} {pattern}"] = answer.status, answer.text[:200]
    for path in sorted(LISTS):
        for query in (*(() if path in NAMES_A_PLACE else ("",)), *NARROWING.get(path, ())):
            named = f"{path}?{query.format(secret=SECRET, **estate.ids)}"
            answer = await bob.get(named)
            is_good = answer.status == 404 or (answer.status == 200 and is_empty(answer.body))
            if not is_good or SECRET in answer.text:
                faults[named] = answer.status, answer.text[:200]
    for place in ("", f"&floor_id={estate.ids['floor']}", f"&page_id={estate.ids['page']}", "&branch_id=side"):
        answer = await bob.get(f"/variables/resolve?session_id={estate.ids['session']}{place}")
        if answer.status != 404:
            faults[f"resolve{place}"] = answer.status, answer.text[:200]
    for path in ("/auth/sign-ins", "/auth/passkeys", "/auth/identities"):
        ways = await bob.get(path)
        if ways.status != 200 or ways.body["data"]:
            faults[path] = ways.status, ways.text[:200]
    clients = await bob.get("/clients")
    if clients.status != 200 or {client["account_id"] for client in clients.body["items"]} != {"bob"}:
        faults["/clients"] = clients.status, clients.text[:200]
    return faults


async def written(estate: Estate) -> Faults:
    """What Bob can write to, bind or read by naming what is Alice's in bodies."""
    bob, ids, faults = estate.bob, estate.ids, Faults()
    value = {"key": "mine", "value": 1}
    memory = {"type": "fact", "content": "mine"}
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
        ("PUT", "/llm-instances/narrator", {"scope": "session", "session_id": ids["session"]}),
        ("PUT", "/llm-instances/narrator", {"preset_id": ids["preset"]}),
        ("GET", f"/llm-instances/narrator?scope=session&session_id={ids['session']}", None),
        ("DELETE", f"/llm-instances/narrator?scope=session&session_id={ids['session']}", None),
        ("DELETE", f"/llm-profiles/bindings/*?scope=session&session_id={ids['session']}", None),
        ("GET", f"/llm-instances/resolved?session_id={ids['session']}", None),
        ("POST", "/llm-profiles/models/discover", {"profile_id": ids["profile"]}),
        ("POST", "/llm-profiles/models/test", {"profile_id": ids["profile"]}),
        ("POST", "/memories", {**memory, "scope": "chat", "scope_id": ids["session"]}),
        ("POST", "/memories", {**memory, "scope": "branch", "scope_id": dumps_text([ids["session"], "main"])}),
        ("POST", "/memories", {**memory, "scope": "floor", "scope_id": ids["floor"]}),
        ("POST", "/memories", {**memory, "scope": "global", "scope_id": "alice"}),
        ("POST", "/memories", {**memory, "scope": "global", "scope_id": "bob", "sources": [{"page_id": ids["page"]}]}),
        ("POST", "/memory-edges", {"from_id": ids["memory"], "to_id": ids["memory"], "relation": "updates"}),
        ("GET", f"/memories/stats?session_id={ids['session']}", None),
        ("POST", f"/memory/scopes/chat/{ids['session']}/compact", {}),
        ("POST", f"/memory/scopes/chat/{ids['session']}/rebuild", {}),
        ("POST", f"/memory/scopes/floor/{ids['floor']}/compact", {}),
        ("POST", "/memory/scopes/global/alice/rebuild", {}),
        ("POST", "/api/preview", {"node": "n", "run_id": ids["run"]}),
        ("POST", "/api/try", {"pipeline": "plain", "run_id": ids["run"]}),
        ("POST", "/vc-tags", {"name": "mine", "target_type": "floor", "target_id": ids["floor"]}),
        ("POST", "/vc-tags", {"name": "mine", "target_type": "asset_version", "target_id": ids["preset_version"]}),
    ]
    for method, path, body in writes:
        answer = await bob.call(method, path, body, {})
        if answer.status != 404 or SECRET in answer.text:
            faults[f"{method} {path} {body}"] = answer.status, answer.text[:200]
    kinds = {"sessions": "session", "messages": "message", "pages": "page", "users": "user", "memories": "memory"}
    for method, path in BATCHES:
        kind = path.split("/")[1]
        if kind == "variables":
            continue
        asked: dict[str, Json] = {"ids": [ids[kinds[kind]]]}
        if "status" in path:
            asked["status"] = {"sessions": "archived", "memories": "deprecated"}.get(kind, "disabled")
        if "visibility" in path:
            asked["is_hidden"] = True
        answer = await bob.call(method, path, asked, {})
        if answer.status != 200 or answer.body["data"]["meta"]["not_found"] != 1:
            faults[f"{method} {path}"] = answer.status, answer.text[:200]
    bound = {"character_id": "character", "preset_id": "preset", "worldbook_profile_id": "worldbook", "user_id": "user"}
    for field, kind in {**bound, "regex_profile_id": "regex"}.items():
        answer = await bob.post("/sessions", {"title": "mine", field: ids[kind]})
        if answer.status not in (400, 404) or SECRET in answer.text:
            faults[f"bind {field}"] = answer.status, answer.text[:200]
    # The same name is free for everybody: a chat of that name is one of Bob's own.
    said = {"model": "text", "messages": [{"role": "user", "content": "mine"}]}
    for called in (ids["session"], "story"):
        answer = await bob.post("/v1/chat/completions", said, x_agentui_session=called)
        if answer.status != 200 or answer.headers["x-agentui-session"] == ids["session"]:
            faults[f"chat {called}"] = answer.status, answer.text[:200]
            continue
        again = await bob.post("/v1/chat/completions", said, x_agentui_session=called)
        if again.headers.get("x-agentui-session") != answer.headers["x-agentui-session"]:
            faults[f"chat {called} again"] = again.status, again.text[:200]
        catalog = await bob.get(f"/sessions/{answer.headers['x-agentui-session']}/tool-catalog")
        if catalog.status != 200 or SECRET.replace("-", "_") in catalog.text:
            faults["tool-catalog"] = catalog.status, catalog.text[:200]
    runs = await bob.get("/api/runs")
    if {line["account"] for line in runs.body} != {"bob"}:
        faults["/api/runs"] = runs.status, runs.text[:200]
    tiers = await bob.get("/variables?scope=global")
    if [line["key"] for line in tiers.body["data"]] != ["v_global"]:
        faults["global"] = tiers.status, tiers.text[:200]
    # A pipeline of the server reads the variables of who runs it, in a chat and without one.
    for headers in ({"x_agentui_session": "read"}, {}):
        answer = await bob.post("/p/reader/v1/chat/completions", said, **headers)
        tiers = await bob.get("/variables?scope=global&key=copy")
        if answer.status != 200 or [line["value"] for line in tiers.body["data"] if line["key"] == "copy"] != ["none"]:
            faults[f"reader {headers}"] = answer.status, answer.text[:100] + tiers.text[:200]
    answer = await bob.put("/variables", {"scope": "global", "scope_id": "global", "key": "diary", "value": "mine"})
    if answer.status not in (200, 201) or answer.body["data"]["value"] != "mine" or SECRET in answer.text:
        faults["PUT diary"] = answer.status, answer.text[:200]
    # Nor has anything of hers come into what is his by the way (what was there before a write, for one).
    faults |= {f"rows of {name}": (0, "") for name, rows in (await estate.rows("bob")).items() if SECRET in repr(rows)}
    return faults
