"""The law of accounts holds whichever worker is asked: each passes on who asks, and not that a worker does."""

import asyncio
from pathlib import Path

import aiohttp
import pytest

from agentui.jsonio import Json, dumps
from tests.accounts.conftest import ALICE, BOB, TOKEN
from tests.isolation.estate import documents
from tests.test_workers import OFTEN, PATIENCE, serving
from tests.upstreams.server import Mock

SAID = {"model": "text", "messages": [{"role": "user", "content": "Hello!"}]}


@pytest.mark.timeout(300)
async def test_every_worker_shows_an_account_its_own_runs_alone(tmp_path: Path, database: str, mock: Mock) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "default.json").write_bytes(dumps(documents(mock)["plain"]))
    accounts = {"AGENTUI_AUTH_MODE": "api_key", "AGENTUI_ACCOUNT_MODE": "multi", "AGENTUI_TOKEN": TOKEN}
    keys = {"AGENTUI_AUTH_API_KEY_ACCOUNTS": f"{ALICE}:alice,{BOB}:bob", "AGENTUI_DATABASE_URL": database}
    alice, bob, operator = ({"authorization": f"Bearer {key}"} for key in (ALICE, BOB, TOKEN))
    connector = aiohttp.TCPConnector(force_close=True)  # the system chooses a worker for each request anew
    with serving(tmp_path, workers=2, **accounts, **keys) as process:
        async with aiohttp.ClientSession(process.origin, connector=connector) as http, asyncio.timeout(PATIENCE):

            async def asked(method: str, path: str, who: dict[str, str], body: Json = None) -> tuple[int, Json]:
                async with http.request(method, path, headers=who, json=body) as answer:
                    return answer.status, await answer.json()

            async def run_of(who: dict[str, str]) -> str:
                async with http.post("/v1/chat/completions", headers=who, json=SAID) as answer:
                    assert answer.status == 200, await answer.text()
                    return answer.headers["x-agentui-run"]

            for id in ("alice", "bob"):
                assert (await asked("POST", "/accounts", operator, {"id": id, "name": id}))[0] == 201
            alices = {await run_of(alice) for _ in range(OFTEN)}
            bobs = {await run_of(bob) for _ in range(OFTEN)}
            assert len({id.rpartition("-")[2] for id in alices}) == 2, "both workers have some"
            one = next(iter(alices))
            for _ in range(OFTEN):
                assert {line["id"] for line in (await asked("GET", "/api/runs", bob))[1]} == bobs
                assert (await asked("GET", f"/api/runs/{one}", bob))[0] == 404
                assert (await asked("POST", f"/api/runs/{one}/cancel", bob, {}))[0] == 404
                assert (await asked("POST", "/api/preview", bob, {"node": "n", "run_id": one}))[0] == 404
            assert {line["id"] for line in (await asked("GET", "/api/runs?limit=100", operator))[1]} >= alices | bobs
            assert (await asked("GET", f"/api/runs/{one}", alice))[0] == 200
            async with http.get("/api/runs/live?events=1", headers=bob) as stream:
                assert stream.status == 200
                others = [await run_of(alice) for _ in range(OFTEN)]
                own = [await run_of(bob) for _ in range(OFTEN)]
                heard = b""
                while not all(id.encode() in heard for id in own):
                    heard += await stream.content.readany()
                assert not any(id.encode() in heard for id in others)
