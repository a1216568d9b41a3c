"""Variables over HTTP: every route, status and error of seed 000."""

import json
from dataclasses import dataclass

import pytest
from sqlalchemy import Connection, delete, update

from agentui.jsonio import Json
from agentui.principal import DEFAULT_ACCOUNT
from agentui.store.tables import floors, sessions
from agentui.variables.committing import commit_staged
from agentui.variables.resolve import load_layers
from agentui.variables.staging import Staged
from tests.api.chats.conftest import Reader
from tests.api.editor_client import Answer

SCOPES = ("global", "chat", "branch", "floor", "page")


@dataclass
class Place:
    """A session with a floor and a page."""

    session: str
    floor: str
    page: str

    @property
    def branch_scope(self) -> str:
        return f"branch:{self.session}:main"

    def at(self, scope: str) -> dict[str, Json]:
        """The fields that name a tier."""
        return {
            "global": {"scope": "global", "scope_id": "global"},
            "chat": {"scope": "chat", "scope_id": self.session},
            "branch": {"scope": "branch", "session_id": self.session, "branch_id": "main"},
            "floor": {"scope": "floor", "scope_id": self.floor},
            "page": {"scope": "page", "scope_id": self.page},
        }[scope]

    def stored(self, scope: str) -> dict[str, Json]:
        """How a variable of a tier names its place."""
        if scope == "branch":
            ref = {"session_id": self.session, "branch_id": "main"}
            return {"scope": "branch", "scope_id": self.branch_scope, "scope_ref": ref}
        return self.at(scope)


@pytest.fixture
async def place(reader: Reader) -> Place:
    session = await reader.session_id()
    floor = await reader.floor_id(session)
    page = await reader.make("/pages", floor_id=floor, page_no=1, page_kind="output")
    return Place(session, floor, page["id"])


async def put(reader: Reader, at: dict[str, Json], key: str = "gold", value: Json = 1) -> Answer:
    return await reader.put("/variables", {**at, "key": key, "value": value})


async def write(reader: Reader, at: dict[str, Json], key: str = "gold", value: Json = 1) -> Json:
    answer = await put(reader, at, key, value)
    assert answer.status in (200, 201), answer.text
    return answer.body["data"]


async def set_state(reader: Reader, floor: str, state: str) -> None:
    def change(db: Connection) -> None:
        db.execute(update(floors).where(floors.c.id == floor).values(state=state))

    await reader.server.state.store.write(change)


