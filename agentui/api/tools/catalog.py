"""The tools that there are: those of every server, and those of a session with what it allows."""

from dataclasses import fields

from aiohttp import web

from agentui.api.chats.protocol import account_of, data_answer, described, now_ms, path_id, read, read_query, route
from agentui.api.keys import SERVICES
from agentui.assets.bundle import PromptAssets
from agentui.chats.tools.permissions import permissions_of, read_permissions
from agentui.http.route import Route
from agentui.schemas.forms import Data
from agentui.schemas.tools import CatalogQuery, CatalogTool, RuntimeCatalog, RuntimeTool, ToolView
from agentui.tools.builtin import builtin_tools
from agentui.tools.catalog import Catalog
from agentui.tools.permissions import Permissions
from agentui.variables.staging import Staged

SAYS_NOTHING = Permissions()
"""What a session permits that says nothing of tools."""


async def list_builtin(request: web.Request) -> web.Response:
    """List the tools that every server has."""
    return data_answer([ToolView.of(tool) for tool in await _catalog(request) if tool.provider_type == "builtin"])


async def list_catalog(request: web.Request) -> web.Response:
    """List the tools of a session's turns, and which of them it allows."""
    id, slot = path_id(request), read_query(request, CatalogQuery).caller_slot
    permissions = permissions_of(await read(request, read_permissions, id))
    listed = []
    for tool in await _catalog(request, permissions):
        view, refusal = ToolView.of(tool), permissions.refusal(tool, slot)
        told = {field.name: getattr(view, field.name) for field in fields(view)}
        listed.append(CatalogTool(**told, is_allowed=refusal is None, refusal=refusal))
    return data_answer(listed)


async def runtime_catalog(request: web.Request) -> web.Response:
    """Read the tools of a session's turns, with what keeps each from being called."""
    id, slot = path_id(request), read_query(request, CatalogQuery).caller_slot
    permissions = permissions_of(await read(request, read_permissions, id))
    tools = [RuntimeTool.of(tool, permissions.refusal(tool, slot)) for tool in await _catalog(request, permissions)]
    return data_answer(RuntimeCatalog(id, now_ms(), tools, []))


async def _catalog(request: web.Request, permissions: Permissions = SAYS_NOTHING) -> Catalog:
    """Every tool that a turn of a session with these permissions may have."""
    own = builtin_tools(lambda: Staged({}, now=now_ms), PromptAssets, permissions.default_write_intent)
    return Catalog.of((*own, *await request.app[SERVICES].tools.catalog(account_of(request))))


ROUTES: tuple[Route, ...] = (
    route("GET", "/tools/builtin", list_builtin, Data[list[ToolView]]),
    route("GET", "/sessions/{id}/tool-catalog", list_catalog, Data[list[CatalogTool]], query=described(CatalogQuery)),
    route("GET", "/sessions/{id}/tools/runtime", runtime_catalog, Data[RuntimeCatalog], query=described(CatalogQuery)),
)
