"""What SQLite's planner is told of the tables: one account has nearly all rows, so an index that begins with it finds nothing.

Without statistics SQLite takes ten rows for what one value of an index's first column finds. A query for the pages of some
floors would go through every page of the account instead, and a turn's work would grow with all chats that were ever had. The
statistics of ANALYZE would do, and would have to be taken again as a memory grows; these hold from the beginning on, and hold
for all of them. PostgreSQL takes its own (autovacuum).
https://www.sqlite.org/fileformat2.html#stat1tab
"""

import sqlite3

_ROWS = 1_000_000
"""Rows of a large table, and of its account."""
_FEW = 10
"""Rows that each further column of an index leaves."""
_INDEXES = """
    SELECT tables.name, list.name, list."unique", count(*), max(info.seqno = 0 AND info.name = 'account_id')
    FROM sqlite_schema AS tables, pragma_index_list(tables.name) AS list, pragma_index_info(list.name) AS info
    WHERE tables.type = 'table' GROUP BY list.name
"""


def is_told(raw: sqlite3.Connection) -> bool:
    """Whether the file holds what the planner should know."""
    if raw.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_stat1'").fetchone() == (0,):
        return False
    return set(raw.execute("SELECT tbl, idx, stat FROM sqlite_stat1")) == _facts(raw)


def tell(raw: sqlite3.Connection) -> None:
    """Write down what the planner should know, in the transaction that the connection is in."""
    raw.execute("ANALYZE sqlite_schema")  # makes the table
    raw.execute("DELETE FROM sqlite_stat1")
    raw.executemany("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)", sorted(_facts(raw)))
    raw.execute("ANALYZE sqlite_schema")  # reads it


def _facts(raw: sqlite3.Connection) -> set[tuple[str, str, str]]:
    """Table, index and statistics of every index that begins with the account: the rows of the table, and then those that are
    found by the first column, by the first two, and so on."""
    facts = set[tuple[str, str, str]]()
    for table, index, is_unique, columns, is_of_account in raw.execute(_INDEXES):
        if is_of_account and columns > 1:
            found = [_ROWS, *[_FEW] * (columns - 2), 1 if is_unique else _FEW]
            facts.add((table, index, " ".join(map(str, (_ROWS, *found)))))
    return facts