def refused(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.code


def fault(answer: Answer) -> tuple[str, str]:
    """Where a form is wrong and which rule it breaks."""
    assert refused(answer) == (400, "validation_error")
    (problem,) = answer.body["error"]["details"]
    assert problem["message"]
    return problem["path"], problem["code"]


@pytest.mark.parametrize("scope", SCOPES)
async def test_a_first_write_creates_and_a_second_updates(reader: Reader, place: Place, scope: str) -> None:
    first = await put(reader, place.at(scope), "资产", {"金币": 3})
    second = await put(reader, place.at(scope), "资产", None)
    assert (first.status, second.status) == (201, 200)
    created, updated = first.body["data"], second.body["data"]
    assert created == {**place.stored(scope), "id": created["id"], "key": "资产", "value": {"金币": 3}} | {
        "updated_at": created["updated_at"]
    }
    assert (updated["id"], updated["value"]) == (created["id"], None)
    assert updated["updated_at"] >= created["updated_at"] > 1_700_000_000_000
    assert (await reader.get(f"/variables/{created['id']}")).body == {"data": updated}


@pytest.mark.parametrize("value", [None, 0, -0.5, "", "\u2028", [], {"a": [{}]}, True, 2**64 + 1, -(2**80), "x" * 100_000])
async def test_any_json_is_a_value_and_comes_back_as_it_was(reader: Reader, value: Json) -> None:
    made = await reader.put("/variables", {"scope": "global", "scope_id": "global", "key": "k", "value": value})
    # The tests' usual reader takes long whole numbers for floats.
    assert json.loads(made.text)["data"]["value"] == value
    assert json.loads((await reader.get("/variables")).text)["data"][0]["value"] == value
    session = await reader.session_id()
    resolved = await reader.get(f"/variables/resolve?session_id={session}")
    assert json.loads(resolved.text)["data"]["resolved"][0]["value"] == value


async def test_global_has_one_place_whatever_is_sent(reader: Reader) -> None:
    first = await write(reader, {"scope": "global", "scope_id": "anything"})
    second = await write(reader, {"scope": "global", "scope_id": "else"})
    assert first["id"] == second["id"]
    assert first["scope_id"] == "global"


async def test_a_branch_is_named_in_two_ways(reader: Reader, place: Place) -> None:
    first = await write(reader, place.at("branch"))
    second = await write(reader, {"scope": "branch", "scope_id": place.branch_scope})
    both = await write(reader, {**place.at("branch"), "scope_id": place.branch_scope})
    assert first["id"] == second["id"] == both["id"]


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"scope": "global"}, ("/scope_id", "required")),
        ({"scope": "chat"}, ("/scope_id", "required")),
        ({"scope": "chat", "scope_id": ""}, ("/scope_id", "required")),
        ({"scope": "page", "scope_id": None}, ("/scope_id", "required")),
        ({"scope": "branch"}, ("/scope_id", "required")),
        ({"scope": "branch", "session_id": "s"}, ("/branch_id", "required")),
        ({"scope": "branch", "branch_id": "b"}, ("/session_id", "required")),
        ({"scope": "branch", "scope_id": "s:main"}, ("/scope_id", "custom")),
        ({"scope": "branch", "scope_id": "branch:s"}, ("/scope_id", "custom")),
        ({"scope": "branch", "scope_id": "branch:s:a", "session_id": "s", "branch_id": "b"}, ("/scope_id", "custom")),
        ({"scope": "chat", "scope_id": "s", "session_id": "s"}, ("/session_id", "custom")),
        ({"scope": "floor", "scope_id": "f", "branch_id": "b"}, ("/branch_id", "custom")),
        ({"scope": "planet", "scope_id": "x"}, ("/scope", "enum")),
        ({"scope_id": "x"}, ("/scope", "required")),
    ],
)
async def test_a_place_that_is_no_place_is_refused(reader: Reader, fields: dict[str, Json], wrong: tuple[str, str]) -> None:
    assert fault(await reader.put("/variables", {**fields, "key": "k", "value": 1})) == wrong


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"value": 1}, ("/key", "required")),
        ({"key": "", "value": 1}, ("/key", "minLength")),
        ({"key": "k" * 2001, "value": 1}, ("/key", "maxLength")),
        ({"key": "k"}, ("/value", "required")),
        ({"key": "a\0b", "value": 1}, ("/key", "custom")),
    ],
)
async def test_a_variable_needs_a_key_and_a_value(reader: Reader, fields: dict[str, Json], wrong: tuple[str, str]) -> None:
    assert fault(await reader.put("/variables", {"scope": "global", "scope_id": "global", **fields})) == wrong


async def test_what_is_too_deep_or_too_large_is_refused(reader: Reader) -> None:
    start = '{"scope": "global", "scope_id": "global", "key": "k", "value": '
    deep = await reader.put("/variables", f"{start}{'[' * 101}{']' * 101}}}".encode())
    assert refused(deep) == (400, "validation_error")
    large = await reader.put("/variables", f'{start}"{"x" * 2**20}"}}'.encode())
    assert refused(large) == (413, "payload_too_large")
    infinite = await reader.put("/variables", f"{start}1e999}}".encode())
    assert refused(infinite) == (400, "validation_error")


