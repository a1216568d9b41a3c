"""Many turns at once: one at a time on a branch, side by side on others, and no addition is lost."""

import asyncio

import pytest

from tests.api.callers import DIALECTS, error_of, text_of
from tests.faults.callers import Asked, ask, asking
from tests.faults.conftest import until
from tests.turns.conftest import StartHouse
from tests.turns.house import House, chain, sets, text
from tests.upstreams.step import Step

pytestmark = pytest.mark.timeout(300)
"""Seconds after which something hangs, on a machine that may be busy."""

COUNT = chain(sets(("branch", "gold", "json", "{{ gold|default(0)|add(1) }}")), sets(text("{{ gold }}"), id="say"))
SHARE = chain(sets(("chat", "gold", "json", "{{ vars.chat.gold|default(0)|add(1) }}")), sets(text("{{ gold }}"), id="say"))


@pytest.mark.parametrize("stream", [False, True])
async def test_a_branch_that_generates_refuses_another_turn(house: House, stream: bool) -> None:
    house.mock.script(Step(hold="headers"))
    async with asyncio.timeout(100), asyncio.TaskGroup() as group:
        first = group.create_task(house.turn("One", session="s", stream=stream))
        await house.mock.was_asked()
        for dialect in DIALECTS:
            got = await house.ask("Two", dialect=dialect, stream=stream, session="s")
            assert got.status == 409
            assert "being generated" in error_of(dialect, got.json)
            assert "x-agentui-floor" not in got.headers
        assert len(house.mock.requests) == 1
        house.mock.release()
    session = first.result().headers["x-agentui-session"]
    assert await house.memory.states(session) == ["committed"]
    await house.turn("Two", session="s")
    assert await house.memory.states(session) == ["committed"] * 2


async def test_other_branches_and_sessions_generate_meanwhile(house: House) -> None:
    await house.turn(session="s")
    places = [{"session": "s"}, *({"session": "s", "branch": f"b{n}"} for n in range(4)), {"session": "t"}]
    house.mock.script([Step(hold="headers")] * len(places))
    async with asyncio.timeout(100), asyncio.TaskGroup() as group:
        turns = [group.create_task(house.turn(**place)) for place in places]
        await house.mock.was_asked(1 + len(places))
        assert house.mock.open_answers == len(places)
        house.mock.release()
    floors = {turn.result().headers["x-agentui-floor"] for turn in turns}
    assert {(await house.memory.get(f"/floors/{floor}"))["state"] for floor in floors} == {"committed"}
    assert len(floors) == len(places)


async def test_turns_wait_in_line_and_none_is_lost(start_house: StartHouse) -> None:
    house = await start_house({"count": COUNT}, generation_queue=50)
    turns = await asyncio.gather(*(house.turn(f"{n}", pipeline="count", session="s") for n in range(40)))
    assert sorted(int(text_of("openai", got.json)) for got in turns) == list(range(1, 41))
    session = turns[0].headers["x-agentui-session"]
    assert await house.memory.states(session) == ["committed"] * 40
    assert await house.memory.seen(session) == {"gold": 40}
    for number, floor in enumerate(await house.memory.floors(session), 1):
        assert (await house.memory.said(floor["id"]))[1] == ("output", "assistant", f"{number}")
        if number == 5:
            break


async def test_turns_of_many_branches_count_on_one_variable(start_house: StartHouse) -> None:
    house = await start_house({"share": SHARE})
    await house.turn(session="s")
    refused = 0

    async def until_counted(branch: str) -> None:
        nonlocal refused
        while True:
            got = await house.ask(pipeline="share", session="s", branch=branch)
            if got.status == 200:
                return
            assert (got.status, got.json["error"]["code"]) == (409, "variable_conflict")
            refused += 1

    async def count(branch: str) -> None:
        for _ in range(5):
            await until_counted(branch)

    await asyncio.gather(*(count(f"b{n}") for n in range(10)))
    session = (await house.memory.get("/sessions"))[0]["id"]
    assert await house.memory.variables("chat", session) == {"gold": 50}
    states = [state for n in range(10) for state in await house.memory.states_of(session, f"b{n}")]
    assert (states.count("committed"), states.count("failed")) == (50, refused)
    assert set(states) <= {"committed", "failed"}


async def test_global_counts_without_a_session_are_not_lost_either(start_house: StartHouse) -> None:
    count = chain(sets(("global", "gold", "json", "{{ gold|default(0)|add(1) }}")), sets(text("{{ gold }}"), id="say"))
    house = await start_house({"count": count})

    async def until_counted() -> int:
        while True:
            got = await house.ask(pipeline="count")
            if got.status == 200:
                return int(text_of("openai", got.json))
            # Twenty that ask again at once may also find every connection of the database taken.
            assert (got.status, got.json["error"]["code"]) in ((409, "variable_conflict"), (503, "busy"))
            await asyncio.sleep(0.05)

    assert sorted(await asyncio.gather(*(until_counted() for _ in range(20)))) == list(range(1, 21))
    assert await house.memory.variables("global", "global") == {"gold": 20}


async def test_who_waits_too_long_is_told_when_to_come_back(start_house: StartHouse) -> None:
    house = await start_house(generation_queue=0.3)
    house.mock.script(Step(hold="headers"))
    async with asyncio.timeout(100), asyncio.TaskGroup() as group:
        first = group.create_task(house.turn(session="s"))
        await house.mock.was_asked()
        late = await asyncio.gather(*(house.ask(dialect=dialect, session="s") for dialect in DIALECTS))
        assert not first.done()
        house.mock.release()
    for dialect, got in zip(DIALECTS, late, strict=True):
        assert (got.status, got.headers["retry-after"]) == (503, "1")
        assert "0.3 seconds" in error_of(dialect, got.json)
    assert await house.memory.states(first.result().headers["x-agentui-session"]) == ["committed"]


async def test_who_leaves_the_line_leaves_nothing_in_it(start_house: StartHouse) -> None:
    house = await start_house(generation_queue=20)
    house.mock.script(Step(hold="headers"))
    plain = ask("openai")
    question = Asked(plain.path, {**plain.headers, "x-agentui-session": "s"}, plain.body)
    async with asyncio.timeout(100), asyncio.TaskGroup() as group:
        first = group.create_task(house.turn(session="s"))
        await house.mock.was_asked()
        for _ in range(5):
            async with asking(house.server.origin, question):
                await until(lambda: house.server.state.in_flight == 2)
            await until(lambda: house.server.state.in_flight == 1)
        last = group.create_task(house.turn(session="s"))
        await until(lambda: house.server.state.in_flight == 2)
        house.mock.release()
    assert await house.memory.states(last.result().headers["x-agentui-session"]) == ["committed"] * 2
    assert last.result().headers["x-agentui-session"] == first.result().headers["x-agentui-session"]


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
async def test_two_servers_on_one_postgresql_share_the_branches(start_house: StartHouse) -> None:
    one = await start_house({"count": COUNT}, generation_queue=50)
    two = await start_house({"count": COUNT}, generation_queue=50)
    turns = await asyncio.gather(*(house.turn(pipeline="count", session="s") for house in (one, two) for _ in range(20)))
    assert sorted(int(text_of("openai", got.json)) for got in turns) == list(range(1, 41))
    session = turns[0].headers["x-agentui-session"]
    assert await two.memory.states(session) == ["committed"] * 40
