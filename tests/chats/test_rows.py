"""Finding hosts, and what goes with them when they are removed."""

import asyncio

import pytest
from sqlalchemy import Connection, select

from agentui.chats.branches.reading import BranchSummary, list_branches
from agentui.chats.branches.writing import remove_branch
from agentui.chats.codes import CODES, failure
from agentui.chats.conversations import remove_many, remove_session
from agentui.chats.floors import NewFloor, create_floor, remove_floor
from agentui.chats.listing import Listed, Paging
from agentui.chats.messages import NewMessage, create_message, find_message, remove_messages
from agentui.chats.pages import NewPage, activate_page, create_page, remove_page, remove_pages
from agentui.chats.rows import AT_ONCE, REMOVAL, find_branch, find_floor, find_page, find_session, register_branch, remove_part
from agentui.errors import ApiError
from agentui.jsonio import loads
from agentui.store.tables import floors, jobs, messages, metadata, pages, sessions, variables
from agentui.turns.recovery import recover
from agentui.variables.errors import VariableError
from agentui.variables.records import get
from tests.chats.conftest import OWNER, Memory, code_of


async def test_a_host_of_another_account_is_missing(memory: Memory) -> None:
    joined = await memory.join()
    opened = await memory.open(joined)
    memory.account = "somebody else"
    for find, ids in (
        (find_session, (joined.session_id,)),
        (find_branch, (joined.session_id, "main")),
        (find_floor, (opened.floor_id,)),
        (find_page, (opened.input_page_id,)),
    ):
        with pytest.raises(ApiError) as caught:
            await memory.read(find, *ids)
        assert caught.value.status == 404


async def furnished(memory: Memory) -> tuple[str, str, str, str]:
    """A session with variables everywhere: the ids of it, a floor on a branch, its page, and a floor on main."""
    main = await memory.join()
    kept = await memory.turn(main)
    fork = await memory.join(branch="alt")
    opened = await memory.open(fork)
    await memory.put("global", "global")
    await memory.put("chat", main.session_id)
    await memory.put("branch", f"branch:{main.session_id}:main")
    await memory.put("branch", f"branch:{main.session_id}:alt")
    await memory.store.write(_write_variable, memory.account, "floor", opened.floor_id)
    await memory.store.write(_write_variable, memory.account, "page", opened.input_page_id)
    await memory.store.write(_write_variable, memory.account, "floor", kept.floor_id)
    memory.now += 1_000_000  # the generation is dead by now
    return main.session_id, opened.floor_id, opened.input_page_id, kept.floor_id


def _write_variable(db: Connection, account: str, scope: str, scope_id: str) -> None:
    """Write past the lock of a floor that generates, as a commit does."""
    values = {"scope": scope, "scope_id": scope_id, "key": "gold", "value_json": "1", "updated_at": 1}
    db.execute(variables.insert().values(id=f"{scope}-{scope_id}", account_id=account, **values))


async def scopes(memory: Memory) -> list[str]:
    return sorted(row.scope for row in await memory.rows(select(variables)))


async def test_a_page_takes_its_variables_along(memory: Memory) -> None:
    _, _, page_id, _ = await furnished(memory)
    await memory.write(remove_page, page_id, memory.now)
    assert await scopes(memory) == ["branch", "branch", "chat", "floor", "floor", "global"]


async def test_a_floor_takes_its_pages_and_their_variables_along(memory: Memory) -> None:
    _, floor_id, page_id, _ = await furnished(memory)
    await memory.write(remove_floor, floor_id, memory.now)
    assert await scopes(memory) == ["branch", "branch", "chat", "floor", "global"]
    assert await memory.rows(select(pages).where(pages.c.id == page_id)) == []
    assert await memory.rows(select(messages).where(messages.c.page_id == page_id)) == []


async def test_a_branch_takes_its_floors_and_their_variables_along(memory: Memory) -> None:
    session_id, floor_id, _, kept_id = await furnished(memory)
    assert await memory.write(remove_branch, "alt", session_id, memory.now) == (session_id, [floor_id])
    assert await scopes(memory) == ["branch", "chat", "floor", "global"]
    assert [row.id for row in await memory.rows(select(floors))] == [kept_id]


