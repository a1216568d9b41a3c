"""The memory's API on PostgreSQL: every route answers as it does on SQLite."""

import re

from agentui.api.chats import ROUTES, branches, floors, messages, pages, sessions
from agentui.jsonio import Json
from tests.api.chats.conftest import Reader
from tests.api.chats.forms import QUERIES, fitting

ORDERS = {
    "/sessions": sessions.SessionQuery,
    "/floors": floors.FloorQuery,
    "/pages": pages.PageQuery,
    "/messages": messages.MessageQuery,
    "/sessions/{id}/branches": branches.BranchListQuery,
}


async def story(reader: Reader) -> list[Json]:
    """What a caller sees who uses everything once; ids and times taken out."""
    session = await reader.make("/sessions", title="Tale")
    floor_ids = [await reader.floor_id(session["id"], number, state="committed") for number in range(2)]
    draft = await reader.floor_id(session["id"], 2)
    page = await reader.make("/pages", floor_id=draft, page_no=0, page_kind="output")
    message = await reader.make("/messages", page_id=page["id"], seq=0, role="user", content="Hi")
    place = f"/sessions/{session['id']}"
    answers = [
        await reader.patch(place, {"title": "Long tale"}),
        await reader.patch("/sessions/batch/status", {"ids": [session["id"], "nobody"], "status": "active"}),
        await reader.get(f"{place}/timeline"),
        await reader.get(f"{place}/active-run"),
        await reader.post(f"/floors/{floor_ids[1]}/branch", {"branch_id": "alt"}),
        await reader.post("/floors", {"session_id": session["id"], "floor_no": 2, "branch_id": "alt", "state": "committed"}),
        await reader.post("/floors", {"session_id": session["id"], "floor_no": 2, "branch_id": "alt"}),
        await reader.patch(f"/floors/{draft}", {"floor_no": 1}),
        await reader.get(f"{place}/branches/diff?target_branch_id=alt"),
        await reader.post(f"{place}/branches/alt/merge/preview", {}),
        await reader.patch(f"/pages/{page['id']}/activate"),
        await reader.post("/pages", {"floor_id": draft, "page_no": 0, "page_kind": "output"}),
        await reader.patch("/messages/batch/visibility", {"ids": [message["id"]], "is_hidden": True}),
        await reader.patch(f"/messages/{message['id']}", {"content": "Hello"}),
        await reader.post(f"{place}/branches/main/reset", {"target_floor_id": floor_ids[1]}),
        await reader.post(f"{place}/branches/alt/merge", {}),
        await reader.get("/sessions?keyword=LONG"),
        await reader.get(f"/messages?session_id={session['id']}"),
        await reader.get(f"/floors/{floor_ids[0]}/result"),
        await reader.delete(f"/branches/alt?session_id={session['id']}"),
        await reader.post("/messages/batch/delete", {"ids": [message["id"]]}),
        await reader.delete(f"/pages/{page['id']}"),
        await reader.post("/sessions/batch/delete", {"ids": [session["id"]]}),
        await reader.get(f"/floors/{floor_ids[0]}"),
    ]
    return [(answer.status, _plain(answer.text)) for answer in answers]


def _plain(text: str) -> str:
    return re.sub(r'"[A-Za-z0-9_-]{21}"', "ID", re.sub(r"\d{13}", "TIME", text))


async def test_both_engines_tell_one_story(reader: Reader, postgres_reader: Reader) -> None:
    assert await story(postgres_reader) == await story(reader)


async def test_every_order_of_every_list_works(postgres_reader: Reader) -> None:
    session_id = await postgres_reader.session_id()
    for path, form in ORDERS.items():
        for name in form.model_fields["sort_by"].annotation.__args__:  # type: ignore[union-attr]  # a Literal
            answer = await postgres_reader.get(f"{path.format(id=session_id)}?sort_by={name}")
            assert (answer.status, answer.body["meta"]["sort_by"]) == (200, name)


async def test_nothing_is_found_below_unknown_ids(postgres_reader: Reader) -> None:
    for route in ROUTES:
        if "{" in route.path and route.method in ("GET", "DELETE"):
            path = re.sub(r"{\w+}", "nobody", route.path) + QUERIES.get(route.path, "")
            body = fitting(route.method, route.path)
            assert (await postgres_reader.call(route.method, path, body, {})).status == 404, path
