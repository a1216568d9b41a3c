"""A turn's life: joining, opening, committing, failing, and who wins when several try at once."""

import asyncio
import sys
import threading
import time
from typing import Any

import pytest
from sqlalchemy import Connection, insert, select, text

from agentui.chats.branches.merging import merge_branch
from agentui.chats.branches.reading import list_branches
from agentui.chats.branches.writing import branch_from_floor, reset_branch
from agentui.chats.conversations import active_run, set_status_of_many
from agentui.chats.floors import floor_result, floor_run
from agentui.chats.listing import Paging
from agentui.chats.parts import Content
from agentui.chats.rows import branch_head, find_floor
from agentui.errors import ApiError
from agentui.principal import DEFAULT_ACCOUNT
from agentui.store import prepared
from agentui.store.tables import floors, generations, messages, pages, sessions, variables
from agentui.turns.ending import FailedTurn, fail_all
from agentui.turns.failing import fail_floor
from agentui.turns.locks import Owner, extend_lock
from agentui.turns.recovery import recover
from agentui.turns.request import TurnPlace
from agentui.turns.transactions import OpenedFloor, commit_floor, hold_places_of, open_floor
from tests.chats.conftest import ME, OWNER, Memory, code_of


async def refusal(awaitable: Any) -> str:
    with pytest.raises(ApiError) as caught:
        await awaitable
    return caught.value.code


async def test_a_new_name_makes_a_session_and_leads_to_it_again(memory: Memory) -> None:
    first = await memory.join("my tale")
    assert (await memory.join("my tale"), await memory.join(first.session_id)) == (first, first)
    assert first.branch_id == "main"
    assert [row.name for row in await memory.rows(select(sessions))] == ["my tale"]


async def test_a_name_belongs_to_its_account(memory: Memory) -> None:
    mine = await memory.join()
    memory.account = "somebody else"
    assert (await memory.join()).session_id != mine.session_id
    # To another account an id is no more than a name.
    assert (await memory.join(mine.session_id)).session_id != mine.session_id


async def test_callers_with_one_new_name_at_once_share_one_session(memory: Memory) -> None:
    joined = await asyncio.gather(*(memory.join() for _ in range(12)))
    assert len(set(joined)) == 1


async def test_callers_with_one_new_branch_at_once_share_it(memory: Memory) -> None:
    await memory.join()
    joined = await asyncio.gather(*(memory.join(branch="alt") for _ in range(8)))
    listed = await memory.read(list_branches, joined[0].session_id, Paging())
    assert sorted(branch.branch_id for branch in listed.items) == ["alt", "main"]


@pytest.mark.parametrize(("name", "branch"), [("", None), ("x" * 201, None), ("a\0b", None), ("a", ""), ("a", "x" * 101)])
async def test_names_that_cannot_be_kept_are_refused(memory: Memory, name: str, branch: str | None) -> None:
    assert await refusal(memory.join(name, branch)) == "validation_error"


async def test_an_unknown_branch_is_forked_from_the_head_of_main(memory: Memory) -> None:
    main = await memory.join()
    head = await memory.turn(main)
    await memory.put("branch", f"branch:{main.session_id}:main", "gold", "1")
    later = await memory.turn(main)
    await memory.put("branch", f"branch:{main.session_id}:main", "gold", "2")
    fork = await memory.join(branch="alt")
    opened = await memory.open(fork)
    assert (later.floor_no, opened.floor_no) == (1, 2)
    assert (later.parent_floor_id, opened.parent_floor_id) == (head.floor_id, later.floor_id)
    kept = await memory.rows(select(variables).where(variables.c.scope_id == f"branch:{main.session_id}:alt"))
    assert [(row.key, row.value_json) for row in kept] == [("gold", "1")]


async def test_a_fork_of_a_floor_whose_variables_are_unknown_is_refused(memory: Memory) -> None:
    main = await memory.join()
    opened = await memory.open(main)
    await memory.write(commit_floor, opened.floor_id, Content("Hi."), 1, 1, memory.now)
    assert await refusal(memory.join(branch="alt")) == "branch_local_snapshot_missing"
    assert await memory.join() == main


