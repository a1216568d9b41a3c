"""What a version holds: SillyTavern's own JSON, whole, as it is written; and what is wrong with what is none."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, TypeAlias

from agentui.assets.lorebook import key_characters
from agentui.assets.script import pattern_characters, too_many_patterns
from agentui.jsonio import Json, dumps_text
from agentui.library.records import AssetKind

Content: TypeAlias = dict[str, Any]
"""The JSON object of a version, parsed."""

MAX_CONTENT: Final = 16 * 1024 * 1024
"""The largest content of an asset that is written through the API, in bytes."""
MAX_NAME: Final = 200
"""The characters of an asset's name."""
MAX_TAGS: Final = 100
MAX_TAG: Final = 100
"""The characters of a tag."""
UNNAMED: Final = "Unnamed"
NAMED_BY_CONTENT: Final[frozenset[AssetKind]] = frozenset({"character", "user"})
"""The kinds whose content says what they are called."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A content as it is written, with its hash, and what came along with it in its file."""

    text: str
    hash: str
    origin_text: str | None = None
    image: bytes | None = None
    image_hash: str | None = None
    files: bytes | None = None
    files_hash: str | None = None


def packed(
    content: Mapping[str, Json],
    origin: Mapping[str, Json] | None = None,
    image: bytes | None = None,
    files: bytes | None = None,
) -> Packed:
    """A content with its origin, its picture and an archive of other files, made ready to be written; what is long takes a
    while."""
    text = dumps_text(content)
    return Packed(
        text,
        sha256(text.encode()).hexdigest(),
        None if origin is None else dumps_text(origin),
        image,
        None if image is None else sha256(image).hexdigest(),
        files,
        None if files is None else sha256(files).hexdigest(),
    )


def name_of(value: Json, default: str = UNNAMED) -> str:
    """What an asset is called after a name out of a file: one line, no NUL, at most MAX_NAME characters."""
    said = " ".join(value.replace("\0", " ").split()) if isinstance(value, str) else ""
    return said[:MAX_NAME].rstrip() or default


def tags_of_card(card: Mapping[str, Json]) -> list[str]:
    """The tags that a card names itself, as far as they may be tags here."""
    said = card.get("tags")
    words = [name_of(tag, "")[:MAX_TAG] for tag in said if isinstance(tag, str)] if isinstance(said, list) else []
    return [word for word in dict.fromkeys(words) if word][:MAX_TAGS]


def wrong_content(kind: AssetKind, content: Mapping[str, Json]) -> str | None:
    """What is wrong with a content so that nothing could be made of it; None where it may be kept."""
    return _WRONG[kind](content)


def _wrong_named(content: Mapping[str, Json]) -> str | None:
    name = content.get("name")
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME or "\0" in name:
        return f"name is a text of 1 to {MAX_NAME} characters"
    return None


def _wrong_preset(content: Mapping[str, Json]) -> str | None:
    prompts = content.get("prompts", [])
    if not isinstance(prompts, list) or not all(
        isinstance(prompt, dict) and isinstance(prompt.get("identifier"), str) and prompt["identifier"] for prompt in prompts
    ):
        return "prompts is a list of objects, each with an identifier"
    if len({prompt["identifier"] for prompt in prompts}) != len(prompts):
        return "every prompt has an identifier of its own"
    tracks = content.get("prompt_order", [])
    if not isinstance(tracks, list) or not all(
        isinstance(track, dict)
        and isinstance(track.get("order"), list)
        and all(isinstance(place, dict) and isinstance(place.get("identifier"), str) for place in track["order"])
        for track in tracks
    ):
        return "prompt_order is a list of objects, each with an order of identifiers"
    return None


def _wrong_worldbook(content: Mapping[str, Json]) -> str | None:
    entries = content.get("entries", {})
    if not isinstance(entries, dict) or not all(isinstance(entry, dict) for entry in entries.values()):
        return "entries is an object of entries by their uid"
    return too_many_patterns(key_characters(entries.values()), "worldbook")


def _wrong_regex(content: Mapping[str, Json]) -> str | None:
    scripts = content.get("scripts", [])
    if not isinstance(scripts, list) or not all(isinstance(script, dict) for script in scripts):
        return "scripts is a list of objects"
    return too_many_patterns(pattern_characters(scripts), "profile")


_WRONG: Mapping[AssetKind, Callable[[Mapping[str, Json]], str | None]] = {
    "character": _wrong_named,
    "user": _wrong_named,
    "preset": _wrong_preset,
    "worldbook": _wrong_worldbook,
    "regex": _wrong_regex,
}
