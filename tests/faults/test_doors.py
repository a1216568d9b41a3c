"""Who may come in: host names, origins, the token, and what the pages' headers say (T12-T15, T22, T27)."""

import ast
import re
from collections.abc import Mapping
from hmac import compare_digest

import pytest
from pydantic import ValidationError
from yarl import URL

from agentui.http.reading import same_secret
from agentui.jsonio import Json
from agentui.settings import Settings
from tests.conftest import ROOT
from tests.faults.callers import DIALECTS, Asked, Heard, ask, error_of
from tests.faults.conftest import House, StartHouse, forward
from tests.faults.hygiene import check_hygiene
from tests.upstreams.server import API_KEY, Mock

TOKEN = "let-me-in-0123456789"
EVIL = "https://evil.example"


async def get(house: House, path: str, headers: Mapping[str, str] | None = None, method: str = "GET") -> Heard:
    """Any request without a body."""
    url = URL(house.origin + path, encoded=True)
    async with house.session.request(method, url, headers=headers or {}, allow_redirects=False) as reply:
        return Heard(reply.status, reply.headers, await reply.read())


STRANGE_HOSTS = (
    "evil.example",
    "evil.example:7860",
    "localhost.evil.example",
    "",
    "localhost.",
    "127.0.0.1.nip.io",
    "a@localhost",
    "localhost:7860@evil.example",
    "[::1",
    "::1",
    "[::1]x",
    "10.0.0.1",
    "0x7f.1",
    "localhost, evil",
)


@pytest.mark.parametrize("host", STRANGE_HOSTS)
async def test_a_name_that_is_not_ours_is_misdirected_everywhere(house: House, mock: Mock, host: str) -> None:
    for path in ("/", "/health", "/ui/", "/v1/models", "/api/pipelines", "/openapi.json", "/nothing"):
        heard = await get(house, path, {"Host": host})
        assert heard.status == 421, (path, heard.body)
    for dialect in DIALECTS:
        heard = await house.send(ask(dialect), headers={"Host": host})
        assert heard.status == 421
        error_of(dialect, heard)
    assert mock.requests == []


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.9:80", "[::1]", "[::1]:7860", "my.name"])
async def test_our_own_names_are_let_in(start_house: StartHouse, mock: Mock, host: str) -> None:
    house = await start_house(mock.origin, allowed_hosts="my.name")
    assert (await get(house, "/health", {"Host": host})).status == 200


