"""The memory's own writes asked twice with one Idempotency-Key."""

import asyncio

import pytest

from agentui.api.chats import ROUTES
from agentui.jsonio import Json
from tests.api.chats.conftest import Reader
from tests.api.editor_client import Answer

READING = {
    ("POST", "/worldbooks/test"),
    ("POST", "/presets/test"),
    ("POST", "/import/hadtavern"),
    ("POST", "/mcp/servers/{id}/connect"),
    ("POST", "/mcp/servers/{id}/disconnect"),
    ("POST", "/mcp/servers/{id}/test"),
    ("POST", "/regex-profiles/test"),
    ("POST", "/sessions/{id}/active-run/cancel"),
    ("POST", "/sessions/{id}/branches/{branch}/merge/preview"),
    ("POST", "/sessions/{id}/prompt-runtime/compare"),
    ("POST", "/sessions/{id}/prompt-runtime/inspect"),
    ("POST", "/sessions/{id}/prompt-runtime/preview"),
    ("POST", "/sessions/{id}/respond/dry-run"),
}
"""What writes nothing, and what does no harm when it is asked twice."""


@pytest.fixture(params=["reader", "postgres_reader"])
def caller(request: pytest.FixtureRequest) -> Reader:
    """A caller of a fresh server on each engine."""
    reader: Reader = request.getfixturevalue(request.param)
    return reader


async def say(reader: Reader, method: str, path: str, body: Json = None, key: str = "k") -> Answer:
    return await reader.call(method, path, body, {"Idempotency_Key": key})


async def twice(reader: Reader, method: str, path: str, body: Json = None, key: str = "k") -> Json:
    """Ask twice: the same bytes; returns the data."""
    first, again = [await say(reader, method, path, body, key) for _ in range(2)]
    assert first.status in (200, 201), first.text
    assert (again.status, again.text) == (first.status, first.text)
    assert [answer.headers.get("idempotent-replayed") for answer in (first, again)] == [None, "true"]
    assert again.headers["content-type"] == first.headers["content-type"]
    assert again.headers["x-request-id"] != first.headers["x-request-id"]
    return first.body["data"]


async def test_every_route_that_writes_does_it_once(caller: Reader) -> None:
    session = (await twice(caller, "POST", "/sessions", {"title": "A"}, "s"))["id"]
    floor = (await twice(caller, "POST", "/floors", {"session_id": session, "floor_no": 0}, "f"))["id"]
    page = (await twice(caller, "POST", "/pages", {"floor_id": floor, "page_no": 0, "page_kind": "input"}, "p"))["id"]
    output = (await twice(caller, "POST", "/pages", {"floor_id": floor, "page_no": 1, "page_kind": "output"}, "o"))["id"]
    said = {"page_id": page, "seq": 0, "role": "user", "content": "Hi"}
    message = (await twice(caller, "POST", "/messages", said, "m"))["id"]
    await twice(caller, "PATCH", f"/sessions/{session}", {"title": "B"}, "ps")
    await twice(caller, "PATCH", f"/pages/{page}", {"checksum": "x"}, "pp")
    await twice(caller, "PATCH", f"/pages/{output}/activate", None, "pa")
    await twice(caller, "PATCH", f"/messages/{message}", {"content": "Ho"}, "pm")
    await twice(caller, "PATCH", f"/floors/{floor}", {"floor_no": 1}, "pf")
    await twice(caller, "PATCH", "/messages/batch/visibility", {"ids": [message], "is_hidden": True}, "v")
    await twice(caller, "PATCH", "/sessions/batch/status", {"ids": [session], "status": "active"}, "st")
    items = [{"scope": "chat", "scope_id": session, "key": key, "value": 1} for key in "ab"]
    batch = await twice(caller, "PUT", "/variables/batch", {"items": items}, "b")
    assert batch["meta"] == {"total": 2, "created": 2, "updated": 0}
    variable = (await twice(caller, "PUT", "/variables", items[0], "w"))["id"]
    await twice(caller, "DELETE", f"/variables/{variable}", None, "dv")
    await twice(caller, "POST", "/messages/batch/delete", {"ids": [message]}, "bm")
    message = (await twice(caller, "POST", "/messages", said, "m2"))["id"]
    await twice(caller, "DELETE", f"/messages/{message}", None, "dm")
    await twice(caller, "DELETE", f"/pages/{output}", None, "dp")
    done = {"session_id": session, "floor_no": 2, "state": "committed"}
    head = (await twice(caller, "POST", "/floors", done, "c2"))["id"]
    last = (await twice(caller, "POST", "/floors", {**done, "floor_no": 3}, "c3"))["id"]
    fork = await twice(caller, "POST", f"/floors/{last}/branch", {"branch_id": "alt"}, "fk")
    assert fork["branch_id"] == "alt"
    await twice(caller, "POST", "/floors", {**done, "branch_id": "alt", "floor_no": 4}, "a")
    await twice(caller, "POST", f"/sessions/{session}/branches/alt/merge", {"target_branch_id": "main"}, "mg")
    await twice(caller, "POST", f"/sessions/{session}/branches/main/reset", {"target_floor_id": head}, "r")
    await twice(caller, "POST", f"/floors/{head}/branch", {"branch_id": "gone"}, "fg")
    await twice(caller, "DELETE", "/branches/gone", None, "db")
    await twice(caller, "DELETE", f"/floors/{floor}", None, "df")
    owner = {"logical_owner_type": "plugin", "logical_owner_id": "x"}
    await twice(caller, "POST", f"/sessions/{session}/state/namespaces", {"namespace": "n", **owner}, "sn")
    slot = {"branch_id": "main", "namespace": "n", "slot": "s"}
    await twice(caller, "POST", f"/sessions/{session}/state/values/write", {**slot, "value": 1}, "sw")
    await twice(caller, "DELETE", f"/sessions/{session}/state/values", slot, "sd")
    await twice(caller, "DELETE", f"/sessions/{session}", None, "ds")
    session = (await twice(caller, "POST", "/sessions", {"title": "A"}, "s2"))["id"]
    await twice(caller, "POST", "/sessions/batch/delete", {"ids": [session]}, "bs")
    assert (await caller.get("/sessions")).body["data"] == []


