"""The gates that every change must pass: formatting, lint, types, and the direction of imports."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    "command",
    [
        ["-m", "ruff", "check", "agentui", "tests"],
        ["-m", "ruff", "format", "--check", "agentui", "tests"],
        ["-m", "mypy"],
        ["-c", "from importlinter.cli import lint_imports_command as run; run()"],
    ],
    ids=["ruff check", "ruff format", "mypy", "import-linter"],
)
@pytest.mark.timeout(300)
def test_the_gate_is_clean(command: list[str]) -> None:
    run = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-4000:]
