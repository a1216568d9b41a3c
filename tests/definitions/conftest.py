"""A service on loopback that defined tools call."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from agentui.definitions.http import HttpTools
from agentui.definitions.records import HttpHandler
from agentui.jsonio import Json, loads
from agentui.principal import DEFAULT_PRINCIPAL
from agentui.tools.tool import CallPlace, SideEffect, ToolAnswer, ToolCallContext
from tests.api.chats.conftest import Reader, postgres_reader, reader

__all__ = ["Reader", "postgres_reader", "reader"]

CONTEXT = ToolCallContext("execution", CallPlace(DEFAULT_PRINCIPAL, "run"), 1e9)


@dataclass
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Json:
        """Its body."""
        return loads(self.body)


@dataclass
class Service:
    """Answers every request alike, and keeps them. ``breaks`` ends the connection instead."""

    status: int = 200
    content_type: str = "application/json"
    body: bytes = b'{"weather": "sunny"}'
    headers: dict[str, str] = field(default_factory=dict)
    breaks: bool = False
    asked: list[Asked] = field(default_factory=list)
    port: int = 0

    @property
    def origin(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Answer."""
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.asked.append(Asked(request.method, request.raw_path, headers, await request.read()))
        if self.breaks:
            assert request.transport is not None
            request.transport.abort()
        return web.Response(status=self.status, body=self.body, headers={"content-type": self.content_type, **self.headers})


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    """A service that listens."""
    service = Service()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", service.serve)
    async with TestServer(app, host="127.0.0.1") as server:
        assert server.port is not None
        service.port = server.port
        yield service


def weather(service: Service, **said: Json) -> dict[str, Any]:
    """The body that defines a tool which asks the service."""
    handler = {"url": f"{service.origin}/weather/{{{{ args.city }}}}?units={{{{ args.units }}}}", **said}
    schema = {"properties": {"city": {"type": "string"}}, "required": ["city"]}
    return {
        "name": "weather",
        "description": "The weather of a city.",
        "parameters": schema,
        "handler_type": "http",
        "handler": handler,
    }


async def called(caller: Reader, handler: HttpHandler, arguments: Json, side_effect: SideEffect = "none") -> ToolAnswer:
    """What a call of a tool that is this request gives, sent by the server's own parts."""
    services = caller.server.state.services
    tools = HttpTools(services.upstream, services.secrets, caller.server.state.redactor)
    return await tools.handler(handler, side_effect)(arguments, CONTEXT)
