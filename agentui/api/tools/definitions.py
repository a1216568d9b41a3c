"""``/tools/definitions``: tools that users define."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from aiohttp import web

from agentui.accounts.restrictions import check_models, check_pipeline
from agentui.api.chats.protocol import (
    data_answer,
    described,
    invalid,
    list_answer,
    made_answer,
    now_ms,
    path_id,
    read,
    read_form,
    read_query,
    remove,
    route,
    validate,
    write,
)
from agentui.api.keys import DEFINED, PIPELINES, SERVICES
from agentui.api.tools.trials import tried
from agentui.chats.codes import failure
from agentui.definitions import stored
from agentui.definitions.offered import check_handler
from agentui.definitions.records import Definition, HttpHandler, PipelineHandler
from agentui.definitions.templates import Fault
from agentui.errors import ApiError, InvalidPipeline, NotFound
from agentui.http.keys import PRINCIPAL
from agentui.http.route import Route
from agentui.jsonio import Json
from agentui.schemas.definitions import (
    HANDLERS,
    DefinitionPatch,
    DefinitionQuery,
    DefinitionToggle,
    NewDefinition,
    fields_of,
)
from agentui.schemas.forms import Data, Deleted, ListData
from agentui.schemas.tools import ToolTrial, ToolTried
from agentui.threads import in_thread
from agentui.tools.arguments import ArgumentCheck
from agentui.tools.errors import InvalidToolSchema
from agentui.tools.tool import CallPlace, SideEffect


async def list_definitions(request: web.Request) -> web.Response:
    """List the tools that users defined."""
    query = read_query(request, DefinitionQuery)
    return list_answer(await read(request, stored.list_definitions, query.paging, query.wanted), query.paging)


async def create_definition(request: web.Request) -> web.Response:
    """Define a tool."""
    form = await read_form(request, NewDefinition)
    fields = await _checked(request, form.model_dump())
    return await write(request, made_answer, stored.create_definition, fields, now_ms())


async def get_definition(request: web.Request) -> web.Response:
    """Read a defined tool."""
    return data_answer(await read(request, stored.find_definition, path_id(request)))


async def patch_definition(request: web.Request) -> web.Response:
    """Change a defined tool."""
    id, form = path_id(request), await read_form(request, DefinitionPatch)
    before = await read(request, stored.find_definition, id)
    if "handler_type" in form.given and form.handler_type != before.handler_type and "handler" not in form.given:
        raise failure("validation_error", f"A handler of type {form.handler_type} needs handler.", field="handler")
    fields = {**fields_of(before), **form.given}
    if "handler" in form.given and before.side_effect_level == _side_effect(before.handler):
        # Nobody said it otherwise, so that it follows what the handler does now.
        fields["side_effect_level"] = form.given.get("side_effect_level")
    fields = await _checked(request, fields)
    return await write(request, data_answer, stored.change_definition, id, fields, now_ms())


async def delete_definition(request: web.Request) -> web.Response:
    """Forget a defined tool."""
    return await remove(request, stored.delete_definition)


async def toggle_definition(request: web.Request) -> web.Response:
    """Offer a defined tool, or do not."""
    id, form = path_id(request), await read_form(request, DefinitionToggle)
    return await write(request, data_answer, stored.enable_definition, id, now_ms(), enabled=form.enabled)


async def try_definition(request: web.Request) -> web.Response:
    """Call a defined tool once, outside of any chat. A tool that cannot be undone is called only where the caller allows it."""
    id, form = path_id(request), await read_form(request, ToolTrial, optional=True)
    definition = await read(request, stored.find_definition, id)
    if isinstance(definition.handler, PipelineHandler):
        _check_asked(request, definition.handler)
    tool = request.app[DEFINED].hosted(definition)
    return data_answer(await tried(request, tool, form, CallPlace(request[PRINCIPAL], "")))


async def _checked(request: web.Request, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a definition, for the store.

    Raises 403 ``tool_script_handler_disabled``, 400 for a schema or a handler that is none, 409 ``tool_definition_conflict``
    for the name of a tool that is always there.
    """
    kind = fields["handler_type"]
    if kind == "script":
        raise failure(
            "tool_script_handler_disabled",
            "Tools that are scripts are not run here: give the definition handler_type http or pipeline.",
        )
    parameters = await in_thread(partial(_schema, fields["parameters"]))
    handler = validate(HANDLERS[kind], {"handler": fields["handler"]}).handler.handler
    try:
        check_handler(handler)
    except Fault as fault:
        raise _wrong(f"/handler/{fault.field}", fault.message) from None
    if isinstance(handler, PipelineHandler):
        _check_asked(request, handler)
        _check_pipeline(request, handler.pipeline_id)
    if fields["name"] in request.app[SERVICES].tools.taken:
        name = fields["name"]
        raise failure("tool_definition_conflict", f"A tool of this server is named {name}: choose another name.", name=name)
    side_effect = fields["side_effect_level"] or _side_effect(handler)
    return {**fields, "parameters": parameters, "handler": handler, "side_effect_level": side_effect}


def _schema(parameters: Mapping[str, Json]) -> Mapping[str, Json]:
    """The JSON Schema of arguments: an object's. Raises 400."""
    schema = {"type": "object", "properties": {}, **parameters}
    if schema["type"] != "object":
        raise _wrong("/parameters/type", "arguments are an object")
    try:
        ArgumentCheck(schema)
    except InvalidToolSchema as error:
        raise _wrong("/parameters", error.message) from None
    return schema


def _check_asked(request: web.Request, handler: PipelineHandler) -> None:
    """Raise 403 for a pipeline or a model that the caller's key may not use."""
    check_pipeline(request[PRINCIPAL], handler.pipeline_id)
    check_models(request[PRINCIPAL], () if handler.model is None else (handler.model,))


def _check_pipeline(request: web.Request, id: str) -> None:
    """Raise 400 where there is no such pipeline, or none that runs."""
    try:
        request.app[PIPELINES].plan(id)
    except (NotFound, InvalidPipeline) as error:
        raise _wrong("/handler/pipeline_id", error.message) from None


def _side_effect(handler: HttpHandler | PipelineHandler) -> SideEffect:
    """What a call leaves behind where nobody said it: nothing for a GET, and for a run, whose own calls say it themselves."""
    return "irreversible" if isinstance(handler, HttpHandler) and handler.method != "GET" else "none"


def _wrong(path: str, message: str) -> ApiError:
    return invalid(f"{path}: {message}", [{"path": path, "message": message, "code": "custom"}])


_ALL, _EACH = "/tools/definitions", "/tools/definitions/{id}"

ROUTES: tuple[Route, ...] = (
    route("GET", _ALL, list_definitions, ListData[list[Definition]], query=described(DefinitionQuery)),
    route("POST", _ALL, create_definition, Data[Definition], 403, 409, body=NewDefinition, status=201),
    route("GET", _EACH, get_definition, Data[Definition]),
    route("PATCH", _EACH, patch_definition, Data[Definition], 403, 409, body=DefinitionPatch),
    route("DELETE", _EACH, delete_definition, Data[Deleted]),
    route("PATCH", f"{_EACH}/toggle", toggle_definition, Data[Definition], body=DefinitionToggle),
    route("POST", f"{_EACH}/test", try_definition, Data[ToolTried], body=ToolTrial, body_optional=True, writes=False),
)
