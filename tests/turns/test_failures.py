"""A turn that fails leaves a failed floor and no variable, and the next one works, whatever went wrong and when."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar

import asyncpg
import pytest

from agentui.errors import Busy
from agentui.principal import DEFAULT_ACCOUNT
from agentui.store import postgres
from agentui.store.reserve import is_freeing
from agentui.store.sqlite import SqliteStore
from agentui.turns.ending import FailedTurn, commit_turn
from agentui.turns.locks import BranchQueue
from agentui.turns.recovery import FailedTurns
from agentui.turns.request import TurnPlace
from agentui.turns.transactions import OpenedFloor
from tests.api.callers import DIALECTS, error_of, is_whole, text_of
from tests.faults.callers import Asked, Heard, ask, asking, check_failed, send
from tests.faults.conftest import until
from tests.postgres import stopped
from tests.turns.conftest import StartHouse
from tests.turns.house import House, Json, chain, forward, sets, target, text
from tests.turns.locks import asked_to_write, fill_disk, locked, make_room
from tests.turns.talk import begin_talk
from tests.upstreams.step import Step

pytestmark = pytest.mark.timeout(300)
"""Seconds after which something hangs, on a machine that may be busy."""

FOUND = sets(
    ("page", "p", "expr", "1"),
    ("floor", "f", "expr", "1"),
    ("branch", "gold", "json", "{{ gold|default(0)|add(1) }}"),
    ("chat", "c", "expr", "1"),
    ("global", "g", "expr", "1"),
)
ONCE = {"gold": 1, "c": 1, "g": 1}


@pytest.fixture
async def adventure(start_house: StartHouse) -> House:
    """Pipelines that write to every tier before they call: ``find``, ``find-raw`` and ``find-claude``."""
    return await furnish(await start_house(run_timeout=20))


async def furnish(house: House) -> House:
    origin = house.mock.origin
    house.server.put("find", chain(FOUND, target("caller", origin)))
    house.server.put("find-raw", chain(FOUND, forward(origin)))
    house.server.put("find-claude", chain(FOUND, target("claude", origin)))
    return house


async def check_nothing_stayed(house: House, status: str, *codes: str) -> None:
    """Every turn so far has failed and written nothing; the next one works, and numbers go on."""
    sessions = await house.memory.get("/sessions")
    assert len(sessions) == 1
    session = sessions[0]["id"]
    floors = await house.memory.floors(session)
    assert [floor["floor_no"] for floor in floors] == list(range(len(floors)))
    assert {floor["state"] for floor in floors} == {"failed"}
    for floor in floors:
        run = (await house.memory.run(floor["id"]))["run"]
        assert run["status"] == status
        assert not codes or run["error"]["code"] in codes
        assert [kind for kind, _, _ in await house.memory.said(floor["id"])] == ["input"]
        assert await house.memory.seen(session, floor_id=floor["id"]) == {}
    assert await house.memory.seen(session) == {}
    house.mock.forget_steps()
    got = await house.turn(pipeline="find", session="s")
    floor = await house.memory.get(f"/floors/{got.headers['x-agentui-floor']}")
    assert (floor["floor_no"], floor["state"], floor["parent_floor_id"]) == (len(floors), "committed", None)
    assert await house.memory.seen(session) == ONCE


def asked(pipeline: str, dialect: str, model: str, *, stream: bool) -> Asked:
    """A question of the session ``s`` by a pipeline."""
    plain = ask(dialect, model, stream=stream)
    return Asked(f"/p/{pipeline}{plain.path}", {**plain.headers, "x-agentui-session": "s"}, plain.body)


async def listen(house: House, question: Asked) -> Heard:
    """Ask, and hear the answer as far as it comes."""
    return await send(house.memory.http, house.server.origin, question)


WAYS = ("find", "find-claude", "find-raw")


async def test_an_upstream_that_refuses(adventure: House) -> None:
    for pipeline, model in [
        (pipeline, model) for pipeline in WAYS for model in ("error-400", "error-404", "invalid-json", "html")
    ]:
        if pipeline == "find-raw" and model in ("invalid-json", "html"):
            continue  # bytes that are forwarded are not judged
        for dialect, stream in (("openai", False), ("claude", True)):
            got = await adventure.ask(dialect=dialect, pipeline=pipeline, model=model, stream=stream, session="s")
            assert got.status >= 400, (pipeline, model)
            assert error_of(dialect, got.json)
            assert got.headers["x-agentui-floor"]
    await check_nothing_stayed(adventure, "failed")


async def test_an_upstream_that_answers_500(adventure: House) -> None:
    for pipeline in WAYS:
        assert (await adventure.ask(pipeline=pipeline, model="error-500", session="s")).status == 500
    await check_nothing_stayed(adventure, "failed", "upstream_refused")


async def test_a_stream_that_breaks_off(adventure: House) -> None:
    for pipeline, model in [(way, model) for way in WAYS for model in ("truncated-early", "truncated-reset", "fail-mid")]:
        for dialect in DIALECTS:
            heard = await listen(adventure, asked(pipeline, dialect, model, stream=True))
            if (pipeline, model) != ("find-raw", "fail-mid"):  # there the upstream's own words have said it
                check_failed(dialect, heard, {502, 503}, stream=True, raw=pipeline == "find-raw")
    await check_nothing_stayed(adventure, "failed")


async def test_a_node_that_fails(adventure: House) -> None:
    adventure.server.put("broken", chain(FOUND, sets(("run", "x", "expr", "1 // 0"), id="odd"), sets(text("never"), id="say")))
    for dialect in DIALECTS:
        got = await adventure.ask(dialect=dialect, pipeline="broken", session="s")
        assert got.status == 422
        assert "'odd'" in error_of(dialect, got.json)
    await check_nothing_stayed(adventure, "failed", "node_failed")


async def test_a_value_that_cannot_be_kept(adventure: House) -> None:
    said = "{{ chat.last_user }}"
    adventure.server.put("large", chain(FOUND, sets(("chat", "v", "json", f'["{said}{said}"]'), id="odd")))
    adventure.server.put("blocked", chain(FOUND, sets(("chat", "c.deep", "expr", "1"), id="odd")))
    adventure.server.put("no-key", chain(FOUND, sets(("chat", "a\0b", "expr", "1"), id="odd")))
    for pipeline in ("large", "blocked", "no-key"):
        got = await adventure.ask("x" * 600_000, pipeline=pipeline, session="s")
        assert got.status == 422, pipeline
        assert "'odd'" in error_of("openai", got.json), pipeline
    await check_nothing_stayed(adventure, "failed", "variable_not_writable")


async def test_a_deadline_that_passes(start_house: StartHouse, engine: str) -> None:
    house = await furnish(await start_house(run_timeout=3))
    for stream in (False, True) if engine == "sqlite" else (True,):
        got = await house.ask(pipeline="find", model="hang", stream=stream, session="s")
        assert got.status == 504
        house.mock.requests.clear()
    await check_nothing_stayed(house, "failed", "upstream_timeout")


@pytest.mark.parametrize("pipeline", WAYS)
async def test_a_caller_who_leaves(adventure: House, pipeline: str) -> None:
    moments = [(model, stream) for model in ("hang", "hang-mid", "forever") for stream in (False, True)]
    for number, (model, stream) in enumerate(moments, 1):
        question = asked(pipeline, "openai", model, stream=stream)
        async with asyncio.timeout(100), asking(adventure.server.origin, question) as (reader, _):
            await adventure.mock.was_asked(number)
            if model != "hang" and stream:
                await reader.readuntil(b"data: ")
        await until(lambda: adventure.server.state.in_flight == 0)
    await check_nothing_stayed(adventure, "cancelled", "cancelled")


async def test_a_caller_who_leaves_while_the_turn_is_opened(adventure: House, monkeypatch: pytest.MonkeyPatch) -> None:
    question = asked("find", "openai", "text", stream=False)
    await adventure.memory.call("POST", "/sessions", {"title": "opens the memory"})
    opened = (await adventure.memory.get("/sessions"))[0]["id"]
    is_opening = asked_to_write(adventure, "open_turn", monkeypatch)
    async with asyncio.timeout(100), locked(adventure):
        async with asking(adventure.server.origin, question):
            await is_opening.wait()
        await until(lambda: adventure.server.state.in_flight == 0)
    await adventure.memory.call("DELETE", f"/sessions/{opened}")
    await adventure.memory.becomes("/floors?limit=200", lambda floors: {floor["state"] for floor in floors} == {"failed"})
    assert adventure.mock.requests == []
    await check_nothing_stayed(adventure, "cancelled", "cancelled")


async def test_a_caller_who_leaves_while_the_turn_is_committed_has_had_it(
    adventure: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_committing = asked_to_write(adventure, "commit_turn", monkeypatch)
    adventure.mock.script(Step(hold="headers"))
    question = asked("find", "openai", "text", stream=False)
    async with asyncio.timeout(100), asking(adventure.server.origin, question):
        await adventure.mock.was_asked()
        async with locked(adventure):
            adventure.mock.release()
            await is_committing.wait()
    await until(lambda: adventure.server.state.in_flight == 0)
    session = (await adventure.memory.get("/sessions"))[0]["id"]
    assert await adventure.memory.states(session) == ["committed"]
    assert await adventure.memory.seen(session) == ONCE


@pytest.mark.parametrize(("dialect", "stream"), [("openai", False), *((dialect, True) for dialect in DIALECTS)])
async def test_of_two_who_change_what_both_have_read_one_is_told(adventure: House, dialect: str, stream: bool) -> None:
    count = sets(("chat", "gold", "json", "{{ gold|default(0)|add(1) }}"), ("branch", "mine", "expr", "1"))
    adventure.server.put("count", chain(count, target("caller", adventure.mock.origin)))
    adventure.mock.script([Step(text="Some words.", hold=2 if stream else "headers")] * 2)
    plain = asked("count", dialect, "text", stream=stream)
    there = {name: Asked(plain.path, {**plain.headers, "x-agentui-branch": name}, plain.body) for name in ("main", "other")}
    async with asyncio.timeout(100), asyncio.TaskGroup() as group:
        turns = {name: group.create_task(listen(adventure, question)) for name, question in there.items()}
        await adventure.mock.was_asked(2)
        adventure.mock.release()
    heard = {name: turn.result() for name, turn in turns.items()}
    loser = next(name for name, answer in heard.items() if b"Send the request again" in answer.body)
    winner = "main" if loser == "other" else "other"
    check_failed(dialect, heard[loser], {409}, stream=stream)
    assert heard[winner].status == 200
    session = heard[winner].headers["x-agentui-session"]
    assert await adventure.memory.states_of(session, winner) == ["committed"]
    assert await adventure.memory.states_of(session, loser) == ["failed"]
    assert await adventure.memory.seen(session, winner) == {"gold": 1, "mine": 1}
    assert await adventure.memory.seen(session, loser) == {"gold": 1}
    assert (await listen(adventure, there[loser])).status == 200
    assert await adventure.memory.seen(session, loser) == {"gold": 2, "mine": 1}


async def test_a_lock_that_is_soon_gone_is_waited_for(adventure: House) -> None:
    adventure.mock.script(Step(hold="headers"))
    async with asyncio.timeout(100), asyncio.TaskGroup() as group:
        turn = group.create_task(adventure.turn(pipeline="find", session="s"))
        await adventure.mock.was_asked()
        async with locked(adventure):
            adventure.mock.release()
            await adventure.mock.is_idle()
            await asyncio.sleep(0.5)
            assert not turn.done()
    assert await adventure.memory.seen(turn.result().headers["x-agentui-session"]) == ONCE


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stores that wait a second for another's lock, and for a connection as long as ever."""
    connect = asyncpg.connect

    async def hasty_connect(*args: Any, **options: Any) -> Any:
        if "server_settings" in options:  # the store's own
            options["server_settings"] = {**options["server_settings"], "lock_timeout": "1000"}
        return await connect(*args, **options)

    monkeypatch.setattr(postgres.asyncpg, "connect", hasty_connect)
    monkeypatch.setitem(SqliteStore.__init__.__kwdefaults__, "busy_timeout", 1.0)


