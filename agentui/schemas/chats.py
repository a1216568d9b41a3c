"""The shapes of sessions, branches, floors, pages and messages over HTTP."""

from dataclasses import dataclass
from typing import Annotated, Literal, NotRequired

from pydantic import AfterValidator, Field, ValidationError, field_validator
from typing_extensions import TypedDict

from agentui.chats.conversations import ActiveRun, BatchResult
from agentui.chats.greetings import wrong_greeting
from agentui.chats.records import (
    MAIN,
    ContentFormat,
    FloorState,
    Message,
    PageKind,
    PromptMode,
    Role,
    SessionMemory,
    SessionStatus,
    SyncPolicy,
)
from agentui.chats.timeline import TimelineFloor
from agentui.jsonio import Json
from agentui.schemas.forms import (
    MAX_INTEGER,
    NO_NUL,
    BranchId,
    Count,
    Form,
    Id,
    Ids,
    Line,
    ListQuery,
    LongListQuery,
    Patch,
    QueryBool,
)
from agentui.schemas.live import SessionParams

Title = Annotated[str, Field(min_length=1, max_length=200), NO_NUL]
Version = Annotated[int, Field(ge=1, le=MAX_INTEGER)]
Checksum = Annotated[str, Field(max_length=200), NO_NUL]
Content = Annotated[str, Field(min_length=1), NO_NUL]
Source = Annotated[str, Field(max_length=200), NO_NUL]


def _known_in_range(params: dict[str, Json]) -> dict[str, Json]:
    """Parameters of which those that a turn understands are such as it may be asked with; all others are kept as they are."""
    try:
        return params | SessionParams.model_validate(params).given
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
        raise ValueError(f"{'/'.join(str(part) for part in fault['loc'])}: {fault['msg']}") from error


ModelParams = Annotated[dict[str, Json], AfterValidator(_known_in_range)]


class SessionFields(Form):
    """What can be said of a session."""

    name: Title | None = None
    title: Title | None = None
    character_id: Id | None = None
    character_version_id: Id | None = None
    character_sync_policy: SyncPolicy | None = None
    character_snapshot: dict[str, Json] | None = None
    user_id: Id | None = None
    user_snapshot: dict[str, Json] | None = None
    project_id: Id | None = None
    preset_id: Id | None = None
    regex_profile_id: Id | None = None
    worldbook_profile_id: Id | None = None
    deep_binding: bool | None = None
    preset_version_id: Id | None = None
    regex_profile_version_id: Id | None = None
    worldbook_version_id: Id | None = None
    model_provider: Line | None = None
    model_name: Line | None = None
    model_params: ModelParams | None = None
    prompt_mode: PromptMode | None = None
    assemble: bool | None = None
    pipeline_id: Id | None = None
    director_pipeline_id: Id | None = None
    verifier_pipeline_id: Id | None = None
    memory: SessionMemory | None = None
    metadata: dict[str, Json] | None = None

    @field_validator("character_snapshot", "user_snapshot")
    @classmethod
    def _has_name(cls, snapshot: dict[str, Json] | None) -> dict[str, Json] | None:
        if snapshot and not (isinstance(snapshot.get("name"), str) and snapshot["name"]):
            raise ValueError("a snapshot has a name")
        return snapshot

    @field_validator("character_snapshot")
    @classmethod
    def _greets_in_words(cls, snapshot: dict[str, Json] | None) -> dict[str, Json] | None:
        wrong = wrong_greeting(snapshot or {})
        if wrong is not None:
            raise ValueError(wrong)
        return snapshot


class NewSession(SessionFields):
    """A session to be made; everything is optional."""

    status: SessionStatus = "active"


class SessionPatch(Patch, SessionFields):
    """What to change of a session; at least one field."""

    status: SessionStatus = "active"


class CharacterSync(Form):
    """Whether a session whose policy is ``pin`` shall be brought up to date as well."""

    force: bool = False


class SessionQuery(LongListQuery):
    """Which sessions."""

    status: SessionStatus | None = Field(None, description="active or archived.")
    keyword: Title | None = Field(None, description="A part of the title, in any case.")
    name: Title | None = Field(None, description="The name by which callers know it, as a whole.")
    sort_by: Literal["created_at", "updated_at"] = Field("created_at", description="created_at or updated_at.")


class StatusBatch(Form):
    """Sessions and the status that they get."""

    ids: Ids
    status: SessionStatus


class TimelineQuery(Form):
    """Which part of which branch's timeline."""

    branch_id: BranchId = Field(MAIN, description="The branch; main unless said otherwise.")
    limit: int = Field(50, ge=1, le=200, description="Most floors in the answer, at most 200.")
    offset: int = Field(0, ge=0, le=10**12, description="How many floors to pass over.")
    include_ancestors: QueryBool = Field(False, description="true adds the floors before the fork.")


class BranchQuery(Form):
    """A branch, or any."""

    branch_id: BranchId | None = Field(None, description="Only this branch.")


@dataclass(frozen=True, slots=True)
class StatusMeta:
    """How a batch went."""

    total: int
    updated: int
    not_found: int
    status: SessionStatus


@dataclass(frozen=True, slots=True)
class StatusResults:
    """What became of every session of a batch."""

    results: list[BatchResult]
    meta: StatusMeta


@dataclass(frozen=True, slots=True)
class SessionScope:
    """Where a session belongs."""

    session_id: str
    account_id: str
    workspace_id: str
    project_id: str


