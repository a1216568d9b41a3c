"""Pipelines whose upstream is a server of agentui: this one, another, or one that calls back."""

import socket

import pytest

from agentui.upstream.own import OwnAddresses
from tests.api.callers import Caller, error_of, text_of
from tests.api.editor_client import editing
from tests.conftest import Server, StartServer, call
from tests.faults.conftest import forward
from tests.upstreams.server import Mock


def to(kind: str, base_url: str) -> object:
    """A pipeline of one node that calls ``base_url``."""
    return call("caller", base_url) if kind == "call" else forward(base_url)


def address_of_this_machine() -> str | None:
    """One of its addresses that is not loopback, where it has one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            return None
        return str(probe.getsockname()[0])


@pytest.mark.parametrize("kind", ["call", "forward"])
@pytest.mark.parametrize("spelling", ["127.0.0.1", "localhost", "LOCALHOST", "my.server.example"])
async def test_a_pipeline_does_not_call_its_own_server(start_server: StartServer, kind: str, spelling: str) -> None:
    server = await start_server(allowed_hosts=("my.server.example",))
    port = server.origin.rpartition(":")[2]
    server.put("default", to(kind, f"http://{spelling}:{port}"))
    for dialect in ("openai", "claude", "gemini"):
        got = await Caller(dialect, server.origin).ask("Hello", "text")
        assert (got.status, "this server itself" in str(error_of(dialect, got.json))) == (502, True), got.body
    async with editing(server) as editor:
        await editor.get("/v1/models")
    runs = server.state.history.list(10)
    assert len(runs) == 3, "no request came round"


async def test_a_server_for_everybody_knows_all_its_addresses(start_server: StartServer) -> None:
    others = address_of_this_machine()
    own = OwnAddresses([("0.0.0.0", 7860)], ["here.example"])
    assert own.has_address("127.0.0.1", 7860) and own.has_address("127.1.2.3", 7860)
    assert not own.has_address("127.0.0.1", 7861) and not own.has_address("192.0.2.77", 7860)
    if others is not None:
        assert own.has_address(others, 7860)
    assert own.has_name("HERE.example.", 443) and own.has_name("here.example", 7860)
    assert not own.has_name("here.example", 11434), "another program on the same machine"
    assert not OwnAddresses([("127.0.0.1", 7860)]).has_address("127.0.0.2", 7860)


@pytest.mark.parametrize("kind", ["call", "forward"])
async def test_who_may_call_itself_does_so_once(start_server: StartServer, mock: Mock, kind: str) -> None:
    server = await start_server({"model": call("caller", mock.origin)}, allow_self=True)
    server.put("once", to(kind, f"{server.origin}/p/model"))
    server.put("round", to(kind, f"{server.origin}/p/round"))
    got = await Caller("openai", server.origin, prefix="/p/once").ask("Hello", "text")
    assert text_of("openai", got.json) == "Hello from the mock."
    assert mock.last.headers["x-agentui-hops"] == "2"
    got = await Caller("openai", server.origin, prefix="/p/round").ask("Hello", "text")
    assert got.status == 400
    assert "AGENTUI_MAX_HOPS" in str(error_of("openai", got.json))
    assert len(server.state.history.list(100)) == 4, "two for each, and none after"


@pytest.mark.parametrize("kind", ["call", "forward"])
async def test_a_circle_through_two_servers_ends(start_server: StartServer, mock: Mock, kind: str) -> None:
    first, second = await start_server(), await start_server({"model": call("caller", mock.origin)})
    first.put("default", to(kind, second.origin))
    second.put("default", to(kind, first.origin))
    first.put("behind", to(kind, f"{second.origin}/p/model"))
    got = await Caller("claude", first.origin).ask("Hello", "text")
    assert (got.status, "AGENTUI_MAX_HOPS" in str(error_of("claude", got.json))) == (400, True)
    assert [len(server.state.history.list(10)) for server in (first, second)] == [1, 1]
    got = await Caller("claude", first.origin, prefix="/p/behind").ask("Hello", "text")
    assert text_of("claude", got.json) == "Hello from the mock.", "one behind another is no circle"


@pytest.mark.parametrize("hops", ["2", "-1", "1e3", "", "٣", "9" * 5000])
async def test_a_count_that_is_none_counts_as_many(start_server: StartServer, mock: Mock, hops: str) -> None:
    server: Server = await start_server({"default": call("caller", mock.origin)})
    got = await Caller("openai", server.origin, headers={"x-agentui-hops": hops}).ask("Hello", "text")
    assert got.status == 400
    assert mock.requests == []


async def test_a_node_cannot_change_the_count(start_server: StartServer, mock: Mock) -> None:
    server = await start_server({"default": forward(mock.origin, extra_headers={"x-agentui-hops": "0"})})
    await Caller("openai", server.origin).ask("Hello", "text")
    assert mock.last.headers["x-agentui-hops"] == "1"
