"""Many callers at once: each hears its own answer, and one's trouble is nobody else's."""

import asyncio
import json
import re

from agentui.demo import DemoServer
from tests.faults.callers import ANOTHER, DIALECTS, Heard, Route, ask, asking, check_failed, check_whole, said_in
from tests.faults.conftest import KINDS, PATIENCE, StartHouse
from tests.unit.upstream.conftest import Bytes, Visit
from tests.upstreams.server import Mock

CROWD = 100


def route_of(number: int) -> Route:
    """Every dialect by every way, mostly streamed."""
    return Route(DIALECTS[number % 4], KINDS[number // 4 % 3], stream=number % 5 != 0)


async def test_a_hundred_streams_do_not_mix(start_house: StartHouse, demo: DemoServer) -> None:
    house = await start_house(demo.origin)

    async def one(number: int) -> Heard:
        asked = ask(route_of(number).caller, "demo-small", stream=route_of(number).stream, text=f"I am number<{number}> here.")
        return await house.send(house.at(route_of(number), asked))

    heard = await asyncio.gather(*(one(number) for number in range(CROWD)))
    for number, answer in enumerate(heard):
        route = route_of(number)
        assert answer.status == 200, answer.body
        words = said_in(route.caller, answer.body, stream=route.stream)
        assert re.findall(r"number<(\d+)>", words) == [str(number)], words
        # Nor is anything of another's in what was not said aloud (ids, headers, usage).
        assert set(re.findall(rb"number<(\d+)>", answer.body)) <= {str(number).encode()}
    assert len({answer.headers["x-agentui-run"] for answer in heard}) == CROWD
    assert len({answer.headers["x-request-id"] for answer in heard}) == CROWD
    await house.is_quiet()


async def test_everybodys_key_goes_with_their_own_question(start_house: StartHouse, wild: Bytes) -> None:
    everybody_asked = asyncio.Event()

    async def script(visit: Visit) -> None:
        # Answers come when everybody has asked, so that all are under way at once.
        if len(wild.visits) == CROWD:
            everybody_asked.set()
        await everybody_asked.wait()
        await visit.answer(400, b'{"error": {"message": "no"}}', Content_Type="application/json")

    wild.script = script
    house = await start_house(wild.url)
    asked = [
        ask(route_of(number).caller, text=f"text<{number}>", key=f"sk-key-of-<{number}>-abcdef") for number in range(CROWD)
    ]
    await asyncio.gather(*(house.send(house.at(route_of(number), asked[number])) for number in range(CROWD)))
    assert len(wild.visits) == CROWD
    for visit in wild.visits:
        keys = set(re.findall(rb"sk-key-of-<(\d+)>", visit.head))
        texts = set(re.findall(rb"text<(\d+)>", visit.body))
        assert keys == texts
        assert len(keys) == 1
        json.loads(visit.body)


async def test_many_callers_at_once_wait_their_turn_and_none_is_refused(start_house: StartHouse, wild: Bytes) -> None:
    inside = most = 0

    async def script(visit: Visit) -> None:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0.05)
        inside -= 1
        await visit.answer(400, b'{"error": {"message": "no"}}', Content_Type="application/json")

    wild.script = script
    house = await start_house(wild.url)
    asked = [ask(route_of(number).caller) for number in range(256)]
    heard = await asyncio.gather(*(house.send(house.at(route_of(number), asked[number])) for number in range(256)))
    # The upstream's own answer, and nobody is told that the server is busy.
    assert {answer.status for answer in heard} == {400}
    assert len(wild.visits) == 256 and most <= 100
    await house.is_quiet()


async def test_too_many_at_one_upstream_and_those_who_waited_too_long_are_told_to_come_back(
    start_house: StartHouse, wild: Bytes
) -> None:
    has_come, may_answer = asyncio.Event(), asyncio.Event()

    async def script(visit: Visit) -> None:
        has_come.set()
        await may_answer.wait()
        await visit.answer(400, b'{"error": {"message": "no"}}', Content_Type="application/json")

    wild.script = script
    house = await start_house(wild.url, max_per_origin=1, max_queued_per_origin=1, queue_timeout=1.0)
    route = route_of(0)
    first = asyncio.create_task(house.send(house.at(route, ask(route.caller))))
    await has_come.wait()
    # Of two more, one finds the queue full, and the other's turn does not come.
    refused = await asyncio.gather(*(house.send(house.at(route, ask(route.caller))) for _ in range(2)))
    assert [(answer.status, answer.headers["retry-after"]) for answer in refused] == [(503, "1"), (503, "1")]
    said = sorted(re.findall(rb"wait for their turn|turn did not come within 1 seconds", b"".join(a.body for a in refused)))
    assert said == [b"turn did not come within 1 seconds", b"wait for their turn"]
    may_answer.set()
    assert (await first).status == 400
    assert len(wild.visits) == 1
    await house.is_quiet()


async def test_ones_trouble_is_nobody_elses(start_house: StartHouse, mock: Mock) -> None:
    house = await start_house(mock.origin, max_in_flight=200)
    fine = [Route(dialect, kind, stream) for dialect in ANOTHER for kind in KINDS for stream in (False, True)]

    async def leaves(number: int) -> None:
        route = Route(DIALECTS[number % 4], KINDS[number % 3], stream=True)
        async with asking(house.origin, house.at(route, ask(route.caller, "forever", stream=True))) as (reader, _):
            await reader.readuntil(b"again")

    async def suffers(number: int) -> None:
        route = Route(DIALECTS[number % 4], KINDS[number % 2], stream=True)
        check_failed(
            route.caller, await house.ask(route, ("truncated-early", "truncated-reset")[number // 2 % 2]), {502}, stream=True
        )

    async def succeeds(route: Route) -> None:
        check_whole(route.caller, await house.ask(route), "Hello from the mock.", stream=route.stream)

    async with asyncio.TaskGroup() as group:
        for number in range(24):
            group.create_task(leaves(number))
        for number in range(8):
            group.create_task(suffers(number))
        for route in fine:
            group.create_task(succeeds(route))
    await house.is_quiet()
    async with asyncio.timeout(PATIENCE):
        await mock.is_idle()
    assert mock.aborted >= 24
    assert house.run_states() == {"finished", "failed", "cancelled"}
