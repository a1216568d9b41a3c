"""Every route there is against everybody who must not come in (T12-T14, T23, T26-T28): names, origins, sites, types, tokens.

What the guard refuses, it refuses before it knows the route: each route is asked in one of the ways in which somebody may not
come in (``dealt``), and each way is tried at some routes of every kind. Only whether a form is taken depends on the route.
"""

import asyncio
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import pytest
from yarl import URL

from agentui.http.reading import split_prefix
from agentui.vendors.passed import passed_route
from tests.faults.callers import DIALECTS, Heard, ask
from tests.faults.conftest import House, StartHouse
from tests.faults.hygiene import check_hygiene
from tests.faults.router import EXAMPLES, STREAMS, Door, acting, bodies_nobody_can_read, doors
from tests.upstreams.server import API_KEY, Mock

TOKEN = "let-me-in-0123456789"
KEYS = {"authorization": f"Bearer {API_KEY}", "x-api-key": API_KEY, "x-goog-api-key": API_KEY}
"""What makes every model's route work, so that nothing but the door can stop a request."""
OPEN = frozenset({"/health", "/ready", "/version"})
"""What anybody may ask for beside the page: whether the server works, and nothing about what it does."""
JSON_TYPE = {"content-type": "application/json"}

Way = TypeVar("Way")


def dealt(which: Sequence[Door], ways: Sequence[Way], each: int = 1) -> Iterator[tuple[Way, list[Door]]]:
    """Each way with the doors that it is tried at: every door gets ``each`` of them, neighbours others."""
    apart = len(ways) // each
    return ((way, list(which[number % apart :: apart])) for number, way in enumerate(ways))


async def knock(house: House, door: Door, headers: Mapping[str, str], **more: object) -> Heard:
    """Ask at a door, and hear the answer, of an endless one its head."""
    url = URL(house.origin + door.path, encoded=True)
    sent: dict[str, object] = {} if door.is_safe else {"json": door.body}
    sent |= more
    given = {name: value for name, value in {**KEYS, **headers}.items() if value}
    skipped = ("Content-Type",) if headers.get("content-type") == "" else ()
    async with house.session.request(
        door.method, url, headers=given, allow_redirects=False, skip_auto_headers=skipped, **sent  # type: ignore[arg-type]  # arguments of aiohttp's by their names
    ) as reply:  # fmt: skip
        endless = reply.status == 200 and door.path in STREAMS
        return Heard(reply.status, reply.headers, b"" if endless else await reply.read())


async def all_knock(house: House, which: list[Door], headers: Mapping[str, str], **more: object) -> list[tuple[Door, Heard]]:
    """Ask at many doors, a few at once."""
    places = asyncio.Semaphore(8)

    async def one(door: Door) -> Heard:
        async with places:
            return await knock(house, door, headers, **more)

    answers = list(zip(which, await asyncio.gather(*(one(door) for door in which)), strict=True))
    for door, heard in answers:
        assert heard.headers.getall("server") == ["agentui"], str(door)  # and no version of anything
    return answers


def refused(answers: list[tuple[Door, Heard]], status: int) -> None:
    """Fail unless every door was closed, with this status, in a clean answer that no other page may read."""
    for door, heard in answers:
        assert heard.status == status, (str(door), heard.status, heard.body)
        assert not [name for name in heard.headers if name.lower().startswith("access-control-")], str(door)
        if door.method != "HEAD":
            check_hygiene(heard.status, heard.headers, heard.body)


def untouched(house: House, mock: Mock) -> None:
    """Fail when anything came of what was refused: a call, a run, a memory, a changed file."""
    assert mock.requests == []
    assert house.server.state.history.list(10) == []
    assert house.server.state.store.status["open"] is False
    assert house.server.state.pipelines.active == "same"


def body_of(door: Door) -> str | None:
    """What a route that passes through carries; None for any other route."""
    route = passed_route(split_prefix(door.path)[0], door.method)
    return None if route is None else route.body


