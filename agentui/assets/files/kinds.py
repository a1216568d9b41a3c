"""Which kind of thing a file holds, told from what is in it."""

from typing import Final, Literal, TypeAlias

from agentui.assets.files.cards import SPECS
from agentui.assets.files.charx import has_archive
from agentui.assets.files.chats import SPEC as CHAT_SPEC
from agentui.assets.files.limits import FileLimits, InvalidFile
from agentui.assets.files.pictures import refuse_other_pictures
from agentui.assets.files.png import SIGNATURE
from agentui.assets.values import members, text
from agentui.jsonio import InvalidJson, Json, loads

FileKind: TypeAlias = Literal["character", "preset", "worldbook", "regex", "chat"]

_OF_PRESETS: Final = frozenset(
    ("prompts", "prompt_order", "promptOrder", "temperature", "temp_openai", "openai_max_tokens", "openai_max_context")
)
_OF_GROUPS: Final = frozenset(("members", "chats", "chat_id"))
_OF_CARDS: Final = frozenset(("description", "first_mes", "personality", "mes_example"))


def kind_of_file(data: bytes, limits: FileLimits) -> FileKind:
    """The kind of a file. Raises InvalidFile where it is none that is known."""
    limits.check_size(data)
    stripped = data.removeprefix(b"\xef\xbb\xbf").strip()
    if data.startswith(SIGNATURE) or (has_archive(data) and not stripped.startswith((b"{", b"["))):
        return "character"
    refuse_other_pictures(data)
    if _is_lines(stripped):
        return "chat"
    return kind_of(limits.parse(stripped))


def _is_lines(data: bytes) -> bool:
    """True for more than one line, or for a chat's first one alone, each of them JSON."""
    first = data.partition(b"\n")[0]
    try:
        head = members(loads(first))
    except InvalidJson:
        return False
    is_header = "chat_metadata" in head or {"user_name", "character_name"} <= head.keys()
    return len(first) < len(data) or (is_header and "spec" not in head)


def kind_of(document: Json) -> FileKind:
    """The kind of a document. Raises InvalidFile where it is none that is known."""
    if isinstance(document, list):
        if document and all("findRegex" in members(item) for item in document):
            return "regex"
    elif isinstance(document, dict):
        found = _kind_of_object(document)
        if found is not None:
            return found
        if document.keys() >= _OF_GROUPS:
            raise InvalidFile("This is a group of SillyTavern's: there are none here. Import its chats (group chats/*.jsonl).")
    raise InvalidFile("This is no character card, worldbook, prompt preset, regex script or chat that is known.")


def _kind_of_object(document: dict[str, Json]) -> FileKind | None:
    spec = text(document.get("spec"))
    if spec in SPECS:
        return "character"
    if spec == CHAT_SPEC:
        return "chat"
    if "findRegex" in document or isinstance(document.get("scripts"), list):
        return "regex"
    if spec == "lorebook_v3" or "entries" in document or document.get("type") == "risu":
        return "worldbook"
    if _OF_PRESETS & document.keys():
        return "preset"
    is_card = "name" in document and _OF_CARDS & document.keys()
    return "character" if is_card or "name" in members(document.get("data")) else None
