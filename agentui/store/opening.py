"""Which store the settings ask for: a door to it, behind which its code is loaded when somebody first needs it.

SQLAlchemy and what stands on it take 20 MB, and a server without sessions and stored variables never needs them.
"""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from agentui.errors import StoreNotShared, Unsupported
from agentui.store.address import place_of
from agentui.store.base import Store
from agentui.store.lock import FolderLock

FILE = "agentui.db"


class StoreDoor(Protocol):
    """A store that is known and not loaded yet."""

    def claim(self) -> None:
        """Keep other processes out from now on where only one may be in. Raises StoreInUse."""

    def release(self) -> None:
        """Let others in."""

    def load(self) -> Store:
        """The store, not yet started. Takes some 0.2 seconds the first time, so call it in a thread."""

    @property
    def status(self) -> Mapping[str, Any]:
        """What the store's ``status`` says before it starts."""


def door_to_store(database_url: str | None, data: Path, *, is_shared: bool = False) -> StoreDoor:
    """PostgreSQL where a URL names it, else the file ``agentui.db`` in the data folder; several processes of one server
    (``is_shared``) cannot have the file.

    Raises ValueError for a URL that is not PostgreSQL's, and Unsupported when its driver is not installed.
    """
    if database_url is not None:
        return PostgresDoor(database_url)
    return ClosedDoor() if is_shared else SqliteDoor(data / FILE)


class SqliteDoor:
    """To a file, whose folder belongs to one process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = FolderLock(path.parent)

    def claim(self) -> None:
        """Take the folder before it is needed. Raises StoreInUse."""
        self._lock.claim()

    def release(self) -> None:
        """Let the next process in."""
        self._lock.release()

    def load(self) -> Store:
        """The store, which shares this door's lock."""
        from agentui.store.sqlite import SqliteStore

        return SqliteStore(self._path, lock=self._lock)

    @property
    def status(self) -> Mapping[str, Any]:
        """As the store says it of a file that it has not looked at."""
        return _status("sqlite", str(self._path))


class ClosedDoor:
    """To no store: the workers of a server share none, and somebody else has locked the folder for all of them."""

    def claim(self) -> None:
        """Nothing: the folder is the supervisor's."""

    def release(self) -> None:
        """Nothing was claimed."""

    def load(self) -> Store:
        """Raises StoreNotShared."""
        raise StoreNotShared(
            "This server has several workers and no database, so it keeps no chats and no stored variables: "
            "set AGENTUI_DATABASE_URL to a PostgreSQL database, or serve with one worker."
        )

    @property
    def status(self) -> Mapping[str, Any]:
        """There is none."""
        return _status("none", "")


class PostgresDoor:
    """To a database, which several processes may share. Raises ValueError and Unsupported as ``door_to_store`` says."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._place = place_of(url)  # A URL that is none is said before a driver is asked for.
        if find_spec("asyncpg") is None:
            raise Unsupported("PostgreSQL needs its driver: pip install -e '.[postgres]' in agentui's folder.")

    def claim(self) -> None:
        """Nothing: several processes may share a database."""

    def release(self) -> None:
        """Nothing was claimed."""

    def load(self) -> Store:
        """The store."""
        from agentui.store.postgres import PostgresStore

        return PostgresStore(self._url)

    @property
    def status(self) -> Mapping[str, Any]:
        """As the store says it of a database that it has not reached."""
        return _status("postgresql", self._place)


def _status(engine: str, place: str) -> Mapping[str, Any]:
    return {"engine": engine, "place": place, "read_only": False, "reason": None, "full": False}