async def test_a_session_takes_everything_along(memory: Memory) -> None:
    session_id, *_ = await furnished(memory)
    other = await memory.join("another")
    await memory.put("chat", other.session_id)
    await memory.write(remove_session, session_id, memory.now)
    left = await memory.rows(select(variables.c.scope, variables.c.scope_id))
    assert sorted(tuple(row) for row in left) == [("chat", other.session_id), ("global", "global")]
    for table in metadata.sorted_tables:
        if "session_id" in table.c:
            assert await memory.rows(select(table).where(table.c.session_id == session_id)) == []
    for table in (pages, messages):
        assert await memory.rows(select(table)) == []


async def with_floors(memory: Memory, name: str, count: int, branch: str = "main") -> str:
    """A session of so many floors on a branch, each with a page, a message and a variable of the page; its id."""
    joined = await memory.join(name)
    mine = {"account_id": memory.account, "created_at": 1, "updated_at": 1}
    place = {"session_id": joined.session_id, "branch_id": branch, "state": "committed", **mine}
    page = {"page_no": 0, "page_kind": "input", "is_active": True, **mine}
    said = {"account_id": memory.account, "seq": 0, "role": "user", "content": "Hello?", "created_at": 1}
    value = {"account_id": memory.account, "scope": "page", "key": "gold", "value_json": "1", "updated_at": 1}
    ids = [f"{name}-{number:05}" for number in range(count)]

    def fill(db: Connection) -> None:
        db.execute(floors.insert(), [{"id": id, "floor_no": number, **place} for number, id in enumerate(ids)])
        db.execute(pages.insert(), [{"id": id, "floor_id": id, **page} for id in ids])
        db.execute(messages.insert(), [{"id": id, "page_id": id, **said} for id in ids])
        db.execute(variables.insert(), [{"id": id, "scope_id": id, **value} for id in ids])

    await memory.store.write(fill)
    return joined.session_id


async def test_a_long_session_is_gone_at_once_and_its_rows_in_parts(memory: Memory) -> None:
    short, long = await with_floors(memory, "short", AT_ONCE), await with_floors(memory, "long", AT_ONCE + 1)
    await memory.put("chat", long)
    slow = await memory.open(await memory.join("long"), owner="another process", lasts=0)
    results = await memory.write(remove_many, [short, long], memory.now)
    assert [result.action for result in results] == ["deleted", "deleted"]
    for find, ids in ((find_session, (long,)), (find_branch, (long, "main")), (remove_session, (long, memory.now))):
        with pytest.raises(ApiError) as caught:
            await memory.write(find, *ids)
        assert caught.value.status == 404
    variable = await memory.rows(select(variables.c.id).where(variables.c.scope_id == "long-00000"))
    for find, id in ((find_floor, "long-00000"), (find_page, "long-00000"), (find_message, "long-00000")):
        with pytest.raises(ApiError) as caught:
            await memory.read(find, id)
        assert caught.value.status == 404
    with pytest.raises(VariableError):
        await memory.read(get, variable[0].id)
    for remove_those in (remove_pages, remove_messages):
        assert [one.action for one in await memory.write(remove_those, ["long-00000"], memory.now)] == ["not_found"]
    assert await memory.store.write(recover, OWNER, memory.now) == 0
    with pytest.raises(ApiError) as caught:
        await memory.commit(slow.floor_id)
    assert caught.value.code == "commit_conflict"
    assert (await memory.join("long")).session_id != long
    assert {row.session_id for row in await memory.rows(select(floors.c.session_id))} == {long}
    assert set(await scopes(memory)) == {"page"}
    (job,) = await memory.rows(select(jobs).where(jobs.c.kind == REMOVAL))
    assert [await memory.store.write(remove_part, *loads(job.payload_json)) for _ in range(3)] == [True, True, False]
    # A job may be done again.
    assert not await memory.store.write(remove_part, *loads(job.payload_json))
    for table in (floors, pages, variables):
        assert await memory.rows(select(table)) == []
    assert long not in {row.id for row in await memory.rows(select(sessions.c.id))}


