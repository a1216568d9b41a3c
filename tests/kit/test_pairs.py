"""Every call of the JavaScript kit is answered with the status, the headers, the meta and the members that it reads."""

import sys
from pathlib import Path

import pytest
from aiohttp import ClientSession

from tests.conftest import Server
from tests.kit.pairs import HERE, Json, Pairs, at, filled
from tests.mcp.conftest import PROGRAM as MCP_PROGRAM

FILES = sorted(path.stem for path in HERE.glob("*.json"))


@pytest.mark.parametrize("name", FILES)
async def test_every_call_is_answered_as_it_is_read(name: str, kit_server: Server, tmp_path: Path) -> None:
    pairs = Pairs.read(name)
    # The program of an MCP server, and the file that says which tools it has.
    (says := tmp_path / "says.json").write_text("{}")
    kept = {"python": sys.executable, "program": str(MCP_PROGRAM), "says": str(says)}
    async with ClientSession(kit_server.origin) as http:
        for number, step in enumerate(pairs.steps):
            what = f"{name} {number} {step['call']}: {step['method']} {step['path']}"
            body: Json = filled(step["send"], kept) if "send" in step else None
            async with http.request(step["method"], filled(step["path"], kept), json=body) as answer:
                assert answer.status == step["status"], f"{what}: {await answer.text()}"
                assert answer.headers.get("x-request-id"), what
                if answer.status == 204:
                    continue
                if "file" in step:
                    assert step["file"] in answer.headers["content-disposition"], what
                    continue
                assert answer.content_type == "application/json", what
                got = await answer.json()
            assert pairs.differences(step, got) == [], what
            for place, path in step.get("keep", {}).items():
                kept[place] = at(got["data"], path)
