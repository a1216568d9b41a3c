"""What a turn costs, counted and not timed: lines of our own Python, statements, copies. A number that grows by more than a
twentieth has to be changed here, with a reason; one that shrinks may be."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial

import pytest

from agentui.api.keys import STORE
from tests.bench.turns import furnish
from tests.costs import Costs, Counted, counting
from tests.turns.conftest import StartHouse
from tests.turns.house import House, Json, chain, sets, target
from tests.turns.talk import Talk
from tests.upstreams.server import Mock

SLACK = 1.05
PROXIED = {"lines": 3_495, "statements": 24, "replaced": 3}
"""A turn through the proxy that counts a variable up."""
RESPOND = {"lines": 10_840, "statements": 29, "replaced": 8}
"""A live turn behind thirteen floors."""


def assert_at_most(costs: Costs, **most: int) -> None:
    """Fails where a count is more than a twentieth over its number."""
    found = {name: getattr(costs, name) for name in most}
    over = {name: (found[name], number) for name, number in most.items() if found[name] > number * SLACK}
    assert over == {}, f"{over} of {found}\n{costs.largest()}"


@pytest.fixture(params=["sqlite"])
def engine(request: pytest.FixtureRequest) -> str:
    """Python's tracing does not follow the other engine's driver."""
    return str(request.param)


@pytest.fixture
async def counted() -> AsyncIterator[Counted]:
    """What counts from before the server's threads begin."""
    with counting() as counted:
        yield counted
    await asyncio.sleep(0)


async def warmed(turn: Callable[[], Awaitable[object]]) -> None:
    """What is made once is made."""
    for _ in range(3):
        await turn()


async def test_a_proxied_turn(counted: Counted, start_house: StartHouse) -> None:
    gold = sets(("branch", "gold", "json", "{{ gold|default(0)|add(1) }}"))
    house = await start_house({})
    house = await start_house({"turn": chain(gold, target("openai", house.mock.origin))})

    async def turn() -> None:
        await house.turn(pipeline="turn", session="s")

    await warmed(turn)
    costs = await counted.least(turn)
    assert (costs.built, costs.copied) == ([], 0)
    assert_at_most(costs, **PROXIED)


async def test_a_turn_that_the_operation_log_tells_of_costs_one_statement_more(
    counted: Counted, start_house: StartHouse, mock: Mock
) -> None:
    gold = sets(("branch", "gold", "json", "{{ gold|default(0)|add(1) }}"))
    found: list[Costs] = []
    for is_told in (False, True):
        house = await start_house({"turn": chain(gold, target("openai", mock.origin))}, operation_log_turns=is_told)
        turn = partial(house.turn, pipeline="turn", session="s")
        await warmed(turn)
        found.append(await counted.least(turn))
    without, told = found
    assert (told.statements - without.statements, told.built) == (1, [])
    # The row itself is some 85 lines; the rest is what two turns of the same kind differ by (91 were counted once).
    assert_at_most(told, lines=without.lines + 90)


async def furnished(house: House, name: str, floors: int) -> Talk:
    """A session with so many floors, longer than a prompt from 200 on."""
    await house.server.app[STORE].write(furnish, name, floors, 2)
    rows = await house.memory.get("/sessions?limit=50")
    return Talk(house, next(row["id"] for row in rows if row["title"] == name))


async def test_respond(counted: Counted, start_house: StartHouse) -> None:
    house = await start_house()
    talk = await furnished(house, "short", 10)
    await house.memory.call("PATCH", f"/sessions/{talk.session}", {"model_name": "text"})
    await warmed(talk.respond)
    costs = await counted.least(talk.respond)
    assert (costs.built, costs.copied) == ([], 0)
    assert_at_most(costs, **RESPOND)


async def test_respond_costs_the_same_behind_many_floors(counted: Counted, start_house: StartHouse) -> None:
    house = await start_house()
    costs = []
    for floors in (300, 3_000):
        talk = await furnished(house, f"of {floors}", floors)
        # Models of their own: what a provider counts decides how much of a chat is read.
        await house.memory.call("PATCH", f"/sessions/{talk.session}", {"model_name": f"of-{floors}--text"})
        await warmed(talk.respond)
        costs.append(await counted.least(talk.respond, 2))
    few, many = costs
    assert_at_most(many, **{name: getattr(few, name) for name in ("lines", "statements", "replaced")})


async def test_no_statement_is_built_for_a_turn_or_for_what_resolves(counted: Counted, start_house: StartHouse) -> None:
    house = await start_house()
    talk = await furnished(house, "chat", 10)
    await house.memory.call("PATCH", f"/sessions/{talk.session}", {"model_name": "text"})
    first = await talk.respond()
    page = await house.memory.page(first["floor_id"], "input")
    [message] = await house.memory.get(f"/messages?page_id={page}")
    built: dict[str, list[str]] = {}

    async def posted(path: str, body: Json) -> None:
        status, answer = await talk.post(path, body)
        assert status == 200, answer

    asked: dict[str, Callable[[], Awaitable[object]]] = {
        "retry": lambda: posted(f"/floors/{first['floor_id']}/retry", {}),
        "edit": lambda: posted(f"/messages/{message['id']}/edit-and-regenerate", {"content": "Hi"}),
        "regenerate": lambda: posted(f"/sessions/{talk.session}/regenerate", {}),
    }
    asked["resolve"] = partial(house.memory.get, f"/variables/resolve?session_id={talk.session}&branch_id=main")
    for name, ask in asked.items():
        await ask()
        built[name] = (await counted.least(ask, 1)).built
    assert built == {name: [] for name in asked}
