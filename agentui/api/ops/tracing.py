"""Traces of proxied requests, sent to an OpenTelemetry collector.

    POST {route}              SERVER    the request, below the caller's own span where it names one
    └── {type} {node}         INTERNAL  each node that ran
        └── chat {model}      CLIENT    each attempt at an upstream, which is told this span's id

Spans hold names, numbers and codes; no prompt, answer, key, path, query or error text. The packages of the extra ``otel`` are
loaded when traces have somewhere to go, and never else. What is sent is gathered and sent by a thread of its own: a collector
that is slow or away costs traces and nothing more.

The names follow OpenTelemetry's semantic conventions for HTTP and for generative AI.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentui import __version__
from agentui.chat.request import WireRequest
from agentui.jsonio import Json
from agentui.pipeline.run import Run
from agentui.settings import Settings
from agentui.upstream.call import Attempt

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, SpanKind

CLOSE_SECONDS = 3.0
"""How long the last spans may take to be sent when the server stops."""
_NAME_LENGTH = 200

Attributes = dict[str, str | int | float | bool | list[str]]

log = logging.getLogger("agentui.tracing")


class Tracing:
    """Makes traces. ``open`` it once, ``close`` it at the end."""

    def __init__(self, provider: "TracerProvider") -> None:
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._provider = provider
        self.tracer = provider.get_tracer("agentui", __version__)
        self.propagator = TraceContextTextMapPropagator()

    @classmethod
    def open(cls, settings: Settings, owner: str) -> "Tracing | None":
        """What sends spans to the collector of the settings, in batches; None, with a line in the log, where the packages
        are missing or one of their own variables cannot be read. ``owner`` names this process."""
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import OTELResourceDetector, Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError as error:
            log.error("No traces are sent: %s is not installed: pip install -e '.[otel]' in agentui's folder.", error.name)
            return None
        own = Resource({"service.name": "agentui", "service.version": __version__, "service.instance.id": owner})
        # OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win over our own names.
        resource = Resource.create().merge(own).merge(OTELResourceDetector().detect())
        endpoint = None if settings.otel_endpoint is None else _traces_url(settings.otel_endpoint)
        try:
            provider = TracerProvider(resource=resource, shutdown_on_exit=False)
            provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
        except ValueError as error:
            log.error("No traces are sent: a variable of OpenTelemetry (OTEL_...) cannot be read: %s.", error)
            return None
        return cls(provider)

    def begin(self, headers: Mapping[str, str], started: float) -> "RequestTrace":
        """A trace that began at a monotonic moment, below the span that ``traceparent`` names where there is one."""
        return RequestTrace(self, self.propagator.extract(headers), started)

    async def close(self) -> None:
        """Send what is left, for a few seconds at most."""
        done = asyncio.Event()
        loop = asyncio.get_running_loop()

        def shut_down() -> None:
            try:
                self._provider.shutdown()
            finally:
                if not loop.is_closed():
                    loop.call_soon_threadsafe(done.set)

        # Not the loop's own threads: those are waited for, however long a collector takes.
        threading.Thread(target=shut_down, name="agentui-traces", daemon=True).start()
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await done.wait()
        except TimeoutError:
            log.warning("The collector did not take the last traces in time; they are lost.")


@dataclass(slots=True)
class _Call:
    """An attempt at an upstream: the moment (since the run began) at which its node began, what is asked (None where nobody can
    tell), and its span."""

    node_began: float
    number: int
    wire: WireRequest | None
    span: "Span"
    is_open: bool = True


def _holders_of(node: str) -> list[str]:
    """The paths of the nodes that a node runs in, the outermost first: ``a`` and ``a#2/b`` of ``a#2/b/c``."""
    steps = node.split("/")
    return ["/".join([*steps[:number], step.partition("#")[0]]) for number, step in enumerate(steps[:-1])]


def _began(run: Run, node: str) -> float:
    """When a node began last, in seconds after its run; 0 where no event tells."""
    logs = (*run.folded.values(), run.events.items)
    return next((e.at for log in logs for e in reversed(log) if e.node == node and e.type == "node.started"), 0.0)