@pytest.mark.parametrize(
    "at",
    [
        {"scope": "chat", "scope_id": "nobody"},
        {"scope": "branch", "session_id": "nobody", "branch_id": "main"},
        {"scope": "floor", "scope_id": "nobody"},
        {"scope": "page", "scope_id": "nobody"},
    ],
)
async def test_a_missing_host_is_404(reader: Reader, at: dict[str, Json]) -> None:
    assert refused(await put(reader, at)) == (404, "variable_host_not_found")
    batch = await reader.put("/variables/batch", {"items": [{**at, "key": "k", "value": 1}]})
    assert refused(batch) == (404, "variable_host_not_found")


async def test_an_unknown_branch_of_a_known_session_is_404(reader: Reader, place: Place) -> None:
    answer = await put(reader, {"scope": "branch", "session_id": place.session, "branch_id": "nowhere"})
    assert refused(answer) == (404, "variable_host_not_found")


@pytest.mark.parametrize("state", ["generating", "committed"])
@pytest.mark.parametrize("scope", ["floor", "page"])
async def test_a_locked_floor_locks_its_variables(reader: Reader, place: Place, state: str, scope: str) -> None:
    id = (await write(reader, place.at(scope)))["id"]
    await set_state(reader, place.floor, state)
    item = {**place.at(scope), "key": "gold", "value": 2}
    answers = [
        await put(reader, place.at(scope), value=2),
        await reader.put("/variables/batch", {"items": [{**place.at("chat"), "key": "x", "value": 1}, item]}),
        await reader.delete(f"/variables/{id}"),
    ]
    assert {refused(answer) for answer in answers} == {(409, "variable_target_locked")}
    listed = (await reader.get("/variables")).body["data"]
    assert [(variable["key"], variable["value"]) for variable in listed] == [("gold", 1)]
    for free in ("global", "chat", "branch"):
        await write(reader, place.at(free))


async def test_a_batch_says_what_became_of_each_item(reader: Reader, place: Place) -> None:
    mood = await write(reader, place.at("chat"), "mood", "calm")
    items = [
        {**place.at("branch"), "key": "route", "value": "campfire"},
        {**place.at("chat"), "key": "mood", "value": "tense"},
    ]
    answer = await reader.put("/variables/batch", {"items": items})
    assert answer.status == 200
    data = answer.body["data"]
    assert data["meta"] == {"total": 2, "created": 1, "updated": 1}
    assert [(result["index"], result["action"]) for result in data["results"]] == [(0, "created"), (1, "updated")]
    first, second = (result["data"] for result in data["results"])
    assert first == {**place.stored("branch"), "id": first["id"], "key": "route", "value": "campfire"} | {
        "updated_at": first["updated_at"]
    }
    assert (second["id"], second["value"]) == (mood["id"], "tense")


async def test_a_batch_that_names_one_variable_twice_is_refused(reader: Reader, place: Place) -> None:
    two_ways = [place.at("branch"), {"scope": "branch", "scope_id": place.branch_scope}]
    everywhere = [{"scope": "global", "scope_id": "a"}, {"scope": "global", "scope_id": "b"}]
    for pair in (two_ways, everywhere):
        answer = await reader.put("/variables/batch", {"items": [{**at, "key": "k", "value": 1} for at in pair]})
        assert refused(answer) == (400, "duplicate_variable_target")
        assert "item 0" in answer.body["error"]["message"]
    assert (await reader.get("/variables")).body["meta"]["total"] == 0


async def test_a_batch_has_one_to_a_hundred_items(reader: Reader) -> None:
    def items(count: int) -> Json:
        at = {"scope": "global", "scope_id": "global", "value": 1}
        return {"items": [{**at, "key": f"k{number}"} for number in range(count)]}

    assert fault(await reader.put("/variables/batch", items(0))) == ("/items", "minItems")
    assert fault(await reader.put("/variables/batch", items(101))) == ("/items", "maxItems")
    assert fault(await reader.put("/variables/batch", {})) == ("/items", "required")
    whole = await reader.put("/variables/batch", items(100))
    assert whole.body["data"]["meta"] == {"total": 100, "created": 100, "updated": 0}


