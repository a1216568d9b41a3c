"""The tools that every server has."""

from aiohttp import web

from agentui.api.chats.protocol import data_answer, now_ms, route
from agentui.assets.bundle import PromptAssets
from agentui.http.route import Route
from agentui.schemas.forms import Data
from agentui.schemas.tools import ToolView
from agentui.tools.builtin import builtin_tools
from agentui.variables.staging import Staged


async def list_builtin(request: web.Request) -> web.Response:
    """List the tools that every server has."""
    tools = builtin_tools(lambda: Staged({}, now=now_ms), PromptAssets)
    return data_answer([ToolView.of(tool) for tool in tools])


ROUTES: tuple[Route, ...] = (route("GET", "/tools/builtin", list_builtin, Data[list[ToolView]]),)
