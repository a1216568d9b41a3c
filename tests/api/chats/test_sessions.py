"""Sessions over HTTP."""

import asyncio

import pytest

from agentui.chats.parts import Content
from agentui.chats.rows import AT_ONCE
from agentui.jsonio import Json
from agentui.principal import DEFAULT_ACCOUNT
from agentui.turns.transactions import commit_floor, open_floor
from tests.api.chats.conftest import Reader
from tests.bench.turns import furnish

FIELDS = {
    "id", "name", "title", "status", "character_binding", "user_binding", "project_id", "preset_id", "regex_profile_id",
    "worldbook_profile_id", "deep_binding", "preset_version_id", "regex_profile_version_id", "worldbook_version_id",
    "model_provider", "model_name", "model_params", "prompt_mode", "assemble", "pipeline_id",
    "director_pipeline_id", "verifier_pipeline_id", "memory", "metadata", "created_at", "updated_at",
}  # fmt: skip


async def generating(reader: Reader, session_id: str) -> str:
    """A floor that a turn generates right now."""
    now = 2_000_000_000_000
    store, turns = reader.server.state.store, reader.server.state.turns
    opened = await store.write(
        open_floor, DEFAULT_ACCOUNT, session_id, "main", "run_1", turns.owner_at(now), Content("Hi"), now
    )
    return opened.floor_id


async def test_a_session_starts_empty_with_main(reader: Reader) -> None:
    made = await reader.make("/sessions")
    assert set(made) == FIELDS
    assert (made["title"], made["status"], made["metadata"], made["character_binding"]) == (None, "active", {}, None)
    branches = (await reader.get(f"/sessions/{made['id']}/branches")).body["data"]
    assert [(branch["branch_id"], branch["floor_count"], branch["latest_floor_no"]) for branch in branches] == [
        ("main", 0, None)
    ]


async def test_what_is_bound_is_kept_and_given_back(reader: Reader) -> None:
    made = await reader.make(
        "/sessions",
        title="RPG",
        character_snapshot={"name": "Ada", "greeting": "Hello!", "tags": ["x"]},
        user_snapshot={"name": "Me"},
        model_params={"temperature": 0.5},
        prompt_mode="native",
        metadata={"colour": "red"},
    )
    assert made["character_binding"] == {
        "character_id": None,
        "character_version_id": None,
        "sync_policy": "pin",
        "snapshot_summary": {"name": "Ada", "has_greeting": True},
    }
    assert made["user_binding"] == {"user_id": None, "snapshot_summary": {"name": "Me"}}
    assert (made["preset_id"], made["model_params"], made["metadata"]) == (None, {"temperature": 0.5}, {"colour": "red"})
    assert (await reader.get(f"/sessions/{made['id']}")).body["data"] == made
    unnamed = await reader.post("/sessions", {"character_snapshot": {"greeting": "Hello!"}})
    assert (unnamed.status, unnamed.code) == (400, "validation_error")


async def test_a_patch_changes_what_it_names(reader: Reader) -> None:
    made = await reader.make(
        "/sessions", title="RPG", prompt_mode="native", character_snapshot={"name": "Ada"}, metadata={"a": 1}
    )
    patched = await reader.patch(f"/sessions/{made['id']}", {"title": None, "character_sync_policy": "force"})
    changed = patched.body["data"]
    assert (changed["title"], changed["prompt_mode"], changed["metadata"]) == (None, "native", {"a": 1})
    binding = changed["character_binding"]
    assert (binding["snapshot_summary"]["name"], binding["sync_policy"]) == ("Ada", "force")
    empty = await reader.patch(f"/sessions/{made['id']}", {})
    assert (empty.status, empty.code) == (400, "validation_error")


async def test_sessions_are_found_by_status_and_by_a_part_of_the_title(reader: Reader) -> None:
    await reader.session_id(title="The Dragon's hoard")
    await reader.session_id(title="100% gold", status="archived")
    await reader.session_id()

    async def titles(query: str) -> list[str | None]:
        return [session["title"] for session in (await reader.get(f"/sessions?{query}")).body["data"]]

    assert await titles("keyword=dragon") == ["The Dragon's hoard"]
    assert await titles("keyword=%25") == ["100% gold"]
    assert await titles("status=archived") == ["100% gold"]
    assert await titles("sort_order=asc") == ["The Dragon's hoard", "100% gold", None]


