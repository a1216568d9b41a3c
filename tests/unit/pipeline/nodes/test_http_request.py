"""The node HttpRequest: what goes out to a real service, what comes of its answer, and where it may not go."""

import socket
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, unquote

import pytest
from aiohttp import ClientSession
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentui.errors import (
    AgentUIError,
    Forbidden,
    InvalidPipeline,
    NodeFailed,
    TemplateProblem,
    UpstreamError,
    UpstreamInvalid,
    UpstreamTimeout,
    UpstreamUnreachable,
)
from agentui.jsonio import Json
from agentui.pipeline.node import Catalog
from agentui.pipeline.nodes import BUILTIN
from agentui.pipeline.plans.hosts import hosts_of
from agentui.upstream.client import Upstream
from tests.conftest import StartServer
from tests.definitions.conftest import Service, service
from tests.unit.pipeline.parts import Ear, compiled, document, execute, make_incoming, make_services
from tests.upstreams.proxies import proxy_server

__all__ = ["service"]

KEY = "the-key-0123456789"


def request(url: str, **config: Json) -> Json:
    return {"id": "n1", "type": "HttpRequest", "config": {"url": url, **config}}


class Caller:
    """Runs a node against what really listens."""

    def __init__(self, upstream: Upstream, service: Service) -> None:
        self.upstream = upstream
        self.service = service
        self.ear = Ear()

    async def ask(
        self, path: str = "/", question: str = "Hi", env: Mapping[str, str] | None = None, seconds: float = 30.0, **config: Json
    ) -> Json:
        """The node's OUT."""
        services = replace(make_services(Path("/nowhere"), env), upstream=self.upstream)
        body = {"model": "m", "messages": [{"role": "user", "content": question}]}
        plan = compiled([request(self.service.origin + path if path.startswith("/") else path, **config)])
        run = await execute(plan, make_incoming(body), self.ear, seconds=seconds, services=services)
        return run.out["n1"]


@pytest.fixture
async def caller(service: Service) -> AsyncIterator[Caller]:
    async with Upstream() as upstream:
        yield Caller(upstream, service)


async def test_a_request_goes_out_as_it_is_written_and_its_answer_is_out(caller: Caller) -> None:
    out = await caller.ask(
        "/rooms/{{ chat.last_user }}?all=1",
        "a/b & ü",
        method="POST",
        query={"q": "{{ chat.last_user }}", "none": "{{ missing }}"},
        headers={"X-Name": "{{ model }}", "x-none": ""},
        body_kind="json",
        body='{"said": "{{ chat.last_user }}", "n": {{ missing|default(3) }}}',
    )
    headers = out.pop("headers")
    assert out == {"status": 200, "ok": True, "text": '{"weather": "sunny"}', "json": {"weather": "sunny"}}
    assert headers["content-type"] == "application/json" and "server" not in headers
    [asked] = caller.service.asked
    assert (asked.method, asked.path) == ("POST", "/rooms/a%2Fb%20&%20%C3%BC?all=1&q=a/b%20%26%20%C3%BC")
    assert (asked.json, asked.headers["x-name"]) == ({"said": "a/b & ü", "n": 3}, "m")
    assert asked.headers["content-type"] == "application/json" and "x-none" not in asked.headers
    assert int(asked.headers["x-agentui-hops"]) == 1
    # A node that answers says the text.
    assert caller.ear.texts == ['{"weather": "sunny"}']


