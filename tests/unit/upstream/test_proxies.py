"""Proxies on the way out: real ones on loopback, and which one is chosen."""

import asyncio
import ipaddress
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from agentui.errors import UpstreamProxyFailed, UpstreamTimeout, UpstreamUnavailable, UpstreamUnreachable
from agentui.upstream.call import Attempt, UpstreamCall
from agentui.upstream.client import Upstream
from agentui.upstream.http.exchange import Timeouts
from agentui.upstream.http.proxy import Proxy
from agentui.upstream.proxies import NoProxy, ProxyRules
from tests.certificates import self_signed
from tests.unit.upstream.conftest import PATIENCE, Bytes, Visit, serving
from tests.upstreams.proxies import ProxyServer, proxy_server

NAME = "model.example"
PASSWORD = "pass-word-1234567890"
KINDS = ("http", "https", "socks5h")
EVERY = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return self_signed(tmp_path_factory.mktemp("certificates") / "model.pem", NAME)


@pytest.fixture
def trusting(certificate: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(certificate))


@pytest.fixture
def server_context(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


@pytest.fixture
async def plain() -> AsyncIterator[Bytes]:
    async for server in serving():
        yield server


@pytest.fixture
async def tls(server_context: ssl.SSLContext) -> AsyncIterator[Bytes]:
    async for server in serving(server_context):
        yield server


@pytest.fixture
async def proxies(plain: Bytes, tls: Bytes, server_context: ssl.SSLContext) -> AsyncIterator[dict[str, ProxyServer]]:
    """A proxy of each kind, which knows ``model.example`` (under TLS) and ``plain.example``."""
    async with AsyncExitStack() as stack:
        started = {}
        for kind in KINDS:
            context = server_context if kind == "https" else None
            started[kind] = await stack.enter_async_context(proxy_server(kind, context))
            started[kind].hosts = {NAME: int(tls.url.rpartition(":")[2]), "plain.example": int(plain.url.rpartition(":")[2])}
        yield started


def call(url: str = f"https://{NAME}/v1", **more: object) -> UpstreamCall:
    fields: dict[str, object] = {"headers": {"x-api-key": "k"}, "body": b"{}"} | more
    return UpstreamCall("POST", url, **fields)  # type: ignore[arg-type]  # the tests' own shorthand


def through(address: str, trusting: ssl.SSLContext) -> Upstream:
    return Upstream(proxies=ProxyRules(address), ssl_context=trusting, jitter=lambda: 0.0)


async def fails(upstream: Upstream, asked: UpstreamCall) -> UpstreamProxyFailed:
    with pytest.raises(UpstreamProxyFailed) as caught:
        await upstream.send(asked)
    assert PASSWORD not in str(caught.value) and PASSWORD not in str(caught.value.details)
    return caught.value


# -- ways through


@EVERY
async def test_an_https_upstream_is_reached_under_its_own_name_and_its_own_tls(
    proxies: dict[str, ProxyServer], tls: Bytes, trusting: ssl.SSLContext, kind: str
) -> None:
    tls.script = Visit.answer
    proxy = proxies[kind]
    async with through(proxy.address, trusting) as upstream:
        for _ in range(3):
            assert (await upstream.send(call())).body == b"ok"
    assert (proxy.goals, proxy.connections, len(tls.visits)) == ([f"{NAME}:443"], 1, 3), "one tunnel, used again"
    assert tls.visits[0].head.startswith(b"POST /v1 HTTP/1.1\r\nHost: model.example\r\n")
    assert b"x-api-key" not in b"".join(proxy.heads)


@EVERY
async def test_an_http_upstream_is_reached_too(
    proxies: dict[str, ProxyServer], plain: Bytes, trusting: ssl.SSLContext, kind: str
) -> None:
    plain.script = Visit.answer
    proxy = proxies[kind]
    proxy.login = ("me", PASSWORD)
    async with through(proxy.address_of("me", PASSWORD), trusting) as upstream:
        assert (await upstream.send(call("http://plain.example/v1?a=b"))).body == b"ok"
    assert proxy.goals == ["plain.example:80"]
    assert plain.visits[0].head.startswith(b"POST /v1?a=b HTTP/1.1\r\n")
    assert b"proxy-authorization" not in plain.visits[0].head.lower()


@EVERY
async def test_large_bodies_and_streams_pass_and_leaving_ends_the_upstream(
    proxies: dict[str, ProxyServer], tls: Bytes, trusting: ssl.SSLContext, kind: str
) -> None:
    async def script(visit: Visit) -> None:
        if visit.number == 1:
            await visit.answer(200, visit.body)
        else:
            await visit.say(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            await visit.say(b"5\r\nfirst\r\n")
            await visit.gone()

    tls.script = script
    async with through(proxies[kind].address, trusting) as upstream:
        body = b"x" * 3_000_000
        assert (await upstream.send(call(body=body))).body == body
        async with upstream.open(call()) as stream:
            assert await anext(stream.chunks()) == b"first"
        await asyncio.wait_for(tls.aborted.wait(), PATIENCE)


async def test_socks5_is_told_an_address_that_was_judged_here(
    proxies: dict[str, ProxyServer], plain: Bytes, trusting: ssl.SSLContext
) -> None:
    from tests.unit.upstream.test_client import Fixed

    plain.script = Visit.answer
    proxy = proxies["socks5h"]
    port = plain.url.rpartition(":")[2]
    rules = ProxyRules(proxy.address.replace("socks5h", "socks5"))
    async with Upstream(proxies=rules, resolver=Fixed("127.0.0.1")) as upstream:
        assert (await upstream.send(call(f"http://somewhere.example:{port}/"))).status == 200
    assert proxy.goals == [f"127.0.0.1:{port}"]
    async with Upstream(proxies=rules, resolver=Fixed("169.254.169.254")) as upstream:
        with pytest.raises(UpstreamUnreachable, match="never called"):
            await upstream.send(call("http://somewhere.example/"))


@EVERY
async def test_a_login_is_sent_and_a_wrong_one_is_said_to_be_wrong(
    proxies: dict[str, ProxyServer], tls: Bytes, trusting: ssl.SSLContext, kind: str
) -> None:
    tls.script = Visit.answer
    proxy = proxies[kind]
    proxy.login = ("me@corp", PASSWORD)
    heard: list[Attempt] = []
    async with through(proxy.address_of("me%40corp", PASSWORD), trusting) as upstream:
        assert (await upstream.send(call())).status == 200
    for address in (proxy.address, proxy.address_of("me", PASSWORD)):
        for url in (f"https://{NAME}/", "http://plain.example/"):
            heard.clear()
            async with through(address, trusting) as upstream:
                error = await fails(upstream, call(url, on_attempt=heard.append))
                assert f"The proxy {address.rpartition('/')[2].rpartition('@')[2]}" in error.message
                assert "user name" in error.message
                assert (len(heard), heard[0].status) == (1, None), "asking again would not help"
                [origin] = upstream.origins().values()
                assert not origin.breaker.is_open()


async def test_connections_of_different_logins_are_not_shared(
    proxies: dict[str, ProxyServer], tls: Bytes, trusting: ssl.SSLContext
) -> None:
    tls.script = Visit.answer
    proxy = proxies["http"]
    async with Upstream(ssl_context=trusting) as upstream:
        for user in ("one", "two", "one"):
            await upstream.send(call(proxy=proxy.address_of(user, PASSWORD)))
    assert proxy.connections == 2


# -- what goes wrong


def answer(status: str, body: bytes = b"<html>page</html>", kind: str = "text/html") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


@pytest.mark.parametrize(
    ("said", "text", "tries"),
    [
        (answer("200 OK"), "a page of its own", 1),
        (b"HTTP/1.1 200 OK\r\n\r\n<html>", "a page of its own", 1),
        (answer("403 Forbidden"), "answered 403", 1),
        (answer("502 Bad Gateway"), "answered 502", 2),
        (b"<html>no http</html>\r\n\r\n", "not HTTP", 1),
        (b"x" * 20_000, "not HTTP", 1),
        (b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 10_000, "not HTTP", 1),
    ],
)
async def test_an_answer_to_connect_that_is_no_tunnel(
    proxies: dict[str, ProxyServer], trusting: ssl.SSLContext, said: bytes, text: str, tries: int
) -> None:
    proxy, heard = proxies["http"], list[Attempt]()
    proxy.answer = said
    async with through(proxy.address, trusting) as upstream:
        error = await fails(upstream, call(on_attempt=heard.append))
    assert (error.code, error.status, text in error.message) == ("upstream_proxy_failed", 502, True), error.message
    assert "page</html>" not in error.message
    assert error.details == {"host": NAME, "proxy": f"127.0.0.1:{proxy.port}"}
    assert len(heard) == tries


@pytest.mark.parametrize(
    ("reply", "text", "tries"), [(1, "failed", 2), (2, "does not allow", 1), (4, "does not reach", 2), (8, "reply 8", 1)]
)
async def test_what_a_socks_proxy_refuses(
    proxies: dict[str, ProxyServer], trusting: ssl.SSLContext, reply: int, text: str, tries: int
) -> None:
    proxy, heard = proxies["socks5h"], list[Attempt]()
    proxy.answer = bytes([5, reply, 0, 1, 0, 0, 0, 0, 0, 0])
    async with through(proxy.address, trusting) as upstream:
        error = await fails(upstream, call(on_attempt=heard.append))
    assert text in error.message and NAME in error.message
    assert len(heard) == tries


async def test_a_web_server_is_no_socks_proxy(plain: Bytes, trusting: ssl.SSLContext) -> None:
    async with asyncio.timeout(60), through(plain.url.replace("http", "socks5h"), trusting) as upstream:
        plain.script = Visit.answer
        limits = Timeouts(connect=0.3)
        assert "did not bring about" in (await fails(upstream, call(timeouts=limits))).message


@pytest.mark.parametrize("kind", [*KINDS, "socks5"])
async def test_a_proxy_that_is_not_there_is_named_tried_twice_and_then_left_alone(
    trusting: ssl.SSLContext, kind: str, closed_port: int
) -> None:
    heard = list[Attempt]()
    async with through(f"{kind}://localhost:{closed_port}", trusting) as upstream:
        error = await fails(upstream, call("https://192.0.2.7/v1", on_attempt=heard.append))
        assert error.message.startswith(f"The proxy localhost:{closed_port} refused the connection")
        assert len(heard) == 2
        with pytest.raises(UpstreamUnavailable, match=f"192.0.2.7 .through the proxy localhost:{closed_port}. failed"):
            for _ in range(30):
                with pytest.raises(UpstreamProxyFailed):
                    await upstream.send(call("https://192.0.2.7/v1", retries=False))


async def test_a_proxy_whose_name_leads_nowhere_is_named(trusting: ssl.SSLContext) -> None:
    from tests.unit.upstream.test_client import Fixed

    async with Upstream(proxies=ProxyRules("http://proxy.example:3128"), resolver=Fixed()) as upstream:
        assert "The proxy proxy.example:3128 has a name" in (await fails(upstream, call())).message


@EVERY
async def test_a_slow_proxy_is_waited_for_as_long_as_a_connection_may_take(
    proxies: dict[str, ProxyServer], trusting: ssl.SSLContext, kind: str
) -> None:
    proxies[kind].holds = True
    async with through(proxies[kind].address, trusting) as upstream:
        error = await fails(upstream, call(timeouts=Timeouts(connect=0.2)))
        assert "did not bring about a connection to model.example within 0.2 seconds" in error.message
        with pytest.raises(UpstreamTimeout):
            await upstream.send(call(deadline=time.monotonic() + 0.2))


async def test_a_certificate_is_judged_by_whose_it_is(proxies: dict[str, ProxyServer], certificate: Path) -> None:
    async with through(proxies["https"].address, ssl.create_default_context()) as upstream:
        error = await fails(upstream, call())
        assert error.message.startswith(f"The certificate of the proxy localhost:{proxies['https'].port} was not accepted")
    async with through(proxies["http"].address, ssl.create_default_context()) as upstream:
        with pytest.raises(UpstreamUnreachable, match=f"The certificate of {NAME} was not accepted"):
            await upstream.send(call())


# -- where connections may go


@pytest.mark.parametrize("host", ["metadata.google.internal", "METADATA.google.internal.", "instance-data"])
async def test_a_metadata_service_is_not_asked_for_by_name(trusting: ssl.SSLContext, host: str) -> None:
    async with through("http://127.0.0.1:9", trusting) as upstream:
        with pytest.raises(UpstreamUnreachable, match="metadata"):
            await upstream.send(call(f"http://{host}/"))


@pytest.mark.parametrize("host", ["169.254.169.254", "10.0.0.1", "intranet", "wiki.corp", "printer.local"])
async def test_where_private_addresses_are_closed_the_far_side_has_none_either(trusting: ssl.SSLContext, host: str) -> None:
    rules = ProxyRules("http://192.0.2.1:9")
    async with Upstream(allow_private=False, proxies=rules) as upstream:
        with pytest.raises(UpstreamUnreachable):
            await upstream.send(call(f"http://{host}/"))


async def test_a_nodes_proxy_is_judged_as_an_upstream_is_and_the_operators_is_trusted(
    proxies: dict[str, ProxyServer], tls: Bytes, trusting: ssl.SSLContext
) -> None:
    tls.script = Visit.answer
    operators = proxies["http"].address
    async with Upstream(allow_private=False, proxies=ProxyRules(operators), ssl_context=trusting) as upstream:
        assert (await upstream.send(call())).status == 200
        for address in (proxies["socks5h"].address, "http://169.254.169.254:80", "http://[fe80::1]:80", "http://2130706433"):
            assert "proxy cannot be used" in (await fails(upstream, call(proxy=address))).message
    async with Upstream(ssl_context=trusting) as upstream:
        await fails(upstream, call(proxy="http://169.254.169.254"))


# -- which one

TABLE = [
    # NO_PROXY, host, port, is covered
    ("", "example.com", 443, False),
    ("*", "example.com", 443, True),
    ("example.com", "example.com", 443, True),
    ("example.com", "api.example.com", 443, True),
    (".example.com", "example.com", 443, True),
    ("*.example.com", "api.example.com", 443, True),
    ("example.com", "notexample.com", 443, False),
    ("EXAMPLE.com.", "Example.COM.", 443, True),
    ("a.com, b.com", "b.com", 443, True),
    ("a.com b.com", "b.com", 443, True),
    ("example.com:8080", "example.com", 8080, True),
    ("example.com:8080", "example.com", 443, False),
    ("192.168.1.1", "192.168.1.1", 80, True),
    ("192.168.1.1", "192.168.1.10", 80, False),
    ("192.168.0.0/16", "192.168.1.10", 80, True),
    ("192.168.0.0/16", "192.169.1.10", 80, False),
    ("192.168.1.1:8080", "192.168.1.1", 80, False),
    ("192.168.1.1:8080", "192.168.1.1", 8080, True),
    ("fd00::/8", "fd12::1", 80, True),
    ("fd12::1", "fd12::1", 80, True),
    ("[fd12::1]:80", "fd12::1", 80, True),
    ("[fd12::1]:80", "fd12::1", 81, False),
    ("10.0.0.0/8", "ten.example", 80, False),
    ("com", "example.com", 80, True),
    (",, ,", "example.com", 80, False),
    (".", "example.com", 80, False),
]


@pytest.mark.parametrize(("text", "host", "port", "is_covered"), TABLE)
def test_no_proxy(text: str, host: str, port: int, is_covered: bool) -> None:
    assert NoProxy(text).covers(host, port) is is_covered
    assert NoProxy(f"other.test,{text},10.9.8.7").covers(host, port) is is_covered


names = st.from_regex(r"[a-z][a-z0-9-]{0,8}(\.[a-z][a-z0-9]{0,8}){1,3}", fullmatch=True)


@given(names, names, st.integers(1, 65535))
def test_a_name_covers_itself_and_all_below_it_and_nothing_else(name: str, other: str, port: int) -> None:
    rule = NoProxy(name)
    assert rule.covers(name, port) and rule.covers(f"x.{name}", port) and not rule.covers(f"x{name}", port)
    assert rule.covers(other, port) == (other == name or other.endswith(f".{name}"))


@given(st.ip_addresses(), st.integers(0, 128), st.ip_addresses())
def test_a_network_covers_the_addresses_in_it(base: ipaddress.IPv4Address, bits: int, address: ipaddress.IPv4Address) -> None:
    network = ipaddress.ip_network((base, min(bits, base.max_prefixlen)), strict=False)
    rule = NoProxy(str(network))
    assert rule.covers(str(base), 80)
    assert rule.covers(str(address), 80) == (address in network)


HTTPS, HTTP = URL("https://api.example/"), URL("http://api.example/")


def chosen(url: URL, environment: dict[str, str], setting: str = "", own: str = "") -> str | None:
    proxy = ProxyRules(setting, environment).choose(url, own)
    return None if proxy is None else f"{proxy.scheme}://{proxy.name}"


def test_the_environment_is_read_as_curl_and_httpx_read_it() -> None:
    assert chosen(HTTPS, {}) is None
    assert chosen(HTTPS, {"HTTPS_PROXY": "http://p:1"}) == "http://p:1"
    assert chosen(HTTP, {"HTTPS_PROXY": "http://p:1"}) is None
    assert chosen(HTTP, {"http_proxy": "p:1"}) == "http://p:1"
    assert chosen(HTTPS, {"HTTPS_PROXY": "http://p:1", "https_proxy": "http://q:2"}) == "http://q:2"
    assert chosen(HTTPS, {"HTTPS_PROXY": "http://p:1", "https_proxy": ""}) == "http://p:1"
    assert chosen(HTTPS, {"ALL_PROXY": "socks5://p", "HTTP_PROXY": "http://q:2"}) == "socks5://p:1080"
    assert chosen(HTTP, {"ALL_PROXY": "socks5://p", "HTTP_PROXY": "http://q:2"}) == "http://q:2"
    assert chosen(HTTPS, {"all_proxy": "socks://p:9"}) == "socks5h://p:9"
    assert chosen(HTTPS, {"ALL_PROXY": "http://p:1", "no_proxy": "example"}) is None
    assert chosen(HTTPS, {"ALL_PROXY": "http://p:1", "NO_PROXY": "api.example:80"}) == "http://p:1"


def test_the_setting_wins_over_the_environment_and_the_node_over_both() -> None:
    environment = {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "local.example"}
    assert chosen(HTTPS, environment, "https://s") == "https://s:443"
    assert chosen(HTTPS, environment, "direct") is None
    assert chosen(HTTPS, environment, "direct", own="socks5h://n:2") == "socks5h://n:2"
    assert chosen(HTTPS, environment, "http://s:1", own="direct") is None
    assert chosen(URL("https://local.example/"), environment, "http://s:1") is None
    assert chosen(URL("https://local.example/"), environment, own="http://n:1") == "http://n:1"


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "127.9.9.9", "[::1]", "[::ffff:127.0.0.1]"]
)
def test_this_computer_is_never_called_through_a_proxy(host: str) -> None:
    url = URL(f"http://{host}:11434/")
    assert chosen(url, {"ALL_PROXY": "http://p:1"}, "http://s:1", own="http://n:1") is None


@pytest.mark.parametrize(
    "address",
    [
        "",
        "://",
        "ftp://p:1",
        "socks4://p",
        "http://",
        "http://p:0",
        "http://p:99999",
        "http://p:1/path",
        f"http://u:{PASSWORD}@",
        "p p",
        f"socks5://ü:{PASSWORD}@p",
        f"socks5://u:{PASSWORD * 20}@p",
    ],
)
def test_what_is_no_proxys_address_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(ValueError, match=r"proxy|SOCKS5") as caught:
        Proxy.parse(address)
    assert PASSWORD not in str(caught.value)
    if address:
        with pytest.raises(UpstreamProxyFailed, match="https_proxy"):
            ProxyRules("", {"https_proxy": address}).choose(HTTPS)


@given(st.text(), st.text())
def test_a_login_survives_its_address_and_stays_out_of_what_is_shown(user: str, password: str) -> None:
    from urllib.parse import quote

    try:
        proxy = Proxy.parse(f"http://{quote(user, safe='')}:{quote(password, safe='')}@p:1")
    except UnicodeEncodeError:
        return  # half a surrogate pair, which no address holds
    assert (proxy.username, proxy.password) == (user, password)
    assert len(password) < 6 or password not in f"{proxy!r} {proxy.name}"
