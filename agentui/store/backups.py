"""``Backups``: whole copies of the SQLite file, made while it is in use.

    backups/0012.2025-11-20.db        the daily ones, numbered so that a clock that jumps does not mix them up
    backups/before-0002.from-0001.db  the file as it was before a migration

A copy appears under its name when it is complete, synced and checked.
"""

import os
import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from agentui.files import make_private, sync_folder
from agentui.ids import Clock

FOLDER = "backups"
KEPT = 7
DAY = 24 * 60 * 60 * 1000
_DAILY = re.compile(r"([0-9]{4,})\.[0-9]{4}-[0-9]{2}-[0-9]{2}\.db")
_STEP = 4096
"""Pages between two looks whether to stop."""


class Backups:
    """The copies of one database file."""

    def __init__(self, database: Path, clock: Clock, kept: int = KEPT) -> None:
        self._database = database
        self._folder = database.parent / FOLDER
        self._clock = clock
        self._kept = kept
        self._stop = threading.Event()

    @property
    def last(self) -> Path | None:
        """The newest copy of any kind; None when there is none."""
        daily = self._daily()
        return daily[-1] if daily else max(self._folder.glob("before-*.db"), default=None, key=_modified)

    def make_if_due(self) -> Path | None:
        """Make today's copy if the last is a day old, and keep the newest ``kept``.

        Raises OSError or sqlite3.Error when it could not be made; the earlier ones are then all there.
        """
        daily = self._daily()
        if daily and abs(self._clock.now_ms() - _modified(daily[-1])) < DAY:
            return None
        number = int(daily[-1].name.partition(".")[0]) + 1 if daily else 1
        today = datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC).date().isoformat()
        copy = self._copy_to(f"{number:04}.{today}.db")
        for old in [*daily, copy][: -self._kept]:
            old.unlink()
        return copy

    def before_migration(self, now: str, to: str) -> Path:
        """Copy the file as it is at revision ``now``. Raises OSError or sqlite3.Error."""
        return self._copy_to(f"before-{to}.from-{now}.db")

    def stop(self) -> None:
        """Give up a copy that is under way."""
        self._stop.set()

    def go_on(self) -> None:
        """Make copies again after a ``stop``."""
        self._stop.clear()

    def _daily(self) -> list[Path]:
        if not self._folder.is_dir():
            return []
        found = [path for path in self._folder.iterdir() if _DAILY.fullmatch(path.name)]
        return sorted(found, key=lambda path: int(path.name.partition(".")[0]))

    def _copy_to(self, name: str) -> Path:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        draft = self._folder / f".{name}.tmp"
        draft.unlink(missing_ok=True)
        try:
            make_private(draft)
            self._copy(draft)
            now = self._clock.now_ms() / 1000
            os.utime(draft, (now, now))
            _sync(draft)
            os.replace(draft, self._folder / name)
        finally:
            draft.unlink(missing_ok=True)
        sync_folder(self._folder)
        return self._folder / name

    def _copy(self, draft: Path) -> None:
        with snapshot(self._database) as source, closing(sqlite3.connect(draft, isolation_level=None)) as target:
            source.backup(target, pages=_STEP, progress=self._look_up)
            target.execute("PRAGMA journal_mode=DELETE").fetchone()  # one file, without the two beside it
            if (why := found_damage(target)) is not None:
                raise sqlite3.DatabaseError(f"the copy is damaged: {why}")

    def _look_up(self, status: int, remaining: int, total: int) -> None:
        if self._stop.is_set():
            raise InterruptedError("the store closes")


@contextmanager
def snapshot(database: Path) -> Iterator[sqlite3.Connection]:
    """The file as it is now, whatever is written meanwhile."""
    with closing(sqlite3.connect(database, isolation_level=None)) as source:
        source.execute("PRAGMA query_only=ON")
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_master").fetchone()
        yield source
        with suppress(sqlite3.OperationalError):  # the backup may have ended the transaction itself
            source.execute("ROLLBACK")


def found_damage(raw: sqlite3.Connection) -> str | None:
    """What SQLite's own check finds wrong with the file, in its words; None when it is sound."""
    try:
        found = [str(row[0]) for row in raw.execute("PRAGMA quick_check(3)")]
    except UnicodeDecodeError:  # SQLite repeats the damaged bytes in its error
        return "the schema holds bytes that are no text"
    return None if found == ["ok"] else "; ".join(found)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _modified(path: Path) -> int:
    return int(path.stat().st_mtime * 1000)
