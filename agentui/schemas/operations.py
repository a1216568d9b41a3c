"""The shapes of the operation log over HTTP."""

from typing import Annotated, Final

from pydantic import Field

from agentui.chats.listing import Paging
from agentui.operations.operation import ActorType, OperationStatus, Result
from agentui.schemas.forms import NO_NUL, LongListQuery

Word = Annotated[str, Field(min_length=1, max_length=256), NO_NUL]


MOST: Final = 2**62


class OperationsQuery(LongListQuery):
    """Which entries, wherever they are asked for: those that hold all that is named."""

    start: int = Field(0, ge=0, le=MOST, description="Only what was done from this time on, in milliseconds since 1970.")
    end: int = Field(MOST, ge=0, le=MOST, description="Only what was done before this time.")
    workspace_id: Word | None = Field(None, description="Only those of this workspace.")
    project_id: Word | None = Field(None, description="Only those of this project.")
    actor_account_id: Word | None = Field(None, description="Only what was done in the name of this account.")
    actor_client_id: Word | None = Field(None, description="Only what was done by this client.")
    actor_type: ActorType | None = Field(None, description="account, client, llm or system: only what such a one did.")
    permission_action: Word | None = Field(None, description="Only what needed this right.")
    result: Result | None = Field(None, description="allowed or denied: only that.")
    status: OperationStatus | None = Field(None, description="succeeded, failed, denied or cancelled: only those.")
    action: Word | None = Field(None, description="Only this action.")
    run_id: Word | None = Field(None, description="Only what this run did.")
    target_type: Word | None = Field(None, description="Only what was done to such a thing.")
    target_id: Word | None = Field(None, description="Only what was done to this thing.")
    operation_group_id: Word | None = Field(None, description="Only what was done together.")
    request_id: Word | None = Field(None, description="Only what this request did.")

    @property
    def paging(self) -> Paging:
        """The part of the list, by the time when entries were made."""
        return Paging(self.limit, self.offset, "created_at", self.sort_order)

    @property
    def wanted(self) -> dict[str, str | None]:
        """The values of the columns."""
        return {name: getattr(self, name) for name in type(self).model_fields if name not in _NO_COLUMNS}


_NO_COLUMNS: Final = {*LongListQuery.model_fields, "account", "start", "end"}


class FloorOperationQuery(OperationsQuery):
    """Which entries of a floor."""

    session_id: Word | None = Field(None, description="Only what was done to this session or below it.")


class SessionOperationQuery(OperationsQuery):
    """Which entries of a session."""

    floor_id: Word | None = Field(None, description="Only what was done to this floor.")


class OperationQuery(SessionOperationQuery):
    """Which entries of an account, or of all."""

    account: Word | None = Field(None, description="The account, for admins: another's, or * for all; unset: one's own.")
    session_id: Word | None = Field(None, description="Only what was done to this session or below it.")
