"""The shapes of importing and exporting files: what comes beside a file, and what is said of it afterwards."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from agentui.assets.files.chat_files import ChatFormat
from agentui.assets.files.report import ImportReport
from agentui.assets.files.scripts import ScriptCompatibility
from agentui.chats.records import Session
from agentui.jsonio import Json
from agentui.library.chat_jobs import JobFilter, JobKind, JobStatus
from agentui.library.records import AssetKind
from agentui.schemas.forms import NO_NUL, BranchId, Form, Id, ListQuery, QueryBool
from agentui.schemas.library import ExpectedRevision, Moment, Objects

Title = Annotated[str, Field(min_length=1, max_length=200), NO_NUL]


class CharacterOptions(Form):
    """What to do with a card beside keeping it; ``title`` is that of the session."""

    create_session: bool = True
    title: Title | None = None


class CharacterImport(CharacterOptions):
    """A character card as JSON."""

    payload: dict[str, Json]


class NameOption(Form):
    """The name of what is imported; without it that of the file counts."""

    name: Annotated[str, Field(max_length=200), NO_NUL] = ""


class DataImport(NameOption):
    """A prompt preset or a worldbook as JSON."""

    data: dict[str, Json]


class RegexImport(NameOption):
    """Regex scripts as JSON."""

    data: Objects


class ChatOptions(Form):
    """The character that an imported chat is bound to, and the title of its session."""

    character_id: Id | None = None
    title: Title | None = None


class ChatImport(ChatOptions):
    """A chat as the text of its file."""

    data: Annotated[str, Field(min_length=1)]


class AutoImport(NameOption):
    """The JSON of a file of any kind."""

    data: Json


@dataclass(frozen=True, slots=True)
class CardSummary:
    """What a card says of its character."""

    name: str
    description: str
    personality: str
    scenario: str
    first_mes: str
    mes_example: str


@dataclass(frozen=True, slots=True)
class ImportedCharacter:
    """A character that was imported; ``session`` is the chat that was begun with it."""

    create_session: bool
    character: CardSummary
    character_id: str
    character_version_id: str
    name: str
    content_hash: str
    session: Session | None
    report: ImportReport


@dataclass(frozen=True, slots=True)
class ImportedAsset:
    """A prompt preset, a worldbook or a regex profile that was imported; of scripts also how many there are, and which run."""

    id: str
    kind: AssetKind
    name: str
    version: int
    version_id: str
    content_hash: str
    source: str
    script_count: int | None
    compat_report: ScriptCompatibility | None
    report: ImportReport


@dataclass(frozen=True, slots=True)
class ImportedSession:
    """A chat that was imported as a session. ``swipe_count`` are further versions of answers."""

    session_id: str
    title: str | None
    format: Literal["thchat", "sillytavern_jsonl"]
    import_source: Literal["tavern_headless", "sillytavern"]
    skipped_lines: int
    swipe_count: int
    memory_item_count: int
    memory_edge_count: int
    session: Session
    floor_count: int
    page_count: int
    message_count: int
    variable_count: int
    report: ImportReport


@dataclass(frozen=True, slots=True)
class AutoImported:
    """What a file was recognised as, with the answer of the route of that kind."""

    kind: Literal["character", "preset", "worldbook", "regex", "chat"]
    result: ImportedCharacter | ImportedAsset | ImportedSession


class CharacterExportQuery(Form):
    """How a character is written."""

    format: Literal["v2", "v3", "png", "charx"] = Field("v3", description="v2, v3 (JSON), png or charx.")
    version_id: Id | None = Field(None, description="The version of the character; else the newest.")
    embed_worldbook: QueryBool = Field(
        False,
        description="Whether the worldbook that the card names (extensions.world) becomes its character_book.",
    )


class ExportQuery(Form):
    """Which version is written."""

    version_id: Id | None = Field(None, description="The version; else the newest.")


class ChatExportForm(Form):
    """How a chat is written."""

    format: ChatFormat = Field("thchat", description="thchat (JSON) or st_jsonl (SillyTavern's lines).")
    branch_id: BranchId | None = Field(
        None, description="The branch that is written alone; else all of them, and in SillyTavern's lines main."
    )
    include_variables: bool = Field(True, description="Whether the variables of the chat's own tier go out too.")


class ChatExportQuery(ChatExportForm):
    """How a chat is written, as a query."""

    include_variables: QueryBool = Field(True, description="Whether the variables of the chat's own tier go out too.")


class ChatJobsQuery(ListQuery):
    """Which chats that come in or go out in the background."""

    sort_by: Literal["created_at", "updated_at", "available_at"] = Field(
        "created_at", description="What the list is sorted by."
    )
    job_kind: JobKind | None = Field(None, description="import_chat or export_chat.")
    status: JobStatus | None = Field(None, description="In this state.")
    format: ChatFormat | Literal["sillytavern_jsonl"] | None = Field(
        None, description="thchat or st_jsonl, which may be called sillytavern_jsonl."
    )
    requested_session_id: Id | None = Field(None, description="Exports of this session.")
    result_session_id: Id | None = Field(None, description="The import that made this session.")
    created_from: Moment | None = Field(None, description="Made then or later, in milliseconds since 1970.")
    created_to: Moment | None = Field(None, description="Made then or before.")
    available_from: Moment | None = Field(None, description="To be tried then or later.")
    available_to: Moment | None = Field(None, description="To be tried then or before.")

    @property
    def wanted(self) -> JobFilter:
        """The jobs that are meant."""
        return JobFilter(
            job_kind=self.job_kind,
            status=self.status,
            format="st_jsonl" if self.format == "sillytavern_jsonl" else self.format,
            requested_session_id=self.requested_session_id,
            result_session_id=self.result_session_id,
            created_from=self.created_from,
            created_to=self.created_to,
            available_from=self.available_from,
            available_to=self.available_to,
        )


class ScriptConsent(ExpectedRevision):
    """Whether the regex scripts inside a character or a prompt preset run."""

    allowed: bool


@dataclass(frozen=True, slots=True)
class ScriptsAllowed:
    """Whether the regex scripts inside a version of an asset run, and how many there are."""

    id: str
    version: int
    version_id: str
    scripts: int
    allowed: bool
