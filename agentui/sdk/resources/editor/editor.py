"""What the editor knows: node types, templates, settings, names, changes. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from typing import Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Items, Options, Resumable
from agentui.sdk.feeds import ChangeEvent, ServerEvent
from agentui.sdk.shapes.editor.editor import ContextNames, NodeType, SettingsState, Template
from agentui.sdk.streams import AsyncEventStream, EventStream
from agentui.sdk.transport import Resource


class EditorStreamChangesCall(Options, Resumable):
    """What ``editor.stream_changes`` may be told."""


class EditorStreamEventsCall(Options, Resumable):
    """What ``editor.stream_events`` may be told."""


_STREAM_CHANGES = Endpoint[ChangeEvent]("GET", "/api/changes")
_STREAM_EVENTS = Endpoint[ServerEvent]("GET", "/api/events")
_LIST_TEMPLATES = Endpoint[Items[Template]]("GET", "/api/templates", answer="whole")
_LIST_NODE_TYPES = Endpoint[Items[NodeType]]("GET", "/api/node-types", answer="whole")
_GET_SETTINGS = Endpoint[SettingsState]("GET", "/api/settings", answer="whole")
_GET_CONTEXT_NAMES = Endpoint[ContextNames]("GET", "/api/context-names", answer="whole")


class EditorResource(Resource):
    """What the editor knows: node types, templates, settings, names, changes."""

    def stream_changes(self, **given: Unpack[EditorStreamChangesCall]) -> EventStream[ChangeEvent]:
        """Follow which pipelines and presets change, appear or go, and which pipeline is active. ``GET /api/changes``"""
        return self._events(_STREAM_CHANGES, (), given)

    def stream_events(self, **given: Unpack[EditorStreamEventsCall]) -> EventStream[ServerEvent]:
        """Follow everything that a page shows as it happens, over one connection: the events of ``/api/changes`` and of
        ``/api/runs/live?events=1``. ``GET /api/events``
        """
        return self._events(_STREAM_EVENTS, (), given)

    def list_templates(self, **given: Unpack[Options]) -> Items[Template]:
        """List the pipelines that ship with agentui, each with its document. ``GET /api/templates``"""
        return self._call(_LIST_TEMPLATES, (), given)

    def list_node_types(self, **given: Unpack[Options]) -> Items[NodeType]:
        """List the node types with their forms and their help. ``GET /api/node-types``"""
        return self._call(_LIST_NODE_TYPES, (), given)

    def get_settings(self, **given: Unpack[Options]) -> SettingsState:
        """Read the version, how people get in and, for admins, the settings in effect, the secret ones left out. ``GET
        /api/settings``
        """
        return self._call(_GET_SETTINGS, (), given)

    def get_context_names(self, **given: Unpack[Options]) -> ContextNames:
        """List the names that every template can read, and the filters that it can use. ``GET /api/context-names``"""
        return self._call(_GET_CONTEXT_NAMES, (), given)


class AsyncEditorResource(AsyncResource):
    """What the editor knows: node types, templates, settings, names, changes."""

    def stream_changes(self, **given: Unpack[EditorStreamChangesCall]) -> AsyncEventStream[ChangeEvent]:
        """Follow which pipelines and presets change, appear or go, and which pipeline is active. ``GET /api/changes``"""
        return self._events(_STREAM_CHANGES, (), given)

    def stream_events(self, **given: Unpack[EditorStreamEventsCall]) -> AsyncEventStream[ServerEvent]:
        """Follow everything that a page shows as it happens, over one connection: the events of ``/api/changes`` and of
        ``/api/runs/live?events=1``. ``GET /api/events``
        """
        return self._events(_STREAM_EVENTS, (), given)

    async def list_templates(self, **given: Unpack[Options]) -> Items[Template]:
        """List the pipelines that ship with agentui, each with its document. ``GET /api/templates``"""
        return await self._call(_LIST_TEMPLATES, (), given)

    async def list_node_types(self, **given: Unpack[Options]) -> Items[NodeType]:
        """List the node types with their forms and their help. ``GET /api/node-types``"""
        return await self._call(_LIST_NODE_TYPES, (), given)

    async def get_settings(self, **given: Unpack[Options]) -> SettingsState:
        """Read the version, how people get in and, for admins, the settings in effect, the secret ones left out. ``GET
        /api/settings``
        """
        return await self._call(_GET_SETTINGS, (), given)

    async def get_context_names(self, **given: Unpack[Options]) -> ContextNames:
        """List the names that every template can read, and the filters that it can use. ``GET /api/context-names``"""
        return await self._call(_GET_CONTEXT_NAMES, (), given)
