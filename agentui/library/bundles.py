"""What the prompts of a session are made of: its bindings, read from the library.

choose   one query: which version of each asset counts (``bound.py``)
read     the JSON of those that nobody has read yet
parse    apart from the event loop (``parsed.py``); what was read is kept by its version, which never changes, and a session's
         own copy of a card by its hash
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Final, cast

from agentui.assets.bundle import PromptAssets
from agentui.assets.character import Character
from agentui.assets.lorebook import BoundBook, Lorebook, LoreScope
from agentui.assets.persona import Persona
from agentui.assets.values import members, text
from agentui.jsonio import Json, dumps, loads
from agentui.library.bound import (
    CHARACTER_BOOKS,
    CHAT_BOOK,
    GLOBAL_BOOKS,
    WORDS,
    Bindings,
    BoundAsset,
    Texts,
    bound_in,
    find_books,
    find_contents,
    find_named,
    find_unknown,
    folded,
    follows,
    named_assets,
    names_assets,
)
from agentui.library.parsed import READERS, Card, PresetWithScripts
from agentui.pipeline.assets import AssetName, NamedKind
from agentui.store.base import Store
from agentui.threads import apart, in_thread

MOST_KEPT: Final = 32 * 1024 * 1024
"""Characters of JSON whose parsed assets are kept."""
_NONE: Final = PromptAssets()


@dataclass(frozen=True, slots=True)
class Bundle:
    """The assets of a session's prompts, and which versions they are. ``bindings`` are those that it was made of; ``bound`` is
    what they name, ``linked`` are worldbooks that the chat, the character and the user name."""

    bindings: Bindings = field(default_factory=dict)
    bound: tuple[BoundAsset, ...] = ()
    linked: tuple[BoundAsset, ...] = ()
    assets: PromptAssets = _NONE

    @property
    def params(self) -> Mapping[str, Json]:
        """The generation parameters that the preset gives, by the API's names."""
        return {} if self.assets.preset is None else self.assets.preset.params

    def is_of(self, bindings: Bindings) -> bool:
        """Whether the bundle is that of a session with these bindings."""
        return self.bindings == bound_in(bindings)

    def ids(self) -> dict[str, Json]:
        """What the prompt is made of, by the names that a prompt's snapshot has for it."""
        told: dict[str, Json] = {"asset_manifest_digest": manifest_digest((*self.bound, *self.linked))}
        for each in self.bound:
            if each.kind == "character":
                told |= {
                    "character_id": each.id,
                    "character_version_id": each.version_id,
                    "character_imported_format": None if each.source == "api" else each.source,
                    "character_content_hash": each.content_hash,
                }
                continue
            word = WORDS[each.kind]
            told |= {
                f"{word}_id": each.id,
                f"{word}_updated_at": each.updated_at,
                f"{word}_version": each.version_no,
                f"{word}_version_id": each.version_id,
                f"{word}_content_hash": each.content_hash,
            }
        return told

    def named(self) -> dict[str, Json]:
        """The ids and names of what the prompt is made of, as a prompt's explanation tells them."""
        return named_assets(self.bindings, self.bound)


def manifest_digest(bound: Iterable[BoundAsset]) -> str | None:
    """A name for exactly these versions (``sha256:...``): the same where prompts are made of the same; None for none."""
    listed = sorted((each.kind, each.id, each.version_id, each.content_hash) for each in bound)
    return f"sha256:{sha256(dumps(listed)).hexdigest()}" if listed else None


