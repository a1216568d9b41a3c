"""What is kept, as values: sessions, branches, floors, pages and messages, with the names that the API uses."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sqlalchemy import Row

from agentui.jsonio import Json, loads

MAIN = "main"
"""The branch that every session has from its start."""

SessionStatus: TypeAlias = Literal["active", "archived"]
FloorState: TypeAlias = Literal["draft", "generating", "committed", "failed"]
PageKind: TypeAlias = Literal["input", "output", "mixed"]
Role: TypeAlias = Literal["user", "assistant", "system", "narrator"]
ContentFormat: TypeAlias = Literal["text", "markdown", "json"]
RunStatus: TypeAlias = Literal["running", "completed", "failed", "cancelled"]
PromptMode: TypeAlias = Literal["compat_strict", "compat_plus", "native"]
SessionMemory: TypeAlias = Literal["on", "off", "incognito"]
"""What a session says of memories: that it writes and reads them, that it does neither, or that it writes none and reads what
is pinned to it alone."""
SyncPolicy: TypeAlias = Literal["pin", "manual", "force"]

AnyRow: TypeAlias = Row[Any]


@dataclass(frozen=True, slots=True)
class CharacterBinding:
    """The character that a session was given."""

    character_id: str | None = None
    character_version_id: str | None = None
    sync_policy: SyncPolicy = "pin"
    snapshot_summary: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class UserBinding:
    """The user that a session was given."""

    user_id: str | None = None
    snapshot_summary: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation. ``name`` is the caller's own name for it; the ids of other things are kept as they were given."""

    id: str
    name: str | None
    title: str | None
    status: SessionStatus
    character_binding: CharacterBinding | None
    user_binding: UserBinding | None
    project_id: str | None
    preset_id: str | None
    regex_profile_id: str | None
    worldbook_profile_id: str | None
    deep_binding: bool
    preset_version_id: str | None
    regex_profile_version_id: str | None
    worldbook_version_id: str | None
    model_provider: str | None
    model_name: str | None
    model_params: Mapping[str, Json] | None
    prompt_mode: PromptMode | None
    assemble: bool
    pipeline_id: str | None
    director_pipeline_id: str | None
    verifier_pipeline_id: str | None
    memory: SessionMemory | None
    metadata: Mapping[str, Json]
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class Branch:
    """A line of a session, as the registry knows it; ``source`` is where it was forked."""

    session_id: str
    branch_id: str
    source_floor_id: str | None
    source_branch_id: str | None
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class Floor:
    """One turn: what came in and what went out."""

    id: str
    session_id: str
    floor_no: int
    branch_id: str
    parent_floor_id: str | None
    state: FloorState
    token_in: int
    token_out: int
    created_at: int
    superseded_at: int | None
    superseded_by_floor_id: str | None
    updated_at: int


@dataclass(frozen=True, slots=True)
class Page:
    """One version of one page of a floor; of each page number at most one version is active."""

    id: str
    floor_id: str
    page_no: int
    page_kind: PageKind
    is_active: bool
    is_partial: bool
    version: int
    checksum: str | None
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class Message:
    """One message on a page. ``parts`` are all its parts where the content is not all there is (chats/parts.py)."""

    id: str
    page_id: str
    seq: int
    role: Role
    content: str
    content_format: ContentFormat
    token_count: int
    is_hidden: bool
    source: str | None
    created_at: int
    parts: list[Json] | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """What the model call of a floor is doing, or how it ended."""

    floor_id: str
    run_id: str
    run_type: str
    status: RunStatus
    phase: str
    public_phase: str
    phase_seq: int
    started_at: int
    updated_at: int
    completed_at: int | None
    error: Json = None
    attempt_no: int = 1
    pending_output: Json = None
    verifier: Json = None


_PHASES: Mapping[str, tuple[str, str, int]] = {
    "running": ("page_generating", "generating", 5),
    "completed": ("post_commit_scheduled", "post_processing", 13),
    "failed": ("page_generating", "generating", 5),
    "cancelled": ("page_generating", "generating", 5),
}
"""Phase, public phase and its number by a run's status: what is written are a run's start and its end."""


def session_of(row: AnyRow) -> Session:
    """A row of ``sessions``; what is bound is spread over the fields."""
    bindings = loads(row.bindings_json)
    character, user = bindings.pop("character_binding", None), bindings.pop("user_binding", None)
    known = {name: bindings.get(name) for name in BOUND}
    known["deep_binding"] = bool(known["deep_binding"])
    known["assemble"] = bool(known["assemble"])
    return Session(
        id=row.id,
        name=row.name,
        title=row.title,
        status=row.status,
        character_binding=CharacterBinding(**character) if character is not None else None,
        user_binding=UserBinding(**user) if user is not None else None,
        memory=row.memory,
        metadata=loads(row.metadata_json),
        created_at=row.created_at,
        updated_at=row.updated_at,
        **known,
    )


BOUND = (
    "project_id",
    "preset_id",
    "regex_profile_id",
    "worldbook_profile_id",
    "deep_binding",
    "preset_version_id",
    "regex_profile_version_id",
    "worldbook_version_id",
    "model_provider",
    "model_name",
    "model_params",
    "prompt_mode",
    "assemble",
    "pipeline_id",
    "director_pipeline_id",
    "verifier_pipeline_id",
)
"""The optional fields that are kept as they come, in ``bindings_json``."""


def branch_of(row: AnyRow) -> Branch:
    """A row of ``branches``."""
    return Branch(row.session_id, row.branch_id, row.source_floor_id, row.source_branch_id, row.created_at, row.updated_at)


def floor_of(row: AnyRow) -> Floor:
    """A row of ``floors``."""
    return Floor(
        id=row.id,
        session_id=row.session_id,
        floor_no=row.floor_no,
        branch_id=row.branch_id,
        parent_floor_id=row.parent_floor_id,
        state=row.state,
        token_in=row.token_in,
        token_out=row.token_out,
        created_at=row.created_at,
        superseded_at=row.superseded_at,
        superseded_by_floor_id=row.superseded_by_floor_id,
        updated_at=row.updated_at,
    )


def page_of(row: AnyRow) -> Page:
    """A row of ``pages``."""
    return Page(
        id=row.id,
        floor_id=row.floor_id,
        page_no=row.page_no,
        page_kind=row.page_kind,
        is_active=row.is_active,
        is_partial=row.is_partial,
        version=row.version,
        checksum=row.checksum,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def message_of(row: AnyRow) -> Message:
    """A row of ``messages``."""
    return Message(
        id=row.id,
        page_id=row.page_id,
        seq=row.seq,
        role=row.role,
        content=row.content,
        content_format=row.content_format,
        token_count=row.token_count,
        is_hidden=row.is_hidden,
        source=row.source,
        created_at=row.created_at,
        parts=shown_parts(row),
    )


def shown_parts(row: AnyRow) -> list[Json] | None:
    """The parts of a row of ``messages``; None where its content is all there is."""
    parts: list[Json] | None = None if row.parts_json is None else loads(row.parts_json)
    return parts


def run_of(row: AnyRow) -> Run:
    """A row of ``runs``."""
    phase, public_phase, number = _PHASES[row.status]
    return Run(
        floor_id=row.floor_id,
        run_id=row.run_id,
        run_type=row.run_type,
        status=row.status,
        phase=phase,
        public_phase=public_phase,
        phase_seq=number,
        started_at=row.started_at,
        updated_at=row.updated_at,
        completed_at=row.completed_at,
        error=loads(row.error_json) if row.error_json is not None else None,
    )
