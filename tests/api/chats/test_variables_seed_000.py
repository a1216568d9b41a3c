"""The examples of seed 000 as a reader would paste them: only the address and the ids are put in."""

import asyncio
import json
import shutil

import pytest

from agentui.jsonio import Json
from tests.api.chats.conftest import Reader
from tests.conftest import skip

WRITE = """\
curl -X PUT http://localhost:3000/variables \\
-H 'Content-Type: application/json' \\
-d '{
"scope": "branch",
"session_id": "sess_001",
"branch_id": "main",
"key": "gold",
"value": 500
}'"""

RESOLVE = 'curl "http://localhost:3000/variables/resolve?session_id=sess_001&branch_id=main"'

WRITE_BY_NAMES = '{"scope": "branch", "session_id": "session-a", "branch_id": "alt-1", "key": "route", "value": "campfire"}'
WRITE_BY_SCOPE_ID = '{"scope": "branch", "scope_id": "branch:session-a:alt-1", "key": "route", "value": "campfire"}'


@pytest.fixture
def curl() -> None:
    if shutil.which("curl") is None or shutil.which("sh") is None:
        skip("curl or a shell is missing")


async def shell(command: str) -> Json:
    """What a command prints, as JSON."""
    process = await asyncio.create_subprocess_shell(
        f"{command} -sS --noproxy '*'", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return json.loads(out)


@pytest.mark.usefixtures("curl")
async def test_the_first_example_writes_and_resolves_gold(reader: Reader) -> None:
    session = await reader.session_id()

    def here(command: str) -> str:
        return command.replace("http://localhost:3000", reader.server.origin).replace("sess_001", session)

    written = (await shell(here(WRITE)))["data"]
    assert (written["key"], written["value"]) == ("gold", 500)
    assert written["scope_ref"] == {"session_id": session, "branch_id": "main"}
    assert written["scope_id"] == f"branch:{session}:main"
    (gold,) = (await shell(here(RESOLVE)))["data"]["resolved"]
    assert (gold["key"], gold["value"], gold["source_scope"]) == ("gold", 500, "branch")


async def test_both_ways_of_naming_a_branch_write_one_variable(reader: Reader) -> None:
    session = await reader.session_id()
    await reader.floor_id(session, 0, branch_id="alt-1")
    first = await reader.put("/variables", WRITE_BY_NAMES.replace("session-a", session).encode())
    second = await reader.put("/variables", WRITE_BY_SCOPE_ID.replace("session-a", session).encode())
    assert (first.status, second.status) == (201, 200)
    assert first.body["data"]["id"] == second.body["data"]["id"]
    assert first.body["data"].keys() == {"id", "scope", "scope_id", "scope_ref", "key", "value", "updated_at"}


async def test_the_resolve_example_has_the_shape_of_the_seed(reader: Reader) -> None:
    session = await reader.session_id()
    floor = await reader.floor_id(session, 0, branch_id="alt-1")
    page = (await reader.make("/pages", floor_id=floor, page_no=0, page_kind="output"))["id"]
    await reader.put("/variables", WRITE_BY_NAMES.replace("session-a", session).encode())
    data = (await reader.get(f"/variables/resolve?session_id={session}&page_id={page}&include_layers=true")).body["data"]
    (item,) = data["layers"]["branch"]["items"]
    ref = {"session_id": session, "branch_id": "alt-1"}
    assert data["context"] == {
        "account_id": "default-admin",
        "session_id": session,
        "branch_id": "alt-1",
        "floor_id": floor,
        "page_id": page,
        "global_scope_id": "global",
    }
    assert data["resolved"] == [
        {
            "key": "route",
            "value": "campfire",
            "source_scope": "branch",
            "source_scope_id": f"branch:{session}:alt-1",
            "source_scope_ref": ref,
            "updated_at": item["updated_at"],
        }
    ]
    assert data["layers"]["branch"] == {
        "scope": "branch",
        "scope_id": f"branch:{session}:alt-1",
        "scope_ref": ref,
        "items": [
            {
                "id": item["id"],
                "scope": "branch",
                "scope_id": f"branch:{session}:alt-1",
                "scope_ref": ref,
                "key": "route",
                "value": "campfire",
                "updated_at": item["updated_at"],
            }
        ],
    }