async def test_a_batch_names_the_item_at_fault(reader: Reader, place: Place) -> None:
    good = {**place.at("chat"), "key": "k", "value": 1}
    bad = [
        ({"scope": "chat", "key": "k", "value": 1}, ("/items/1/scope_id", "required")),
        ({**place.at("chat"), "key": "", "value": 1}, ("/items/1/key", "minLength")),
        ({**place.at("chat"), "key": "k"}, ("/items/1/value", "required")),
    ]
    for item, wrong in bad:
        assert fault(await reader.put("/variables/batch", {"items": [good, item]})) == wrong
    assert (await reader.get("/variables")).body["meta"]["total"] == 0


async def test_a_list_is_filtered_sorted_and_cut(reader: Reader, place: Place) -> None:
    for scope in SCOPES:
        await write(reader, place.at(scope), f"of {scope}")
        await write(reader, place.at(scope), "gold")

    async def keys(query: str) -> list[str]:
        answer = await reader.get(f"/variables?{query}")
        assert answer.status == 200, answer.text
        return [f"{item['key']}@{item['scope']}" for item in answer.body["data"]]

    assert sorted(await keys("scope=page")) == ["gold@page", "of page@page"]
    assert sorted(await keys(f"scope=chat&scope_id={place.session}&key=gold")) == ["gold@chat"]
    assert await keys("scope=chat&scope_id=nobody") == []
    assert len(await keys(f"scope=branch&session_id={place.session}&branch_id=main")) == 2
    assert len(await keys(f"scope=branch&scope_id={place.branch_scope}")) == 2
    assert await keys("scope=branch&session_id=nobody&branch_id=main") == []
    assert len(await keys("scope=branch")) == len(await keys(f"scope=branch&session_id={place.session}")) == 2
    assert len(await keys("scope=global&scope_id=ignored")) == 2
    assert len(await keys("key=gold")) == 5
    assert (await keys("sort_by=key&sort_order=asc"))[-1] == "of page@page"
    assert (await keys("sort_by=key"))[0] == "of page@page"
    assert len(await keys("")) == len(await keys("sort_by=updated_at&sort_order=asc")) == 10
    page = await reader.get("/variables?limit=3&offset=8&sort_by=key")
    assert page.body["meta"] == {
        "total": 10,
        "limit": 3,
        "offset": 8,
        "has_more": False,
        "sort_by": "key",
        "sort_order": "desc",
    }
    assert len(page.body["data"]) == 2
    first = (await reader.get("/variables")).body["meta"]
    assert (first["limit"], first["offset"], first["sort_by"], first["sort_order"]) == (50, 0, "updated_at", "desc")


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("session_id=s", "validation_error"),
        ("scope=chat&branch_id=b", "validation_error"),
        ("scope=branch&branch_id=main", "validation_error"),
        ("scope=planet", "validation_error"),
        ("limit=0", "validation_error"),
        ("limit=101", "validation_error"),
        ("offset=-1", "validation_error"),
        ("sort_by=value", "validation_error"),
        ("sort_order=up", "validation_error"),
        ("key=%00", "validation_error"),
        ("scope=branch&scope_id=nonsense", "invalid_variable_context"),
        ("scope=branch&scope_id=branch:s:a&session_id=s&branch_id=b", "invalid_variable_context"),
    ],
)
async def test_a_query_that_makes_no_sense_is_refused(reader: Reader, query: str, code: str) -> None:
    assert refused(await reader.get(f"/variables?{query}")) == (400, code)


async def test_a_deleted_variable_is_gone(reader: Reader, place: Place) -> None:
    id = (await write(reader, place.at("chat")))["id"]
    deleted = await reader.delete(f"/variables/{id}")
    assert (deleted.status, deleted.body) == (200, {"data": {"id": id, "deleted": True}})
    for again in (await reader.delete(f"/variables/{id}"), await reader.get(f"/variables/{id}")):
        assert refused(again) == (404, "variable_not_found")