async def test_a_batch_reports_every_session(reader: Reader) -> None:
    first, second = await reader.session_id(), await reader.session_id()
    ids = [first, "nobody", second]
    archived = await reader.patch("/sessions/batch/status", {"ids": ids, "status": "archived"})
    assert archived.body["data"] == {
        "results": [
            {"index": 0, "id": first, "action": "updated"},
            {"index": 1, "id": "nobody", "action": "not_found"},
            {"index": 2, "id": second, "action": "updated"},
        ],
        "meta": {"total": 3, "updated": 2, "not_found": 1, "status": "archived"},
    }
    await generating_in(reader, second)
    gone = await reader.post("/sessions/batch/delete", {"ids": ids})
    assert [result["action"] for result in gone.body["data"]["results"]] == ["deleted", "not_found", "conflict"]
    assert gone.body["data"]["meta"] == {"total": 3, "deleted": 1, "not_found": 1, "conflicts": 1}
    for wrong in ([], [first, first], [str(number) for number in range(101)], [5, ""]):
        assert (await reader.post("/sessions/batch/delete", {"ids": wrong})).status == 400


async def generating_in(reader: Reader, session_id: str) -> str:
    await reader.patch(f"/sessions/{session_id}", {"status": "active"})
    return await generating(reader, session_id)


async def test_what_runs_is_told_and_protected(reader: Reader) -> None:
    session_id = await reader.session_id()
    idle = await reader.get(f"/sessions/{session_id}/active-run")
    floor_id = await generating(reader, session_id)
    busy = (await reader.get(f"/sessions/{session_id}/active-run?branch_id=main")).body["data"]["active_run"]
    run = (await reader.get(f"/floors/{floor_id}/run")).body["data"]
    refused = [
        await reader.delete(f"/sessions/{session_id}"),
        await reader.delete(f"/floors/{floor_id}"),
        await reader.patch(f"/floors/{floor_id}", {"floor_no": 5}),
    ]
    assert idle.body["data"] == {"session_id": session_id, "active_run": None}
    assert (busy["latest_floor_id"], busy["active_run_id"], busy["public_phase"]) == (floor_id, "run_1", "generating")
    assert (run["state"], run["run"]["status"], run["run"]["run_type"]) == ("generating", "running", "respond")
    assert {(answer.status, answer.code) for answer in refused} == {(409, "active_run_in_progress")}


async def test_a_scope_stands_for_itself(reader: Reader) -> None:
    session_id = await reader.session_id()
    assert (await reader.get(f"/sessions/{session_id}/scope")).body == {
        "session_id": session_id,
        "account_id": "default-admin",
        "workspace_id": "ws_default_default-admin",
        "project_id": f"prj_{session_id}",
    }
    unknown = await reader.get("/sessions/none/scope")
    assert (unknown.status, unknown.code) == (404, "session_not_found")


@pytest.mark.parametrize(
    ("field", "code"),
    [
        ("character_id", "character_not_found"),
        ("character_version_id", "character_not_found"),
        ("user_id", "user_not_found"),
        ("project_id", "project_not_found"),
        ("preset_id", "preset_not_found"),
        ("regex_profile_id", "regex_profile_not_found"),
        ("worldbook_profile_id", "worldbook_not_found"),
        ("preset_version_id", "asset_version_not_found"),
        ("regex_profile_version_id", "asset_version_not_found"),
        ("worldbook_version_id", "asset_version_not_found"),
    ],
)
async def test_what_this_server_does_not_have_is_not_bound(reader: Reader, field: str, code: str) -> None:
    session = await reader.make("/sessions", title="before", **{field: None})
    fields = {"title": "after", field: "nobody"}
    for refused in (await reader.post("/sessions", fields), await reader.patch(f"/sessions/{session['id']}", fields)):
        assert (refused.status, refused.code, refused.body["error"]["details"]) == (404, code, {field: "nobody"})
    assert (await reader.get("/sessions")).body["data"] == [session]


