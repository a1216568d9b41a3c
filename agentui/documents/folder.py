"""``FolderLibrary``: the documents of one folder, read again when they change and saved whole.

    entry = what the file says now (perhaps broken)  +  what serves (the last good version of it)

Everything here is synchronous and may be called from any thread; looking something up takes no lock and no disk.
"""

import asyncio
import hashlib
import os
import stat
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Generic, TypeAlias

from agentui.documents.conditions import check_condition
from agentui.documents.document import (
    MAX_FILE_BYTES,
    Entry,
    Good,
    T,
    check_new_id,
    etag_of,
    hash_of,
    is_id,
    parse_document,
    version_of,
)
from agentui.documents.versions import Version, Versions
from agentui.errors import (
    BadRequest,
    BodyTooLarge,
    Conflict,
    InvalidPipeline,
    NotFound,
    NotSaved,
    Problem,
)
from agentui.files import move_file, remove_file, write_atomically
from agentui.jsonio import Json, dumps, dumps_pretty

POLL_SECONDS = 0.5

_SETTLED_NS = 2_000_000_000

Signature: TypeAlias = tuple[int, int, int, int]
"""What tells that a file changed, without reading it: modified, changed, size, inode."""

Found: TypeAlias = tuple[Path, os.stat_result | None]
"""Where a file really is, and its status; None when it went away after it was listed (perhaps with the whole folder, so
only the next look tells)."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What was last read of a file. ``signature`` is None while the clock is too coarse to tell a further change."""

    signature: Signature | None
    digest: str


