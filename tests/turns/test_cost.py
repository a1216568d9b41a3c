"""What a turn costs, counted and not timed: lines of our own Python, statements, copies. A number that grows by more than a
twentieth has to be changed here, with a reason; one that shrinks may be."""

import asyncio
import copy
import dataclasses
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
from sqlalchemy import Engine, event

import agentui
from agentui.api.keys import STORE
from agentui.store import prepared
from tests.bench.turns import furnish
from tests.turns.conftest import StartHouse
from tests.turns.house import House, Json, chain, sets, target
from tests.turns.talk import Talk

OWN = str(Path(agentui.__file__).parent)
ASIDE = (f"{OWN}/documents/folder.py", f"{OWN}/jobs/")
"""What runs by the clock beside turns."""
COUNTED: dict[CodeType, str] = {
    prepared._run.__code__: "statements",
    dataclasses.replace.__code__: "replaced",
    copy.deepcopy.__code__: "copied",
    dataclasses._asdict_inner.__code__: "copied",  # type: ignore[attr-defined]  # what asdict does for each value
}
SLACK = 1.05
PROXIED = {"lines": 3_495, "statements": 24, "replaced": 3}
"""A turn through the proxy that counts a variable up."""
RESPOND = {"lines": 10_320, "statements": 29, "replaced": 8}
"""A live turn behind thirteen floors."""


class Counting:
    """Counts in all threads that begin while it is there, and in this one."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.built: list[str] = []
        self.is_on = False

    def __enter__(self) -> "Counting":
        self._before = sys.gettrace()
        threading.settrace(self._called)
        sys.settrace(self._called)
        event.listen(Engine, "before_execute", self._built)
        return self

    def __exit__(self, *_: object) -> None:
        event.remove(Engine, "before_execute", self._built)
        sys.settrace(self._before)
        threading.settrace(None)  # type: ignore[arg-type]  # None is none, as for sys.settrace

    async def least(self, turn: Callable[[], Awaitable[object]], tries: int = 4) -> Counter[str]:
        """The counts of the cheapest of some turns: something else may run beside one."""
        found = []
        for _ in range(tries):
            self.counts.clear()
            self.is_on = True
            await turn()
            self.is_on = False
            found.append(Counter(self.counts))
        return min(found, key=lambda counts: counts["lines"])

    def _called(self, frame: FrameType, _: str, __: Any) -> Any:
        if not self.is_on:
            return None
        code = frame.f_code
        if code in COUNTED:
            self.counts[COUNTED[code]] += 1
        is_own = code.co_filename.startswith(OWN) and not code.co_filename.startswith(ASIDE)
        return self._line if is_own else None

    def _line(self, _: FrameType, event: str, __: Any) -> Any:
        if event == "line" and self.is_on:
            self.counts["lines"] += 1
        return self._line

    def _built(self, _: object, statement: object, *more: object) -> None:
        """A statement that SQLAlchemy builds."""
        if self.is_on:
            self.counts["built"] += 1
            self.built.append(" ".join(str(statement).split()))


def assert_at_most(counts: Counter[str], **most: int) -> None:
    """Fails where a count is more than a twentieth over its number."""
    over = {name: (counts[name], number) for name, number in most.items() if counts[name] > number * SLACK}
    assert over == {}, f"{over} of {dict(counts)}"


@pytest.fixture(params=["sqlite"])
def engine(request: pytest.FixtureRequest) -> str:
    """Python's tracing does not follow the other engine's driver."""
    return str(request.param)


@pytest.fixture
async def counting() -> AsyncIterator[Counting]:
    """What counts from before the server's threads begin."""
    with Counting() as counting:
        yield counting
    await asyncio.sleep(0)


async def warmed(turn: Callable[[], Awaitable[object]]) -> None:
    """What is made once is made."""
    for _ in range(3):
        await turn()


async def test_a_proxied_turn(counting: Counting, start_house: StartHouse) -> None:
    gold = sets(("branch", "gold", "json", "{{ gold|default(0)|add(1) }}"))
    house = await start_house({})
    house = await start_house({"turn": chain(gold, target("openai", house.mock.origin))})

    async def turn() -> None:
        await house.turn(pipeline="turn", session="s")

    await warmed(turn)
    counts = await counting.least(turn)
    assert (counts["built"], counts["copied"]) == (0, 0)
    assert_at_most(counts, **PROXIED)


async def furnished(house: House, name: str, floors: int) -> Talk:
    """A session with so many floors, longer than a prompt from 200 on."""
    await house.server.app[STORE].write(furnish, name, floors, 2)
    rows = await house.memory.get("/sessions?limit=50")
    return Talk(house, next(row["id"] for row in rows if row["title"] == name))


async def test_respond(counting: Counting, start_house: StartHouse) -> None:
    house = await start_house()
    talk = await furnished(house, "short", 10)
    await house.memory.call("PATCH", f"/sessions/{talk.session}", {"model_name": "text"})
    await warmed(talk.respond)
    counts = await counting.least(talk.respond)
    assert (counts["built"], counts["copied"]) == (0, 0)
    assert_at_most(counts, **RESPOND)


async def test_respond_costs_the_same_behind_many_floors(counting: Counting, start_house: StartHouse) -> None:
    house = await start_house()
    costs = []
    for floors in (300, 3_000):
        talk = await furnished(house, f"of {floors}", floors)
        await house.memory.call("PATCH", f"/sessions/{talk.session}", {"model_name": "text"})
        await warmed(talk.respond)
        costs.append(await counting.least(talk.respond, 2))
    few, many = costs
    assert_at_most(many, **{name: few[name] for name in ("lines", "statements", "replaced")})


async def test_no_statement_is_built_for_a_turn_or_for_what_resolves(counting: Counting, start_house: StartHouse) -> None:
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
        counting.built.clear()
        await counting.least(ask, 1)
        built[name] = list(counting.built)
    assert built == {name: [] for name in asked}