async def test_a_removed_session_is_gone(reader: Reader) -> None:
    session_id = await reader.session_id()
    await reader.server.state.store.write(furnish, session_id, 2 * AT_ONCE, 1)
    gone = await reader.delete(f"/sessions/{session_id}")
    assert gone.body == {"data": {"id": session_id, "deleted": True}}
    assert (await reader.get(f"/sessions/{session_id}")).status == 404
    async with asyncio.timeout(100):
        while (await reader.get(f"/floors?session_id={session_id}")).body["meta"]["total"]:
            continue


async def test_the_timeline_shows_committed_floors_of_the_branch_alone(reader: Reader) -> None:
    session_id = await reader.session_id()
    first = await reader.floor_id(session_id, 0, state="generating")
    page_ids = [
        (await reader.make("/pages", floor_id=first, page_no=number, page_kind=kind, version=version))["id"]
        for number, kind, version in ((0, "input", 1), (1, "output", 1), (1, "output", 2))
    ]
    for page_id, role in zip(page_ids, ("user", "assistant", "assistant"), strict=True):
        await reader.make("/messages", page_id=page_id, seq=0, role=role, content=role)
    await reader.floor_id(session_id, 1, state="failed")
    await reader.floor_id(session_id, 2, state="committed", branch_id="alt")
    assert (await reader.get(f"/sessions/{session_id}/timeline")).body["data"]["floors"] == []
    second = await reader.floor_id(session_id, 3, state="committed")
    timeline = (await reader.get(f"/sessions/{session_id}/timeline?branch_id=main")).body
    assert [floor["id"] for floor in timeline["data"]["floors"]] == [second]
    assert timeline["meta"] == {
        "total": 1, "limit": 50, "offset": 0, "has_more": False, "sort_by": "floor_no", "sort_order": "asc",
    }  # fmt: skip
    assert (await reader.get(f"/sessions/{session_id}/timeline?branch_id=unknown")).body["data"]["floors"] == []


async def test_a_floor_of_the_timeline_has_its_pages_and_messages(reader: Reader) -> None:
    session_id = await reader.session_id()
    now = 2_000_000_000_000
    store, turns = reader.server.state.store, reader.server.state.turns
    opened = await store.write(open_floor, DEFAULT_ACCOUNT, session_id, "main", "r", turns.owner_at(now), Content("Hi"), now)
    await store.write(commit_floor, DEFAULT_ACCOUNT, opened.floor_id, Content("Hello."), 1, 2, now)
    (floor,) = (await reader.get(f"/sessions/{session_id}/timeline")).body["data"]["floors"]
    assert [(page["page_no"], page["page_kind"], page["is_active"]) for page in floor["pages"]] == [
        (0, "input", True),
        (1, "output", True),
    ]
    assert [(message["role"], message["content"]) for message in floor["messages"]] == [("user", "Hi"), ("assistant", "Hello.")]
    assert (floor["active_page"], len(floor["active_pages"]), floor["page_count"]) == (None, 2, 2)
    assert "is_active" not in floor["active_pages"][0]
    result = (await reader.get(f"/floors/{opened.floor_id}/result")).body["data"]
    assert (result["generated_text"], result["usage"]["total_tokens"]) == ("Hello.", 3)


async def test_a_session_can_be_renamed(reader: Reader) -> None:
    made = await reader.make("/sessions", name="adventure", title="RPG")
    other = await reader.session_id()
    renamed = (await reader.patch(f"/sessions/{made['id']}", {"name": "voyage", "title": "At sea"})).body["data"]
    assert ((made["name"], made["title"]), (renamed["name"], renamed["title"])) == (("adventure", "RPG"), ("voyage", "At sea"))
    said = await reader.chat_in("voyage")
    assert said.headers["x-agentui-session"] == made["id"]
    taken = [
        await reader.post("/sessions", {"name": "voyage"}),
        await reader.patch(f"/sessions/{other}", {"name": "voyage"}),
        await reader.patch(f"/sessions/{other}", {"name": made["id"]}),
    ]
    assert {(answer.status, answer.code) for answer in taken} == {(409, "session_name_taken")}
    assert (await reader.get("/sessions")).body["meta"]["total"] == 2
    assert (await reader.patch(f"/sessions/{made['id']}", {"name": None})).body["data"]["name"] is None
    assert (await reader.patch(f"/sessions/{other}", {"name": "voyage"})).status == 200
    assert (await reader.patch(f"/sessions/{other}", {"name": "voyage"})).status == 200  # its own
    for wrong in ("", "x" * 201, "a\0b"):
        assert (await reader.patch(f"/sessions/{other}", {"name": wrong})).code == "validation_error"