@pytest.mark.parametrize(
    "origin", [EVIL, "null", "http://localhost", "http://localhost:1", "ftp://{host}", "http://{host}.evil"]
)
async def test_pages_of_other_origins_are_refused_everywhere(house: House, mock: Mock, origin: str) -> None:
    headers = {"Origin": origin.replace("{host}", house.origin.removeprefix("http://"))}
    for path in ("/", "/health", "/v1/models", "/api/pipelines"):
        heard = await get(house, path, headers)
        assert heard.status == 403, path
        assert "access-control-allow-origin" not in heard.headers
    for dialect in DIALECTS:
        heard = await house.send(ask(dialect), headers=headers)
        assert heard.status == 403
        error_of(dialect, heard)
    preflight = {**headers, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    heard = await get(house, "/v1/chat/completions", preflight, "OPTIONS")
    assert heard.status == 403
    assert not [name for name in heard.headers if name.lower().startswith("access-control-")]
    assert mock.requests == []


async def test_our_own_pages_may_call(house: House) -> None:
    for scheme in ("http:", "https:"):
        # Behind a proxy that ends TLS the page is https, and what arrives here is not.
        origin = house.origin.replace("http:", scheme)
        assert (await get(house, "/api/pipelines", {"Origin": origin, "Sec-Fetch-Site": "same-origin"})).status == 200
    assert (await house.send(ask("claude"), headers={"Origin": house.origin})).status == 200


async def test_other_sites_may_link_here_and_no_more(house: House, mock: Mock) -> None:
    cross = {"Sec-Fetch-Site": "cross-site"}
    assert (await get(house, "/", {**cross, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"})).status == 200
    assert (await get(house, "/", cross)).status == 403
    assert (await get(house, "/v1/models", {**cross, "Sec-Fetch-Mode": "no-cors"})).status == 403
    for dialect in DIALECTS:
        heard = await house.send(ask(dialect), headers={**cross, "Sec-Fetch-Mode": "navigate"})
        assert heard.status == 403
        error_of(dialect, heard)
    assert mock.requests == []


async def test_a_configured_origin_may_call_from_its_pages(start_house: StartHouse, mock: Mock) -> None:
    friend = "https://friend.example"
    house = await start_house(mock.origin, cors_origins=friend, token=TOKEN)
    headers = {"Origin": friend, "Sec-Fetch-Site": "cross-site"}
    asks = {**headers, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization, x-api-key"}
    before = await get(house, "/v1/messages", asks, "OPTIONS")
    assert before.status == 204
    assert before.headers["access-control-allow-origin"] == friend
    assert "authorization" in before.headers["access-control-allow-headers"]
    assert before.headers["vary"] == "Origin"
    for dialect in DIALECTS:
        for stream in (False, True):
            heard = await house.send(ask(dialect, stream=stream), headers={**headers, "x-agentui-token": TOKEN})
            assert heard.status == 200
            assert heard.headers["access-control-allow-origin"] == friend
        refused = await house.send(ask(dialect), headers=headers)
        assert refused.status == 401
        assert refused.headers["access-control-allow-origin"] == friend
    assert (await house.send(ask("openai"), headers={"Origin": EVIL, "x-agentui-token": TOKEN})).status == 403
    assert "access-control-allow-credentials" not in before.headers


async def test_without_a_configuration_nobody_is_told_of_cors(house: House) -> None:
    for heard in (await get(house, "/health"), await get(house, "/health", {"Origin": house.origin})):
        assert heard.status == 200
        assert not [name for name in heard.headers if name.lower().startswith("access-control-")]


@pytest.fixture
async def locked(start_house: StartHouse, mock: Mock) -> House:
    """A proxy with a token."""
    return await start_house(mock.origin, token=TOKEN)


PLACES: list[tuple[dict[str, str], str]] = [
    ({"x-agentui-token": TOKEN}, ""),
    ({"Authorization": f"Bearer {TOKEN}"}, ""),
    ({"x-api-key": TOKEN}, ""),
    ({"x-goog-api-key": TOKEN}, ""),
    ({}, f"?key={TOKEN}"),
]


@pytest.mark.parametrize(("headers", "query"), PLACES, ids=["own", "bearer", "x-api-key", "x-goog-api-key", "query"])
async def test_the_token_is_taken_in_every_place_and_never_sent_on(
    locked: House, mock: Mock, headers: dict[str, str], query: str
) -> None:
    assert (await get(locked, "/api/pipelines" + query, headers)).status == 200
    for dialect in DIALECTS:
        for pipeline in ("same", "raw"):
            asked = ask(dialect)
            heard = await locked.send(Asked(f"/p/{pipeline}{asked.path}{query}", headers, asked.body))
            # The mock wants a key of its own, which nobody gave.
            assert heard.status in (400, 401, 403)
            assert TOKEN.encode() not in heard.body
    assert len(mock.requests) == 8
    for request in mock.requests:
        assert TOKEN not in repr(request)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_the_token_beside_a_key_leaves_the_key(locked: House, mock: Mock, dialect: str) -> None:
    for pipeline in ("same", "raw"):
        asked = ask(dialect)
        heard = await locked.send(Asked(f"/p/{pipeline}{asked.path}", {**asked.headers, "x-agentui-token": TOKEN}, asked.body))
        assert heard.status == 200
        assert API_KEY in repr(mock.last.headers)
        assert TOKEN not in repr(mock.last)


@pytest.mark.parametrize("given", ["", "wrong", TOKEN + "x", TOKEN[:-1], TOKEN.upper(), "ÿ" * 20])
async def test_without_the_token_nothing_but_the_front_door_opens(locked: House, mock: Mock, given: str) -> None:
    headers = {"x-agentui-token": given}
    for path in ("/v1/models", "/v1beta/models", "/api/pipelines", "/api/runs", "/api/settings", "/openapi.json", "/nothing",
                 "//ui/", "/UI/", "/health/", "/api/../ui/", "/p/same/v1/models"):  # fmt: skip
        heard = await get(locked, path, headers)
        assert heard.status == 401, (path, heard.body)
    for dialect in DIALECTS:
        heard = await locked.send(ask(dialect), headers=headers)
        assert heard.status == 401
        error_of(dialect, heard)
    for path in ("/", "/health", "/ui/"):
        assert (await get(locked, path)).status == 200
    assert mock.requests == []


@pytest.mark.parametrize(
    "path", ["/ui/../api/pipelines", "/ui/..%2fapi/pipelines", "/ui/%2e%2e/api/pipelines", "/ui//api/runs"]
)
async def test_the_open_folder_is_no_way_around_the_token(locked: House, path: str) -> None:
    heard = await get(locked, path)
    assert heard.status in (401, 404), heard.body


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", ""])
def test_listening_beyond_loopback_needs_a_token(host: str) -> None:
    with pytest.raises(ValidationError, match="AGENTUI_TOKEN"):
        Settings(host=host)
    assert Settings(host=host, token="12345678").host == host  # type: ignore[arg-type]  # pydantic makes it a secret
    assert Settings(host=host, insecure=True).host == host


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.9", "::1", "localhost"])
def test_listening_on_loopback_needs_none(host: str) -> None:
    assert Settings(host=host).token is None


def test_an_empty_token_is_none_at_all() -> None:
    with pytest.raises(ValidationError):
        Settings(token="")  # type: ignore[arg-type]  # pydantic makes it a secret


def test_every_comparison_of_secrets_takes_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing compares a secret in another way, and the one way there is does not stop at the first wrong character."""
    compared = []
    for path in sorted((ROOT / "agentui").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "get_secret_value" in text else ():
            if isinstance(node, ast.Compare) and re.search(r"(?<!len\(value\.)get_secret_value", ast.unparse(node)):
                compared.append(f"{path.name}:{node.lineno}: {ast.unparse(node)}")
    assert compared == []
    seen: list[tuple[bytes, bytes]] = []

    def watched(left: bytes, right: bytes) -> bool:
        seen.append((left, right))
        return compare_digest(left, right)

    monkeypatch.setattr("hmac.compare_digest", watched)
    assert same_secret(TOKEN, TOKEN)
    assert not same_secret(TOKEN[:-1], TOKEN)
    assert not same_secret("", TOKEN)
    assert len(seen) == 3


WAYS_OUT = (
    "/ui/../pyproject.toml",
    "/ui/..%2fpyproject.toml",
    "/ui/%2e%2e/%2e%2e/etc/passwd",
    "/ui/....//etc/passwd",
    "/ui/.git/config",
    "/ui/css",
    "/ui/js/",
    "/ui/index.html%00.js",
    "/ui/%5c..%5cpyproject.toml",
    "/ui//etc/passwd",
    "/ui/js/../../agentui/cli.py",
    "/../../etc/passwd",
    "/ui/index.html/",
    "/ui/.%2e/.%2e/etc/passwd",
    "/ui/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "/ui/..%252f..%252fetc%252fpasswd",
    "/ui/..%c0%af..%c0%afetc/passwd",
    "/ui/..%ef%bc%8f..%ef%bc%8fetc/passwd",
    "/ui/..;/..;/etc/passwd",
    "/ui/..\\..\\etc\\passwd",
    "/ui/C:/Windows/win.ini",
    "/ui/file:///etc/passwd",
    "/ui/%00",
    "/ui/js%00/start.js",
    "/ui/js/start.js::$DATA",
    "/ui/js/start.js%20",
    "/ui/js/start.js.",
    "/ui/JS/START.JS",
    "/ui/.DS_Store",
    "/ui/.gitignore",
    "/ui/vendor/build/vendor.py",
    "/ui/vendor/../vendor/build/package.json",
    "/agentui.db",
    "/ui/agentui.db",
    "/data/agentui.db",
    "/secrets.json",
    "/secret.key",
    "/pipelines/same.json",
    "/ui/../pipelines/same.json",
    "/.env",
    "/api/pipelines/..%2f..%2fsecrets",
    "/api/pipelines/%2e%2e",
    "/api/pipelines/same.json",
    "/api/presets/..%5c..%5csecrets",
    "/api/pipelines/same/versions/..%2f1",
    "/p/..%2f..%2fetc%2fpasswd/v1/models/x",
)


@pytest.mark.parametrize("path", WAYS_OUT)
async def test_no_path_leads_out_of_the_pages(house: House, path: str) -> None:
    heard = await get(house, path)
    assert heard.status in (400, 404), heard.body
    check_hygiene(heard.status, heard.headers, heard.body)
    assert b"root:" not in heard.body


async def test_pages_run_their_own_scripts_only_and_stand_in_no_frame(house: House) -> None:
    for path in ("/", "/ui/", "/ui/index.html", "/ui/js/start.js"):
        heard = await get(house, path)
        assert heard.status == 200
        policy = heard.headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert heard.headers["x-content-type-options"] == "nosniff"
        assert heard.headers["referrer-policy"] == "no-referrer"
        if path.endswith(".js"):
            again = await get(house, path, {"If-None-Match": heard.headers["etag"]})
            assert again.status == 304
        else:
            assert heard.headers["cache-control"] == "no-store"  # the page carries the nonce of one load


async def test_every_answer_has_an_id_and_is_not_sniffed(house: House) -> None:
    ids = set()
    for path in ("/", "/health", "/v1/models", "/api/pipelines", "/nothing", "/openapi.json", "/ui/nothing"):
        heard = await get(house, path)
        assert heard.headers["x-content-type-options"] == "nosniff", path
        ids.add(heard.headers["x-request-id"])
    assert len(ids) == 7


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_forwarded_page_is_never_shown_as_one(house: House, mock: Mock, dialect: str) -> None:
    heard = await house.send(Asked(f"/p/raw{ask(dialect, 'html').path}", ask(dialect).headers, ask(dialect, "html").body))
    assert heard.headers["content-type"] == "text/plain; charset=utf-8"
    assert heard.headers["x-content-type-options"] == "nosniff"


async def test_a_pipeline_of_the_callers_choice_is_one_of_ours(start_house: StartHouse, mock: Mock) -> None:
    pipelines: dict[str, Json] = {"other": forward(mock.origin)}
    house = await start_house(mock.origin, pipelines)
    asked = ask("openai")
    for chosen in ("/etc/passwd", "../other", "other.json", "other/", "http://evil.example"):
        heard = await house.send(asked, headers={"x-agentui-pipeline": chosen})
        assert heard.status == 404, chosen
        error_of("openai", heard)
    assert (await house.send(asked, headers={"x-agentui-pipeline": "other"})).headers["x-agentui-pipeline"] == "other"