class FolderLibrary(ABC, Generic[T]):
    """The documents of one folder by id (the file's name), their versions, and the last good state of each.

    ``data`` holds what is ours: ``good/<kind>/<id>.json`` and ``versions/<kind>/<id>/``. ``lock`` keeps out whoever else
    changes these files; other processes only where it is a ``FileLock``. It must let its holder in again.
    """

    kind: ClassVar[str]
    noun: ClassVar[str]

    def __init__(self, folder: Path, data: Path, *, lock: AbstractContextManager[object] | None = None) -> None:
        self.folder = folder
        self._good_folder = data / "good" / self.kind
        self._versions_folder = data / "versions" / self.kind
        self._entries: dict[str, Entry[T]] = {}
        self._seen: dict[str, _Seen] = {}
        self._ignored: tuple[str, ...] = ()
        self._unsaved: dict[str, str] = {}
        self._listeners: list[Callable[[frozenset[str]], None]] = []
        self._lock: AbstractContextManager[object] = lock or threading.RLock()

    @abstractmethod
    def understand(self, id: str, document: Mapping[str, Json]) -> tuple[T, tuple[Problem, ...]]:
        """What a document means, and warnings about it. Raises InvalidPipeline with what is wrong."""

    # Looking up

    @property
    def complaints(self) -> tuple[str, ...]:
        """Sentences about files that were left out and copies that could not be written."""
        return (*self._ignored, *self._unsaved.values())

    def entries(self) -> list[Entry[T]]:
        """All entries by id."""
        entries = self._entries
        return [entries[id] for id in sorted(entries)]

    def entry(self, id: str) -> Entry[T]:
        """One entry. Raises NotFound."""
        entry = self._entries.get(id)
        if entry is None:
            raise NotFound(f"There is no {self.noun} {id!r}.", id=id)
        return entry

    def __contains__(self, id: object) -> bool:
        return id in self._entries

    def good(self, id: str) -> T:
        """What serves under this id. Raises NotFound, or InvalidPipeline when no version was ever good."""
        entry = self.entry(id)
        if entry.good is None:
            raise self._invalid(entry)
        return entry.good.value

    def _invalid(self, entry: Entry[T]) -> InvalidPipeline:
        errors = [problem for problem in entry.problems if problem.severity == "error"]
        first = f": {errors[0]}" if errors else "."
        return InvalidPipeline(f"The {self.noun} {entry.id!r} has problems{first}", entry.problems, id=entry.id)

    # Following the folder

    def subscribe(self, listener: Callable[[frozenset[str]], None]) -> None:
        """Call ``listener`` with the ids that changed, appeared or went. It is called in whatever thread noticed; none of them
        changes further while it is, so it must be quick."""
        self._listeners.append(listener)

    def notify(self, ids: frozenset[str]) -> None:
        """Call the listeners with the ids that changed."""
        for listener in self._listeners:
            listener(ids)

    async def watch(self, seconds: float = POLL_SECONDS) -> None:
        """Follow the folder until cancelled. Polling works on every file system, network shares and containers included."""
        while True:
            await asyncio.to_thread(self.refresh)
            await asyncio.sleep(seconds)

    def refresh(self) -> frozenset[str]:
        """Take in what changed in the folder; returns the ids that did."""
        with self._lock:
            before = self._entries
            try:
                files = dict(self._scan())
            except OSError as error:
                # A folder that is away for a moment (a share, a checkout) must not take the documents with it.
                self._ignored = (f"The folder {self.folder.name!r} cannot be read: {error.strerror}.",)
                return frozenset()
            for id in before.keys() - files.keys():
                self._forget(id)
            for id, (path, status) in files.items():
                if status is not None:
                    self._look(id, path, status)
            after = self._entries
            changed = frozenset(id for id in before.keys() | after.keys() if before.get(id) is not after.get(id))
            if changed:
                self.notify(changed)
            return changed

    def _scan(self) -> Iterator[tuple[str, Found]]:
        """The files that are ours, by id. Says in ``complaints`` what is left out."""
        ignored: list[str] = []
        root = self.folder.resolve()
        with os.scandir(self.folder) as items:
            for item in sorted(items, key=lambda item: item.name):
                id, dot, ending = item.name.rpartition(".")
                if item.name.startswith(".") or ending.lower() != "json":
                    continue
                if not (dot and is_id(id) and ending == "json"):
                    ignored.append(f"{item.name!r} is left out: name it with letters, digits, '_' and '-', then .json.")
                    continue
                found = _examine(item, root)
                if isinstance(found, str):
                    ignored.append(f"{item.name!r} is left out: {found}")
                elif found is not None:
                    yield id, found
        self._ignored = tuple(ignored)

    def _look(self, id: str, path: Path, status: os.stat_result) -> None:
        """Read a file if it may have changed."""
        signature: Signature = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
        seen = self._seen.get(id)
        if seen is not None and seen.signature == signature:
            return
        # A second change within the file clock's tick would look the same, so a young file is read again next time.
        settled = time.time_ns() - status.st_mtime_ns > _SETTLED_NS
        try:
            raw = b"" if status.st_size > MAX_FILE_BYTES else path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            # Removed since it was listed, or the whole folder was: a file may stand in its place by now.
            return
        except OSError as error:
            self._seen[id] = _Seen(signature, "unreadable")
            text = f"The file cannot be read: {error.strerror}."
            self._put_broken(id, status, b"", Problem("file.unreadable", text, facts={"error": error.strerror}))
            return
        digest = hashlib.sha256(raw).hexdigest()[:16] if raw or not status.st_size else f"size-{status.st_size}"
        self._seen[id] = _Seen(signature if settled else None, digest)
        if seen is None or seen.digest != digest or id not in self._entries:
            self._take_in(id, raw, status)

    def _take_in(self, id: str, raw: bytes, status: os.stat_result) -> None:
        """Understand new content of a file, and keep a version of it."""
        if status.st_size > MAX_FILE_BYTES:
            text = f"The file is larger than {MAX_FILE_BYTES} bytes."
            self._put_broken(id, status, raw, Problem("file.too_large", text, facts={"limit": MAX_FILE_BYTES}))
            return
        document = parse_document(raw)
        if isinstance(document, Problem):
            self._put_broken(id, status, raw, document)
            return
        entry = self._make(id, document, _milliseconds(status), self._last_good(id))
        self._put(entry)
        self._keep(entry)

    def _make(self, id: str, document: Mapping[str, Json], modified: int, last: Good[T] | None) -> Entry[T]:
        """The entry of a document; ``last`` serves when it is not good."""
        etag = etag_of(version_of(document))
        good = self._understand(id, document, etag)
        if isinstance(good, Good):
            return Entry(id, etag, modified, document, None, good.problems, good)
        return Entry(id, etag, modified, document, None, good, last)

    def _understand(self, id: str, document: Mapping[str, Json], etag: str) -> Good[T] | tuple[Problem, ...]:
        try:
            value, warnings = self.understand(id, document)
        except InvalidPipeline as error:
            return error.problems or (Problem("document.invalid", error.message),)
        return Good(value, etag, document, warnings)

    def _put_broken(self, id: str, status: os.stat_result, raw: bytes, problem: Problem) -> None:
        """An entry for a file that holds no document; the last good version goes on serving."""
        etag = etag_of(hashlib.sha256(raw).hexdigest()[:16])
        text = raw.decode("utf-8", "replace")
        self._put(Entry(id, etag, _milliseconds(status), None, text, (problem,), self._last_good(id)))

    def _put(self, entry: Entry[T]) -> None:
        self._entries = {**self._entries, entry.id: entry}

    def _forget(self, id: str) -> None:
        """The file is gone: so is everything but its versions."""
        self._entries = {key: entry for key, entry in self._entries.items() if key != id}
        self._seen.pop(id, None)
        self._note(f"good {id}", lambda: remove_file(self._good_path(id)))

    # Saving

    def save(self, id: str, document: Json, if_match: str | None = None, if_none_match: str | None = None) -> Entry[T]:
        """Write a document as it was given, if the caller knows what it replaces (spec: reliability S8).

        ``if_match`` is an ETag or ``*``, ``if_none_match`` ``*`` for a new document only. A document with problems is
        saved too; what served before goes on serving then. Raises BadRequest, BodyTooLarge, PreconditionRequired,
        PreconditionFailed (details: ``current``, ``etag``), Conflict, NotSaved.
        """
        check_new_id(id)
        if not isinstance(document, dict):
            raise BadRequest(f"A {self.noun} is a JSON object.")
        data = dumps_pretty(document)
        if len(data) > MAX_FILE_BYTES:
            raise BodyTooLarge(f"A {self.noun} may have {MAX_FILE_BYTES} bytes; this one has {len(data)}.")
        with self._lock:
            self.refresh()
            check_condition(self.noun, self._entries.get(id), if_match, if_none_match)
            self._check_free(id)
            write_atomically(self._path(id), data)
            self.refresh()
            return self.entry(id)

    def delete(self, id: str, if_match: str | None) -> None:
        """Remove a document; its versions stay. Raises as ``save`` does, and NotFound."""
        with self._lock:
            self.refresh()
            entry = self.entry(id)
            check_condition(self.noun, entry, if_match, None)
            self.check_delete(id)
            remove_file(self._path(id))
            self._forget(id)
            self.notify(frozenset({id}))

    def rename(self, id: str, new_id: str, if_match: str | None) -> Entry[T]:
        """Give a document another id, its versions with it. Where a removed document of that id left versions, these come
        after them. Raises as ``save`` does, and NotFound."""
        check_new_id(new_id)
        with self._lock:
            self.refresh()
            entry = self.entry(id)
            check_condition(self.noun, entry, if_match, None)
            if new_id == id:
                return entry
            if new_id in self._entries:
                raise Conflict(f"There is a {self.noun} {new_id!r} already; choose another id.", id=new_id)
            self._check_free(new_id)
            old, new = self._path(id), self._path(new_id)
            move_file(old, new)
            self._note(f"version {new_id}", lambda: self._versions(id).move_to(self._versions(new_id)))
            self._note(f"good {new_id}", lambda: move_file(self._good_path(id), self._good_path(new_id)))
            # The new id is there before the old one goes, so that whoever serves by it finds one of them.
            self._look(new_id, new, new.stat())
            self.note_rename(id, new_id)
            self._forget(id)
            self.notify(frozenset({id, new_id}))
            return self.entry(new_id)

    def note_rename(self, id: str, new_id: str) -> None:
        """A document is being renamed; both ids are known now."""

    def check_delete(self, id: str) -> None:
        """Raise Conflict when this document must stay."""

    def _check_free(self, id: str) -> None:
        """A new document must not land on something else: a link, or the same name in other letters (on disks that take
        them for the same)."""
        if id in self._entries:
            return
        taken = next((other for other in self._entries if other.casefold() == id.casefold()), None)
        if taken is not None:
            raise Conflict(f"{id!r} differs from {taken!r} only in capitals; choose another name.")
        if os.path.lexists(self._path(id)):
            raise Conflict(f"Something else is called {id}.json in that folder; choose another name.")

    def _path(self, id: str) -> Path:
        return self.folder / f"{id}.json"

    # Versions

    def versions(self, id: str) -> list[Version]:
        """The kept versions, newest first. Raises NotFound."""
        versions = self._known_versions(id).list()
        if not versions:
            self.entry(id)
        return versions

    def version(self, id: str, number: int) -> tuple[Version, Json]:
        """One kept version and its document. Raises NotFound."""
        return self._known_versions(id).read(number)

    def name_version(self, id: str, number: int, name: str) -> Version:
        """Name a version, which keeps it for good. Raises NotFound, NotSaved."""
        with self._lock:
            return self._known_versions(id).rename(number, name)

    def _known_versions(self, id: str) -> Versions:
        """Removed documents keep their versions, so the id need not be in the folder; but it must be an id."""
        if not is_id(id):
            raise NotFound(f"There is no {self.noun} {id!r}.")
        return self._versions(id)

    # Keeping copies

    def _last_good(self, id: str) -> Good[T] | None:
        """What served until now; after a restart, the copy in the data folder."""
        entry = self._entries.get(id)
        if entry is not None:
            return entry.good
        try:
            document = parse_document(self._good_path(id).read_bytes())
        except OSError:
            return None
        if isinstance(document, Problem):
            return None
        good = self._understand(id, document, etag_of(version_of(document)))
        return good if isinstance(good, Good) else None

    def _keep(self, entry: Entry[T]) -> None:
        """Copy a document to the versions and, if it is good, to the good ones. Failing that is a complaint, no error:
        the document itself is safe in the folder."""
        assert entry.document is not None
        document = entry.document
        self._note(f"version {entry.id}", lambda: self._versions(entry.id).add(document, hash_of(entry.etag)))
        if entry.is_valid:
            self._note(f"good {entry.id}", lambda: _write_if_new(self._good_path(entry.id), dumps(document)))

    def _note(self, what: str, act: Callable[[], None]) -> None:
        try:
            act()
        except NotSaved as error:
            self._unsaved[what] = error.message
        except OSError as error:
            self._unsaved[what] = f"The data folder cannot be read: {error.strerror}."
        else:
            self._unsaved.pop(what, None)

    def _good_path(self, id: str) -> Path:
        return self._good_folder / f"{id}.json"

    def _versions(self, id: str) -> Versions:
        return Versions(self._versions_folder / id)


def _examine(item: "os.DirEntry[str]", root: Path) -> Found | str | None:
    """A file that is listed: where it is, or why it is left out; None for a link that leads nowhere."""
    path = Path(item.path)
    if item.is_symlink():
        try:
            path = path.resolve(strict=True)
        except (OSError, RuntimeError):
            return None
        if not path.is_relative_to(root):
            return "it is a link that leads out of the folder."
    try:
        status = path.stat()
    except OSError:
        return path, None
    return (path, status) if stat.S_ISREG(status.st_mode) else "it is no regular file."


def _milliseconds(status: os.stat_result) -> int:
    return status.st_mtime_ns // 1_000_000


def _write_if_new(path: Path, data: bytes) -> None:
    """Write a copy unless it is there already. Raises NotSaved."""
    try:
        if path.read_bytes() == data:
            return
    except OSError:
        pass  # Not there, or not readable: written anew, and writing says what is wrong.
    write_atomically(path, data)
