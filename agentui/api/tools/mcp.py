"""``/mcp``: MCP servers, their connections and their tools."""

from aiohttp import web

from agentui.api.chats.protocol import (
    account_of,
    data_answer,
    described,
    list_answer,
    made_answer,
    now_ms,
    path_id,
    read,
    read_form,
    read_query,
    remove,
    route,
    write,
)
from agentui.api.keys import MCP, SERVICES
from agentui.chats.codes import failure
from agentui.chats.listing import Listed
from agentui.definitions.stored import enabled_definitions
from agentui.http.rights import check_right
from agentui.http.route import Route
from agentui.mcp import stored
from agentui.mcp.offered import SeenTool
from agentui.mcp.records import Endpoint, McpServer, Program, ServerStatus, Settings
from agentui.schemas.forms import Data, Deleted, ListData
from agentui.schemas.mcp import (
    McpApproval,
    McpQuery,
    McpServerPatch,
    McpServerShown,
    McpToggle,
    McpTrial,
    NewMcpServer,
    reached_by,
)


async def list_servers(request: web.Request) -> web.Response:
    """List the configured servers."""
    query = read_query(request, McpQuery)
    listed = await read(request, stored.list_servers, query.paging, query.enabled)
    return list_answer(Listed([McpServerShown.of(server) for server in listed.items], listed.total), query.paging)


async def create_server(request: web.Request) -> web.Response:
    """Configure a server. Programs only where the operator lets the API name them."""
    form = await read_form(request, NewMcpServer)
    reached = reached_by(form.transport, form.stdio, form.http, None)
    assert reached is not None  # the form says so
    _check(request, reached)
    settings = form.settings(Settings())
    return await write(request, _made, stored.create_server, form.name, reached, settings, now_ms(), enabled=form.enabled)


async def read_server(request: web.Request) -> web.Response:
    """Read a server's configuration."""
    return _shown(await read(request, stored.find_server, path_id(request)))


async def patch_server(request: web.Request) -> web.Response:
    """Change a server's configuration; reached otherwise than before, its tools have to be approved again."""
    id, form = path_id(request), await read_form(request, McpServerPatch)
    before = await read(request, stored.find_server, id)
    transport = form.transport or before.transport
    reached = reached_by(transport, form.stdio, form.http, before)
    if reached is None:
        raise failure("validation_error", f"A server with transport {transport} needs {transport}.", field=transport)
    if reached != (before.stdio or before.http):
        _check(request, reached)
    settings = form.settings(before.settings)
    return await write(
        request, _shown, stored.change_server, id, now_ms(), name=form.name or before.name, reached=reached, settings=settings
    )


async def delete_server(request: web.Request) -> web.Response:
    """Forget a server and end its connection."""
    answer = await remove(request, stored.delete_server)
    await request.app[MCP].forget(account_of(request), path_id(request))
    return answer


async def toggle_server(request: web.Request) -> web.Response:
    """Switch a server on or off."""
    id, form = path_id(request), await read_form(request, McpToggle)
    answer = await write(request, _shown, stored.enable_server, id, now_ms(), enabled=form.enabled)
    if not form.enabled:
        await request.app[MCP].forget(account_of(request), id)
    return answer


async def connect_server(request: web.Request) -> web.Response:
    """Connect anew and approve tools as they are now: those that the body names, or all."""
    form = await read_form(request, McpApproval, optional=True)
    names = None if form.tools is None else frozenset(form.tools)
    return data_answer(await request.app[MCP].connect(account_of(request), path_id(request), names))


async def disconnect_server(request: web.Request) -> web.Response:
    """Close this process's connection to a server."""
    return data_answer(await request.app[MCP].disconnect(account_of(request), path_id(request)))


async def server_status(request: web.Request) -> web.Response:
    """How a server is doing."""
    return data_answer(await request.app[MCP].status(account_of(request), path_id(request)))


async def all_statuses(request: web.Request) -> web.Response:
    """How every server is doing."""
    return data_answer(await request.app[MCP].statuses(account_of(request)))


async def test_server(request: web.Request) -> web.Response:
    """Connect as a trial and list the tools; nothing is kept."""
    return data_answer(McpTrial(*await request.app[MCP].test(account_of(request), path_id(request))))


async def server_tools(request: web.Request) -> web.Response:
    """Every tool of a server, and which of them models are offered."""
    defined = {definition.name for definition in await read(request, enabled_definitions)}
    taken = request.app[SERVICES].tools.taken | defined
    return data_answer(await request.app[MCP].seen_tools(account_of(request), path_id(request), taken))


def _shown(server: McpServer) -> web.Response:
    return data_answer(McpServerShown.of(server))


def _made(server: McpServer) -> web.Response:
    return made_answer(McpServerShown.of(server))


def _check(request: web.Request, reached: Program | Endpoint) -> None:
    """Raise 403 ``mcp_programs_disabled`` for a program that the API may not name, and ``account_forbidden`` for one that the
    caller may not: it runs with all rights of the server."""
    if not isinstance(reached, Program):
        return
    check_right(request, "admin")
    if not request.app[MCP].may_start_programs:
        raise failure(
            "mcp_programs_disabled",
            "Over the API no programs are configured on this server: write the server into mcp.json in the data folder, or set "
            "AGENTUI_MCP_PROGRAMS=true.",
        )


_EACH = "/mcp/servers/{id}"

ROUTES: tuple[Route, ...] = (
    route("GET", "/mcp/servers", list_servers, ListData[list[McpServerShown]], query=described(McpQuery)),
    route("POST", "/mcp/servers", create_server, Data[McpServerShown], 403, 409, body=NewMcpServer, status=201),
    route("GET", _EACH, read_server, Data[McpServerShown]),
    route("PATCH", _EACH, patch_server, Data[McpServerShown], 403, 409, body=McpServerPatch),
    route("DELETE", _EACH, delete_server, Data[Deleted]),
    route(
        "POST",
        f"{_EACH}/connect",
        connect_server,
        Data[ServerStatus],
        *(409, 500, 503),
        body=McpApproval,
        body_optional=True,
        writes=False,
    ),
    route("POST", f"{_EACH}/disconnect", disconnect_server, Data[ServerStatus], writes=False),
    route("GET", f"{_EACH}/status", server_status, Data[ServerStatus]),
    route("POST", f"{_EACH}/test", test_server, Data[McpTrial], 500, 503, writes=False),
    route("PATCH", f"{_EACH}/toggle", toggle_server, Data[McpServerShown], body=McpToggle),
    route("GET", f"{_EACH}/tools", server_tools, Data[list[SeenTool]], 409, 500, 503),
    route("GET", "/mcp/statuses", all_statuses, Data[list[ServerStatus]]),
)
