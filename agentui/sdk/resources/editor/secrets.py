"""Provider keys, which are never read back. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from typing import Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Items, Options
from agentui.sdk.shapes.editor.secrets import NewSecret, SecretLine, SecretUse
from agentui.sdk.transport import Resource


class SecretsPutCall(NewSecret, Options):
    """What ``secrets.put`` may be told."""


_LIST = Endpoint[Items[SecretLine]]("GET", "/api/secrets", answer="whole")
_LIST_USES = Endpoint[Items[SecretUse]]("GET", "/api/secrets/uses", answer="whole")
_PUT = Endpoint[SecretLine]("PUT", "/api/secrets/{secret}", body="json", answer="whole")
_DELETE = Endpoint[None]("DELETE", "/api/secrets/{secret}", answer="none")


class SecretsResource(Resource):
    """Provider keys, which are never read back."""

    def list(self, **given: Unpack[Options]) -> Items[SecretLine]:
        """List the names of the provider keys and where each may be sent; their values never leave the server. ``GET
        /api/secrets``
        """
        return self._call(_LIST, (), given)

    def list_uses(self, **given: Unpack[Options]) -> Items[SecretUse]:
        """List the pipelines and presets that name a key, by key; also keys that are named and not there. ``GET
        /api/secrets/uses``
        """
        return self._call(_LIST_USES, (), given)

    def put(self, name: str, **given: Unpack[SecretsPutCall]) -> SecretLine:
        """Store a key, or replace the one of this name with its origins. ``PUT /api/secrets/{secret}``"""
        return self._call(_PUT, (name,), given)

    def delete(self, name: str, **given: Unpack[Options]) -> None:
        """Remove a stored key for good. ``DELETE /api/secrets/{secret}``"""
        self._call(_DELETE, (name,), given)


class AsyncSecretsResource(AsyncResource):
    """Provider keys, which are never read back."""

    async def list(self, **given: Unpack[Options]) -> Items[SecretLine]:
        """List the names of the provider keys and where each may be sent; their values never leave the server. ``GET
        /api/secrets``
        """
        return await self._call(_LIST, (), given)

    async def list_uses(self, **given: Unpack[Options]) -> Items[SecretUse]:
        """List the pipelines and presets that name a key, by key; also keys that are named and not there. ``GET
        /api/secrets/uses``
        """
        return await self._call(_LIST_USES, (), given)

    async def put(self, name: str, **given: Unpack[SecretsPutCall]) -> SecretLine:
        """Store a key, or replace the one of this name with its origins. ``PUT /api/secrets/{secret}``"""
        return await self._call(_PUT, (name,), given)

    async def delete(self, name: str, **given: Unpack[Options]) -> None:
        """Remove a stored key for good. ``DELETE /api/secrets/{secret}``"""
        await self._call(_DELETE, (name,), given)
