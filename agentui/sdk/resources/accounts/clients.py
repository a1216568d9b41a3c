"""Clients: programs by which an account comes in, and their keys. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from typing import Literal, NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Options, Repeatable
from agentui.sdk.shapes.accounts.clients import (
    ClientForm,
    ClientItem,
    ClientPage,
    ClientPatch,
    KeyItem,
    KeyPatch,
    NewKey,
    Rotation,
    ShownKey,
)
from agentui.sdk.shapes.accounts.common import KeyItems
from agentui.sdk.transport import Resource


class ClientsListCall(Options):
    """What ``clients.list`` may be told."""

    status: NotRequired[Literal["active", "disabled"]]
    """active or disabled: only those."""
    kind: NotRequired[Literal["basic", "advanced", "deriver", "worker", "custom"]]
    """basic, advanced, deriver, worker or custom: only those."""
    limit: NotRequired[int]
    """Most items in the answer, at most 200."""
    cursor: NotRequired[str]
    """Where to go on: next_cursor of the answer before."""


class ClientsCreateCall(ClientForm, Options, Repeatable):
    """What ``clients.create`` may be told."""


class ClientsUpdateCall(ClientPatch, Options, Repeatable):
    """What ``clients.update`` may be told."""


class ClientsDisableCall(Options, Repeatable):
    """What ``clients.disable`` may be told."""


class ClientsEnableCall(Options, Repeatable):
    """What ``clients.enable`` may be told."""


class ClientsListKeysCall(Options):
    """What ``clients.list_keys`` may be told."""

    status: NotRequired[Literal["active", "revoked"]]
    """active or revoked: only those."""


class ClientsCreateKeyCall(NewKey, Options):
    """What ``clients.create_key`` may be told."""


class ClientsUpdateKeyCall(KeyPatch, Options, Repeatable):
    """What ``clients.update_key`` may be told."""


class ClientsRotateKeyCall(Rotation, Options):
    """What ``clients.rotate_key`` may be told."""


class ClientsRevokeKeyCall(Options, Repeatable):
    """What ``clients.revoke_key`` may be told."""


_LIST = Endpoint[ClientPage]("GET", "/clients", query=("status", "kind", "limit", "cursor"), answer="whole")
_CREATE = Endpoint[ClientItem]("POST", "/clients", body="json", answer="whole")
_GET = Endpoint[ClientItem]("GET", "/clients/{id}", answer="whole")
_UPDATE = Endpoint[ClientItem]("PATCH", "/clients/{id}", body="json", answer="whole")
_DISABLE = Endpoint[ClientItem]("POST", "/clients/{id}/disable", answer="whole")
_ENABLE = Endpoint[ClientItem]("POST", "/clients/{id}/enable", answer="whole")
_LIST_KEYS = Endpoint[KeyItems]("GET", "/clients/{id}/api-keys", query=("status",), answer="whole")
_CREATE_KEY = Endpoint[ShownKey]("POST", "/clients/{id}/api-keys", body="json", answer="whole")
_UPDATE_KEY = Endpoint[KeyItem]("PATCH", "/clients/{id}/api-keys/{key}", body="json", answer="whole")
_ROTATE_KEY = Endpoint[ShownKey]("POST", "/clients/{id}/api-keys/{key}/rotate", body="json", answer="whole")
_REVOKE_KEY = Endpoint[KeyItem]("POST", "/clients/{id}/api-keys/{key}/revoke", answer="whole")


class ClientsResource(Resource):
    """Clients: programs by which an account comes in, and their keys."""

    def list(self, **given: Unpack[ClientsListCall]) -> ClientPage:
        """List the account's clients, the newest first. ``GET /clients``"""
        return self._call(_LIST, (), given)

    def create(self, **given: Unpack[ClientsCreateCall]) -> ClientItem:
        """Make a client. ``POST /clients``"""
        return self._call(_CREATE, (), given)

    def get(self, client_id: str, **given: Unpack[Options]) -> ClientItem:
        """Read a client. ``GET /clients/{id}``"""
        return self._call(_GET, (client_id,), given)

    def update(self, client_id: str, **given: Unpack[ClientsUpdateCall]) -> ClientItem:
        """Change a client's name, kind or metadata. ``PATCH /clients/{id}``"""
        return self._call(_UPDATE, (client_id,), given)

    def disable(self, client_id: str, **given: Unpack[ClientsDisableCall]) -> ClientItem:
        """Let a client come in no more: all its keys are refused. ``POST /clients/{id}/disable``"""
        return self._call(_DISABLE, (client_id,), given)

    def enable(self, client_id: str, **given: Unpack[ClientsEnableCall]) -> ClientItem:
        """Let a client come in again, by the keys that it had. ``POST /clients/{id}/enable``"""
        return self._call(_ENABLE, (client_id,), given)

    def list_keys(self, client_id: str, **given: Unpack[ClientsListKeysCall]) -> KeyItems:
        """List the keys of a client, the newest first; what they are nobody knows. ``GET /clients/{id}/api-keys``"""
        return self._call(_LIST_KEYS, (client_id,), given)

    def create_key(self, client_id: str, **given: Unpack[ClientsCreateKeyCall]) -> ShownKey:
        """Make a key for a client. ``POST /clients/{id}/api-keys``"""
        return self._call(_CREATE_KEY, (client_id,), given)

    def update_key(self, client_id: str, key_id: str, **given: Unpack[ClientsUpdateKeyCall]) -> KeyItem:
        """Change a key's name, end, restrictions or limits; the key itself stays. ``PATCH /clients/{id}/api-keys/{key}``"""
        return self._call(_UPDATE_KEY, (client_id, key_id), given)

    def rotate_key(self, client_id: str, key_id: str, **given: Unpack[ClientsRotateKeyCall]) -> ShownKey:
        """Put another key in a key's place: it keeps its id, its limits and its end. ``POST
        /clients/{id}/api-keys/{key}/rotate``
        """
        return self._call(_ROTATE_KEY, (client_id, key_id), given)

    def revoke_key(self, client_id: str, key_id: str, **given: Unpack[ClientsRevokeKeyCall]) -> KeyItem:
        """Revoke a key: it is refused from now on. ``POST /clients/{id}/api-keys/{key}/revoke``"""
        return self._call(_REVOKE_KEY, (client_id, key_id), given)


