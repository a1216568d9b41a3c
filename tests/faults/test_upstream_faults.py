"""An upstream in trouble: the caller hears of it in its own dialect, and nothing cut looks whole (U1-U12, U17, U19)."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from tests.faults.callers import (
    ANOTHER,
    DIALECTS,
    Asked,
    Heard,
    Route,
    ask,
    check_failed,
    check_whole,
    error_of,
    looks_finished,
    routes,
    said_in,
)
from tests.faults.conftest import KINDS, QUICK, House, StartHouse
from tests.upstreams.server import Mock, Step
from tests.upstreams.step import SCENARIOS, Raw


async def everybody_asks(house: House, kind: str, model: str = "text") -> list[tuple[Route, Heard]]:
    """All callers at once, streamed and not."""
    asked = routes(kind)
    heard = await asyncio.gather(*(house.ask(route, model) for route in asked))
    await house.is_quiet()
    return list(zip(asked, heard, strict=True))


def upstream_of(route: Route) -> str:
    """The dialect that the upstream speaks on this route."""
    return ANOTHER[route.caller] if route.kind == "translated" else route.caller


def clocks_for(model: str) -> dict[str, float]:
    """Settings that give up soon where the mock is silent."""
    return QUICK if model.startswith("hang") else {}


@dataclass(frozen=True)
class Fault:
    """What the mock does by that model's name, which statuses tell of it, and how often one request may reach it."""

    model: str
    statuses: Sequence[int]
    passes_raw: bool = False
    """Whether forwarded bytes are none of our business: the status is fine and the body ends."""
    whole_without_marker: str = ""
    """The dialect whose streams are whole with their finish reason, since many servers of it send no marker."""


FAULTS = (
    Fault("hang", (504,)),
    Fault("hang-mid", (504,)),
    Fault("truncated", (502,), whole_without_marker="openai"),
    Fault("truncated-early", (502,)),
    Fault("truncated-line", (502,)),
    Fault("truncated-reset", (502,)),
    Fault("bad-event", (502,), passes_raw=True),
    Fault("invalid-json", (502,), passes_raw=True),
    Fault("not-an-answer", (502,), passes_raw=True),
    Fault("empty-body", (502,), passes_raw=True),
    Fault("html", (502,), passes_raw=True),
    Fault("redirect", (502,)),
    Fault("fail-mid", (503, 502, 529), passes_raw=True),
    Fault("fail-first", (503, 502, 529), passes_raw=True),
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.model)
async def test_a_fault_is_told_in_the_callers_shape_and_never_looks_like_an_end(
    start_house: StartHouse, mock: Mock, fault: Fault, kind: str
) -> None:
    """And names the node and the host; after the headers, or once patience has ended, nothing is tried again."""
    house = await start_house(mock.origin, **clocks_for(fault.model))
    asked = await everybody_asks(house, kind, fault.model)
    # Two say themselves what is wrong, and without a stream by a status that may pass.
    is_told = fault.model.startswith("fail-")
    assert is_told or len(mock.requests) == len(asked)
    for route, heard in asked:
        if heard.status >= 500 and not is_told:
            message = error_of(route.caller, heard)["message"]
            assert message.startswith("Node n1") and mock.origin.removeprefix("http://") in message, (route, message)
        if kind == "raw" and fault.passes_raw and heard.status == 200:
            assert not heard.broken
        elif upstream_of(route) == fault.whole_without_marker and route.stream:
            assert heard.status == 200
        else:
            check_failed(route.caller, heard, set(fault.statuses), stream=route.stream, raw=kind == "raw")


@pytest.mark.parametrize("kind", KINDS)
async def test_an_upstream_that_is_not_there_is_named_with_its_node(
    start_house: StartHouse, closed_port: int, kind: str
) -> None:
    for base in (f"http://127.0.0.1:{closed_port}", "http://169.254.169.254"):
        house = await start_house(base)
        for route, heard in await everybody_asks(house, kind):
            assert heard.status == 502, route
            message = error_of(route.caller, heard)["message"]
            assert message.startswith("Node n1") and base.removeprefix("http://") in message, (route, message)


@pytest.mark.parametrize("kind", KINDS)
async def test_what_was_said_before_the_cut_stays_said(house: House, kind: str) -> None:
    for route, heard in await everybody_asks(house, kind, "truncated"):
        if route.stream:
            assert heard.status == 200
            assert said_in(route.caller, heard.body, stream=True).startswith("Hello from the ")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 409, 413, 422])
async def test_a_refusal_is_passed_on_with_its_status_after_one_attempt(
    house: House, mock: Mock, status: int, kind: str
) -> None:
    asked = await everybody_asks(house, kind, f"error-{status}")
    for route, heard in asked:
        assert heard.status == status, (route, heard.body)
        assert "told to fail" in error_of(route.caller, heard)["message"]
    assert len(mock.requests) == len(asked)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [429, 503])
async def test_a_long_retry_after_reaches_the_caller_at_once(house: House, mock: Mock, status: int, kind: str) -> None:
    asked = await everybody_asks(house, kind, f"error-{status}")
    for route, heard in asked:
        assert heard.status == status, (route, heard.body)
        error_of(route.caller, heard)
        if (upstream_of(route), kind) != ("gemini", "raw"):
            # Gemini tells the time in its body, which is forwarded as it came.
            assert heard.headers["retry-after"] == "7"
    for path in ("chat/completions", "responses", "messages"):
        assert len([request for request in mock.requests if request.path.endswith(path)]) == 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("stream", [False, True])