class Bundles:
    """Loads what prompts are made of, and keeps what it read: of at most MOST_KEPT characters, what was used last.

    What is kept is found by the id of a version, or by the hash of a card's text: which versions an account has is asked for
    each time, so that none is found by somebody else.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[str, _Read] = OrderedDict()
        self._size = 0

    def of(self, account: str) -> "AccountAssets":
        """The library of an account."""
        return AccountAssets(self, account)

    async def load(self, account: str, bindings: Bindings) -> Bundle:
        """The bundle of an account's session with these bindings. Raises the store's errors."""
        wanted = bound_in(bindings)
        if not names_assets(wanted):
            return Bundle(wanted)
        known = dict(self._kept)  # of its own: others may push what is needed here out meanwhile
        bound, texts = await self._store.read(find_contents, account, wanted, known.keys())
        read = {each.kind: await self._read(each, known, texts) for each in bound}
        card = await self._card(wanted, read.get("character"), known)
        names = _linked_names(wanted, card)
        linked: list[BoundAsset] = []
        missing: list[tuple[LoreScope, str]] = []
        books = [_book(read["worldbook"], each, "global") for each in bound if each.kind == "worldbook"]
        if names:
            wanted_names = {folded(name) for _, name in names}
            linked, texts = await self._store.read(find_books, account, wanted_names, known.keys())
            by_name = {each.name.casefold(): each for each in linked}
            for scope, name in names:
                if (each := by_name.get(folded(name))) is not None:
                    books.append(_book(await self._read(each, known, texts), each, scope))
            missing = [(scope, name) for scope, name in names if folded(name) not in by_name]
        world = _world_of(card)
        is_linked = any(book.scope == "character" and folded(book.book.name) == folded(world) for book in books)
        if card is not None and card.book is not None and not is_linked:
            own = BoundBook(card.book, "character")
            books.insert(next((at for at, book in enumerate(books) if book.scope == "character"), len(books)), own)
            missing = [(scope, name) for scope, name in missing if (scope, name) != ("character", world)]
        preset: PresetWithScripts | None = read.get("preset")
        consents = {each.kind: each.consent for each in bound}
        assets = PromptAssets(
            character=None if card is None else card.character,
            persona=_persona(wanted),
            preset=None if preset is None else preset.preset,
            lorebooks=tuple(books),
            scripts=(
                *read.get("regex", ()),
                *(() if preset is None else preset.scripts.bound(consents.get("preset"))),
                *(() if card is None else card.scripts.bound(consents.get("character", ""))),
            ),
            missing_books=tuple(name for _, name in missing),
        )
        return Bundle(wanted, tuple(bound), tuple(linked), assets)

    async def character(self, account: str, name: str) -> Character | None:
        """The active character of this id or name. Raises the store's errors."""
        found = await self._named(account, "character", name)
        return None if found is None else cast(Card, found[1]).character

    async def worldbook(self, account: str, name: str) -> BoundBook | None:
        """The active worldbook of this id or name. Raises the store's errors."""
        found = await self._named(account, "worldbook", name)
        return None if found is None else _book(found[1], found[0], "global")

    async def unknown(self, account: str, names: Sequence[AssetName]) -> frozenset[AssetName]:
        """Those that no active asset has. Raises the store's errors."""
        if self._store.is_blank:
            return frozenset(names)
        missing: set[AssetName] = set()
        for kind in {name.kind for name in names}:
            asked = [name.name for name in names if name.kind == kind]
            found = await self._store.read(find_unknown, account, kind, asked)
            missing |= {AssetName(kind, name) for name in found}
        return frozenset(missing)

    async def _named(self, account: str, kind: NamedKind, name: str) -> tuple[BoundAsset, Any] | None:
        """An asset that is named, and what its newest version says."""
        if self._store.is_blank:
            return None
        known = dict(self._kept)
        found, texts = await self._store.read(find_named, account, kind, name, known.keys())
        return None if found is None else (found, await self._read(found, known, texts))

    async def _read(self, bound: BoundAsset, known: "Mapping[str, _Read]", texts: Texts) -> Any:
        """What a version says."""
        kept = known.get(bound.version_id)
        if kept is None:
            content = texts[bound.version_id]
            reader = READERS[bound.kind]
            noun = await apart(len(content), lambda: reader(loads(content)))
            kept = _Read(len(content), noun)
        self._keep(bound.version_id, kept)
        return kept.noun

    async def _card(self, bindings: Bindings, version: Card | None, known: "Mapping[str, _Read]") -> Card | None:
        """The character that a session is bound to: as it keeps it, with the lorebook of its version. One that the session
        merely describes is none; prompts find it there."""
        if (bindings.get("character_binding") or {}).get("character_id") is None:
            return None
        if version is not None and follows(bindings):
            return version
        snapshot = bindings.get("character_snapshot") or {}
        text = await in_thread(lambda: dumps(snapshot))  # a session may keep a card of any size
        id = sha256(text).hexdigest()
        read = known.get(id)
        if read is None:
            read = _Read(len(text), await apart(len(text), lambda: Card.of(snapshot)))
        self._keep(id, read)
        kept: Card = read.noun
        return kept if kept.book is not None or version is None else replace(kept, book=version.book)

    def _keep(self, id: str, read: "_Read") -> None:
        """Keep a version as the one that was used last."""
        before = self._kept.pop(id, None)
        self._size += read.size - (0 if before is None else before.size)
        self._kept[id] = read
        while self._size > MOST_KEPT and len(self._kept) > 1:
            self._size -= self._kept.popitem(last=False)[1].size


@dataclass(frozen=True, slots=True)
class AccountAssets:
    """The library of one account, as nodes read it."""

    bundles: Bundles
    account: str

    async def character(self, name: str) -> Character | None:
        """The active character of this id or name. Raises the store's errors."""
        return await self.bundles.character(self.account, name)

    async def worldbook(self, name: str) -> BoundBook | None:
        """The active worldbook of this id or name. Raises the store's errors."""
        return await self.bundles.worldbook(self.account, name)

    async def unknown(self, names: Sequence[AssetName]) -> frozenset[AssetName]:
        """Those that no active asset has. Raises the store's errors."""
        return await self.bundles.unknown(self.account, names)


@dataclass(frozen=True, slots=True)
class _Read:
    """A version, or a session's own copy of a card, that was read, with the characters of its JSON."""

    size: int
    noun: Any


def _book(book: Lorebook, asset: BoundAsset, scope: LoreScope) -> BoundBook:
    """A worldbook of the library, by the name that it has there."""
    return BoundBook(replace(book, name=asset.name), scope, asset.id, asset.version_no)


def _persona(bindings: Bindings) -> Persona | None:
    is_bound = (bindings.get("user_binding") or {}).get("user_id") is not None
    return Persona.of(bindings.get("user_snapshot") or {}) if is_bound else None


def _world_of(card: Card | None) -> str:
    """The name of the worldbook that a character names as its own; empty for none."""
    return text(members(None if card is None else card.character.extensions).get("world"))


def _linked_names(bindings: Bindings, card: Card | None) -> list[tuple[LoreScope, str]]:
    """The names of the worldbooks that the chat, the user (``lorebook``), the character (``extensions.world``) and the
    metadata of the session (``charLore``, ``world_info_global``) name."""
    is_bound = (bindings.get("user_binding") or {}).get("user_id") is not None
    user = bindings.get("user_snapshot") or {} if is_bound else {}
    world = _world_of(card)
    of_chat = text(bindings.get(CHAT_BOOK))
    named: list[tuple[LoreScope, str]] = [("chat", of_chat), ("persona", text(user.get("lorebook"))), ("character", world)]
    if card is not None:
        extra = members(bindings.get(CHARACTER_BOOKS)).get(card.character.name.casefold()) or ()
        named += [("character", name) for name in extra if folded(name) != folded(world)]
    named += [("global", name) for name in bindings.get(GLOBAL_BOOKS) or ()]
    return [(scope, name) for scope, name in named if name.strip()]
