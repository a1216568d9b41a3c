"""Live turns before upstreams whose very bytes are wrong, that are not there, or that are odd and right (U1-U3, U10,
U11, U13-U18, U20); the other faults are in ``test_live.py``."""

import gzip
from collections.abc import Callable

import pytest

from tests.faults.conftest import wild
from tests.faults.test_upstream_bytes import CHUNKED, CUT, JSON, NOT_HTTP, SSE, TORTURE
from tests.turns.conftest import StartHouse
from tests.turns.house import chain, target
from tests.turns.talk import begin_talk, named
from tests.unit.upstream.conftest import Bytes, Visit
from tests.upstreams.step import HOSTILE_TEXT, Step

__all__ = ["wild"]

_BOMB = gzip.compress(bytes(5_000_000))
SAID = {
    **{f"not HTTP: {name}": NOT_HTTP[name] for name in ("garbage", "two lengths", "length and chunks", "a flood of headers")},
    **{f"cut: {name}": CUT[name] for name in ("a broken chunk", "a stream with a broken chunk")},
    "too large": JSON + b"Connection: close\r\n\r\n" + b'"' + b"x" * 30_000 + b'"',
    "a bomb": JSON + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(_BOMB) + _BOMB,
    "a line without end": SSE + CHUNKED + b"186a0\r\ndata: " + b"x" * 99_994 + b"\r\n",
    "a redirect": b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n",
}
TORTURED = "na\u00efve end\u2028s"
"""What that stream says."""


def saying(said: bytes) -> Callable[[Visit], object]:
    """A script that says this and closes."""

    async def script(visit: Visit) -> None:
        await visit.say(said)
        visit.writer.close()

    return script


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_whatever_an_upstream_says_is_told_and_leaves_no_half_turn(
    start_house: StartHouse, wild: Bytes, closed_port: int
) -> None:
    house = await start_house(max_reply=20_000, max_event=50_000)
    places = {
        "wild": wild.url,
        "refused": f"http://127.0.0.1:{closed_port}",
        "unknown": "http://nowhere.invalid",
        "plain-tls": house.mock.origin.replace("http:", "https:"),
    }
    for name, origin in places.items():
        house.server.put(name, chain(target("openai", origin)))
    cases = [("wild", name) for name in SAID] + [(name, name) for name in places if name != "wild"]
    for pipeline, name in cases:
        wild.script = saying(SAID.get(name, b""))  # type: ignore[assignment]  # what it returns is awaited there
        talk = await begin_talk(house)
        path = f"/p/{pipeline}/sessions/{talk.session}/respond"
        assert await talk.refused(path, {"message": "Hi"}) == (502, "upstream_error"), name
        events = await talk.events(f"{path}/stream", {"message": "Hi"})
        assert (events[-1][0], events[-1][1]["code"], named(events, "done")) == ("error", "upstream_error", []), name
        assert {floor["state"] for floor in await house.memory.floors(talk.session)} == {"failed"}, name
    for model in ("unicode", "unicode-bytes", "extras"):
        talk = await begin_talk(house, model_name=model)
        data = await talk.respond("Hi")
        assert data["final_state"] == "committed"
        if model != "extras":
            assert data["generated_text"] == HOSTILE_TEXT
    # Many failures open the circuit, and what is told stays the same.
    talk = await begin_talk(house)
    path = f"/p/refused/sessions/{talk.session}/respond"
    for _ in range(10):
        assert await talk.refused(path, {"message": "Hi"}) == (502, "upstream_error")
    # A connection that is closed as soon as it is used again is replaced without a word.
    wild.visits.clear()

    async def once(visit: Visit) -> None:
        if any(earlier.writer is visit.writer for earlier in wild.visits[:-1]):
            visit.writer.close()
        else:
            await visit.answer(200, TORTURE, Content_Type="text/event-stream")

    wild.script = once
    talk = await begin_talk(house)
    path = f"/p/wild/sessions/{talk.session}/respond"
    for _ in range(3):
        status, answer = await talk.post(path, {"message": "Hi"})
        assert (status, answer["data"]["generated_text"]) == (200, TORTURED), answer
        done = (await talk.events(f"{path}/stream", {"message": "Hi"}))[-1]
        assert (done[0], done[1]["generated_text"]) == ("done", TORTURED)
    assert len(wild.visits) == 11, "each turn but the first found a connection that was closed under it"
    # A failure that passes is hidden.
    talk = await begin_talk(house)
    house.mock.script([Step(status=500), Step(text="One."), Step(status=503), Step(text="Two.")])
    assert (await talk.respond("Hi"))["generated_text"] == "One."
    assert (await talk.stream("Hi"))[-1][1]["generated_text"] == "Two."
