"""Sessions, and the turns that are taken in them. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Literal, NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import ByPipeline, Endpoint, Items, ListOf, Options, Repeatable
from agentui.sdk.shapes.chats.common import Respond
from agentui.sdk.shapes.chats.sessions import (
    CancelForm,
    CharacterSync,
    DryRun,
    DryRunForm,
    EffectiveConfig,
    NewSession,
    RegenerateForm,
    RespondForm,
    RuntimeCatalog,
    SessionPatch,
    SessionRun,
    SessionScope,
    StatusBatch,
    StatusResults,
    Stopped,
    Timeline,
    TimelineFloor,
)
from agentui.sdk.shapes.common import Deleted, DeleteResults, IdBatch, Session
from agentui.sdk.streams import AsyncTurnStream, TurnStream
from agentui.sdk.transport import Resource


class SessionsCreateCall(NewSession, Options, Repeatable):
    """What ``sessions.create`` may be told."""


class SessionsListCall(Options):
    """What ``sessions.list`` may be told."""

    limit: NotRequired[int]
    """Most items in the answer, at most 200."""
    offset: NotRequired[int]
    """How many items to pass over."""
    sort_order: NotRequired[Literal["asc", "desc"]]
    """asc or desc."""
    status: NotRequired[Literal["active", "archived"]]
    """active or archived."""
    keyword: NotRequired[str]
    """A part of the title, in any case."""
    name: NotRequired[str]
    """The name by which callers know it, as a whole."""
    sort_by: NotRequired[Literal["created_at", "updated_at"]]
    """created_at or updated_at."""


class SessionsUpdateStatusBatchCall(StatusBatch, Options, Repeatable):
    """What ``sessions.update_status_batch`` may be told."""


class SessionsDeleteBatchCall(IdBatch, Options, Repeatable):
    """What ``sessions.delete_batch`` may be told."""


class SessionsUpdateCall(SessionPatch, Options, Repeatable):
    """What ``sessions.update`` may be told."""


class SessionsDeleteCall(Options, Repeatable):
    """What ``sessions.delete`` may be told."""


class SessionsSyncCharacterCall(CharacterSync, Options, Repeatable):
    """What ``sessions.sync_character`` may be told."""


class SessionsGetActiveRunCall(Options):
    """What ``sessions.get_active_run`` may be told."""

    branch_id: NotRequired[str]
    """Only this branch."""


class SessionsCancelActiveRunCall(CancelForm, Options):
    """What ``sessions.cancel_active_run`` may be told."""


class SessionsGetTimelineCall(Options):
    """What ``sessions.get_timeline`` may be told."""

    branch_id: NotRequired[str]
    """The branch; main unless said otherwise."""
    limit: NotRequired[int]
    """Most floors in the answer, at most 200."""
    offset: NotRequired[int]
    """How many floors to pass over."""
    include_ancestors: NotRequired[bool]
    """true adds the floors before the fork."""


class SessionsRespondCall(RespondForm, Options, Repeatable, ByPipeline):
    """What ``sessions.respond`` may be told."""


class SessionsRespondStreamCall(RespondForm, Options, Repeatable, ByPipeline):
    """What ``sessions.respond_stream`` may be told."""


class SessionsRespondDryRunCall(DryRunForm, Options, ByPipeline):
    """What ``sessions.respond_dry_run`` may be told."""


class SessionsRegenerateCall(RegenerateForm, Options, Repeatable, ByPipeline):
    """What ``sessions.regenerate`` may be told."""


class SessionsRegenerateStreamCall(RegenerateForm, Options, Repeatable, ByPipeline):
    """What ``sessions.regenerate_stream`` may be told."""


class SessionsGetRuntimeToolCatalogCall(Options):
    """What ``sessions.get_runtime_tool_catalog`` may be told."""

    caller_slot: NotRequired[Literal["narrator", "director", "verifier", "memory"]]
    """For the narrator, director, verifier or memory."""


_CREATE = Endpoint[Session]("POST", "/sessions", body="json")
_LIST = Endpoint[ListOf[Items[Session]]](
    "GET", "/sessions", query=("limit", "offset", "sort_order", "status", "keyword", "name", "sort_by"), answer="whole"
)
_UPDATE_STATUS_BATCH = Endpoint[StatusResults]("PATCH", "/sessions/batch/status", body="json")
_DELETE_BATCH = Endpoint[DeleteResults]("POST", "/sessions/batch/delete", body="json")
_GET = Endpoint[Session]("GET", "/sessions/{id}")
_UPDATE = Endpoint[Session]("PATCH", "/sessions/{id}", body="json")
_DELETE = Endpoint[Deleted]("DELETE", "/sessions/{id}")
_SYNC_CHARACTER = Endpoint[Session]("POST", "/sessions/{id}/character/sync", body="json")
_GET_SCOPE = Endpoint[SessionScope]("GET", "/sessions/{id}/scope", answer="whole")
_GET_EFFECTIVE_CONFIG = Endpoint[EffectiveConfig]("GET", "/sessions/{id}/effective-config", answer="whole")
_GET_ACTIVE_RUN = Endpoint[SessionRun]("GET", "/sessions/{id}/active-run", query=("branch_id",))
_CANCEL_ACTIVE_RUN = Endpoint[Stopped]("POST", "/sessions/{id}/active-run/cancel", body="json")
_GET_TIMELINE = Endpoint[ListOf[Timeline]](
    "GET", "/sessions/{id}/timeline", query=("branch_id", "limit", "offset", "include_ancestors"), answer="whole"
)
_GET_TIMELINE_ITEMS = Endpoint[ListOf[Items[TimelineFloor]]](
    "GET",
    "/sessions/{id}/timeline",
    query=("branch_id", "limit", "offset", "include_ancestors"),
    answer="whole",
    items="floors",
)
_RESPOND = Endpoint[Respond]("POST", "/sessions/{id}/respond", body="json", by_pipeline=True)
_RESPOND_STREAM = Endpoint[bytes]("POST", "/sessions/{id}/respond/stream", body="json", by_pipeline=True)
_RESPOND_DRY_RUN = Endpoint[DryRun]("POST", "/sessions/{id}/respond/dry-run", body="json", by_pipeline=True)
_REGENERATE = Endpoint[Respond]("POST", "/sessions/{id}/regenerate", body="json", by_pipeline=True)
_REGENERATE_STREAM = Endpoint[bytes]("POST", "/sessions/{id}/regenerate/stream", body="json", by_pipeline=True)
_GET_RUNTIME_TOOL_CATALOG = Endpoint[RuntimeCatalog]("GET", "/sessions/{id}/tools/runtime", query=("caller_slot",))


class SessionsResource(Resource):
    """Sessions, and the turns that are taken in them."""

    def create(self, **given: Unpack[SessionsCreateCall]) -> Session:
        """Make a session, with its branch main and, where its character has one, the greeting. ``POST /sessions``"""
        return self._call(_CREATE, (), given)

    def list(self, **given: Unpack[SessionsListCall]) -> ListOf[Items[Session]]:
        """List the sessions. ``GET /sessions``"""
        return self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[SessionsListCall]) -> Iterator[Session]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    def update_status_batch(self, **given: Unpack[SessionsUpdateStatusBatchCall]) -> StatusResults:
        """Archive sessions, or make them active again. ``PATCH /sessions/batch/status``"""
        return self._call(_UPDATE_STATUS_BATCH, (), given)

    def delete_batch(self, **given: Unpack[SessionsDeleteBatchCall]) -> DeleteResults:
        """Remove sessions; those that generate right now stay. ``POST /sessions/batch/delete``"""
        return self._call(_DELETE_BATCH, (), given)

    def get(self, session_id: str, **given: Unpack[Options]) -> Session:
        """Read a session. ``GET /sessions/{id}``"""
        return self._call(_GET, (session_id,), given)

    def update(self, session_id: str, **given: Unpack[SessionsUpdateCall]) -> Session:
        """Change a session; null clears a field. ``PATCH /sessions/{id}``"""
        return self._call(_UPDATE, (session_id,), given)

    def delete(self, session_id: str, **given: Unpack[SessionsDeleteCall]) -> Deleted:
        """Remove a session with its branches, floors, pages, messages and their variables. ``DELETE /sessions/{id}``"""
        return self._call(_DELETE, (session_id,), given)

    def sync_character(self, session_id: str, **given: Unpack[SessionsSyncCharacterCall]) -> Session:
        """Bring a session's character up to its newest version. ``POST /sessions/{id}/character/sync``"""
        return self._call(_SYNC_CHARACTER, (session_id,), given)

    def get_scope(self, session_id: str, **given: Unpack[Options]) -> SessionScope:
        """Say where a session belongs. ``GET /sessions/{id}/scope``"""
        return self._call(_GET_SCOPE, (session_id,), given)

    def get_effective_config(self, session_id: str, **given: Unpack[Options]) -> EffectiveConfig:
        """Say what counts in a session: which profile serves each slot, and what the slots are to do. ``GET
        /sessions/{id}/effective-config``
        """
        return self._call(_GET_EFFECTIVE_CONFIG, (session_id,), given)

    def get_active_run(self, session_id: str, **given: Unpack[SessionsGetActiveRunCall]) -> SessionRun:
        """Say whether a session generates right now, and what. ``GET /sessions/{id}/active-run``"""
        return self._call(_GET_ACTIVE_RUN, (session_id,), given)

    def cancel_active_run(self, session_id: str, **given: Unpack[SessionsCancelActiveRunCall]) -> Stopped:
        """Stop what a session generates, on whichever process; the words that arrived are kept. ``POST
        /sessions/{id}/active-run/cancel``
        """
        return self._call(_CANCEL_ACTIVE_RUN, (session_id,), given)

    def get_timeline(self, session_id: str, **given: Unpack[SessionsGetTimelineCall]) -> ListOf[Timeline]:
        """Read the committed floors of a branch with their pages and messages, first to last. ``GET
        /sessions/{id}/timeline``
        """
        return self._call(_GET_TIMELINE, (session_id,), given)

    def iterate_timeline(self, session_id: str, **given: Unpack[SessionsGetTimelineCall]) -> Iterator[TimelineFloor]:
        """All that ``get_timeline`` gives, part after part as they are needed."""
        return self._iterate(_GET_TIMELINE_ITEMS, (session_id,), given)

    def respond(self, session_id: str, **given: Unpack[SessionsRespondCall]) -> Respond:
        """Say something in a session, and answer with the committed reply. ``POST /sessions/{id}/respond``"""
        return self._call(_RESPOND, (session_id,), given)

    def respond_stream(self, session_id: str, **given: Unpack[SessionsRespondStreamCall]) -> TurnStream:
        """Say something in a session, and stream the reply as events. ``POST /sessions/{id}/respond/stream``"""
        return self._turn(_RESPOND_STREAM, (session_id,), given)

    def respond_dry_run(self, session_id: str, **given: Unpack[SessionsRespondDryRunCall]) -> DryRun:
        """Make the prompt of a turn that is not taken: nothing is sent, and nothing is kept. ``POST
        /sessions/{id}/respond/dry-run``
        """
        return self._call(_RESPOND_DRY_RUN, (session_id,), given)

    def regenerate(self, session_id: str, **given: Unpack[SessionsRegenerateCall]) -> Respond:
        """Generate the newest floor of a branch anew; the old one is superseded. ``POST /sessions/{id}/regenerate``"""
        return self._call(_REGENERATE, (session_id,), given)

    def regenerate_stream(self, session_id: str, **given: Unpack[SessionsRegenerateStreamCall]) -> TurnStream:
        """Generate the newest floor of a branch anew, as events. ``POST /sessions/{id}/regenerate/stream``"""
        return self._turn(_REGENERATE_STREAM, (session_id,), given)

    def get_runtime_tool_catalog(self, session_id: str, **given: Unpack[SessionsGetRuntimeToolCatalogCall]) -> RuntimeCatalog:
        """Read the tools of a session's turns, with what keeps each from being called. ``GET
        /sessions/{id}/tools/runtime``
        """
        return self._call(_GET_RUNTIME_TOOL_CATALOG, (session_id,), given)


