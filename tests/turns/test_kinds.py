"""Turns that go back: regenerate, retry, edit, and what each does to floors, versions and variables; on both engines."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from agentui.chats.branches.merging import merge_branch
from agentui.chats.floors import floor_result
from agentui.chats.pages import remove_page
from agentui.chats.parts import Content
from agentui.errors import ApiError
from agentui.jobs.runner import JobRunner
from agentui.principal import DEFAULT_ACCOUNT
from agentui.store.base import Store
from agentui.store.postgres import PostgresStore
from agentui.store.sqlite import SqliteStore
from agentui.turns.request import Outcome, TurnKind, TurnRequest
from agentui.turns.service import TurnService
from tests.chats.conftest import code_of
from tests.faults.conftest import until
from tests.postgres import PATIENCE
from tests.turns.chat import ACCOUNT, Chat, all_at, count


@pytest.fixture
async def chat(engine: str, request: pytest.FixtureRequest, tmp_path: object) -> AsyncIterator[Chat]:
    """An empty chat."""
    store: Store
    if engine == "sqlite":
        store = SqliteStore(tmp_path / "agentui.db")  # type: ignore[operator]  # a Path
    else:
        store = PostgresStore(request.getfixturevalue("database"), pool_size=4, patience=PATIENCE)
    turns = TurnService(store, JobRunner(store, "test"), "test", queue_seconds=0, is_alone=engine == "sqlite")
    yield Chat(turns, store)
    await turns.close()
    await store.close()


async def refused(work: object) -> str:
    """The code with which something is refused."""
    with pytest.raises(ApiError) as caught:
        await work  # type: ignore[misc]  # an awaitable
    return code_of(caught.value)


async def test_a_counter_that_a_turn_raises_and_that_is_swiped_five_times_was_raised_once(chat: Chat) -> None:
    await chat.play()
    turn = await chat.play()
    for number in range(5):
        again = await chat.play("retry_turn", target_floor_id=turn.place.floor_id, answer=f"Version {number}.")
        assert (again.place.floor_id, again.place.kind) == (turn.place.floor_id, "retry_turn")
        assert await chat.counters() == all_at(2)
    versions = await chat.versions(turn.place.floor_id)
    assert [(number, active, text) for _, number, active, _, text in versions] == [
        (1, False, "Hello."),
        *((number + 2, number == 4, f"Version {number}.") for number in range(5)),
    ]
    assert await chat.floors() == [(0, "committed"), (1, "committed")]
    await chat.play()
    assert await chat.counters() == all_at(3)


async def test_a_version_that_is_activated_brings_its_variables_back(chat: Chat) -> None:
    turn = await chat.play()
    again = await chat.begin("retry_turn", target_floor_id=turn.place.floor_id)
    again.staged().stage("branch", "n", 7)
    again.staged().stage("branch", "only here", True)
    await again.commit(Outcome(Content("Seven.")))
    assert await chat.counters() == {"branch": 7}
    first, second = [id for id, *_ in await chat.versions(turn.place.floor_id)]
    await chat.activate(first)
    assert await chat.counters() == all_at(1)
    await chat.activate(second)
    assert await chat.counters() == {"branch": 7}
    await chat.activate(second)
    await chat.activate(first)
    await chat.play()
    assert await chat.counters() == all_at(2)


async def test_what_somebody_changed_since_is_seen_and_kept(chat: Chat) -> None:
    turn = await chat.play()
    await chat.set("chat", "50")
    await chat.play("retry_turn", target_floor_id=turn.place.floor_id)
    assert await chat.counters() == {"branch": 1, "chat": 51, "global": 1}
    await chat.play("retry_turn", target_floor_id=turn.place.floor_id)
    assert await chat.counters() == {"branch": 1, "chat": 51, "global": 1}


async def test_a_regenerated_floor_takes_the_place_of_the_old_one_when_it_is_committed_and_not_before(chat: Chat) -> None:
    first = await chat.play(text="One")
    old = await chat.play(text="Two")
    turn = await chat.begin("regenerate_page")
    assert turn.place.previous_floor_id == old.place.floor_id
    assert (turn.place.floor.floor_no, turn.place.floor.parent_floor_id) == (1, first.place.floor_id)
    assert await chat.floors() == [(0, "committed"), (1, "committed")]
    assert [(await chat.versions(old.place.floor_id))[0][4]] == ["Hello."]
    count(turn)
    await turn.commit(Outcome(Content("Better.")))
    assert await chat.counters() == all_at(2)
    assert await chat.floors() == [(0, "committed"), (1, "committed")]
    assert (await chat.question(turn.place.floor_id))[1] == "Two"
    assert (await chat.begin("regenerate_page")).place.previous_floor_id == turn.place.floor_id


@pytest.mark.parametrize("kind", ["regenerate_page", "retry_turn"])
async def test_one_that_fails_leaves_everything_as_it_was(chat: Chat, kind: TurnKind) -> None:
    old = await chat.play()
    for partial in (None, Content("Half a")):
        target = {"target_floor_id": old.place.floor_id} if kind == "retry_turn" else {}
        turn = await chat.begin(kind, **target)
        count(turn)
        await turn.fail({"code": "upstream_error", "message": "No."}, partial=partial)
    assert await chat.counters() == all_at(1)
    assert await chat.floors() == [(0, "committed")]
    versions = await chat.versions(old.place.floor_id)
    assert [(active, partial, text) for _, _, active, partial, text in versions] == [
        (True, False, "Hello."),
        (False, True, "Half a"),
    ]
    await chat.play()
    assert await chat.counters() == all_at(2)


async def test_a_new_turn_that_is_stopped_keeps_its_words_and_no_variable(chat: Chat) -> None:
    await chat.play()
    stopped = await chat.begin(text="Tell me")
    count(stopped)
    await stopped.fail({"code": "cancelled", "message": "Stopped."}, cancelled=True, partial=Content("Once upon"))
    assert await chat.counters() == all_at(1)
    assert await chat.floors() == [(0, "committed"), (1, "committed")]
    go_on = await chat.begin("retry_turn", target_floor_id=stopped.place.floor_id)
    assert (go_on.past.is_partial, [entry.text for entry in go_on.past.answer]) == (True, ["Once upon"])
    count(go_on)
    await go_on.commit(Outcome(Content("Once upon a time.")))
    assert await chat.counters() == all_at(2)
    assert [row[2:] for row in await chat.versions(stopped.place.floor_id)] == [
        (False, True, "Once upon"),
        (True, False, "Once upon a time."),
    ]


async def test_an_edit_goes_on_elsewhere_from_before_the_floor_with_its_number(chat: Chat) -> None:
    first = await chat.play(text="One")
    await chat.set("branch", "10")
    old = await chat.play(text="Two")
    await chat.play(text="Three")
    message_id, _ = await chat.question(old.place.floor_id)
    turn = await chat.begin("edit_and_regenerate", "Two, but better", source_message_id=message_id, branch="alt")
    assert (turn.place.branch_id, turn.place.source_floor_id) == ("alt", old.place.floor_id)
    assert (turn.place.floor.floor_no, turn.place.floor.parent_floor_id) == (1, first.place.floor_id)
    assert [entry.text for entry in (*turn.past.entries, *turn.past.question)] == ["One", "Hello.", "Two, but better"]
    count(turn)
    await turn.commit(Outcome(Content("Good.")))
    assert await chat.counters("alt") == {"branch": 11, "chat": 4, "global": 4}
    assert (await chat.counters())["branch"] == 12
    edit = chat.begin("edit_and_regenerate", "Again", source_message_id=message_id, branch="alt")
    assert await refused(edit) == "branch_exists"


async def test_the_first_message_can_be_edited(chat: Chat) -> None:
    turn = await chat.play(text="One")
    message_id, _ = await chat.question(turn.place.floor_id)
    edited = await chat.play("edit_and_regenerate", "Uno", source_message_id=message_id)
    assert (edited.place.floor.floor_no, edited.place.floor.parent_floor_id) == (0, None)
    assert edited.place.branch_id.startswith("branch-")
    assert (await chat.counters(edited.place.branch_id))["branch"] == 1


async def test_history_leads_through_the_branches_that_a_branch_comes_from(chat: Chat) -> None:
    floors = [await chat.play(text=f"Q{number}", answer=f"A{number}") for number in range(4)]
    fork = await chat.play(text="F0", answer="G0", branch="alt", source_floor_id=floors[1].place.floor_id)
    await chat.play("regenerate_page", answer="A3 again")
    await chat.play("regenerate_page", branch="alt", answer="G0 again")
    turn = await chat.begin(text="F1", branch="alt", source_floor_id=floors[3].place.floor_id)
    assert [entry.text for entry in turn.past.entries] == ["Q0", "A0", "Q1", "A1", "F0", "G0 again"]
    assert [entry.floor_no for entry in turn.past.entries] == [0, 0, 1, 1, 2, 2]
    assert fork.place.floor.floor_no == 2
    retry = await chat.begin("retry_turn", target_floor_id=floors[2].place.floor_id)
    assert [entry.text for entry in retry.past.entries] == ["Q0", "A0", "Q1", "A1"]
    assert [entry.text for entry in (*retry.past.question, *retry.past.answer)] == ["Q2", "A2"]


async def test_an_older_floor_is_made_anew_from_its_own_past_and_later_ones_stay(chat: Chat) -> None:
    first = await chat.play()
    await chat.play()
    await chat.play()
    turn = await chat.begin("retry_turn", target_floor_id=first.place.floor_id)
    assert [turn.staged().view()[1][scope].get("n") for scope in ("branch", "chat", "global")] == [None, None, None]
    count(turn)
    turn.staged().stage("branch", "mood", "glad")
    await turn.commit(Outcome(Content("Anew.")))
    assert await chat.counters() == all_at(3)
    fork = await chat.play(branch="alt", source_floor_id=first.place.floor_id)
    assert fork.staged().view()[1]["branch"]["mood"] == "glad"
    assert (await chat.counters("alt"))["branch"] == 2


async def test_what_cannot_be_made_anew_is_refused(chat: Chat) -> None:
    assert await refused(chat.begin("regenerate_page")) == "session_not_found"
    assert await refused(chat.begin(must_exist=True)) == "session_not_found"
    turn = await chat.play()
    failed = await chat.begin(text="Hm")
    await failed.fail({"code": "x", "message": "x"})
    assert await refused(chat.begin("regenerate_page", branch="nowhere")) == "branch_not_found"
    assert await refused(chat.begin("retry_turn", target_floor_id="nobody")) == "floor_not_found"
    assert await refused(chat.begin("retry_turn", target_floor_id=failed.place.floor_id)) == "invalid_state"
    assert await refused(chat.begin("edit_and_regenerate", "x", source_message_id="nobody")) == "message_not_found"
    assert await refused(chat.begin(branch="new", source_floor_id="nobody")) == "source_floor_not_found"
    running = await chat.begin(text="Wait")
    assert await refused(chat.begin("retry_turn", target_floor_id=turn.place.floor_id)) == "generation_conflict"
    await running.commit(Outcome(Content("Done.")))
    silent = await chat.begin()
    await silent.commit(Outcome(Content("Once upon a time.")))
    again = await chat.begin("regenerate_page")
    assert again.place.previous_floor_id == silent.place.floor_id  # it answers without words


async def test_going_back_to_a_floor_restores_what_it_left(chat: Chat) -> None:
    turns = [await chat.play() for _ in range(4)]
    await chat.set("branch", "80")
    await chat.play()
    await chat.reset(turns[1].place.floor_id)
    assert await chat.counters() == all_at(2)
    await chat.play()
    assert await chat.counters() == all_at(3)
    assert await chat.floors() == [(0, "committed"), (1, "committed"), (2, "committed")]


async def test_a_newest_floor_that_is_removed_takes_its_changes_along(chat: Chat) -> None:
    turns = [await chat.play() for _ in range(3)]
    await chat.remove(turns[2].place.floor_id)
    assert await chat.counters() == all_at(2)
    await chat.remove(turns[0].place.floor_id)
    assert await chat.counters() == all_at(2)
    await chat.play()
    assert await chat.counters() == all_at(3)


async def test_a_merged_branch_brings_its_variables_and_can_be_swiped_there(chat: Chat) -> None:
    await chat.play()
    fork = await chat.play(branch="alt")
    await chat.store.write(merge_branch, ACCOUNT, chat.session_id, "alt", "main", None, 9)
    assert await chat.counters() == all_at(2)
    await chat.play("retry_turn", target_floor_id=fork.place.floor_id)
    assert await chat.counters() == all_at(2)


async def test_words_that_were_stopped_can_be_dropped_where_another_version_is_left(chat: Chat) -> None:
    stopped = await chat.begin(text="Tell me")
    await stopped.fail({"code": "cancelled", "message": "Stopped."}, cancelled=True, partial=Content("Once"))
    (partial,) = [id for id, *_ in await chat.versions(stopped.place.floor_id)]
    drop = chat.store.write(remove_page, ACCOUNT, partial, 9)
    assert await refused(drop) == "content_target_locked"
    await chat.play("retry_turn", target_floor_id=stopped.place.floor_id, answer="Whole.")
    await chat.activate(partial)
    assert await chat.counters() == {}
    await chat.store.write(remove_page, ACCOUNT, partial, 9)
    assert [row[2:] for row in await chat.versions(stopped.place.floor_id)] == [(True, False, "Whole.")]
    assert await chat.counters() == all_at(1)


async def test_what_stands_beside_an_answer_belongs_to_its_version(chat: Chat) -> None:
    turn = await chat.begin(text="Hi")
    judged = {"status": "pass", "issues": []}
    await turn.commit(Outcome(Content("One."), 3, 5, summaries=("They met.",), verifier=judged, explain='{"sections": []}'))
    again = await chat.begin("retry_turn", target_floor_id=turn.place.floor_id)
    await again.commit(Outcome(Content("Two."), 4, 6, summaries=("They parted.",)))
    result = await chat.store.read(floor_result, ACCOUNT, turn.place.floor_id)
    assert (result.summaries, result.verifier, result.usage["total_tokens"]) == (["They parted."], None, 10)
    await chat.activate((await chat.versions(turn.place.floor_id))[0][0])
    result = await chat.store.read(floor_result, ACCOUNT, turn.place.floor_id)
    assert (result.summaries, result.verifier, result.usage["total_tokens"]) == (["They met."], judged, 8)


async def test_what_waited_for_its_branch_and_has_changed_meanwhile_is_stale(chat: Chat) -> None:
    patient = TurnService(chat.store, JobRunner(chat.store, "b"), "test", queue_seconds=20, is_alone=True)
    await chat.play()
    running = await chat.begin(text="Two")
    again = asyncio.ensure_future(patient.begin(TurnRequest(DEFAULT_ACCOUNT, "other", chat.session_id, kind="regenerate_page")))
    await until(lambda: patient.queue._waiting, 30)  # it knows what it goes back to, and is in the queue
    await running.commit(Outcome(Content("Two.")))
    assert await refused(again) == "generation_target_stale"
    await patient.close()


@pytest.mark.parametrize("kind", ["regenerate_page", "retry_turn"])
async def test_a_turn_whose_process_is_gone_leaves_the_old_answer(chat: Chat, kind: TurnKind) -> None:
    old = await chat.play()
    target = {"target_floor_id": old.place.floor_id} if kind == "retry_turn" else {}
    lost = await chat.begin(kind, **target)
    count(lost)
    other = TurnService(chat.store, JobRunner(chat.store, "b"), "other", queue_seconds=0, is_alone=True)
    await other.recovery.release("test")
    with pytest.raises(ApiError) as late:
        await lost.commit(Outcome(Content("Too late.")))
    assert late.value.code == "commit_conflict"
    await lost.fail({"code": "commit_conflict", "message": "Gone."}, partial=Content("Too"))
    assert await chat.counters() == all_at(1)
    assert [row[2:] for row in await chat.versions(old.place.floor_id)] == [(True, False, "Hello.")]
    await chat.play("retry_turn", target_floor_id=old.place.floor_id)
    assert await chat.counters() == all_at(1)
    await other.close()


async def test_a_version_that_another_process_began_since_is_not_committed_by_the_first(chat: Chat) -> None:
    old = await chat.play()
    lost = await chat.begin("retry_turn", target_floor_id=old.place.floor_id)
    other = TurnService(chat.store, JobRunner(chat.store, "b"), "other", queue_seconds=0, is_alone=True)
    await other.recovery.release("test")
    fresh = await other.begin(TurnRequest(DEFAULT_ACCOUNT, "fresh", kind="retry_turn", target_floor_id=old.place.floor_id))
    with pytest.raises(ApiError):
        await lost.commit(Outcome(Content("Too late.")))
    await lost.fail({"code": "commit_conflict", "message": "Gone."})
    await fresh.commit(Outcome(Content("Fresh.")))
    assert [row[2:] for row in await chat.versions(old.place.floor_id)] == [(False, False, "Hello."), (True, False, "Fresh.")]
    await other.close()
