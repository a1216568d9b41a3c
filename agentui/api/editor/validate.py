"""Checking a pipeline that is still being drawn: nothing is saved, nothing runs."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web
from pydantic import BaseModel, ConfigDict

from agentui.api.editor.route import Route, answer, read_model
from agentui.api.state import STATE
from agentui.errors import AgentUIError, InvalidPipeline, Problem
from agentui.jsonio import Json
from agentui.pipeline.node import Catalog
from agentui.pipeline.plan import compile_plan
from agentui.pipeline.run import Services

CALLERS_OWN = "the caller's own provider"


class ValidateRequest(BaseModel):
    """A pipeline document, of any shape."""

    model_config = ConfigDict(extra="forbid", strict=True)

    document: dict[str, Any]


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


async def validate(request: web.Request) -> web.Response:
    """Check a pipeline document without saving it: its problems, its order, and the hosts that its keys would go to."""
    state = request.app[STATE]
    document = (await read_model(request, ValidateRequest)).document
    return answer(await asyncio.to_thread(judge, document, state.catalog, state.services))


def judge(document: Mapping[str, Json], catalog: Catalog, services: Services) -> Verdict:
    """Check a document."""
    hosts = hosts_of(document, catalog, services)
    try:
        plan = compile_plan("document", document, catalog)
    except InvalidPipeline as error:
        problems = error.problems or (Problem(error.code, error.message),)
        return Verdict(False, problems, {}, [], hosts)
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


ROUTES = (Route("POST", "/api/validate", validate, answer=Verdict, body=ValidateRequest, errors=(400, 413, 415)),)