class AsyncClientsResource(AsyncResource):
    """Clients: programs by which an account comes in, and their keys."""

    async def list(self, **given: Unpack[ClientsListCall]) -> ClientPage:
        """List the account's clients, the newest first. ``GET /clients``"""
        return await self._call(_LIST, (), given)

    async def create(self, **given: Unpack[ClientsCreateCall]) -> ClientItem:
        """Make a client. ``POST /clients``"""
        return await self._call(_CREATE, (), given)

    async def get(self, client_id: str, **given: Unpack[Options]) -> ClientItem:
        """Read a client. ``GET /clients/{id}``"""
        return await self._call(_GET, (client_id,), given)

    async def update(self, client_id: str, **given: Unpack[ClientsUpdateCall]) -> ClientItem:
        """Change a client's name, kind or metadata. ``PATCH /clients/{id}``"""
        return await self._call(_UPDATE, (client_id,), given)

    async def disable(self, client_id: str, **given: Unpack[ClientsDisableCall]) -> ClientItem:
        """Let a client come in no more: all its keys are refused. ``POST /clients/{id}/disable``"""
        return await self._call(_DISABLE, (client_id,), given)

    async def enable(self, client_id: str, **given: Unpack[ClientsEnableCall]) -> ClientItem:
        """Let a client come in again, by the keys that it had. ``POST /clients/{id}/enable``"""
        return await self._call(_ENABLE, (client_id,), given)

    async def list_keys(self, client_id: str, **given: Unpack[ClientsListKeysCall]) -> KeyItems:
        """List the keys of a client, the newest first; what they are nobody knows. ``GET /clients/{id}/api-keys``"""
        return await self._call(_LIST_KEYS, (client_id,), given)

    async def create_key(self, client_id: str, **given: Unpack[ClientsCreateKeyCall]) -> ShownKey:
        """Make a key for a client. ``POST /clients/{id}/api-keys``"""
        return await self._call(_CREATE_KEY, (client_id,), given)

    async def update_key(self, client_id: str, key_id: str, **given: Unpack[ClientsUpdateKeyCall]) -> KeyItem:
        """Change a key's name, end, restrictions or limits; the key itself stays. ``PATCH /clients/{id}/api-keys/{key}``"""
        return await self._call(_UPDATE_KEY, (client_id, key_id), given)

    async def rotate_key(self, client_id: str, key_id: str, **given: Unpack[ClientsRotateKeyCall]) -> ShownKey:
        """Put another key in a key's place: it keeps its id, its limits and its end. ``POST
        /clients/{id}/api-keys/{key}/rotate``
        """
        return await self._call(_ROTATE_KEY, (client_id, key_id), given)

    async def revoke_key(self, client_id: str, key_id: str, **given: Unpack[ClientsRevokeKeyCall]) -> KeyItem:
        """Revoke a key: it is refused from now on. ``POST /clients/{id}/api-keys/{key}/revoke``"""
        return await self._call(_REVOKE_KEY, (client_id, key_id), given)
