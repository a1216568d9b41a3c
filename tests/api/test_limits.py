"""Who asks too often, or tries too many tokens, has to wait; and is told so in the words of its dialect."""

import re
from collections.abc import Mapping

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict
from pydantic import ValidationError
from yarl import URL

from agentui.http.limits import MINUTE, Buckets, Limits
from agentui.jsonio import Json
from agentui.settings import Settings
from tests.api.callers import DIALECTS, Caller, error_of
from tests.conftest import Server, StartServer, call
from tests.upstreams.server import API_KEY, Mock

TOKEN = "let-me-in-0123456789"
PATHS = {
    "openai": "/v1/embeddings",
    "openai_responses": "/v1/responses/input_tokens",
    "claude": "/v1/messages/count_tokens",
    "gemini": "/v1beta/models/text:countTokens",
}
"""A second route of each dialect, which counts too."""


class Moment:
    """A clock that stands still until somebody moves it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


async def started(start_server: StartServer, mock: Mock, **settings: Json) -> Server:
    vendors = {"openai": "openai", "openai_responses": "openai_responses", "claude": "claude", "gemini": "gemini"}
    return await start_server({name: call(name, mock.origin) for name in vendors}, active="openai", **settings)


def caller(server: Server, dialect: str, headers: Mapping[str, str] | None = None, key: str = API_KEY) -> Caller:
    return Caller(dialect, server.origin, key=key, prefix=f"/p/{dialect}", headers=headers or {})


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("stream", [False, True])
async def test_who_asks_too_often_waits_and_is_told_for_how_long(
    start_server: StartServer, mock: Mock, dialect: str, stream: bool
) -> None:
    server = await started(start_server, mock, rate_limit=2)
    asking = caller(server, dialect)
    assert [(await asking.ask(stream=stream)).status for _ in range(2)] == [200, 200]
    refused = await asking.ask(stream=stream)
    assert refused.status == 429
    assert "slow down" in error_of(dialect, refused.json)
    assert 1 <= int(refused.headers["retry-after"]) <= 30
    assert refused.headers["content-type"].startswith("application/json")
    assert (await asking.post(PATHS[dialect], {"model": "text", "input": "x"})).status == 429
    assert len(mock.requests) == 2


async def test_only_requests_to_models_are_counted(start_server: StartServer, mock: Mock) -> None:
    server = await started(start_server, mock, rate_limit=1)
    asking = caller(server, "openai")
    for _ in range(3):
        assert (await asking.get("/v1/models")).status == 200
    async with aiohttp.ClientSession(server.origin) as http:
        for path in ("/health", "/api/pipelines", "/metrics", "/ui/"):
            async with http.get(path) as answer:
                assert answer.status == 200, path
    assert (await asking.ask()).status == 200
    assert (await asking.ask()).status == 429


async def test_without_a_limit_nobody_waits(start_server: StartServer, mock: Mock) -> None:
    server = await started(start_server, mock)
    assert {(await caller(server, "openai").ask()).status for _ in range(5)} == {200}


async def test_callers_behind_a_trusted_proxy_are_told_apart(start_server: StartServer, mock: Mock) -> None:
    server = await started(start_server, mock, rate_limit=1, trusted_proxies="127.0.0.1")
    seen = []
    for address in ("192.0.2.1", "192.0.2.2", "192.0.2.1", "198.51.100.9, 192.0.2.2", "[2001:db8::1]:4711", "2001:db8::2"):
        seen.append((await caller(server, "openai", {"X-Forwarded-For": address}).ask()).status)
    # What stands before the address that the proxy saw is the caller's own word; an IPv6 network of 64 bits is one caller.
    assert seen == [200, 200, 429, 429, 200, 429]


async def test_without_trust_a_caller_cannot_say_who_it_is(
    start_server: StartServer, mock: Mock, caplog: pytest.LogCaptureFixture
) -> None:
    server = await started(start_server, mock, rate_limit=1)
    seen = [(await caller(server, "claude", {"X-Forwarded-For": f"192.0.2.{n}"}).ask()).status for n in range(3)]
    assert seen == [200, 429, 429]
    assert caplog.text.count("AGENTUI_TRUSTED_PROXIES") == 1


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_wrong_tokens_are_few_and_then_the_right_one_does_not_count_either(
    start_server: StartServer, mock: Mock, dialect: str
) -> None:
    server = await started(start_server, mock, token=TOKEN, token_attempts=3)
    tried = [(await caller(server, dialect, key=f"a-wrong-token-{number}").ask()).status for number in range(3)]
    assert tried == [401, 401, 401]
    late = await caller(server, dialect, {"x-agentui-token": TOKEN}).ask()
    assert late.status == 429
    assert "wrong access tokens" in error_of(dialect, late.json)
    assert int(late.headers["retry-after"]) >= 1
    assert mock.requests == []
    async with aiohttp.ClientSession(server.origin) as http, http.get("/health") as answer:
        assert answer.status == 200


async def test_who_sends_no_token_tries_none(start_server: StartServer, mock: Mock) -> None:
    server = await started(start_server, mock, token=TOKEN, token_attempts=1)
    for _ in range(4):
        assert (await caller(server, "openai", key="").ask()).status == 401
    assert (await caller(server, "openai", {"x-agentui-token": TOKEN}).ask()).status == 200


async def test_an_address_that_guesses_locks_nobody_else_out(start_server: StartServer, mock: Mock) -> None:
    server = await started(start_server, mock, token=TOKEN, token_attempts=1, trusted_proxies="127.0.0.0/8")
    bad, good = {"X-Forwarded-For": "192.0.2.66"}, {"X-Forwarded-For": "192.0.2.7", "x-agentui-token": TOKEN}
    assert [(await caller(server, "openai", bad, key="no-such-token").ask()).status for _ in range(3)] == [401, 429, 429]
    assert (await caller(server, "openai", good).ask()).status == 200


@given(
    per_minute=st.integers(1, 600),
    pauses=st.lists(st.floats(0, 40, allow_nan=False), min_size=1, max_size=80),
)
def test_a_bucket_gives_a_minutes_worth_and_then_as_it_fills(per_minute: int, pauses: list[float]) -> None:
    clock = Moment()
    buckets = Buckets(per_minute, clock=clock)
    taken: list[float] = []
    for pause in pauses:
        clock.now += pause
        for _ in range(per_minute // 4 + 1):
            if buckets.take("a") == 0:
                taken.append(clock.now)
    # From any answer to any later one no more than a minute's worth and what came in since. With ``ahead`` an answer's number
    # less what had come in by then, that is: no ``ahead`` is more than a minute's worth above an earlier one.
    lowest = float("inf")
    for number, at in enumerate(taken):
        ahead = number - per_minute * at / MINUTE
        lowest = min(lowest, ahead)
        assert ahead + 1 - lowest <= per_minute + 1e-3


def test_who_waits_as_long_as_told_is_served() -> None:
    clock = Moment()
    buckets = Buckets(7, clock=clock)
    for _ in range(7):
        assert buckets.take("a") == 0
    wait = buckets.take("a")
    assert 0 < wait <= MINUTE / 7 + 1e-6
    assert buckets.take("b") == 0
    clock.now += wait + 1e-6
    assert buckets.wait("a") == 0
    assert buckets.take("a") == 0
    assert buckets.take("a") > 0


def test_the_callers_remembered_are_bounded_and_the_latest_ones() -> None:
    buckets = Buckets(1, clock=Moment(), most=100)
    for number in range(1000):
        assert buckets.take(f"caller {number}") == 0
    assert len(buckets) == 100
    assert buckets.take("caller 999") > 0
    assert buckets.take("caller 0") == 0


class Asked:
    """A request as far as limits look at it."""

    def __init__(self, remote: str | None, forwarded: list[str]) -> None:
        self.remote = remote
        self.headers = CIMultiDict([("X-Forwarded-For", value) for value in forwarded])


@pytest.mark.parametrize(
    ("remote", "forwarded", "seen"),
    [
        ("192.0.2.9", ["198.51.100.1"], "192.0.2.9"),
        ("10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["203.0.113.5, 198.51.100.1", "10.0.0.7"], "198.51.100.1"),
        ("10.0.0.1", ["not an address", "10.0.0.7"], "10.0.0.7"),
        ("10.0.0.1", ["198.51.100.1:8080"], "198.51.100.1"),
        ("10.0.0.1", [""], "10.0.0.1"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("::ffff:10.0.0.1", ["::ffff:198.51.100.1"], "198.51.100.1"),
        ("fe80::1%eth0", [], "fe80::/64"),
        ("2001:db8:1:2:3:4:5:6", [], "2001:db8:1:2::/64"),
        (None, ["198.51.100.1"], None),
        ("", ["198.51.100.1"], None),
    ],
)
def test_the_address_of_a_caller(remote: str | None, forwarded: list[str], seen: str | None) -> None:
    limits = Limits(1, 1, ("10.0.0.0/8",), 1, 1)
    assert limits.caller_of(Asked(remote, forwarded)) == seen  # type: ignore[arg-type]  # as much of a request as is read


@pytest.mark.parametrize("value", ["10.0.0.1/8", "proxy.example", "300.1.1.1", "10.0.0.0/33"])
def test_a_proxy_that_is_no_address_is_refused_at_the_start(value: str) -> None:
    with pytest.raises(ValidationError, match="neither an address nor a network"):
        Settings(trusted_proxies=value)  # type: ignore[arg-type]  # as the environment has it


async def test_every_route_that_runs_a_pipeline_counts(start_server: StartServer, mock: Mock) -> None:
    """Found in the router, so a route that is new counts too."""
    server = await started(start_server, mock, rate_limit=1, trusted_proxies="127.0.0.1")
    handlers = {"proxy", "pass_through", "try_pipeline"}
    routes = [route for route in server.app.router.routes() if route.handler.__name__ in handlers]
    paths = [(route.method, route.resource.canonical) for route in routes if route.resource is not None]
    assert ("POST", "/api/try") in paths
    assert len(paths) > len(PATHS)
    async with aiohttp.ClientSession(server.origin) as http:
        for number, (method, path) in enumerate(paths):
            at = path.replace("{pipeline}", "openai").replace("{version}", "v1beta").replace("{call}", "m:generateContent")
            at = re.sub(r"{[^}]+}", "x", at)
            headers = {"X-Forwarded-For": f"192.0.2.{number}"}
            seen = []
            for _ in range(2):
                async with http.request(method, at, json={}, headers=headers) as answer:
                    seen.append(answer.status)
            assert seen[0] != 429, at
            assert seen[1] == 429, at


TOKEN_PLACES: Mapping[str, tuple[Mapping[str, str], str]] = {
    "x-agentui-token": ({"x-agentui-token": TOKEN}, ""),
    "bearer": ({"authorization": f"Bearer {TOKEN}"}, ""),
    "lower-case bearer": ({"authorization": f"bearer {TOKEN}"}, ""),
    "upper-case bearer and spaces": ({"authorization": f"  BEARER   {TOKEN}  "}, ""),
    "bearer in x-api-key": ({"x-api-key": f"bearer {TOKEN}"}, ""),
    "x-api-key": ({"x-api-key": TOKEN}, ""),
    "x-goog-api-key": ({"x-goog-api-key": TOKEN}, ""),
    "a key in the query": ({}, f"?key={TOKEN}"),
    "an escaped name in the query": ({}, f"?k%65y={TOKEN}"),
    "an escaped value in the query": ({}, f"?key=%6C{TOKEN[1:]}"),
    "the second key of a query": ({}, f"?key=no-such-token&key={TOKEN}"),
}
"""Where callers put the server's own token, in every way of writing it."""