def files_of(folder: Path) -> dict[str, str]:
    """Every file below a folder by its content."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


async def test_the_matrix_holds_every_route_and_every_dialect(house: House) -> None:
    found = doors(house.server.app)
    assert len(found) > 100
    assert {path for path in (door.path for door in acting(house.server.app)) if path.startswith("/v1")} >= {
        ask(dialect).path.replace("/text:", f"/{EXAMPLES['model']}:") for dialect in DIALECTS
    }
    for prefix in ("/api/", "/sessions", "/branches", "/floors", "/messages", "/pages", "/variables", "/p/same/v1/"):
        assert [door for door in found if door.path.startswith(prefix)], prefix


HOSTS = ("evil.example", "localhost.evil.example:80", "10.0.0.1", "a@localhost", "127.0.0.1.nip.io")


async def test_no_route_answers_to_a_name_that_is_not_ours(house: House, mock: Mock) -> None:
    for host, which in dealt(doors(house.server.app), HOSTS):
        refused(await all_knock(house, which, {"Host": host}), 421)
    untouched(house, mock)


ORIGINS = ("https://evil.example", "null", "http://127.0.0.1:1", "chrome-extension://abcdef", "file://")


async def test_no_route_serves_a_page_of_another_origin(house: House, mock: Mock) -> None:
    for origin, which in dealt(doors(house.server.app), ORIGINS):
        refused(await all_knock(house, which, {"Origin": origin}), 403)
    untouched(house, mock)


SITES = [(site, mode) for site in ("cross-site", "same-site") for mode in ("cors", "no-cors", "websocket")]


async def test_no_route_serves_another_site_that_names_no_origin(house: House, mock: Mock) -> None:
    for (site, mode), which in dealt(doors(house.server.app), SITES):
        refused(await all_knock(house, which, {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode}), 403)
    untouched(house, mock)


@pytest.mark.parametrize("place", ["document", "iframe", "embed", "object"])
async def test_a_link_of_another_site_opens_the_page_in_a_window_of_its_own_and_nothing_else(
    house: House, mock: Mock, place: str
) -> None:
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": place}
    answers = await all_knock(house, doors(house.server.app), link)
    opened = {str(door) for door, heard in answers if heard.status == 200}
    assert opened == ({"GET /", "GET /ui/", "GET /ui/index.html"} if place == "document" else set())
    refused([(door, heard) for door, heard in answers if str(door) not in opened], 403)
    untouched(house, mock)


async def test_our_own_page_is_turned_away_nowhere(house: House) -> None:
    ours = {"Origin": house.origin, "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}
    for door, heard in await all_knock(house, doors(house.server.app), ours):
        assert heard.status not in (401, 403, 415, 421), (str(door), heard.body)


TYPES = {
    "a form": ("application/x-www-form-urlencoded", b"a=b"),
    "an empty form": ("application/x-www-form-urlencoded", b""),
    "a form with fields": ("multipart/form-data; boundary=x", b'--x\r\nContent-Disposition: form-data; name=a\r\n\r\n--x--'),
    "plain text": ("text/plain", b"{}"),
    "plain text in utf-8": ("text/plain; charset=utf-8; a=application/json", b"{}"),
    "nothing said": ("", b"{}"),
    "bytes": ("application/octet-stream", b"{}"),
    "almost JSON": ("application/jsonp", b"{}"),
    "two types": ("text/plain, application/json", b"{}"),
    "a zip": ("application/zip", b"PK\x05\x06" + bytes(18)),
    "a picture": ("image/png", b"\x89PNG\r\n\x1a\n"),
}  # fmt: skip


def takes_forms(door: Door) -> bool:
    """Whether the route takes files."""
    return body_of(door) == "form" or door.path.startswith("/import/") or door.path.endswith("/image")


async def test_no_route_that_acts_takes_anything_but_json(house: House, mock: Mock) -> None:
    every = acting(house.server.app)
    for name, which in dealt(every, list(TYPES)):
        kind, data = TYPES[name]
        # Forms with fields are what some routes take, so each of the others is asked with one.
        closed = [door for door in every if not takes_forms(door)] if name == "a form with fields" else which
        refused(await all_knock(house, closed, {"content-type": kind}, json=None, data=data), 415)
    untouched(house, mock)


async def test_no_browser_is_told_that_another_page_may_ask(house: House, mock: Mock) -> None:
    paths = [Door("OPTIONS", door.pattern, door.path) for door in doors(house.server.app)]
    wishes = [(origin, method) for origin in ("https://evil.example", "null") for method in ("POST", "DELETE")]
    for (origin, wanted), which in dealt(paths, wishes):
        asks = {"Origin": origin, "Access-Control-Request-Method": wanted, "Access-Control-Request-Headers": "content-type"}
        refused(await all_knock(house, which, asks), 403)
    untouched(house, mock)


async def test_a_configured_origin_is_told_so_everywhere_and_no_other_is(start_house: StartHouse, mock: Mock) -> None:
    friend = "https://friend.example"
    house = await start_house(mock.origin, cors_origins=friend)
    paths = [Door("OPTIONS", door.pattern, door.path) for door in doors(house.server.app)]
    asks = {"Origin": friend, "Access-Control-Request-Method": "POST"}
    for door, heard in await all_knock(house, paths, asks):
        assert heard.status == 204, str(door)
        assert heard.headers["access-control-allow-origin"] == friend
        assert "access-control-allow-credentials" not in heard.headers
    refused(await all_knock(house, paths, {**asks, "Origin": friend + ".evil"}), 403)
    untouched(house, mock)


async def test_reading_changes_nothing_and_calls_no_model(house: House, mock: Mock) -> None:
    before = files_of(house.server.pipelines), files_of(house.server.data)
    reading = [door for door in doors(house.server.app) if door.is_safe]
    for door, heard in await all_knock(house, reading, {}):
        assert heard.status < 500, (str(door), heard.body)
    for door, heard in await all_knock(house, reading, JSON_TYPE, data=b'{"model": "text"}'):
        assert heard.status < 500, (str(door), heard.body)
    assert {request.method for request in mock.requests} <= {"GET"}, "a list of models may be asked for, and nothing else"
    runs = house.server.state.history.list(10)
    assert {run.operation for run in runs} <= {"forward"}, "what a vendor keeps may be read, and no model answers"
    assert files_of(house.server.pipelines) == before[0]
    kept = {name: content for name, content in files_of(house.server.data).items() if not name.startswith("agentui.")}
    assert kept.items() >= {name: content for name, content in before[1].items() if not name.startswith("agentui.")}.items()
    for path in ("/sessions", "/floors", "/pages", "/messages", "/variables"):
        heard = await knock(house, Door("GET", path, path), {})
        assert heard.json["data"] == [], path


GUESSES = ("", "wrong-token-0123456789", TOKEN[:-1], TOKEN + "\u0000", TOKEN.upper(), f"Basic {TOKEN}")


async def test_no_route_opens_without_the_token(start_house: StartHouse, mock: Mock) -> None:
    # Guesses are not counted here, which would close every door for a while (tests/api/test_limits.py).
    house = await start_house(mock.origin, token=TOKEN, token_attempts=0)
    closed = [door for door in doors(house.server.app) if not door.is_page and door.path not in OPEN]
    for given, which in dealt(closed, GUESSES):
        if "\0" not in given:  # no client sends it; the parser's own test does
            refused(await all_knock(house, which, {"x-agentui-token": given}), 401)
            refused(await all_knock(house, which, {"authorization": f"Bearer {given}", "x-api-key": given}), 401)
        path = f"?key={URL.build(query={'key': given}).raw_query_string[4:]}"
        asked = [Door(door.method, door.pattern, door.path + path, door.body) for door in which]
        refused(await all_knock(house, asked, {}), 401)
    untouched(house, mock)
    for door, heard in await all_knock(house, [door for door in doors(house.server.app) if door not in closed], {}):
        assert heard.status == 200, str(door)


async def test_a_token_that_was_sent_twice_is_sent_on_in_no_part(start_house: StartHouse, mock: Mock) -> None:
    house = await start_house(mock.origin, token=TOKEN)
    for dialect in DIALECTS:
        for name in ("authorization", "x-api-key", "x-goog-api-key"):
            value = f"Bearer {TOKEN}" if name == "authorization" else TOKEN
            for pipeline in ("same", "raw"):
                url = URL(f"{house.origin}/p/{pipeline}{ask(dialect).path}", encoded=True)
                both = [("x-agentui-token", TOKEN), (name, value), (name, API_KEY), (name, f"Bearer {TOKEN}")]
                async with house.session.post(url, json=ask(dialect).body, headers=both) as reply:
                    assert reply.status in (400, 401, 403), await reply.text()
    assert mock.requests
    for request in mock.requests:
        assert TOKEN not in repr(request)


async def test_what_nobody_can_read_is_refused_by_every_route_in_a_sentence(house: House, mock: Mock) -> None:
    for data, which in dealt(acting(house.server.app), list(bodies_nobody_can_read()), each=3):
        for door, heard in await all_knock(house, which, JSON_TYPE, json=None, data=data):
            if heard.status < 300:
                # Routes without a body of their own do not look at one.
                ends = ("/activate", "/cancel", "/sign-out")
                assert door.method == "DELETE" or door.path.endswith(ends), (str(door), heard.body)
                continue
            assert 400 <= heard.status < 500, (str(door), heard.status, heard.body)
            check_hygiene(heard.status, heard.headers, heard.body)
    # What passes through without a body is asked without one, whatever came with it.
    for request in mock.requests:
        assert body_of(Door(request.method, "", request.path)) == "none" and request.raw == b""


UNKNOWN = ("nobody", "..", "%2e%2e%2f", "a%00b", "%ff", "x" * 2000, "a b".replace(" ", "%20"), "'%20OR%201=1--", "{{7*7}}")


def named(door: Door, name: str) -> Door:
    """A route with this name in place of everything that its path names."""
    path = door.pattern
    for part in sorted(EXAMPLES, key=len):
        value = {"version": EXAMPLES["version"], "call": f"{name}:generateContent"}.get(part, name)
        path = path.replace(f"{{{part}}}", value)
    return Door(door.method, door.pattern, path, door.body)


async def test_a_name_that_means_nothing_is_told_in_a_sentence_by_every_route(house: House) -> None:
    for name, which in dealt([door for door in doors(house.server.app) if "{" in door.pattern], UNKNOWN, each=3):
        for door, heard in await all_knock(house, [named(door, name) for door in which], {}):
            if door.method == "HEAD":
                assert heard.status != 500, str(door)
            elif heard.status >= 300:
                check_hygiene(heard.status, heard.headers, heard.body)
                # What shows the caller's own text shows it as JSON, which nothing takes for a page.
                own = heard.body.replace(b"pipeline/<id>/<model>", b"")
                assert b"<" not in own or b"<" in name.encode()
    await house.is_quiet()
