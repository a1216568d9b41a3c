"""What becomes known of every request that ended: counters, and a log line and a trace where somebody wants them.

Guard ──> Telemetry.end() ──> Counters   plain integers, read by GET /metrics
                         ├──> the log    one line (AGENTUI_LOG_REQUESTS)
                         └──> a trace    spans (AGENTUI_OTEL_ENDPOINT)
"""

import logging
import re
import time
from bisect import bisect_left
from collections import Counter
from contextvars import Token
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from aiohttp import web

from agentui.api.ops.tracing import RequestTrace, Tracing
from agentui.documents.document import is_own_id
from agentui.http.reading import split_prefix
from agentui.logs import REQUEST
from agentui.pipeline.run import Run
from agentui.pipeline.tokens import told_tokens
from agentui.settings import Settings
from agentui.vendors.detect import proxied_route
from agentui.vendors.passed import passed_route

BOUNDS = (0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
"""Seconds: from an answer out of a cache to a model that thinks for as long as ``AGENTUI_FIRST_BYTE_TIMEOUT`` lets it."""
MOST_NAMES = 200
"""Pipelines and codes counted by name at most; what comes later counts as ``other``."""
OTHER = "other"
OWN = "~"
"""What all pipelines of accounts are counted under."""
MEMORY_PATHS = (
    "/accounts",
    "/auth",
    "/branches",
    "/budgets",
    "/characters",
    "/clients",
    "/chat-transfer-jobs",
    "/export",
    "/floors",
    "/import",
    "/llm-instances",
    "/llm-profiles",
    "/mcp",
    "/memories",
    "/memory",
    "/memory-edges",
    "/messages",
    "/operation-logs",
    "/pages",
    "/presets",
    "/projects",
    "/prompt-runtime",
    "/regex-profiles",
    "/sessions",
    "/tool-executions",
    "/tools",
    "/usage",
    "/users",
    "/variables",
    "/vc-tags",
    "/worldbooks",
)
"""What the memory's paths begin with; each is counted as one route."""
NO_DIALECT = "none"
CANCELLED = "cancelled"
"""What stands for the status of an answer that nobody waited for."""

_MODELS = re.compile(r"/(v1|v1beta|v1alpha)/models(/.*)?")
_PLAIN = frozenset({"/", "/health", "/ready", "/version", "/metrics", "/openapi.json", "/favicon.ico"})

RUN: web.RequestKey[Run] = web.RequestKey("run", Run)
"""The run that a request began, where it came so far."""
TRACE: web.RequestKey[RequestTrace] = web.RequestKey("trace", RequestTrace)

log = logging.getLogger("agentui.requests")


class Route(NamedTuple):
    """A route by the name that metrics, logs and traces have for it, which holds nothing of the caller's."""

    name: str
    dialect: str
    is_proxied: bool


@lru_cache(maxsize=256)
def route_of(path: str) -> Route:
    """The route behind a path. All that agentui does not serve is ``other``."""
    rest = split_prefix(path).path
    if rest != path:
        inner = route_of(rest)
        is_known = inner.is_proxied or inner.name.endswith("/models") or inner.name in MEMORY_PATHS
        return inner if is_known else Route(OTHER, NO_DIALECT, False)
    if (proxied := proxied_route(path)) is not None:
        return Route(*proxied, True)
    if (passed := passed_route(path)) is not None:
        return Route(passed.name, passed.vendor or NO_DIALECT, True)
    if match := _MODELS.fullmatch(path):
        return Route(f"/{match[1]}/models", NO_DIALECT, False)
    if path in _PLAIN:
        return Route(path, NO_DIALECT, False)
    group = next((each for each in ("/api", "/ui", *MEMORY_PATHS) if path == each or path.startswith(f"{each}/")), OTHER)
    return Route(group, NO_DIALECT, False)


class Histogram:
    """How often which duration was seen, in seconds, each in the first of ``BOUNDS`` that it does not exceed."""

    __slots__ = ("counts", "total")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        self.total = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds


class PipelineCounters:
    """What the runs of one pipeline came to."""

    __slots__ = ("chunks", "duration", "first_byte", "input_tokens", "outcomes", "output_tokens")

    def __init__(self) -> None:
        self.outcomes: dict[str, int] = {}
        self.duration = Histogram()
        self.first_byte = Histogram()
        self.chunks = 0
        self.input_tokens = 0
        self.output_tokens = 0


class Counters:
    """Everything that this process has counted since it started."""

    def __init__(self) -> None:
        self.answers: dict[str, dict[int | None, int]] = {}
        """Requests by the name of their route and by status, None where the caller left."""
        self.dialects: dict[str, str] = {}
        """The dialect of each of those routes."""
        self.errors: Counter[str] = Counter()
        """Errors of agentui's own by their code."""
        self.pipelines: dict[str, PipelineCounters] = {}

    def count_answer(self, route: Route, status: int | None) -> None:
        """A request was answered, or left by its caller."""
        known = self.answers.get(route.name)
        if known is None:
            known = self.answers[route.name] = {}
            self.dialects[route.name] = route.dialect
        known[status] = known.get(status, 0) + 1

    def count_error(self, code: str) -> None:
        """An answer told an error."""
        self.errors[code if code in self.errors or len(self.errors) < MOST_NAMES else OTHER] += 1

    def count_run(self, run: Run, tokens: tuple[int | None, int | None]) -> None:
        """A run is over, for which providers counted so many input and output tokens."""
        known = self.pipelines.get(run.plan.id) or self._pipeline(run.plan.id)
        known.outcomes[run.state] = known.outcomes.get(run.state, 0) + 1
        if run.finished is not None:
            known.duration.add(run.finished - run.started)
        if run.answer_began is not None:
            known.first_byte.add(run.answer_began - run.started)
        known.chunks += run.chunks
        known.input_tokens += tokens[0] or 0
        known.output_tokens += tokens[1] or 0

    def _pipeline(self, id: str) -> PipelineCounters:
        # Accounts name theirs as they like: names of agentui's own are labels, and nobody else's.
        name = OWN if is_own_id(id) else id if len(self.pipelines) < MOST_NAMES else OTHER
        return self.pipelines.setdefault(name, PipelineCounters())


Watch: TypeAlias = tuple[str, float, RequestTrace | None, Token[str | None]]
"""A request under way: its id, the monotonic moment at which it began, its trace where it has one, and what ends its name in
the log. (Every request makes one, and a named tuple takes ten times as long.)"""
WATCH: web.RequestKey[Watch] = web.RequestKey("watch", tuple)


class Telemetry:
    """The one that hears of every request's beginning and end. ``tracing`` is None while traces go nowhere."""

    def __init__(self, settings: Settings, owner: str) -> None:
        self.counters = Counters()
        self.tracing: Tracing | None = Tracing.open(settings, owner) if settings.has_collector else None
        self._logs_requests = settings.log_requests

    def begin(self, request: web.Request, request_id: str) -> None:
        """A request begins: from here on every line of the log that belongs to it names it."""
        started = time.monotonic()
        trace = None
        if self.tracing is not None and _is_traced(request):
            trace = request[TRACE] = self.tracing.begin(request.headers, started)
        request[WATCH] = request_id, started, trace, REQUEST.set(request_id)

    def follow(self, request: web.Request, run: Run) -> None:
        """A request has become a run."""
        request[RUN] = run
        if self.tracing is not None and (trace := request.get(TRACE)) is not None:
            trace.follow(run)

    def detach(self, request: web.Request) -> None:
        """A request ends before its run does: ``count`` counts that later."""
        request.pop(RUN, None)

    def count(self, run: Run) -> None:
        """A run is over whose request was detached from it."""
        self.counters.count_run(run, told_tokens(run))

    def count_error(self, code: str) -> None:
        """An answer told an error."""
        self.counters.count_error(code)

    def end(self, request: web.Request, status: int | None) -> None:
        """A request is over. ``status`` is None where its caller left."""
        request_id, started, trace, log_token = request[WATCH]
        route = route_of(request.path)
        self.counters.count_answer(route, status)
        run = request.get(RUN)
        if run is not None and run.origin == "client":
            tokens = told_tokens(run)
            self.counters.count_run(run, tokens)
            if self._logs_requests:
                log.info("request", extra=_fields(route, status, started, run, tokens))
        elif self._logs_requests and route.is_proxied:
            log.info("request", extra=_fields(route, status, started))
        if trace is not None:
            trace.end(route.name, request_id, status)
        REQUEST.reset(log_token)

    async def close(self) -> None:
        """Send what traces there are left."""
        if self.tracing is not None:
            await self.tracing.close()


TELEMETRY: web.AppKey[Telemetry] = web.AppKey("telemetry", Telemetry)


def _is_traced(request: web.Request) -> bool:
    return request.method == "POST" and route_of(request.path).is_proxied


def _fields(
    route: Route,
    status: int | None,
    started: float,
    run: Run | None = None,
    tokens: tuple[int | None, int | None] = (None, None),
) -> dict[str, str | int | float | None]:
    """What the log says of a request: names of ours and numbers, and nothing that the caller wrote."""
    fields: dict[str, str | int | float | None] = {
        "route": route.name,
        "dialect": route.dialect,
        "status": CANCELLED if status is None else status,
        "duration_ms": round((time.monotonic() - started) * 1000, 1),
    }
    if run is not None:
        began = run.answer_began
        fields |= {
            "pipeline": run.plan.id,
            "run": run.id,
            "outcome": run.state,
            "first_byte_ms": None if began is None else round((began - started) * 1000, 1),
            "chunks": run.chunks or None,
            "input_tokens": tokens[0],
            "output_tokens": tokens[1],
        }
    return {name: value for name, value in fields.items() if value is not None}
