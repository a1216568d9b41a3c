"""What the server speaks of: library, common."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.endpoints import Json


class Asset(TypedDict):
    """An asset without its content. ``revision`` counts every change from 0, ``version`` is the number of its newest
    content (``version_id``), from 1; ``image`` is the hash of its picture.
    """

    id: str
    name: str
    source: str
    status: Literal["active", "disabled", "deleted"]
    revision: int
    version: int
    version_id: str
    content_hash: str
    image: str | None
    tags: list[str]
    created_at: int
    updated_at: int
    deleted_at: int | None


class AssetDetail(TypedDict):
    """A worldbook, a prompt preset or a regex profile with its content."""

    id: str
    name: str
    source: str
    status: Literal["active", "disabled", "deleted"]
    revision: int
    version: int
    version_id: str
    content_hash: str
    image: str | None
    tags: list[str]
    created_at: int
    updated_at: int
    deleted_at: int | None
    data: Json


class AssetPatch(TypedDict):
    """The tags that an asset shall have."""

    expected_revision: NotRequired[int | None]
    tags: list[str]


class AssetVersion(TypedDict):
    """What an asset was at some time. ``snapshot`` is its content, ``origin`` what its file held beside it."""

    id: str
    asset_id: str
    kind: Literal["character", "user", "preset", "worldbook", "regex"]
    version_no: int
    content_hash: str
    image: str | None
    origin: Json
    snapshot: Json
    created_at: int


class ChatTransferJob(TypedDict):
    """A chat that comes in or goes out in the background. Moments are milliseconds since 1970; ``available_at`` is
    when it may be tried (again). The ``format`` of an import is known once its file was read. ``result`` is that of
    an import, ``file`` that of an export, as long as it is kept. ``phase``, ``request``, ``last_error`` and the
    progress say the same as the other members by the contract's names; paths and leases are null: files are in the
    database, and one process has a job.
    """

    id: str
    job_id: str
    job_kind: Literal["import_chat", "export_chat"]
    status: Literal["pending", "leased", "running", "retry_waiting", "succeeded", "dead_letter", "cancelled"]
    format: Literal["thchat", "st_jsonl"] | None
    requested_session_id: str | None
    result_session_id: str | None
    attempt_count: int
    max_attempts: int
    phase: Literal["queued", "parsing", "snapshotting", "completed"]
    request: dict[str, Json]
    input_artifact_path: None
    normalized_artifact_path: None
    output_artifact_path: None
    output_expires_at: int | None
    progress_current: int
    progress_total: int
    progress_message: str | None
    lease_owner: None
    lease_until: None
    last_error: str | None
    result: JobResult | None
    error: JobError | None
    file: JobFile | None
    available_at: int
    created_at: int
    updated_at: int
    started_at: int | None
    finished_at: int | None


class Compare(TypedDict):
    """Which two versions to compare; ``full`` tells the values as well."""

    left_version_id: str
    right_version_id: str
    mode: NotRequired[Literal["summary", "full"]]


class EntriesDeleted(TypedDict):
    """How a batch of removals went."""

    total: int
    deleted: int
    not_found: int


class EntriesUpdated(TypedDict):
    """How a batch of changes went."""

    total: int
    updated: int
    not_found: int


class ExpectedRevision(TypedDict):
    """What the caller thinks that the asset is like; a change of anything else is refused."""

    expected_revision: NotRequired[int | None]


class ExpectedVersion(TypedDict):
    """What the caller thinks that the asset is like; a change of anything else is refused."""

    expected_version: NotRequired[int | None]
    expected_updated_at: NotRequired[int | None]


class ImportReport(TypedDict):
    """The account of one file. ``format`` is what it was recognised as. Fields are named as in the file, with ``[]``
    for each member of a list: ``ignored_fields`` are kept and written again, but nothing here reads them;
    ``unsupported_fields`` ask for something that this server does not do. ``downgraded_entries`` were taken
    otherwise than they say. ``dropped_fields`` held secrets or addresses of a provider and are not kept.
    ``scripts_waiting`` counts the regex scripts that run only when they are allowed.
    """

    format: str
    read: NotRequired[dict[str, int]]
    ignored_fields: NotRequired[list[str]]
    unsupported_fields: NotRequired[list[str]]
    downgraded_entries: NotRequired[list[str]]
    unresolved_markers: NotRequired[list[str]]
    selected_track: NotRequired[int | str | None]
    ignored_tracks: NotRequired[list[int | str]]
    dropped_fields: NotRequired[list[str]]
    scripts_waiting: NotRequired[int]
    warnings: NotRequired[list[str]]


class JobError(TypedDict):
    """Why the last attempt failed, as the route that does the same at once would say it."""

    code: str
    message: str
    details: Json


class JobFile(TypedDict):
    """The file of an export: its name, its media type, its bytes, and until when (milliseconds since 1970) it is kept."""

    name: str
    content_type: str
    size: int
    expires_at: int


class JobResult(TypedDict):
    """What a job came to. The names in camel case are the contract's (spec: tavern-api-2 part 7.4); the others are
    those of the route that imports at once, null of an export.
    """

    sessionId: str | None
    format: Literal["thchat", "st_jsonl"] | None
    fileName: str | None
    contentType: str | None
    messageCount: int | None
    byteLength: int | None
    session_id: NotRequired[str | None]
    floor_count: NotRequired[int | None]
    page_count: NotRequired[int | None]
    message_count: NotRequired[int | None]
    variable_count: NotRequired[int | None]
    report: NotRequired[ImportReport | None]


class PresetEntry(TypedDict):
    """One prompt. ``enabled``: the order that counts switches it on. What it does not say is null."""

    identifier: str
    name: str
    role: Literal["system", "user", "assistant"]
    content: str
    system_prompt: bool
    marker: bool
    injection_position: int
    injection_depth: int | None
    injection_order: int | None
    forbid_overrides: bool | None
    injection_trigger: Json
    enabled: bool
    extra: dict[str, Json]


class RolledBack(TypedDict):
    """An asset that is again as it was."""

    id: str
    name: str
    source: str
    status: Literal["active", "disabled", "deleted"]
    revision: int
    version: int
    version_id: str
    content_hash: str
    image: str | None
    tags: list[str]
    created_at: int
    updated_at: int
    deleted_at: int | None
    rolled_back_from_version_id: str


class ScriptConsent(TypedDict):
    """Whether the regex scripts inside a character or a prompt preset run."""

    expected_revision: NotRequired[int | None]
    allowed: bool


class ScriptsAllowed(TypedDict):
    """Whether the regex scripts inside a version of an asset run, and how many there are."""

    id: str
    version: int
    version_id: str
    scripts: int
    allowed: bool


class VersionComparison(TypedDict):
    """What two versions differ in."""

    asset_id: str
    kind: Literal["character", "user", "preset", "worldbook", "regex"]
    left_version_id: str
    right_version_id: str
    diff: VersionDifference


class VersionDifference(TypedDict):
    """What two contents differ in. ``is_cut``: there are more changes than those told."""

    added: int
    removed: int
    changed: int
    changes: list[VersionsChange]
    is_cut: bool


class VersionsChange(TypedDict):
    """One difference: at ``path`` (names joined by ``/``, of each its first 60 characters; the objects of a list by
    their identifier) there is something else. ``left`` and ``right`` are the values; null where there is none, and
    in a summary.
    """

    path: str
    change: Literal["added", "removed", "changed"]
    left: NotRequired[Json]
    right: NotRequired[Json]