async def test_variables_go_with_their_hosts(reader: Reader, place: Place) -> None:
    for scope in SCOPES:
        await write(reader, place.at(scope))
    assert (await reader.delete(f"/sessions/{place.session}")).status == 200
    left = (await reader.get("/variables")).body["data"]
    assert [variable["scope"] for variable in left] == ["global"]


async def test_an_orphan_is_hidden_and_can_be_deleted(reader: Reader, place: Place) -> None:
    ids = [(await write(reader, place.at(scope)))["id"] for scope in SCOPES[1:]]

    def lose_hosts(db: Connection) -> None:
        db.execute(delete(sessions).where(sessions.c.id == place.session))

    await reader.server.state.store.write(lose_hosts)
    assert (await reader.get("/variables")).body["meta"]["total"] == 0
    for id in ids:
        assert refused(await reader.get(f"/variables/{id}")) == (404, "variable_not_found")
        assert (await reader.delete(f"/variables/{id}")).body == {"data": {"id": id, "deleted": True}}


async def resolve(reader: Reader, **query: str) -> Json:
    answer = await reader.get("/variables/resolve?" + "&".join(f"{name}={value}" for name, value in query.items()))
    assert answer.status == 200, answer.text
    return answer.body["data"]


async def test_a_page_knows_its_floor_and_its_branch(reader: Reader, place: Place) -> None:
    whole = {
        "account_id": DEFAULT_ACCOUNT,
        "session_id": place.session,
        "branch_id": "main",
        "floor_id": place.floor,
        "page_id": place.page,
        "global_scope_id": "global",
    }

    def only(*names: str) -> dict[str, str]:
        return {name: whole[name] for name in ("account_id", "session_id", *names, "global_scope_id")}

    session = place.session
    assert (await resolve(reader, session_id=session, page_id=place.page))["context"] == whole
    floor = await resolve(reader, session_id=session, floor_id=place.floor)
    assert floor["context"] == only("branch_id", "floor_id")
    branch = await resolve(reader, session_id=session, branch_id="main")
    assert branch["context"] == only("branch_id")
    assert (await resolve(reader, session_id=session))["context"] == only()
    names = {"branch_id": "main", "floor_id": place.floor, "page_id": place.page}
    assert (await resolve(reader, session_id=session, **names))["context"] == whole


async def test_the_nearest_tier_wins_and_says_so(reader: Reader, place: Place) -> None:
    for number, scope in enumerate(SCOPES):
        for key in SCOPES[: number + 1]:
            await write(reader, place.at(scope), key, scope)
    data = await resolve(reader, session_id=place.session, page_id=place.page)
    assert "layers" not in data
    assert [item["key"] for item in data["resolved"]] == sorted(SCOPES)
    assert {item["value"] for item in data["resolved"]} == {"page"}
    await reader.delete("/variables/" + (await reader.get("/variables?scope=page&key=branch")).body["data"][0]["id"])
    await reader.delete("/variables/" + (await reader.get("/variables?scope=floor&key=branch")).body["data"][0]["id"])
    data = await resolve(reader, session_id=place.session, page_id=place.page)
    (item,) = [item for item in data["resolved"] if item["key"] == "branch"]
    assert item == {
        "key": "branch",
        "value": "branch",
        "source_scope": "branch",
        "source_scope_id": place.branch_scope,
        "source_scope_ref": {"session_id": place.session, "branch_id": "main"},
        "updated_at": item["updated_at"],
    }