async def test_opening_stores_what_the_user_said(memory: Memory) -> None:
    opened = await memory.open(await memory.join(), "Is there\0gold?")
    floor = await memory.read(find_floor, opened.floor_id)
    (page,) = await memory.rows(select(pages))
    (message,) = await memory.rows(select(messages))
    assert (floor.state, floor.floor_no, floor.parent_floor_id) == ("generating", 0, None)
    assert (page.id, page.page_no, page.page_kind, page.is_active) == (opened.input_page_id, 0, "input", True)
    assert (message.page_id, message.role, message.content) == (page.id, "user", "Is there\ufffdgold?")


async def test_a_turn_without_words_has_an_empty_input_page(memory: Memory) -> None:
    await memory.open(await memory.join(), None)
    assert (len(await memory.rows(select(pages))), await memory.rows(select(messages))) == (1, [])


async def test_committing_stores_the_answer_and_frees_the_branch(memory: Memory) -> None:
    joined = await memory.join()
    opened = await memory.open(joined)
    running = await memory.read(active_run, joined.session_id, None, memory.now)
    await memory.commit(opened.floor_id, "Yes.", output_page_id=opened.output_page_id)
    result = await memory.read(floor_result, opened.floor_id)
    assert (running.active_run_id, running.latest_floor_id) == ("run_1", opened.floor_id)
    assert (result.output_page_id, result.generated_text) == (opened.output_page_id, "Yes.")
    assert result.usage == {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}
    assert (await memory.read(floor_run, opened.floor_id)).run.status == "completed"
    assert await memory.read(active_run, joined.session_id, None, memory.now) is None
    assert (await memory.open(joined)).parent_floor_id == opened.floor_id


async def test_an_empty_answer_is_an_answer(memory: Memory) -> None:
    opened = await memory.open(await memory.join())
    await memory.commit(opened.floor_id, "")
    result = await memory.read(floor_result, opened.floor_id)
    assert (result.generated_text, result.assistant_message_id is not None) == ("", True)


async def test_a_failed_floor_keeps_its_number_and_is_no_parent(memory: Memory) -> None:
    joined = await memory.join()
    good = await memory.turn(joined)
    bad = await memory.open(joined)
    assert await memory.write(fail_floor, bad.floor_id, {"code": "upstream_error"}, memory.now)
    after = await memory.open(joined)
    run = (await memory.read(floor_run, bad.floor_id)).run
    assert (after.floor_no, after.parent_floor_id) == (2, good.floor_id)
    assert (run.status, run.error) == ("failed", {"code": "upstream_error"})
    assert (await memory.read(branch_head, joined.session_id, "main")).id == good.floor_id


async def test_a_cancelled_run_says_so(memory: Memory) -> None:
    opened = await memory.open(await memory.join())
    assert await memory.write(fail_floor, opened.floor_id, None, memory.now, cancelled=True)
    assert (await memory.read(floor_run, opened.floor_id)).run.status == "cancelled"
    assert not await memory.write(fail_floor, opened.floor_id, None, memory.now)


async def test_of_many_turns_at_once_one_generates(memory: Memory) -> None:
    joined = await memory.join()
    outcomes = await asyncio.gather(*(memory.open(joined) for _ in range(10)), return_exceptions=True)
    opened = [outcome for outcome in outcomes if isinstance(outcome, OpenedFloor)]
    refused = {code_of(outcome) for outcome in outcomes if isinstance(outcome, BaseException)}
    assert (len(opened), refused) == (1, {"generation_conflict"})
    assert [row.id for row in await memory.rows(select(floors))] == [opened[0].floor_id]


