"""A program in JavaScript, with no package, does what the kit's examples do."""

import asyncio
import shutil
import sys
from pathlib import Path

from agentui.jsonio import loads
from tests.conftest import Server, skip
from tests.kit.pairs import HERE


async def test_the_examples_of_the_kit_run_in_javascript(kit_server: Server) -> None:
    deno = shutil.which("deno", path=str(Path(sys.executable).parent)) or shutil.which("deno")
    if deno is None:
        skip("no deno on this machine")
    host = kit_server.origin.removeprefix("http://")
    arguments = [
        "run",
        "--no-prompt",
        "--no-remote",
        "--no-config",
        f"--allow-net={host}",
        str(HERE / "client.js"),
        kit_server.origin,
    ]
    program = await asyncio.create_subprocess_exec(
        str(deno), *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, errors = await program.communicate()
    assert program.returncode == 0, errors.decode()
    saw = loads(out)
    assert saw["ids"] is True
    assert saw["names"] == ["start", "run", "chunk", "done"]
    assert saw["said"] == saw["done"]["generated_text"] != ""
    assert (saw["done"]["final_state"], saw["done"]["branch_id"]) == ("committed", "main")
    assert saw["done"]["total_usage"]["total_tokens"] > 0
    assert saw["preview"]["text"] == '{"金币":"3"}'
    assert saw["preview"]["policy"]["budget"]["max_input_tokens"] == 4096
    assert saw["preview"]["runtime_trace"]["macro"]["staged_mutations"] == []
    sent = [message["content"] for message in saw["inspected"]["prepared_turn"]["messages"]]
    assert "Please continue the campfire scene." in sent
    assert saw["variable"]["scope_ref"]["branch_id"] == "main"
    assert [row["key"] for row in saw["resolved"]["resolved"]] == ["route"]
    assert [page["page_kind"] for page in saw["timeline"]["data"]["floors"][0]["active_pages"]] == ["input", "output"]
    assert saw["timeline"]["meta"]["total"] == 1
    assert (saw["refused"]["status"], saw["refused"]["error"]["code"]) == (404, "session_not_found")
    assert saw["late"] == 404