async def test_a_flap_is_hidden(house: House, mock: Mock, dialect: str, kind: str, stream: bool) -> None:
    mock.script(Step(status=500))
    heard = await house.ask(Route(dialect, kind, stream))
    check_whole(dialect, heard, "Hello from the mock.", stream=stream)
    assert len(mock.requests) == 2


@pytest.mark.parametrize("kind", KINDS)
async def test_a_lasting_failure_is_tried_three_times_and_then_told(house: House, mock: Mock, kind: str) -> None:
    heard = await house.ask(Route("claude", kind, stream=True), "html-502")
    assert heard.status == 502
    error_of("claude", heard)
    assert b"<h1>" not in heard.body
    assert len(mock.requests) == 3


@pytest.mark.parametrize("kind", KINDS)
async def test_a_page_instead_of_an_error_is_told_in_json(house: House, mock: Mock, kind: str) -> None:
    for route, heard in await everybody_asks(house, kind, "html-502"):
        assert heard.status == 502
        message = error_of(route.caller, heard)["message"]
        assert message.startswith("Node n1") and mock.origin.removeprefix("http://") in message, (route, message)
        assert b"<h1>" not in heard.body


@pytest.mark.parametrize("kind", ["same", "translated"])
@pytest.mark.parametrize(
    "raw",
    [
        Raw(b"", "application/json", 204),
        Raw(b"null", "application/json"),
        Raw(b"3", "application/json"),
        Raw(b'"text"', "application/json"),
        Raw(b"{}", "application/json"),
        Raw(b'{"choices": 3, "content": 3, "output": 3, "candidates": 3}', "application/json"),
        Raw(b"\xff\xfe", "application/json"),
        Raw(b"data: [1, 2]\n\n", "text/event-stream"),
        Raw(b"data: {}\n\n", "text/event-stream"),
        Raw(b"", "text/event-stream"),
        Raw(b"plain words", "text/plain"),
        Raw(b"[" * 5000, "application/json"),
    ],
    ids=lambda raw: f"{raw.status}-{raw.body[:12]!r}",
)
async def test_what_is_no_answer_is_a_bad_gateway(house: House, mock: Mock, raw: Raw, kind: str) -> None:
    mock.script([Step(raw=raw)] * 8)
    for route, heard in await everybody_asks(house, kind):
        check_failed(route.caller, heard, {502}, stream=route.stream)
    assert len(mock.requests) == 8


@pytest.mark.parametrize("kind", KINDS)
async def test_a_name_that_leads_nowhere_is_named(start_house: StartHouse, kind: str) -> None:
    house = await start_house("http://nowhere.invalid")
    for route, heard in await everybody_asks(house, kind):
        assert heard.status == 502, route
        assert "nowhere.invalid" in error_of(route.caller, heard)["message"]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_server_without_tls_behind_https_is_told_and_never_called_in_the_clear(
    start_house: StartHouse, mock: Mock, kind: str
) -> None:
    house = await start_house(mock.origin.replace("http:", "https:"))
    for route, heard in await everybody_asks(house, kind):
        assert heard.status == 502, route
        assert "certificate" in error_of(route.caller, heard)["message"]
    assert mock.requests == []


@pytest.mark.parametrize("kind", KINDS)
async def test_a_dead_upstream_is_left_alone_and_callers_are_told_when_to_come_back(
    start_house: StartHouse, closed_port: int, kind: str
) -> None:
    house = await start_house(f"http://127.0.0.1:{closed_port}")
    route = Route("openai", kind, stream=False)
    await asyncio.gather(*(house.ask(route) for _ in range(20)))
    for route, heard in await everybody_asks(house, kind):
        assert heard.status == 503, route
        assert 1 <= int(heard.headers["retry-after"]) <= 5
        error_of(route.caller, heard)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", ["unicode", "unicode-bytes", "extras"])
async def test_odd_but_legal_streams_arrive_whole(house: House, kind: str, model: str) -> None:
    for route, heard in await everybody_asks(house, kind, model):
        assert heard.status == 200, (route, heard.body)
        assert not heard.broken
        assert looks_finished(route.caller, heard.body) or not route.stream


@pytest.mark.parametrize("kind", ["same", "translated"])
@pytest.mark.parametrize("model", ["truncated", "fail-mid"])
async def test_an_array_that_breaks_off_ends_in_the_error(house: House, mock: Mock, model: str, kind: str) -> None:
    mock.script(
        replace(
            SCENARIOS[model],
            text="one two three four five six seven eight",
            cut_after=-1,
            fail_after=None if model == "truncated" else 7,
        )
    )
    asked = ask("gemini", stream=True)
    heard = await house.send(
        house.at(Route("gemini", kind, stream=True), Asked(asked.path.partition("?")[0], asked.headers, asked.body))
    )
    assert heard.status == 200
    assert heard.headers["content-type"].startswith("application/json")
    assert heard.body.startswith(b"[")
    *pieces, last = json.loads(heard.body)
    assert last["error"]["message"] and last["error"]["status"]
    assert not any("finishReason" in candidate for piece in pieces for candidate in piece["candidates"])