async def test_branches_generate_side_by_side(memory: Memory) -> None:
    names = [f"b{number}" for number in range(5)]
    joined = [await memory.join(branch=name) for name in names]
    opened = await asyncio.gather(*(memory.open(place) for place in joined))
    await asyncio.gather(*(memory.commit(floor.floor_id) for floor in opened))
    assert {row.state for row in await memory.rows(select(floors))} == {"committed"}


async def test_committing_and_failing_at_once_has_one_winner(memory: Memory) -> None:
    for _ in range(5):
        opened = await memory.open(await memory.join())
        committed, failed = await asyncio.gather(
            memory.commit(opened.floor_id), memory.write(fail_floor, opened.floor_id, None, memory.now), return_exceptions=True
        )
        state = (await memory.read(find_floor, opened.floor_id)).state
        if failed is True:
            assert (code_of(committed), state) == ("commit_conflict", "failed")
        else:
            assert (failed, state) == (False, "committed")


async def test_an_expired_generation_gives_way_and_cannot_commit_later(memory: Memory) -> None:
    joined = await memory.join()
    dead = await memory.open(joined, lasts=10)
    memory.now += 100
    assert await memory.store.write(recover, OWNER, memory.now) == 0, "it is our own, whatever the clock says"
    assert await refusal(memory.open(joined, owner="another")) == "generation_conflict"
    assert await memory.store.write(recover, "another", memory.now) == 1
    fresh = await memory.open(joined, owner="another")
    run = (await memory.read(floor_run, dead.floor_id)).run
    assert (fresh.floor_no, fresh.parent_floor_id) == (1, None)
    assert (run.status, run.error["code"]) == ("failed", "generation_lost")
    assert await refusal(memory.commit(dead.floor_id)) == "commit_conflict"
    assert await memory.rows(select(messages).where(messages.c.role == "assistant")) == []
    await memory.commit(fresh.floor_id)


async def test_a_heartbeat_keeps_a_generation_alive(memory: Memory) -> None:
    joined = await memory.join()
    opened = await memory.open(joined, lasts=10)
    assert await memory.write(extend_lock, opened.floor_id, Owner(OWNER, memory.now + 1000), memory.now)
    memory.now += 100
    assert await refusal(memory.open(joined, owner="another")) == "generation_conflict"
    assert not await memory.write(extend_lock, opened.floor_id, Owner("another", memory.now + 1000), memory.now)
    memory.now += 10_000
    assert await memory.store.write(recover, "another", memory.now) == 1
    await memory.open(joined, owner="another")
    assert not await memory.write(extend_lock, opened.floor_id, Owner(OWNER, memory.now + 1000), memory.now)


async def test_recovery_fails_what_dead_processes_left(memory: Memory) -> None:
    expired = await memory.open(await memory.join(branch="a"), owner="dead", lasts=1)
    unknown = await memory.open(await memory.join(branch="b"), owner="other")
    mine = await memory.open(await memory.join(branch="c"))
    memory.now += 100
    is_alone = memory.store.status["engine"] == "sqlite"
    assert await memory.store.write(recover, OWNER, memory.now) == (2 if is_alone else 1)
    states = {row.id: row.state for row in await memory.rows(select(floors))}
    assert states[expired.floor_id] == "failed"
    # PostgreSQL is shared: another process may well be alive.
    assert states[unknown.floor_id] == ("failed" if is_alone else "generating")
    assert states[mine.floor_id] == "generating"
    assert {row.owner for row in await memory.rows(select(generations))} == ({OWNER} if is_alone else {OWNER, "other"})


