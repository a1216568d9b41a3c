"""``OwnDocuments``: the pipelines, presets and keys that accounts have of their own.

Their ids begin with ``~``, so that none hides one of the server's, and a pipeline of an account calls pipelines, names presets
and reads keys of that account alone: what somebody writes without the right to edit reaches nothing that the server keeps.

    await ready(account) ─▶ plan, preset, secret: look-ups in memory, as those of the server are
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol, TypeAlias
from weakref import WeakValueDictionary

from agentui.documents.document import (
    MAX_FILE_BYTES,
    Entry,
    Good,
    check_new_id,
    etag_of,
    is_own_id,
    version_of,
)
from agentui.documents.versions import Version
from agentui.errors import AgentUIError, BadRequest, BodyTooLarge, Forbidden, InvalidPipeline, NodeFailed, NotFound, Problem
from agentui.ids import Clock
from agentui.jsonio import InvalidJson, Json, dumps, loads
from agentui.owned.rows import (
    NOUNS,
    Kind,
    Mark,
    SealedSecret,
    Stored,
    all_of,
    delete_document,
    delete_secret,
    find_version,
    keep_secret,
    list_versions,
    mark_of,
    name_version,
    rename_document,
    save_document,
)
from agentui.pipeline.plans.calls import cycle_of
from agentui.pipeline.plans.plan import Plan
from agentui.secrets.origins import read_origins
from agentui.secrets.store import Secret, SecretStore, check_name
from agentui.store.base import Store

PURPOSE: Final = "account-secrets"
"""What the key that seals accounts' keys is derived for."""
MOST_ACCOUNTS: Final = 1000
"""Accounts whose documents are kept in memory; the one that was asked for longest ago goes first."""
MOST_KNOWN: Final = 64 * 1024 * 1024
"""Characters of all documents that are kept in memory, where they take several times as many bytes."""

log = logging.getLogger("agentui.documents")

Understood: TypeAlias = tuple[Any, tuple[Problem, ...]]


class Understands(Protocol):
    """What knows what a document means, as the server's libraries do."""

    def understand(self, id: str, document: Mapping[str, Json]) -> Understood:
        """What a document means, and warnings about it. Raises InvalidPipeline."""


@dataclass(slots=True)
class _Snapshot:
    """What an account has, as it was at one moment."""

    mark: Mark
    stored: Mapping[Kind, Mapping[str, Stored]]
    sealed: Mapping[str, SealedSecret]
    size: int = 0
    """Characters of its documents."""
    entries: dict[tuple[Kind, str], Entry[Any]] = field(default_factory=dict)
    """Those that somebody has asked for."""
    calls: dict[str, frozenset[str]] = field(default_factory=dict)
    """Which pipelines the pipelines call, of those that somebody has asked for: in a chain of them each looks at all behind
    it."""


class _Hold:
    """Somebody needs what an account has."""


