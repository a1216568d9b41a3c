"""``GroupCommit``: SQLite transactions that wait at the same time share one commit, and so one wait for the disk.

    BEGIN IMMEDIATE · one · one · … · COMMIT
    after a failure: ROLLBACK · BEGIN IMMEDIATE · SAVEPOINT one … RELEASE · SAVEPOINT one … ROLLBACK TO · … · COMMIT

Nearly all succeed, so they run without savepoints first: for a savepoint SQLite copies every page before it is changed. Where
one of several fails all run again, each in a savepoint of its own: it leaves nothing behind and harms no neighbour.
"""

import logging
import math
import sqlite3
import time
from collections.abc import Callable, Sequence
from typing import Final

from sqlalchemy import Connection

from agentui.store.base import lend
from agentui.store.faults import Fault, sqlite_fault
from agentui.store.threads import Pending

log = logging.getLogger("agentui.store")

_SLACK_MS: Final = 50
"""How much longer than asked a lock may be waited for, so that the timeout need not be set for every transaction."""


class GroupCommit:
    """Runs batch on the one connection that writes. ``raw`` is the driver's connection under ``db``, in autocommit mode."""

    def __init__(self, db: Connection, raw: sqlite3.Connection) -> None:
        self._db = db
        self._raw = raw
        self._timeout_ms = -1

    def run(self, batch: Sequence[Pending]) -> None:
        """Give every transaction its result, which is durable, or its error, which means that nothing of it was written."""
        begun = self._begin(list(batch))
        if not begun or self._run_together(begun, self._run_plain) or len(begun) == 1:
            return
        begun = self._begin(begun)
        if begun and not self._run_together(begun, self._run_in_savepoint):
            for pending in begun:
                self.run([pending])

    def empty_log(self) -> None:
        """Move SQLite's log into the file and give its room back, as far as nobody reads in it now."""
        try:
            self._wait_for_locks(0)
            self._raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error as error:  # it stays, and the next commit tries again
            log.warning("The log of the database could not be moved into its file: %s", error)

    def _begin(self, batch: list[Pending]) -> list[Pending]:
        """Take the write lock. Returns those for whom it came in time; each of the others has its error."""
        while batch:
            patience = max(0.0, min(pending.deadline for pending in batch) - time.monotonic())
            try:
                self._wait_for_locks(math.ceil(patience * 1000))
                self._raw.execute("BEGIN IMMEDIATE")
            except sqlite3.Error as error:
                is_busy = sqlite_fault(error) is Fault.BUSY
                now = time.monotonic()
                for pending in batch:
                    pending.error = error if not is_busy or pending.deadline <= now else None
                batch = [pending for pending in batch if pending.error is None]
            else:
                return batch
        return batch

    def _wait_for_locks(self, milliseconds: int) -> None:
        """Let SQLite wait so long for another program's lock, or a little longer."""
        if not milliseconds <= self._timeout_ms <= milliseconds + _SLACK_MS:
            self._raw.execute(f"PRAGMA busy_timeout={milliseconds}")
            self._timeout_ms = milliseconds

    def _run_together(self, batch: list[Pending], run: Callable[[Pending], bool]) -> bool:
        """Run all and commit. False when an error took the whole transaction along, innocent neighbours too; the one that
        is at fault has its error then."""
        try:
            for pending in batch:
                pending.result = pending.error = None
                if not run(pending):
                    return False
            self._raw.execute("COMMIT")
        except sqlite3.Error as error:  # of the commit or of a savepoint: nothing of all this was written
            for pending in batch:
                pending.error = pending.error or error
        finally:
            self._raw.rollback()  # nothing, after a commit
            self._db.rollback()  # SQLAlchemy's own notion of a transaction
        return True

    def _run_plain(self, pending: Pending) -> bool:
        """Run one that is expected to succeed; False when it did not."""
        try:
            pending.result = lend(self._db, pending.run)
        except BaseException as error:  # noqa: BLE001 - whatever it is, it belongs to the one who waits for this one
            pending.error = error
            return False
        return self._is_there_still(pending)

    def _run_in_savepoint(self, pending: Pending) -> bool:
        """Run one; False when the transaction is gone: SQLite ends it itself on a full disk and some other errors."""
        self._raw.execute("SAVEPOINT one")
        try:
            pending.result = lend(self._db, pending.run)
        except BaseException as error:  # noqa: BLE001 - whatever it is, it belongs to the one who waits for this one
            pending.error = error
            if self._is_gone():
                return False
            self._raw.execute("ROLLBACK TO one")
        else:
            if not self._is_there_still(pending):
                return False
        self._raw.execute("RELEASE one")
        return True

    def _is_there_still(self, pending: Pending) -> bool:
        """Whether the transaction outlived a function that returned: one may have gone on after an error that ended it."""
        if not self._raw.in_transaction:
            pending.error = sqlite3.OperationalError("The function went on after an error that had ended its transaction.")
        return pending.error is None

    def _is_gone(self) -> bool:
        """Whether the transaction is of no more use, to SQLite or (after a function tried to end it) to SQLAlchemy."""
        known = self._db.get_transaction()
        return not self._raw.in_transaction or (known is not None and not known.is_active)
