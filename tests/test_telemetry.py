"""Traces: what a real OTLP collector receives of a request, what the upstream is told, and what a broken collector costs."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest, ExportTraceServiceResponse
from opentelemetry.sdk.trace import TracerProvider
from pydantic import ValidationError

from agentui import __version__
from agentui.api.ops.tracing import Tracing
from agentui.jsonio import Json
from agentui.pipeline.plans.compile import compile_plan
from agentui.settings import Settings
from tests.api.callers import DIALECTS, Caller
from tests.conftest import Server, StartServer, call, servers
from tests.unit.pipeline.parts import catalog_of, document, make_run
from tests.unit.work import assert_doubling
from tests.upstreams.server import API_KEY, Mock
from tests.upstreams.step import Step

CANARY = "canary-5f2a9c17e0b84d63"
SERVER, INTERNAL, CLIENT = 2, 1, 3
ERROR = 2
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@dataclass(frozen=True)
class Span:
    """A span as the collector decoded it, ids in hex."""

    name: str
    kind: int
    trace: str
    id: str
    parent: str
    began: int
    ended: int
    status: int
    attributes: dict[str, Any]


@dataclass
class Collector:
    """A little OTLP/HTTP collector. ``refuses`` answers every batch with this status; ``hangs`` never answers."""

    origin: str = ""
    spans: list[Span] = field(default_factory=list)
    resources: list[dict[str, Any]] = field(default_factory=list)
    raw: bytes = b""
    batches: int = 0
    refuses: int | None = None
    hangs: bool = False
    released: asyncio.Event = field(default_factory=asyncio.Event)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    async def take(self, request: web.Request) -> web.Response:
        """Decode a batch."""
        self.batches += 1
        self.news.set()
        body = await request.read()
        if self.hangs:
            await self.released.wait()
        if self.refuses is not None:
            return web.Response(status=self.refuses)
        assert request.content_type == "application/x-protobuf"
        self.raw += body
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.resources.append(attributes(resource.resource.attributes))
            for scope in resource.scope_spans:
                self.spans += [decoded(span) for span in scope.spans]
        self.news.set()
        return web.Response(body=ExportTraceServiceResponse().SerializeToString(), content_type="application/x-protobuf")

    async def heard(self, count: int) -> list[Span]:
        """The spans, once there are so many."""
        async with asyncio.timeout(60):
            while len(self.spans) < count:
                self.news.clear()
                await self.news.wait()
        assert len(self.spans) == count, [span.name for span in self.spans]
        return self.spans

    def one(self, kind: int) -> Span:
        """The only span of a kind."""
        [span] = [span for span in self.spans if span.kind == kind]
        return span


def decoded(span: Any) -> Span:
    return Span(
        span.name,
        span.kind,
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        span.start_time_unix_nano,
        span.end_time_unix_nano,
        span.status.code,
        attributes(span.attributes),
    )


def attributes(pairs: Any) -> dict[str, Any]:
    """Attributes as plain values."""
    found: dict[str, Any] = {}
    for pair in pairs:
        kind = pair.value.WhichOneof("value")
        told = getattr(pair.value, kind)
        found[pair.key] = [item.string_value for item in told.values] if kind == "array_value" else told
    return found


@pytest.fixture
async def collector(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Collector]:
    """A collector, and batches that are sent soon."""
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "30")
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_SDK_DISABLED"):
        monkeypatch.delenv(name, raising=False)
    told = Collector()
    app = web.Application()
    app.router.add_post("/v1/traces", told.take)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    told.origin = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield told
    told.released.set()
    await runner.cleanup()


async def traced(start_server: StartServer, mock: Mock, collector: Collector, **settings: Json) -> Server:
    pipelines = {"default": call("caller", mock.origin), "raw": raw(mock.origin), "nested": NESTED}
    return await start_server(pipelines, otel_endpoint=collector.origin, **settings)


NESTED: Json = {
    "format": 1,
    "name": "nested",
    "nodes": [
        {"id": "all", "type": "Loop", "config": {"items": "2"}},
        {"id": "other", "type": "SubPipeline", "config": {"pipeline": "default"}, "parent": "all"},
    ],
    "edges": [],
}


def raw(origin: str) -> Json:
    node = {"id": "n1", "type": "RawForward", "config": {"base_url": origin}}
    return {"format": 1, "name": "forward", "nodes": [node], "edges": []}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("stream", [False, True])
async def test_a_request_is_a_tree_of_three_spans(
    start_server: StartServer, mock: Mock, collector: Collector, dialect: str, stream: bool
) -> None:
    server = await traced(start_server, mock, collector)
    got = await Caller(dialect, server.origin).ask(stream=stream)
    assert got.status == 200
    await collector.heard(3)
    root, node, client = collector.one(SERVER), collector.one(INTERNAL), collector.one(CLIENT)
    assert (root.parent, node.parent, client.parent) == ("", root.id, node.id)
    assert {root.trace, node.trace, client.trace} == {root.trace}
    assert root.began <= node.began <= client.began <= client.ended <= node.ended <= root.ended
    assert {span.status for span in (root, node, client)} == {0}
    assert root.name == f"POST {root.attributes['http.route']}"
    assert root.attributes["http.response.status_code"] == 200
    assert root.attributes["agentui.run.id"] == got.headers["x-agentui-run"]
    assert root.attributes["agentui.pipeline.id"] == "default"
    assert node.name == "ProviderCall n1"
    operation = "generate_content" if dialect == "gemini" else "chat"
    assert client.name == f"{operation} text"
    told = client.attributes
    providers = {"openai": "openai", "openai_responses": "openai", "claude": "anthropic", "gemini": "gcp.gemini"}
    assert told["gen_ai.operation.name"] == operation
    assert told["gen_ai.provider.name"] == providers[dialect]
    assert told["gen_ai.request.model"] == "text"
    assert told["http.request.method"] == "POST"
    assert told["http.response.status_code"] == 200
    assert f"http://{told['server.address']}:{told['server.port']}" == mock.origin
    assert told.get("gen_ai.request.stream", False) is stream
    assert told["gen_ai.response.finish_reasons"] == ["stop"]
    if not stream:
        assert (told["gen_ai.usage.input_tokens"], told["gen_ai.usage.output_tokens"]) == (11, 7)
    [resource] = collector.resources[:1]
    assert resource["service.name"] == "agentui"
    assert resource["service.version"] == __version__
    assert resource["service.instance.id"] == server.state.turns.owner_at(0).id


@pytest.mark.parametrize("stream", [False, True])
async def test_a_call_that_is_counted_tells_its_cost(
    start_server: StartServer, mock: Mock, collector: Collector, tmp_path: Path, stream: bool
) -> None:
    prices = tmp_path / "prices.json"
    prices.write_text('{"prices": [{"model": "text", "input": 1.0, "output": 2.0}]}')
    server = await traced(start_server, mock, collector, usage=True, prices=prices)
    for pipeline in ("default", "raw"):
        assert (await Caller("openai", server.origin, prefix=f"/p/{pipeline}").ask(stream=stream)).status == 200
    assert (await Caller("openai", server.origin).ask(model="other")).status == 200
    await collector.heard(9)
    costs = [span.attributes.get("gen_ai.usage.cost") for span in collector.spans if span.kind == CLIENT]
    told = (11 * 1000 + 7 * 2000) / 1e9
    assert costs[0] == told and costs[2] is None
    assert costs[1] == told or stream  # what is forwarded unread tells its tokens only where the caller asked


@pytest.mark.parametrize("pipeline", ["default", "raw"])
async def test_the_callers_trace_goes_on_below_our_span(
    start_server: StartServer, mock: Mock, collector: Collector, pipeline: str
) -> None:
    server = await traced(start_server, mock, collector)
    headers = {"traceparent": f"00-{TRACE}-{PARENT}-01", "tracestate": "vendor=value"}
    assert (await Caller("openai", server.origin, prefix=f"/p/{pipeline}", headers=headers).ask()).status == 200
    await collector.heard(3)
    root, client = collector.one(SERVER), collector.one(CLIENT)
    assert (root.trace, root.parent) == (TRACE, PARENT)
    version, trace, parent, flags = mock.last.headers["traceparent"].split("-")
    assert (version, trace, parent) == ("00", TRACE, client.id)
    assert int(flags, 16) & 1
    assert mock.last.headers["tracestate"] == "vendor=value"


@pytest.mark.parametrize("given", ["", "00-zz-zz-01", f"00-{'0' * 32}-{PARENT}-01", f"00-{TRACE}-{PARENT}", "\t"])
async def test_a_broken_traceparent_begins_a_trace_of_its_own(
    start_server: StartServer, mock: Mock, collector: Collector, given: str
) -> None:
    server = await traced(start_server, mock, collector)
    assert (await Caller("claude", server.origin, headers={"traceparent": given}).ask()).status == 200
    await collector.heard(3)
    root = collector.one(SERVER)
    assert root.parent == "" and root.trace != TRACE
    assert re.fullmatch(rf"00-{root.trace}-{collector.one(CLIENT).id}-0[13]", mock.last.headers["traceparent"])


async def test_who_is_not_sampled_stays_so(start_server: StartServer, mock: Mock, collector: Collector) -> None:
    server = await traced(start_server, mock, collector)
    headers = {"traceparent": f"00-{TRACE}-{PARENT}-00"}
    assert (await Caller("openai", server.origin, headers=headers).ask()).status == 200
    assert mock.last.headers["traceparent"].split("-")[1] == TRACE
    assert mock.last.headers["traceparent"].endswith("-00")
    assert (await Caller("openai", server.origin).ask()).status == 200
    await collector.heard(3)
    assert collector.one(SERVER).trace != TRACE


async def test_every_attempt_is_a_span_and_the_upstream_is_told_which(
    start_server: StartServer, mock: Mock, collector: Collector
) -> None:
    server = await traced(start_server, mock, collector)
    mock.script([Step(status=500), Step()])
    assert (await Caller("openai", server.origin).ask()).status == 200
    await collector.heard(4)
    first, second = sorted((span for span in collector.spans if span.kind == CLIENT), key=lambda span: span.began)
    assert [request.headers["traceparent"].split("-")[2] for request in mock.requests] == [first.id, second.id]
    assert first.parent == second.parent == collector.one(INTERNAL).id
    assert (first.status, first.attributes["error.type"], first.attributes["http.response.status_code"]) == (ERROR, "500", 500)
    assert "http.request.resend_count" not in first.attributes
    assert (second.status, second.attributes["http.request.resend_count"]) == (0, 1)
    assert first.ended <= second.began
    assert collector.one(SERVER).status == 0


async def test_what_runs_in_a_node_stands_below_it(start_server: StartServer, mock: Mock, collector: Collector) -> None:
    server = await traced(start_server, mock, collector)
    assert (await Caller("openai", server.origin, prefix="/p/nested").ask()).status == 200
    await collector.heard(8)
    named = {span.id: span.name for span in collector.spans}
    below = {(span.name, named.get(span.parent, "")) for span in collector.spans if span.kind == INTERNAL}
    assert below == {
        ("Loop all", collector.one(SERVER).name),
        ("SubPipeline all#1/other", "Loop all"),
        ("SubPipeline all#2/other", "Loop all"),
        ("node all#1/other/n1", "SubPipeline all#1/other"),
        ("node all#2/other/n1", "SubPipeline all#2/other"),
    }
    parents = sorted(named[span.parent] for span in collector.spans if span.kind == CLIENT)
    assert parents == ["node all#1/other/n1", "node all#2/other/n1"]


def test_ending_a_trace_takes_time_that_doubles_with_its_calls() -> None:
    def of_iterations(count: int) -> Callable[[], None]:
        run = make_run(compile_plan("x", document([{"id": "n1", "type": "SetVars", "config": {}}]), catalog_of()))
        trace = Tracing(TracerProvider(shutdown_on_exit=False)).begin({}, run.started)
        trace.follow(run)
        for number in range(count):
            trace.begin_attempt(f"loop#{number}/call", None, 1)
        return lambda: trace.end("/v1/chat/completions", "request", 200)

    assert_doubling(of_iterations, 32)


async def test_failures_have_a_type_and_no_words(start_server: StartServer, mock: Mock, collector: Collector) -> None:
    server = await traced(start_server, mock, collector)
    mock.script(Step(status=401, message=f"{CANARY} {API_KEY}"))
    assert (await Caller("openai", server.origin).ask(CANARY)).status == 401
    await collector.heard(3)
    root, node, client = collector.one(SERVER), collector.one(INTERNAL), collector.one(CLIENT)
    assert client.attributes["error.type"] == node.attributes["error.type"] == "upstream_refused"
    assert (root.attributes["http.response.status_code"], root.attributes["agentui.run.state"]) == (401, "failed")
    assert ERROR == root.status == node.status == client.status
    assert CANARY.encode() not in collector.raw and API_KEY.encode() not in collector.raw


async def test_what_never_became_a_run_is_a_span_too(start_server: StartServer, mock: Mock, collector: Collector) -> None:
    server = await traced(start_server, mock, collector, rate_limit=1)
    caller = Caller("gemini", server.origin)
    assert (await caller.post(caller.path(CANARY), [])).status == 400
    assert (await caller.ask()).status == 429
    await collector.heard(2)
    assert {span.name for span in collector.spans} == {"POST /v1beta/models/{call}"}
    assert [span.attributes["http.response.status_code"] for span in collector.spans] == [400, 429]
    assert CANARY.encode() not in collector.raw


async def test_a_caller_who_leaves_ends_every_span(start_server: StartServer, mock: Mock, collector: Collector) -> None:
    server = await traced(start_server, mock, collector)
    mock.script(Step(forever=True))
    body = Caller("openai", server.origin).body("Hello", "text", stream=True)
    async with (
        aiohttp.ClientSession(headers={"authorization": f"Bearer {API_KEY}"}) as http,
        http.post(f"{server.origin}/v1/chat/completions", json=body) as answer,
    ):
        await answer.content.readany()
        answer.close()
    await collector.heard(3)
    assert {span.attributes["error.type"] for span in collector.spans} == {"cancelled"}


async def test_no_word_of_a_caller_and_no_key_is_in_a_span(start_server: StartServer, mock: Mock, collector: Collector) -> None:
    server = await traced(start_server, mock, collector)
    asked = 0
    for dialect in DIALECTS:
        for pipeline in ("default", "raw"):
            caller = Caller(
                dialect, server.origin, prefix=f"/p/{pipeline}", query=f"note={CANARY}", headers={"x-title": CANARY}
            )
            for stream in (False, True):
                assert (await caller.ask(f"Say {CANARY}", stream=stream)).status == 200
                asked += 1
    await collector.heard(3 * asked)
    for hidden in (CANARY, API_KEY, "Hello from the mock"):
        assert hidden.encode() not in collector.raw


async def test_routes_that_call_no_model_are_not_traced(start_server: StartServer, mock: Mock, collector: Collector) -> None:
    server = await traced(start_server, mock, collector)
    async with aiohttp.ClientSession(server.origin) as http:
        for path in ("/health", "/api/pipelines", "/v1/models", "/metrics"):
            async with http.get(path) as answer:
                await answer.read()
    assert (await Caller("openai", server.origin).ask()).status == 200
    await collector.heard(3)
    assert mock.last.path == "/v1/chat/completions"


@pytest.mark.parametrize("fault", ["refuses", "hangs", "away"])
async def test_a_collector_that_fails_costs_traces_and_nothing_else(
    tmp_path: Any, mock: Mock, collector: Collector, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, "opentelemetry")
    if fault == "refuses":
        collector.refuses = 500
    collector.hangs = fault == "hangs"
    endpoint = "http://127.0.0.1:9" if fault == "away" else collector.origin
    async with servers(tmp_path) as start:
        server = await start({"default": call("caller", mock.origin)}, otel_endpoint=endpoint)
        for stream in (False, True) * 5:
            assert (await Caller("claude", server.origin).ask(stream=stream)).status == 200
        if fault != "away":
            async with asyncio.timeout(60):
                await collector.news.wait()
        assert (await Caller("claude", server.origin).ask()).status == 200
    # The server has stopped, although nobody took what was left.
    assert collector.spans == []


async def test_what_is_left_is_sent_when_the_server_stops(
    tmp_path: Any, mock: Mock, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "600000")
    async with servers(tmp_path) as start:
        server = await traced(start, mock, collector)
        assert (await Caller("openai", server.origin).ask()).status == 200
        assert collector.spans == []
    await collector.heard(3)


async def test_opentelemetrys_own_variables_are_enough(
    start_server: StartServer, mock: Mock, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.origin)
    monkeypatch.setenv("OTEL_SERVICE_NAME", "my-proxy")
    server = await start_server({"default": call("caller", mock.origin)})
    assert (await Caller("openai", server.origin).ask()).status == 200
    await collector.heard(3)
    assert collector.resources[0]["service.name"] == "my-proxy"


async def test_without_a_collector_nothing_is_traced_and_no_header_passes(
    start_server: StartServer, mock: Mock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", raising=False)
    server = await start_server({"default": call("caller", mock.origin)})
    headers = {"traceparent": f"00-{TRACE}-{PARENT}-01"}
    assert (await Caller("openai", server.origin, headers=headers).ask()).status == 200
    assert server.state.telemetry.tracing is None
    assert "traceparent" not in mock.last.headers


def test_the_sdk_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
    assert Settings().has_collector
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    assert not Settings().has_collector
    assert not Settings(otel_endpoint="http://127.0.0.1:4318").has_collector


def test_missing_packages_are_said_and_harm_nobody(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.sdk.trace", None)
    assert Tracing.open(Settings(otel_endpoint="http://127.0.0.1:4318"), "server") is None
    assert "pip install -e '.[otel]'" in caplog.text


def test_a_variable_of_opentelemetry_that_is_wrong_is_said_and_harms_nobody(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "-5")
    assert Tracing.open(Settings(otel_endpoint="http://127.0.0.1:4318"), "server") is None
    assert "a variable of OpenTelemetry" in caplog.text


@pytest.mark.parametrize(
    "endpoint", ["collector:4318", "ftp://x", "http://", "http://user:key@x", "http://x/?key=1", "http://[::"]
)
def test_an_endpoint_that_is_none_is_refused_at_the_start(endpoint: str) -> None:
    with pytest.raises(ValidationError, match="collector's address"):
        Settings(otel_endpoint=endpoint)