@pytest.mark.parametrize("place", TOKEN_PLACES)
async def test_the_servers_token_counts_wherever_it_stands_and_goes_no_further(
    start_server: StartServer, mock: Mock, place: str
) -> None:
    headers, query = TOKEN_PLACES[place]
    forward: Json = {
        "format": 1,
        "name": "forward",
        "nodes": [{"id": "n1", "type": "RawForward", "config": {"base_url": mock.origin}}],
        "edges": [],
    }
    nodes = {"forward": forward, "call": call("caller", mock.origin)}
    server = await start_server(nodes, active="call", token=TOKEN)
    asked = {"model": "text", "messages": [{"role": "user", "content": "hi"}]}
    async with aiohttp.ClientSession() as http:
        for pipeline in nodes:
            url = URL(f"{server.origin}/p/{pipeline}/v1/chat/completions{query}", encoded=True)
            async with http.post(url, json=asked, headers=headers) as answer:
                assert answer.status != 403
                said = await answer.text()
                assert "access token" not in said
        async with http.get(URL(f"{server.origin}/v1/models{query}", encoded=True), headers=headers) as listed:
            assert listed.status == 200
        async with http.get(f"{server.origin}/api/runs", headers={"x-agentui-token": TOKEN}) as runs:
            ids = [run["id"] for run in await runs.json()]
        assert len(ids) == 2
        for id in ids:
            async with http.get(f"{server.origin}/api/runs/{id}", headers={"x-agentui-token": TOKEN}) as shown:
                assert TOKEN[1:] not in await shown.text()
    assert mock.requests
    for request in mock.requests:
        assert TOKEN[1:] not in f"{request.path}{dict(request.headers)}"
