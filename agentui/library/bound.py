"""Which versions of assets a session's prompts are made of.

An asset that is bound without a version counts while it is active, with its newest content. One with a version stays as it was
bound, whatever becomes of the asset. A character is what the session keeps of it, and of its version the rest; where the
session's policy is ``force`` it is the newest version.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from sqlalchemy import ColumnElement, Connection, and_, or_, select

from agentui.assets.chat_settings import books_in, character_books_in, settings_in
from agentui.assets.values import text
from agentui.chats.codes import failure
from agentui.jsonio import Json
from agentui.library.records import AssetKind
from agentui.store.tables import asset_versions, assets

WORDS: Final[Mapping[AssetKind, str]] = {
    "character": "character_card",
    "preset": "preset",
    "worldbook": "worldbook",
    "regex": "regex_profile",
}
"""How explanations of prompts call a kind."""
_BOUND: Final[Mapping[AssetKind, tuple[str, str]]] = {
    "preset": ("preset_id", "preset_version_id"),
    "worldbook": ("worldbook_profile_id", "worldbook_version_id"),
    "regex": ("regex_profile_id", "regex_profile_version_id"),
}
"""The fields by which a session names an asset and a version of it."""
_MEMBERS: Final = (*(name for names in _BOUND.values() for name in names), "character_binding", "user_binding")
CHAT_BOOK: Final = "chat_worldbook"
"""Beside a session's bindings: the name of the worldbook that belongs to its chat."""
GLOBAL_BOOKS: Final = "global_worldbooks"
"""Beside a session's bindings: the names of more worldbooks that its metadata binds."""
CHARACTER_BOOKS: Final = "character_worldbooks"
"""Beside a session's bindings: the names of more worldbooks of characters, by the names of these."""
_BESIDE: Final = ("character_snapshot", "user_snapshot", CHAT_BOOK, GLOBAL_BOOKS, CHARACTER_BOOKS)

Bindings: TypeAlias = Mapping[str, Json]
Texts: TypeAlias = dict[str, str]
"""The JSON of versions by their ids."""


@dataclass(frozen=True, slots=True)
class BoundAsset:
    """The version of an asset that a prompt is made of. ``consent`` is the hash of the scripts inside it that somebody
    allowed; None where all run."""

    kind: AssetKind
    id: str
    name: str
    source: str
    version_id: str
    version_no: int
    content_hash: str
    updated_at: int
    consent: str | None


def with_chat_book(bindings: Bindings, metadata: Mapping[str, Json]) -> Bindings:
    """A session's bindings with the worldbooks that its metadata names: the chat's own as SillyTavern's chats do
    (``world_info``, also in the ``chat_metadata`` of a file that was imported), others (``world_info_global``), and additional
    ones of characters (``charLore``)."""
    settings = settings_in(metadata)
    name, others = text(settings.get("world_info")), books_in(settings)
    named = {CHAT_BOOK: name} if name.strip() else {}
    extra = character_books_in(settings)
    several = {GLOBAL_BOOKS: list(others) or None, CHARACTER_BOOKS: extra or None}
    return {**bindings, **named, **{member: books for member, books in several.items() if books is not None}}


def bound_in(bindings: Bindings) -> dict[str, Json]:
    """What of a session's bindings its prompts' assets depend on."""
    return {name: bindings[name] for name in (*_MEMBERS, *_BESIDE) if bindings.get(name) is not None}


def names_assets(bindings: Bindings) -> bool:
    """Whether a session is bound to anything of the library."""
    character, user = bindings.get("character_binding") or {}, bindings.get("user_binding") or {}
    profiles = (bindings.get(id) for id, _ in _BOUND.values())
    ids = (character.get("character_id"), user.get("user_id"), bindings.get(CHAT_BOOK), bindings.get(GLOBAL_BOOKS), *profiles)
    return any(id is not None for id in ids)


def named_assets(bindings: Bindings, bound: Iterable[BoundAsset]) -> dict[str, Json]:
    """What a session's prompts are made of, and in which versions (of the character the snapshot tells): null for a kind that
    they have nothing of. A character that the session merely describes has no id."""
    told: dict[str, Json] = dict.fromkeys(WORDS.values())
    character = bindings.get("character_binding")
    if character is not None:
        name = (character.get("snapshot_summary") or {}).get("name")
        told["character_card"] = {"id": character.get("character_id"), "name": name}
    for each in bound:
        named: dict[str, Json] = {"id": each.id, "name": each.name}
        version = {"version_id": each.version_id, "version_no": each.version_no, "content_hash": each.content_hash}
        told[WORDS[each.kind]] = named if each.kind == "character" else named | version
    return told


def find_contents(db: Connection, account: str, bindings: Bindings, parsed: Set[str]) -> tuple[list[BoundAsset], Texts]:
    """The versions that count for a session, and the JSON of those that are not ``parsed`` yet, by their ids."""
    found = find_bound(db, account, bindings)
    return found, _texts(db, found, parsed)