class OwnDocuments:
    """What accounts have of their own. ``library`` gives what understands documents of a kind, ``types`` are the node types
    that may stand in pipelines: those of installed packages are code with all rights of the server, and for its own pipelines.
    ``is_allowed`` is the operator's choice, ``most`` how many characters of documents are kept in memory."""

    def __init__(
        self,
        store: Store,
        secrets: SecretStore,
        clock: Clock,
        library: Callable[[Kind], Understands],
        types: Collection[str],
        *,
        is_allowed: bool,
        most: int = MOST_KNOWN,
    ) -> None:
        self._store = store
        self._secrets = secrets
        self._clock = clock
        self._library = library
        self._types = types
        self._is_allowed = is_allowed
        self.most = most
        self._known: OrderedDict[str, _Snapshot] = OrderedDict()
        self._holds: WeakValueDictionary[str, _Hold] = WeakValueDictionary()

    # Looking up

    async def ready(self, account: str, *pipelines: str | None) -> None:
        """Know what an account has now: one indexed read where nothing has changed; and understand these pipelines of it, with
        those that they call. Raises Forbidden where the operator wants no pipelines of accounts, and the store's errors."""
        self._check_allowed()
        _hold = self.held(account)  # others ask meanwhile
        await self._know(account)
        known = self._known[account]
        # A large document takes longer to compile than others should wait.
        if any(
            id in known.stored["pipelines"] and ("pipelines", id) not in known.entries for id in pipelines if id is not None
        ):
            await asyncio.to_thread(self._understand_all, account, known, [id for id in pipelines if id is not None])

    def held(self, account: str) -> object:
        """What keeps an account's things in memory while somebody has it: a run looks them up as it goes on."""
        return self._holds.setdefault(account, _Hold())

    def _understand_all(self, account: str, known: _Snapshot, ids: Iterable[str]) -> None:
        """Understand pipelines, those that they call, and so on."""
        waiting, seen = list(ids), set[str]()
        while waiting:
            id = waiting.pop()
            if id in seen or id not in known.stored["pipelines"]:
                continue
            seen.add(id)
            entry = self._entry(account, known, "pipelines", id)
            if entry.good is not None:
                waiting.extend(entry.good.value.calls)

    async def _know(self, account: str) -> None:
        """Read what an account has, where that has changed."""
        known = self._known.get(account)
        if self._store.is_blank:  # nothing was ever kept, and looking would make the file
            self._known[account] = _Snapshot((), {"pipelines": {}, "presets": {}}, {})
            return
        if known is not None and known.mark == await self._store.read(mark_of, account):
            self._known.move_to_end(account)
            return
        mark, documents, secrets, size = await self._store.read(all_of, account)
        stored: dict[Kind, dict[str, Stored]] = {"pipelines": {}, "presets": {}}
        for document in documents:
            stored[document.kind][document.id] = document
        snapshot = _Snapshot(mark, stored, {secret.name: secret for secret in secrets}, size)
        if known is not None:  # what is the same is not understood anew
            snapshot.entries = {
                place: entry
                for place, entry in known.entries.items()
                if known.stored[place[0]].get(place[1]) == stored[place[0]].get(place[1])
            }
            snapshot.calls = {
                id: calls
                for id, calls in known.calls.items()
                if known.stored["pipelines"].get(id) == stored["pipelines"].get(id)
            }
        self._known[account] = snapshot
        self._known.move_to_end(account)
        self._make_room()

    def _make_room(self) -> None:
        """Forget what was asked for longest ago, but nothing that somebody holds."""
        size = sum(known.size for known in self._known.values())
        for account in list(self._known):
            if len(self._known) <= MOST_ACCOUNTS and size <= self.most:
                break
            if account not in self._holds:
                size -= self._known.pop(account).size

    def plan(self, account: str, id: str) -> Plan:
        """The plan of an account's pipeline. Raises NotFound, also where nobody waited for ``ready``, and InvalidPipeline where
        it never was a good one."""
        plan: Plan = self._good(account, "pipelines", id)
        return plan

    def preset(self, account: str, id: str) -> Any:
        """An account's preset. Raises as ``plan`` does."""
        return self._good(account, "presets", id)

    def secret(self, account: str, name: str) -> Secret:
        """An account's key. Raises NotFound, and NodeFailed where it cannot be opened."""
        known = self._known.get(account)
        sealed = None if known is None else known.sealed.get(name.lower())
        if sealed is None:
            raise NotFound(
                f"You have no secret {name!r}: a pipeline of your own reads your own keys alone. Store one of that name.",
                name=name,
            )
        return self._opened(account, sealed)

    def has_secret(self, account: str, name: str) -> bool:
        """Whether an account has a key of this name."""
        known = self._known.get(account)
        return known is not None and name.lower() in known.sealed

    def circle(self, account: str, id: str, calls: Collection[str]) -> Problem | None:
        """What is wrong with what a pipeline of the account calls: pipelines of the server, or itself in turn."""
        stray = next((called for called in sorted(calls) if not is_own_id(called)), None)
        if stray is not None:
            text = (
                f"A pipeline of your own calls pipelines of your own alone: {stray[:100]!r} is the server's. Save a copy of it."
            )
            return Problem("pipeline.not_own", text, facts={"pipeline": stray[:100]})
        path = cycle_of(id, calls, partial(self._calls_of, account))
        if not path:
            return None
        text = f"Pipelines call each other in a circle: {' -> '.join(path)}. Let one of them call another, or none."
        return Problem("pipeline.cycle", text, facts={"path": " -> ".join(path)})

    def compile(self, account: str, id: str, document: Mapping[str, Json]) -> Plan:
        """A plan of a document under an own id, which is kept nowhere. Raises InvalidPipeline."""
        plan: Plan = self._understood(account, "pipelines", id, document)[0]
        return plan

    # Over HTTP

    async def entries(self, account: str, kind: Kind) -> list[Entry[Any]]:
        """All documents of a kind, by id; none where the operator wants none, and while the store cannot be read: the server's,
        which stand beside them in every list, need no store."""
        if not self._is_allowed or self._store.is_blank:
            return []
        try:
            await self.ready(account)
        except AgentUIError as error:
            log.warning("The %s of accounts cannot be listed now: %s", kind, error.message)
            return []
        known = self._known[account]
        return await asyncio.to_thread(lambda: [self._entry(account, known, kind, id) for id in sorted(known.stored[kind])])

    async def entry(self, account: str, kind: Kind, id: str) -> Entry[Any]:
        """One document. Raises NotFound."""
        await self.ready(account)
        return await asyncio.to_thread(self._entry, account, self._known[account], kind, id)

    async def save(
        self, account: str, kind: Kind, id: str, document: Json, if_match: str | None, if_none_match: str | None
    ) -> tuple[Entry[Any], bool]:
        """Keep a document as it is given, problems and all, if the caller knows what it replaces; the entry, and whether it is
        new. Raises as ``FolderLibrary.save`` does."""
        await self.ready(account)
        check_own_id(id)
        if not isinstance(document, dict):
            raise BadRequest(f"A {NOUNS[kind]} is a JSON object.")
        if len(dumps(document)) > MAX_FILE_BYTES:
            raise BodyTooLarge(f"A {NOUNS[kind]} may have {MAX_FILE_BYTES} bytes.")
        etag = etag_of(version_of(document))
        good = await asyncio.to_thread(self._good_or_problems, account, kind, id, document, etag)
        new = Stored(kind, id, etag, self._clock.now_ms(), document, None)
        is_new = await self._store.write(save_document, account, new, isinstance(good, Good), if_match, if_none_match)
        return await self.entry(account, kind, id), is_new

    async def delete(self, account: str, kind: Kind, id: str, if_match: str | None) -> None:
        """Remove a document with its versions. Raises NotFound and as ``save`` does."""
        self._check_allowed()
        await self._store.write(delete_document, account, kind, id, if_match)

    async def rename(self, account: str, kind: Kind, id: str, new_id: str, if_match: str | None) -> Entry[Any]:
        """Give a document another id of the account's own. Raises as ``save`` does, NotFound and Conflict."""
        self._check_allowed()
        check_own_id(new_id)
        await self._store.write(rename_document, account, kind, id, new_id, if_match)
        return await self.entry(account, kind, new_id)

    async def versions(self, account: str, kind: Kind, id: str) -> list[Version]:
        """The kept versions, the newest first. Raises NotFound."""
        return await self._store.read(list_versions, account, kind, id)

    async def version(self, account: str, kind: Kind, id: str, number: int) -> tuple[Version, Json]:
        """One version and its document. Raises NotFound."""
        return await self._store.read(find_version, account, kind, id, number)

    async def name_version(self, account: str, kind: Kind, id: str, number: int, name: str) -> Version:
        """Name a version, which keeps it for good. Raises NotFound."""
        return await self._store.write(name_version, account, kind, id, number, name)

    async def secret_names(self, account: str) -> list[SealedSecret]:
        """An account's keys by name, without what they are."""
        await self.ready(account)
        return sorted(self._known[account].sealed.values(), key=lambda secret: secret.name)

    async def keep_secret(self, account: str, name: str, value: str, origins: Iterable[str]) -> tuple[SealedSecret, bool]:
        """Keep a key for some origins; as it is kept, and whether it is new. Raises BadRequest and as ``SecretStore.seal``."""
        self._check_allowed()
        check_name(name)
        bound = sorted(read_origins(origins) or ())
        if not bound or not value.strip():
            raise BadRequest(f"Say the value of the secret {name!r} and where it may be sent, e.g. https://api.example.com.")
        sealed = dumps({"account": account, "name": name.lower(), "value": value.strip(), "origins": bound})
        text = await asyncio.to_thread(self._secrets.seal, PURPOSE, sealed)
        secret = SealedSecret(name.lower(), name, tuple(bound), text)
        return secret, await self._store.write(keep_secret, account, secret, self._clock.now_ms())

    async def delete_secret(self, account: str, name: str) -> None:
        """Remove a key for good. Raises NotFound."""
        await self._store.write(delete_secret, account, name.lower())

    def _check_allowed(self) -> None:
        if not self._is_allowed:
            raise Forbidden("On this server accounts have no pipelines and presets of their own (AGENTUI_OWN_PIPELINES=false).")

    def _opened(self, account: str, sealed: SealedSecret) -> Secret:
        data = self._secrets.unseal(PURPOSE, sealed.sealed)
        try:
            match None if data is None else loads(data):
                case {"account": str(owner), "name": sealed.name, "value": str(value), "origins": list(origins)} if (
                    owner == account
                ):
                    return Secret(sealed.shown_name, value, frozenset(map(str, origins)))
        except InvalidJson:
            pass
        raise NodeFailed(
            f"Your secret {sealed.shown_name!r} cannot be opened: it is damaged, or sealed with another key. Store it again.",
            secret=sealed.shown_name,
        )

    def _good(self, account: str, kind: Kind, id: str) -> Any:
        known = self._known.get(account)
        if known is None:
            raise NotFound(f"There is no {NOUNS[kind]} {id!r}.", id=id)
        entry = self._entry(account, known, kind, id)
        if entry.good is None:
            first = next((f": {problem}" for problem in entry.problems if problem.severity == "error"), ".")
            raise InvalidPipeline(f"The {NOUNS[kind]} {id!r} has problems{first}", entry.problems, id=id)
        return entry.good.value

    def _entry(self, account: str, known: _Snapshot, kind: Kind, id: str) -> Entry[Any]:
        """An entry, understood when it is first asked for."""
        entry = known.entries.get((kind, id))
        if entry is None:
            kept = known.stored[kind].get(id)
            if kept is None:
                raise NotFound(f"There is no {NOUNS[kind]} {id!r}.", id=id)
            entry = known.entries[kind, id] = self._made(account, kept)
        return entry

    def _made(self, account: str, kept: Stored) -> Entry[Any]:
        good = self._good_or_problems(account, kept.kind, kept.id, kept.document, kept.etag)
        if isinstance(good, Good):
            return Entry(kept.id, kept.etag, kept.modified, kept.document, None, good.problems, good)
        last = None
        if kept.good is not None:
            before = self._good_or_problems(account, kept.kind, kept.id, kept.good, etag_of(version_of(kept.good)))
            last = before if isinstance(before, Good) else None
        return Entry(kept.id, kept.etag, kept.modified, kept.document, None, good, last)

    def _good_or_problems(
        self, account: str, kind: Kind, id: str, document: Mapping[str, Json], etag: str
    ) -> Good[Any] | tuple[Problem, ...]:
        try:
            value, warnings = self._understood(account, kind, id, document)
        except InvalidPipeline as error:
            return error.problems or (Problem("document.invalid", error.message),)
        return Good(value, etag, document, warnings)

    def _understood(self, account: str, kind: Kind, id: str, document: Mapping[str, Json]) -> Understood:
        """What a document means. Raises InvalidPipeline."""
        value, warnings = self._library(kind).understand(id, document)
        if kind == "pipelines":
            problem = self.stray(document) or self.circle(account, id, value.calls)
            if problem is not None:
                raise InvalidPipeline(problem.message, (problem,), pipeline=id)
        return value, warnings

    def stray(self, document: Mapping[str, Json]) -> Problem | None:
        """What keeps a document, of whatever shape, from being a pipeline of an account: a node type or a preset that is for
        the server's."""
        nodes = document.get("nodes")
        for node in nodes if isinstance(nodes, list) else ():
            if not isinstance(node, dict) or not isinstance(kind := node.get("type"), str):
                continue
            config = node.get("config")
            config = config if isinstance(config, dict) else {}
            if kind not in self._types:
                text = f"{kind[:100]!r} is a node type of an installed package: it is for the server's pipelines alone."
                return Problem("node.not_own", text, node=str(node.get("id")), facts={"type": kind[:100]})
            rows = config.get("targets")
            for row in rows if isinstance(rows, list) else ():
                preset = row.get("preset") if isinstance(row, dict) else None
                if isinstance(preset, str) and preset.strip() and not is_own_id(preset.strip()):
                    text = f"A pipeline of your own names presets of your own alone, and {preset[:100]!r} is the server's."
                    return Problem(
                        "preset.not_own", text, node=str(node.get("id")), field="targets", facts={"preset": preset[:100]}
                    )
        return None

    def _calls_of(self, account: str, id: str) -> frozenset[str]:
        known = self._known.get(account)
        kept = None if known is None else known.stored["pipelines"].get(id)
        if known is None or kept is None:
            return frozenset()
        if id not in known.calls:
            known.calls[id] = self._calls_in(id, kept.document)
        return known.calls[id]

    def _calls_in(self, id: str, document: Mapping[str, Json]) -> frozenset[str]:
        """Which pipelines a document calls, without its own circle: that is what is being looked for."""
        try:
            value, _ = self._library("pipelines").understand(id, document)
        except InvalidPipeline:
            return frozenset()
        return frozenset(value.calls)


def check_own_id(id: str) -> None:
    """Raise BadRequest for what cannot be the id of an account's own document."""
    if not is_own_id(id):
        raise BadRequest("The id of something of your own begins with '~'.", param="id")
    check_new_id(id[1:])
