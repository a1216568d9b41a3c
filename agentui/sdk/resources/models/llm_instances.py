"""What slots are to do, and with which parameters. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from typing import Literal, NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Items, Options, Repeatable
from agentui.sdk.shapes.models.llm_instances import ConfigForm, DeletedConfig, InstanceConfig, ResolvedConfigs
from agentui.sdk.transport import Resource


class LlmInstancesListCall(Options):
    """What ``llm_instances.list`` may be told."""

    scope: NotRequired[Literal["global", "session"]]
    """global, or session."""
    session_id: NotRequired[str]
    """The session, where the scope is session."""


class LlmInstancesGetResolvedCall(Options):
    """What ``llm_instances.get_resolved`` may be told."""

    session_id: NotRequired[str]
    """A session: its own bindings count as well."""


class LlmInstancesGetCall(Options):
    """What ``llm_instances.get`` may be told."""

    scope: NotRequired[Literal["global", "session"]]
    """global, or session."""
    session_id: NotRequired[str]
    """The session, where the scope is session."""


class LlmInstancesUpdateCall(ConfigForm, Options, Repeatable):
    """What ``llm_instances.update`` may be told."""


class LlmInstancesDeleteCall(Options, Repeatable):
    """What ``llm_instances.delete`` may be told."""

    scope: NotRequired[Literal["global", "session"]]
    """global, or session."""
    session_id: NotRequired[str]
    """The session, where the scope is session."""


_LIST = Endpoint[Items[InstanceConfig]]("GET", "/llm-instances", query=("scope", "session_id"))
_GET_RESOLVED = Endpoint[ResolvedConfigs]("GET", "/llm-instances/resolved", query=("session_id",))
_GET = Endpoint[Items[InstanceConfig]]("GET", "/llm-instances/{slot}", query=("scope", "session_id"))
_UPDATE = Endpoint[InstanceConfig]("PUT", "/llm-instances/{slot}", body="json")
_DELETE = Endpoint[DeletedConfig]("DELETE", "/llm-instances/{slot}", query=("scope", "session_id"))


class LlmInstancesResource(Resource):
    """What slots are to do, and with which parameters."""

    def list(self, **given: Unpack[LlmInstancesListCall]) -> Items[InstanceConfig]:
        """List the instance configs of a place. ``GET /llm-instances``"""
        return self._call(_LIST, (), given)

    def get_resolved(self, **given: Unpack[LlmInstancesGetResolvedCall]) -> ResolvedConfigs:
        """What each slot is to do in a session, or where there is none. ``GET /llm-instances/resolved``"""
        return self._call(_GET_RESOLVED, (), given)

    def get(self, slot: str, **given: Unpack[LlmInstancesGetCall]) -> Items[InstanceConfig]:
        """List the instance config of one slot in a place: one, or none. ``GET /llm-instances/{slot}``"""
        return self._call(_GET, (slot,), given)

    def update(self, slot: str, **given: Unpack[LlmInstancesUpdateCall]) -> InstanceConfig:
        """Say what a slot is to do in a place. ``PUT /llm-instances/{slot}``"""
        return self._call(_UPDATE, (slot,), given)

    def delete(self, slot: str, **given: Unpack[LlmInstancesDeleteCall]) -> DeletedConfig:
        """Forget what a slot is to do in a place. ``DELETE /llm-instances/{slot}``"""
        return self._call(_DELETE, (slot,), given)


class AsyncLlmInstancesResource(AsyncResource):
    """What slots are to do, and with which parameters."""

    async def list(self, **given: Unpack[LlmInstancesListCall]) -> Items[InstanceConfig]:
        """List the instance configs of a place. ``GET /llm-instances``"""
        return await self._call(_LIST, (), given)

    async def get_resolved(self, **given: Unpack[LlmInstancesGetResolvedCall]) -> ResolvedConfigs:
        """What each slot is to do in a session, or where there is none. ``GET /llm-instances/resolved``"""
        return await self._call(_GET_RESOLVED, (), given)

    async def get(self, slot: str, **given: Unpack[LlmInstancesGetCall]) -> Items[InstanceConfig]:
        """List the instance config of one slot in a place: one, or none. ``GET /llm-instances/{slot}``"""
        return await self._call(_GET, (slot,), given)

    async def update(self, slot: str, **given: Unpack[LlmInstancesUpdateCall]) -> InstanceConfig:
        """Say what a slot is to do in a place. ``PUT /llm-instances/{slot}``"""
        return await self._call(_UPDATE, (slot,), given)

    async def delete(self, slot: str, **given: Unpack[LlmInstancesDeleteCall]) -> DeletedConfig:
        """Forget what a slot is to do in a place. ``DELETE /llm-instances/{slot}``"""
        return await self._call(_DELETE, (slot,), given)
