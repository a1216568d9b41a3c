"""What an engine's error means for the caller."""

import sqlite3

import pytest

from agentui.store.faults import Fault, sqlite_fault


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        (sqlite3.SQLITE_FULL, Fault.FULL),
        (sqlite3.SQLITE_IOERR_WRITE, Fault.FULL),
        (sqlite3.SQLITE_IOERR_READ, Fault.FAILED),
        (sqlite3.SQLITE_IOERR_CORRUPTFS, Fault.FAILED),
        (sqlite3.SQLITE_CANTOPEN, Fault.FAILED),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, Fault.BUSY),
        (sqlite3.SQLITE_CORRUPT_INDEX, Fault.DAMAGED),
        (sqlite3.SQLITE_READONLY_DBMOVED, Fault.READ_ONLY),
        (sqlite3.SQLITE_CONSTRAINT_UNIQUE, None),
    ],
)
def test_a_code_of_sqlite_is_a_fault_of_the_engine_or_none(code: int, fault: Fault | None) -> None:
    error = sqlite3.OperationalError("words")
    error.sqlite_errorcode = code
    assert sqlite_fault(error) is fault
