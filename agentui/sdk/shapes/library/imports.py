"""What the server speaks of: library, imports."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.endpoints import Json
from agentui.sdk.shapes.common import Session
from agentui.sdk.shapes.library.common import ImportReport


class AutoImport(TypedDict):
    """The JSON of a file of any kind."""

    name: NotRequired[str]
    data: NotRequired[Json]


class AutoImported(TypedDict):
    """What a file was recognised as, with the answer of the route of that kind."""

    kind: Literal["character", "preset", "worldbook", "regex", "chat"]
    result: ImportedCharacter | ImportedAsset | ImportedSession


class CardSummary(TypedDict):
    """What a card says of its character."""

    name: str
    description: str
    personality: str
    scenario: str
    first_mes: str
    mes_example: str


class CharacterImport(TypedDict):
    """A character card as JSON."""

    create_session: NotRequired[bool]
    title: NotRequired[str | None]
    payload: NotRequired[dict[str, Json]]


class ChatImport(TypedDict):
    """A chat as the text of its file."""

    character_id: NotRequired[str | None]
    title: NotRequired[str | None]
    data: NotRequired[str]


class ConvertedPipeline(TypedDict):
    """A document, which may have problems of its own, and what became of the file."""

    document: dict[str, Json]
    report: HadTavernReport


class DataImport(TypedDict):
    """A prompt preset or a worldbook as JSON."""

    name: NotRequired[str]
    data: NotRequired[dict[str, Json]]


class HadTavernReport(TypedDict):
    """The account of one file: which form it has, how much was read, and what could not be converted."""

    format: Literal["drawflow", "pipeline"]
    nodes: NotRequired[int]
    edges: NotRequired[int]
    notes: NotRequired[list[ImportNote]]
    more: NotRequired[int]


class ImportNote(TypedDict):
    """What became of something that was not taken as it stood; ``node`` is an id of the document, ``field`` a path in
    it.
    """

    message: str
    kind: Literal["changed", "kept", "dropped", "unknown"]
    node: NotRequired[str | None]
    field: NotRequired[str | None]


class ImportedAsset(TypedDict):
    """A prompt preset, a worldbook or a regex profile that was imported; of scripts also how many there are, and which
    run.
    """

    id: str
    kind: Literal["character", "user", "preset", "worldbook", "regex"]
    name: str
    version: int
    version_id: str
    content_hash: str
    source: str
    script_count: int | None
    compat_report: ScriptCompatibility | None
    report: ImportReport


class ImportedCharacter(TypedDict):
    """A character that was imported; ``session`` is the chat that was begun with it."""

    create_session: bool
    character: CardSummary
    character_id: str
    character_version_id: str
    name: str
    content_hash: str
    session: Session | None
    report: ImportReport


class ImportedSession(TypedDict):
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


class RegexImport(TypedDict):
    """Regex scripts as JSON."""

    name: NotRequired[str]
    data: NotRequired[list[dict[str, Json]]]


class ScriptCompatibility(TypedDict):
    """Which scripts of a profile run, and on which texts (spec: tavern-api-2 part 7.1, with the placements that run
    here: what the user says, what the model answers, and lore).
    """

    stored_count: int
    prompt_executable_count: int
    persist_executable_count: int
    display_only_count: int
    retained_non_executable_count: int
    reserved_world_info_count: int
    unsupported_runtime_count: int
    contains_prompt_only: bool
    contains_run_on_edit: bool
    contains_reasoning: bool
    contains_slash_command: bool
