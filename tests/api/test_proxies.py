"""Upstreams behind a proxy: the vendors' own clients, agentui, a real proxy, and a server that only the proxy knows."""

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import cast

import openai
import pytest

from agentui.cli import main
from agentui.jsonio import Json, dumps
from agentui.settings import proxy_environment
from tests.api.editor_client import editing
from tests.certificates import self_signed
from tests.conftest import StartServer, call
from tests.faults.conftest import forward
from tests.matrix.callers import Callers
from tests.matrix.neutral import Ask
from tests.upstreams.proxies import ProxyServer, proxy_server
from tests.upstreams.server import API_KEY, Mock

pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")

PASSWORD = "proxy-password-1234567890"
UPSTREAM = "http://model.example"
KINDS = ("http", "https", "socks5h")
EVERY = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
async def proxies(mock: Mock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Mapping[str, ProxyServer]]:
    """A proxy of each kind that wants a login, and knows the mock as ``model.example``."""
    certificate = self_signed(tmp_path / "proxy.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    async with AsyncExitStack() as stack:
        started = {}
        for kind in KINDS:
            started[kind] = await stack.enter_async_context(proxy_server(kind, context if kind == "https" else None))
            started[kind].hosts = {"model.example": int(mock.origin.rpartition(":")[2])}
            started[kind].login = ("me", PASSWORD)
        yield started


async def ask_everybody(origin: str) -> None:
    """Ask with each vendor's own client, streamed and not."""
    callers = Callers.make()
    try:
        for dialect in ("openai", "openai_responses", "claude", "gemini"):
            for stream in (False, True):
                answer = await callers[dialect].ask(origin, Ask(), stream=stream)
                assert answer.texts == ["Hello from the mock."]
    finally:
        await callers.close()


@EVERY
async def test_the_vendors_clients_reach_a_model_that_only_a_proxy_knows(
    start_server: StartServer, proxies: Mapping[str, ProxyServer], kind: str
) -> None:
    proxy = proxies[kind]
    address = proxy.address_of("me", PASSWORD)
    for way in ({"upstream_proxy": address}, {"proxy_env": {"ALL_PROXY": address}}):
        server = await start_server({"default": call("caller", UPSTREAM), "other": forward(UPSTREAM)}, **way)
        await ask_everybody(server.origin)
        await ask_everybody(f"{server.origin}/p/other")
    assert set(proxy.goals) == {"model.example:80"}
    assert proxy.connections < 16, "connections are used again"


async def test_a_node_names_its_own_proxy_with_a_secret(
    start_server: StartServer, proxies: Mapping[str, ProxyServer], mock: Mock
) -> None:
    bound = proxies["socks5h"]
    text = bound.address_of("me", "[[SECRET:corp]]")
    env = {"AGENTUI_SECRET_CORP": PASSWORD, "AGENTUI_SECRET_CORP_ORIGINS": f"http://127.0.0.1:{bound.port}"}
    elsewhere = proxies["http"].address_of("me", "[[SECRET:corp]]")
    pipelines = {
        "default": call("caller", UPSTREAM, proxy=text),
        "raw": forward(UPSTREAM, proxy=text),
        "elsewhere": call("caller", UPSTREAM, proxy=elsewhere),
        "direct": call("caller", "http://127.0.0.1:9", proxy="direct"),
    }
    server = await start_server(pipelines, secret_env=env, upstream_proxy="http://127.0.0.1:9")
    async with openai.AsyncOpenAI(base_url=server.origin, api_key=API_KEY, max_retries=0) as client:

        async def ask(pipeline: str) -> str | None:
            ours = client.with_options(base_url=f"{server.origin}/p/{pipeline}/v1")
            answer = await ours.chat.completions.create(model="text", messages=[{"role": "user", "content": "Hi"}])
            return answer.choices[0].message.content

        assert await ask("default") == await ask("raw") == "Hello from the mock."
        with pytest.raises(openai.PermissionDeniedError, match="corp"):
            await ask("elsewhere")
        with pytest.raises(openai.APIStatusError, match="refused the connection"):
            await ask("direct")
    assert proxies["http"].connections == 0
    assert len(bound.goals) == 1


async def test_an_unbound_secret_goes_to_a_proxy_that_is_written_out_only(start_server: StartServer) -> None:
    there = call("caller", UPSTREAM, proxy="http://me:[[SECRET:corp]]@{{ incoming.json.host }}:3128")
    server = await start_server({"default": there}, secret_env={"AGENTUI_SECRET_CORP": PASSWORD})
    async with openai.AsyncOpenAI(base_url=f"{server.origin}/v1", api_key=API_KEY, max_retries=0) as client:
        with pytest.raises(openai.PermissionDeniedError, match="bound to no origin"):
            await client.chat.completions.create(
                model="text", messages=[{"role": "user", "content": "Hi"}], extra_body={"host": "127.0.0.1"}
            )


@EVERY
async def test_a_login_is_in_nothing_that_is_shown(
    start_server: StartServer, proxies: Mapping[str, ProxyServer], kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    proxies[kind].login = ("me", "another")
    address = proxies[kind].address_of("me", PASSWORD)
    pipelines = {"default": call("caller", UPSTREAM), "own": call("caller", UPSTREAM, proxy=address)}
    server = await start_server(pipelines, upstream_proxy=address)
    shown = []
    async with openai.AsyncOpenAI(base_url=server.origin, api_key=API_KEY, max_retries=0) as client, editing(server) as editor:
        for pipeline in pipelines:
            ours = client.with_options(base_url=f"{server.origin}/p/{pipeline}/v1")
            with pytest.raises(openai.InternalServerError) as caught:
                await ours.chat.completions.create(model="text", messages=[{"role": "user", "content": "Hi"}])
            assert caught.value.code == "upstream_proxy_failed", caught.value.body
            assert f":{proxies[kind].port}" in str(caught.value)
            shown.append(str(caught.value.body))
        runs = await editor.get("/api/runs")
        for run in cast(list[dict[str, str]], runs.body):
            shown.append(dumps((await editor.get(f"/api/runs/{run['id']}")).body).decode())
        shown.append((await editor.get("/api/settings")).text)
        checked = await editor.post("/api/validate", {"document": pipelines["own"]})
        shown.append(dumps(checked.body).decode())
        assert proxies[kind].address.rpartition("/")[2] in dumps(checked.body).decode(), "it is one of the hosts"
    shown.append(caplog.text)
    assert "attempt" in "".join(shown)
    assert all(PASSWORD not in text for text in shown)


async def test_an_address_that_is_none_is_a_problem_of_its_node(start_server: StartServer) -> None:
    server = await start_server({"default": call("caller", UPSTREAM, proxy=f"ftp://me:{PASSWORD}@proxy")})
    async with editing(server) as editor:
        checked = await editor.post("/api/validate", {"document": call("caller", UPSTREAM, proxy=f"ftp://me:{PASSWORD}@proxy")})
    problems = cast(dict[str, list[dict[str, Json]]], checked.body)["problems"]
    assert [(problem["code"], problem["field"]) for problem in problems] == [("proxy.address", "proxy")]
    assert PASSWORD not in str(problems)


def test_a_server_whose_own_proxy_is_none_does_not_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AGENTUI_UPSTREAM_PROXY", f"ftp://me:{PASSWORD}@proxy")
    assert main(["serve", "--port", "0"]) == 1
    said = capsys.readouterr().err
    assert "AGENTUI_UPSTREAM_PROXY" in said and "socks5" in said and PASSWORD not in said


def test_the_environment_gives_what_names_proxies_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, name)
    monkeypatch.setenv("FTP_PROXY", "x")
    found = proxy_environment()
    assert len(found) == 8 and all(name == value for name, value in found.items())
