"""One connection to a real MCP server, over pipes and over HTTP."""

import asyncio
import os
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from agentui.mcp.connection import Connection
from agentui.mcp.errors import McpFailed, McpUnavailable
from agentui.mcp.records import Program
from agentui.mcp.streams import MAX_MESSAGE, http_streams, program_streams
from agentui.mcp.value_count import MAX_VALUES
from agentui.tools.errors import OutcomeUnknown
from agentui.upstream.client import Upstream
from agentui.upstream.http.exchange import Timeouts
from tests.mcp.conftest import Says, Served

LONG = 60.0


def program(says: Says, **env: str) -> Connection:
    return Connection(partial(program_streams, Program(**says.stdio), env))


def over_http(upstream: Upstream, url: str) -> Connection:
    return Connection(lambda _: http_streams(upstream, url, {}, Timeouts(idle=float("inf"))))


@pytest.fixture(params=["stdio", "http"])
async def connection(request: pytest.FixtureRequest, says: Says, served: Served) -> AsyncIterator[Connection]:
    """An open connection, each way."""
    async with Upstream() as upstream:
        found = program(says) if request.param == "stdio" else over_http(upstream, served.url)
        await found.open(LONG)
        yield found
        await found.close()
        assert not found.is_open


async def test_a_server_says_who_it_is_and_what_tools_it_has(connection: Connection) -> None:
    assert connection.info is not None
    assert (connection.info.name, connection.info.version) == ("parts", "1.2")
    tools = {tool.name: tool for tool in await connection.tools(LONG)}
    assert tools["greet"].description == "Greets somebody."
    assert tools["greet"].parameters["required"] == ["name"]


async def test_calls_are_answered_side_by_side(connection: Connection) -> None:
    calls = [connection.call("add", {"a": number, "b": 1}, LONG) for number in range(20)]
    assert [answer.value for answer in await asyncio.gather(*calls)] == [{"sum": number + 1} for number in range(20)]


async def test_what_goes_wrong_in_a_tool_is_an_answer(connection: Connection) -> None:
    answer = await connection.call("fail", {}, LONG)
    assert answer.is_error
    assert "fail" in answer.text
    assert (await connection.call("greet", {"name": "Ann"}, LONG)).text == "Hello, Ann!"


async def test_an_answer_that_is_too_large_is_refused(connection: Connection) -> None:
    with pytest.raises((McpFailed, OutcomeUnknown), match=str(MAX_MESSAGE)):
        await connection.call("much", {"size": MAX_MESSAGE + 1}, LONG)


async def test_an_answer_of_too_many_values_is_refused(connection: Connection) -> None:
    """What the library needs to read a message goes by its values: ten seconds for eight megabytes of empty lists."""
    with pytest.raises((McpFailed, OutcomeUnknown), match=f"more than {MAX_VALUES} values"):
        await connection.call("many", {"number": MAX_VALUES}, LONG)


async def test_definitions_are_limited_together(says: Says, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentui.mcp.connection.MAX_DEFINITIONS", 300)
    connection = program(says)
    await connection.open(LONG)
    with pytest.raises(McpFailed, match="larger than 300 bytes"):
        await connection.tools(LONG)
    await connection.close()


async def test_a_program_that_ends_in_a_call_leaves_its_outcome_unknown(says: Says) -> None:
    connection = program(says)
    await connection.open(LONG)
    with pytest.raises(OutcomeUnknown):
        await connection.call("die", {}, LONG)
    assert not connection.is_open
    assert connection.lost == "The server's program has ended."
    with pytest.raises(McpUnavailable):
        await connection.tools(LONG)
    await connection.close()


async def test_a_program_sees_only_the_environment_that_it_is_given(says: Says, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTUI_TOKEN", "of this server")
    connection = program(says, GIVEN="yes")
    await connection.open(LONG)
    assert (await connection.call("environment", {"name": "GIVEN"}, LONG)).text == "yes"
    assert (await connection.call("environment", {"name": "AGENTUI_TOKEN"}, LONG)).text == ""
    await connection.close()


async def test_a_program_that_does_not_start_or_does_not_speak_is_told_of(tmp_path: Path) -> None:
    missing = Connection(partial(program_streams, Program(str(tmp_path / "none")), {}))
    with pytest.raises(McpUnavailable, match="does not start: No such file"):
        await missing.open(LONG)
    silent = Connection(partial(program_streams, Program("sleep", ["1000"]), {}))
    with pytest.raises(McpUnavailable, match=r"within 0\.2 seconds"):
        await silent.open(0.2)
    ended = Connection(partial(program_streams, Program("true"), {}))
    with pytest.raises(McpUnavailable):
        await ended.open(LONG)


async def test_what_a_program_started_ends_with_it(tmp_path: Path) -> None:
    # Both the shell and what it starts hold a pipe open, whose reader hears of the end of the last of them.
    held = tmp_path / "held"
    os.mkfifo(held)
    started = Program("sh", ["-c", f"exec 3>{held}; echo begun >&3; sleep 1000 & sleep 1000"])
    connection = Connection(partial(program_streams, started, {}))
    opening = asyncio.create_task(connection.open(LONG))
    with await asyncio.to_thread(held.open) as pipe:
        assert await asyncio.to_thread(pipe.readline) == "begun\n"
        opening.cancel()
        assert await asyncio.to_thread(pipe.read) == ""
    with pytest.raises(asyncio.CancelledError):
        await opening


async def test_a_server_that_is_started_anew_is_connected_to_again(says: Says) -> None:
    server = Served(says)
    await server.start()
    async with Upstream() as upstream:
        connection = over_http(upstream, server.url)
        await connection.open(LONG)
        await server.stop()
        with pytest.raises((McpUnavailable, OutcomeUnknown)):
            await connection.call("greet", {"name": "Ann"}, LONG)
        assert not connection.is_open
        await connection.close()


@pytest.mark.parametrize("url", ["http://169.254.169.254/mcp", "http://127.0.0.1:9/mcp", "http://localhost:9/mcp"])
async def test_private_addresses_are_reached_only_where_they_may_be(url: str) -> None:
    async with Upstream(allow_private=False) as upstream:
        connection = over_http(upstream, url)
        with pytest.raises(McpUnavailable, match=r"never called|may not call"):
            await connection.open(LONG)
