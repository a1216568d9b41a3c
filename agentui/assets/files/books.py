"""Worldbooks: SillyTavern's own files, and the lorebooks inside character cards, in both directions.

What is kept is SillyTavern's form, ``{"name", "entries": {"<uid>": {...}}, "extensions"}``. A member that has no place there is
kept below ``extensions`` of its entry or of the book (``character_book``), and on the way back likewise (``worldbook``), so
that no member is lost either way.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from agentui.assets.files.foreign_books import FOREIGN
from agentui.assets.files.limits import FileLimits, InvalidFile
from agentui.assets.files.report import ImportReport
from agentui.assets.lorebook import key_characters
from agentui.assets.script import too_many_patterns
from agentui.assets.values import members, text
from agentui.jsonio import Json, dumps

_ELSEWHERE: Final = "character_book"
"""Below ``extensions``: members of a card's lorebook that SillyTavern's form has no place for."""
_OWN: Final = "worldbook"
"""Below ``extensions``: members of SillyTavern's form that a card's lorebook has no place for."""
BEFORE, AFTER = "before_char", "after_char"
_FIELDS: Final[Mapping[str, str]] = {
    "keys": "key",
    "secondary_keys": "keysecondary",
    "comment": "comment",
    "content": "content",
    "constant": "constant",
    "selective": "selective",
    "insertion_order": "order",
}
"""Members of an entry of a card's lorebook, with SillyTavern's names."""
_DEFAULTS: Final[Mapping[str, Json]] = {"comment": "", "content": "", "constant": False, "selective": False, "order": 100}
_EXTENDED: Final[Mapping[str, tuple[str, Json]]] = {
    "exclude_recursion": ("excludeRecursion", False),
    "prevent_recursion": ("preventRecursion", False),
    "delay_until_recursion": ("delayUntilRecursion", False),
    "display_index": ("displayIndex", None),
    "probability": ("probability", 100),
    "useProbability": ("useProbability", True),
    "depth": ("depth", 4),
    "selectiveLogic": ("selectiveLogic", 0),
    "outlet_name": ("outletName", ""),
    "group": ("group", ""),
    "group_override": ("groupOverride", False),
    "group_weight": ("groupWeight", 100),
    "scan_depth": ("scanDepth", None),
    "case_sensitive": ("caseSensitive", None),
    "match_whole_words": ("matchWholeWords", None),
    "use_group_scoring": ("useGroupScoring", None),
    "automation_id": ("automationId", ""),
    "role": ("role", 0),
    "vectorized": ("vectorized", False),
    "sticky": ("sticky", None),
    "cooldown": ("cooldown", None),
    "delay": ("delay", None),
    "match_persona_description": ("matchPersonaDescription", False),
    "match_character_description": ("matchCharacterDescription", False),
    "match_character_personality": ("matchCharacterPersonality", False),
    "match_character_depth_prompt": ("matchCharacterDepthPrompt", False),
    "match_scenario": ("matchScenario", False),
    "match_creator_notes": ("matchCreatorNotes", False),
    "triggers": ("triggers", ()),
    "ignore_budget": ("ignoreBudget", False),
}
"""Members of an entry's ``extensions`` in a card, with SillyTavern's names and defaults."""
_NATIVE: Final = frozenset(
    (*_FIELDS.values(), *(name for name, _ in _EXTENDED.values()), "uid", "disable", "position", "extensions")
)


@dataclass(frozen=True, slots=True)
class BookFile:
    """A worldbook as it is kept."""

    content: Mapping[str, Json]
    origin: Mapping[str, Json]
    report: ImportReport


def read_book(document: Json, name: str, limits: FileLimits) -> BookFile:
    """The worldbook of a file's JSON: SillyTavern's, a card's lorebook (also with V3's ``spec`` around it), NovelAI's, Agnai's
    or RisuAI's. ``name`` is used where the book has none. Raises InvalidFile."""
    limits.check(document)
    if not isinstance(document, dict):
        raise InvalidFile("A worldbook is a JSON object.")
    if document.get("spec") == "lorebook_v3":
        document = members(document.get("data"))
    format = _format_of(document)
    report = ImportReport(format)
    if format == "sillytavern":
        content = _native(document, report)
    elif format == "character_book":
        content = book_of_card(document, report)
    else:
        content = FOREIGN[format](document, report)
    wrong = too_many_patterns(key_characters(content["entries"].values()), "worldbook")
    if wrong is not None:
        raise InvalidFile(f"The file cannot be taken: {wrong}.", "entries", is_too_large=True)
    content = {**content, "name": text(content.get("name")) or name or "Worldbook"}
    report.read["entries"] = len(content["entries"])
    return BookFile(content, {"format": format}, report)


def _format_of(document: Mapping[str, Json]) -> str:
    """Which program's book it is, told by the members that only that has. Raises InvalidFile."""
    if document.get("lorebookVersion") is not None and isinstance(document.get("entries"), list):
        return "novelai"
    if document.get("kind") == "memory" and isinstance(document.get("entries"), list):
        return "agnai"
    if document.get("type") == "risu" and isinstance(document.get("data"), list):
        return "risu"
    entries = document.get("entries")
    if not isinstance(entries, dict | list):
        raise InvalidFile("A worldbook has entries: an object or a list.", "entries")
    first = next((members(entry) for entry in _each(entries) if isinstance(entry, dict)), {})
    return "character_book" if "keys" in first and "key" not in first else "sillytavern"