async def test_a_long_branch_is_gone_at_once_and_its_rows_in_parts(memory: Memory) -> None:
    joined = await memory.join("tale")
    root = await memory.turn(joined)
    await memory.join("tale", "alt")
    await with_floors(memory, "tale", AT_ONCE + 1, "alt")
    last = await memory.read(find_floor, "tale-00200")
    assert await memory.write(register_branch, joined.session_id, "behind", memory.now, last)
    session_id, ids = await memory.write(remove_branch, "alt", None, memory.now)
    assert session_id == joined.session_id and ids == [f"tale-{number:05}" for number in range(AT_ONCE + 1)]
    assert [branch.source_floor_id for branch in await listed(memory, session_id)] == [root.floor_id, None]
    for find, names in ((find_floor, ("tale-00007",)), (find_branch, (session_id, "alt"))):
        with pytest.raises(ApiError) as caught:
            await memory.read(find, *names)
        assert caught.value.status == 404
    with pytest.raises(ApiError) as caught:
        await memory.join("tale", "alt")
    assert (caught.value.code, caught.value.retry_after) == ("branch_exists", 1)
    (job,) = await memory.rows(select(jobs).where(jobs.c.kind == REMOVAL))
    assert [await memory.store.write(remove_part, *loads(job.payload_json)) for _ in range(3)] == [True, True, False]
    assert (await memory.join("tale", "alt")).branch_id == "alt"
    await memory.turn(await memory.join("tale", "alt"))
    # A job may be done again, also where the name is another branch's by now.
    assert not await memory.store.write(remove_part, *loads(job.payload_json))
    assert len(await memory.rows(select(floors))) == 2


async def listed(memory: Memory, session_id: str) -> list[BranchSummary]:
    """The branches of a session."""
    found: Listed[BranchSummary] = await memory.read(list_branches, session_id, Paging(sort_by="branch_id", sort_order="asc"))
    return found.items


async def test_what_generates_stays(memory: Memory) -> None:
    joined = await memory.join()
    opened = await memory.open(joined)
    for remove, ids in ((remove_session, (joined.session_id,)), (remove_floor, (opened.floor_id,))):
        with pytest.raises(ApiError) as caught:
            await memory.write(remove, *ids, memory.now)
        assert caught.value.code == "active_run_in_progress"
    results = await memory.write(remove_many, ["nobody", joined.session_id], memory.now)
    assert [result.action for result in results] == ["not_found", "conflict"]


async def test_of_many_floors_with_one_number_one_is_made(memory: Memory) -> None:
    joined = await memory.join()
    new = NewFloor(joined.session_id, 7, "side")
    made = await asyncio.gather(*(memory.write(create_floor, new, memory.now) for _ in range(8)), return_exceptions=True)
    assert sorted(code_of(one) for one in made if isinstance(one, BaseException)) == ["constraint_error"] * 7


async def test_of_many_versions_at_once_exactly_one_is_active(memory: Memory) -> None:
    joined = await memory.join()
    floor = await memory.write(create_floor, NewFloor(joined.session_id, 0, "main"), memory.now)
    made = await asyncio.gather(
        *(memory.write(create_page, NewPage(floor.id, 1, "output", version), memory.now) for version in range(1, 7))
    )
    assert sum(page.is_active for page in made) == 1
    await asyncio.gather(*(memory.write(activate_page, page.id, memory.now) for page in made))
    assert len(await memory.rows(select(pages).where(pages.c.is_active))) == 1


async def test_of_many_messages_with_one_seq_one_is_written(memory: Memory) -> None:
    joined = await memory.join()
    floor = await memory.write(create_floor, NewFloor(joined.session_id, 0, "main"), memory.now)
    page = await memory.write(create_page, NewPage(floor.id, 0, "mixed"), memory.now)
    new = NewMessage(page.id, 0, "user", "Hi")
    made = await asyncio.gather(*(memory.write(create_message, new, memory.now) for _ in range(6)), return_exceptions=True)
    assert sorted(code_of(one) for one in made if isinstance(one, BaseException)) == ["message_conflict"] * 5


def test_a_failure_has_the_status_of_its_code() -> None:
    for code, entry in CODES.items():
        error = failure(code, "No.", floor_id="f")
        assert (error.code, error.status, error.details) == (code, entry.status, {"floor_id": "f"})


def test_the_codes_of_variables_are_in_the_table() -> None:
    kinds = VariableError.__subclasses__()
    assert kinds
    assert {kind.code: kind.status for kind in kinds}.items() <= {code: entry.status for code, entry in CODES.items()}.items()
