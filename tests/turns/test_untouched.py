"""Requests that need no memory leave it alone; it opens for the first that needs it, and is read once."""

import asyncio
import os

import pytest

from agentui.store.lock import FolderLock
from tests.api.callers import DIALECTS, error_of, text_of
from tests.conftest import StartServer, call
from tests.turns.conftest import StartHouse
from tests.turns.house import House, chain, forward, sets, target, text
from tests.turns.locks import asked_to_write, locked
from tests.upstreams.server import Mock

PLAIN = {
    "only the context": [sets(text("{{ chat.last_user }} {{ model }} [[VAR:incoming.headers.host]] {{ params.temperature }}"))],
    "variables of the run": [
        sets(("run", "a", "expr", "1"), id="one"),
        sets(text("{{ a }} [[a]] {{ vars.a }} {{ vars.run.a }}")),
    ],
    "results of nodes": [sets(("run", "a", "expr", "1"), id="n1"), sets(text("{{ OUT.n1.vars.a }} [[OUT1]]"))],
}


@pytest.mark.parametrize("nodes", PLAIN.values(), ids=PLAIN)
async def test_a_pipeline_that_names_no_stored_variable_makes_no_database(
    start_server: StartServer, mock: Mock, nodes: list[object]
) -> None:
    pipelines = {"plain": call("caller", mock.origin), "raw": chain(forward(mock.origin)), "these": chain(*nodes)}
    server = await start_server(pipelines, active="plain")
    house = House(server, mock, None)  # type: ignore[arg-type]  # nobody looks into the memory: that would open it
    for pipeline in pipelines:
        for dialect in DIALECTS:
            await house.turn(dialect=dialect, pipeline=pipeline)
            await house.turn(dialect=dialect, pipeline=pipeline, stream=True)
    assert not server.state.store.status["open"]
    assert not list(server.data.glob("agentui.db*"))
    assert not (server.data / "reserve.bin").exists()


async def test_a_pipeline_that_names_one_reads_it_from_memory_from_then_on(start_server: StartServer, mock: Mock) -> None:
    server = await start_server({"look": chain(sets(text("{{ gold|default('none') }}")))}, active="look")
    house = House(server, mock, None)  # type: ignore[arg-type]  # as above
    assert text_of("openai", (await house.turn(pipeline="look")).json) == "none"
    assert (server.data / "agentui.db").exists()
    await server.state.jobs.close()  # what was kept is read anew after every write, and a job may write at any time
    await house.turn(pipeline="look")
    await server.state.store.close()
    for _ in range(3):
        await house.turn(pipeline="look")
    assert not server.state.store.status["open"]


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_memory_that_another_has_harms_only_who_needs_it(start_house: StartHouse) -> None:
    house = await start_house({"look": chain(sets(text("{{ gold|default('none') }}")))})
    await house.server.state.store.close()
    other = FolderLock(house.server.data)
    other.take()
    for _ in range(2):
        for refused in (await house.ask(session="s"), await house.ask(pipeline="look")):
            assert refused.status == 503
            assert f"process {os.getpid()}" in error_of("openai", refused.json)
        await house.turn()
    other.release()
    await house.turn(session="s")


async def test_a_write_whose_caller_left_is_seen_once_it_is_done(
    start_house: StartHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = await start_house({"look": chain(sets(text("{{ gold|default('none') }}")))})
    await house.memory.put("global", "other", 1)
    is_written = asked_to_write(house, "put", monkeypatch)
    async with locked(house, "variables"):
        body = {"scope": "global", "scope_id": "global", "key": "gold", "value": 5}
        writing = asyncio.create_task(house.memory.call("PUT", "/variables", body))
        await is_written.wait()
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        assert text_of("openai", (await house.turn(pipeline="look")).json) == "none"
    await house.memory.becomes("/variables?scope=global&key=gold", bool)
    async with asyncio.timeout(60):
        while text_of("openai", (await house.turn(pipeline="look")).json) != "5":
            pass


async def test_a_prompt_with_a_history_needs_no_memory(start_server: StartServer, mock: Mock) -> None:
    blocks = [{"kind": "text", "role": "system", "text": "Be kind to {{ incoming.headers.host }}."}, {"kind": "history"}]
    server = await start_server({"blocks": chain(target("caller", mock.origin, blocks=blocks))}, active="blocks")
    assert not server.state.pipelines.plan("blocks").uses_memory
