"""What vendors keep under a key of the server is each account's own, in every dialect and by every way to name it."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import FormData, web
from sqlalchemy import func, select

from agentui.accounts.vendor_objects import note_objects, tidy_objects
from agentui.jsonio import Json
from agentui.store.tables import vendor_objects
from tests.accounts.conftest import ALICE, BOB, Person, StartTeam, Team, bearer
from tests.conftest import call

KEY = "the-vendors-key-0123"
MINE: dict[str, str] = {"Authorization": "Bearer [[SECRET:mine]]"}
GOOGLE = {"x_goog_api_key": ""}


@dataclass
class Vendor:
    """A vendor that keeps what it is given, whoever asks, as the documents of each say; ``requests`` are methods and paths."""

    origin: str = ""
    kept: dict[str, dict[str, Json]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(f"{request.method} {request.path_qs}")
        body = await request.json() if request.content_type == "application/json" and request.can_read_body else {}
        self.bodies.append(body)
        words = request.path.strip("/").split("/")[1:]
        if words[0] == "messages" and words[1:2] == ["batches"]:
            words = words[1:]
        if words[-1] == "messages":
            return web.json_response(_message(request))
        kind, rest = words[0], words[1:]
        kept = self.kept.setdefault(kind, {})
        if request.method == "POST" and not rest:
            return await self._made(request, kind, body)
        if not rest:
            return web.json_response(_page(request, kind, list(kept.values())))
        if rest[0] not in kept:
            return web.json_response({"error": {"message": "The vendor knows no such thing."}}, status=404)
        if rest[1:] == ["content"]:
            return web.Response(body=b'"words"', content_type="application/octet-stream")
        return web.json_response(kept[rest[0]])

    async def _made(self, request: web.Request, kind: str, body: Json) -> web.StreamResponse:
        kept = self.kept[kind]
        id = {"responses": "resp_", "files": "file-", "batches": "batch_", "cachedContents": "c"}[kind] + str(len(kept) + 1)
        entry: dict[str, Json] = {"id": id, "object": kind[:-1], "metadata": body.get("metadata")}
        if kind == "cachedContents":
            entry = {"name": f"cachedContents/{id}", "model": "models/m"}
        if kind == "batches":
            entry |= {"object": "batch", "output_file_id": f"file-of-{id}", "error_file_id": None}
            self.kept.setdefault("files", {})[f"file-of-{id}"] = {"id": f"file-of-{id}", "object": "file"}
        kept[id] = entry
        if kind != "responses":
            return web.json_response(entry)
        words = {"type": "message", "id": "m", "role": "assistant", "status": "completed"}
        words["content"] = [{"type": "output_text", "text": "Hi", "annotations": []}]  # type: ignore[assignment]
        ran = {"type": "code_interpreter_call", "id": "ci", "code": "", "container_id": f"cntr-{id}", "status": "completed"}
        entry |= {"status": "completed", "model": "m", "output": [ran, words], "created_at": 1, "tools": []}
        if not body.get("stream"):
            return web.json_response(entry)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        begun = {**entry, "status": "in_progress", "output": []}
        done = {"type": "response.output_item.done", "output_index": 0, "item": ran}
        for event in (
            {"type": "response.created", "response": begun},
            done,
            {"type": "response.completed", "response": entry},
        ):
            await response.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
        await response.write_eof()
        return response


def _message(request: web.Request) -> Json:
    usage = {"input_tokens": 1, "output_tokens": 1}
    container = {"id": f"container_{request.headers.get('x-title', 'x')}", "expires_at": "2030-01-01T00:00:00Z"}
    ran = {"type": "bash_code_execution_output", "file_id": f"file_by_{request.headers.get('x-title', 'x')}"}
    result = {"type": "bash_code_execution_tool_result", "tool_use_id": "t", "content": {"content": [ran]}}
    said = [{"type": "text", "text": "Hi"}, result]
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": said, "stop_reason": "end_turn",
            "usage": usage, "container": container}  # fmt: skip


def _page(request: web.Request, kind: str, entries: list[Json]) -> Json:
    query, is_claude = request.query, "anthropic-version" in request.headers
    if kind == "cachedContents":
        begin = int(query.get("pageToken", "0"))
        token = {"nextPageToken": str(begin + 2)} if begin + 2 < len(entries) else {}
        return {"cachedContents": entries[begin : begin + 2], **token}
    ids = [entry["id"] for entry in entries]
    last = query.get("after_id" if is_claude else "after")
    begin = ids.index(last) + 1 if last else 0
    shown = entries[begin : begin + 10]
    page: dict[str, Json] = {"data": shown, "has_more": begin + 10 < len(entries)}
    ends = {"first_id": shown[0]["id"] if shown else None, "last_id": shown[-1]["id"] if shown else None}
    return {**page, **ends} if is_claude else {"object": "list", **page, **ends}


@asynccontextmanager
async def running() -> AsyncIterator[Vendor]:
    vendor, app = Vendor(), web.Application()
    app.router.add_route("*", "/{path:.*}", vendor.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    vendor.origin = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield vendor
    finally:
        await runner.cleanup()


@pytest.fixture
async def vendor() -> AsyncIterator[Vendor]:
    async with running() as vendor:
        yield vendor


@dataclass
class Shared:
    """A server whose pipelines have a key of its own, and who asks it."""

    team: Team
    alice: Person
    bob: Person


@pytest.fixture
async def shared(start_team: StartTeam, vendor: Vendor) -> Shared:
    team = await start_team(secret_env={"AGENTUI_SECRET_MINE": KEY, "AGENTUI_SECRET_MINE_ORIGINS": vendor.origin})
    raw = {"id": "n1", "type": "RawForward", "config": {"base_url": vendor.origin, "extra_headers": MINE}}
    team.server.put("call", call("caller", vendor.origin, headers=MINE))
    team.server.put("raw", {"format": 1, "name": "raw", "nodes": [raw]})
    team.server.put("own", call("caller", vendor.origin))
    for id in ("alice", "bob"):
        await team.account(id)
    return Shared(team, team.person(**bearer(ALICE)), team.person(**bearer(BOB)))


async def upload(shared: Shared, person: Person, way: str, **headers: str) -> str:
    form = FormData()
    form.add_field("file", b"words", filename="x.jsonl")
    url = f"{shared.team.server.origin}/p/{way}/v1/files"
    async with shared.team.http.post(url, data=form, headers={**person.shows, **headers}) as answer:
        assert answer.status == 200, await answer.text()
        return str((await answer.json())["id"])


VERSION = {"anthropic_version": "2023-06-01"}
SAID: dict[str, Json] = {"model": "m", "input": "Hi"}
Named = tuple[str, str, Json, dict[str, str], str]


def names(ids: dict[str, str]) -> list[Named]:
    """Every way to name a thing: method, path, body, headers and what the vendor says of an unknown one."""
    file, batch, response, cached, claude = (ids[kind] for kind in ("file", "batch", "response", "cached", "claude"))
    turn: Callable[..., Json] = lambda **fields: {**SAID, **fields}  # noqa: E731
    tool: Json = {"type": "code_interpreter", "container": f"cntr-{response}"}
    part = {"type": "input_file", "file_id": file}
    block = {"type": "document", "source": {"type": "file", "file_id": ids["claude_file"]}}
    asks: Json = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": [block]}]}
    google: Json = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "cachedContent": f"cachedContents/{cached}"}
    searched: Json = [{"type": "file_search", "vector_store_ids": ["vs_1"]}]
    goes_on = {**asks, "messages": [{"role": "user", "content": "Hi"}], "container": ids["container"]}
    return [
        ("GET", f"/v1/files/{file}", None, {}, f"No such File object: {file}"),
        ("GET", f"/v1/files/{file}/content", None, {}, f"No such File object: {file}"),
        ("DELETE", f"/v1/files/{file}", None, {}, f"No such File object: {file}"),
        ("GET", f"/v1/files/file-of-{batch}", None, {}, "No such File object"),
        ("GET", f"/v1/files?after={file}", None, {}, "No such File object"),
        ("GET", f"/v1/files/{ids['claude_file']}", None, VERSION, "File not found"),
        ("GET", f"/v1/batches/{batch}", None, {}, f"Batch with id '{batch}' not found."),
        ("POST", f"/v1/batches/{batch}/cancel", None, {}, "not found"),
        ("POST", "/v1/batches", {"input_file_id": file, "endpoint": "/v1/responses"}, {}, "No such File object"),
        ("GET", f"/v1/messages/batches/{claude}", None, VERSION, "Message batch not found"),
        ("GET", f"/v1/messages/batches/{claude}/results", None, VERSION, "Message batch not found"),
        ("GET", f"/v1/responses/{response}", None, {}, f"Response with id '{response}' not found."),
        ("GET", f"/v1/responses/{response}/input_items", None, {}, "not found"),
        ("DELETE", f"/v1/responses/{response}", None, {}, "not found"),
        ("POST", "/v1/responses", turn(previous_response_id=response), {}, f"Previous response with id '{response}'"),
        ("POST", "/v1/responses", turn(stream=True, conversation={"id": "conv_1"}), {}, "Conversation with id"),
        ("POST", "/v1/responses", turn(tools=[tool]), {}, "Container with id"),
        ("POST", "/v1/responses", turn(tools=searched), {}, "Vector store with id"),
        ("POST", "/v1/responses", turn(input=[{"role": "user", "content": [part]}]), {}, "No such File object"),
        ("POST", "/v1/messages", asks, VERSION, "File not found"),
        ("POST", "/v1/messages", goes_on, VERSION, "Container not found"),
        ("GET", f"/v1beta/cachedContents/{cached}", None, {}, "CachedContent not found"),
        ("POST", "/v1beta/models/m:generateContent", google, {}, "CachedContent not found"),
    ]  # fmt: skip


async def make_all(shared: Shared, person: Person, way: str, title: str) -> dict[str, str]:
    """One of everything that is kept, made through a pipeline."""
    place = f"/p/{way}"
    ids = {"file": await upload(shared, person, way)}
    for kind, path, body, headers in (
        ("batch", "/v1/batches", {"input_file_id": ids["file"], "endpoint": "/v1/responses"}, {}),
        ("claude", "/v1/messages/batches", {"requests": []}, VERSION),
        ("cached", "/v1beta/cachedContents", {"model": "models/m"}, {}),
        ("whole", "/v1/responses", SAID, {}),
    ):
        answer = await person.post(place + path, body, **headers)
        assert answer.status == 200, answer.text
        ids[kind] = answer.body.get("id") or answer.body["name"].split("/")[1]
    url, asked = f"{shared.team.server.origin}{place}/v1/responses", {**SAID, "stream": True}
    async with shared.team.http.post(url, json=asked, headers=person.shows) as stream:
        ids["response"] = json.loads((await stream.text()).split("data: ")[1].split("\n")[0])["response"]["id"]
    said: Json = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
    answer = await person.post(f"{place}/v1/messages", said, x_title=title, **VERSION)
    assert answer.status == 200, answer.text
    return {**ids, "container": f"container_{title}", "claude_file": f"file_by_{title}"}


@pytest.mark.parametrize("way", ["call", "raw"])
async def test_what_another_account_left_at_the_vendor_is_not_found(shared: Shared, vendor: Vendor, way: str) -> None:
    alice, bob = shared.alice, shared.bob
    ids = await make_all(shared, alice, way, "x" if way == "call" else "y")
    asked = len(vendor.requests)
    for method, path, body, headers, words in names(ids):
        answer = await bob.call(method, f"/p/{way}{path}", body, headers)
        told = answer.body["error"]
        assert words in told["message"], (method, path, body, answer.text)
        if "beta" in path:
            assert (answer.status, told["status"]) == (403, "PERMISSION_DENIED"), "as Google says it"
        elif "previous" in str(body):
            assert (answer.status, told["code"]) == (400, "previous_response_not_found")
        else:
            assert answer.status == 404, answer.text
    quoted = json.dumps({**SAID, "previous_response_id": ids["response"]}).replace("previous_r", "previous\\u005fr")
    url, headers = f"{shared.team.server.origin}/p/{way}/v1/responses", {**bob.shows, "content-type": "application/json"}
    async with shared.team.http.post(url, data=quoted, headers=headers) as answer:
        assert answer.status == 400, "JSON writes a letter in several ways"
    assert len(vendor.requests) == asked, "the vendor was asked for what is another's"
    for path, headers in (
        ("/v1/files", {}),
        ("/v1/batches", {}),
        ("/v1/messages/batches", VERSION),
        ("/v1beta/cachedContents", {}),
    ):
        listed = await bob.get(f"/p/{way}{path}", **headers)
        assert listed.status == 200 and not any(id in listed.text for id in ids.values()), (path, listed.text)
    # What is hers she reaches by all of these ways; those that nobody has made are no one's.
    for method, path, body, headers, _ in names(ids):
        if "conv_1" not in str(body) and "vs_1" not in str(body) and "after" not in path and method != "DELETE":
            answer = await alice.call(method, f"/p/{way}{path}", body, headers)
            known = answer.status == 200 or "The vendor knows no such thing" in answer.text
            assert known, (method, path, body, answer.text)
    assert (await alice.get(f"/p/{way}/v1/responses/{ids['whole']}")).status == 200
    operator = shared.team.operator
    assert (await operator.get(f"/p/{way}/v1/responses/{ids['response']}")).status == 200, "an admin has the key"
    assert ids["file"] in (await operator.get(f"/p/{way}/v1/files")).text


async def test_a_list_leads_past_what_is_others(shared: Shared, vendor: Vendor) -> None:
    mine = [await upload(shared, shared.alice, "call") for _ in range(2)]
    others = [await upload(shared, shared.bob, "call") for _ in range(25)]
    mine.append(await upload(shared, shared.alice, "call"))
    found, query = list[str](), ""
    while True:
        page = (await shared.alice.get(f"/p/call/v1/files{query}")).body
        found += [entry["id"] for entry in page["data"]]
        assert page["last_id"] in mine, "a cursor is no other's id"
        if not page["has_more"]:
            break
        query = f"?after={page['last_id']}"
    assert found == mine
    assert all(id not in str(page) for id in others)
    for _ in range(3):
        assert (await shared.bob.post("/p/call/v1beta/cachedContents", {"model": "models/m"})).status == 200
    made = (await shared.alice.post("/p/call/v1beta/cachedContents", {"model": "models/m"})).body["name"]
    listed = (await shared.alice.get("/p/call/v1beta/cachedContents")).body
    assert [entry["name"] for entry in listed["cachedContents"]] == [made]


async def test_callers_with_a_key_of_their_own_are_the_vendors_business(shared: Shared, vendor: Vendor) -> None:
    own = {"authorization": "Bearer sk-of-a-caller"}
    alice = shared.team.person(x_agentui_token=ALICE, **own)
    bob = shared.team.person(x_agentui_token=BOB, **own)
    made = await alice.post("/p/own/v1/responses", SAID)
    assert (await bob.get(f"/p/own/v1/responses/{made.body['id']}")).status == 200
    assert vendor.requests[-1] == f"GET /v1/responses/{made.body['id']}"
    store = shared.team.server.state.store
    assert await store.read(lambda db: db.execute(select(func.count()).select_from(vendor_objects)).scalar()) == 0


async def test_arguments_and_metadata_name_nothing_and_give_nothing(shared: Shared, vendor: Vendor) -> None:
    taken = await upload(shared, shared.bob, "call")
    say = {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"file_id": "file-9"}'}
    schema = {"type": "object", "properties": {"file_id": {"type": "string", "const": "file-9"}}}
    tool = {"type": "function", "name": "f", "parameters": schema}
    asked = {**SAID, "input": [say], "tools": [tool], "metadata": {"file_id": "file-9", "container_id": taken}}
    assert (await shared.alice.post("/p/call/v1/responses", asked)).status == 200
    assert (await shared.alice.get(f"/p/call/v1/files/{taken}")).status == 404
    kept = [*vendor.kept["responses"].values()][-1]
    assert kept["metadata"] == asked["metadata"]


async def test_each_account_has_its_newest_things(shared: Shared) -> None:
    store = shared.team.server.state.store
    for at in range(6):
        await store.write(note_objects, "alice", "https://x", [("file", f"f{at}")], at, is_new=True)
    await store.write(note_objects, "bob", "https://x", [("file", "f5"), ("file", "b")], 9, is_new=False)
    assert await store.write(tidy_objects, 4) == 2
    rows = await store.read(lambda db: db.execute(select(vendor_objects.c.account_id, vendor_objects.c.object_id)).all())
    assert sorted(map(tuple, rows)) == [("alice", "f2"), ("alice", "f3"), ("alice", "f4"), ("alice", "f5"), ("bob", "b")]
