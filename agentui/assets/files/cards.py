"""Character cards: V1, V2 and V3 JSON, alone, in a PNG picture or in a CharX file.

V2: https://github.com/malfoyslastname/character-card-spec-v2, V3: https://github.com/kwaroran/character-card-spec-v3.
What is kept is the card's ``data`` whole, and in the origin what stood beside it, so that a card is written as it came.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from agentui.assets.character import Character
from agentui.assets.files.charx import embedded_path, has_archive, icon_paths, read_charx, write_charx
from agentui.assets.files.limits import FileLimits, InvalidFile
from agentui.assets.files.pictures import picture_type, refuse_other_pictures
from agentui.assets.files.png import SIGNATURE, holds_card, read_png, write_png
from agentui.assets.files.report import ImportReport
from agentui.assets.files.scripts import embedded_scripts, warn_of_patterns
from agentui.assets.values import members, text, texts
from agentui.jsonio import Json, dumps

Spec: TypeAlias = Literal["v1", "v2", "v3"]
CardFormat: TypeAlias = Literal["v2", "v3", "png", "charx"]

SPECS: Final[Mapping[str, Spec]] = {"chara_card_v2": "v2", "chara_card_v3": "v3"}
V1_FIELDS: Final = ("name", "description", "personality", "scenario", "first_mes", "mes_example")
MAX_NAME: Final = 200
_MIRRORED: Final[Mapping[str, str]] = {
    **{name: name for name in (*V1_FIELDS, "tags")},
    "creatorcomment": "creator_notes",
}
"""Members beside ``data`` in SillyTavern's files that repeat one of it."""
_EXTENSIONS: Final = ("talkativeness", "fav")
"""Members of V1 files that V2 keeps among the extensions."""
_KNOWN: Final = frozenset((*Character.__dataclass_fields__, "character_book")) - {"book", "depth_prompt"}


@dataclass(frozen=True, slots=True)
class CardFile:
    """A card as it is kept: ``content`` is its ``data``; ``picture`` is its image without cards, ``files`` what else was in its
    archive, by path."""

    content: Mapping[str, Json]
    origin: Mapping[str, Json]
    report: ImportReport
    picture: bytes | None = None
    media_type: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The character's name."""
        return Character.of(self.content).name


@dataclass(frozen=True, slots=True)
class KeptCard:
    """A character to be written: its content, its origin, its picture, and the other files of its archive by path."""

    content: Mapping[str, Json]
    origin: Mapping[str, Json] = field(default_factory=dict)
    picture: bytes | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def media_type(self) -> str:
        """What kind of picture it is, told from its first bytes."""
        return picture_type(self.picture or b"")


def read_card_file(data: bytes, limits: FileLimits) -> CardFile:
    """A card out of a file of any format, told from its first bytes. Raises InvalidFile."""
    limits.check_size(data)
    is_archive = has_archive(data) and not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    if data.startswith(SIGNATURE) and not (is_archive and not holds_card(data)):
        return _from_png(data, limits)
    if is_archive:
        return _from_charx(data, limits)
    refuse_other_pictures(data)
    return read_card(limits.parse(data), limits)


def read_card(card: Json, limits: FileLimits, container: str = "json") -> CardFile:
    """A card out of JSON that was parsed. Raises InvalidFile for what is no card, or has no name."""
    limits.check(card)
    if not isinstance(card, dict):
        raise InvalidFile("A character card is a JSON object.")
    spec = _spec_of(card)
    content = _lifted(card) if spec == "v1" else card.get("data")
    if not isinstance(content, dict):
        raise InvalidFile("The card has no data: it must be an object.", "data")
    _check_name(content, "name" if spec == "v1" else "data.name")
    outer = {name: value for name, value in card.items() if name not in ("spec", "spec_version", "data")}
    report = ImportReport(spec if container == "json" else container)
    _tell(content, report)
    origin: dict[str, Json] = {"format": report.format, "spec": spec, "outer": outer}
    if "spec_version" in card:
        origin["spec_version"] = card["spec_version"]
    return CardFile(content, origin, report)


def _spec_of(card: Mapping[str, Json]) -> Spec:
    """The spec that the card names; a card that names none is V1, unless it has ``data`` as the others do."""
    named = card.get("spec")
    spec = SPECS.get(text(named))
    if spec is not None:
        return spec
    if named is not None and not isinstance(card.get("data"), dict):
        raise InvalidFile(f"{str(named)!r:.60} is no card that is known: use {' or '.join(SPECS)}.", "spec")
    return "v2" if isinstance(card.get("data"), dict) else "v1"


def _lifted(card: Mapping[str, Json]) -> dict[str, Json]:
    """The ``data`` of a V1 card."""
    content = _required("v2")
    content |= {into: card[name] for name, into in _MIRRORED.items() if card.get(name) is not None}
    content["extensions"] = {name: card[name] for name in _EXTENSIONS if name in card}
    return content