class RequestTrace:
    """The spans of one request. Times are monotonic moments, which become wall clock times when they are told."""

    def __init__(self, tracing: Tracing, parent: "Context", started: float) -> None:
        from opentelemetry.trace import SpanKind, set_span_in_context

        self._tracing = tracing
        self._wall = time.time_ns() - time.monotonic_ns()
        self._kinds = SpanKind
        self._within = set_span_in_context
        self._run: Run | None = None
        self._root = self._start("POST", parent, SpanKind.SERVER, started)
        self._root_context = set_span_in_context(self._root)
        self._nodes: dict[tuple[str, float], Span] = {}
        self._newest: dict[str, Span] = {}
        """The span of each node that began last, by its path: what ran in it stands below."""
        self._calls: dict[str, list[_Call]] = {}
        """The attempts of each node, by its path."""

    def follow(self, run: Run) -> None:
        """The request has become this run."""
        self._run = run
        run.trace = self

    def begin_attempt(self, node: str, wire: WireRequest | None, number: int) -> Mapping[str, str]:
        """An attempt begins: the headers that make what the upstream traces a part of this trace."""
        run = self._run
        if run is None:
            return {}
        holders = [place for place in _holders_of(node) if place not in self._newest]
        for place in holders:
            self._node_span(place, _began(run, place))
        began = _began(run, node)
        context = self._within(self._node_span(node, began))
        call = _Call(began, number, wire, self._start("call", context, self._kinds.CLIENT, time.monotonic()))
        self._calls.setdefault(node, []).append(call)
        headers: dict[str, str] = {}
        self._tracing.propagator.inject(headers, self._within(call.span))
        return headers

    def end_attempt(self, node: str, attempt: Attempt) -> None:
        """An attempt has come to something; one that hands out its answer goes on until its node is done."""
        run = self._run
        mine = reversed(self._calls.get(node, ()))
        call = next((call for call in mine if call.number == attempt.number and call.is_open), None)
        if call is None or run is None:
            return
        host, port = _host_and_port(attempt.host)
        told: Attributes = {"server.address": host, "http.request.method": run.incoming.method}
        if port is not None:
            told["server.port"] = port
        if attempt.number > 1:
            told["http.request.resend_count"] = attempt.number - 1
        if attempt.status is not None:
            told["http.response.status_code"] = attempt.status
        if attempt.first_byte is not None and attempt.connected is not None:
            told["agentui.upstream.wait"] = attempt.first_byte - attempt.connected
        call.span.set_attributes(told)
        if attempt.error is not None or (attempt.status or 0) >= 400:
            self._fail(call.span, str(attempt.status) if attempt.status is not None else "no_answer")
        if attempt.wait is not None:
            self._describe(call, run)
            call.is_open = False
            call.span.end(self._wall_time(time.monotonic()))

    def tell_cost(self, node: str, nano: int | None) -> None:
        """The node's last call is over, and cost this. The conventions have no name for it yet: this is the one that collectors
        look for (Langfuse, OpenLIT), in dollars."""
        call = next((call for call in reversed(self._calls.get(node, ())) if call.is_open), None)
        if call is not None and nano is not None:
            call.span.set_attribute("gen_ai.usage.cost", nano / 1e9)

    def end(self, route: str, request_id: str, status: int | None) -> None:
        """The request is over: end every span. ``route`` is the name that the root goes by."""
        now = time.monotonic()
        # The run is kept for the editor, and needs no spans for that.
        run, self._run = self._run, None
        if run is not None:
            run.trace = None
        if run is not None and self._root.is_recording():
            self._end_nodes(run, now)
        root = self._root
        root.update_name(f"POST {route}")
        root.set_attributes({"http.request.method": "POST", "http.route": route, "agentui.request.id": request_id})
        if run is not None:
            root.set_attributes({"agentui.run.id": run.id, "agentui.pipeline.id": run.plan.id, "agentui.run.state": run.state})
        if status is not None:
            root.set_attribute("http.response.status_code", status)
        if status is None:
            self._fail(root, "cancelled")
        elif status >= 500:
            self._fail(root, str(status))
        elif run is not None and run.state == "failed":
            # The status was out already.
            self._fail(root, _code_of_end(run))
        root.end(self._wall_time(now))

    def _end_nodes(self, run: Run, now: float) -> None:
        """A span for each node that ran, from the run's events, and the end of its calls."""
        types = {node.id: node.type for node in run.plan.every_node()}
        began: dict[str, float] = {}
        ended: set[tuple[str, float]] = set()
        for event in tuple(run.events.items):
            node = event.node
            if node is None:
                continue
            if event.type == "node.started":
                began[node] = event.at
                self._node_span(node, event.at)
            elif event.type in ("node.finished", "node.failed") and node in began:
                told = event.data if isinstance(event.data, Mapping) else {}
                out, failed = (told, None) if event.type == "node.finished" else ({}, told)
                ended.add((node, began[node]))
                self._end_node(run, node, types, began.pop(node), run.started + event.at, failed, out)
        for node, at in began.items():
            ended.add((node, at))
            self._end_node(run, node, types, at, now, {"code": "cancelled"}, {})
        for node, at in self._nodes.keys() - ended:
            # It asked an upstream in an iteration of which the run keeps no events.
            self._end_node(run, node, types, at, now, None, {})

    def _end_node(
        self,
        run: Run,
        node: str,
        types: Mapping[str, str],
        began: float,
        ended: float,
        error: Mapping[str, Json] | None,
        out: Mapping[str, Json],
    ) -> None:
        span = self._node_span(node, began)
        *around, own = node.split("/")
        # What another pipeline's nodes are this one cannot tell.
        kind = types.get(own, "node") if all("#" in step for step in around) else "node"
        span.update_name(f"{kind} {node}")
        span.set_attributes({"agentui.node.id": node, "agentui.node.type": kind})
        code = None if error is None else str(error.get("code"))
        for call in self._calls.get(node, ()):
            if call.is_open and call.node_began == began:
                self._describe(call, run)
                self._tell_answer(run, call, out)
                if code is not None:
                    self._fail(call.span, code)
                call.is_open = False
                call.span.end(self._wall_time(ended))
        if code is not None:
            self._fail(span, code)
        span.end(self._wall_time(ended))

    def _node_span(self, node: str, began: float) -> "Span":
        """The span of a node that began so many seconds after its run."""
        span = self._nodes.get((node, began))
        if span is None:
            assert self._run is not None
            holder = next((self._newest[place] for place in reversed(_holders_of(node)) if place in self._newest), None)
            context = self._root_context if holder is None else self._within(holder)
            span = self._start(node, context, self._kinds.INTERNAL, self._run.started + began)
            self._nodes[node, began] = self._newest[node] = span
        return span

    def _describe(self, call: _Call, run: Run) -> None:
        """Say what was asked."""
        wire = call.wire
        if wire is None:
            return
        model = run.redactor.redact(wire.model)[:_NAME_LENGTH]
        names = run.services.vendors[wire.vendor].trace_names
        name = names.chat if wire.operation == "chat" else wire.operation
        call.span.update_name(f"{name} {model}".rstrip())
        told: Attributes = {"gen_ai.operation.name": name, "gen_ai.provider.name": names.provider}
        if model:
            told["gen_ai.request.model"] = model
        if wire.stream:
            told["gen_ai.request.stream"] = True
        call.span.set_attributes(told)

    def _tell_answer(self, run: Run, call: _Call, out: Mapping[str, Json]) -> None:
        """Say what the answer counts."""
        told: Attributes = {}
        usage = out.get("usage")
        if isinstance(usage, Mapping):
            for name, key in _USAGE.items():
                if isinstance(count := usage.get(key), int):
                    told[name] = count
        if isinstance(finish := out.get("finish_reason"), str):
            told["gen_ai.response.finish_reasons"] = [finish]
        result = out.get("result")
        if isinstance(result, Mapping) and isinstance(model := result.get("model", result.get("modelVersion")), str):
            told["gen_ai.response.model"] = run.redactor.redact(model)[:_NAME_LENGTH]
        call.span.set_attributes(told)

    def _start(self, name: str, context: "Context", kind: "SpanKind", started: float) -> "Span":
        return self._tracing.tracer.start_span(name, context, kind, start_time=self._wall_time(started))

    def _wall_time(self, moment: float) -> int:
        return self._wall + int(moment * 1e9)

    def _fail(self, span: "Span", kind: str) -> None:
        from opentelemetry.trace import Status, StatusCode

        span.set_attribute("error.type", kind)
        span.set_status(Status(StatusCode.ERROR))


_USAGE: Mapping[str, str] = {
    "gen_ai.usage.input_tokens": "input_tokens",
    "gen_ai.usage.output_tokens": "output_tokens",
    "gen_ai.usage.cache_read.input_tokens": "cache_read_tokens",
    "gen_ai.usage.cache_creation.input_tokens": "cache_write_tokens",
    "gen_ai.usage.reasoning.output_tokens": "reasoning_tokens",
}
"""Where OUT's ``usage`` holds what the conventions count."""


def _host_and_port(text: str) -> tuple[str, int | None]:
    """The host that errors name, taken apart."""
    host, _, port = text.rpartition(":")
    if host and port.isdigit():
        return host.strip("[]"), int(port)
    return text.strip("[]"), None


def _code_of_end(run: Run) -> str:
    """The code that a failed run ended with."""
    last = run.events.items[-1].data if run.events.items else None
    error = last.get("error") if isinstance(last, Mapping) else None
    return str(error.get("code")) if isinstance(error, Mapping) else "failed"


def _traces_url(endpoint: str) -> str:
    """Where spans go at a collector: the standard path below its address, unless that is what was given."""
    base = endpoint.rstrip("/")
    return base if base.endswith("/v1/traces") else f"{base}/v1/traces"
