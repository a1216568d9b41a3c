"""``GET /metrics``: what this server counted, for Prometheus.

While requests run there are only plain integers (``telemetry``); names, labels and text are made when somebody asks. Labels
hold names of agentui's own: routes, dialects, pipelines, codes, and hosts that a pipeline's file names; never a model, a key or
any other text of a caller.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import accumulate
from urllib.parse import urlsplit

from aiohttp import web
from prometheus_client import CollectorRegistry, Metric, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import choose_encoder

from agentui import __version__
from agentui.api.keys import CATALOG, HISTORY, METER, PIPELINES, SERVICES, STORE
from agentui.api.ops.telemetry import BOUNDS, CANCELLED, OTHER, TELEMETRY, Histogram
from agentui.http.limits import LIMITS
from agentui.http.rights import check_right
from agentui.http.workers import WORKERS, is_from_worker
from agentui.jsonio import Json, dumps
from agentui.pipeline.plans.hosts import hosts_of
from agentui.upstream.origins import OriginCounts

PATH = "/metrics"


async def metrics(request: web.Request) -> web.Response:
    """Read what this server has counted, for Prometheus: text or OpenMetrics, as ``Accept`` asks. Of several workers each is
    told with its number as the label ``worker``. They are of all accounts together, and for admins."""
    check_right(request, "admin")
    app, workers = request.app, request.app[WORKERS]
    own = list(_collect(app))
    if is_from_worker(request):
        # A worker that was asked by everybody's Prometheus puts all of them together.
        return web.Response(body=dumps(_as_json(workers.own, own)), content_type="application/json")
    if workers.numbers:
        told = await workers.ask_all(PATH, request)
        own = list(_merged([_as_json(workers.own, own), *told]))

    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Told(own))
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    return web.Response(body=encode(registry), headers={"content-type": content_type, "cache-control": "no-store"})


class _Told:
    """Families that were collected already, as a registry wants them."""

    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        """Hand them over."""
        return self._families


def _collect(app: web.Application) -> Iterator[Metric]:
    """Every family of this process."""
    yield from _requests(app)
    yield from _runs(app)
    yield from _upstreams(app)
    yield from _spending(app)
    yield from _house(app)
    yield from _process()


def _requests(app: web.Application) -> Iterator[Metric]:
    counters = app[TELEMETRY].counters
    answers = CounterMetricFamily(
        "agentui_http_requests", "Requests that ended, by class of status.", labels=("route", "dialect", "status")
    )
    for route, by_status in counters.answers.items():
        by_class: Counter[str] = Counter()
        for status, count in by_status.items():
            by_class[CANCELLED if status is None else f"{status // 100}xx"] += count
        for name, count in by_class.items():
            answers.add_metric((route, counters.dialects[route], name), count)
    yield answers
    yield GaugeMetricFamily("agentui_in_flight_requests", "Proxied requests under way.", app[LIMITS].in_flight)
    held = "What the bodies of requests and large answers under way hold in memory."
    yield GaugeMetricFamily("agentui_body_bytes", held, app[LIMITS].body_bytes)
    errors = CounterMetricFamily("agentui_errors", "Answers that told an error, by its code.", labels=("code",))
    for code, count in counters.errors.items():
        errors.add_metric((code,), count)
    yield errors
    limits = CounterMetricFamily("agentui_limited_requests", "Requests refused by a limit.", labels=("limit",))
    for limit, count in app[LIMITS].hits.items():
        limits.add_metric((limit,), count)
    yield limits


def _runs(app: web.Application) -> Iterator[Metric]:
    runs = CounterMetricFamily("agentui_runs", "Runs that ended, by what they came to.", labels=("pipeline", "outcome"))
    duration = HistogramMetricFamily("agentui_run_duration_seconds", "How long runs took.", labels=("pipeline",))
    first = HistogramMetricFamily(
        "agentui_first_byte_seconds", "From a run's beginning to the first words of a streamed answer.", labels=("pipeline",)
    )
    chunks = CounterMetricFamily("agentui_stream_chunks", "Pieces of streamed answers that were sent.", labels=("pipeline",))
    tokens = CounterMetricFamily(
        "agentui_tokens", "Tokens as providers counted them, but for answers passed on unread.", labels=("pipeline", "kind")
    )
    for name, known in app[TELEMETRY].counters.pipelines.items():
        for outcome, count in known.outcomes.items():
            runs.add_metric((name, outcome), count)
        duration.add_metric((name,), _buckets(known.duration), known.duration.total)
        first.add_metric((name,), _buckets(known.first_byte), known.first_byte.total)
        chunks.add_metric((name,), known.chunks)
        tokens.add_metric((name, "input"), known.input_tokens)
        tokens.add_metric((name, "output"), known.output_tokens)
    yield from (runs, duration, first, chunks, tokens)


def _buckets(histogram: Histogram) -> list[tuple[str, float]]:
    """How many were at most so long, for every bound, as Prometheus counts."""
    bounds = [*(str(bound) for bound in BOUNDS), "+Inf"]
    return list(zip(bounds, map(float, accumulate(histogram.counts)), strict=True))


class _OriginTotals:
    """What was counted at the origins of one name."""

    def __init__(self) -> None:
        self.counts = OriginCounts()
        self.in_flight = 0
        self.queued = 0
        self.is_open = False


def _upstreams(app: web.Application) -> Iterator[Metric]:
    attempts = CounterMetricFamily(
        "agentui_upstream_attempts", "Attempts at upstreams; status none had no answer.", labels=("origin", "status")
    )
    retries = CounterMetricFamily("agentui_upstream_retries", "Attempts that were followed by another.", labels=("origin",))
    refused = CounterMetricFamily(
        "agentui_upstream_refused",
        "Calls not made: too many waited or too long, or the circuit was open.",
        labels=("origin",),
    )
    under_way = GaugeMetricFamily("agentui_upstream_in_flight", "Calls under way.", labels=("origin",))
    queued = GaugeMetricFamily("agentui_upstream_queued", "Calls that wait for their turn.", labels=("origin",))
    circuit = GaugeMetricFamily(
        "agentui_upstream_circuit_open", "1 while an upstream is left alone because it failed too often.", labels=("origin",)
    )
    for name, told in sorted(_by_origin(app).items()):
        for hundreds, count in enumerate(told.counts.by_class):
            if count:
                attempts.add_metric((name, f"{hundreds}xx" if hundreds else "none"), count)
        retries.add_metric((name,), told.counts.retries)
        refused.add_metric((name,), told.counts.refused)
        under_way.add_metric((name,), told.in_flight)
        queued.add_metric((name,), told.queued)
        circuit.add_metric((name,), int(told.is_open))
    yield from (attempts, retries, refused, under_way, queued, circuit)


def _by_origin(app: web.Application) -> dict[str, _OriginTotals]:
    """What was counted, by origin. Only those that a file names have a name: a template may make addresses of what callers
    say."""
    known = _named_hosts(app)
    totals: dict[str, _OriginTotals] = defaultdict(_OriginTotals)
    for place, origin in app[SERVICES].upstream.origins().items():
        host = origin.host
        scheme = "https" if place.is_tls else "http"
        total = totals[f"{scheme}://{host}" if host in known else OTHER]
        total.counts.merge(origin.counts)
        total.in_flight += origin.in_flight
        total.queued += len(origin.queue)
        total.is_open = total.is_open or origin.breaker.is_open()
    totals[OTHER].counts.merge(app[SERVICES].upstream.forgotten)
    return totals


def _named_hosts(app: web.Application) -> set[str]:
    """The hosts that pipelines name as they are written, and the vendors' own."""
    vendors = app[SERVICES].vendors
    hosts = {urlsplit(vendors[name].default_base_url).netloc for name in vendors}
    for entry in app[PIPELINES].entries():
        if entry.document is not None:
            hosts.update(hosts_of(entry.document, app[CATALOG], app[SERVICES]))
    return hosts


