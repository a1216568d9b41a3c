"""Tools: which there are, which sessions allow, and what was called. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Literal, NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Items, ListOf, Options, Repeatable
from agentui.sdk.shapes.common import Deleted
from agentui.sdk.shapes.tools.tools import (
    CallRecord,
    CatalogTool,
    Definition,
    DefinitionPatch,
    DefinitionToggle,
    NewDefinition,
    PermissionsForm,
    PermissionsPatch,
    PermissionsView,
    ToolExecution,
    ToolTrial,
    ToolTried,
    ToolView,
    TrialForm,
)
from agentui.sdk.transport import Resource


class ToolsPutPermissionsCall(PermissionsForm, Options, Repeatable):
    """What ``tools.put_permissions`` may be told."""


class ToolsPatchPermissionsCall(PermissionsPatch, Options, Repeatable):
    """What ``tools.patch_permissions`` may be told."""


class ToolsListCatalogCall(Options):
    """What ``tools.list_catalog`` may be told."""

    caller_slot: NotRequired[Literal["narrator", "director", "verifier", "memory"]]
    """For the narrator, director, verifier or memory."""


class ToolsListDefinitionsCall(Options):
    """What ``tools.list_definitions`` may be told."""

    limit: NotRequired[int]
    """Most items in the answer, at most 100."""
    offset: NotRequired[int]
    """How many items to pass over."""
    sort_order: NotRequired[Literal["asc", "desc"]]
    """asc or desc."""
    source: NotRequired[Literal["preset", "character", "custom"]]
    """That came with a preset, a character or nothing (custom)."""
    source_id: NotRequired[str]
    """That came with this one."""
    enabled: NotRequired[bool]
    """true or false: only those that are on, or off."""
    sort_by: NotRequired[Literal["updated_at", "name"]]
    """updated_at or name."""


class ToolsCreateDefinitionCall(NewDefinition, Options, Repeatable):
    """What ``tools.create_definition`` may be told."""


class ToolsUpdateDefinitionCall(DefinitionPatch, Options, Repeatable):
    """What ``tools.update_definition`` may be told."""


class ToolsDeleteDefinitionCall(Options, Repeatable):
    """What ``tools.delete_definition`` may be told."""


class ToolsToggleDefinitionCall(DefinitionToggle, Options, Repeatable):
    """What ``tools.toggle_definition`` may be told."""


class ToolsTestDefinitionCall(ToolTrial, Options):
    """What ``tools.test_definition`` may be told."""


class ToolsTestCall(TrialForm, Options):
    """What ``tools.test`` may be told."""


class ToolsListFloorExecutionsCall(Options):
    """What ``tools.list_floor_executions`` may be told."""

    limit: NotRequired[int]
    """Most items in the answer, at most 100."""
    offset: NotRequired[int]
    """How many items to pass over."""
    sort_order: NotRequired[Literal["asc", "desc"]]
    """asc or desc."""
    sort_by: NotRequired[Literal["created_at", "started_at", "finished_at"]]
    """What the list is sorted by."""
    session_id: NotRequired[str]
    """Of this session."""
    run_id: NotRequired[str]
    """Of this run."""
    caller_slot: NotRequired[Literal["narrator", "director", "verifier", "memory"]]
    """Made by the narrator, director, verifier or memory."""
    tool_name: NotRequired[str]
    """Of this tool."""
    status: NotRequired[Literal["running", "queued", "success", "error", "denied", "timeout", "uncertain", "blocked"]]
    """That went like this."""
    lifecycle_state: NotRequired[Literal["opened", "finished"]]
    """opened or finished."""
    commit_outcome: NotRequired[Literal["pending", "committed", "discarded", "replay_blocked", "uncertain"]]
    """What became of them with their turn."""
    provider_type: NotRequired[Literal["builtin", "preset", "mcp", "unknown"]]
    """Of tools that come from there."""


class ToolsListExecutionsCall(Options):
    """What ``tools.list_executions`` may be told."""

    limit: NotRequired[int]
    """Most items in the answer, at most 100."""
    offset: NotRequired[int]
    """How many items to pass over."""
    sort_order: NotRequired[Literal["asc", "desc"]]
    """asc or desc."""
    sort_by: NotRequired[Literal["created_at", "started_at", "finished_at"]]
    """What the list is sorted by."""
    session_id: NotRequired[str]
    """Of this session."""
    run_id: NotRequired[str]
    """Of this run."""
    caller_slot: NotRequired[Literal["narrator", "director", "verifier", "memory"]]
    """Made by the narrator, director, verifier or memory."""
    tool_name: NotRequired[str]
    """Of this tool."""
    status: NotRequired[Literal["running", "queued", "success", "error", "denied", "timeout", "uncertain", "blocked"]]
    """That went like this."""
    lifecycle_state: NotRequired[Literal["opened", "finished"]]
    """opened or finished."""
    commit_outcome: NotRequired[Literal["pending", "committed", "discarded", "replay_blocked", "uncertain"]]
    """What became of them with their turn."""
    provider_type: NotRequired[Literal["builtin", "preset", "mcp", "unknown"]]
    """Of tools that come from there."""
    floor_id: NotRequired[str]
    """Of this floor."""


class ToolsListCallRecordsCall(Options):
    """What ``tools.list_call_records`` may be told."""

    limit: NotRequired[int]
    """Most items in the answer, at most 100."""
    offset: NotRequired[int]
    """How many items to pass over."""
    sort_order: NotRequired[Literal["asc", "desc"]]
    """asc or desc."""
    sort_by: NotRequired[Literal["seq", "created_at"]]
    """What the list is sorted by."""
    page_id: NotRequired[str]
    """Of the turn with this input page."""
    floor_id: NotRequired[str]
    """Of this floor."""
    caller_slot: NotRequired[Literal["narrator", "director", "verifier", "memory"]]
    """Made by the narrator, director, verifier or memory."""
    status: NotRequired[Literal["success", "error", "denied"]]
    """That went like this."""


_GET_PERMISSIONS = Endpoint[PermissionsView]("GET", "/sessions/{id}/tool-permissions")
_PUT_PERMISSIONS = Endpoint[PermissionsView]("PUT", "/sessions/{id}/tool-permissions", body="json")
_PATCH_PERMISSIONS = Endpoint[PermissionsView]("PATCH", "/sessions/{id}/tool-permissions", body="json")
_LIST_CATALOG = Endpoint[Items[CatalogTool]]("GET", "/sessions/{id}/tool-catalog", query=("caller_slot",))
_LIST_BUILTIN = Endpoint[Items[ToolView]]("GET", "/tools/builtin")
_LIST_DEFINITIONS = Endpoint[ListOf[Items[Definition]]](
    "GET",
    "/tools/definitions",
    query=("limit", "offset", "sort_order", "source", "source_id", "enabled", "sort_by"),
    answer="whole",
)
_CREATE_DEFINITION = Endpoint[Definition]("POST", "/tools/definitions", body="json")
_GET_DEFINITION = Endpoint[Definition]("GET", "/tools/definitions/{id}")
_UPDATE_DEFINITION = Endpoint[Definition]("PATCH", "/tools/definitions/{id}", body="json")
_DELETE_DEFINITION = Endpoint[Deleted]("DELETE", "/tools/definitions/{id}")
_TOGGLE_DEFINITION = Endpoint[Definition]("PATCH", "/tools/definitions/{id}/toggle", body="json")
_TEST_DEFINITION = Endpoint[ToolTried]("POST", "/tools/definitions/{id}/test", body="json")
_TEST = Endpoint[ToolTried]("POST", "/tools/test", body="json")
_LIST_FLOOR_EXECUTIONS = Endpoint[ListOf[Items[ToolExecution]]](
    "GET",
    "/floors/{id}/tool-executions",
    query=(
        "limit",
        "offset",
        "sort_order",
        "sort_by",
        "session_id",
        "run_id",
        "caller_slot",
        "tool_name",
        "status",
        "lifecycle_state",
        "commit_outcome",
        "provider_type",
    ),
    answer="whole",
)
_LIST_EXECUTIONS = Endpoint[ListOf[Items[ToolExecution]]](
    "GET",
    "/tool-executions",
    query=(
        "limit",
        "offset",
        "sort_order",
        "sort_by",
        "session_id",
        "run_id",
        "caller_slot",
        "tool_name",
        "status",
        "lifecycle_state",
        "commit_outcome",
        "provider_type",
        "floor_id",
    ),
    answer="whole",
)
_GET_EXECUTION = Endpoint[ToolExecution]("GET", "/tool-executions/{id}")
_LIST_CALL_RECORDS = Endpoint[ListOf[Items[CallRecord]]](
    "GET",
    "/tools/call-records",
    query=("limit", "offset", "sort_order", "sort_by", "page_id", "floor_id", "caller_slot", "status"),
    answer="whole",
)


class ToolsResource(Resource):
    """Tools: which there are, which sessions allow, and what was called."""

    def get_permissions(self, session_id: str, **given: Unpack[Options]) -> PermissionsView:
        """Read what a session allows models to do with tools; empty where nobody said anything. ``GET
        /sessions/{id}/tool-permissions``
        """
        return self._call(_GET_PERMISSIONS, (session_id,), given)

    def put_permissions(self, session_id: str, **given: Unpack[ToolsPutPermissionsCall]) -> PermissionsView:
        """Say anew what a session allows models to do with tools. ``PUT /sessions/{id}/tool-permissions``"""
        return self._call(_PUT_PERMISSIONS, (session_id,), given)

    def patch_permissions(self, session_id: str, **given: Unpack[ToolsPatchPermissionsCall]) -> PermissionsView:
        """Change what a session allows models to do with tools; null takes away what was said. ``PATCH
        /sessions/{id}/tool-permissions``
        """
        return self._call(_PATCH_PERMISSIONS, (session_id,), given)

    def list_catalog(self, session_id: str, **given: Unpack[ToolsListCatalogCall]) -> Items[CatalogTool]:
        """List the tools of a session's turns, and which of them it allows. ``GET /sessions/{id}/tool-catalog``"""
        return self._call(_LIST_CATALOG, (session_id,), given)

    def list_builtin(self, **given: Unpack[Options]) -> Items[ToolView]:
        """List the tools that every server has. ``GET /tools/builtin``"""
        return self._call(_LIST_BUILTIN, (), given)

    def list_definitions(self, **given: Unpack[ToolsListDefinitionsCall]) -> ListOf[Items[Definition]]:
        """List the tools that users defined. ``GET /tools/definitions``"""
        return self._call(_LIST_DEFINITIONS, (), given)

    def iterate_definitions(self, **given: Unpack[ToolsListDefinitionsCall]) -> Iterator[Definition]:
        """All that ``list_definitions`` gives, part after part as they are needed."""
        return self._iterate(_LIST_DEFINITIONS, (), given)

    def create_definition(self, **given: Unpack[ToolsCreateDefinitionCall]) -> Definition:
        """Define a tool. ``POST /tools/definitions``"""
        return self._call(_CREATE_DEFINITION, (), given)

    def get_definition(self, definition_id: str, **given: Unpack[Options]) -> Definition:
        """Read a defined tool. ``GET /tools/definitions/{id}``"""
        return self._call(_GET_DEFINITION, (definition_id,), given)

    def update_definition(self, definition_id: str, **given: Unpack[ToolsUpdateDefinitionCall]) -> Definition:
        """Change a defined tool. ``PATCH /tools/definitions/{id}``"""
        return self._call(_UPDATE_DEFINITION, (definition_id,), given)

    def delete_definition(self, definition_id: str, **given: Unpack[ToolsDeleteDefinitionCall]) -> Deleted:
        """Forget a defined tool. ``DELETE /tools/definitions/{id}``"""
        return self._call(_DELETE_DEFINITION, (definition_id,), given)

    def toggle_definition(self, definition_id: str, **given: Unpack[ToolsToggleDefinitionCall]) -> Definition:
        """Offer a defined tool, or do not. ``PATCH /tools/definitions/{id}/toggle``"""
        return self._call(_TOGGLE_DEFINITION, (definition_id,), given)

    def test_definition(self, definition_id: str, **given: Unpack[ToolsTestDefinitionCall]) -> ToolTried:
        """Call a defined tool once, outside of any chat. ``POST /tools/definitions/{id}/test``"""
        return self._call(_TEST_DEFINITION, (definition_id,), given)

    def test(self, **given: Unpack[ToolsTestCall]) -> ToolTried:
        """Call a tool once by its name, with what a chat's next turn would see where a session is named. ``POST
        /tools/test``
        """
        return self._call(_TEST, (), given)

    def list_floor_executions(
        self, floor_id: str, **given: Unpack[ToolsListFloorExecutionsCall]
    ) -> ListOf[Items[ToolExecution]]:
        """List the calls of tools of one floor. ``GET /floors/{id}/tool-executions``"""
        return self._call(_LIST_FLOOR_EXECUTIONS, (floor_id,), given)

    def iterate_floor_executions(self, floor_id: str, **given: Unpack[ToolsListFloorExecutionsCall]) -> Iterator[ToolExecution]:
        """All that ``list_floor_executions`` gives, part after part as they are needed."""
        return self._iterate(_LIST_FLOOR_EXECUTIONS, (floor_id,), given)

    def list_executions(self, **given: Unpack[ToolsListExecutionsCall]) -> ListOf[Items[ToolExecution]]:
        """List the calls of tools of a session, a floor or a run. ``GET /tool-executions``"""
        return self._call(_LIST_EXECUTIONS, (), given)

    def iterate_executions(self, **given: Unpack[ToolsListExecutionsCall]) -> Iterator[ToolExecution]:
        """All that ``list_executions`` gives, part after part as they are needed."""
        return self._iterate(_LIST_EXECUTIONS, (), given)

    def get_execution(self, execution_id: str, **given: Unpack[Options]) -> ToolExecution:
        """Read a call of a tool. ``GET /tool-executions/{id}``"""
        return self._call(_GET_EXECUTION, (execution_id,), given)

    def list_call_records(self, **given: Unpack[ToolsListCallRecordsCall]) -> ListOf[Items[CallRecord]]:
        """List calls of tools in short. ``GET /tools/call-records``"""
        return self._call(_LIST_CALL_RECORDS, (), given)

    def iterate_call_records(self, **given: Unpack[ToolsListCallRecordsCall]) -> Iterator[CallRecord]:
        """All that ``list_call_records`` gives, part after part as they are needed."""
        return self._iterate(_LIST_CALL_RECORDS, (), given)


