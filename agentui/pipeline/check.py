"""Checking a pipeline that is still being drawn: nothing is saved, nothing runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from agentui.errors import AgentUIError, InvalidPipeline, Problem
from agentui.jsonio import Json
from agentui.pipeline.compile import compile_plan
from agentui.pipeline.node import Catalog
from agentui.pipeline.run import Services

CALLERS_OWN = "the caller's own provider"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is wrong with a document and, where nothing is, what it means.

    ``reads`` names for each node those whose OUT it reads, ``order`` the nodes in an order of running. ``hosts`` are where
    keys would be sent: hosts of literal addresses; an address with macros as its own text.
    """

    valid: bool
    problems: tuple[Problem, ...]
    reads: dict[str, list[str]]
    order: list[str]
    hosts: list[str]


def check_document(document: Mapping[str, Json], catalog: Catalog, services: Services) -> Verdict:
    """Check a pipeline document of any shape."""
    hosts = hosts_of(document, catalog, services)
    try:
        plan = compile_plan("document", document, catalog)
    except InvalidPipeline as error:
        return Verdict(False, tuple(error.problems), {}, [], hosts)
    reads = {reader: sorted(read) for reader, read in plan.reads.items()}
    return Verdict(True, plan.warnings, reads, [node.id for node in plan.nodes], hosts)


def hosts_of(document: Mapping[str, Json], catalog: Catalog, services: Services) -> list[str]:
    """Where the nodes of a document would send keys (spec: reliability T25), sorted. Broken documents are read as far as
    they go, because people want to know this before anything else."""
    nodes = document.get("nodes")
    hosts: set[str] = set()
    for node in nodes if isinstance(nodes, list) else ():
        kind = node.get("type") if isinstance(node, dict) else None
        if not isinstance(kind, str) or kind not in catalog or not catalog[kind].calls_upstream:
            continue
        config = node.get("config")
        hosts.add(_host(config if isinstance(config, dict) else {}, services))
    return sorted(hosts)


def _host(config: Mapping[str, Json], services: Services) -> str:
    """The host of one node's base_url; the provider's own where it is empty."""
    base = config.get("base_url")
    base = base.strip() if isinstance(base, str) else ""
    if not base:
        vendor = next((services.vendors[name] for name in services.vendors if name == config.get("provider")), None)
        if vendor is None:
            return CALLERS_OWN
        base = vendor.default_base_url
    if "[[" in base or "{{" in base:
        return base
    try:
        parts = urlsplit(services.upstream.resolve(base))
        port = f":{parts.port}" if parts.port else ""
    except (AgentUIError, ValueError):
        return base
    if not parts.hostname:
        return base
    return f"[{parts.hostname}]{port}" if ":" in parts.hostname else f"{parts.hostname}{port}"