def _each(entries: Json) -> Iterable[Json]:
    return entries.values() if isinstance(entries, dict) else entries


def _native(document: Mapping[str, Json], report: ImportReport) -> dict[str, Json]:
    """SillyTavern's own book; a list of entries becomes an object by ``uid``."""
    entries = document["entries"]
    if isinstance(entries, list):
        return {**document, "entries": numbered(((members(entry).get("uid"), entry) for entry in entries), report)}
    kept = {uid: entry for uid, entry in entries.items() if isinstance(entry, dict)}
    for uid in entries.keys() - kept.keys():
        report.downgrade(f"entries.{uid:.60}: this is no object and was left out")
    return {**document, "entries": kept}


def numbered(entries: Iterable[tuple[Json, Json]], report: ImportReport) -> dict[str, Json]:
    """Entries by ``uid``: each by the number that it asks for, where that is a whole one and free, else the next free one."""
    given = list(entries)
    asked = {uid for uid, _ in given if _is_uid(uid)}
    found: dict[str, Json] = {}
    following = 0
    for index, (uid, entry) in enumerate(given):
        if not isinstance(entry, dict):
            report.downgrade(f"entries[{index}]: this is no object and was left out")
            continue
        if not _is_uid(uid) or str(uid) in found:
            while following in asked or str(following) in found:
                following += 1
            if uid is not None:
                report.downgrade(f"entries[{index}]: its id {str(uid)!r:.40} became {following}")
            uid = following
        found[str(uid)] = {**entry, "uid": uid}
    return found


def _is_uid(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def book_of_card(book: Mapping[str, Json], report: ImportReport) -> dict[str, Json]:
    """A card's lorebook in SillyTavern's form."""
    entries = book.get("entries")
    listed = list(_each(entries)) if isinstance(entries, list | dict) else []
    made = numbered(
        (
            (members(entry).get("id"), _from_card(entry, index) if isinstance(entry, dict) else entry)
            for index, entry in enumerate(listed)
        ),
        report,
    )
    rest = {name: value for name, value in book.items() if name not in ("name", "entries", "extensions")}
    own = members(members(book.get("extensions")).get(_OWN))
    extensions = _below(book.get("extensions"), _ELSEWHERE, rest, without=(_OWN,))
    return {**own, "name": text(book.get("name")), "entries": made, "extensions": extensions}


def _from_card(entry: Mapping[str, Json], index: int) -> dict[str, Json]:
    """One entry of a card's lorebook in SillyTavern's form."""
    extensions = members(entry.get("extensions"))
    made: dict[str, Json] = {name: entry.get(spec, _DEFAULTS.get(name)) for spec, name in _FIELDS.items()}
    made["key"], made["keysecondary"] = made["key"] or [], made["keysecondary"] or []
    for spec, (name, default) in _EXTENDED.items():
        made[name] = extensions.get(spec, list(default) if isinstance(default, tuple) else default)
    if made["caseSensitive"] is None:
        made["caseSensitive"] = entry.get("case_sensitive")
    if made["displayIndex"] is None:
        made["displayIndex"] = index
    made["disable"] = not entry.get("enabled", True)
    position = extensions.get("position")
    made["position"] = position if position is not None else int(entry.get("position") != BEFORE)
    made["comment"] = made["comment"] or text(entry.get("name"))
    made["addMemo"] = bool(made["comment"])
    made |= members(extensions.get(_OWN))
    rest = {
        name: value
        for name, value in entry.items()
        if name not in _FIELDS and name not in ("id", "extensions", "enabled", "position")
    }
    made["extensions"] = _below(extensions, _ELSEWHERE, rest, without=(*_EXTENDED, "position", _OWN))
    return made


def card_of_book(content: Mapping[str, Json]) -> dict[str, Json]:
    """A worldbook in the form that a card holds."""
    extensions = members(content.get("extensions"))
    own = {name: value for name, value in content.items() if name not in ("name", "entries", "extensions")}
    return {
        **members(extensions.get(_ELSEWHERE)),
        "name": text(content.get("name")),
        "entries": [_to_card(entry) for entry in members(content.get("entries")).values() if isinstance(entry, dict)],
        "extensions": _below(extensions, _OWN, own, without=(_ELSEWHERE,)),
    }


def _to_card(entry: Mapping[str, Json]) -> dict[str, Json]:
    """One entry in the form that a card holds."""
    extensions = members(entry.get("extensions"))
    own = {name: value for name, value in entry.items() if name not in _NATIVE}
    written = _below(extensions, _OWN, own, without=(_ELSEWHERE,))
    written |= {spec: entry[name] for spec, (name, _) in _EXTENDED.items() if name in entry}
    if "position" in entry:
        written["position"] = entry["position"]
    return {
        **members(extensions.get(_ELSEWHERE)),
        **{spec: entry[name] for spec, name in _FIELDS.items() if name in entry},
        "id": entry.get("uid"),
        "enabled": not entry.get("disable", False),
        "position": BEFORE if entry.get("position", 0) == 0 else AFTER,
        "extensions": written,
    }


def _below(extensions: Json, name: str, rest: Mapping[str, Json], *, without: Collection[str] = ()) -> dict[str, Json]:
    """Extensions with what has no other place, if there is any."""
    kept = {key: value for key, value in members(extensions).items() if key not in without}
    return {**kept, name: dict(rest)} if rest else kept


def write_book(content: Mapping[str, Json]) -> bytes:
    """A worldbook as SillyTavern's file, which always has ``entries``."""
    return dumps({"entries": {}, **content})
