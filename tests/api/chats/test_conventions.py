"""What holds for every route of the memory: envelopes, faults of bodies and queries, lists, ids and times."""

import re

import pytest
from sqlalchemy import update

from agentui.api.chats import ROUTES
from agentui.chats.codes import CODES
from agentui.jsonio import Json
from agentui.store.paging import MAX_PART_BYTES
from agentui.store.tables import floors, messages
from tests.api.chats.conftest import Reader
from tests.api.chats.forms import QUERIES, fitting

LISTS = ("/sessions", "/floors", "/pages", "/messages", "/variables")


def faults(body: Json) -> list[tuple[str, str]]:
    assert body["error"]["code"] == "validation_error"
    return [(problem["path"], problem["code"]) for problem in body["error"]["details"]]


async def test_ids_and_times_have_their_form(reader: Reader) -> None:
    made = await reader.make("/sessions")
    assert re.fullmatch(r"[A-Za-z0-9_-]{21}", made["id"])
    assert made["created_at"] == made["updated_at"] > 1_700_000_000_000


@pytest.mark.parametrize("raw", [b"{", b"", b"[1", b'{"a": NaN}', b"\xff"])
async def test_what_is_no_json_is_a_validation_error(reader: Reader, raw: bytes) -> None:
    refused = await reader.call("POST", "/sessions", raw, {"content_type": "application/json"})
    assert (refused.status, refused.code) == (400, "validation_error")


@pytest.mark.parametrize("body", [[], "text", 5, [{"title": "x"}]])
async def test_a_body_is_an_object(reader: Reader, body: Json) -> None:
    refused = await reader.post("/sessions", body)
    assert (refused.status, faults(refused.body)) == (400, [("", "type")])


async def test_a_text_is_no_body(reader: Reader) -> None:
    refused = await reader.call("POST", "/sessions", b"title=x", {"content_type": "text/plain"})
    assert (refused.status, refused.code) == (415, "wrong_content_type")


async def test_every_fault_of_a_body_is_named(reader: Reader) -> None:
    refused = await reader.post("/floors", {"session_id": "", "floor_no": -1, "state": "done", "token_in": "many", "x": 1})
    assert refused.status == 400
    assert faults(refused.body) == [
        ("/session_id", "minLength"),
        ("/floor_no", "minimum"),
        ("/state", "enum"),
        ("/token_in", "type"),
    ]
    assert faults((await reader.post("/floors", {})).body) == [("/session_id", "required"), ("/floor_no", "required")]


@pytest.mark.parametrize(
    ("path", "field", "value", "code"),
    [
        ("/sessions", "title", "", "minLength"),
        ("/sessions", "title", "x" * 201, "maxLength"),
        ("/messages", "content", "", "minLength"),
        ("/messages", "source", "x" * 201, "maxLength"),
        ("/pages", "checksum", "x" * 201, "maxLength"),
    ],
)
async def test_the_length_of_a_text_is_told_as_one(reader: Reader, path: str, field: str, value: str, code: str) -> None:
    assert (f"/{field}", code) in faults((await reader.post(path, {field: value})).body)


async def test_a_fault_is_told_in_plain_words(reader: Reader) -> None:
    refused = await reader.get("/sessions?keyword=a%00")
    assert refused.body["error"]["details"][0]["message"] == "a text may not hold a NUL character"


async def test_what_is_clear_is_taken_and_what_is_unknown_is_dropped(reader: Reader) -> None:
    made = await reader.make("/sessions", title=5, deep_binding="true", colour="red")
    assert (made["title"], made["deep_binding"], "colour" in made) == ("5", True, False)


async def test_a_nul_is_refused_everywhere(reader: Reader) -> None:
    assert faults((await reader.post("/sessions", {"title": "a\0"})).body) == [("/title", "custom")]
    assert faults((await reader.get("/sessions/a%00b")).body) == [("/id", "custom")]
    assert faults((await reader.get("/sessions?keyword=a%00")).body) == [("/keyword", "custom")]


async def test_a_body_of_more_than_a_mebibyte_is_too_large(reader: Reader) -> None:
    refused = await reader.post("/sessions", {"metadata": {"x": "y" * 1024 * 1024}})
    assert (refused.status, refused.code) == (413, "payload_too_large")


async def test_numbers_beyond_the_columns_are_refused(reader: Reader) -> None:
    session_id = await reader.session_id()
    refused = await reader.post("/floors", {"session_id": session_id, "floor_no": 2**31})
    assert faults(refused.body) == [("/floor_no", "maximum")]


@pytest.mark.parametrize("path", LISTS)
async def test_a_list_says_which_part_it_is(reader: Reader, path: str) -> None:
    answer = await reader.get(f"{path}?limit=7&offset=3&sort_order=asc")
    meta = answer.body["meta"]
    assert answer.body["data"] == []
    assert {name: meta[name] for name in ("total", "limit", "offset", "has_more", "sort_order")} == {
        "total": 0,
        "limit": 7,
        "offset": 3,
        "has_more": False,
        "sort_order": "asc",
    }


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize("query", ["limit=0", "limit=201", "limit=x", "offset=-1", "sort_by=colour", "sort_order=up"])
async def test_a_part_that_cannot_be_is_refused(reader: Reader, path: str, query: str) -> None:
    refused = await reader.get(f"{path}?{query}")
    assert (refused.status, refused.code) == (400, "validation_error")


async def test_lists_of_sessions_and_floors_give_more_at_once(reader: Reader) -> None:
    answers = {path: (await reader.get(f"{path}?limit=200")).status for path in LISTS}
    assert answers == {"/sessions": 200, "/floors": 200, "/pages": 400, "/messages": 400, "/variables": 400}