class AsyncToolsResource(AsyncResource):
    """Tools: which there are, which sessions allow, and what was called."""

    async def get_permissions(self, session_id: str, **given: Unpack[Options]) -> PermissionsView:
        """Read what a session allows models to do with tools; empty where nobody said anything. ``GET
        /sessions/{id}/tool-permissions``
        """
        return await self._call(_GET_PERMISSIONS, (session_id,), given)

    async def put_permissions(self, session_id: str, **given: Unpack[ToolsPutPermissionsCall]) -> PermissionsView:
        """Say anew what a session allows models to do with tools. ``PUT /sessions/{id}/tool-permissions``"""
        return await self._call(_PUT_PERMISSIONS, (session_id,), given)

    async def patch_permissions(self, session_id: str, **given: Unpack[ToolsPatchPermissionsCall]) -> PermissionsView:
        """Change what a session allows models to do with tools; null takes away what was said. ``PATCH
        /sessions/{id}/tool-permissions``
        """
        return await self._call(_PATCH_PERMISSIONS, (session_id,), given)

    async def list_catalog(self, session_id: str, **given: Unpack[ToolsListCatalogCall]) -> Items[CatalogTool]:
        """List the tools of a session's turns, and which of them it allows. ``GET /sessions/{id}/tool-catalog``"""
        return await self._call(_LIST_CATALOG, (session_id,), given)

    async def list_builtin(self, **given: Unpack[Options]) -> Items[ToolView]:
        """List the tools that every server has. ``GET /tools/builtin``"""
        return await self._call(_LIST_BUILTIN, (), given)

    async def list_definitions(self, **given: Unpack[ToolsListDefinitionsCall]) -> ListOf[Items[Definition]]:
        """List the tools that users defined. ``GET /tools/definitions``"""
        return await self._call(_LIST_DEFINITIONS, (), given)

    def iterate_definitions(self, **given: Unpack[ToolsListDefinitionsCall]) -> AsyncIterator[Definition]:
        """All that ``list_definitions`` gives, part after part as they are needed."""
        return self._iterate(_LIST_DEFINITIONS, (), given)

    async def create_definition(self, **given: Unpack[ToolsCreateDefinitionCall]) -> Definition:
        """Define a tool. ``POST /tools/definitions``"""
        return await self._call(_CREATE_DEFINITION, (), given)

    async def get_definition(self, definition_id: str, **given: Unpack[Options]) -> Definition:
        """Read a defined tool. ``GET /tools/definitions/{id}``"""
        return await self._call(_GET_DEFINITION, (definition_id,), given)

    async def update_definition(self, definition_id: str, **given: Unpack[ToolsUpdateDefinitionCall]) -> Definition:
        """Change a defined tool. ``PATCH /tools/definitions/{id}``"""
        return await self._call(_UPDATE_DEFINITION, (definition_id,), given)

    async def delete_definition(self, definition_id: str, **given: Unpack[ToolsDeleteDefinitionCall]) -> Deleted:
        """Forget a defined tool. ``DELETE /tools/definitions/{id}``"""
        return await self._call(_DELETE_DEFINITION, (definition_id,), given)

    async def toggle_definition(self, definition_id: str, **given: Unpack[ToolsToggleDefinitionCall]) -> Definition:
        """Offer a defined tool, or do not. ``PATCH /tools/definitions/{id}/toggle``"""
        return await self._call(_TOGGLE_DEFINITION, (definition_id,), given)

    async def test_definition(self, definition_id: str, **given: Unpack[ToolsTestDefinitionCall]) -> ToolTried:
        """Call a defined tool once, outside of any chat. ``POST /tools/definitions/{id}/test``"""
        return await self._call(_TEST_DEFINITION, (definition_id,), given)

    async def test(self, **given: Unpack[ToolsTestCall]) -> ToolTried:
        """Call a tool once by its name, with what a chat's next turn would see where a session is named. ``POST
        /tools/test``
        """
        return await self._call(_TEST, (), given)

    async def list_floor_executions(
        self, floor_id: str, **given: Unpack[ToolsListFloorExecutionsCall]
    ) -> ListOf[Items[ToolExecution]]:
        """List the calls of tools of one floor. ``GET /floors/{id}/tool-executions``"""
        return await self._call(_LIST_FLOOR_EXECUTIONS, (floor_id,), given)

    def iterate_floor_executions(
        self, floor_id: str, **given: Unpack[ToolsListFloorExecutionsCall]
    ) -> AsyncIterator[ToolExecution]:
        """All that ``list_floor_executions`` gives, part after part as they are needed."""
        return self._iterate(_LIST_FLOOR_EXECUTIONS, (floor_id,), given)

    async def list_executions(self, **given: Unpack[ToolsListExecutionsCall]) -> ListOf[Items[ToolExecution]]:
        """List the calls of tools of a session, a floor or a run. ``GET /tool-executions``"""
        return await self._call(_LIST_EXECUTIONS, (), given)

    def iterate_executions(self, **given: Unpack[ToolsListExecutionsCall]) -> AsyncIterator[ToolExecution]:
        """All that ``list_executions`` gives, part after part as they are needed."""
        return self._iterate(_LIST_EXECUTIONS, (), given)

    async def get_execution(self, execution_id: str, **given: Unpack[Options]) -> ToolExecution:
        """Read a call of a tool. ``GET /tool-executions/{id}``"""
        return await self._call(_GET_EXECUTION, (execution_id,), given)

    async def list_call_records(self, **given: Unpack[ToolsListCallRecordsCall]) -> ListOf[Items[CallRecord]]:
        """List calls of tools in short. ``GET /tools/call-records``"""
        return await self._call(_LIST_CALL_RECORDS, (), given)

    def iterate_call_records(self, **given: Unpack[ToolsListCallRecordsCall]) -> AsyncIterator[CallRecord]:
        """All that ``list_call_records`` gives, part after part as they are needed."""
        return self._iterate(_LIST_CALL_RECORDS, (), given)
