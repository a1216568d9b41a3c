"""Does the law of accounts notice? ``python -m tests.campaigns.account_filters [WORDS]`` takes the filters by account out of
the statements that a stranger's requests run, one at a time, and asks whether the walk over all routes finds something then.

Filters are found where they are: in the words that go to the driver. ``t.account_id = ?`` becomes ``? IS NOT NULL``, so that
the parameters stay what they are. A filter that may go unnoticed stands behind another one, which found nothing before; the
report tells of those, and exit code 1 says that there were other ones than ``BEHIND_OTHERS`` names. ``WORDS`` choose among
statements.
"""

import asyncio
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from aiohttp import ClientSession, TCPConnector
from sqlalchemy import Engine, event

from agentui.store import prepared
from tests.accounts.conftest import ALICE, BOB, TOKEN, Team
from tests.conftest import servers
from tests.isolation.estate import documents, make_estate
from tests.isolation.walk import Faults, shown, written
from tests.upstreams.server import start_mock

FILTER: Final = re.compile(r"\w+\.account_id = \?")
BEHIND_OTHERS: Final[Mapping[str, str]] = {
    "sessions.id = coalesce(": "the session that is called so is looked for in the account, and is the account's",
    "JOIN floors ON floors.session_id = sessions.id": "what a turn is bound to is read before its floor is, which says 404",
    "CASE WHEN (variables.scope": "of a variable that is the account's, so is what it belongs to",
    "coalesce(length(variables": "sizes of what the count beside them has found",
    "mcp_servers.account_id = ? OR mcp_servers.source": "``stored._may_use`` looks at each row",
    "SELECT pages.id FROM pages JOIN floors": "of a page that is the account's, so is all above it",
    "SELECT branches.source_floor_id, sessions.status": "of a session that was found in the account",
    "INSERT INTO text_index": "of a page that the turn has made",
    "UPDATE floors SET state=": "of the floor that the turn has made",
    "DELETE FROM generations": "of the floor that the turn has made",
    "INSERT INTO branch_snapshots": "of a branch that was found in the account",
    "json_group_array(json_array(variables.id": "chat and branch are found in the account; the global tier has to be noticed",
    "SELECT branches.branch_id, coalesce(": "of a session that was found in the account",
    "WITH RECURSIVE": "of floors of a session that was found in the account",
    "SELECT messages.role, messages.content": "of the floor that the turn goes back to",
    "FROM tool_executions JOIN floors": "of the floor that the turn goes back to",
    "FROM variable_changes WHERE variable_changes.page_id": "of the answer that the turn makes anew",
    "floors.superseded_at IS NULL AND floors.state = ? ORDER BY floors.floor_no DESC LIMIT 1": "of a session that was found",
}
"""Words of statements whose filters may go unnoticed, and why."""
MUST_BE_NOTICED: Final = {
    '"key" || ?, ?) - ?) IN (?) UNION ALL': {0},
    "SELECT count(*) AS count_1 FROM variables": {0},
}
"""Filters of these, by their numbers, that may not all the same: those of the global tier, and of lists."""


class Mutant:
    """Every statement on its way to SQLite: those seen are kept while it ``listens``, and one loses a filter while it is on."""

    def __init__(self) -> None:
        self.seen: dict[str, None] = {}
        self.listens = False
        self._broken: tuple[str, str] | None = None
        self._run = prepared._run
        prepared._run = self._run_prepared
        event.listen(Engine, "before_cursor_execute", self._before, retval=True)

    def close(self) -> None:
        """Let statements be what they are."""
        prepared._run = self._run
        event.remove(Engine, "before_cursor_execute", self._before)

    def breaks(self, statement: str, number: int) -> None:
        """Take the filter of this number out of a statement."""
        found = list(FILTER.finditer(statement))[number]
        self._broken = statement, f"{statement[: found.start()]}? IS NOT NULL{statement[found.end() :]}"

    def heals(self) -> None:
        """Break nothing any more."""
        self._broken = None

    def _words(self, statement: str) -> str:
        if self.listens and FILTER.search(statement):
            self.seen.setdefault(statement)
        return self._broken[1] if self._broken is not None and self._broken[0] == statement else statement

    def _run_prepared(self, db: Any, text: Any, values: Any) -> Any:
        return self._run(db, text._replace(words=self._words(text.words)), values)

    def _before(self, _: Any, __: Any, statement: str, parameters: Any, ___: Any, ____: Any) -> tuple[str, Any]:
        return self._words(statement), parameters


async def walk(mutant: Mutant, broken: tuple[str, int] | None) -> Faults:
    """What a stranger finds or changes with one filter broken, on a server of its own."""
    mock = await start_mock()
    settings = {"auth_mode": "api_key", "account_mode": "multi", "auth_api_key_accounts": f"{ALICE}:alice,{BOB}:bob"}
    try:
        with tempfile.TemporaryDirectory() as folder:
            async with ClientSession(connector=TCPConnector(limit=0)) as http, servers(Path(folder)) as start:
                server = await start(documents(mock), token=TOKEN, **settings)
                estate = await make_estate(Team(server, http))
                before = await estate.rows()
                mutant.listens = broken is None
                if broken is not None:
                    mutant.breaks(*broken)
                try:
                    faults = {**await shown(estate), **await written(estate)}
                finally:
                    mutant.listens = False
                    mutant.heals()
                after = await estate.rows()
                lost = {name: (0, "rows changed") for name, rows in before.items() if rows != after[name]}
                return {**faults, **lost}
    finally:
        await mock.close()


async def campaign(words: Sequence[str]) -> int:
    """Break one filter after the other; returns how many went unnoticed that should not have."""
    mutant, missed, count = Mutant(), list[str](), 0
    try:
        faults = await walk(mutant, None)
        assert faults == {}, faults
        statements = [statement for statement in mutant.seen if all(word in statement for word in words)]
        for statement in statements:
            for number in range(len(FILTER.findall(statement))):
                count += 1
                try:
                    is_found = bool(await walk(mutant, (statement, number)))
                except Exception as error:  # noqa: BLE001  whatever breaks has been noticed
                    print(f"broke: {type(error).__name__}", flush=True)
                    is_found = True
                if not is_found:
                    line = " ".join(statement.split())
                    known = any(words in line for words in BEHIND_OTHERS) and not any(
                        words in line and number in numbers for words, numbers in MUST_BE_NOTICED.items()
                    )
                    print(f"{'known' if known else 'MISSED'} {number}: {line}", flush=True)
                    missed += [] if known else [line]
    finally:
        mutant.close()
    print(f"{count} filters of {len(statements)} statements, {len(missed)} missed", flush=True)
    return len(missed)


if __name__ == "__main__":
    sys.exit(1 if asyncio.run(campaign(sys.argv[1:])) else 0)
