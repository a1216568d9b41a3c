"""Session State: namespaces and slots with values. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from typing import NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Items, Options, Repeatable
from agentui.sdk.shapes.chats.session_state import (
    NamespaceData,
    NamespaceForm,
    ResolvedState,
    SlotForm,
    SnapshotState,
    StateDifference,
    ValueForm,
)
from agentui.sdk.transport import Resource


class SessionStateRegisterNamespaceCall(NamespaceForm, Options, Repeatable):
    """What ``session_state.register_namespace`` may be told."""


class SessionStateWriteValueCall(ValueForm, Options, Repeatable):
    """What ``session_state.write_value`` may be told."""


class SessionStateDeleteValueCall(SlotForm, Options, Repeatable):
    """What ``session_state.delete_value`` may be told."""


class SessionStateResolveCall(Options):
    """What ``session_state.resolve`` may be told."""

    namespace: NotRequired[str]
    """Only the slots of this namespace."""
    slot: NotRequired[str]
    """Only this slot; goes with namespace."""
    branch_id: str
    """The branch."""
    source_floor_id: NotRequired[str]
    """Show what held when this floor was committed."""


class SessionStateGetFloorSnapshotsCall(Options):
    """What ``session_state.get_floor_snapshots`` may be told."""

    namespace: NotRequired[str]
    """Only the slots of this namespace."""
    slot: NotRequired[str]
    """Only this slot; goes with namespace."""


class SessionStateDiffCall(Options):
    """What ``session_state.diff`` may be told."""

    namespace: NotRequired[str]
    """Only the slots of this namespace."""
    slot: NotRequired[str]
    """Only this slot; goes with namespace."""
    against: str
    """live, or floor:<id>."""
    branch_id: NotRequired[str]
    """The branch of against=live."""
    floor_id: str
    """The floor on the right side."""


_REGISTER_NAMESPACE = Endpoint[NamespaceData]("POST", "/sessions/{id}/state/namespaces", body="json")
_LIST_NAMESPACES = Endpoint[Items[NamespaceData]]("GET", "/sessions/{id}/state/namespaces")
_WRITE_VALUE = Endpoint[ResolvedState]("POST", "/sessions/{id}/state/values/write", body="json")
_DELETE_VALUE = Endpoint[ResolvedState]("DELETE", "/sessions/{id}/state/values", body="json")
_RESOLVE = Endpoint[Items[ResolvedState]](
    "GET", "/sessions/{id}/state/resolve", query=("namespace", "slot", "branch_id", "source_floor_id")
)
_GET_FLOOR_SNAPSHOTS = Endpoint[Items[SnapshotState]](
    "GET", "/sessions/{id}/state/floors/{floor}/snapshot", query=("namespace", "slot")
)
_DIFF = Endpoint[Items[StateDifference]](
    "GET", "/sessions/{id}/state/diff", query=("namespace", "slot", "against", "branch_id", "floor_id")
)


class SessionStateResource(Resource):
    """Session State: namespaces and slots with values."""

    def register_namespace(self, session_id: str, **given: Unpack[SessionStateRegisterNamespaceCall]) -> NamespaceData:
        """Register a namespace in a session. ``POST /sessions/{id}/state/namespaces``"""
        return self._call(_REGISTER_NAMESPACE, (session_id,), given)

    def list_namespaces(self, session_id: str, **given: Unpack[Options]) -> Items[NamespaceData]:
        """List the namespaces of a session with their slots, the server's own first. ``GET
        /sessions/{id}/state/namespaces``
        """
        return self._call(_LIST_NAMESPACES, (session_id,), given)

    def write_value(self, session_id: str, **given: Unpack[SessionStateWriteValueCall]) -> ResolvedState:
        """Write one slot of a branch at once. ``POST /sessions/{id}/state/values/write``"""
        return self._call(_WRITE_VALUE, (session_id,), given)

    def delete_value(self, session_id: str, **given: Unpack[SessionStateDeleteValueCall]) -> ResolvedState:
        """Take the value of a slot away; what was written before stays in the past. ``DELETE /sessions/{id}/state/values``"""
        return self._call(_DELETE_VALUE, (session_id,), given)

    def resolve(self, session_id: str, **given: Unpack[SessionStateResolveCall]) -> Items[ResolvedState]:
        """What the slots of a session hold on a branch, or held at a floor. ``GET /sessions/{id}/state/resolve``"""
        return self._call(_RESOLVE, (session_id,), given)

    def get_floor_snapshots(
        self, session_id: str, floor_id: str, **given: Unpack[SessionStateGetFloorSnapshotsCall]
    ) -> Items[SnapshotState]:
        """What the slots held when a floor was committed. ``GET /sessions/{id}/state/floors/{floor}/snapshot``"""
        return self._call(_GET_FLOOR_SNAPSHOTS, (session_id, floor_id), given)

    def diff(self, session_id: str, **given: Unpack[SessionStateDiffCall]) -> Items[StateDifference]:
        """Compare what held at a floor with a branch as it is, or with another floor. ``GET /sessions/{id}/state/diff``"""
        return self._call(_DIFF, (session_id,), given)


class AsyncSessionStateResource(AsyncResource):
    """Session State: namespaces and slots with values."""

    async def register_namespace(self, session_id: str, **given: Unpack[SessionStateRegisterNamespaceCall]) -> NamespaceData:
        """Register a namespace in a session. ``POST /sessions/{id}/state/namespaces``"""
        return await self._call(_REGISTER_NAMESPACE, (session_id,), given)

    async def list_namespaces(self, session_id: str, **given: Unpack[Options]) -> Items[NamespaceData]:
        """List the namespaces of a session with their slots, the server's own first. ``GET
        /sessions/{id}/state/namespaces``
        """
        return await self._call(_LIST_NAMESPACES, (session_id,), given)

    async def write_value(self, session_id: str, **given: Unpack[SessionStateWriteValueCall]) -> ResolvedState:
        """Write one slot of a branch at once. ``POST /sessions/{id}/state/values/write``"""
        return await self._call(_WRITE_VALUE, (session_id,), given)

    async def delete_value(self, session_id: str, **given: Unpack[SessionStateDeleteValueCall]) -> ResolvedState:
        """Take the value of a slot away; what was written before stays in the past. ``DELETE /sessions/{id}/state/values``"""
        return await self._call(_DELETE_VALUE, (session_id,), given)

    async def resolve(self, session_id: str, **given: Unpack[SessionStateResolveCall]) -> Items[ResolvedState]:
        """What the slots of a session hold on a branch, or held at a floor. ``GET /sessions/{id}/state/resolve``"""
        return await self._call(_RESOLVE, (session_id,), given)

    async def get_floor_snapshots(
        self, session_id: str, floor_id: str, **given: Unpack[SessionStateGetFloorSnapshotsCall]
    ) -> Items[SnapshotState]:
        """What the slots held when a floor was committed. ``GET /sessions/{id}/state/floors/{floor}/snapshot``"""
        return await self._call(_GET_FLOOR_SNAPSHOTS, (session_id, floor_id), given)

    async def diff(self, session_id: str, **given: Unpack[SessionStateDiffCall]) -> Items[StateDifference]:
        """Compare what held at a floor with a branch as it is, or with another floor. ``GET /sessions/{id}/state/diff``"""
        return await self._call(_DIFF, (session_id,), given)
