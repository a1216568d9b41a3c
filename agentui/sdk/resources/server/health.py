"""Whether the server is up, and what it is. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from typing import Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Json, Options
from agentui.sdk.shapes.server.health import Health, Readiness, ServerVersion
from agentui.sdk.transport import Resource

_GET = Endpoint[Health]("GET", "/health", answer="whole")
_READY = Endpoint[Readiness]("GET", "/ready", answer="whole", statuses=(503,))
_VERSION = Endpoint[ServerVersion]("GET", "/version", answer="whole")
_METRICS = Endpoint[str]("GET", "/metrics", answer="text")
_OPENAPI = Endpoint[dict[str, Json]]("GET", "/openapi.json", answer="whole")


class HealthResource(Resource):
    """Whether the server is up, and what it is."""

    def get(self, **given: Unpack[Options]) -> Health:
        """Say that the server is up, and what it would run. ``GET /health``"""
        return self._call(_GET, (), given)

    def ready(self, **given: Unpack[Options]) -> Readiness:
        """Say whether requests should be sent here. ``GET /ready``"""
        return self._call(_READY, (), given)

    def version(self, **given: Unpack[Options]) -> ServerVersion:
        """Say which version of what this is. ``GET /version``"""
        return self._call(_VERSION, (), given)

    def metrics(self, **given: Unpack[Options]) -> str:
        """Read what this server has counted, for Prometheus. ``GET /metrics``"""
        return self._call(_METRICS, (), given)

    def openapi(self, **given: Unpack[Options]) -> dict[str, Json]:
        """Read this document. ``GET /openapi.json``"""
        return self._call(_OPENAPI, (), given)


class AsyncHealthResource(AsyncResource):
    """Whether the server is up, and what it is."""

    async def get(self, **given: Unpack[Options]) -> Health:
        """Say that the server is up, and what it would run. ``GET /health``"""
        return await self._call(_GET, (), given)

    async def ready(self, **given: Unpack[Options]) -> Readiness:
        """Say whether requests should be sent here. ``GET /ready``"""
        return await self._call(_READY, (), given)

    async def version(self, **given: Unpack[Options]) -> ServerVersion:
        """Say which version of what this is. ``GET /version``"""
        return await self._call(_VERSION, (), given)

    async def metrics(self, **given: Unpack[Options]) -> str:
        """Read what this server has counted, for Prometheus. ``GET /metrics``"""
        return await self._call(_METRICS, (), given)

    async def openapi(self, **given: Unpack[Options]) -> dict[str, Json]:
        """Read this document. ``GET /openapi.json``"""
        return await self._call(_OPENAPI, (), given)
