"""What is left of a request is freed by its last reference: nothing waits for the search for cycles.

The collector looks seldom while the server serves, and less often still at what the run history has held for long. A cycle
there would fill the memory for hours.
"""

import asyncio
import contextlib
import gc
import sys
import weakref
from collections.abc import Iterator
from dataclasses import replace

import pytest

from agentui.jsonio import Json
from agentui.pipeline.run import Run
from agentui.upstream import breaker
from tests.api.callers import Caller
from tests.conftest import call
from tests.faults.callers import DIALECTS, Asked, Route, ask, asking, routes
from tests.faults.conftest import KINDS, House, StartHouse, until
from tests.turns.house import chain, sets, target
from tests.upstreams.server import Mock

MODELS = (
    *("text", "tools", "thinking-tool", "error-400", "error-429", "error-503", "html", "html-502", "invalid-json"),
    *("not-an-answer", "empty-body", "truncated-early", "truncated-reset", "bad-event", "fail-mid", "fail-first"),
    *("hang", "hang-mid"),
)
"""What the upstream does; most of it is a fault."""


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Nothing looks for cycles."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


class Runs:
    """Runs that a house began and does not keep."""

    def __init__(self, house: House) -> None:
        self.house = house
        self._known: list[tuple[str, weakref.ref[Run]]] = []
        self._add = house.server.state.history.add
        house.server.state.history.add = self._note  # type: ignore[method-assign]  # it notes what is added

    def _note(self, run: Run) -> None:
        self._known.append((f"{run.incoming.path} {run.incoming.model}", weakref.ref(run)))
        self._add(run)

    async def are_freed(self, count: int) -> None:
        """Wait until none of so many is left."""
        assert len(self._known) == count
        await self.house.session.close()  # a connection that is kept open keeps its last request
        with contextlib.suppress(TimeoutError):
            await until(lambda: not self._left())
        assert self._left() == []

    def _left(self) -> list[str]:
        return [asked for asked, run in self._known if run() is not None]


def paths(base_url: str) -> dict[str, Json]:
    """A pipeline that writes a variable of the chat, and one whose nodes are tasks."""
    count, call = sets(("branch", "gold", "json", "{{ gold|default(0)|add(1) }}")), target("caller", base_url)
    side = {**sets(("run", "A", "string", "a")), "id": "side"}
    return {"turn": chain(count, call), "tree": {**chain(count, call), "nodes": [count, call, side], "answer": "call"}}


def asked_by(house: House, route: Route, model: str) -> Asked:
    """A question by a route, in a chat of the route's own where its pipeline writes to one."""
    asked = house.at(route, ask(route.caller, model, stream=route.stream))
    chat = {"x-agentui-session": f"{route.kind} {route.caller} {route.stream}"} if route.kind in ("turn", "tree") else {}
    return replace(asked, headers={**asked.headers, **chat})


WAYS = [route for kind in (*KINDS, "turn", "tree") for route in routes(kind)]


@pytest.mark.usefixtures("no_collector")
async def test_a_run_is_freed_as_soon_as_nobody_has_it(
    start_house: StartHouse, mock: Mock, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However much fails here, the upstream is asked again.
    monkeypatch.setattr(breaker, "ENOUGH", sys.maxsize)
    house = await start_house(mock.origin, paths(mock.origin), run_history=0, idle_timeout=0.3, first_byte_timeout=0.3)
    runs = Runs(house)

    async def ask_all(route: Route) -> None:
        for model in MODELS:
            await house.send(asked_by(house, route, model))

    await asyncio.gather(*map(ask_all, WAYS))
    assert len(mock.requests) >= len(WAYS) * len(MODELS)  # each reached it
    await runs.are_freed(len(WAYS) * len(MODELS))


@pytest.mark.usefixtures("no_collector")
async def test_a_run_whose_caller_left_is_freed(start_house: StartHouse, mock: Mock) -> None:
    house = await start_house(mock.origin, paths(mock.origin), run_history=0)
    runs = Runs(house)

    async def ask_and_leave(route: Route) -> None:
        async with asking(house.origin, asked_by(house, route, "forever")) as (reader, _):
            await reader.readuntil(b"again")

    streams = [route for route in WAYS if route.stream]
    await asyncio.gather(*map(ask_and_leave, streams))
    await house.is_quiet()
    await runs.are_freed(len(streams))


@pytest.mark.usefixtures("no_collector")
async def test_a_run_that_took_too_long_is_freed(start_house: StartHouse, mock: Mock) -> None:
    house = await start_house(mock.origin, paths(mock.origin), run_history=0, run_timeout=0.3)
    runs = Runs(house)
    heard = await asyncio.gather(*(house.send(asked_by(house, route, "hang")) for route in WAYS))
    assert {each.status for each in heard} == {504}
    await runs.are_freed(len(WAYS))


@pytest.mark.usefixtures("no_collector")
async def test_a_run_over_several_targets_is_freed(start_house: StartHouse, mock: Mock) -> None:
    bad, good, hanging, broken = ({"model": model} for model in ("error-401", "text", "hang", "fail-mid"))
    rows: dict[str, list[Json]] = {
        "fallback": [bad, good],
        "failed": [bad, {"model": "fail-first", "secret": "none"}, {**hanging, "timeout_s": 0.05}],
        "race": [hanging, bad, good],
        "broken": [broken, good],
    }
    pipelines = {
        name: call("openai", mock.origin, targets=targets, strategy="race" if name == "race" else "fallback", cache_s=60)
        for name, targets in rows.items()
    }
    house = await start_house(mock.origin, pipelines, run_history=0)
    runs = Runs(house)
    for name in rows:
        for dialect in DIALECTS:
            for stream in (True, False):
                await Caller(dialect, house.origin, prefix=f"/p/{name}").ask(f"{name} {dialect}", stream=stream)
    await runs.are_freed(len(rows) * len(DIALECTS) * 2)
