"""The earlier versions of a document, one file a version."""

import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from agentui.documents.document import etag_of, hash_of
from agentui.errors import NotFound
from agentui.files import move_file, remove_file, write_atomically
from agentui.jsonio import InvalidJson, Json, dumps_pretty, loads

KEPT_VERSIONS = 20
MAX_VERSION_NAME = 200

_VERSION_FILE = re.compile(r"([0-9]{1,12})-([0-9]{1,15})-([0-9a-f]{16})\.json")


@dataclass(frozen=True, slots=True)
class Version:
    """One kept version. ``time`` is milliseconds since 1970, ``size`` bytes; ``name`` is "" until somebody gives one."""

    number: int
    time: int
    etag: str
    name: str
    size: int


class Versions:
    """The earlier versions of one document, numbered from 1 and never renumbered.

    Everything but the names stands in the files' own names (``<number>-<time>-<hash>.json``), so there is no index that
    could disagree with them. The last ``KEPT_VERSIONS`` are kept, and those that have a name.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names_file = folder / "names.json"

    def list(self) -> list[Version]:
        """All versions, newest first."""
        return sorted(self._scan(), key=lambda version: version.number, reverse=True)

    def read(self, number: int) -> tuple[Version, Json]:
        """One version and its document. Raises NotFound."""
        version = self._find(number)
        try:
            return version, loads(self._path(version).read_bytes())
        except (OSError, InvalidJson) as error:
            raise NotFound(f"Version {number} can no longer be read.", version=number) from error

    def add(self, document: Json, version_hash: str) -> None:
        """Keep a document unless the newest version is the same one. Raises NotSaved."""
        known = self.list()
        if known and known[0].etag == etag_of(version_hash):
            return
        number = known[0].number + 1 if known else 1
        now = time.time_ns() // 1_000_000
        write_atomically(self._folder / f"{number:06d}-{now}-{version_hash}.json", dumps_pretty(document))
        unnamed = [version for version in known if not version.name]
        for old in unnamed[KEPT_VERSIONS - 1 :]:
            remove_file(self._path(old))

    def rename(self, number: int, name: str) -> Version:
        """Give a version a name, which keeps it for good; "" takes the name away. Raises NotFound, NotSaved."""
        self._find(number)
        names = {str(version.number): version.name for version in self._scan() if version.name}
        names[str(number)] = name
        write_atomically(self._names_file, dumps_pretty({key: value for key, value in names.items() if value}))
        return self._find(number)

    def move_to(self, target: "Versions") -> None:
        """Move all versions, with their names, behind those of another document. Raises NotSaved."""
        moving = sorted(self._scan(), key=lambda version: version.number)
        if not moving:
            return
        behind = max((version.number for version in target._scan()), default=0)
        names = {str(version.number): version.name for version in target._scan() if version.name}
        names |= {str(behind + version.number): version.name for version in moving if version.name}
        for version in moving:
            move_file(self._path(version), target._path(replace(version, number=behind + version.number)))
        if names:
            write_atomically(target._names_file, dumps_pretty(names))
        remove_file(self._names_file)
        with suppress(OSError):
            self._folder.rmdir()

    def _find(self, number: int) -> Version:
        for version in self._scan():
            if version.number == number:
                return version
        raise NotFound(f"There is no version {number}; it may be too old.", version=number)

    def _scan(self) -> Iterator[Version]:
        if not self._folder.is_dir():
            return
        names = self._names()
        with os.scandir(self._folder) as items:
            for item in items:
                match = _VERSION_FILE.fullmatch(item.name)
                if match is None:
                    continue
                try:
                    size = item.stat().st_size
                except FileNotFoundError:
                    continue  # A newer version pushed it out since the folder was listed.
                name = names.get(match[1].lstrip("0"))
                yield Version(int(match[1]), int(match[2]), etag_of(match[3]), name if isinstance(name, str) else "", size)

    def _names(self) -> dict[str, Json]:
        """The names by number. A broken file costs the names, never the versions."""
        try:
            names = loads(self._names_file.read_bytes())
        except (FileNotFoundError, InvalidJson):
            return {}
        return names if isinstance(names, dict) else {}

    def _path(self, version: Version) -> Path:
        return self._folder / f"{version.number:06d}-{version.time}-{hash_of(version.etag)}.json"