async def test_layers_are_shown_when_asked_for_empty_ones_too(reader: Reader, place: Place) -> None:
    gold = await write(reader, place.at("branch"), "gold", 5)
    await write(reader, place.at("branch"), "a", 1)
    data = await resolve(reader, session_id=place.session, floor_id=place.floor, include_layers="true")
    assert list(data["layers"]) == ["global", "chat", "branch", "floor"]
    branch = data["layers"]["branch"]
    assert [item["key"] for item in branch["items"]] == ["a", "gold"]
    assert branch["items"][1] == gold
    assert {name: value for name, value in branch.items() if name != "items"} == place.stored("branch")
    assert data["layers"]["floor"] == {"scope": "floor", "scope_id": place.floor, "items": []}
    assert "layers" not in await resolve(reader, session_id=place.session, include_layers="false")


async def test_ids_that_do_not_belong_together_are_refused(reader: Reader, place: Place) -> None:
    other = await reader.session_id()
    second_floor = await reader.floor_id(place.session, 1)
    mismatched = [
        f"session_id={other}&page_id={place.page}",
        f"session_id={other}&floor_id={place.floor}",
        f"session_id={place.session}&floor_id={second_floor}&page_id={place.page}",
    ]
    for query in mismatched:
        assert refused(await reader.get(f"/variables/resolve?{query}")) == (400, "invalid_variable_context")
    missing = [
        "session_id=nobody",
        f"session_id={place.session}&branch_id=nowhere",
        f"session_id={place.session}&floor_id=nobody",
        f"session_id={place.session}&page_id=nobody",
        f"session_id={place.session}&page_id={place.page}&floor_id=nobody",
        f"session_id={place.session}&page_id={place.page}&branch_id=nowhere",
        f"session_id=nobody&page_id={place.page}",
    ]
    for query in missing:
        assert refused(await reader.get(f"/variables/resolve?{query}")) == (404, "variable_host_not_found")


async def test_a_branch_beside_its_floor_must_be_the_floors(reader: Reader, place: Place) -> None:
    await reader.floor_id(place.session, 1, branch_id="side")
    wrong = await reader.get(f"/variables/resolve?session_id={place.session}&floor_id={place.floor}&branch_id=side")
    assert refused(wrong) == (400, "invalid_variable_context")


@pytest.mark.parametrize("query", ["", "branch_id=main", "session_id=", "session_id=s&include_layers=1"])
async def test_resolving_needs_a_session_and_plain_words(reader: Reader, query: str) -> None:
    assert refused(await reader.get(f"/variables/resolve?{query}")) == (400, "validation_error")


async def test_a_page_shows_what_its_run_wrote_and_promoted(reader: Reader, place: Place) -> None:
    store = reader.server.state.store
    layers = await store.read(load_layers, DEFAULT_ACCOUNT, place.session, "main", place.floor, None)
    staged = Staged(layers, now=lambda: 1000)
    staged.stage("floor", "mood", "steady", reason="builtin:set_variable", source={"toolName": "set_variable"})
    staged.stage("page", "note", 2**70)
    staged.stage("branch", "gold", 1)
    assert (await resolve(reader, session_id=place.session, page_id=place.page))["resolved"] == []
    ids = ("run-1", place.session, "main", place.floor, place.page)
    await store.write(commit_staged, DEFAULT_ACCOUNT, *ids, staged.writes(), 2000)
    await set_state(reader, place.floor, "committed")
    written = (await reader.get(f"/pages/{place.page}/variables/staged")).body["data"]
    promoted = (await reader.get(f"/pages/{place.page}/variables/promotions")).body["data"]
    changed = (await reader.get(f"/pages/{place.page}/variables/changes")).body["data"]
    names = {"page_id": place.page, "floor_id": place.floor, "session_id": place.session, "branch_id": "main"}
    for told in (written, promoted, changed):
        assert {name: told[name] for name in names} == names
    assert [(item["key"], item["status"]) for item in written["items"]] == [
        ("mood", "promoted"),
        ("note", "accepted_page_only"),
    ]
    (trace,) = promoted["items"]
    assert trace["staged_write_id"] == written["items"][0]["id"]
    assert (trace["from_scope"], trace["from_scope_id"]) == ("page", place.page)
    assert (trace["to_scope"], trace["to_scope_id"]) == ("floor", place.floor)
    target = (await reader.get(f"/variables/{trace['target_variable_id']}")).body["data"]
    assert (target["scope"], target["value"]) == ("floor", "steady")
    of_branch = f"branch:{place.session}:main"
    assert changed["items"] == [{"scope": "branch", "scope_id": of_branch, "key": "gold", "after": 1}]


