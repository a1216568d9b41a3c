"""The shapes of importing and exporting files: what comes beside a file, and what is said of it afterwards."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from agentui.assets.files.report import ImportReport
from agentui.chats.records import Session
from agentui.jsonio import Json
from agentui.library.records import AssetKind
from agentui.schemas.forms import NO_NUL, BranchId, Form, Id, QueryBool
from agentui.schemas.library import ExpectedRevision, Objects

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


class RegexImport(Form):
    """Regex scripts as JSON."""

    name: Title
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
class ImportedCharacter:
    """A character that was imported; ``session`` is the chat that was begun with it."""

    character_id: str
    character_version_id: str
    name: str
    content_hash: str
    session: Session | None
    report: ImportReport


@dataclass(frozen=True, slots=True)
class ImportedAsset:
    """A prompt preset, a worldbook or a regex profile that was imported."""

    id: str
    kind: AssetKind
    name: str
    version: int
    version_id: str
    content_hash: str
    report: ImportReport


@dataclass(frozen=True, slots=True)
class ImportedSession:
    """A chat that was imported as a session."""

    session_id: str
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


class ChatExportQuery(Form):
    """How a chat is written."""

    format: Literal["thchat", "st_jsonl"] = Field("thchat", description="thchat (JSON) or st_jsonl (SillyTavern's lines).")
    branch_id: BranchId | None = Field(
        None, description="The branch that is written alone; else all of them, and in SillyTavern's lines main."
    )
    include_variables: QueryBool = Field(True, description="Whether the variables of the chat's own tier go out too.")


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