async def test_a_text_is_sent_and_read_as_a_text(caller: Caller) -> None:
    caller.service.content_type, caller.service.body = "text/plain", "é".encode()
    out = await caller.ask(body_kind="text", body="{{ chat.last_user }}!", method="PUT", headers={"content-type": "text/x"})
    assert (out["text"], out["json"]) == ("é", None)
    assert (caller.service.asked[0].body, caller.service.asked[0].headers["content-type"]) == (b"Hi!", "text/x")
    caller.service.content_type, caller.service.body = "image/png", b"\x89PNG"
    assert (await caller.ask())["text"] == ""
    caller.service.content_type, caller.service.body = "application/json", b"{"
    assert (await caller.ask())["json"] is None


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(min_size=1, max_size=30))
async def test_a_value_stays_one_part_of_the_address(caller: Caller, value: str) -> None:
    caller.service.asked.clear()
    try:
        await caller.ask("/a/{{ chat.last_user }}/b", value, query={"q": "{{ chat.last_user }}"})
    except (NodeFailed, TemplateProblem):
        return
    path, _, query = caller.service.asked[0].path.partition("?")
    _, first, segment, last = path.split("/")
    assert (first, last) == ("a", "b") and segment not in ("", ".", "..")
    sent = value.encode("utf-8", "replace").decode()
    assert unquote(segment) == sent and parse_qs(query, keep_blank_values=True) == {"q": [sent]}


@pytest.mark.parametrize("question", ["..", ".", "a\r\nb", ""])
async def test_a_value_that_would_lead_elsewhere_fails(caller: Caller, question: str) -> None:
    with pytest.raises((NodeFailed, TemplateProblem)):
        await caller.ask("/a/{{ chat.last_user }}", question, method="DELETE")
    assert caller.service.asked == []


@pytest.mark.parametrize("status", [400, 404, 500])
async def test_an_error_status_fails_the_node_where_it_should(caller: Caller, status: int) -> None:
    caller.service.status = status
    out = await caller.ask(fail_on_status=False)
    assert (out["status"], out["ok"], out["json"]) == (status, False, {"weather": "sunny"})
    with pytest.raises(UpstreamError, match=f"status {status}: .*sunny") as caught:
        await caller.ask()
    assert (caught.value.status, caught.value.code) == (502, "upstream_error")
    assert len(caller.service.asked) == 2, "never tried again"


async def test_an_error_shows_no_part_of_a_key_that_the_service_repeats(caller: Caller) -> None:
    env = {"AGENTUI_SECRET_MINE": KEY, "AGENTUI_SECRET_MINE_ORIGINS": caller.service.origin}
    caller.service.status, caller.service.content_type = 401, "text/plain"
    caller.service.body = b"x" * 190 + KEY.encode()
    with pytest.raises(UpstreamError) as caught:
        await caller.ask(env=env, headers={"authorization": "[[SECRET:mine]]"})
    assert "x***" in caught.value.message and KEY[:4] not in caught.value.message


async def test_what_a_service_may_answer_has_bounds(caller: Caller) -> None:
    caller.service.content_type, caller.service.body = "text/plain", b"a" * 10_000_000
    with pytest.raises(UpstreamInvalid, match="larger than"):
        await caller.ask()
    assert len((await caller.ask(max_bytes=10_000_000))["text"]) == 10_000_000
    caller.service.status, caller.service.headers = 302, {"location": "http://169.254.169.254/"}
    with pytest.raises(UpstreamInvalid, match="redirects"):
        await caller.ask()


async def test_a_service_that_does_not_answer_in_time_is_left(caller: Caller) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(UpstreamTimeout):
        await caller.ask(f"http://127.0.0.1:{silent.getsockname()[1]}/", timeout_s=0.1)
    caller.service.breaks = True
    with pytest.raises(UpstreamError):
        await caller.ask(method="DELETE")
    assert len(caller.service.asked) == 1, "never tried again"


async def test_a_key_goes_only_where_it_is_bound_to(caller: Caller) -> None:
    env = {"AGENTUI_SECRET_MINE": KEY, "AGENTUI_SECRET_MINE_ORIGINS": caller.service.origin}
    bank = {"AGENTUI_SECRET_BANK": KEY, "AGENTUI_SECRET_BANK_ORIGINS": "https://bank.example", "AGENTUI_SECRET_FREE": KEY}
    await caller.ask(env=env, headers={"authorization": "Bearer [[SECRET:mine]]"}, query={"key": "[[SECRET:mine]]"})
    asked = caller.service.asked.pop()
    assert (asked.headers["authorization"], asked.path) == (f"Bearer {KEY}", f"/?key={KEY}")
    told = [event.data for event in caller.ear.run.events.items if event.type == "node.request"]
    assert KEY not in caller.ear.run.redactor.redact(str(told))
    for stolen in (
        {"headers": {"authorization": "[[SECRET:bank]]"}},
        {"query": {"key": "[[SECRET:bank]]"}},
        {"path": "/[[SECRET:bank]]"},
        {"method": "POST", "body_kind": "json", "body": '{"key": "[[SECRET:bank]]"}'},
        {"method": "POST", "body_kind": "text", "body": "[[SECRET:bank]]"},
    ):
        with pytest.raises(Forbidden, match="may not be sent to"):
            await caller.ask(env=bank, **stolen)
    with pytest.raises(Forbidden, match="comes from a macro"):
        await caller.ask("{{ chat.last_user }}/x", caller.service.origin, env=bank, headers={"x-key": "[[SECRET:free]]"})
    assert caller.service.asked == []