@pytest.mark.parametrize(("value", "status"), [("true", 200), ("false", 200), ("1", 400), ("yes", 400)])
async def test_a_truth_in_a_query_is_a_word(reader: Reader, value: str, status: int) -> None:
    assert (await reader.get(f"/messages?is_hidden={value}")).status == status


async def test_paging_passes_over_everything_once(reader: Reader) -> None:
    made = [await reader.session_id(title=str(number)) for number in range(7)]
    seen: list[str] = []
    more = True
    while more:
        page = (await reader.get(f"/sessions?limit=3&offset={len(seen)}&sort_order=asc")).body
        seen += [session["id"] for session in page["data"]]
        more = page["meta"]["has_more"]
    assert seen == made


async def test_unknown_routes_and_methods_answer_in_the_envelope(reader: Reader) -> None:
    unknown, wrong = await reader.get("/nowhere"), await reader.put("/sessions", {})
    assert (unknown.status, unknown.code, wrong.status, wrong.code) == (404, "not_found", 405, "method_not_allowed")
    assert unknown.headers["x-request-id"]


async def test_every_route_below_an_id_says_when_there_is_nothing(reader: Reader) -> None:
    for route in ROUTES:
        if "{" not in route.path:
            continue
        path = re.sub(r"{\w+}", "nobody", route.path)
        path += QUERIES.get(route.path, "")
        answer = await reader.call(route.method, path, fitting(route.method, route.path), {})
        assert answer.status == 404, (route.method, path, answer.text)
        assert CODES[answer.code].status == 404, (route.method, path)


async def test_the_proxy_does_not_open_the_memory(reader: Reader) -> None:
    assert (await reader.chat()).status == 200
    assert reader.server.state.store.status["open"] is False
    assert not (reader.server.data / "agentui.db").exists()
    await reader.session_id()
    assert reader.server.state.store.status["open"] is True


async def test_codes_come_with_their_status(reader: Reader) -> None:
    session_id = await reader.session_id()
    committed = await reader.floor_id(session_id, state="committed")
    answers = [
        await reader.post("/pages", {"floor_id": committed, "page_no": 0, "page_kind": "output"}),
        await reader.post("/floors", {"session_id": session_id, "floor_no": 0}),
        await reader.get("/floors/nobody"),
        await reader.delete("/branches/main"),
        await reader.delete("/branches/alt"),
        await reader.patch(f"/floors/{committed}", {"state": "draft"}),
    ]
    assert [answer.code for answer in answers] == [
        "content_target_locked",
        "constraint_error",
        "not_found",
        "protected_branch",
        "branch_not_found",
        "floor_patch_restricted_field",
    ]
    assert all(answer.status == CODES[answer.code].status for answer in answers)


LARGE = "many words " * 60_000
"""Less than the largest body, and a dozen of them are more than one answer may hold."""


async def make_large(reader: Reader) -> dict[str, str]:
    """Twenty large ones of everything; the paths of their lists."""
    for number in range(20):
        await reader.session_id(title=str(number), metadata={"notes": LARGE})
        written = {"scope": "global", "scope_id": "global", "key": f"k{number:02}", "value": LARGE}
        assert (await reader.put("/variables", written)).status in (200, 201)
    session_id = await reader.session_id(title="said")
    for number in range(20):
        floor_id = await reader.floor_id(session_id, number, state="draft")
        page = await reader.make("/pages", floor_id=floor_id, page_no=0, page_kind="output")
        await reader.make("/messages", page_id=page["id"], seq=0, role="user", content=LARGE)
    await reader.server.state.store.write(lambda db: db.execute(update(floors).values(state="committed")))
    timeline = f"/sessions/{session_id}/timeline"
    return {"/sessions": "", "/variables": "scope=global&", "/messages": "", timeline: "branch_id=main&"}


async def check_parts(reader: Reader) -> None:
    for path, query in (await make_large(reader)).items():
        seen: list[str] = []
        more = True
        while more:
            page = await reader.get(f"{path}?{query}limit=100&offset={len(seen)}")
            assert page.status == 200, page.text
            assert len(page.text) < 1.2 * MAX_PART_BYTES, path
            items = page.body["data"]["floors"] if path.endswith("timeline") else page.body["data"]
            assert items, path
            seen += [item["id"] for item in items]
            more = page.body["meta"]["has_more"]
        assert len(set(seen)) == len(seen) == page.body["meta"]["total"], path
        assert len(seen) >= 20, path


async def test_a_part_of_a_list_is_never_larger_than_an_answer_may_be(reader: Reader) -> None:
    await check_parts(reader)


async def test_a_part_of_a_list_is_no_larger_on_postgresql(postgres_reader: Reader) -> None:
    await check_parts(postgres_reader)


async def test_an_item_that_is_larger_than_a_part_comes_alone(reader: Reader) -> None:
    session_id = await reader.session_id()
    floor_id = await reader.floor_id(session_id, 0)
    page = await reader.make("/pages", floor_id=floor_id, page_no=0, page_kind="output")
    for seq in range(3):
        await reader.make("/messages", page_id=page["id"], seq=seq, role="user", content="x")
    huge = "x" * (MAX_PART_BYTES + 1)
    await reader.server.state.store.write(lambda db: db.execute(update(messages).values(content=huge)))
    answer = await reader.get("/messages?limit=100")
    assert [len(message["content"]) for message in answer.body["data"]] == [len(huge)]
    assert answer.body["meta"]["has_more"]
