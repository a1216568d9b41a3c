"""The page about the client is true: every example works with both clients, and every resource has one."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentui.sdk import AsyncTavernClient, TavernClient, errors
from tests.conftest import ROOT
from tests.sdk.examples import PAGE, page, programs
from tests.sdk.names import RESOURCES
from tests.test_docs import WRITTEN_FOR, running_demo

WRONG = """\
from agentui.sdk import TavernClient, ListOf; from agentui.sdk.shapes import Session
def ask(client: TavernClient) -> None:
    client.sessions.create(titel="Campfire")
    client.sessions.respond("id", mesage="Hi")
    client.sessions.get("id")["titel"]
    client.sessions.list(sort_by="name")
def count(sessions: ListOf[list[Session]]) -> int: return sessions['data']
"""
"""Five mistakes."""
ENVIRONMENT = {**os.environ, "MYPYPATH": str(ROOT)}


def of_page(*, is_async: bool) -> Any:
    """The page as a function of a client."""
    space: dict[str, Any] = {"__name__": "page"}
    exec(compile(page(is_async=is_async), str(PAGE), "exec"), space)  # noqa: S102 - the page's own code is what is tested
    return space["page"]


def test_every_example_works_with_the_client_that_waits(origin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with TavernClient(origin) as client:
        of_page(is_async=False)(client)
    assert (tmp_path / "harbour.json").is_file()


async def test_every_example_works_with_the_client_that_is_awaited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "demo").mkdir()
    monkeypatch.chdir(tmp_path)
    async with running_demo(tmp_path / "demo") as origin, AsyncTavernClient(origin) as client:
        await of_page(is_async=True)(client)
    assert (tmp_path / "harbour.json").is_file()


@pytest.mark.parametrize("program", programs(), ids=lambda program: f"line {program.line}")
def test_every_program_of_the_page_runs(program: Any, origin: str) -> None:
    command = [sys.executable, "-c", program.text.replace(WRITTEN_FOR, origin)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert run.returncode == 0, run.stderr
    assert "demo model" in run.stdout


def test_programs_that_use_the_client_are_typed_strictly(tmp_path: Path) -> None:
    """The examples, said to both clients, and every whole program of the page."""
    for number, program in enumerate(programs()):
        (tmp_path / f"program{number}.py").write_text(program.text)
    for is_async in (False, True):
        (tmp_path / f"page_{'a' if is_async else ''}sync.py").write_text(ast.unparse(page(is_async=is_async)))
    (tmp_path / "wrong.py").write_text(WRONG)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path / 'cache'}", "--no-color"]
    run = subprocess.run([*command, "."], cwd=tmp_path, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    told = re.findall(r"^wrong\.py:(\d+): error: ", run.stdout, re.MULTILINE)
    assert told == ["3", "4", "5", "6", "7"], run.stdout
    assert run.stdout.count("error: ") == len(told), run.stdout


def test_every_resource_has_its_example() -> None:
    section = PAGE.read_text(encoding="utf-8").split("\n## Resources\n")[1].split("\n## ")[0]
    parts = dict(re.findall(r"^### (\w+)\n(.*?)(?=^### |\Z)", section, re.DOTALL | re.MULTILINE))
    assert parts.keys() == RESOURCES.keys()
    assert [name for name, text in parts.items() if f"client.{name}." not in text] == []


def test_every_error_stands_on_the_page() -> None:
    text = PAGE.read_text(encoding="utf-8").split("\n## Errors\n")[1].split("\n## ")[0]
    kinds = [name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, errors.TavernError)]
    assert "TavernTimeout" in kinds
    assert [name for name in kinds if f"| `{name}` |" not in text] == []
