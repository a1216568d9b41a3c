"""Checking a pipeline that is still being drawn: nothing is saved, nothing runs."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from pydantic import BaseModel, ConfigDict

from agentui.errors import InvalidPipeline, Problem
from agentui.http.route import Route, answer, read_model
from agentui.http.state import STATE
from agentui.jsonio import Json
from agentui.pipeline.hosts import hosts_of
from agentui.pipeline.node import Catalog
from agentui.pipeline.plan import compile_plan
from agentui.pipeline.run import Services


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


ROUTES = (Route("POST", "/api/validate", validate, answer=Verdict, body=ValidateRequest, errors=(400, 413, 415)),)