def _required(spec: Spec) -> dict[str, Json]:
    """The members that the ``data`` of a card must have, as they are where nobody gave them."""
    texts_of_v2 = ("creator_notes", "system_prompt", "post_history_instructions", "creator", "character_version")
    required: dict[str, Json] = dict.fromkeys((*V1_FIELDS, *texts_of_v2), "")
    required |= {"alternate_greetings": [], "tags": [], "extensions": {}}
    return {**required, "group_only_greetings": []} if spec == "v3" else required


def _check_name(content: Mapping[str, Json], where: str) -> None:
    name = content.get("name")
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME or "\0" in name:
        raise InvalidFile(f"A character has a name of 1 to {MAX_NAME} characters.", where)
    for text_field in V1_FIELDS:
        if not isinstance(content.get(text_field), str | None):
            raise InvalidFile("This must be a text.", where.removesuffix("name") + text_field)


def _tell(content: Mapping[str, Json], report: ImportReport) -> None:
    """Note what is read of a card and what is only kept."""
    for name in content:
        if name not in _KNOWN:
            report.ignore(f"data.{name}")
    book = members(content.get("character_book"))
    entries = book.get("entries")
    report.read["greetings"] = len(Character.of(content).greetings)
    report.read["lorebook_entries"] = len(entries) if isinstance(entries, list | dict) else 0
    scripts = embedded_scripts(content)
    report.read["regex_scripts"] = report.scripts_waiting = len(scripts)
    warn_of_patterns(scripts, report)
    if content.get("character_book") is not None and not isinstance(entries, list | dict):
        report.downgrade("data.character_book: its entries are no list, so it is kept and not read")
    greetings = content.get("alternate_greetings")
    if isinstance(greetings, list) and len(texts(greetings)) < len(greetings):
        report.downgrade("data.alternate_greetings[]: what is empty or no text is passed over")


def _from_png(data: bytes, limits: FileLimits) -> CardFile:
    found = read_png(data, limits)
    read = read_card(limits.parse(found.json, "the card in the picture"), limits, "png")
    if found.v2 is not None and _differ(read.content, found.v2, limits):
        read.report.warn("The picture's V2 copy of the card says something else than V3: V3 was taken.")
    if has_archive(data):
        read.report.ignore("the archive behind the picture: the card in the picture was taken")
    return CardFile(read.content, read.origin, read.report, found.picture, "image/png")


def _differ(content: Mapping[str, Json], v2: bytes, limits: FileLimits) -> bool:
    """True when an older copy of the card has other texts."""
    try:
        card = members(limits.parse(v2))
    except InvalidFile:
        return True
    data = members(card.get("data")) or card
    return any(data.get(name) != content.get(name) for name in V1_FIELDS)


def _from_charx(data: bytes, limits: FileLimits) -> CardFile:
    found = read_charx(data, limits)
    card = limits.parse(found.json, "card.json")
    if text(members(card).get("spec")) not in SPECS:
        raise InvalidFile("The card of a CharX file names its spec.", "card.json: spec")
    read = read_card(card, limits, "charx")
    icon = next((path for path in icon_paths(read.content) if path in found.files), None)
    files = {path: file for path, file in found.files.items() if path != icon}
    named = {embedded_path(members(asset).get("uri")) for asset in _assets(read.content)}
    for path in files:
        read.report.ignore(f"{path[:200]}: {'an asset' if path in named else 'a file'} of the archive")
    if files:
        read.report.read["files"] = len(files)
    picture = None if icon is None else found.files[icon]
    return CardFile(read.content, read.origin, read.report, picture, picture_type(picture or b"") if picture else "", files)


def _assets(content: Mapping[str, Json]) -> list[Json]:
    assets = content.get("assets")
    return assets if isinstance(assets, list) else []


def write_card(kept: KeptCard, format: CardFormat) -> bytes:
    """A character as a file. What stood beside the ``data`` of the card that it came from stands there again, with the texts of
    today. Raises InvalidFile for a PNG file of a picture that is no PNG."""
    match format:
        case "png":
            return write_png(kept.picture, dumps(card_json(kept, "v2")), dumps(card_json(kept, "v3")))
        case "charx":
            return write_charx(card_json(kept, "v3"), kept.picture, kept.media_type, kept.files)
        case _:
            return dumps(card_json(kept, format))


def card_json(kept: KeptCard, spec: Literal["v2", "v3"]) -> dict[str, Json]:
    """The card's JSON; ``data`` holds every member of the content, and those that the spec asks for."""
    data = {**_required(spec), **kept.content}
    outer = dict(members(kept.origin.get("outer")))
    for name, source in _MIRRORED.items():
        if name in outer and source in data:
            outer[name] = data[source]
    version = "2.0" if spec == "v2" else "3.0"
    if kept.origin.get("spec") == spec:
        version = kept.origin.get("spec_version", version)
    return {**outer, "spec": f"chara_card_{spec}", "spec_version": version, "data": data}