async def test_a_request_goes_through_a_proxy(caller: Caller) -> None:
    async with proxy_server("http") as proxy:
        proxy.hosts = {"service.example": caller.service.port}
        out = await caller.ask("http://service.example/x", proxy=proxy.address)
    assert out["json"] == {"weather": "sunny"} and caller.service.asked[0].headers["host"] == "service.example"


INSIDE = [
    "169.254.169.254", "metadata.google.internal", "127.0.0.1", "10.0.0.1", "[::1]", "0x7f.1", "localhost", "[::ffff:10.0.0.1]",
]  # fmt: skip


async def test_requests_go_where_every_call_may_go(service: Service) -> None:
    async with Upstream(allow_private=False) as upstream:
        caller = Caller(upstream, service)
        for host in INSIDE:
            with pytest.raises(UpstreamUnreachable):
                await caller.ask(f"http://{host}:{service.port}/x")
            with pytest.raises((UpstreamUnreachable, TemplateProblem, AgentUIError)):
                await caller.ask("{{ chat.last_user }}", f"http://{host}:{service.port}/x")
        for address in ("file:///etc/passwd", "gopher://x/", "//x/", "x"):
            with pytest.raises(AgentUIError):
                await caller.ask("{{ chat.last_user }}", address)
    assert service.asked == []


async def test_this_server_is_not_called_and_others_are_told_in_their_dialect(
    start_server: StartServer, service: Service
) -> None:
    pipelines: dict[str, Json] = {
        "default": document([request("{{ chat.last_user }}")]),
        "fixed": document([request(f"{service.origin}/x")]),
    }
    server = await start_server(pipelines)
    async with ClientSession() as session:

        async def ask(model: str, question: str) -> tuple[int, str]:
            body = {"model": model, "messages": [{"role": "user", "content": question}]}
            async with session.post(f"{server.origin}/v1/chat/completions", json=body) as reply:
                return reply.status, await reply.text()

        status, text = await ask("m", f"{server.origin}/api/secrets")
        assert (status, "this server itself" in text) == (502, True)
        status, text = await ask("pipeline/fixed/m", "Hi")
        assert (status, "sunny" in text) == (200, True)


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ({"url": ""}, "http.no_url"),
        ({"url": "ftp://x/"}, "url.scheme"),
        ({"url": "http://x/", "headers": {"Host": "y"}}, "header.name"),
        ({"url": "http://x/", "headers": {"a b": "y"}}, "header.name"),
        ({"url": "http://x/", "proxy": "ftp://x"}, "proxy.address"),
    ],
)
def test_what_cannot_be_asked_is_told_when_the_pipeline_is_saved(config: Json, code: str) -> None:
    with pytest.raises(InvalidPipeline) as caught:
        compiled([{"id": "n1", "type": "HttpRequest", "config": config}])
    assert code in [problem.code for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://a.example:8443/x/{{ model }}?k=[[SECRET:x]]", "a.example:8443"),
        ("https://{{ model }}.example/x", "https://{{ model }}.example/x"),
        ("http://[::1]:80/{{ model }}", "[::1]:80"),
    ],
)
def test_a_check_says_where_keys_would_go(url: str, host: str) -> None:
    assert hosts_of(document([request(url)]), Catalog(BUILTIN), make_services()) == [host]
