"""``GET /metrics``: right numbers under bounded names, readable by Prometheus' own parser, and no word of a caller."""

import asyncio
import json
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import aiohttp
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families

from agentui.api.ops.telemetry import BOUNDS, MOST_NAMES, OTHER, Counters, Histogram, route_of
from agentui.http.worker_group import WorkerGroup
from agentui.jsonio import dumps
from agentui.serving.application import create_app
from agentui.serving.listener import Listener
from agentui.settings import Settings
from agentui.vendors.detect import PROXIED_PATHS
from tests.api.callers import DIALECTS as CALLERS
from tests.api.callers import Caller
from tests.api.chats.forms import DOCUMENT
from tests.conftest import ROOT, Server, ServerState, StartServer, call
from tests.upstreams.server import API_KEY, Mock
from tests.upstreams.step import Step

TOKEN = "let-me-in-0123456789"
CANARY = "canary-5f2a9c17e0b84d63"
Samples = Mapping[tuple[str, frozenset[tuple[str, str]]], float]


async def scrape(server: Server, accept: str = "", headers: Mapping[str, str] | None = None) -> tuple[str, str]:
    """The text of the metrics and its type."""
    async with (
        aiohttp.ClientSession() as http,
        http.get(f"{server.origin}/metrics", headers={"accept": accept, **(headers or {})}) as answer,
    ):
        text = await answer.text()
        assert answer.status == 200, text
        return text, answer.headers["content-type"]


async def samples(server: Server) -> Samples:
    """Every sample by its name and labels."""
    text, _ = await scrape(server)
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(told: Samples, name: str, **labels: str) -> float:
    return told.get((name, frozenset(labels.items())), 0.0)


async def to_all(start_server: StartServer, mock: Mock, **settings: object) -> Server:
    """A server whose only pipeline speaks each caller's dialect to the mock."""
    return await start_server({"default": call("caller", mock.origin)}, **settings)


async def test_what_was_asked_is_counted_by_route_dialect_and_status(start_server: StartServer, mock: Mock) -> None:
    server = await to_all(start_server, mock)
    for dialect in CALLERS:
        caller = Caller(dialect, server.origin)
        assert (await caller.ask()).status == 200
        assert (await caller.ask(stream=True)).status == 200
        assert (await caller.post(caller.path("text"), [])).status == 400
    told = await samples(server)
    for dialect, route in zip(
        CALLERS, ("/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1beta/models/{call}"), strict=True
    ):
        assert value(told, "agentui_http_requests_total", route=route, dialect=dialect, status="2xx") == 2
        assert value(told, "agentui_http_requests_total", route=route, dialect=dialect, status="4xx") == 1
    assert value(told, "agentui_runs_total", pipeline="default", outcome="finished") == 8
    assert value(told, "agentui_errors_total", code="bad_request") == 4
    assert value(told, "agentui_run_duration_seconds_count", pipeline="default") == 8
    assert value(told, "agentui_first_byte_seconds_count", pipeline="default") == 4
    assert value(told, "agentui_stream_chunks_total", pipeline="default") >= 4
    assert value(told, "agentui_tokens_total", pipeline="default", kind="input") > 0
    assert value(told, "agentui_tokens_total", pipeline="default", kind="output") > 0
    assert value(told, "agentui_upstream_attempts_total", origin=mock.origin, status="2xx") == 8
    assert value(told, "agentui_in_flight_requests") == 0
    assert value(told, "agentui_run_history_bytes") == server.state.history.bytes > 0
    assert value(told, "agentui_store_open", engine="sqlite") == 0


async def test_failures_retries_and_limits_are_counted(start_server: StartServer, mock: Mock) -> None:
    server = await to_all(start_server, mock, rate_limit=3)
    caller = Caller("openai", server.origin)
    mock.script([Step(status=500), Step(), Step(status=400)])
    statuses = [(await caller.ask()).status for _ in range(4)]
    assert statuses == [200, 400, 200, 429]
    told = await samples(server)
    assert value(told, "agentui_upstream_attempts_total", origin=mock.origin, status="5xx") == 1
    assert value(told, "agentui_upstream_attempts_total", origin=mock.origin, status="4xx") == 1
    assert value(told, "agentui_upstream_attempts_total", origin=mock.origin, status="2xx") == 2
    assert value(told, "agentui_upstream_retries_total", origin=mock.origin) == 1
    assert value(told, "agentui_upstream_circuit_open", origin=mock.origin) == 0
    assert value(told, "agentui_runs_total", pipeline="default", outcome="failed") == 1
    assert value(told, "agentui_limited_requests_total", limit="rate") == 1
    assert value(told, "agentui_errors_total", code="rate_limited") == 1
    assert value(told, "agentui_errors_total", code="upstream_refused") == 1


