"""Servers whose calls are counted, with prices that a test can reckon with."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select

from agentui.api.keys import METER, STORE
from agentui.store.tables import usage
from tests.conftest import Server
from tests.turns.conftest import StartHouse, engine, start_house, store_settings
from tests.turns.house import House

__all__ = ["StartHouse", "engine", "start_house", "store_settings"]

PRICES = [{"model": "text", "input": 1.0, "output": 2.0}, {"model": "tool", "input": 1.0, "output": 2.0}]
"""A thousandth of a thousandth of a dollar a token of input, and twice that of output: 1000 and 2000 nano-dollars."""


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    """The file with the prices."""
    path = tmp_path / "prices.json"
    path.write_text(json.dumps({"prices": PRICES}))
    return path


async def ledger(server: Server | House) -> list[Any]:
    """The rows of a server's ledger, once all are written."""
    app = server.app if isinstance(server, Server) else server.server.app
    await app[METER].writer.flush()

    def rows(db: Connection) -> list[Any]:
        return list(db.execute(select(usage).order_by(usage.c.created_at, usage.c.id)).all())

    return await app[STORE].read(rows)
