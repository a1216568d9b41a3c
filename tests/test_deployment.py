"""The files of docs/deploy: they name settings that exist, and the proxies in them pass streams on and notice who leaves.

The proxies are tested where they are installed (``apt-get install nginx-light caddy``).
"""

import asyncio
import io
import os
import re
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from agentui.jsonio import dumps
from agentui.settings import Settings
from tests.accounts.authenticator import Authenticator
from tests.accounts.identity_provider import CLIENT, SECRET, identity_provider, sent_back_with
from tests.api.callers import DIALECTS, Caller, is_whole
from tests.conftest import ROOT, Server, StartServer, call, skip
from tests.upstreams.server import Mock
from tests.upstreams.step import Step

DEPLOY = ROOT / "docs" / "deploy"
TOKEN = "let-me-in-0123456789"


def written(name: str) -> str:
    return (DEPLOY / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("file", sorted(DEPLOY.iterdir()), ids=lambda file: file.name)
def test_a_file_names_settings_that_exist_and_is_named_by_the_page(file: Path) -> None:
    known = {f"AGENTUI_{name.upper()}" for name in Settings.model_fields}
    named = set(re.findall(r"\bAGENTUI_[A-Z_]*[A-Z]\b", file.read_text(encoding="utf-8")))
    assert {name for name in named if not name.startswith("AGENTUI_SECRET_")} <= known
    assert f"deploy/{file.name}" in (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")


def test_proxies_wait_longer_and_take_more_than_the_server() -> None:
    settings = Settings()
    for name, pattern in (("nginx.conf", r"proxy_read_timeout (\d+)s"), ("Caddyfile", r"response_header_timeout (\d+)s")):
        [seconds] = re.findall(pattern, written(name))
        assert int(seconds) > settings.first_byte_timeout
    [mebibytes] = re.findall(r"client_max_body_size (\d+)m", written("nginx.conf"))
    [megabytes] = re.findall(r"max_size (\d+)MB", written("Caddyfile"))
    assert min(int(mebibytes) * 1024**2, int(megabytes) * 1000**2) > max(settings.max_body, settings.max_upload)
    for name, pattern in (("agentui.service", r"TimeoutStopSec=(\d+)"), ("compose.yaml", r"stop_grace_period: (\d+)s")):
        [seconds] = re.findall(pattern, written(name))
        assert int(seconds) > settings.stop_timeout + 5


def test_the_unit_is_one(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("There is no systemd here.")
    unit = tmp_path / "agentui.service"
    unit.write_text(re.sub(r"ExecStart=\S+", "ExecStart=/bin/true", written("agentui.service")))
    told = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert (told.returncode, told.stderr.strip()) == (0, "")


def nginx(port: int, server: Server, folder: Path) -> list[str]:
    """The command that runs the page's configuration without its TLS, on a port, in front of a server."""
    site = written("nginx.conf").replace("127.0.0.1:7860", server.origin.removeprefix("http://"))
    site = site[: site.index("server {")] + site[site.index("server {", site.index("server {") + 1) :]
    site = re.sub(r"^\s*(ssl_\w+|listen \[).*$", "", site, flags=re.MULTILINE)
    site = site.replace("listen 443 ssl;", f"listen 127.0.0.1:{port};")
    main = f"""
        daemon off; pid {folder}/nginx.pid; error_log stderr; worker_processes 1;
        {"user root;" if os.geteuid() == 0 else ""}
        events {{ worker_connections 256; }}
        http {{
            client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
            fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
            {site}
        }}"""
    (folder / "nginx.conf").write_text(main)
    return ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")]


def caddy(port: int, server: Server, folder: Path) -> list[str]:
    """The same for Caddy, whose file says itself what may be set."""
    site = written("Caddyfile").replace("{$SITE:chat.example.com}", f"http://chat.example.com:{port}")
    site = site.replace("{$AGENTUI:127.0.0.1:7860}", server.origin.removeprefix("http://"))
    (folder / "Caddyfile").write_text("{\n\tadmin off\n\tauto_https off\n}\n" + site)
    return ["caddy", "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]


PROXIES: dict[str, Callable[[int, Server, Path], list[str]]] = {"nginx": nginx, "caddy": caddy}


@asynccontextmanager
async def behind(proxy: str, server: Server, folder: Path, port: int) -> AsyncIterator[str]:
    """A proxy in front of a server, on a port: its address."""
    # Debian has nginx where only an administrator's shell looks.
    program = shutil.which(proxy, path=os.pathsep.join((os.environ["PATH"], "/usr/local/sbin", "/usr/sbin")))
    if program is None:
        skip(f"{proxy} is not installed.")
    environment = {**os.environ, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    _, *arguments = PROXIES[proxy](port, server, folder)
    process = await asyncio.create_subprocess_exec(program, *arguments, env=environment, stderr=subprocess.DEVNULL)
    try:
        async with asyncio.timeout(60):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    break
                except ConnectionRefusedError:
                    assert process.returncode is None, f"{proxy} did not start"
                    await asyncio.sleep(0.05)
        writer.close()
        await writer.wait_closed()
        yield f"http://127.0.0.1:{port}"
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


@pytest.fixture(params=PROXIES)
async def front(
    request: pytest.FixtureRequest, start_server: StartServer, mock: Mock, tmp_path: Path, closed_port: int
) -> AsyncIterator[str]:
    """A proxy's address, with a server behind it that has a token and limits callers by their address."""
    server = await start_server(
        {"default": call("caller", mock.origin)},
        token=TOKEN,
        allowed_hosts="chat.example.com",
        trusted_proxies="127.0.0.1",
        rate_limit=20,
    )
    folder = tmp_path / "proxy"
    folder.mkdir()
    async with behind(request.param, server, folder, closed_port) as origin:
        yield origin


SITE = {"Host": "chat.example.com", "x-agentui-token": TOKEN}


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_stream_comes_through_while_it_is_written(front: str, mock: Mock, dialect: str) -> None:
    """The upstream waits in mid-stream until the first words have arrived at the far end."""
    mock.script(Step(text="one two three four", hold=3))
    caller = Caller(dialect, front, headers=SITE)
    query = "?alt=sse" if dialect == "gemini" else ""
    url = f"{front}{caller.path('text', stream=True)}{query}"
    headers = {**caller.key_header(), **SITE}
    async with (
        aiohttp.ClientSession() as http,
        http.post(url, json=caller.body("Hello", "text", stream=True), headers=headers) as answer,
    ):
        assert answer.status == 200
        first = await answer.content.readany()
        assert first
        mock.release()
        rest = await answer.content.read()
    events = [line for line in (first + rest).decode().splitlines() if line.startswith("data:")]
    assert len(events) > 3


@pytest.mark.parametrize("step", [Step(forever=True), Step(text="one two three four", hold=4)], ids=["talking", "silent"])
async def test_who_leaves_the_proxy_stops_the_model(front: str, mock: Mock, step: Step) -> None:
    mock.script(step)
    caller = Caller("claude", front, headers=SITE)
    headers = {**caller.key_header(), **SITE}
    async with (
        aiohttp.ClientSession() as http,
        http.post(f"{front}/v1/messages", json=caller.body("Hello", "text", stream=True), headers=headers) as answer,
    ):
        await answer.content.readany()
        answer.close()
    async with asyncio.timeout(60):
        await mock.was_aborted()


async def test_what_the_proxy_must_pass_on_arrives(front: str, mock: Mock) -> None:
    """The name, the caller's own address, large bodies; and the metrics do not."""
    caller = Caller("openai", front, headers=SITE)
    large = io.BytesIO(dumps(caller.body("x" * 3_000_000, "text")))
    headers = {**caller.key_header(), **SITE, "content-type": "application/json"}
    url = f"{front}/v1/chat/completions"
    async with aiohttp.ClientSession() as http, http.post(url, data=large, headers=headers) as answer:
        assert answer.status == 200, await answer.text()
    got = await caller.ask(stream=True)
    assert got.status == 200 and is_whole("openai", got.events)
    forged = {**SITE, "X-Forwarded-For": "192.0.2.1"}
    statuses = [(await Caller("openai", front, headers=forged).ask()).status for _ in range(21)]
    assert statuses[-1] == 429, "a caller who invents an address is still told apart by its own"
    assert (await Caller("openai", front, headers=SITE).get("/metrics")).status == 404
    asked = len(mock.requests)
    await Caller("openai", front, headers={"Host": "other.example", "x-agentui-token": TOKEN}).ask()
    assert len(mock.requests) == asked


@pytest.mark.parametrize("proxy", PROXIES)
async def test_people_sign_in_at_a_provider_and_by_a_passkey_behind_a_proxy(
    proxy: str, start_server: StartServer, tmp_path: Path, closed_port: int
) -> None:
    home = "https://chat.example.com"
    folder = tmp_path / "proxy"
    folder.mkdir()
    async with identity_provider(f"{home}/ui/") as provider, aiohttp.ClientSession() as http:
        server = await start_server(
            None,
            token=TOKEN,
            auth_mode="api_key",
            account_mode="multi",
            public_url=home,
            trusted_proxies="127.0.0.1",
            token_attempts=2,
            oidc_issuer=provider.issuer,
            oidc_client_id=CLIENT,
            oidc_client_secret=SECRET,
            oidc_create_accounts=True,
        )
        async with behind(proxy, server, folder, closed_port) as origin:
            jar: dict[str, str] = {}

            async def ask(method: str, path: str, body: Any = None, address: str = "198.51.100.7") -> tuple[int, Any]:
                kept = {"Cookie": "; ".join(f"{name}={value}" for name, value in jar.items())} if jar else {}
                shown = {"Host": "chat.example.com", "Origin": home, "X-Forwarded-For": address, **kept}
                async with http.request(method, origin + path, json=body, headers=shown) as answer:
                    for name, morsel in answer.cookies.items():
                        assert not morsel.value or (morsel["secure"] and morsel["httponly"] and morsel["samesite"] == "Strict")
                        jar[name] = morsel.value
                    return answer.status, await answer.json()

            status, begun = await ask("POST", "/auth/sign-in/begin", {"way": "oidc"})
            assert status == 200, begun
            async with http.get(f"{begun['data']['url']}&agreed=1", allow_redirects=False) as sent:
                assert sent.headers["Location"].startswith(f"{home}/ui/?")
                back = sent_back_with(sent.headers["Location"])
            status, entered = await ask("POST", "/auth/sign-in", {"way": "oidc", **back})
            assert (status, entered["data"]["name"]) == (200, "Jane Doe"), entered
            device = Authenticator(home, "chat.example.com")
            _, begun = await ask("POST", "/auth/passkeys/begin")
            made = device.make(begun["data"]["options"])
            assert (await ask("POST", "/auth/passkeys", {"name": "Laptop", "credential": made}))[0] == 201
            jar.clear()
            _, begun = await ask("POST", "/auth/sign-in/begin", {"way": "passkey"})
            signed = {"way": "passkey", "credential": device.sign(begun["data"]["options"])}
            status, again = await ask("POST", "/auth/sign-in", signed)
            assert (status, again["data"]["account_id"]) == (200, entered["data"]["account_id"])
            # Callers are told apart by the address that the proxy has seen.
            jar.clear()
            tried = [(await ask("POST", "/auth/sign-in", {"way": "oidc", **back}))[0] for _ in range(3)]
            assert tried == [409, 409, 429]
