"""The tools by which models look into the library and change it, on each engine."""

import pytest

from agentui.chat.messages import ToolCall
from agentui.jsonio import Json, dumps_text, loads
from agentui.library.entry_tools import entry_tools
from agentui.library.tools import MAX_READ, asset_tools
from agentui.principal import DEFAULT_PRINCIPAL
from agentui.tools.catalog import Catalog
from agentui.tools.executor import Executor
from agentui.tools.permissions import Permissions
from agentui.tools.tool import CallPlace
from tests.api.chats.conftest import Reader, postgres_reader, reader

__all__ = ["postgres_reader", "reader"]


@pytest.fixture(params=["reader", "postgres_reader"])
def caller(request: pytest.FixtureRequest) -> Reader:
    """A caller of a fresh server on each engine."""
    found: Reader = request.getfixturevalue(request.param)
    return found


async def use(caller: Reader, name: str, /, **arguments: Json) -> Json:
    """What a model gets that calls one of the tools where everything is allowed: the answer, or the words of an error."""
    return await asked(caller, name, arguments, writes=True)


async def asked(caller: Reader, name: str, arguments: Json, *, writes: bool) -> Json:
    """The same; ``writes`` says whether what cannot be undone is allowed."""
    store = caller.server.state.store
    tools = Catalog.of((*asset_tools(lambda: store), *entry_tools(lambda: store)))
    executor = Executor(tools, Permissions(enabled=True, allow_irreversible=writes), CallPlace(DEFAULT_PRINCIPAL, "run_1"))
    result = await executor.execute(ToolCall("1", name, dumps_text(arguments)))
    return result.text if result.is_error else loads(result.text)


@pytest.mark.parametrize(
    ("one", "many", "content"),
    [
        ("character", "characters", {"name": "Lamp", "description": "It shines."}),
        ("worldbook", "worldbooks", {"entries": {"0": {"uid": 0, "content": "A lamp."}}}),
        ("preset", "presets", {"prompts": [{"identifier": "main", "content": "Be a lamp."}]}),
        ("regex_profile", "regex_profiles", {"scripts": [{"scriptName": "a", "findRegex": "a"}]}),
    ],
)
async def test_each_kind_is_made_listed_read_changed_and_deleted(caller: Reader, one: str, many: str, content: Json) -> None:
    name = {} if one == "character" else {"name": "Lamp"}
    made = await use(caller, f"create_{one}", content=content, **name)
    assert (made["name"], made["version"]) == ("Lamp", 1)
    listed = await use(caller, f"list_{many}", keyword="LAM")
    assert (listed["items"], listed["total"]) == ([made], 1)
    read = await use(caller, f"get_{one}", id=made["id"])
    assert read == {"id": made["id"], "name": "Lamp", "version": 1, "content": content}
    changed = await use(caller, f"update_{one}", id=made["id"], content={**content, "more": 1})
    assert (changed["name"], changed["version"]) == ("Lamp", 2)
    assert (await use(caller, f"get_{one}", id=made["id"]))["content"] == {**content, "more": 1}
    assert await use(caller, f"delete_{one}", id=made["id"]) == {"id": made["id"], "deleted": True}
    assert (await use(caller, f"list_{many}"))["total"] == 0
    for verb in ("get", "delete"):
        assert str(await use(caller, f"{verb}_{one}", id=made["id"])).startswith("Error: ")


async def test_nothing_is_written_where_what_cannot_be_undone_is_not_allowed(caller: Reader) -> None:
    made = await use(caller, "create_character", content={"name": "Lamp"})
    for name, arguments in (
        ("create_character", {"content": {"name": "Other"}}),
        ("update_character", {"id": made["id"], "content": {"name": "Other"}}),
        ("delete_character", {"id": made["id"]}),
    ):
        assert "cannot be undone" in await asked(caller, name, arguments, writes=False)
    listed = await asked(caller, "list_characters", {}, writes=False)
    assert [(each["name"], each["version"]) for each in listed["items"]] == [("Lamp", 1)]


async def test_what_nothing_can_be_made_of_is_told(reader: Reader) -> None:
    for name, arguments in (
        ("create_character", {"content": {"name": ""}}),
        ("create_worldbook", {"name": "W", "content": {"entries": []}}),
        ("create_preset", {"name": "P", "content": {"prompts": [{}]}}),
        ("create_preset", {"content": {}}),
        ("update_character", {"id": "none", "content": {"name": "A"}}),
        ("get_worldbook", {"id": "none"}),
        ("list_presets", {"limit": 101}),
    ):
        assert str(await use(reader, name, **arguments)).startswith("Error: "), name


async def test_a_content_that_no_call_can_give_is_not_read(reader: Reader) -> None:
    card = {"name": "Long", "description": "x" * MAX_READ}
    id = (await use(reader, "create_character", content={"name": "Short"}))["id"]
    answer = await reader.post(f"/characters/{id}/versions", {"snapshot": card})
    assert answer.status == 201, answer.text
    assert "at most" in await use(reader, "get_character", id=id)


@pytest.mark.parametrize(
    ("kind", "part", "parts", "whole_id", "part_id", "made", "changed"),
    [
        (
            "worldbook", "worldbook_entry", "worldbook_entries", "worldbook_id", "entry_id",
            {"keys": ["lamp"], "content": "It shines."}, {"content": "It is out.", "disable": True},
        ),
        (
            "preset", "preset_entry", "preset_entries", "preset_id", "identifier",
            {"identifier": "tone", "content": "Be warm.", "role": "user"}, {"content": "Be cold.", "enabled": False},
        ),
        (
            "regex_profile", "regex_rule", "regex_rules", "regex_profile_id", "rule_id",
            {"findRegex": "/a/g", "replaceString": "b"}, {"replaceString": "c", "disabled": True},
        ),
    ],
)  # fmt: skip
async def test_parts_are_made_listed_read_changed_and_deleted(
    caller: Reader, kind: str, part: str, parts: str, whole_id: str, part_id: str, made: Json, changed: Json
) -> None:
    content: Json = {"entries": {}} if kind == "worldbook" else {"prompts": []} if kind == "preset" else {"scripts": []}
    here = {whole_id: (await use(caller, f"create_{kind}", name="Lamp", content=content))["id"]}
    told = await use(caller, f"create_{part}", **here, **made)
    assert {name: told[name] for name in made} == made
    there = {**here, part_id: told.get("id") or told[part_id]}
    listed = await use(caller, f"list_{parts}", **here)
    assert listed["total"] == len(listed["items"]) == 1
    assert await use(caller, f"get_{part}", **there) == told
    told = await use(caller, f"update_{part}", **there, **changed)
    assert {name: told[name] for name in {**made, **changed}} == {**made, **changed}
    assert (await use(caller, f"get_{kind}", id=here[whole_id]))["version"] == 3
    assert (await use(caller, f"delete_{part}", **there))["deleted"] is True
    for verb in ("get", "update", "delete"):
        assert "no such entry" in await use(caller, f"{verb}_{part}", **there)
    assert (await use(caller, f"list_{parts}", **here))["total"] == 0
    assert "cannot be undone" in await asked(caller, f"create_{part}", {**here, **made}, writes=False)