@dataclass(frozen=True, slots=True)
class SessionRun:
    """Whether a session generates right now."""

    session_id: str
    active_run: ActiveRun | None


@dataclass(frozen=True, slots=True)
class Timeline:
    """The committed floors of a branch."""

    session_id: str
    branch_id: str
    floors: list[TimelineFloor]


class BranchListQuery(ListQuery):
    """Which branches."""

    sort_by: Literal["updated_at", "branch_id", "floor_count", "latest_floor_no"] = Field(
        "updated_at", description="updated_at, branch_id, floor_count or latest_floor_no."
    )


class DiffQuery(Form):
    """Which two branches to compare."""

    base_branch_id: BranchId = Field(MAIN, description="The branch to compare with; main unless said otherwise.")
    target_branch_id: BranchId = Field(description="The branch to compare; required.")


class NewBranch(Form):
    """A branch to be made; without a name it gets one."""

    branch_id: BranchId | None = None


class Reset(Form):
    """Where a branch shall end. ``expected_head_floor_id``: refuse if the branch has moved on."""

    target_floor_id: Id
    expected_head_floor_id: Id | None = None


class MergeQuestion(Form):
    """Where a branch might be merged into."""

    target_branch_id: BranchId = MAIN


class Merge(MergeQuestion):
    """Where a branch shall be merged into. ``expected_target_head_floor_id``: refuse if the target has moved on."""

    expected_target_head_floor_id: Id | None = None


class SessionOfBranch(Form):
    """The session that a branch belongs to."""

    session_id: Id | None = Field(None, description="The session; needed where several have a branch of this name.")


@dataclass(frozen=True, slots=True)
class DeletedBranch:
    """A branch that is gone, with its floors."""

    id: str
    branch_id: str
    session_id: str
    deleted_floor_ids: list[str]
    deleted_floor_count: int
    deleted: Literal[True] = True


class NewFloorForm(Form):
    """A floor to be made."""

    session_id: Id
    floor_no: Count
    branch_id: BranchId = MAIN
    parent_floor_id: Id | None = None
    state: FloorState = "draft"
    token_in: Count = 0
    token_out: Count = 0


class FloorPatch(Patch):
    """Where a floor shall stand; at least one field."""

    floor_no: Count = 0
    branch_id: BranchId = MAIN
    parent_floor_id: Id | None = None


class FloorQuery(LongListQuery):
    """Which floors."""

    session_id: Id | None = Field(None, description="Only floors of this session.")
    branch_id: BranchId | None = Field(None, description="Only floors of branches of this name.")
    state: FloorState | None = Field(None, description="draft, generating, committed or failed.")
    sort_by: Literal["created_at", "updated_at", "floor_no"] = Field(
        "created_at", description="created_at, updated_at or floor_no."
    )


class NewPageForm(Form):
    """A page to be made; the first version of a page number is the active one."""

    floor_id: Id
    page_no: Count
    page_kind: PageKind
    version: Version = 1
    checksum: Checksum | None = None


class PagePatch(Patch):
    """What to change of a page; at least one field."""

    page_no: Count = 0
    page_kind: PageKind = "mixed"
    version: Version = 1
    checksum: Checksum | None = None


class PageQuery(ListQuery):
    """Which pages."""

    floor_id: Id | None = Field(None, description="Only pages of this floor.")
    page_kind: PageKind | None = Field(None, description="input, output or mixed.")
    is_active: QueryBool | None = Field(None, description="true or false.")
    sort_by: Literal["created_at", "updated_at", "page_no", "version"] = Field(
        "created_at", description="created_at, updated_at, page_no or version."
    )


class NewMessageForm(Form):
    """A message to be written."""

    page_id: Id
    seq: Count
    role: Role
    content: Content
    content_format: ContentFormat = "text"
    token_count: Count = 0
    is_hidden: bool = False
    source: Source | None = None


class MessagePatch(Patch):
    """What to change of a message; at least one field."""

    seq: Count = 0
    role: Role = "user"
    content: Content = "-"
    content_format: ContentFormat = "text"
    token_count: Count = 0
    is_hidden: bool = False
    source: Source | None = None


class MessageQuery(ListQuery):
    """Which messages."""

    page_id: Id | None = Field(None, description="Only messages of this page.")
    floor_id: Id | None = Field(None, description="Only messages of this floor.")
    session_id: Id | None = Field(None, description="Only messages of this session's live floors.")
    role: Role | None = Field(None, description="user, assistant, system or narrator.")
    is_hidden: QueryBool | None = Field(None, description="true or false.")
    sort_by: Literal["created_at", "seq"] = Field("created_at", description="created_at or seq.")


class VisibilityBatch(Form):
    """Messages, and whether they shall be hidden."""

    ids: Ids
    is_hidden: bool


@dataclass(frozen=True, slots=True)
class VisibilityMeta:
    """How a batch went."""

    total: int
    updated: int
    not_found: int
    is_hidden: bool


class VisibilityResult(TypedDict):
    """What became of one message; ``data`` is there of those that were found, as long as they are not too large together."""

    index: int
    id: str
    action: Literal["updated", "not_found"]
    data: NotRequired[Message]


@dataclass(frozen=True, slots=True)
class VisibilityResults:
    """What became of every message of a batch."""

    results: list[VisibilityResult]
    meta: VisibilityMeta
