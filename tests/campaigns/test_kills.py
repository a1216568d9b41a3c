"""The witness of the kill campaign sees a turn that is lost, doubled or half."""

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.campaigns.witness import File, Told, Witness, counting, found_wrong
from tests.conftest import StartServer
from tests.upstreams.server import Mock

FAULTS = {
    "an acknowledged turn is lost": "DELETE FROM floors WHERE floor_no = 2",
    "is half": "DELETE FROM messages WHERE role = 'assistant' AND page_id IN (SELECT id FROM pages WHERE floor_id = (SELECT id "
    "FROM floors WHERE floor_no = 1))",
    "was kept 4 times": "UPDATE messages SET content = 'g0-0.1' WHERE role = 'user'",
    "is generating": "UPDATE floors SET state = 'generating' WHERE floor_no = 1",
    "counted": "UPDATE variables SET value_json = '7' WHERE key = 'gold'",
    "not of turn": "UPDATE variables SET value_json = '7' WHERE key = 'gold_then'",
    "has the snapshot": "UPDATE branch_snapshots SET values_json = '{}'",
    "has half a batch": "UPDATE variables SET value_json = '0' WHERE key = 'left'",
}


@pytest.mark.parametrize("said", FAULTS)
async def test_the_witness_sees(start_server: StartServer, mock: Mock, said: str) -> None:
    server = await start_server({"count": counting(mock.origin)})
    witness = Witness(random.Random(1))
    told = witness.told.setdefault("g0-0", Told("g0-0"))
    for _ in range(4):
        await witness.turn(server.origin, told)
    await witness.write(server.origin, told)
    file = Path(server.data / "agentui.db")
    assert await found_wrong(File(file), witness, "g0-%") == []
    _break(file, FAULTS[said])
    assert any(said in wrong for wrong in await found_wrong(File(file), witness, "g0-%"))


def _break(file: Path, statement: str) -> None:
    with closing(sqlite3.connect(file)) as db:
        db.execute("PRAGMA foreign_keys=ON")
        db.execute(statement)
        db.commit()
