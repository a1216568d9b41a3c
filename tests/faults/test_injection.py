"""Text stays text: what test_threats_text.py leaves of headers, queries, names, lines and cookies (T1-T3, T9, T10, T16-T20)."""

import json

import pytest

from agentui.vendors.sse import SseDecoder
from tests.faults.callers import ANOTHER, DIALECTS, Asked, Route, ask, error_of
from tests.faults.conftest import House, StartHouse, ways
from tests.faults.speech import says, strings
from tests.faults.tricks import BREAKS, CANARY, MACROS
from tests.unit.upstream.conftest import Bytes
from tests.upstreams.server import Mock, Step


async def test_macros_in_a_header_a_query_and_a_model_are_text(hostile: House, wild: Bytes) -> None:
    asked = ask("openai", MACROS)
    path = f"/p/templated{asked.path}?q=%5B%5BSECRET:provider%5D%5D%7B%7B%20model%20%7D%7D"
    heard = await hostile.send(Asked(path, {**asked.headers, "x-title": MACROS}, asked.body))
    assert heard.status == 200
    body = json.loads(wild.visits[-1].body)
    assert body["model"] == MACROS
    assert body["title"] == MACROS
    assert body["query"] == "[[SECRET:provider]]{{ model }}"
    assert CANARY.encode() not in wild.visits[-1].body + wild.visits[-1].head


@pytest.mark.parametrize(
    "model", [*BREAKS, "../../v1/files", "a/../b", "..", "a?b=c", "a#b", "a b", "a%2fb", "a/b/c", "é", "", "x" * 500]
)
async def test_a_model_that_is_no_name_never_gets_into_a_path(start_house: StartHouse, wild: Bytes, model: str) -> None:
    says(wild, "fine")
    house = await start_house(wild.url)
    for dialect in ("openai", "openai_responses", "claude"):
        asked = ask(dialect, model)
        heard = await house.send(Asked(f"/p/gemini{asked.path}", asked.headers, asked.body))
        assert heard.status == 400, heard.body
        assert "model" in error_of(dialect, heard)["message"].lower()
    assert wild.visits == []


LINES = (
    'one\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\ndata: [DONE]\r\n\r\nid: 1\rdata: x'
    "\u2028two\u2029three\x85\x00end"
)


@pytest.mark.parametrize("pipeline", ["same", "translated"])
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_lines_in_an_error_make_no_events(house: House, mock: Mock, dialect: str, pipeline: str) -> None:
    mock.script(Step(text="one two three four five six seven eight", fail_after=7, message=LINES))
    heard = await house.ask(Route(dialect, pipeline, stream=True))
    events = SseDecoder().feed(heard.body)
    assert not [event for event in events if event.data == b"[DONE]" or event.event == "message_stop" or event.data == b"x"]
    assert any(LINES in set(strings(json.loads(event.data))) for event in events)


async def test_names_of_fields_do_not_write_headers(hostile: House, wild: Bytes) -> None:
    odd = {"a\r\nSet-Cookie: evil=1": 1, "日本語": 2, "plain_unknown": 3, "x" * 9000: 4, "a\x00b": 5, "": 6}
    for dialect, pipeline in ANOTHER.items():
        asked = ask(dialect)
        heard = await hostile.send(Asked(f"/p/{pipeline}{asked.path}", asked.headers, {**asked.body, **odd}))
        assert heard.status in (200, 400), heard.body
        assert "set-cookie" not in heard.headers
        assert len(heard.headers.get("x-agentui-dropped", "")) <= 2000
    await hostile.is_quiet()


async def test_cookies_of_an_upstream_go_to_nobody(hostile: House, wild: Bytes) -> None:
    says(wild, "fine", Set_Cookie="session=of-somebody; Path=/")
    for pipeline in ("same", "raw", "translated"):
        for dialect in DIALECTS:
            heard = await hostile.ask(Route(dialect, pipeline, stream=False))
            assert "set-cookie" not in heard.headers
    assert not [visit for visit in wild.visits if b"cookie" in visit.head.lower()]


async def test_pipelines_are_no_way_to_the_metadata_of_a_cloud(start_house: StartHouse, wild: Bytes) -> None:
    for base in (
        "http://169.254.169.254",
        "http://[fd00:ec2::254]",
        "file:///etc",
        "http://0x7f000001",
        "gopher://127.0.0.1",
        "javascript:1",
    ):
        house = await start_house(wild.url, ways(base))
        for pipeline in ("same", "raw"):
            asked = ask("openai")
            heard = await house.send(Asked(f"/p/{pipeline}{asked.path}", asked.headers, asked.body))
            assert heard.status in (404, 422, 502), (base, heard.body)
            error_of("openai", heard)