def _spending(app: web.Application) -> Iterator[Metric]:
    """What counted calls cost. Who spent it stands in the ledger: accounts and models are no labels."""
    meter = app[METER]
    yield CounterMetricFamily("agentui_cost_dollars", "What counted calls to models have cost.", meter.spent_nano / 1e9)
    yield CounterMetricFamily("agentui_unpriced_calls", "Counted calls whose price nobody knows.", meter.unpriced)
    yield CounterMetricFamily("agentui_budget_refusals", "Calls refused for a budget.", meter.refused)


def _house(app: web.Application) -> Iterator[Metric]:
    info = GaugeMetricFamily("agentui_build_info", "1; the version is in the label.", labels=("version",))
    info.add_metric((__version__,), 1)
    yield info
    status = app[STORE].status
    store = GaugeMetricFamily("agentui_store_open", "1 while the memory is open.", labels=("engine",))
    store.add_metric((str(status["engine"]),), int(bool(status["open"])))
    yield store
    yield GaugeMetricFamily("agentui_store_read_only", "1 while the memory can only be read.", int(bool(status["read_only"])))
    yield GaugeMetricFamily("agentui_store_full", "1 while the memory's disk is full.", int(bool(status["full"])))
    yield GaugeMetricFamily("agentui_run_history_bytes", "About what the kept runs hold in memory.", app[HISTORY].bytes)


def _process() -> Iterator[Metric]:
    """Processor time, memory, open files and start of this process, where the system tells (Linux)."""
    yield from ProcessCollector(registry=None).collect()


def _as_json(worker: int, families: Iterable[Metric]) -> Json:
    """What one worker tells another."""
    return {
        "worker": worker,
        "families": [
            {
                "name": family.name,
                "help": family.documentation,
                "type": family.type,
                "samples": [[sample.name, dict(sample.labels), sample.value] for sample in family.samples],
            }
            for family in families
        ],
    }


def _merged(told: Iterable[Json]) -> Iterator[Metric]:
    """The families of all workers, each sample with its worker's number."""
    families: dict[str, Metric] = {}
    for worker in told:
        for each in worker["families"]:
            family = families.setdefault(each["name"], Metric(each["name"], each["help"], each["type"]))
            for name, labels, value in each["samples"]:
                family.add_sample(name, {**labels, "worker": str(worker["worker"])}, value)
    yield from families.values()
