"""What sessions allow models to do with tools."""

from aiohttp import web

from agentui.api.chats.protocol import data_answer, now_ms, path_id, read, read_form, route, write
from agentui.chats.tools import permissions
from agentui.http.route import Route
from agentui.schemas.forms import Data
from agentui.schemas.tools import PermissionsForm, PermissionsPatch, PermissionsView


async def get_permissions(request: web.Request) -> web.Response:
    """Read what a session allows models to do with tools; empty where nobody said anything."""
    return data_answer(await read(request, permissions.read_permissions, path_id(request)))


async def replace_permissions(request: web.Request) -> web.Response:
    """Say anew what a session allows models to do with tools."""
    id, form = path_id(request), await read_form(request, PermissionsForm)
    return await write(request, data_answer, permissions.replace_permissions, id, form.given, now_ms())


async def update_permissions(request: web.Request) -> web.Response:
    """Change what a session allows models to do with tools; null takes away what was said."""
    id, form = path_id(request), await read_form(request, PermissionsPatch)
    return await write(request, data_answer, permissions.change_permissions, id, form.given, now_ms())


PATH = "/sessions/{id}/tool-permissions"
ROUTES: tuple[Route, ...] = (
    route("GET", PATH, get_permissions, Data[PermissionsView]),
    route("PUT", PATH, replace_permissions, Data[PermissionsView], 413, body=PermissionsForm),
    route("PATCH", PATH, update_permissions, Data[PermissionsView], 413, body=PermissionsPatch),
)