async def test_an_upstream_that_is_away_is_counted_and_then_left_alone(start_server: StartServer) -> None:
    server = await start_server({"default": call("openai", "http://127.0.0.1:9")})
    statuses = {(await Caller("openai", server.origin).ask()).status for _ in range(30)}
    assert statuses == {502, 503}
    told = await samples(server)
    origin = "http://127.0.0.1:9"
    assert value(told, "agentui_upstream_attempts_total", origin=origin, status="none") >= 20
    assert value(told, "agentui_upstream_circuit_open", origin=origin) == 1
    assert value(told, "agentui_upstream_refused_total", origin=origin) >= 1


async def test_a_caller_who_leaves_is_counted_as_such(start_server: StartServer, mock: Mock) -> None:
    server = await to_all(start_server, mock)
    mock.script(Step(forever=True))
    body = Caller("openai", server.origin).body("Hello", "text", stream=True)
    async with (
        aiohttp.ClientSession(headers={"authorization": f"Bearer {API_KEY}"}) as http,
        http.post(f"{server.origin}/v1/chat/completions", json=body) as answer,
    ):
        await answer.content.readany()
        assert value(await samples(server), "agentui_in_flight_requests") == 1
        answer.close()
    await mock.was_aborted()
    told = await samples(server)
    async with asyncio.timeout(60):
        while value(told, "agentui_in_flight_requests"):
            told = await samples(server)
    route = {"route": "/v1/chat/completions", "dialect": "openai"}
    assert value(told, "agentui_http_requests_total", status="cancelled", **route) == 1
    assert value(told, "agentui_runs_total", pipeline="default", outcome="cancelled") == 1


async def test_both_formats_are_what_prometheus_reads(start_server: StartServer, mock: Mock) -> None:
    server = await to_all(start_server, mock)
    assert (await Caller("claude", server.origin).ask(stream=True)).status == 200
    text, kind = await scrape(server)
    assert kind.startswith("text/plain; version=0.0.4")
    plain = {family.name: family for family in text_string_to_metric_families(text)}
    text, kind = await scrape(server, "application/openmetrics-text; version=1.0.0")
    assert kind.startswith("application/openmetrics-text; version=1.0.0")
    strict = {family.name: family for family in read_openmetrics(text)}
    assert strict.keys() == {name.removesuffix("_total") for name in plain}
    for family in strict.values():
        assert family.documentation.endswith(".")
        assert family.name.startswith(("agentui_", "process_"))
    if sys.platform == "linux":
        assert {"process_cpu_seconds", "process_resident_memory_bytes", "process_open_fds"} <= strict.keys()


async def test_no_word_of_a_caller_is_in_a_label(start_server: StartServer, mock: Mock) -> None:
    """Neither from body, model, path, query, header or key, nor from an address that a template made of them."""
    pipelines = {
        "default": call("caller", mock.origin),
        "elsewhere": call("openai", "http://[[VAR:incoming.headers.x-note]].invalid"),
    }
    server = await start_server(pipelines)
    for dialect in CALLERS:
        caller = Caller(dialect, server.origin, query=f"a={CANARY}", headers={"x-note": CANARY})
        await caller.ask(CANARY, model=CANARY)
        await Caller(dialect, server.origin, prefix=f"/p/{CANARY}").ask()
        await Caller(dialect, server.origin, prefix="/p/elsewhere", headers={"x-note": CANARY}).ask()
        await caller.get(f"/{CANARY}")
        await caller.get(f"/api/{CANARY}")
        await caller.get(f"/v1/models/{CANARY}")
    text, _ = await scrape(server)
    assert CANARY not in text and API_KEY not in text
    told = await samples(server)
    assert value(told, "agentui_upstream_attempts_total", origin=OTHER, status="none") >= 1


async def test_the_token_is_asked_for_as_prometheus_sends_it(start_server: StartServer, mock: Mock) -> None:
    server = await to_all(start_server, mock, token=TOKEN)
    async with aiohttp.ClientSession() as http, http.get(f"{server.origin}/metrics") as answer:
        assert answer.status == 401
    text, _ = await scrape(server, headers={"Authorization": f"Bearer {TOKEN}"})
    assert "agentui_build_info" in text and TOKEN not in text