ADA = {"name": "Ada", "first_mes": " Hello, {{user}}!\r\n", "alternateGreetings": ["Oh.", " ", "Oh.", "Who is there?"]}


async def greeted(reader: Reader) -> None:
    """A session begins with what its character says first, and the other greetings are versions of it."""
    made = await reader.make("/sessions", character_snapshot=ADA)
    assert made["character_binding"]["snapshot_summary"] == {"name": "Ada", "has_greeting": True}
    (floor,) = (await reader.get(f"/sessions/{made['id']}/timeline")).body["data"]["floors"]
    assert (floor["floor_no"], floor["state"], floor["page_count"]) == (0, "committed", 3)
    assert floor["active_page"]["messages"] == floor["messages"]
    (message,) = (await reader.get(f"/messages?page_id={floor['active_page']['id']}")).body["data"]
    assert (message["role"], message["content"], message["source"]) == ("assistant", "Hello, {{user}}!", "greeting")
    pages = [(page["page_no"], page["page_kind"], page["version"], page["is_active"]) for page in floor["pages"]]
    assert pages == [(0, "output", 1, True), (0, "output", 2, False), (0, "output", 3, False)]
    assert [page["messages"][0]["content"] for page in floor["pages"]] == ["Hello, {{user}}!", "Oh.", "Who is there?"]
    other = await reader.patch(f"/pages/{floor['pages'][2]['id']}/activate")
    assert other.body["data"]["is_active"] is True
    assert (await reader.get(f"/floors/{floor['id']}/result")).status == 404, "no turn made it"
    assert (await reader.post(f"/floors/{floor['id']}/branch", {"branch_id": "alt"})).status == 201
    said = await reader.chat_in(made["id"])
    assert said.status == 200, said.text
    turn = (await reader.get(f"/floors/{said.headers['x-agentui-floor']}")).body["data"]
    assert (turn["floor_no"], turn["parent_floor_id"]) == (1, floor["id"])


async def test_a_greeting_makes_the_first_floor(reader: Reader) -> None:
    await greeted(reader)


async def test_a_greeting_makes_the_first_floor_on_postgresql(postgres_reader: Reader) -> None:
    await greeted(postgres_reader)


@pytest.mark.parametrize(
    ("snapshot", "said"),
    [
        ({}, []),
        ({"greeting": " \n"}, []),
        ({"greeting": "Hi", "primaryGreeting": "Hello"}, ["Hello"]),
        ({"alternate_greetings": ["Hi", "Hello"]}, ["Hi", "Hello"]),
        ({"greeting": None, "first_message": "a\0b", "alternateGreetings": None}, ["a\ufffdb"]),
    ],
)
async def test_a_character_greets_with_what_it_has(reader: Reader, snapshot: Json, said: list[str]) -> None:
    made = await reader.make("/sessions", character_snapshot={"name": "Ada", **snapshot})
    floors = (await reader.get(f"/sessions/{made['id']}/timeline")).body["data"]["floors"]
    assert [page["messages"][0]["content"] for floor in floors for page in floor["pages"]] == said
    assert made["character_binding"]["snapshot_summary"]["has_greeting"] is bool(said)


@pytest.mark.parametrize(
    "snapshot",
    [{"greeting": 5}, {"first_mes": ["Hi"]}, {"alternateGreetings": "Hi"}, {"alternate_greetings": [5]},
     {"alternateGreetings": ["Hi"] * 201}, {"name": ""}, {"name": 5}],
)  # fmt: skip
async def test_a_greeting_is_a_text(reader: Reader, snapshot: Json) -> None:
    refused = await reader.post("/sessions", {"character_snapshot": {"name": "Ada", **snapshot}})
    assert (refused.status, refused.code) == (400, "validation_error")
    assert refused.body["error"]["details"][0]["path"] == "/character_snapshot"
    assert (await reader.get("/sessions")).body["meta"]["total"] == 0


async def test_a_character_that_comes_later_does_not_greet(reader: Reader) -> None:
    session_id = await reader.session_id()
    await reader.patch(f"/sessions/{session_id}", {"character_snapshot": ADA})
    assert (await reader.get(f"/floors?session_id={session_id}")).body["data"] == []