async def test_a_page_without_writes_has_empty_ledgers_and_an_unknown_page_none(reader: Reader, place: Place) -> None:
    for kind in ("staged", "promotions", "changes"):
        assert (await reader.get(f"/pages/{place.page}/variables/{kind}")).body["data"]["items"] == []
        assert refused(await reader.get(f"/pages/nobody/variables/{kind}")) == (404, "not_found")


async def check_budget(reader: Reader) -> None:
    session = await reader.session_id()
    floor = await reader.floor_id(session)
    page = (await reader.make("/pages", floor_id=floor, page_no=0, page_kind="output"))["id"]
    store = reader.server.state.store
    staged = Staged(await store.read(load_layers, DEFAULT_ACCOUNT, session, "main", floor, None), now=lambda: 1000)
    for number in range(9):
        staged.stage("floor", f"k{number}", "x" * 1_000_000)
    await store.write(commit_staged, DEFAULT_ACCOUNT, "run-1", session, "main", floor, page, staged.writes(), 2000)
    for path in (
        f"/variables/resolve?session_id={session}&floor_id={floor}",
        f"/pages/{page}/variables/staged",
        f"/pages/{page}/variables/promotions",
    ):
        answer = await reader.get(path)
        assert refused(answer) == (413, "payload_too_large"), path
        assert "GET /variables" in answer.body["error"]["message"]
    part = await reader.get(f"/variables?scope=floor&scope_id={floor}&limit=100")
    assert part.status == 200
    assert part.body["meta"]["has_more"]


async def test_what_is_too_large_for_one_answer_is_refused_and_says_where_it_comes_in_parts(reader: Reader) -> None:
    await check_budget(reader)


async def test_what_is_too_large_for_one_answer_is_refused_on_postgresql(postgres_reader: Reader) -> None:
    await check_budget(postgres_reader)


async def test_a_session_alone_means_all_of_its_branches(reader: Reader) -> None:
    here, there = await reader.session_id(), await reader.session_id()
    for session_id, branch_id in ((here, "main"), (here, "alt"), (there, "main")):
        await reader.floor_id(session_id, 7, branch_id=branch_id)
        written = {"scope": "branch", "session_id": session_id, "branch_id": branch_id, "key": branch_id, "value": 1}
        assert (await reader.put("/variables", written)).status == 201
    await reader.put("/variables", {"scope": "chat", "scope_id": here, "key": "chat", "value": 1})

    async def keys(query: str) -> list[str]:
        answer = await reader.get(f"/variables?scope=branch&sort_by=key&sort_order=asc&{query}")
        assert answer.status == 200, answer.text
        assert answer.body["meta"]["total"] == len(answer.body["data"])
        return [variable["key"] for variable in answer.body["data"]]

    assert await keys(f"session_id={here}") == ["alt", "main"]
    assert await keys(f"session_id={there}") == ["main"]
    assert await keys(f"session_id={here}&branch_id=alt") == ["alt"]
    assert await keys(f"session_id={here}&scope_id=branch:{here}:alt") == ["alt"]
    assert await keys("session_id=nobody") == []
    assert await keys("") == ["alt", "main", "main"]
    contradicting = await reader.get(f"/variables?scope=branch&session_id={here}&scope_id=branch:{there}:main")
    assert (contradicting.status, contradicting.code) == (400, "invalid_variable_context")