async def test_an_answer_is_kept_when_the_database_is_back(
    start_house: StartHouse, engine: str, request: pytest.FixtureRequest, hasty: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = await furnish(await start_house(run_timeout=20))
    house.mock.script([Step(hold="headers")] * 2)
    talk = await begin_talk(house)
    away = locked(house) if engine == "sqlite" else _away(request.getfixturevalue("postgres"))
    async with asyncio.timeout(150), asyncio.TaskGroup() as group:
        turn = group.create_task(house.turn(pipeline="find", session="s"))
        live = group.create_task(talk.respond("Hi"))
        await house.mock.was_asked(2)
        async with away:
            tried_again = asked_to_write(house, "commit_turn", monkeypatch, times=4)
            house.mock.release()
            # Two turns, whose commits were refused twice by the time that a fourth is asked for.
            await tried_again.wait()
    assert "x-agentui-not-saved" not in turn.result().headers
    assert await house.memory.seen(turn.result().headers["x-agentui-session"]) == ONCE
    assert live.result()["final_state"] == "committed"
    assert [role for role, _ in await talk.timeline()] == ["user", "assistant"]


@asynccontextmanager
async def _away(server: Any) -> AsyncIterator[None]:
    """PostgreSQL is stopped meanwhile."""
    going = stopped(server)
    await asyncio.to_thread(going.__enter__)
    try:
        yield
    finally:
        await asyncio.to_thread(going.__exit__, None, None, None)


async def test_a_commit_whose_end_nobody_heard_counts(adventure: House, monkeypatch: pytest.MonkeyPatch) -> None:
    store = adventure.server.state.store
    write = store.write

    async def cut(transaction: Any, *args: Any, **more: Any) -> Any:
        """The connection is lost when the first commit of a turn is done, before anybody is told."""
        done = await write(transaction, *args, **more)
        if transaction is commit_turn and not lost:
            lost.append(transaction)
            raise Busy("the connection was lost", retry_after=1)
        return done

    lost: list[object] = []
    monkeypatch.setattr(store, "write", cut)
    got = await adventure.turn(pipeline="find", session="s")
    assert lost and "x-agentui-not-saved" not in got.headers
    session = got.headers["x-agentui-session"]
    assert await adventure.memory.states(session) == ["committed"]
    assert await adventure.memory.seen(session) == ONCE


async def test_a_lock_that_stays_costs_no_words(hasty: None, start_house: StartHouse) -> None:
    adventure = await furnish(await start_house(run_timeout=20, commit_timeout=0))
    adventure.mock.script([Step(hold="headers")] * 2)
    talk = await begin_talk(adventure)
    async with asyncio.timeout(200):
        async with asyncio.TaskGroup() as group:
            turn = group.create_task(adventure.turn(pipeline="find", session="s"))
            live = group.create_task(talk.post(f"/p/find/sessions/{talk.session}/respond", {"message": "Hi"}))
            await adventure.mock.was_asked(2)
            async with locked(adventure):
                adventure.mock.release()
                got = await turn
                status, told = await live
        said, details = text_of("openai", got.json), told["error"]["details"]
        assert (status, told["error"]["code"]) == (503, "commit_busy")
        assert (details["generated_text"], details["is_partial"]) == (said, True)
        # The words stand in the chat as soon as that is possible, and the chat goes on from them.
        await adventure.memory.becomes(f"/floors?session_id={talk.session}", lambda found: found[0]["state"] == "committed")
        assert await talk.timeline() == [("user", "Hi"), ("assistant", said)]
        assert await adventure.memory.seen(talk.session) == {}
        await adventure.memory.call("DELETE", f"/sessions/{talk.session}")
        # A client that has an answer does not ask, and pay, again.
        assert (got.status, got.headers["x-agentui-not-saved"]) == (200, "busy")
        floor = got.headers["x-agentui-floor"]
        await adventure.memory.becomes(f"/floors/{floor}", lambda floor: floor["state"] == "failed")
    await check_nothing_stayed(adventure, "failed", "busy")


@pytest.mark.parametrize(("dialect", "stream"), [("openai", False), ("claude", True), ("gemini", False)])
async def test_on_a_full_disk_the_answer_still_goes_out(adventure: House, dialect: str, stream: bool) -> None:
    adventure.mock.script(Step(text="A word. " * 5000, hold="headers"))
    async with asyncio.timeout(100), asyncio.TaskGroup() as group:
        turn = group.create_task(adventure.turn(dialect=dialect, pipeline="find", stream=stream, session="s"))
        await adventure.mock.was_asked()
        await fill_disk(adventure)
        adventure.mock.release()
        got = await turn
    assert is_whole(dialect, got.events) if stream else text_of(dialect, got.json).startswith("A word.")
    # A stream's headers are out long before anybody knows.
    assert got.headers.get("x-agentui-not-saved") == (None if stream else "store_full")
    await make_room(adventure)
    await check_nothing_stayed(adventure, "failed", "store_full")


def test_every_tier_is_written_by_these_pipelines() -> None:
    rows: list[Json] = FOUND["config"]["variables"]
    assert {row["tier"] for row in rows} == {"page", "floor", "branch", "chat", "global"}


class _Watched(SqliteStore):
    """A store that tells which of its writes might have used the reserve of a full disk."""

    freeing: ClassVar[list[bool]] = []

    def _start_write(self, run: Any) -> Any:
        self.freeing.append(is_freeing())
        return super()._start_write(run)


async def test_a_failure_that_is_recorded_later_may_use_the_reserve_as_at_once(tmp_path: Path) -> None:
    store = _Watched(tmp_path / "agentui.db")
    await store.start()
    failed = FailedTurns(store, BranchQueue())
    floor = OpenedFloor("f", 0, "asked", "answered", None)
    turn = FailedTurn(
        TurnPlace(DEFAULT_ACCOUNT, "s", "main", "r", "respond", floor),
        {"code": "store_full", "message": ""},
        is_cancelled=False,
    )
    for at_once in (True, False):
        store.freeing.clear()
        await failed.record(turn, at_once=at_once)
        await until(lambda: not failed.unrecorded)
        assert store.freeing == [True]
    await failed.close()
    await store.close()