def test_every_proxied_path_has_its_dialect() -> None:
    for path in (
        *PROXIED_PATHS,
        "/v1beta/models/m:x",
        "/v1/models/some-model:generateContent",
        "/v1alpha/models/m:countTokens",
    ):
        route, prefixed = route_of(path), route_of("/p/mine" + path)
        assert route.is_proxied and route == prefixed
        assert route.dialect == PROXIED_PATHS.get(path, "gemini")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/api/runs/run_1/events", "/api"),
        ("/apis", "other"),
        ("/sessions/s/branches", "/sessions"),
        ("/ui/js/app.js", "/ui"),
        ("/v1/models", "/v1/models"),
        ("/v1beta/models/gemini-x", "/v1beta/models"),
        ("/p/mine/v1/models", "/v1/models"),
        ("/p/mine", "other"),
        ("/p/mine/api/runs", "other"),
        ("/p/", "other"),
        ("", "other"),
        ("/health", "/health"),
        ("/wp-login.php", "other"),
    ],
)
def test_a_path_has_a_name_that_holds_nothing_of_it(path: str, name: str) -> None:
    assert route_of(path).name == name
    assert not route_of(path).is_proxied


def test_names_are_bounded() -> None:
    counters = Counters()
    for number in range(1000):
        counters.count_error(f"code_{number}")
    assert len(counters.errors) == MOST_NAMES + 1
    assert counters.errors[OTHER] == 1000 - MOST_NAMES


def test_a_duration_is_in_the_first_bound_that_it_does_not_exceed() -> None:
    histogram = Histogram()
    for seconds in (0.0, BOUNDS[0], BOUNDS[0] + 1e-9, BOUNDS[-1], BOUNDS[-1] + 1):
        histogram.add(seconds)
    assert histogram.counts[0] == 2 and histogram.counts[1] == 1
    assert histogram.counts[-2] == 1 and histogram.counts[-1] == 1
    assert sum(histogram.counts) == 5


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="Workers need Unix sockets.")
async def test_whichever_worker_is_asked_answers_for_all(tmp_path: Path, mock: Mock) -> None:
    (tmp_path / "pipelines").mkdir()
    (tmp_path / "pipelines" / "default.json").write_bytes(dumps(call("caller", mock.origin)))
    settings = Settings(pipelines=tmp_path / "pipelines", presets=tmp_path / "presets", data=tmp_path / "data", token=TOKEN)
    listeners, workers = [], []
    try:
        with tempfile.TemporaryDirectory() as doors:
            for number in range(2):
                app = create_app(settings, group=WorkerGroup(Path(doors), 2, number))
                listeners.append(Listener(app))
                port = await listeners[-1].start("127.0.0.1", 0)
                origin = f"http://127.0.0.1:{port}"
                workers.append(Server(origin, ServerState(app), app, settings.pipelines, settings.data))
            for worker, times in zip(workers, (1, 3), strict=True):
                for _ in range(times):
                    caller = Caller("openai", worker.origin, headers={"x-agentui-token": TOKEN})
                    assert (await caller.ask(stream=True)).status == 200
            for worker in workers:
                text, _ = await scrape(worker, "application/openmetrics-text; version=1.0.0", {"x-agentui-token": TOKEN})
                told = {family.name: family.samples for family in read_openmetrics(text)}
                runs = {sample.labels["worker"]: sample.value for sample in told["agentui_runs"]}
                assert runs == {"0": 1.0, "1": 3.0}
                assert {sample.labels["worker"] for samples in told.values() for sample in samples} == {"0", "1"}
    finally:
        for listener in listeners:
            await listener.stop()


def test_a_server_without_a_collector_loads_no_library_for_traces(tmp_path: Path) -> None:
    program = (
        "import sys; from agentui.serving.application import create_app; from agentui.settings import Settings;"
        f"create_app(Settings(data={str(tmp_path)!r}));"
        "print([name for name in sys.modules if name.partition('.')[0] in ('opentelemetry', 'requests')])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert json.loads(run.stdout) == []


def test_the_route_is_one_of_the_server(tmp_path: Path) -> None:
    app = create_app(Settings(data=tmp_path))
    assert "/metrics" in {route.resource.canonical for route in app.router.routes() if route.resource is not None}


def test_every_route_of_the_document_is_counted_under_a_name_of_its_own() -> None:
    """``other`` stands for what is not there: a route of ours that counts as it is missed by whoever looks at the metrics."""
    asked = [
        path.replace("{version}", "v1beta").replace("{call}", "m:generateContent").replace("{", "").replace("}", "")
        for path in DOCUMENT["paths"]
    ]
    assert len(asked) > 200
    assert [path for path in asked if route_of(path).name == OTHER] == []