class AsyncSessionsResource(AsyncResource):
    """Sessions, and the turns that are taken in them."""

    async def create(self, **given: Unpack[SessionsCreateCall]) -> Session:
        """Make a session, with its branch main and, where its character has one, the greeting. ``POST /sessions``"""
        return await self._call(_CREATE, (), given)

    async def list(self, **given: Unpack[SessionsListCall]) -> ListOf[Items[Session]]:
        """List the sessions. ``GET /sessions``"""
        return await self._call(_LIST, (), given)

    def iterate(self, **given: Unpack[SessionsListCall]) -> AsyncIterator[Session]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (), given)

    async def update_status_batch(self, **given: Unpack[SessionsUpdateStatusBatchCall]) -> StatusResults:
        """Archive sessions, or make them active again. ``PATCH /sessions/batch/status``"""
        return await self._call(_UPDATE_STATUS_BATCH, (), given)

    async def delete_batch(self, **given: Unpack[SessionsDeleteBatchCall]) -> DeleteResults:
        """Remove sessions; those that generate right now stay. ``POST /sessions/batch/delete``"""
        return await self._call(_DELETE_BATCH, (), given)

    async def get(self, session_id: str, **given: Unpack[Options]) -> Session:
        """Read a session. ``GET /sessions/{id}``"""
        return await self._call(_GET, (session_id,), given)

    async def update(self, session_id: str, **given: Unpack[SessionsUpdateCall]) -> Session:
        """Change a session; null clears a field. ``PATCH /sessions/{id}``"""
        return await self._call(_UPDATE, (session_id,), given)

    async def delete(self, session_id: str, **given: Unpack[SessionsDeleteCall]) -> Deleted:
        """Remove a session with its branches, floors, pages, messages and their variables. ``DELETE /sessions/{id}``"""
        return await self._call(_DELETE, (session_id,), given)

    async def sync_character(self, session_id: str, **given: Unpack[SessionsSyncCharacterCall]) -> Session:
        """Bring a session's character up to its newest version. ``POST /sessions/{id}/character/sync``"""
        return await self._call(_SYNC_CHARACTER, (session_id,), given)

    async def get_scope(self, session_id: str, **given: Unpack[Options]) -> SessionScope:
        """Say where a session belongs. ``GET /sessions/{id}/scope``"""
        return await self._call(_GET_SCOPE, (session_id,), given)

    async def get_effective_config(self, session_id: str, **given: Unpack[Options]) -> EffectiveConfig:
        """Say what counts in a session: which profile serves each slot, and what the slots are to do. ``GET
        /sessions/{id}/effective-config``
        """
        return await self._call(_GET_EFFECTIVE_CONFIG, (session_id,), given)

    async def get_active_run(self, session_id: str, **given: Unpack[SessionsGetActiveRunCall]) -> SessionRun:
        """Say whether a session generates right now, and what. ``GET /sessions/{id}/active-run``"""
        return await self._call(_GET_ACTIVE_RUN, (session_id,), given)

    async def cancel_active_run(self, session_id: str, **given: Unpack[SessionsCancelActiveRunCall]) -> Stopped:
        """Stop what a session generates, on whichever process; the words that arrived are kept. ``POST
        /sessions/{id}/active-run/cancel``
        """
        return await self._call(_CANCEL_ACTIVE_RUN, (session_id,), given)

    async def get_timeline(self, session_id: str, **given: Unpack[SessionsGetTimelineCall]) -> ListOf[Timeline]:
        """Read the committed floors of a branch with their pages and messages, first to last. ``GET
        /sessions/{id}/timeline``
        """
        return await self._call(_GET_TIMELINE, (session_id,), given)

    def iterate_timeline(self, session_id: str, **given: Unpack[SessionsGetTimelineCall]) -> AsyncIterator[TimelineFloor]:
        """All that ``get_timeline`` gives, part after part as they are needed."""
        return self._iterate(_GET_TIMELINE_ITEMS, (session_id,), given)

    async def respond(self, session_id: str, **given: Unpack[SessionsRespondCall]) -> Respond:
        """Say something in a session, and answer with the committed reply. ``POST /sessions/{id}/respond``"""
        return await self._call(_RESPOND, (session_id,), given)

    def respond_stream(self, session_id: str, **given: Unpack[SessionsRespondStreamCall]) -> AsyncTurnStream:
        """Say something in a session, and stream the reply as events. ``POST /sessions/{id}/respond/stream``"""
        return self._turn(_RESPOND_STREAM, (session_id,), given)

    async def respond_dry_run(self, session_id: str, **given: Unpack[SessionsRespondDryRunCall]) -> DryRun:
        """Make the prompt of a turn that is not taken: nothing is sent, and nothing is kept. ``POST
        /sessions/{id}/respond/dry-run``
        """
        return await self._call(_RESPOND_DRY_RUN, (session_id,), given)

    async def regenerate(self, session_id: str, **given: Unpack[SessionsRegenerateCall]) -> Respond:
        """Generate the newest floor of a branch anew; the old one is superseded. ``POST /sessions/{id}/regenerate``"""
        return await self._call(_REGENERATE, (session_id,), given)

    def regenerate_stream(self, session_id: str, **given: Unpack[SessionsRegenerateStreamCall]) -> AsyncTurnStream:
        """Generate the newest floor of a branch anew, as events. ``POST /sessions/{id}/regenerate/stream``"""
        return self._turn(_REGENERATE_STREAM, (session_id,), given)

    async def get_runtime_tool_catalog(
        self, session_id: str, **given: Unpack[SessionsGetRuntimeToolCatalogCall]
    ) -> RuntimeCatalog:
        """Read the tools of a session's turns, with what keeps each from being called. ``GET
        /sessions/{id}/tools/runtime``
        """
        return await self._call(_GET_RUNTIME_TOOL_CATALOG, (session_id,), given)
