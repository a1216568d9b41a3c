"""What the tests of the pipeline share: requests, plans, runs, and an ear that writes down what it hears."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import gettempdir
from typing import Any
from urllib.parse import parse_qsl

from agentui.api.proxy.incoming import caller_key
from agentui.chat.deltas import Delta
from agentui.chat.reply import Reply
from agentui.chat.request import VendorName
from agentui.jsonio import Json, dumps
from agentui.pipeline.caches.thought_cache import ThoughtCache
from agentui.pipeline.engine import Engine, RunRequest
from agentui.pipeline.history import RunHistory
from agentui.pipeline.incoming import Incoming
from agentui.pipeline.node import Catalog, Node
from agentui.pipeline.nodes import BUILTIN
from agentui.pipeline.plans.compile import compile_plan
from agentui.pipeline.plans.plan import Plan
from agentui.pipeline.run import Run, Services
from agentui.pipeline.sink import NullSink
from agentui.principal import DEFAULT_PRINCIPAL
from agentui.redaction import Redactor
from agentui.secrets.store import SecretStore
from agentui.upstream.client import Upstream
from agentui.upstream.http.exchange import Timeouts
from agentui.vendors.detect import detect_vendor
from agentui.vendors.registry import make_vendors
from agentui.vendors.sse import SseEvent

VENDORS = make_vendors()
OPENAI: Json = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hi"}]}


class Ear(NullSink):
    """A sink that keeps what it hears, and the run that it hears."""

    run: Run

    def __init__(self, *, wants_stream: bool = False) -> None:
        super().__init__(wants_stream=wants_stream)
        self.texts: list[str] = []
        self.replies: list[Reply] = []
        self.counts: list[tuple[int, bool]] = []

    async def send(self, vendor: VendorName | None, events: Sequence[SseEvent], deltas: Sequence[Delta]) -> None:
        """A piece of a stream."""
        raise AssertionError("no node of these tests streams")

    async def reply(self, reply: Reply, body: bytes | None = None) -> None:
        """A whole reply."""
        self.replies.append(reply)
        self.texts.append(reply.text)

    async def document(self, body: Json) -> None:
        """A document."""
        raise AssertionError("no node of these tests sends documents")

    async def tokens(self, count: int, *, estimated: bool) -> None:
        """A token count."""
        self.counts.append((count, estimated))

    async def raw(self, status: int, headers: Mapping[str, str], chunk: bytes) -> None:
        """Raw bytes."""
        raise AssertionError("no node of these tests forwards")


def make_incoming(
    body: Json = OPENAI, path: str = "/v1/chat/completions", query: str = "", headers: Mapping[str, str] | None = None
) -> Incoming:
    """A request as the proxy would hand it in; a body that is no object is one of no known dialect."""
    headers = dict(headers or {})
    params = dict(parse_qsl(query, keep_blank_values=True))
    name = detect_vendor(path, headers, params, body)
    wire = VENDORS[name].read_request(path, params, headers, body) if name is not None and isinstance(body, dict) else None
    return Incoming(
        method="POST",
        url=f"http://127.0.0.1:7860{path}" + (f"?{query}" if query else ""),
        path=path,
        query=query,
        query_params=params,
        headers=headers,
        body=dumps(body),
        json=body,
        wire=wire,
        model=wire.model if wire is not None else None,
        vendors=VENDORS,
        api_key=caller_key(headers, params),
    )


def catalog_of(*kinds: type[Node[Any]]) -> Catalog:
    """The built-in node types and these."""
    return Catalog({**BUILTIN, **{kind.type_name: kind for kind in kinds}})


def document(nodes: Sequence[Json], edges: Sequence[tuple[str, str]] = (), **more: Json) -> Json:
    """A pipeline document."""
    return {
        "format": 1,
        "name": "test",
        "nodes": list(nodes),
        "edges": [{"from": source, "to": target} for source, target in edges],
        **more,
    }


def make_services(folder: Path | None = None, env: Mapping[str, str] | None = None) -> Services:
    """Services whose upstream is never opened."""
    return Services(
        vendors=VENDORS,
        upstream=Upstream(),
        secrets=SecretStore(folder or Path(gettempdir()) / "agentui-tests-have-no-secrets", env or {}),
        thought_cache=ThoughtCache(),
        timeouts=Timeouts(),
        max_event=1024 * 1024,
    )


def make_run(
    plan: Plan, incoming: Incoming | None = None, *, seconds: float = 30.0, pins: Mapping[str, Json] | None = None
) -> Run:
    """A run that has not begun."""
    return Run(
        DEFAULT_PRINCIPAL,
        plan,
        incoming or make_incoming(),
        make_services(),
        Redactor(),
        deadline=time.monotonic() + seconds,
        pins=pins or {},
    )


async def execute(
    plan: Plan,
    incoming: Incoming | None = None,
    ear: Ear | None = None,
    *,
    seconds: float = 30.0,
    pins: Mapping[str, Json] | None = None,
    services: Services | None = None,
) -> Run:
    """Run a plan to its end; raises what it failed by."""
    ear = ear or Ear()
    engine = Engine(services or make_services(), RunHistory(10, 10**9), Redactor(), timeout=seconds)
    request = RunRequest(
        DEFAULT_PRINCIPAL, plan, incoming or make_incoming(), pins or {}, on_begin=lambda run: setattr(ear, "run", run)
    )
    result = await engine.run(request, ear)
    if result.error is not None:
        raise result.error
    return ear.run


def compiled(nodes: Sequence[Json], edges: Sequence[tuple[str, str]] = (), *kinds: type[Node[Any]], **more: Json) -> Plan:
    """A plan of these nodes and edges."""
    return compile_plan("test", document(nodes, edges, **more), catalog_of(*kinds))


def heard(run: Run) -> list[tuple[str, str | None]]:
    """Type and node of every event."""
    return [(event.type, event.node) for event in run.events.items]
