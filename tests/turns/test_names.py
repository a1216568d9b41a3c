"""What the headers may hold, and what is told of what they may not."""

import json

from tests.api.callers import DIALECTS, error_of
from tests.faults.callers import ask, talking
from tests.turns.house import House


async def raw(house: House, *headers: bytes) -> tuple[int, dict[str, str], bytes]:
    """A question whose headers no client library would send: status, headers and body of the answer."""
    asked = ask("openai")
    body = json.dumps(asked.body).encode()
    lines = [b"POST /v1/chat/completions HTTP/1.1", b"Host: localhost", b"Content-Type: application/json", b"Connection: close"]
    lines += [b"Authorization: " + asked.headers["authorization"].encode(), b"Content-Length: %d" % len(body), *headers]
    async with talking(house.server.origin) as (reader, writer):
        writer.write(b"\r\n".join(lines) + b"\r\n\r\n" + body)
        head, _, rest = (await reader.read()).partition(b"\r\n\r\n")
    first, *others = head.decode("latin-1").split("\r\n")
    got = {name.lower(): value for name, _, value in (line.partition(": ") for line in others)}
    return int(first.split()[1]), got, rest


async def test_a_bad_name_is_refused_in_the_callers_words(house: House) -> None:
    bad = {"session": ("x" * 201,), "branch": ("b" * 101,)}
    for what, name in [(what, name) for what, names in bad.items() for name in names]:
        for dialect in DIALECTS:
            got = await house.ask(dialect=dialect, **{"session": "s", what: name})
            assert got.status == 400, name
            assert f"name of a {what}" in error_of(dialect, got.json), name
    assert house.mock.requests == []
    assert await house.memory.get("/sessions") == []


async def test_what_no_header_may_hold_is_no_request(house: House) -> None:
    for name in (b"a\0b", b"a\rb", b"a\nb", b"a\r\n b"):
        for header in (b"x-agentui-session: ", b"x-agentui-session: s\r\nx-agentui-branch: "):
            status, _, body = await raw(house, header + name)
            assert status == 400, body
    assert house.mock.requests == []
    assert await house.memory.get("/sessions") == []


async def test_any_text_names_a_session_and_a_branch(house: House) -> None:
    for name in ("冒险者 的 故事", "naïve 👩‍🚀", "a\\u00e9b", "a/b?c=d&e#f", "'; DROP TABLE sessions; --", "x" * 200):
        status, got, body = await raw(
            house, b"x-agentui-session: " + name.encode(), b"x-agentui-branch: " + name[:100].encode()
        )
        assert status == 200, body
        session = await house.memory.get(f"/sessions/{got['x-agentui-session']}")
        assert session["title"] == name
        branches = await house.memory.get(f"/sessions/{session['id']}/branches")
        assert {branch["branch_id"] for branch in branches} == {"main", name[:100]}
        assert got["x-agentui-branch"].encode().decode("unicode_escape") == name[:100]
        assert got["x-agentui-branch"].isascii()
        again = await raw(house, b"x-agentui-session: " + name.encode())
        assert again[1]["x-agentui-session"] == session["id"]


async def test_bytes_that_are_no_text_become_replacement_characters(house: House) -> None:
    status, got, body = await raw(house, b"x-agentui-session: a\xff\xfeb")
    assert status == 200, body
    assert (await house.memory.get(f"/sessions/{got['x-agentui-session']}"))["title"] == "a\ufffd\ufffdb"


async def test_an_archived_session_takes_no_turn(house: House) -> None:
    session = (await house.turn(session="s")).headers["x-agentui-session"]
    status, _ = await house.memory.call("PATCH", f"/sessions/{session}", {"status": "archived"})
    assert status == 200
    for dialect in DIALECTS:
        for headers in ({"session": "s"}, {"session": session}, {"session": session, "branch": "new"}):
            got = await house.ask(dialect=dialect, **headers)
            assert got.status == 409
            assert "archived" in error_of(dialect, got.json)
    assert len(house.mock.requests) == 1
    assert await house.memory.states(session) == ["committed"]
    await house.memory.call("PATCH", f"/sessions/{session}", {"status": "active"})
    await house.turn(session="s")
    assert await house.memory.states(session) == ["committed"] * 2


async def test_a_branch_without_a_session_is_no_turn(house: House) -> None:
    got = await house.turn(branch="b")
    assert "x-agentui-floor" not in got.headers
    assert not (house.server.data / "agentui.db").exists()


async def test_a_refused_turn_is_a_run_that_failed(house: House) -> None:
    await house.ask(session="x" * 201)
    assert [run.state for run in house.server.state.history.list(10)] == ["failed"]
