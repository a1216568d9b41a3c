"""The node types: what the palette offers and how the inspector draws a form."""

from dataclasses import dataclass

from aiohttp import web

from agentui.http.route import Route, answer
from agentui.http.state import STATE
from agentui.jsonio import Json


@dataclass(frozen=True, slots=True)
class NodeType:
    """One node type. ``schema`` is the JSON Schema of its configuration, with ``ui`` hints."""

    type: str
    title: str
    category: str
    icon: str
    help: str
    ports: list[str]
    calls_upstream: bool
    summary: str
    schema: dict[str, Json]
    defaults: dict[str, Json]


async def list_node_types(request: web.Request) -> web.Response:
    """List the node types with their forms and their help."""
    return answer(request.app[STATE].catalog.describe())


ROUTES = (Route("GET", "/api/node-types", list_node_types, answer=list[NodeType]),)