async def test_a_turn_that_commits_while_it_is_released_has_not_died(memory: Memory) -> None:
    opened = await memory.open(await memory.join(), owner="slow", lasts=1)
    memory.now += 100
    tried: list[str] = []
    holds = threading.Event()

    def commit(db: Connection) -> None:
        tried.append("commit")
        hold_places_of(db, [opened.floor_id])
        holds.set()
        while db.dialect.name == "postgresql" and not db.execute(text(_SOMEBODY_WAITS_FOR_US)).scalar_one():
            time.sleep(0.01)  # SQLite's other writer does not come so far
        commit_floor(db, ME, opened.floor_id, Content("Late."), 3, 5, memory.now)

    def release(db: Connection) -> int:
        tried.append("release")
        return recover(db, OWNER, memory.now)

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        group.create_task(memory.store.write(commit))
        await asyncio.to_thread(holds.wait)
        released = group.create_task(memory.store.write(release))
    assert (tried, released.result()) == (["commit", "release"], 0), "neither was undone as half of a deadlock, and tried again"
    assert (await memory.read(find_floor, opened.floor_id)).state == "committed"


@pytest.mark.parametrize("how", ["fail", "release"])
async def test_turns_that_fail_together_and_a_commit_do_not_wait_for_each_other(memory: Memory, how: str) -> None:
    memory.account = DEFAULT_ACCOUNT
    places = [await memory.join(branch=name) for name in ("a", "b")]
    opened = [await memory.open(place, owner="slow", lasts=1) for place in places]
    memory.now += 100
    tried: list[str] = []
    holds = threading.Event()

    def commit(db: Connection) -> None:
        tried.append("commit")
        hold_places_of(db, [opened[1].floor_id])
        holds.set()
        while db.dialect.name == "postgresql" and not db.execute(text(_SOMEBODY_WAITS_FOR_US)).scalar_one():
            time.sleep(0.01)  # SQLite's other writer does not come so far
        commit_floor(db, DEFAULT_ACCOUNT, opened[1].floor_id, Content("Late."), 3, 5, memory.now)

    def fail(db: Connection) -> None:
        tried.append(how)
        if how == "release":
            recover(db, OWNER, memory.now)
            return
        pairs = zip(places, opened, strict=True)
        turns = [
            TurnPlace(DEFAULT_ACCOUNT, place.session_id, place.branch_id, "run_1", "respond", floor) for place, floor in pairs
        ]
        fail_all(db, [FailedTurn(turn, {"code": "cancelled"}, True) for turn in turns], memory.now)

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        group.create_task(memory.store.write(commit))
        await asyncio.to_thread(holds.wait)
        group.create_task(memory.store.write(fail))
    assert tried == ["commit", how], "neither was undone as half of a deadlock, and tried again"
    assert [(await memory.read(find_floor, floor.floor_id)).state for floor in opened] == ["failed", "committed"]


_SOMEBODY_WAITS_FOR_US = (
    "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid)))"
)


async def test_an_archived_session_takes_no_turns(memory: Memory) -> None:
    joined = await memory.join()
    await memory.write(set_status_of_many, [joined.session_id], "archived", memory.now)
    assert await refusal(memory.join()) == "session_archived"
    assert await refusal(memory.open(joined)) == "session_archived"


async def test_turns_need_a_session_and_a_branch_of_the_account(memory: Memory) -> None:
    joined = await memory.join()
    nowhere = ("run_1", Owner(OWNER, memory.now + 1), Content("Hi"), memory.now)
    assert await refusal(memory.write(open_floor, "nobody", "main", *nowhere)) == "session_not_found"
    assert await refusal(memory.write(open_floor, joined.session_id, "alt", *nowhere)) == "branch_not_found"
    memory.account = "somebody else"
    assert await refusal(memory.open(joined)) == "session_not_found"


async def test_a_branch_can_be_taken_back_and_goes_on_from_there(memory: Memory) -> None:
    main = await memory.join()
    turns = [await memory.turn(main) for _ in range(3)]
    ids = [turn.floor_id for turn in turns]
    assert await refusal(memory.write(reset_branch, main.session_id, "main", ids[0], ids[0], memory.now)) == (
        "branch_head_conflict"
    )
    reset = await memory.write(reset_branch, main.session_id, "main", ids[0], ids[2], memory.now)
    again = await memory.turn(main)
    aside = await memory.read(find_floor, ids[1])
    assert (reset.superseded_floor_ids, again.floor_no, again.parent_floor_id) == (ids[1:], 1, ids[0])
    assert (aside.state, aside.superseded_by_floor_id) == ("committed", ids[0])