def test_every_route_that_writes_tells_of_its_key() -> None:
    for route in ROUTES:
        writes = route.method != "GET" and (route.method, route.path) not in READING
        assert ("Idempotency-Key" in route.headers) == writes, route.path
        assert not writes or {410, 422} <= set(route.errors), route.path


async def test_many_at_once_make_one(caller: Reader) -> None:
    got = await asyncio.gather(*(say(caller, "POST", "/sessions", {"title": "A"}) for _ in range(20)))
    assert {answer.status for answer in got} == {201}
    assert len({answer.text for answer in got}) == 1
    assert len((await caller.get("/sessions")).body["data"]) == 1


async def test_another_request_with_the_key_is_refused(caller: Reader) -> None:
    session = (await say(caller, "POST", "/sessions", {"title": "A"})).body["data"]["id"]
    for method, path, body in (
        ("POST", "/sessions", {"title": "B"}),
        ("POST", "/floors", {"title": "A"}),
        ("PATCH", f"/sessions/{session}", {"title": "A"}),
        ("DELETE", f"/sessions/{session}", None),
    ):
        if path == "/floors":
            body = {"session_id": session, "floor_no": 0}
        refused = await say(caller, method, path, body)
        assert (refused.status, refused.body["error"]["code"]) == (422, "idempotency_key_reused")
    other = await say(caller, "DELETE", "/branches/main?session_id=x", None, "q")
    assert other.status in (404, 409)
    assert len((await caller.get("/sessions")).body["data"]) == 1


async def test_what_is_refused_is_not_kept(caller: Reader) -> None:
    assert (await say(caller, "POST", "/floors", {"floor_no": 0})).status == 400
    missing = {"session_id": "nobody", "floor_no": 0}
    assert [(await say(caller, "POST", "/floors", missing)).status for _ in range(2)] == [404, 404]
    session = await caller.session_id()
    made = await say(caller, "POST", "/floors", {"session_id": session, "floor_no": 0})
    assert (made.status, made.headers.get("idempotent-replayed")) == (201, None)


@pytest.mark.parametrize("key", ["", "x" * 256])
async def test_what_is_no_key_is_refused(reader: Reader, key: str) -> None:
    refused = await say(reader, "POST", "/sessions", {}, key)
    assert (refused.status, refused.body["error"]["code"]) == (400, "validation_error")
    assert (await reader.get("/sessions")).body["data"] == []
