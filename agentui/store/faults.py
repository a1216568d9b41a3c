"""What a database's error means for the caller, whichever engine said it."""

import sqlite3
from enum import StrEnum

from sqlalchemy.exc import DBAPIError


class Fault(StrEnum):
    """Why the engine, not the function, failed."""

    BUSY = "busy"
    """Locked, unreachable, out of connections: later it may work."""

    CONFLICT = "conflict"
    """Lost against another transaction (PostgreSQL): run it again."""

    FULL = "full"
    FAILED = "failed"
    """The disk did not do what it was asked: an input/output error, a file that does not open."""

    READ_ONLY = "read_only"
    DAMAGED = "damaged"


_SQLITE = {
    sqlite3.SQLITE_BUSY: Fault.BUSY,
    sqlite3.SQLITE_LOCKED: Fault.BUSY,
    sqlite3.SQLITE_FULL: Fault.FULL,
    sqlite3.SQLITE_READONLY: Fault.READ_ONLY,
    sqlite3.SQLITE_CORRUPT: Fault.DAMAGED,
    sqlite3.SQLITE_NOTADB: Fault.DAMAGED,
    sqlite3.SQLITE_IOERR: Fault.FAILED,
    sqlite3.SQLITE_CANTOPEN: Fault.FAILED,
    sqlite3.SQLITE_PROTOCOL: Fault.BUSY,
}
_SQLITE_REFUSED_WRITES = frozenset(
    {
        sqlite3.SQLITE_IOERR_WRITE,
        sqlite3.SQLITE_IOERR_FSYNC,
        sqlite3.SQLITE_IOERR_DIR_FSYNC,
        sqlite3.SQLITE_IOERR_TRUNCATE,
        sqlite3.SQLITE_IOERR_SHMSIZE,
        sqlite3.SQLITE_IOERR_SHMMAP,
    }
)
"""SQLite says FULL for ENOSPC only; a quota (EDQUOT) and a file size limit (EFBIG) come as these."""


def sqlite_fault(error: BaseException | None) -> Fault | None:
    """The engine's fault behind an exception; None for an ordinary error (a constraint, wrong SQL, anything else)."""
    if isinstance(error, DBAPIError):
        error = error.orig
    if not isinstance(error, sqlite3.Error):
        return None
    code = getattr(error, "sqlite_errorcode", None)  # absent from what the module itself raises
    if code is None:
        return None
    if code in _SQLITE_REFUSED_WRITES:
        return Fault.FULL
    return _SQLITE.get(code & 0xFF)


def postgres_fault(error: DBAPIError) -> Fault | None:
    """The engine's fault behind an exception; None for an ordinary error.

    Codes: https://www.postgresql.org/docs/current/errcodes-appendix.html
    """
    state = sqlstate(error)
    match state:
        case "40001" | "40P01":
            return Fault.CONFLICT
        case "53100":
            return Fault.FULL
        case "25006":
            return Fault.READ_ONLY
        case "58030":
            return Fault.FAILED
        case "55P03" | "57P01" | "57P02" | "57P03":
            return Fault.BUSY
        case str() if state[:2] in ("08", "53"):
            return Fault.BUSY
    return Fault.BUSY if error.connection_invalidated else None


def sqlstate(error: DBAPIError) -> str | None:
    """The five letters in which PostgreSQL says what happened; None when it said nothing (a lost connection)."""
    state = getattr(error.orig, "sqlstate", None)
    return state if isinstance(state, str) else None