def find_books(db: Connection, account: str, names: Set[str], parsed: Set[str]) -> tuple[list[BoundAsset], Texts]:
    """The active worldbooks of these names (in folded case), those first that were changed last, and their JSON likewise."""
    is_named = and_(assets.c.kind == "worldbook", assets.c.status == "active", assets.c.folded_name.in_(sorted(names)))
    found = _bound_assets(db, account, and_(is_named, asset_versions.c.id == assets.c.current_version_id))
    newest: dict[str, BoundAsset] = {}
    for each in sorted(found, key=lambda each: (each.updated_at, each.id), reverse=True):
        newest.setdefault(each.name.casefold(), each)
    return list(newest.values()), _texts(db, newest.values(), parsed)


def find_named(db: Connection, account: str, kind: AssetKind, name: str, parsed: Set[str]) -> tuple[BoundAsset | None, Texts]:
    """The active asset of this id, else the one of this name (in any case) that was changed last, with its newest version, and
    its JSON likewise."""
    found = _bound_assets(db, account, and_(_are_named(kind, [name]), asset_versions.c.id == assets.c.current_version_id))
    best = max(found, key=lambda each: (each.id == name, each.updated_at, each.id), default=None)
    return best, {} if best is None else _texts(db, [best], parsed)


def find_unknown(db: Connection, account: str, kind: AssetKind, names: Sequence[str]) -> frozenset[str]:
    """Those of these ids and names that no active asset of the kind has."""
    columns = (assets.c.id, assets.c.folded_name)
    rows = db.execute(select(*columns).where(assets.c.account_id == account, _are_named(kind, names))).all()
    known = {text for row in rows for text in row}
    return frozenset(name for name in names if known.isdisjoint((_one_line(name), _one_line(name).casefold())))


def _are_named(kind: AssetKind, names: Sequence[str]) -> ColumnElement[bool]:
    """Whether an active asset of the kind has one of these ids or names."""
    lines = [_one_line(name) for name in names]
    by_name = or_(assets.c.id.in_(lines), assets.c.folded_name.in_([line.casefold() for line in lines]))
    return and_(assets.c.kind == kind, assets.c.status == "active", by_name)


def _one_line(name: str) -> str:
    """A name with the blanks that the library keeps (``name_of``)."""
    return " ".join(name.replace("\0", " ").split())


def folded(name: str) -> str:
    """A worldbook's name in folded case, with blanks as the library keeps them."""
    return " ".join(name.split()).casefold()


def find_book_named(db: Connection, account: str, name: str) -> str:
    """The JSON of the active worldbook of this name that was changed last. Raises 404 ``worldbook_not_found``."""
    _, texts = find_named(db, account, "worldbook", name, frozenset())
    for found in texts.values():
        return found
    raise failure("worldbook_not_found", f"The library has no active worldbook {name[:100]!r}.", name=name[:100])


def find_bound(db: Connection, account: str, bindings: Bindings) -> list[BoundAsset]:
    """The versions that count for a session; of a kind that it is not bound to, or no longer to an active one, there is
    none."""
    wanted = _wanted(bindings)
    return _bound_assets(db, account, or_(*wanted)) if wanted else []


def _bound_assets(db: Connection, account: str, where: ColumnElement[bool]) -> list[BoundAsset]:
    columns = (assets.c.kind, assets.c.id, assets.c.name, assets.c.source, asset_versions.c.id.label("version_id"))
    query = (
        select(
            *columns, asset_versions.c.version_no, asset_versions.c.content_hash, assets.c.updated_at, assets.c.scripts_allowed
        )
        .join(asset_versions, asset_versions.c.asset_id == assets.c.id)
        .where(assets.c.account_id == account, where)
        .order_by(assets.c.kind)
    )
    return [BoundAsset(*row) for row in db.execute(query)]


def _texts(db: Connection, found: Iterable[BoundAsset], parsed: Set[str]) -> Texts:
    new = [each.version_id for each in found if each.version_id not in parsed]
    query = select(asset_versions.c.id, asset_versions.c.content_json).where(asset_versions.c.id.in_(new))
    return {row.id: row.content_json for row in db.execute(query)} if new else {}


def _wanted(bindings: Bindings) -> list[Any]:
    """What holds of each version that counts."""
    newest = asset_versions.c.id == assets.c.current_version_id
    wanted = []
    for kind, (id, version) in _BOUND.items():
        if bindings.get(id) is None:
            continue
        named = bindings.get(version)
        counts = and_(newest, assets.c.status == "active") if named is None else asset_versions.c.id == named
        wanted.append(and_(assets.c.kind == kind, assets.c.id == bindings[id], counts))
    character = bindings.get("character_binding") or {}
    if character.get("character_id") is not None:
        is_fixed = not follows(bindings) and character.get("character_version_id") is not None
        counts = asset_versions.c.id == character["character_version_id"] if is_fixed else newest
        wanted.append(and_(assets.c.kind == "character", assets.c.id == character["character_id"], counts))
    return wanted


def follows(bindings: Bindings) -> bool:
    """Whether a session's character is always the newest version."""
    return (bindings.get("character_binding") or {}).get("sync_policy") == "force"
