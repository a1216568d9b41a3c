"""Long texts and values that agents work on. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Literal, NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Items, ListOf, Options, Repeatable
from agentui.sdk.shapes.chats.working_variables import WorkingFacts, WorkingForm, WorkingPart
from agentui.sdk.shapes.common import Deleted
from agentui.sdk.transport import Resource


class WorkingVariablesListCall(Options):
    """What ``working_variables.list`` may be told."""

    limit: NotRequired[int]
    """Most items in the answer, at most 100."""
    offset: NotRequired[int]
    """How many items to pass over."""
    sort_order: NotRequired[Literal["asc", "desc"]]
    """asc or desc."""
    branch_id: NotRequired[str]
    """The branch, main if left out."""
    type: NotRequired[Literal["RULE", "ToolCallResult", "ToolCallArgs", "MessageCache", "LLMAdd", "USER_ADD"]]
    """Only variables of this type."""
    tag: NotRequired[str]
    """Only variables with this tag."""
    search: NotRequired[str]
    """Part of a name or a description, in any case."""
    sort_by: NotRequired[Literal["name", "created_at", "updated_at", "last_visited_at"]]
    """name, created_at, updated_at or last_visited_at."""


class WorkingVariablesReadCall(Options):
    """What ``working_variables.read`` may be told."""

    branch_id: NotRequired[str]
    """The branch, main if left out."""
    start: NotRequired[int]
    """The first character, counted from 0."""
    length: NotRequired[int]
    """How many characters; to the end if left out."""


class WorkingVariablesWriteCall(WorkingForm, Options, Repeatable):
    """What ``working_variables.write`` may be told."""

    branch_id: NotRequired[str]
    """The branch, main if left out."""


class WorkingVariablesDeleteCall(Options, Repeatable):
    """What ``working_variables.delete`` may be told."""

    branch_id: NotRequired[str]
    """The branch, main if left out."""


_LIST = Endpoint[ListOf[Items[WorkingFacts]]](
    "GET",
    "/sessions/{id}/working-variables",
    query=("limit", "offset", "sort_order", "branch_id", "type", "tag", "search", "sort_by"),
    answer="whole",
)
_READ = Endpoint[WorkingPart]("GET", "/sessions/{id}/working-variables/{variable}", query=("branch_id", "start", "length"))
_WRITE = Endpoint[WorkingFacts]("PUT", "/sessions/{id}/working-variables/{variable}", query=("branch_id",), body="json")
_DELETE = Endpoint[Deleted]("DELETE", "/sessions/{id}/working-variables/{variable}", query=("branch_id",))


class WorkingVariablesResource(Resource):
    """Long texts and values that agents work on."""

    def list(self, session_id: str, **given: Unpack[WorkingVariablesListCall]) -> ListOf[Items[WorkingFacts]]:
        """List what a branch holds, without values; nothing of it counts as read. ``GET /sessions/{id}/working-variables``"""
        return self._call(_LIST, (session_id,), given)

    def iterate(self, session_id: str, **given: Unpack[WorkingVariablesListCall]) -> Iterator[WorkingFacts]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (session_id,), given)

    def read(self, session_id: str, name: str, **given: Unpack[WorkingVariablesReadCall]) -> WorkingPart:
        """Read a variable, whole or a slice of it. ``GET /sessions/{id}/working-variables/{variable}``"""
        return self._call(_READ, (session_id, name), given)

    def write(self, session_id: str, name: str, **given: Unpack[WorkingVariablesWriteCall]) -> WorkingFacts:
        """Write a variable as a person, or change what is given of it: 201 when that makes it, 200 when it was there.
        ``PUT /sessions/{id}/working-variables/{variable}``
        """
        return self._call(_WRITE, (session_id, name), given)

    def delete(self, session_id: str, name: str, **given: Unpack[WorkingVariablesDeleteCall]) -> Deleted:
        """Remove a variable; a skill rule stays. ``DELETE /sessions/{id}/working-variables/{variable}``"""
        return self._call(_DELETE, (session_id, name), given)


class AsyncWorkingVariablesResource(AsyncResource):
    """Long texts and values that agents work on."""

    async def list(self, session_id: str, **given: Unpack[WorkingVariablesListCall]) -> ListOf[Items[WorkingFacts]]:
        """List what a branch holds, without values; nothing of it counts as read. ``GET /sessions/{id}/working-variables``"""
        return await self._call(_LIST, (session_id,), given)

    def iterate(self, session_id: str, **given: Unpack[WorkingVariablesListCall]) -> AsyncIterator[WorkingFacts]:
        """All that ``list`` gives, part after part as they are needed."""
        return self._iterate(_LIST, (session_id,), given)

    async def read(self, session_id: str, name: str, **given: Unpack[WorkingVariablesReadCall]) -> WorkingPart:
        """Read a variable, whole or a slice of it. ``GET /sessions/{id}/working-variables/{variable}``"""
        return await self._call(_READ, (session_id, name), given)

    async def write(self, session_id: str, name: str, **given: Unpack[WorkingVariablesWriteCall]) -> WorkingFacts:
        """Write a variable as a person, or change what is given of it: 201 when that makes it, 200 when it was there.
        ``PUT /sessions/{id}/working-variables/{variable}``
        """
        return await self._call(_WRITE, (session_id, name), given)

    async def delete(self, session_id: str, name: str, **given: Unpack[WorkingVariablesDeleteCall]) -> Deleted:
        """Remove a variable; a skill rule stays. ``DELETE /sessions/{id}/working-variables/{variable}``"""
        return await self._call(_DELETE, (session_id, name), given)
