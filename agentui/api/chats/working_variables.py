"""The working variables of a session's branches: what its models keep between their calls (seed 004)."""

from typing import Any

from aiohttp import web

from agentui.api.chats.protocol import (
    account_of,
    data_answer,
    described,
    list_answer,
    now_ms,
    path_id,
    read,
    read_form,
    read_query,
    route,
    write,
)
from agentui.api.keys import RULES, SERVICES
from agentui.chats.working.editing import Part, list_working, read_working, remove_working, write_working
from agentui.http.route import Route
from agentui.schemas.forms import Data, Deleted, ListData
from agentui.schemas.working_variables import (
    WorkingFacts,
    WorkingForm,
    WorkingListQuery,
    WorkingPart,
    WorkingPartQuery,
    WorkingQuery,
)
from agentui.threads import in_thread
from agentui.tools.vars.record import WorkingVariable
from agentui.tools.vars.rules import declared_rules, rule_variables, with_rules
from agentui.tools.vars.system import VarFilter

MAX_WORKING_BODY = 6 * 1024 * 1024 + 64 * 1024
"""Bytes of a body: a value's characters may be written as escapes of six."""


async def list_variables(request: web.Request) -> web.Response:
    """List what a branch holds, without values; nothing of it counts as read."""
    query = read_query(request, WorkingListQuery)
    chosen, paging = VarFilter(query.type, query.tag, query.search), query.paging
    listed = await read(request, list_working, path_id(request), query.branch_id, await _rules(request), chosen, paging)
    return list_answer(listed, paging)


async def read_variable(request: web.Request) -> web.Response:
    """Read a variable, whole or a slice of it."""
    query = read_query(request, WorkingPartQuery)
    part: Part = await read(
        request,
        read_working,
        path_id(request),
        query.branch_id,
        await _rules(request),
        path_id(request, "variable"),
        query.start,
        query.length,
    )
    return data_answer({**part.facts, "start": part.start, "value": part.text})


async def write_variable(request: web.Request) -> web.Response:
    """Write a variable as a person, or change what is given of it: 201 when that makes it, 200 when it was there."""
    query = read_query(request, WorkingQuery)
    form = await read_form(request, WorkingForm, limit=MAX_WORKING_BODY)
    given: dict[str, Any] = {name: value for name, value in form.given.items() if value is not None or name == "value"}
    rules = await _rules(request)
    place = path_id(request), query.branch_id, rules, path_id(request, "variable")
    return await write(request, _written, write_working, *place, given, now_ms())


def _written(done: tuple[WorkingVariable, bool]) -> web.Response:
    variable, is_new = done
    return data_answer(variable.facts(), status=201 if is_new else 200)


async def remove_variable(request: web.Request) -> web.Response:
    """Remove a variable; a skill rule stays."""
    query = read_query(request, WorkingQuery)
    name, rules = path_id(request, "variable"), await _rules(request)
    return await write(
        request,
        lambda _: data_answer(Deleted(name)),
        remove_working,
        path_id(request),
        query.branch_id,
        rules,
        name,
        now_ms(),
    )


async def _rules(request: web.Request) -> list[WorkingVariable]:
    """The rules of this server, which every branch has, with those that its tools' groups declare."""
    groups, tools = await in_thread(request.app[RULES].groups), await request.app[SERVICES].tools.catalog(account_of(request))
    return rule_variables(with_rules(groups, declared_rules((tool.group, tool.rules) for tool in tools)))


_PATH = "/sessions/{id}/working-variables"

ROUTES: tuple[Route, ...] = (
    route("GET", _PATH, list_variables, ListData[list[WorkingFacts]], query=described(WorkingListQuery)),
    route("GET", f"{_PATH}/{{variable}}", read_variable, Data[WorkingPart], query=described(WorkingPartQuery)),
    route(
        "PUT",
        f"{_PATH}/{{variable}}",
        write_variable,
        Data[WorkingFacts],
        409,
        413,
        body=WorkingForm,
        query=described(WorkingQuery),
    ),
    route("DELETE", f"{_PATH}/{{variable}}", remove_variable, Data[Deleted], 409, query=described(WorkingQuery)),
)