async def test_a_branch_of_more_floors_than_a_statement_takes_values_can_be_taken_back(memory: Memory) -> None:
    main = await memory.join()
    head = await memory.turn(main)
    place = {"account_id": ME, "session_id": main.session_id, "branch_id": "main", "created_at": 1, "updated_at": 1}
    behind = [{**place, "id": f"f{number:05}", "floor_no": number, "state": "committed"} for number in range(1, 33_001)]

    def make_floors(db: Connection) -> None:
        db.execute(insert(floors), behind)

    await memory.store.write(make_floors)
    reset = await memory.write(reset_branch, main.session_id, "main", head.floor_id, None, memory.now)
    assert reset.superseded_floor_ids == [floor["id"] for floor in behind]


async def test_a_fork_is_merged_while_its_source_stands_still(memory: Memory) -> None:
    main = await memory.join()
    await memory.turn(main)
    fork = await memory.join(branch="alt")
    moved = [(await memory.turn(fork)).floor_id for _ in range(2)]
    merged = await memory.write(merge_branch, main.session_id, "alt", "main", None, memory.now)
    assert (merged.strategy, merged.merged_floor_ids) == ("fast_forward", moved)
    assert (await memory.read(branch_head, main.session_id, "main")).id == moved[-1]
    on_main, on_fork = await memory.turn(main), await memory.open(fork)
    assert (on_main.floor_no, on_main.parent_floor_id, on_fork.floor_no) == (3, moved[-1], 3)
    assert on_fork.parent_floor_id == moved[-1]


async def test_a_fork_whose_source_went_on_is_not_merged(memory: Memory) -> None:
    main = await memory.join()
    head = await memory.turn(main)
    fork = await memory.write(branch_from_floor, head.floor_id, None, memory.now)
    await memory.turn(await memory.join(branch=fork.branch_id))
    await memory.turn(main)
    assert fork.branch_id.startswith("branch-") and len(fork.branch_id) == 15
    assert (
        await refusal(memory.write(merge_branch, main.session_id, fork.branch_id, "main", None, memory.now))
        == "branch_merge_conflict"
    )


async def test_who_waited_for_a_place_that_changed_meanwhile_holds_it(memory: Memory) -> None:
    opened = await memory.open(await memory.join())
    first, second = threading.Event(), threading.Event()

    def until_somebody_waits(db: Connection) -> None:
        while db.dialect.name == "postgresql" and not db.execute(text(_SOMEBODY_WAITS_FOR_US)).scalar_one():
            time.sleep(0.01)  # SQLite's other writer does not come so far

    def commit(db: Connection) -> None:
        hold_places_of(db, [opened.floor_id])
        first.set()
        until_somebody_waits(db)
        commit_floor(db, ME, opened.floor_id, Content("The branch and the session change."), 3, 5, memory.now)

    def hold(db: Connection) -> None:
        hold_places_of(db, [opened.floor_id])
        second.set()
        until_somebody_waits(db)

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        group.create_task(memory.store.write(commit))
        await asyncio.to_thread(first.wait)
        group.create_task(memory.store.write(hold))
        await asyncio.to_thread(second.wait)
        group.create_task(memory.store.write(lambda db: hold_places_of(db, [opened.floor_id])))


async def test_places_are_held_in_one_way_to_the_server(memory: Memory) -> None:
    opened = [await memory.open(await memory.join(branch=name)) for name in ("a", "b")]
    ran: list[str] = []

    def hold(db: Connection) -> None:
        before = sys.gettrace()
        sys.settrace(lambda frame, *_: ran.append("once") if frame.f_code is prepared._run.__code__ else None)
        try:
            hold_places_of(db, [floor.floor_id for floor in opened])
        finally:
            sys.settrace(before)

    await memory.store.write(hold)
    assert ran == ["once"]
